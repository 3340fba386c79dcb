/*
 * dialect.c - another vocabulary: native events in, its records out.
 */
#include "wire/dialect/dialect.h"

bool dialect_open(struct dialect_stream *s, const struct dialect *d,
                  const struct mem *m, bool verbose)
{
    *s = (struct dialect_stream){d, m, mem_zalloc(m, d->size)};
    if (s->state)
        d->init(s->state, m, verbose);
    return s->state;
}

void dialect_event(struct dialect_stream *s, const wend_event *ev,
                   struct buf *out)
{
    if ((unsigned)ev->type < WEND_EVENT_TYPES)
        s->dialect->event(s->state, ev, out);
}

void dialect_close(struct dialect_stream *s)
{
    if (s->state)
        s->dialect->free(s->state);
    if (s->mem)
        mem_free(s->mem, s->state);
    s->state = NULL;
}

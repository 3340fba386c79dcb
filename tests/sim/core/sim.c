/*
 * sim.c - how a broken law is told, and a line of the trace.
 */
#include "sim.h"

/* The same law twice in one step says nothing new. */
__attribute__((format(printf, 3, 4))) void
broken(struct sim *s, const char *law, const char *fmt, ...)
{
    struct broken *b = &s->broken[s->broken_count];
    va_list ap;

    for (uint32_t i = 0; i < s->broken_count; i++)
        if (!strcmp(s->broken[i].law, law))
            return;
    if (s->broken_count == BROKEN_MAX)
        return;
    s->broken_count++;
    b->law = law;
    va_start(ap, fmt);
    vsnprintf(b->why, sizeof b->why, fmt, ap);
    va_end(ap);
}

__attribute__((format(printf, 2, 3))) void trace(struct sim *s, const char *fmt,
                                                 ...)
{
    va_list ap;

    if (!s->trace)
        return;
    va_start(ap, fmt);
    vfprintf(s->trace, fmt, ap);
    va_end(ap);
}

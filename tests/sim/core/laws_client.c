/*
 * laws_client.c - the law of calls that the caller of a run executes.
 *
 * Such a call has no output. No turn follows it, and a run that then ends ok
 * lists it, and nothing else, as pending.
 */
#include "laws_client.h"
#include "book.h"

static uint32_t pending(const struct book *b)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < b->calls_count; i++)
        n += b->calls[i].client;
    return n;
}

/* A hook or a fork may answer in the place of the caller. */
static void check_end(struct sim *s, const wend_ev_call_end *e,
                      const char *name)
{
    const struct book_call *c = book_call(&s->book, e->call);
    bool client = c && c->tool && c->tool->client;

    if (e->client && (!client || !e->given || e->output.len ||
                      e->outcome != WEND_OUTCOME_OK))
        broken(s, name, "'%.*s' is no call of the caller", (int)e->call.len,
               e->call.ptr);
    if (client && !e->given && e->outcome == WEND_OUTCOME_OK &&
        !s->book.config->hooks)
        broken(s, name, "'%s' has a result already", c->id);
}

static void check_pending(struct sim *s, const wend_ev_run_end *e,
                          const char *name)
{
    struct book *b = &s->book;
    uint32_t want = e->outcome == WEND_OUTCOME_OK ? pending(b) : 0;

    if (e->pending_count != want)
        broken(s, name, "%zu calls are pending, not %u", e->pending_count,
               want);
    for (size_t i = 0; i < e->pending_count; i++) {
        const struct book_call *c = book_call(b, e->pending[i].id);

        if (!c || !c->client)
            broken(s, name, "'%.*s' is pending", (int)e->pending[i].id.len,
                   e->pending[i].id.ptr);
    }
}

void law_client(struct sim *s, const wend_event *ev, const char *name)
{
    if (ev->type == WEND_CALL_END)
        check_end(s, &ev->u.call_end, name);
    else if (ev->type == WEND_RUN_END && !s->planned)
        check_pending(s, &ev->u.run_end, name);
    else if (ev->type == WEND_TURN_START && pending(&s->book))
        broken(s, name, "a turn follows, and %u calls are pending",
               pending(&s->book));
}

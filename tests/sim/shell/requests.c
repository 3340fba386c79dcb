/*
 * requests.c - requests in the store, and bugs on purpose in it.
 */
#include "store/memory/memory.h"
#include "requests.h"

struct slow_store *slow(wend_store *s)
{
    return (struct slow_store *)(uintptr_t)s->ops;
}

/* As a store that does not look for them when a run ends. */
void drop_requests(struct slow_store *st, wend_str run)
{
    struct memory_store *m = (struct memory_store *)(void *)st->store;

    memory_inbox_drop(m, run);
}

wend_status slow_waiting(wend_store *base, wend_str run, struct arena *a,
                         struct store_request **out, size_t *count,
                         wend_error *err)
{
    const struct bug *bug = slow(base)->sim->head.bug;
    wend_status st = slow(base)->real->waiting(base, run, a, out, count, err);

    if (bug && bug->deaf)
        *count = 0;
    return st;
}

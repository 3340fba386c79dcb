/*
 * requests.c - requests in the store, and bugs on purpose in it.
 */
#include "store/memory/memory.h"
#include "requests.h"

struct slow_store *slow(wend_store *s)
{
    return (struct slow_store *)(void *)s;
}

/* As a store that does not look for them when a run ends. */
void drop_requests(struct slow_store *st, wend_str run)
{
    struct memory_store *m = (struct memory_store *)(void *)st->inner;

    memory_inbox_drop(m, run);
}

wend_status slow_post(wend_store *base, wend_str run, const char *what,
                      wend_str body, int64_t *id, wend_error *err)
{
    return slow(base)->inner->ops->post(slow(base)->inner, run, what, body, id,
                                        err);
}

wend_status slow_waiting(wend_store *base, wend_str run, struct arena *a,
                         struct store_request **out, size_t *count,
                         wend_error *err)
{
    wend_store *inner = slow(base)->inner;
    const struct bug *bug = slow(base)->sim->bug;
    wend_status st = inner->ops->waiting(inner, run, a, out, count, err);

    if (bug && bug->deaf)
        *count = 0;
    return st;
}

wend_status slow_fate(wend_store *base, int64_t id, enum store_fate *out,
                      wend_error *err)
{
    return slow(base)->inner->ops->fate(slow(base)->inner, id, out, err);
}

wend_status slow_take(wend_store *base, store_request_fn fn, void *ctx,
                      wend_error *err)
{
    return slow(base)->inner->ops->take(slow(base)->inner, fn, ctx, err);
}

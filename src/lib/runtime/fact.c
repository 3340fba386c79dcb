/*
 * fact.c - fire-and-forget writes of named facts.
 */
#include "lib/runtime/fact.h"

#include "base/fail.h"

/* On the store's thread, or from inside keep. */
static void on_kept(void *ctx, wend_status s)
{
    (void)s;
    mailbox_answered(ctx);
}

void fact_keep(wend_runtime *rt, const struct store_fact *fact)
{
    mailbox_sent(rt->mailbox); /* so that the runtime's end waits for it */
    rt->store->ops->keep(rt->store, fact, on_kept, rt->mailbox);
}

static bool on_fact(void *ctx, const struct store_fact *f)
{
    buf_str(ctx, f->text);
    return false;
}

wend_status fact_text(wend_runtime *rt, wend_str space, wend_str key,
                      struct buf *out, wend_error *err)
{
    wend_status s = rt->store->ops->facts(rt->store, space, key, rt_wall(rt),
                                          on_fact, out, err);

    return s == WEND_OK && out->failed ? fail_nomem(err) : s;
}

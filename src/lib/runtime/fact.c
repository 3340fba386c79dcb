/*
 * fact.c - what is kept by name, and nobody waits for.
 */
#include "lib/runtime/fact.h"

#include "base/fail.h"

struct keeping {
    struct store_keep keep;
    struct mem mem;
    struct mailbox *mailbox; /* of the runtime whose memory this is */
    struct arena arena;      /* the fact's strings */
};

/* On the store's thread, or from inside keep. */
static void on_kept(struct store_keep *k, wend_status s)
{
    struct keeping *x = (struct keeping *)(void *)k;
    struct mailbox *box = x->mailbox;
    struct mem m = x->mem;

    (void)s;
    arena_free(&x->arena);
    mem_free(&m, x);
    mailbox_answered(box);
}

void fact_keep(wend_runtime *rt, const struct store_fact *fact)
{
    struct keeping *x = mem_zalloc(&rt->mem, sizeof *x);
    struct store_fact *f;

    if (!x)
        return;
    x->mem = rt->mem;
    x->mailbox = rt->mailbox;
    mailbox_sent(rt->mailbox);
    x->arena.mem = &x->mem;
    x->keep.done = on_kept;
    f = &x->keep.fact;
    *f = *fact;
    f->space = arena_str(&x->arena, fact->space);
    f->key = arena_str(&x->arena, fact->key);
    f->text = arena_str(&x->arena, fact->text);
    if (x->arena.failed)
        on_kept(&x->keep, WEND_E_NOMEM);
    else
        rt->store->ops->keep(rt->store, &x->keep);
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

/*
 * facts.c - a fact on its way to the store, and the call that waits for it.
 */
#include "base/fail.h"
#include "store/store.h"
#include "tools/tools.h"

struct fact_keeping {
    struct store_keep keep;
    struct mem mem;
    struct arena arena; /* the fact's strings */
    wend_call *call;
    const char *answer; /* NULL: the call does not wait for it */
};

/* On the store's thread, or from inside keep. */
static void on_kept(struct store_keep *k, wend_status s)
{
    struct fact_keeping *x = container_of(k, struct fact_keeping, keep);
    struct mem m = x->mem;

    if (x->answer && s == WEND_OK)
        wend_call_return(x->call, str_of(x->answer));
    else if (x->answer)
        wend_call_fail(x->call, s == WEND_E_NOMEM ? "out of memory"
                                                  : "the store failed");
    arena_free(&x->arena);
    mem_free(&m, x);
}

wend_status tool_keep(struct tool_job *j, wend_call *call,
                      const struct store_fact *fact, const char *answer)
{
    struct mem m = {0}; /* it may outlive the runtime and its allocator */
    struct fact_keeping *x = mem_zalloc(&m, sizeof *x);
    struct store_fact *f;

    if (!x)
        return fail_nomem(&j->err);
    x->mem = m;
    x->arena.mem = &x->mem;
    x->call = call;
    x->answer = answer;
    x->keep.done = on_kept;
    f = &x->keep.fact;
    *f = *fact;
    f->space = arena_str(&x->arena, fact->space);
    f->key = arena_str(&x->arena, fact->key);
    f->text = arena_str(&x->arena, fact->text); /* absent stays absent */
    if (x->arena.failed) {
        arena_free(&x->arena);
        mem_free(&m, x);
        return fail_nomem(&j->err);
    }
    call_store(call)->ops->keep(call_store(call), &x->keep);
    return WEND_OK;
}

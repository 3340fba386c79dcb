/*
 * facts.c - a fact on its way to the store, and the call that waits for it.
 */
#include "base/fail.h"
#include "store/store.h"
#include "tools/tools.h"

struct fact_waiter {
    wend_call *call;
    const char *answer;
};

/* It may outlive the runtime and its allocator. */
static const struct mem libc = {0};

/* On the store's thread, or from inside keep. */
static void on_kept(void *ctx, wend_status s)
{
    struct fact_waiter *w = ctx;

    if (s == WEND_OK)
        wend_call_return(w->call, str_of(w->answer));
    else
        wend_call_fail(w->call, s == WEND_E_NOMEM ? "out of memory"
                                                  : "the store failed");
    mem_free(&libc, w);
}

wend_status tool_keep(struct tool_job *j, wend_call *call,
                      const struct store_fact *fact, const char *answer)
{
    wend_store *store = call_store(call);
    struct fact_waiter *w = answer ? mem_alloc(&libc, sizeof *w) : NULL;

    if (answer && !w)
        return fail_nomem(&j->err);
    if (w)
        *w = (struct fact_waiter){call, answer};
    store->ops->keep(store, fact, w ? on_kept : NULL, w);
    return WEND_OK;
}

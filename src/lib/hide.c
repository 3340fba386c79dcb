/*
 * hide.c - what rules keep from reading, hidden from programs.
 */
#include "lib/hide.h"

#include "core/policy_view.h"

bool run_hides(struct wend_run *r)
{
    struct arena a = {.mem = &r->rt->mem};
    const struct config *c = r->agent->configs[r->mode];
    bool asked = policy_gap(c, false, &a).ptr;
    struct procs *procs;

    arena_free(&a);
    return asked && rt_procs(r->rt, &procs, NULL) == WEND_OK &&
           procs_hide(procs);
}

const char *const *call_hidden(const wend_call *call, struct arena *a)
{
    return policy_hidden(&call->run->turn, a);
}

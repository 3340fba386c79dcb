/*
 * hide.c - what rules keep from reading, hidden from programs.
 */
#include "lib/agent/hide.h"
#include "lib/run/call.h"

#include "core/turn/policy_view.h"

/* Rules and tools are the same in all; that of a child's mode may be none. */
static const struct config *some_config(const wend_agent *a)
{
    unsigned mode = 0;

    while (mode < RUN_MODES && !a->configs[mode])
        mode++;
    return mode < RUN_MODES ? a->configs[mode] : NULL;
}

bool run_hides(struct wend_run *r)
{
    struct arena a = {.mem = &r->rt->mem};
    const struct config *c = some_config(r->agent);
    /* Rules may also come from a run above, or from a log. */
    bool more = r->child || r->resumed;
    bool asked =
        c && (policy_gap(c, false, &a).ptr || (more && policy_programs(c)));
    struct procs *procs;

    arena_free(&a);
    return asked && rt_procs(r->rt, &procs, NULL) == WEND_OK &&
           procs_hide(procs);
}

const char *const *call_hidden(const wend_call *call, struct arena *a)
{
    return policy_hidden(&call->run->turn, a);
}

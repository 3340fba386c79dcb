/*
 * action.c - starts and stops the actions of a plan.
 *
 * A tool's action is a call like any other (call.c): the same threads,
 * deadlines and ways to stop. So is a relic's.
 */
#include "lib/plan/action.h"

#include <assert.h>

#include "lib/run/call.h"
#include "lib/run/child.h"
#include "lib/run/shell.h"

const struct plan_action *action_of(const struct wend_run *r,
                                    const struct effect *fx)
{
    assert(fx->action < r->turn.plan.plan->count);
    return r->turn.plan.plan->actions[fx->action];
}

wend_str work_id(const struct wend_run *r, const struct effect *fx)
{
    return fx->call ? fx->call->id : action_of(r, fx)->id;
}

wend_str work_name(const struct wend_run *r, const struct effect *fx)
{
    return fx->call ? fx->call->name : action_of(r, fx)->target;
}

struct agent_tool *work_tool(const struct wend_run *r, const struct effect *fx)
{
    return !fx->call && action_of(r, fx)->type == ACTION_RELIC
               ? relic_endpoint(r->agent, work_name(r, fx))
               : agent_tool(r->agent, work_name(r, fx));
}

bool work_runs(const struct wend_run *r, const struct effect *fx)
{
    const struct action_state *s;

    if (fx->call)
        return turn_call_runs(&r->turn, fx->call->index);
    s = plan_action_state(&r->turn.plan, fx->action);
    return s->at == AT_RUNS && s->attempt == fx->attempt;
}

struct input work_answer(const struct effect *fx, wend_outcome outcome,
                         wend_str output, wend_str code)
{
    return (struct input){
        .kind = fx->call ? IN_CALL_DONE : IN_ACTION_DONE,
        .done = {.turn = fx->turn,
                 .call = fx->call ? fx->call->id : STR_NONE,
                 .action = fx->action,
                 .attempt = fx->attempt,
                 .outcome = outcome,
                 .output = output,
                 .code = code},
    };
}

/* A hook sees the action of a tool or a relic as it sees a call. It cannot
 * change the values: they stand in the log, with the key. */
static bool hook_lets(struct wend_run *r, const struct effect *fx)
{
    wend_hook h = {.point = WEND_HOOK_CALL_BEFORE,
                   .turn = (uint32_t)fx->turn,
                   .call = action_of(r, fx)->id,
                   .name = action_of(r, fx)->target,
                   .text = fx->args};
    struct input in = work_answer(
        fx, WEND_OUTCOME_DENIED,
        STR("a hook wants other values, which an action of a plan cannot be "
            "given"),
        STR("denied"));

    switch (hook_ask(r, &h)) {
    case WEND_HOOK_GO: return true;
    case WEND_HOOK_STOP: hook_stop(r, h.text); return false;
    case WEND_HOOK_SKIP:
        in = work_answer(fx, WEND_OUTCOME_OK, h.text, STR_NONE);
        break;
    case WEND_HOOK_CHANGE: break;
    }
    shell_input(r, &in);
    return false;
}

/* It is not in the cache. */
static void answer_uncached(struct wend_run *r, const struct effect *fx)
{
    struct input in = work_answer(fx, WEND_OUTCOME_NONE, STR_NONE, STR_NONE);

    in.done.uncached = true;
    shell_input(r, &in);
}

void action_start(struct wend_run *r, const struct effect *fx)
{
    if (!work_runs(r, fx) || r->turn.stop.outcome != WEND_OUTCOME_NONE)
        return; /* it has ended, or is stopped before it began */
    if (r->hook && fx->tool && !hook_lets(r, fx))
        return;
    if (cache_answers(r, fx))
        return;
    switch ((enum action_type)action_of(r, fx)->type) {
    case ACTION_LLM: ask_start(r, fx); break;
    case ACTION_AGENT:
    case ACTION_WORKFLOW: answer_uncached(r, fx); break;
    case ACTION_TOOL:
    case ACTION_RELIC: call_start(r, fx); break;
    case ACTION_DECISION:
    case ACTION_TYPES: break; /* the core does it */
    }
}

void work_stop(struct wend_run *r, const struct effect *fx)
{
    if (!child_stop(r, fx) && (fx->kind == FX_STOP_CALL || !ask_stop(r, fx)))
        call_stop(r, fx);
}

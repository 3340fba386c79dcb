/*
 * action.c - what the actions of a plan ask of the hands.
 *
 * A tool's action is a call like any other (call.c): the same threads,
 * deadlines and ways to stop. So is a relic's.
 */
#include "lib/plan/action.h"
#include "lib/run/call.h"
#include "lib/run/child.h"
#include "lib/run/hook.h"
#include "lib/run/shell.h"

const struct plan_action *action_of(const struct wend_run *r,
                                    const struct effect *fx)
{
    return r->turn.plan.plan->actions[fx->action];
}

bool action_runs(const struct wend_run *r, const struct effect *fx)
{
    const struct action_state *s = plan_action_state(&r->turn.plan, fx->action);

    return s->at == AT_RUNS && s->attempt == fx->attempt;
}

struct agent_tool *action_tool(const struct wend_run *r,
                               const struct effect *fx)
{
    const struct plan_action *a = action_of(r, fx);

    return a->type == ACTION_RELIC ? relic_end(r->agent, a->target)
                                   : agent_tool(r->agent, a->target);
}

static void answer(struct wend_run *r, const struct effect *fx,
                   wend_outcome outcome, wend_str code, wend_str output)
{
    struct input in = {.kind = IN_ACTION_DONE,
                       .done = {.action = fx->action,
                                .attempt = fx->attempt,
                                .outcome = outcome,
                                .output = output,
                                .code = code}};

    shell_input(r, &in);
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

    switch (hook_ask(r, &h)) {
    case WEND_HOOK_GO: return true;
    case WEND_HOOK_SKIP:
        answer(r, fx, WEND_OUTCOME_OK, STR_NONE, h.text);
        break;
    case WEND_HOOK_STOP: hook_stop(r, h.text); break;
    case WEND_HOOK_CHANGE:
        answer(r, fx, WEND_OUTCOME_DENIED, STR("denied"),
               STR("a hook wants other values, which an action of a plan "
                   "cannot be given"));
        break;
    }
    return false;
}

/* Nobody has asked it of late. */
static void answer_uncached(struct wend_run *r, const struct effect *fx)
{
    struct input in = {.kind = IN_ACTION_DONE,
                       .done = {.action = fx->action,
                                .attempt = fx->attempt,
                                .uncached = true}};

    shell_input(r, &in);
}

void action_start(struct wend_run *r, const struct effect *fx)
{
    if (!action_runs(r, fx) || r->turn.stop.outcome != WEND_OUTCOME_NONE)
        return; /* ended meanwhile, or will be stopped before it began */
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
    case ACTION_TYPES: break; /* nobody's hands are needed */
    }
}

void work_stop(struct wend_run *r, const struct effect *fx)
{
    if (!child_stop(r, fx) && (fx->kind == FX_STOP_CALL || !ask_stop(r, fx)))
        call_stop(r, fx);
}

/*
 * plan_preview.c - what the policy of an agent says about the actions of a
 * plan, before anything runs.
 *
 * The same function decides as in a run. Arguments with a value that only the
 * run produces are not known: then rules that look at them match nothing.
 */
#include "lib/plan/plan.h"

#include "base/fail.h"
#include "core/turn/verdict.h"

struct preview {
    struct turn turn; /* as at the start of the run: only config and plan */
    const struct plan *plan;
    struct arena *arena;
    wend_plan_verdict_fn fn;
    void *ctx;
};

/* Whether an action gives the value of this slot another one. */
static bool is_output(const struct plan *p, uint32_t slot)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->actions[i]->output_key.ptr && p->actions[i]->output_slot == slot)
            return true;
    return false;
}

/* Absent: not known before the run. */
static wend_str args_of(const struct preview *x, const struct plan_action *a)
{
    struct buf b = {.mem = x->arena->mem};
    struct scope scope = {.values = x->plan->inputs, .arena = x->arena};
    wend_str args = STR_NONE;

    if (!a->params)
        return STR("{}");
    for (const struct ref *r = a->refs; r; r = r->next)
        if (!x->plan->inputs[r->slot].ptr || is_output(x->plan, r->slot))
            return STR_NONE;
    scope.trees =
        arena_alloc(x->arena, (x->plan->keys.count + 1) * sizeof *scope.trees);
    if (scope.trees &&
        template_put(a->params, &scope, ARGS_BYTES_MAX, &b, NULL) == WEND_OK)
        args = buf_keep(&b, x->arena);
    buf_free(&b);
    return args;
}

static void look(struct preview *x, uint32_t i)
{
    const struct plan_action *a = x->plan->actions[i];
    const struct tool *tool = turn_action_tool(&x->turn, i);
    wend_plan_verdict v = {.size = sizeof v,
                           .action = a->id,
                           .name = a->name,
                           .type = str_of(action_type_names[a->type]),
                           .target = a->target,
                           .rule = STR("plan")};
    struct verdict verdict;

    if (tool) {
        v.args_json = args_of(x, a);
        policy_check(&x->turn, tool,
                     v.args_json.ptr ? json_parse(v.args_json, x->arena, NULL)
                                     : NULL,
                     x->arena, &verdict);
        v.decision = verdict.policy.decision;
        v.risk = verdict.policy.risk;
        v.rule = verdict.policy.rule;
        v.reason = verdict.reason;
        v.allow = verdict.rule;
    }
    if (!x->arena->failed)
        x->fn(x->ctx, &v);
}

static wend_status preview(wend_agent *agent, const struct plan *p,
                           wend_plan_verdict_fn fn, void *ctx, wend_error *err)
{
    struct arena a = {.mem = &agent->rt->mem};
    struct preview x = {
        .plan = p, .arena = &a, .fn = fn, .ctx = ctx, .turn.plan.plan = p};
    wend_status s = agent_config(agent, 0, err);

    if (s == WEND_OK)
        s = plan_check_actions(agent, p, err);
    if (s == WEND_OK)
        x.turn.config = agent->configs[0];
    for (uint32_t i = 0; s == WEND_OK && i < p->count; i++) {
        look(&x, i);
        if (a.failed)
            s = fail_nomem(err);
    }
    arena_free(&a);
    return s;
}

wend_status wend_plan_preview(wend_agent *agent, const wend_plan *plan,
                              wend_plan_verdict_fn fn, void *ctx,
                              wend_error *err)
{
    wend_status s;

    if (!agent || !plan || !fn)
        return fail(err, WEND_E_INVAL, "plan: agent, plan or fn is NULL");
    s = agent_enter(agent, "plan", err);
    if (s == WEND_OK)
        s = plan_enter(plan, err);
    return s == WEND_OK ? preview(agent, plan_inside(plan), fn, ctx, err) : s;
}

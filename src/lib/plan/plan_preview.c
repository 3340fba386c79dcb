/*
 * plan_preview.c - what the policy of an agent says about the actions of a
 * plan, before anything runs.
 *
 * The same function decides as in a run. Arguments with a value that only the
 * run produces are not known: then rules that look at them match nothing.
 */
#include "lib/plan/plan.h"
#include "lib/run/child.h"

#include "base/fail.h"
#include "core/turn/verdict.h"

/* Of all plans inside each other; far above what a person reads. */
enum { PREVIEW_ACTIONS_MAX = 100000 };

struct preview {
    struct turn turn; /* as at the start of the run: only config and plan */
    const struct plan *plan;
    struct arena *arena;
    wend_str within; /* the actions outside; absent: none */
    bool open;       /* its inputs are known only when it runs */
    int *left;       /* actions that may still be told */
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
    if (x->open && a->refs)
        return STR_NONE;
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
                           .rule = STR("plan"),
                           .within = x->within};
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

/* ---- Plans in it --------------------------------------------------------- */

/* As in child_fill_start: its own config, and the policies above it. */
static wend_status inherit(const struct config *outer,
                           const struct child_config *k, struct arena *a,
                           struct config **out, wend_error *err)
{
    size_t count = config_restraints(outer);
    struct restraint *bounds = arena_alloc(a, count * sizeof *bounds);
    wend_status s = config_parse(k->config_json, a, out, err);

    if (!bounds)
        return fail_nomem(err);
    for (size_t i = 0; i < count; i++)
        bounds[i] = *config_restraint(outer, (i + 1) % count);
    if (s == WEND_OK)
        (*out)->within = (struct within){.depth = outer->within.depth + 1,
                                         .labels = outer->within.labels,
                                         .bounds = bounds,
                                         .bounds_count = count};
    return s;
}

static wend_str join(const struct preview *x, const struct plan_action *a)
{
    struct buf b = {.mem = x->arena->mem};

    buf_str(&b, x->within);
    buf_cstr(&b, x->within.ptr ? "/" : "");
    buf_str(&b, a->id);
    return buf_keep(&b, x->arena);
}

static wend_status look_at_all(struct preview *x, wend_error *err);

/* Recursion is bounded: no deeper than CHILD_DEPTH_MAX. */
static wend_status look_inside(const struct preview *x,
                               const struct plan_action *action,
                               wend_error *err)
{
    const struct child_config *k = config_child(x->turn.config, action->target);
    wend_str inputs = args_of(x, action);
    struct preview inner = {.arena = x->arena,
                            .within = join(x, action),
                            .open = !inputs.ptr,
                            .left = x->left,
                            .fn = x->fn,
                            .ctx = x->ctx};
    struct config *config = NULL;
    struct plan *plan = NULL;
    wend_status s;

    if (!k || !k->plan_json.ptr ||
        x->turn.config->within.depth >= CHILD_DEPTH_MAX)
        return WEND_OK;
    s = inherit(x->turn.config, k, x->arena, &config, err);
    if (s == WEND_OK)
        s = inputs.ptr
                ? plan_with_inputs(k->plan_json, inputs, x->arena, &plan, err)
                : plan_parse(k->plan_json, NULL, x->arena, &plan, err);
    if (s != WEND_OK)
        return s;
    inner.turn.config = config;
    inner.turn.plan.plan = inner.plan = plan;
    return look_at_all(&inner, err);
}

static wend_status look_at_all(struct preview *x, wend_error *err)
{
    const struct plan *p = x->plan;
    wend_status s = WEND_OK;

    for (uint32_t i = 0; s == WEND_OK && i < p->count; i++) {
        if (!(*x->left)--)
            return fail(err, WEND_E_LIMIT,
                        "plan: over %d actions, with those of its workflows",
                        PREVIEW_ACTIONS_MAX);
        look(x, i);
        if (p->actions[i]->type == ACTION_WORKFLOW)
            s = look_inside(x, p->actions[i], err);
        if (x->arena->failed)
            s = fail_nomem(err);
    }
    return s;
}

static wend_status preview(wend_agent *agent, const struct plan *p,
                           wend_plan_verdict_fn fn, void *ctx, wend_error *err)
{
    struct arena a = {.mem = &agent->rt->mem};
    int left = PREVIEW_ACTIONS_MAX;
    struct preview x = {.plan = p,
                        .arena = &a,
                        .left = &left,
                        .fn = fn,
                        .ctx = ctx,
                        .turn.plan.plan = p};
    wend_status s = agent_config(agent, 0, err);

    if (s == WEND_OK)
        s = plan_check_actions(agent, p, err);
    if (s == WEND_OK) {
        x.turn.config = agent->configs[0];
        s = look_at_all(&x, err);
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

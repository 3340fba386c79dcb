/*
 * load_plan.c - the agent that runs a plan, with all that the plan names.
 *
 * A plan inside has an agent like that of the outer plan, with its own tools
 * and relics. An agent inside is what its own file says, as in load.c.
 */
#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "lib/agent/agent.h"
#include "lib/agent/load.h"
#include "lib/plan/plan.h"

/* ---- Models -------------------------------------------------------------- */

/* One that names no model has that of its plan. */
static bool agent_asks(const wend_manifest *m)
{
    bool asks = !m->options->model;

    for (size_t i = 0; !asks && i < m->agents_count; i++)
        asks = agent_asks(m->agents[i]);
    return asks;
}

/* Refuses what needs a model that is not named in the plan itself. Recursion
 * is bounded by CHILD_DEPTH_MAX. */
static wend_status check_unasked(const struct load *l,
                                 const wend_manifest *plan)
{
    const struct agent_file *f = agent_file_of(plan);
    const struct plan *p = plan_inside(plan->plan);
    wend_status s = WEND_OK;

    for (uint32_t i = 0; i < p->count; i++) {
        const struct plan_action *a = p->actions[i];

        if (a->type == ACTION_LLM && str_is(a->target, "default"))
            return plan_file_blame(plan, a, WEND_E_INVAL,
                                   "it asks a model, and none is set: name one "
                                   "with -m NAME, or as its target",
                                   l->err);
        for (size_t k = 0; k < plan->agents_count; k++)
            if (a->type == ACTION_AGENT && !plan->agents[k]->plan &&
                str_is(a->target, plan->agents[k]->target) &&
                agent_asks(plan->agents[k]))
                return plan_file_blame(plan, a, WEND_E_INVAL,
                                       "its agent names no model, and none is "
                                       "set: name one with -m NAME, or in the "
                                       "agent's file",
                                       l->err);
    }
    if (f->replan_line)
        return fail_at(l->err, WEND_E_INVAL, f->replan_line, f->replan_column,
                       "%.300s:%u:%u: on_failure: replan needs a model; set "
                       "one with -m NAME",
                       plan->path, f->replan_line, f->replan_column);
    for (size_t i = 0; !s && i < plan->agents_count; i++)
        if (plan->agents[i]->plan)
            s = check_unasked(l, plan->agents[i]);
    return s;
}

static void add_model(struct load *l, const char **list, size_t *count,
                      wend_str name)
{
    if (str_is(name, "default") || str_is(name, l->agent.model) ||
        str_index(name, list, (int)*count) >= 0)
        return;
    list[(*count)++] = arena_str(&l->arena, name).ptr;
}

/* list NULL: only counts the actions that ask a model. Recursion as above. */
static void add_models(struct load *l, const char **list, size_t *count,
                       const wend_manifest *plan)
{
    const struct plan *p = plan_inside(plan->plan);

    for (uint32_t i = 0; i < p->count && !l->arena.failed; i++)
        if (p->actions[i]->type == ACTION_LLM && list)
            add_model(l, list, count, p->actions[i]->target);
        else
            *count += p->actions[i]->type == ACTION_LLM;
    for (size_t i = 0; i < plan->agents_count && !l->arena.failed; i++)
        if (plan->agents[i]->plan)
            add_models(l, list, count, plan->agents[i]);
}

wend_status load_plan_models(struct load *l, const wend_manifest *m,
                             const wend_manifest *plan)
{
    wend_agent_options o = load_options(l, m);
    size_t count = o.fallbacks_count, most = count;
    const char **list;
    wend_status s = WEND_OK;

    if (!o.model || !*o.model) {
        s = check_unasked(l, plan);
        o.model = "script:{\"turns\":[]}"; /* never asked */
    }
    if (s)
        return s;
    add_models(l, NULL, &most, plan);
    list = arena_alloc(&l->arena, (most + 1) * sizeof *list);
    if (!list)
        return fail_nomem(l->err);
    if (count)
        memcpy(list, o.fallbacks, count * sizeof *list);
    l->agent.model = o.model;
    add_models(l, list, &count, plan);
    if (count) {
        l->agent.fallbacks = list;
        l->agent.fallbacks_count = count;
    }
    return l->arena.failed ? fail_nomem(l->err) : WEND_OK;
}

/* ---- Relics and programs ------------------------------------------------- */

static wend_status add_relics(struct load *l, wend_agent *agent,
                              const wend_manifest *m, const wend_manifest *plan,
                              int64_t time_ms)
{
    const wend_manifest_relic *list = plan->relics;
    size_t count = plan->relics_count;
    wend_error *errs;
    wend_status s;

    for (size_t i = 0; m && m->network_off && i < count; i++)
        if (list[i].network)
            return fail(l->err, WEND_E_INVAL,
                        "%.300s: the relic uses the network, but the agent "
                        "says 'network: off'",
                        list[i].path);
    s = load_relics(l, agent, list, count, time_ms, &errs);
    for (size_t i = 0; !s && i < count; i++)
        if (errs[i].status)
            s = fail_in(l->err, list[i].path, &errs[i]);
    return s;
}

/* ---- Agents and plans ---------------------------------------------------- */

static wend_status add_child(struct load *l, wend_agent *agent,
                             const wend_manifest *m, const wend_manifest *child,
                             const wend_agent_options *outer)
{
    const char **guarded = l->guarded;
    size_t guarded_count = l->guarded_count;
    wend_child_options o = {.size = sizeof o,
                            .name = child->target,
                            .description = child->description,
                            .plan = child->plan};
    wend_error why = {0};
    wend_status s;

    if (child->plan) {
        s = load_plan(l, m, child, &o.agent);
        if (!s)
            o.agent->inherits = WEND_FORK_MODEL | WEND_FORK_PARAMS |
                                WEND_FORK_POLICY | WEND_FORK_LIMITS;
    } else {
        s = load_guard(l, child);
        if (!s)
            s = load_agent(l, child, outer, &o.agent);
        l->guarded = guarded;
        l->guarded_count = guarded_count;
    }
    if (!s && wend_agent_add_agent(agent, &o, &why) != WEND_OK)
        s = fail_in(l->err, child->path, &why);
    wend_agent_free(o.agent);
    return s;
}

/* Recursion is bounded by CHILD_DEPTH_MAX. */
wend_status load_plan(struct load *l, const wend_manifest *m,
                      const wend_manifest *plan, wend_agent **out)
{
    wend_agent_options o = load_options(l, m);
    wend_agent *agent = NULL;
    wend_status s = load_agent(l, m, NULL, &agent);

    assert(plan->plan && o.model); /* by load_plan_models */
    if (!s && m)
        s = load_wishes(l, m->options, false, &o);
    if (!s)
        s = add_relics(l, agent, m, plan, o.limits.time_ms);
    for (size_t i = 0; !s && i < plan->commands_count; i++)
        s = load_command(l, agent, plan, plan->commands[i]);
    for (size_t i = 0; !s && i < plan->agents_count; i++)
        s = add_child(l, agent, m, plan->agents[i], &o);
    if (s)
        wend_agent_free(agent);
    else
        *out = agent;
    return s;
}

/*
 * plan_run.c - a run that is a plan: checked against its agent, and begun.
 *
 * What the agent cannot do is refused here, before anything of the plan has
 * run.
 */
#include "lib/plan/plan.h"
#include "lib/run/child.h"

#include "base/fail.h"
#include "base/utf8.h"
#include "wire/model/params.h"

/* What the checks of one plan share: it is read once, whatever it names. */
struct plan_check {
    wend_agent *agent;
    struct arena arena;
    const struct json *action; /* as written, of the one that is looked at */
    struct checked *checked;   /* workflows that were found good */
};

struct checked {
    struct checked *next;
    const struct agent_child *child;
    const struct plan *plan;
    const struct json *inputs;
};

/* ---- What the agent can do ----------------------------------------------- */

static wend_status refuse(const struct plan_action *a, const char *what,
                          wend_str near, wend_error *err)
{
    char hint[STR_HINT_BYTES];

    return fail_at(err, WEND_E_INVAL, a->target_line, a->target_column,
                   "action '%.*s': %s '%.*s'%s", UTF8_ARGS(a->name, 80), what,
                   UTF8_ARGS(str_or(a->target, ""), 80), str_hint(hint, near));
}

static wend_str nearest_tool(const struct plan_action *a,
                             const struct tool *list, size_t count)
{
    return str_nearest(a->target, list, sizeof *list,
                       offsetof(struct tool, name), count);
}

/* Where it is written is only known for its target. */
static wend_status check_args(struct plan_check *c, const struct plan_action *a,
                              const struct tool *tool, wend_error *err)
{
    struct buf why = {.mem = c->arena.mem};
    const struct json *at;
    wend_status s = WEND_OK;

    if (tool->schema && !plan_args_fit(json_get(c->action, "params"),
                                       tool->schema_text, &c->arena, &why, &at))
        s = fail_at(err, WEND_E_INVAL, a->target_line, a->target_column,
                    "action '%.*s': %.*s: %.*s", UTF8_ARGS(a->name, 80),
                    UTF8_ARGS(a->target, 80), UTF8_ARGS(buf_view(&why), 300));
    if (c->arena.failed)
        s = fail_nomem(err);
    buf_free(&why);
    return s;
}

static wend_status check_tool(struct plan_check *c, const struct plan_action *a,
                              wend_error *err)
{
    const struct config *config = c->agent->configs[0];
    const struct tool *tool = config_tool(config, a->target);

    if (!tool)
        return refuse(a, "there is no tool",
                      nearest_tool(a, config->tools, config->tools_count), err);
    if (tool->client)
        return refuse(a,
                      "an action cannot use a client-side tool, which the "
                      "caller of a run executes:",
                      STR_NONE, err);
    return tool->child ? refuse(a,
                                "instead, an action of type agent does what "
                                "models do by the tool",
                                STR_NONE, err)
                       : check_args(c, a, tool, err);
}

static wend_status check_relic(struct plan_check *c,
                               const struct plan_action *a, wend_error *err)
{
    const struct config *config = c->agent->configs[0];
    const struct tool *end = config_endpoint(config, a->target);

    if (end)
        return check_args(c, a, end, err);
    return refuse(a, "there is no relic with the endpoint",
                  nearest_tool(a, config->endpoints, config->endpoints_count),
                  err);
}

/* It is told the instructions, and offered no tools. */
static wend_status check_window(const struct plan_action *a,
                                const struct config *c, uint32_t model,
                                wend_error *err)
{
    const struct model_use *m = &c->models[model];
    int64_t tokens = tokens_estimate(c->instructions.len);

    if (!frame_over(m, tokens))
        return WEND_OK;
    return fail_at(err, WEND_E_LIMIT, a->target_line, a->target_column,
                   "action '%.*s': the instructions of its agent have about "
                   "%lld tokens, and the window of its model has %lld: shorten "
                   "the instructions, or use a model with a larger window "
                   "(context_tokens)",
                   UTF8_ARGS(a->name, 80),
                   (long long)(tokens * family_scale(m->spec) / 1000),
                   (long long)m->context_tokens);
}

/* What it asks for, against the API of its model. */
static wend_status check_asks(const struct plan_action *a,
                              const struct model_use *m, wend_error *err)
{
    static const struct mem plain;
    const char *colon =
        m->spec.len ? memchr(m->spec.ptr, ':', m->spec.len) : NULL;
    wend_str provider = {m->spec.ptr,
                         colon ? (size_t)(colon - m->spec.ptr) : m->spec.len};
    struct buf why = {.mem = &plain};
    wend_status s = WEND_OK;

    for (int i = 0; s == WEND_OK && i < PARAMS; i++) {
        if (!a->asks.value[i].ptr)
            continue;
        wire_param_wrong(codec_find(provider), (enum param)i, a->asks.value[i],
                         &why);
        if (why.failed)
            s = fail_nomem(err);
        else if (why.len)
            s = fail_at(err, WEND_E_INVAL, a->line, a->column,
                        "action '%.*s': params.%s: %.*s",
                        UTF8_ARGS(a->name, 80), asked_names[i],
                        UTF8_ARGS(buf_view(&why), 300));
    }
    buf_free(&why);
    return s;
}

static wend_status check_model(const struct config *c,
                               const struct plan_action *a, wend_error *err)
{
    uint32_t model = config_model(c, a->target);

    if (model < c->models_count) {
        wend_status s = check_window(a, c, model, err);

        return s == WEND_OK ? check_asks(a, &c->models[model], err) : s;
    }
    return refuse(a, "its agent has no model",
                  str_nearest(a->target, c->models, sizeof *c->models,
                              offsetof(struct model_use, spec),
                              c->models_count),
                  err);
}

/* ---- Its inputs ---------------------------------------------------------- */

static wend_status read_inputs(wend_str inputs, struct arena *a,
                               struct plan_options *o, wend_error *err)
{
    wend_error why = {0};
    struct json *j = json_parse(inputs, a, &why);
    struct plan_set *sets;

    if (a->failed)
        return fail_nomem(err);
    if (!j)
        return fail(err, WEND_E_INVAL, "plan: inputs, line %u, column %u: %s",
                    why.line, why.column, why.message);
    if (j->kind != JSON_OBJECT)
        return fail(err, WEND_E_INVAL, "plan: inputs must be a JSON object");
    sets = arena_alloc(a, (j->count + 1) * sizeof *sets);
    if (!sets)
        return fail_nomem(err);
    for (const struct json *e = j->first; e; e = e->next)
        sets[o->sets_count++] = (struct plan_set){
            .name = e->key, .value = json_text(e, a), .json = true};
    o->sets = sets;
    return a->failed ? fail_nomem(err) : WEND_OK;
}

wend_status plan_with_inputs(wend_str plan_json, wend_str inputs,
                             struct arena *a, struct plan **out,
                             wend_error *err)
{
    struct plan_options o = {.sets_count = 0};
    wend_status s = read_inputs(inputs, a, &o, err);

    return s == WEND_OK ? plan_parse(plan_json, &o, a, out, err) : s;
}

/* ---- Plans in it --------------------------------------------------------- */

/* Whether the plan has all the inputs that the action gives it. */
static wend_status check_inputs(const struct plan_check *c,
                                const struct plan_action *a,
                                const struct json *inputs, wend_error *err)
{
    const struct json *params = json_get(c->action, "params"), *to;

    for (params = params ? params->first : NULL; params; params = params->next)
        if (!json_member(inputs, params->key))
            return plan_no_input(inputs, params->key, err);
    for (size_t i = 0; i < a->files.count; i++) {
        wend_str name = a->files.list[i].input;

        to = json_member(inputs, name);
        if (!to)
            return plan_no_input(inputs, name, err);
        if (to->kind != JSON_NULL && to->kind != JSON_ARRAY)
            return fail(err, WEND_E_INVAL,
                        "the input '%.*s' must be null to get files",
                        UTF8_ARGS(name, 80));
    }
    return WEND_OK;
}

/* What is wrong inside is said where it is named. Recursion is bounded: no
 * agent is its own child, and none is deeper than CHILD_DEPTH_MAX. */
static wend_status check_inside(struct plan_check *c,
                                const struct agent_child *k,
                                struct checked **out, wend_error *err)
{
    struct checked *done = c->checked;
    struct plan *inner = NULL;
    wend_status s;

    while (done && done->child != k)
        done = done->next;
    *out = done;
    if (done)
        return WEND_OK;
    *out = done = arena_alloc(&c->arena, sizeof *done);
    if (!done)
        return fail_nomem(err);
    s = plan_parse(k->plan_json, NULL, &c->arena, &inner, err);
    if (s == WEND_OK)
        s = agent_config(k->agent, 0, err);
    if (s == WEND_OK)
        s = plan_check_actions(k->agent, inner, err);
    done->child = k;
    done->plan = inner;
    done->inputs =
        json_get(json_parse(k->plan_json, &c->arena, NULL), "inputs");
    done->next = c->checked;
    c->checked = done;
    return s == WEND_OK && c->arena.failed ? fail_nomem(err) : s;
}

static wend_status check_workflow(struct plan_check *c,
                                  const struct plan_action *action,
                                  const struct agent_child *k, wend_error *err)
{
    struct checked *inside;
    wend_error why = {0};
    wend_status s = check_inside(c, k, &inside, &why);

    if (s == WEND_OK)
        s = check_inputs(c, action, inside->inputs, &why);
    if (s == WEND_OK)
        s = plan_files_inside(inside->plan, action, &why);
    if (s != WEND_OK)
        fail_at(err, s, action->target_line, action->target_column,
                "action '%.*s': %.*s: %.300s", UTF8_ARGS(action->name, 80),
                UTF8_ARGS(action->target, 80), why.message);
    return s;
}

static wend_status check_child(struct plan_check *c,
                               const struct plan_action *a, wend_error *err)
{
    const struct agent_child *child = agent_child(c->agent, a->target);
    bool is_plan = a->type == ACTION_WORKFLOW;
    wend_str near = STR_NONE;
    int best = 0;

    if (child && is_plan == (child->plan_json.ptr != NULL))
        return is_plan ? check_workflow(c, a, child, err) : WEND_OK;
    for (const struct agent_child *k = c->agent->children; k; k = k->next)
        if (str_nearer(a->target, k->name, &best))
            near = k->name;
    return refuse(a,
                  child     ? is_plan ? "no plan, but an agent, is"
                                      : "no agent, but a plan, is"
                  : is_plan ? "there is no workflow"
                            : "there is no agent",
                  near, err);
}

static wend_status check_action(struct plan_check *c,
                                const struct plan_action *a, wend_error *err)
{
    const struct config *config = c->agent->configs[0];

    switch ((enum action_type)a->type) {
    case ACTION_DECISION: return WEND_OK;
    case ACTION_TOOL: return check_tool(c, a, err);
    case ACTION_LLM: return check_model(config, a, err);
    case ACTION_RELIC: return check_relic(c, a, err);
    case ACTION_AGENT:
    case ACTION_WORKFLOW: return check_child(c, a, err);
    case ACTION_TYPES: break;
    }
    return WEND_OK;
}

/* As they were written; only what has arguments is compared with that. */
static const struct json *written(const struct plan *p, struct arena *a)
{
    const struct json *list = NULL;

    for (uint32_t i = 0; !list && i < p->count; i++)
        if (p->actions[i]->type == ACTION_WORKFLOW ||
            p->actions[i]->type == ACTION_RELIC ||
            p->actions[i]->type == ACTION_TOOL)
            list = json_get(json_parse(p->json, a, NULL), "actions");
    return list ? list->first : NULL;
}

wend_status plan_check_actions(wend_agent *agent, const struct plan *p,
                               wend_error *err)
{
    struct plan_check c = {.agent = agent, .arena.mem = &agent->mem};
    wend_status s = WEND_OK;

    c.action = written(p, &c.arena);
    if (c.arena.failed)
        s = fail_nomem(err);
    for (uint32_t i = 0; s == WEND_OK && i < p->count; i++) {
        s = check_action(&c, p->actions[i], err);
        c.action = c.action ? c.action->next : NULL;
    }
    arena_free(&c.arena);
    return s;
}

const int64_t *plan_fill_start(struct wend_run *r, const struct plan *plan,
                               bool root, wend_ev_run_start *e)
{
    if (!plan)
        return NULL;
    e->plan_json = plan->json;
    if (root && !r->agent->parallel_given)
        e->limits.parallel = PARALLEL_OPEN;
    return learned_ms(r->rt->store, plan, e->model, &r->arena);
}

static wend_status start_plan(wend_agent *agent, const wend_plan *plan,
                              const char *inputs, wend_run_options *o,
                              wend_run **out, wend_error *err)
{
    const struct plan *p = plan_inside(plan);
    struct plan_files files = {plan_folder(plan), o->parts, o->parts_count};
    struct arena a = {.mem = &agent->rt->mem};
    struct plan *set = NULL;
    wend_status s = WEND_OK;

    if (inputs) {
        s = plan_with_inputs(p->json, str_of(inputs), &a, &set, err);
        p = set;
    }
    o->plan = s == WEND_OK && p->on_failure == FAILURE_REPLAN;
    if (s == WEND_OK)
        s = agent_config(agent, 0, err);
    if (s == WEND_OK)
        s = plan_check_actions(agent, p, err);
    if (s == WEND_OK)
        s = plan_files_take(agent, p, &files, &a, err);
    o->parts = files.parts;
    o->parts_count = files.count;
    if (s == WEND_OK)
        s = run_start(agent, p->name, p, o, NULL, out, err);
    arena_free(&a);
    return s;
}

wend_status wend_run_start_plan(wend_agent *agent, const wend_plan *plan,
                                const char *inputs,
                                const wend_run_options *options, wend_run **out,
                                wend_error *err)
{
    struct kept *hook;
    wend_run_options o;
    wend_status s = run_options(options, &o, &hook, err);

    if (s == WEND_OK && (!agent || !plan))
        s = fail(err, WEND_E_INVAL, "run: agent or plan is NULL");
    if (s == WEND_OK && o.messages)
        s = fail(err, WEND_E_INVAL,
                 "run: a plan takes no messages; give them as inputs");
    if (s == WEND_OK && o.client_tools)
        s = fail(err, WEND_E_INVAL,
                 "run: a plan takes no client_tools: its actions cannot use "
                 "them");
    if (s == WEND_OK)
        s = agent_enter(agent, "run", err);
    if (s == WEND_OK)
        s = plan_enter(plan, err);
    if (s == WEND_OK)
        s = start_plan(agent, plan, inputs, &o, out, err);
    return run_give(s, out, hook);
}

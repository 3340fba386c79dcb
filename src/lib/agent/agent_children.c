/*
 * agent_children.c - agents and plans that an agent may give tasks to.
 *
 * All that a child is stands in its parent's config, so that a parent can be
 * resumed from its log alone.
 */
#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "lib/plan/plan.h"
#include "lib/run/child.h"

enum { CHILD_NAME_MAX = 1024 }; /* it may be the path of a file */

const struct agent_child *agent_child(const wend_agent *a, wend_str name)
{
    const struct agent_child *k = a->children;

    while (k && !str_eq(k->name, name))
        k = k->next;
    return k;
}

/* Whether `of` can be reached from `a`: no agent may be its own child. A tree
 * of them is at most as deep as runs may be. */
static bool leads_to(const wend_agent *a, const wend_agent *of, int depth)
{
    bool yes = a == of;

    for (const struct agent_child *k = a->children; k && !yes; k = k->next)
        yes = depth >= CHILD_DEPTH_MAX || leads_to(k->agent, of, depth + 1);
    return yes;
}

static wend_status check(const wend_agent *a, const wend_child_options *o,
                         wend_error *err)
{
    wend_str name = str_of(o->name);

    if (!name.len || name.len > CHILD_NAME_MAX ||
        utf8_valid_len(name) != name.len)
        return fail(err, WEND_E_INVAL,
                    "agent: a child's name has 1 to %d bytes of UTF-8",
                    CHILD_NAME_MAX);
    if (!o->agent || o->agent->rt != a->rt)
        return fail(err, WEND_E_INVAL,
                    "agent: the child '%.80s' is NULL or of another runtime",
                    o->name);
    if (agent_child(a, name))
        return fail(err, WEND_E_EXISTS,
                    "agent: the child '%.80s' exists already", o->name);
    if (leads_to(o->agent, a, 1))
        return fail(err, WEND_E_LIMIT,
                    "agent: with the child '%.80s' agents are in agents in a "
                    "circle, or deeper than %d",
                    o->name, CHILD_DEPTH_MAX);
    return WEND_OK;
}

wend_status wend_agent_add_agent(wend_agent *a,
                                 const wend_child_options *options,
                                 wend_error *err)
{
    wend_status s = agent_enter(a, "agent", err);
    struct agent_child *k, **at;
    wend_child_options o;

    if (s != WEND_OK)
        return s;
    if (!options || !OPTIONS_TAKE(&o, wend_child_options, plan, options))
        return fail(err, WEND_E_INVAL,
                    "agent: options are NULL or options.size is wrong");
    s = o.plan ? plan_enter(o.plan, err) : WEND_OK;
    if (s == WEND_OK)
        s = check(a, &o, err);
    if (s != WEND_OK)
        return s;
    k = arena_alloc(&a->arena, sizeof *k);
    if (k) {
        k->name = arena_str(&a->arena, str_of(o.name));
        if (o.description)
            k->description = utf8_keep(str_of(o.description), &a->arena);
        if (o.plan) {
            k->plan_json = arena_str(&a->arena, plan_inside(o.plan)->json);
            if (plan_inside(o.plan)->on_failure == FAILURE_REPLAN)
                k->mode |= RUN_PLANS;
        }
    }
    if (!k || a->arena.failed) {
        a->arena.failed = false;
        return fail_nomem(err);
    }
    k->mode |= RUN_CHILD;
    k->agent = o.agent;
    o.agent->runs++; /* it stays as long as we do */
    for (at = &a->children; *at; at = &(*at)->next)
        continue;
    *at = k;
    agent_changed(a);
    return WEND_OK;
}

void agent_drop_children(wend_agent *a)
{
    for (struct agent_child *k = a->children; k; k = k->next)
        agent_release(k->agent);
    a->children = NULL;
}

/* ---- What the log says about them ---------------------------------------- */

/* Its own settings, whatever the agent around it is given later, are all that
 * is not named here. */
static const struct {
    uint32_t bit;
    const char *name;
} inherited[] = {{WEND_FORK_MODEL, "model"},
                 {WEND_FORK_PARAMS, "params"},
                 {WEND_FORK_POLICY, "policy"},
                 {WEND_FORK_LIMITS, "limits"}};

uint32_t child_inherits(const struct json *entry)
{
    const struct json *list = json_get(entry, "inherits");
    uint32_t bits = 0;

    for (const struct json *j = list ? list->first : NULL; j; j = j->next)
        for (size_t i = 0; i < sizeof inherited / sizeof *inherited; i++)
            if (str_is(json_str(j), inherited[i].name))
                bits |= inherited[i].bit;
    return bits;
}

static void put_inherits(struct buf *b, uint32_t bits)
{
    if (!bits)
        return;
    json_open(b, "inherits", '[');
    for (size_t i = 0; i < sizeof inherited / sizeof *inherited; i++)
        if (bits & inherited[i].bit)
            json_add_str(b, NULL, str_of(inherited[i].name));
    json_close(b, ']');
}

static void put_child(struct buf *b, const struct agent_child *k)
{
    const wend_ev_limits *l = &k->agent->limits;

    assert(k->agent->configs[k->mode]); /* by agent_children_ready */
    json_open(b, NULL, '{');
    json_add_str(b, "name", k->name);
    json_add_str(b, "agent", k->agent->name);
    json_add_str(b, "model", k->agent->model);
    json_open(b, "limits", '{');
    json_add_i64(b, "turns", l->turns);
    json_add_i64(b, "time_ms", l->time_ms);
    json_add_i64(b, "tokens", l->tokens);
    json_add_i64(b, "cost_nano", l->cost_nano);
    json_add_i64(b, "parallel", l->parallel);
    json_close(b, '}');
    put_inherits(b, k->agent->inherits);
    json_add_raw(b, "plan", k->plan_json);
    json_add_raw(b, "config", k->agent->configs[k->mode]->json);
    json_close(b, '}');
}

/* What a child spends counts towards the limit of its parents. */
static wend_status check_costs(const struct agent_child *k, wend_error *err)
{
    wend_status s = budget_check(k->agent->configs[k->mode], err);

    for (k = k->agent->children; k && s == WEND_OK; k = k->next)
        s = check_costs(k, err);
    return s;
}

wend_status agent_children_ready(const wend_agent *a, wend_error *err)
{
    wend_status s = WEND_OK;

    for (const struct agent_child *k = a->children; k && s == WEND_OK;
         k = k->next) {
        s = agent_config(k->agent, k->mode, err);
        if (s == WEND_OK && a->limits.cost_nano)
            s = check_costs(k, err);
    }
    return s;
}

/* Agents contain each other in no cycle, and are at most CHILD_DEPTH_MAX deep.
 */
wend_status agent_fits(const wend_agent *a, unsigned mode, bool prompts,
                       wend_error *err)
{
    wend_error why = {0};
    wend_status s = WEND_OK;

    if (prompts)
        s = frame_check(a->configs[mode], a->model, err);
    for (const struct agent_child *k = a->children; k && s == WEND_OK;
         k = k->next) {
        s = agent_fits(k->agent, k->mode, !k->plan_json.ptr, &why);
        if (s != WEND_OK)
            s = fail(err, s, "agent '%.*s': %s", UTF8_ARGS(k->name, 80),
                     why.message);
    }
    return s;
}

void agent_put_children(const wend_agent *a, struct buf *b)
{
    if (!a->children)
        return;
    json_open(b, "agents", '[');
    for (const struct agent_child *k = a->children; k; k = k->next)
        put_child(b, k);
    json_close(b, ']');
}

/* ---- The tool ------------------------------------------------------------ */

wend_status agent_offer_task(wend_agent *a, wend_error *err)
{
    if (a->offers_task || agent_tool(a, STR("task")))
        return fail(err, WEND_E_EXISTS, "tool 'task' is there already");
    a->offers_task = true;
    agent_changed(a);
    return WEND_OK;
}

/* A model gives tasks to agents only, not to plans. */
static const struct agent_child *next_agent(const struct agent_child *k)
{
    while (k && k->plan_json.ptr)
        k = k->next;
    return k;
}

static bool reads(const wend_agent *a)
{
    bool yes = true;

    for (const struct agent_child *k = next_agent(a->children); k && yes;
         k = next_agent(k->next)) {
        const struct config *c = k->agent->configs[k->mode];

        for (size_t i = 0; yes && i < c->tools_count; i++)
            yes = c->tools[i].call_class == WEND_CLASS_READ;
    }
    return yes;
}

static void put_description(const wend_agent *a, const struct builtin *t,
                            struct buf *b)
{
    struct buf text = {.mem = b->mem};

    buf_str(&text, t->info.description);
    buf_cstr(&text, a->children ? " The agents:" : "");
    for (const struct agent_child *k = next_agent(a->children); k;
         k = next_agent(k->next)) {
        buf_cstr(&text, "\n- ");
        buf_str(&text, k->name);
        if (k->description.len) {
            buf_cstr(&text, ": ");
            buf_str(&text, k->description);
        }
    }
    json_put_str(b, buf_view(&text));
    b->failed |= text.failed;
    buf_free(&text);
}

/* Its class is the worst that the agents can do. */
void agent_put_task(const wend_agent *a, struct buf *b)
{
    const struct builtin *t = builtin_find("task");
    const struct agent_child *first = next_agent(a->children);

    json_open(b, NULL, '{');
    json_add_str(b, "name", STR("task"));
    json_key(b, "description");
    put_description(a, t, b);
    json_key(b, "schema");
    buf_cstr(b, "{\"type\":\"object\",\"properties\":{\"agent\":{"
                "\"type\":\"string\"");
    if (first)
        json_open(b, "enum", '[');
    for (const struct agent_child *k = first; k; k = next_agent(k->next))
        json_add_str(b, NULL, k->name);
    if (first)
        json_close(b, ']');
    buf_fmt(b,
            "},\"prompt\":{\"type\":\"string\",\"minLength\":1}},"
            "\"required\":[\"agent\",\"prompt\"],"
            "\"additionalProperties\":false},\"class\":\"%s\","
            "\"category\":\"general\",\"source\":\"builtin\","
            "\"timeout_ms\":%d,\"subject\":\"agent\",\"child\":true}",
            wend_class_name(reads(a) ? WEND_CLASS_READ : WEND_CLASS_UNSAFE),
            CHILD_TIMEOUT_MS);
}

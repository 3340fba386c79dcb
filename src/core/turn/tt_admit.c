/*
 * tt_admit.c - whether a call may run: its tool, its arguments, the policy.
 */
#include "core/turn/tt_step.h"

#include "base/utf8.h"
#include "core/schema/schema.h"

/* What the user can do about a denial. */
static wend_str way_out(struct tt *x, const struct verdict *v)
{
    struct buf b = {.mem = x->s->scratch->mem};
    wend_str by = v->policy.rule;
    bool first = by.len && (by.ptr[0] == '!' || by.ptr[0] == '?');

    if (v->policy.decision == WEND_DECISION_ALLOW)
        return STR("");
    if (!v->allows.ptr)
        return STR("; no rule for this call can allow it");
    buf_cstr(&b, "; --approve ");
    buf_quoted(&b, v->allows);
    buf_cstr(&b, first ? ", given first, allows it" : " allows it");
    return take_text(x, &b);
}

void deny(struct tt *x, struct admission *a, wend_str message)
{
    a->refused = WEND_OUTCOME_DENIED;
    a->code = STR("denied");
    a->message = JOIN(x, message, way_out(x, &a->verdict));
}

static void refuse(struct admission *a, wend_str code, wend_str message)
{
    a->refused = WEND_OUTCOME_FAILED;
    a->code = code;
    a->message = message;
}

static void unknown_tool(struct tt *x, struct admission *a,
                         const struct call *c)
{
    const struct config *config = x->t->config;
    struct buf b = {.mem = x->s->scratch->mem};

    buf_fmt(&b, "there is no tool '%.*s'; the tools are:", (int)c->name.len,
            c->name.ptr);
    for (size_t i = 0; i < config->tools_count; i++)
        buf_fmt(&b, "%s %.*s", i ? "," : "", (int)config->tools[i].name.len,
                config->tools[i].name.ptr);
    if (!config->tools_count)
        buf_cstr(&b, " none");
    refuse(a, STR("unknown_tool"), take_text(x, &b));
}

static void check_args(struct tt *x, struct admission *a,
                       const struct json *args, const wend_error *why)
{
    struct buf wrong = {.mem = x->s->scratch->mem};

    if (!args)
        refuse(
            a, STR("bad_arguments"),
            !why->line
                ? STR("the arguments are over 1 MiB; call the tool again with "
                      "less")
                : text_fmt(x,
                           "the arguments are not valid JSON (%s, line %u "
                           "column %u); call the tool again with a JSON object",
                           why->message, why->line, why->column));
    else if (a->tool->schema && !schema_check(a->tool->schema, args, &wrong))
        refuse(a, STR("invalid_arguments"),
               JOIN(x, STR("the arguments do not fit the tool's schema: "),
                    take_text(x, &wrong)));
    else if (args->kind != JSON_OBJECT)
        refuse(a, STR("invalid_arguments"),
               STR("the arguments must be a JSON object"));
}

/* Why no child may be started, or absent. */
static wend_str child_refused(struct tt *x, wend_str name)
{
    const struct config *c = x->t->config;
    struct buf b = {.mem = x->s->scratch->mem};

    if (c->within.depth >= CHILD_DEPTH_MAX)
        buf_fmt(&b, "runs in runs, deeper than %d: do it yourself",
                CHILD_DEPTH_MAX);
    else if (config_child(c, name))
        return STR_NONE;
    else if (!c->children_count)
        buf_cstr(&b, "this agent has no other agents; do it yourself");
    else {
        buf_fmt(&b, "there is no agent '%.*s'; the agents are:",
                (int)utf8_cut(name, 80), name.ptr ? name.ptr : "");
        for (size_t i = 0; i < c->children_count; i++)
            buf_fmt(&b, "%s %.*s", i ? "," : "", (int)c->children[i].name.len,
                    c->children[i].name.ptr);
    }
    return take_text(x, &b);
}

/* Refuses it unless a child of that name may be started. */
static void check_agent(struct tt *x, struct admission *a, wend_str name)
{
    wend_str why = child_refused(x, name);

    if (why.ptr)
        refuse(a, STR("unknown_agent"), why);
}

/* Invalid arguments are kept as a JSON string with the raw text. */
static struct json *parse_args(struct tt *x, const struct call *c,
                               wend_error *why)
{
    struct json *j = json_parse(c->args, x->s->scratch, why);

    if (!c->invalid || !j)
        return j;
    if (j->text.len >= ARGS_BYTES_MAX) {
        why->line = 0; /* too long to be about a place */
        return NULL;
    }
    j = json_parse(j->text, x->s->scratch, why);
    return j && j->kind == JSON_STRING ? j : NULL;
}

static void admit_known(struct tt *x, const struct call *c, struct admission *a)
{
    wend_error why = {0};
    struct json *args = parse_args(x, c, &why);

    if (a->tool == x->t->config->reader) /* what the model has seen before */
        a->verdict.policy = (wend_ev_policy){.rule = STR("own results"),
                                             .layers_json = STR("[]")};
    else
        policy_check(x->t, a->tool, args, x->s->scratch, &a->verdict);
    if (x->t->cut && c->invalid)
        refuse(a, STR("bad_arguments"),
               STR("the answer reached the output limit inside this "
                   "call, so its arguments are incomplete; call the "
                   "tool again with less"));
    else
        check_args(x, a, args, &why);
    if (a->refused == WEND_OUTCOME_NONE && a->tool->child)
        check_agent(x, a, json_str(json_get(args, "agent")));
    if (a->refused == WEND_OUTCOME_NONE &&
        a->verdict.policy.decision == WEND_DECISION_DENY)
        deny(x, a,
             JOIN(x, STR("denied by policy ("), a->verdict.policy.rule,
                  STR("): "), a->verdict.reason));
}

/* A tool, or an endpoint of a relic. */
static void admit_call(struct tt *x, const struct call *c, bool relic,
                       struct admission *a)
{
    const struct config *config = x->t->config;

    *a = (struct admission){
        .tool = relic ? config_endpoint(config, c->name)
                      : config_tool(config, c->name),
    };
    if (a->tool) {
        admit_known(x, c, a);
        return;
    }
    a->verdict.policy.decision = WEND_DECISION_DENY;
    a->verdict.policy.rule = relic ? STR("unknown relic") : STR("unknown tool");
    if (relic)
        refuse(a, STR("unknown_target"),
               STR("there is no relic with this endpoint"));
    else
        unknown_tool(x, a, c);
}

/* An agent that the model's plan names, as if by the tool for that. */
static void admit_agent(struct tt *x, const struct call *c, struct admission *a)
{
    const struct json *params = json_parse(c->args, x->s->scratch, NULL);
    const struct json *prompt = json_get(params, "prompt");
    struct buf b = {.mem = x->s->scratch->mem};
    struct call task = {.id = c->id, .name = STR("task")};

    json_open(&b, NULL, '{');
    json_add_str(&b, "agent", c->name);
    json_key(&b, "prompt");
    json_put_str(&b, prompt ? json_str(prompt) : c->args);
    json_close(&b, '}');
    task.args = take_text(x, &b);
    admit_call(x, &task, false, a);
}

static void admit_action(struct tt *x, const struct plan_action *action,
                         const struct call *c, struct admission *a)
{
    bool child =
        action->type == ACTION_AGENT || action->type == ACTION_WORKFLOW;

    if (action->type == ACTION_TOOL || action->type == ACTION_RELIC) {
        admit_call(x, c, action->type == ACTION_RELIC, a);
        if (a->tool && a->tool->client)
            refuse(a, STR("client_tool"),
                   STR("the caller of the run executes this tool: an action "
                       "cannot use it"));
    } else if ((action->type == ACTION_AGENT && x->t->plan.plan->written) ||
               (child && x->t->imported)) {
        admit_agent(x, c, a);
    } else {
        *a = (struct admission){.verdict.policy.rule =
                                    STR("plan")}; /* the user's own words */
        if (child)
            check_agent(x, a, action->target);
    }
}

void admit_work(struct tt *x, const struct work *w, struct admission *a)
{
    struct call c = {.id = w->id, .name = w->name, .args = w->args};

    if (!w->call) {
        admit_action(x, x->t->plan.plan->actions[w->action], &c, a);
        return;
    }
    c.invalid = w->call->invalid && str_eq(w->args, w->call->args);
    admit_call(x, &c, false, a);
}

/*
 * start.c - POST /v1/runs: a run of one of the server's agents.
 *
 * What a request says decides what is asked, never what may happen: tools,
 * policy, addresses and keys are the agent's, and limits only become lower.
 */
#include "serve/api/api.h"

#include "base/fail.h"
#include "wire/otel/otel.h"

struct start {
    wend_str prompt, agent, model, session, follow, webhook;
    const struct json *parts, *messages, *plan, *inputs, *labels;
    const struct json *client_tools;
    wend_limits limits;
    bool planner;
};

static const struct field start_rows[] = {
    {"prompt", field_text, .offset = offsetof(struct start, prompt)},
    {"agent", field_name, .offset = offsetof(struct start, agent)},
    {"model", field_name, .offset = offsetof(struct start, model)},
    {"session", field_name, .offset = offsetof(struct start, session)},
    {"follow", field_name, .offset = offsetof(struct start, follow)},
    {"webhook", field_name, .offset = offsetof(struct start, webhook)},
    {"parts", field_tree, .offset = offsetof(struct start, parts)},
    {"messages", field_tree, .offset = offsetof(struct start, messages)},
    {"plan", field_tree, .offset = offsetof(struct start, plan)},
    {"inputs", field_tree, .offset = offsetof(struct start, inputs)},
    {"labels", field_tree, .offset = offsetof(struct start, labels)},
    {"client_tools", field_tree,
     .offset = offsetof(struct start, client_tools)},
    {"limits", field_limits, .offset = offsetof(struct start, limits)},
    {"planner", field_bool, .offset = offsetof(struct start, planner)},
    {.name = NULL},
};

enum { LABELS_ROOM = 29 }; /* of the 32 that a run may have */

/* The caller's trace, if runs are traced: then the run is part of it. */
static void put_trace(struct serve_ask *q, const struct json *labels,
                      struct buf *b)
{
    wend_str parent = http_req_value(q->req, "traceparent");
    wend_str state = http_req_value(q->req, "tracestate");
    struct otel_context c;

    if (!q->server->rt->tracer || !otel_parent_read(parent, &c) ||
        json_get(labels, "traceparent") || json_get(labels, "tracestate") ||
        (labels && labels->count > LABELS_ROOM))
        return;
    json_add_str(b, "traceparent", parent);
    if (otel_state_ok(state))
        json_add_str(b, "tracestate", state);
}

/* Marks the run as one that a server may resume. */
static const char *labels_with_mark(struct serve_ask *q,
                                    const struct json *labels)
{
    struct buf b = {.mem = &q->server->mem};

    json_open(&b, NULL, '{');
    for (const struct json *m = labels ? labels->first : NULL; m; m = m->next)
        json_add_pair(&b, m->key, m);
    put_trace(q, labels, &b);
    json_add_str(&b, SERVE_MARK, STR("server"));
    json_close(&b, '}');
    return buf_keep(&b, &q->arena).ptr;
}

static bool labels_ok(struct serve_ask *q, const struct json *labels)
{
    if (labels && labels->kind != JSON_OBJECT) {
        respond_problem(q, 400, "body", "labels", NULL,
                        "labels must be an object of texts");
        return false;
    }
    for (const struct json *m = labels ? labels->first : NULL; m; m = m->next)
        if (str_starts(m->key, "wend.")) {
            respond_problem(q, 400, "body", "labels", NULL,
                            "labels that begin with 'wend.' are the server's");
            return false;
        }
    return true;
}

/* A blob is named by its hash alone, and who knows the hash of a file of
 * another user must not get the file by it. */
static bool names_blob(const struct json *messages)
{
    for (const struct json *m = json_items(messages); m; m = m->next)
        for (const struct json *p = json_items(json_get(m, "parts")); p;
             p = p->next)
            if (json_get(p, "hash"))
                return true;
    return false;
}

wend_agent *ask_agent(struct serve_ask *q, wend_str name, wend_str model)
{
    const struct serve_agent *a = server_agent(q->server, name);
    wend_agent *agent = a ? agent_for(a, model) : NULL;

    if (!a)
        respond_problem(q, 404, "agent", "agent", "GET /v1/agents lists them",
                        "there is no agent '%.*s'",
                        (int)(name.len < 64 ? name.len : 64),
                        name.ptr ? name.ptr : "");
    else if (!agent)
        respond_problem(q, 422, "model", "model", "GET /v1/agents lists them",
                        "agent '%.*s' has no model '%.*s'", STR_ARGS(a->name),
                        (int)(model.len < 100 ? model.len : 100), model.ptr);
    return agent;
}

bool ask_room(struct serve_ask *q)
{
    if (q->server->runs_count < q->server->options.runs_max)
        return true;
    respond_problem(q, 503, "overloaded", NULL, "try again in a second",
                    "%zu runs are in progress", q->server->runs_count);
    return false;
}

static wend_status start_plan(struct serve_ask *q, const struct start *st,
                              wend_agent *agent, const wend_run_options *o,
                              wend_run **run, wend_error *err)
{
    const wend_plan_options po = {.size = sizeof po};
    wend_str text = st->plan->kind == JSON_STRING
                        ? st->plan->text
                        : json_text(st->plan, &q->arena);
    const char *inputs = ask_text(q, json_text(st->inputs, &q->arena));
    wend_plan *plan = NULL;
    wend_status s;

    if (q->arena.failed)
        return fail_nomem(err);
    s = wend_plan_parse(text, &po, &plan, err);
    if (s == WEND_OK)
        s = wend_run_start_plan(agent, plan, inputs, o, run, err);
    wend_plan_free(plan);
    return s;
}

static wend_status start_run(struct serve_ask *q, const struct start *st,
                             wend_agent *agent, wend_run_options *o,
                             wend_run **run, wend_error *err)
{
    o->messages = ask_text(q, json_text(st->messages, &q->arena));
    o->client_tools = ask_text(q, json_text(st->client_tools, &q->arena));
    o->plan = st->planner;
    if (q->arena.failed)
        return fail_nomem(err);
    if (st->follow.ptr)
        return wend_run_follow(agent, ask_text(q, st->follow), st->prompt, o,
                               run, err);
    return wend_run_start(agent, st->prompt, o, run, err);
}

static bool check(struct serve_ask *q, const struct start *st)
{
    const char *why = NULL;

    if (st->plan &&
        (st->prompt.ptr || st->messages || st->follow.ptr || st->planner))
        why = "a plan goes without prompt, messages, follow and planner";
    else if (!st->plan && !st->prompt.ptr && !st->messages)
        why = "prompt is missing";
    else if (names_blob(st->messages))
        why = "a part of a message has 'hash'; send 'data'";
    else if (st->messages && st->messages->kind != JSON_ARRAY)
        why = "messages must be a list";
    if (!why)
        return true;
    respond_problem(q, 400, "body", st->prompt.ptr ? NULL : "prompt", NULL,
                    "%s", why);
    return false;
}

/* Whom the end of the run is told, before it starts; it needs an id for that.
 * False: it is answered. */
static bool take_webhook(struct serve_ask *q, const struct start *st,
                         char id[37])
{
    if (st->webhook.ptr && !ask_is_admin(q)) {
        respond_problem(q, 403, "right", "webhook", NULL,
                        "only an admin may name a webhook");
        return false;
    }
    if (st->webhook.ptr && !outbox_allows(q->server, st->webhook)) {
        respond_problem(q, 422, "webhook", "webhook",
                        "start the server with --webhook-allow ORIGIN",
                        "the operator has not allowed this address");
        return false;
    }
    if (!st->webhook.ptr)
        return true;
    if (!id[0])
        ask_new_id(q, id);
    if (outbox_expect(q->server, id, st->webhook))
        return true;
    respond_nomem(q);
    return false;
}

static void start(struct serve_ask *q, const struct start *st)
{
    wend_run_options o = {.size = sizeof o, .limits = st->limits};
    wend_agent *agent = ask_agent(q, st->agent, st->model);
    struct serve_run *r;
    wend_run *run = NULL;
    wend_error err;
    wend_status s;
    char id[37];

    if (!agent || !body_parts(q, st->parts, &o.parts, &o.parts_count) ||
        !ask_key(q, id) || !take_webhook(q, st, id))
        return;
    o.id = id[0] ? id : NULL;
    o.user = ask_text(q, q->user);
    o.session = ask_text(q, st->session);
    o.labels = labels_with_mark(q, st->labels);
    if (q->arena.failed)
        s = fail_nomem(&err);
    else if (st->plan)
        s = start_plan(q, st, agent, &o, &run, &err);
    else
        s = start_run(q, st, agent, &o, &run, &err);
    if (s != WEND_OK) {
        respond_failed(q, &err);
        return;
    }
    r = hub_add(q->server, run);
    if (r)
        hub_answer(r, q);
    else
        respond_nomem(q);
}

void api_start(struct serve_ask *q)
{
    struct start st = {0};

    if (!ask_room(q) || !body_read(q, start_rows, &st) || !check(q, &st) ||
        !labels_ok(q, st.labels))
        return;
    if (st.follow.ptr && !ask_run_of(q, st.follow))
        return;
    start(q, &st);
}

/*
 * front.c - what front ends speak: AG-UI and the UI message stream.
 */
#include "serve/proto/proto.h"

#include <stdio.h>

/* ---- AG-UI --------------------------------------------------------------- */

/* Pieces of the user: {type:text}, {type:binary,data,mimeType,filename}. */
static void say_agui(struct spoken *s, const struct json *content)
{
    if (content && content->kind == JSON_STRING)
        spoken_text(s, content->text);
    for (const struct json *c = json_items(content), *next; c; c = next) {
        const struct json *source = json_get(c, "source");

        next = c->next;

        if (str_is(json_get_str(c, "type"), "text"))
            spoken_text(s, json_get_str(c, "text"));
        else if (json_get_str(c, "data").ptr)
            spoken_data(s, json_get_str(c, "data"),
                        json_get_str(c, "filename"));
        else if (source && str_is(json_get_str(source, "type"), "data"))
            spoken_data(s, json_get_str(source, "value"),
                        json_get_str(c, "filename"));
        else
            spoken_url(s, json_get_str(c, "url"), json_get_str(c, "filename"));
        if (s->answered)
            return;
    }
}

static bool take_agui_message(struct serve_ask *q, struct proto_ask *p,
                              const struct json *m)
{
    wend_str role = json_get_str(m, "role");
    struct spoken s;

    if (str_is(role, "user")) {
        spoken_begin(&s, q);
        say_agui(&s, json_get(m, "content"));
        return spoken_end(&s, p, s.answered || !m->next);
    }
    if (str_is(role, "assistant"))
        past_functions(q, p, json_get_str(m, "content"),
                       json_get(m, "toolCalls"));
    else if (str_is(role, "tool"))
        past_result(p, json_get_str(m, "toolCallId"),
                    json_get_str(m, "content"), json_get(m, "error"));
    else if (str_is(role, "system") || str_is(role, "developer"))
        past_text(p, "system", json_get_str(m, "content"));
    return true; /* activities and reasoning are for the page */
}

/* What the page says about itself, as one message. */
static void take_context(struct serve_ask *q, struct proto_ask *p,
                         const struct json *list)
{
    struct buf b = {.mem = &q->server->mem};

    for (const struct json *c = json_items(list); c; c = c->next)
        buf_fmt(&b, "%.*s: %.*s\n", STR_ARGS(json_get_str(c, "description")),
                STR_ARGS(json_get_str(c, "value")));
    if (b.len)
        past_text(p, "system", buf_view(&b));
    p->messages.failed |= b.failed;
    buf_free(&b);
}

/* ---- Approvals: the client answers in a request of its own --------------- */

static bool answer_one(struct serve_ask *q, struct serve_run *r, wend_str id,
                       bool yes)
{
    if (wend_run_approve(r->run, id, yes, ask_text(q, q->user)) == WEND_OK)
        return true;
    respond_problem(q, 409, "answered", NULL, NULL,
                    "nothing with this id waits for approval");
    return false;
}

/* {interruptId, status, payload}: the payload may say no. */
static bool answer_agui(struct serve_ask *q, struct serve_run *r,
                        const struct json *list)
{
    for (const struct json *i = json_items(list); i; i = i->next) {
        const struct json *payload = json_get(i, "payload");
        const struct json *approved = json_get(payload, "approved");
        bool yes = str_is(json_get_str(i, "status"), "resolved") &&
                   !(payload && payload->kind == JSON_FALSE) &&
                   (!approved || json_is_true(approved));

        if (!answer_one(q, r, json_get_str(i, "interruptId"), yes))
            return false;
    }
    return true;
}

static bool is_responded(const struct json *part)
{
    return str_is(json_get_str(part, "state"), "approval-responded");
}

/* Parts of the newest message: {toolCallId, state, approval:{approved}}. */
static bool answer_ui(struct serve_ask *q, struct serve_run *r,
                      const struct json *parts)
{
    for (const struct json *c = json_items(parts); c; c = c->next)
        if (is_responded(c) &&
            !answer_one(
                q, r, json_get_str(c, "toolCallId"),
                json_is_true(json_get(json_get(c, "approval"), "approved"))))
            return false;
    return true;
}

/* The run of this thread that waits, if it is this server's. */
static struct serve_run *waiting_run(struct serve_ask *q, wend_str thread)
{
    const wend_list_options o = {.size = sizeof o,
                                 .user = ask_text(q, q->user),
                                 .session = ask_text(q, thread),
                                 .status = "waiting",
                                 .limit = 1};
    struct serve_run *r = NULL;
    const wend_run_info *info;
    wend_runs *list;
    char id[37];

    if (wend_store_list(q->server->rt->store, &o, &list, NULL) != WEND_OK)
        return NULL;
    if (wend_runs_next(list, &info) == WEND_OK) {
        snprintf(id, sizeof id, "%.*s", STR_ARGS(info->run));
        r = hub_find(q->server, id);
    }
    wend_runs_free(list);
    return r;
}

typedef bool (*answer_fn)(struct serve_ask *q, struct serve_run *r,
                          const struct json *list);

/* The stream goes on behind what the client has had. */
static void resume_thread(struct serve_ask *q, struct proto_ask *p,
                          const struct json *list, answer_fn answer)
{
    struct serve_run *r = waiting_run(q, p->session);

    if (!r || !r->run) {
        respond_problem(q, 409, "over", NULL, NULL,
                        "no run of this thread waits for approval");
    } else {
        p->past_seq = r->seq;
        p->past_n = r->n;
        if (answer(q, r, list))
            proto_stream(q, p, r->id);
    }
    proto_free(p);
}

void proto_ag_ui(struct serve_ask *q)
{
    const struct json *body = proto_body(q), *list, *resume;
    struct proto_ask p;
    bool ok = true;

    if (!body)
        return;
    if (!json_get_str(body, "threadId").len ||
        !json_get_str(body, "runId").len) {
        respond_problem(q, 400, "body", "threadId", NULL,
                        "threadId and runId are needed");
        return;
    }
    list = json_get(body, "messages");
    resume = json_get(body, "resume");
    proto_begin(q, &p);
    p.agent = q->params[0];
    p.session = json_get_str(body, "threadId");
    p.dialect = "ag-ui";
    p.stream = true;
    p.interrupts = true;
    p.options.thread_id = ask_text(q, p.session);
    p.options.run_id = ask_text(q, json_get_str(body, "runId"));
    p.options.version = ask_text(q, json_get_str(body, "protocolVersion"));
    if (json_items(resume)) {
        resume_thread(q, &p, resume, answer_agui);
        return;
    }
    take_context(q, &p, json_get(body, "context"));
    for (const struct json *m = json_items(list); m;) {
        ok = take_agui_message(q, &p, m);
        m = ok ? m->next : NULL;
    }
    for (const struct json *t = ok ? json_items(json_get(body, "tools")) : NULL;
         t; t = t->next)
        proto_tool(&p, json_get_str(t, "name"), json_get_str(t, "description"),
                   json_get(t, "parameters"));
    if (ok)
        proto_run(q, &p);
    else
        proto_free(&p);
}

/* ---- UI message stream --------------------------------------------------- */

/* A tool part is a call, with its result once it has one. */
static void past_tool_part(struct proto_ask *p, struct serve_ask *q,
                           const struct json *part, struct buf *calls,
                           struct buf *results)
{
    wend_str type = json_get_str(part, "type");
    wend_str state = json_get_str(part, "state");
    wend_str name = str_is(type, "dynamic-tool")
                        ? json_get_str(part, "toolName")
                        : str_skip(type, 5);
    wend_str id = json_get_str(part, "toolCallId");
    struct proto_ask later = {.messages = *results};
    bool failed = !str_is(state, "output-available");
    wend_str text = failed ? str_or(json_get_str(part, "errorText"),
                                    "the call gave no result")
                           : json_text(json_get(part, "output"), &q->arena);
    const struct json *output = json_get(part, "output");

    (void)p;
    if (!failed && output && output->kind == JSON_STRING)
        text = output->text;
    past_call(calls, id, name, json_text(json_get(part, "input"), &q->arena));
    past_result(&later, id, text, failed);
    *results = later.messages;
}

static void past_ui_assistant(struct proto_ask *p, struct serve_ask *q,
                              const struct json *m)
{
    const struct mem *mem = &q->server->mem;
    struct buf text = {.mem = mem}, calls = {.mem = mem};
    struct buf results = {.mem = mem};

    json_open(&results, NULL, '[');
    for (const struct json *c = json_items(json_get(m, "parts")); c;
         c = c->next) {
        wend_str type = json_get_str(c, "type");

        if (str_is(type, "text"))
            buf_str(&text, str_or(json_get_str(c, "text"), ""));
        else if (str_is(type, "dynamic-tool") || str_starts(type, "tool-"))
            past_tool_part(p, q, c, &calls, &results);
    }
    past_assistant(p, buf_view(&text), &calls);
    if (results.len > 1) {
        buf_char(&p->messages, ',');
        buf_str(&p->messages, str_skip(buf_view(&results), 1));
    }
    p->messages.failed |= text.failed || results.failed;
    buf_free(&text);
    buf_free(&results);
}

static bool take_ui_message(struct serve_ask *q, struct proto_ask *p,
                            const struct json *m)
{
    wend_str role = json_get_str(m, "role");
    struct spoken s;

    if (str_is(role, "assistant")) {
        past_ui_assistant(p, q, m);
        return true;
    }
    spoken_begin(&s, q);
    for (const struct json *c = json_items(json_get(m, "parts")); c;) {
        wend_str type = json_get_str(c, "type");

        if (str_is(type, "text"))
            spoken_text(&s, json_get_str(c, "text"));
        else if (str_is(type, "file"))
            spoken_url(&s, json_get_str(c, "url"), json_get_str(c, "filename"));
        c = s.answered ? NULL : c->next; /* the request is gone with it */
    }
    if (s.answered || !str_is(role, "system"))
        return spoken_end(&s, p, s.answered || !m->next);
    past_text(p, "system", buf_view(&s.text));
    buf_free(&s.text);
    buf_free(&s.parts);
    return true;
}

static const struct http_field ui_fields[] = {
    {{"x-vercel-ai-ui-message-stream", 29}, {"v1", 2}}};

static void ui_begin(struct serve_ask *q, struct proto_ask *p, wend_str chat)
{
    proto_begin(q, p);
    p->agent = q->params[0];
    p->session = chat;
    p->dialect = "ui";
    p->stream = p->goes_on = p->is_done = p->interrupts = true;
    p->fields = ui_fields;
    p->fields_count = 1;
}

static const struct json *newest_parts(const struct json *messages)
{
    const struct json *newest = json_items(messages);

    while (newest && newest->next)
        newest = newest->next;
    return json_get(newest, "parts");
}

static bool has_responses(const struct json *messages)
{
    for (const struct json *c = json_items(newest_parts(messages)); c;
         c = c->next)
        if (is_responded(c))
            return true;
    return false;
}

void proto_ui(struct serve_ask *q)
{
    const struct json *body, *list = proto_messages(q, &body);
    struct proto_ask p;
    bool ok = true;

    if (!list)
        return;
    ui_begin(q, &p, json_get_str(body, "id"));
    if (has_responses(list)) {
        resume_thread(q, &p, newest_parts(list), answer_ui);
        return;
    }
    for (const struct json *m = list->first; m;) {
        ok = take_ui_message(q, &p, m);
        m = ok ? m->next : NULL;
    }
    if (ok)
        proto_run(q, &p);
    else
        proto_free(&p);
}

/* The stream of the run that is in progress in this chat; 204: none is. */
void proto_ui_again(struct serve_ask *q)
{
    const wend_list_options o = {.size = sizeof o,
                                 .user = ask_text(q, q->user),
                                 .session = ask_text(q, q->params[1]),
                                 .limit = 1};
    const wend_run_info *info;
    struct proto_ask p;
    wend_runs *list;
    char id[37] = "";
    wend_error err;

    if (wend_store_list(q->server->rt->store, &o, &list, &err) != WEND_OK) {
        respond_failed(q, &err);
        return;
    }
    if (wend_runs_next(list, &info) == WEND_OK && !info->ended_us)
        snprintf(id, sizeof id, "%.*s", STR_ARGS(info->run));
    wend_runs_free(list);
    if (!id[0]) {
        respond_empty(q, 204);
        return;
    }
    ui_begin(q, &p, q->params[1]);
    proto_stream(q, &p, id);
    proto_free(&p);
}

/*
 * openai.c - POST /v1/chat/completions and /v1/responses.
 *
 * The model of a request is an agent. What else a request says about the model
 * (temperature, max_tokens ..) is the agent's business and has no effect; tools
 * of the request are the client's to execute.
 */
#include "serve/proto/proto.h"

#include "base/id.h"

/* AGENT or AGENT/MODEL. */
static void take_model(struct proto_ask *p, wend_str name)
{
    const char *slash = name.len ? memchr(name.ptr, '/', name.len) : NULL;

    p->agent = name;
    if (!slash)
        return;
    p->agent.len = (size_t)(slash - name.ptr);
    p->model = str_skip(name, p->agent.len + 1);
}

/* Pieces of content of both protocols, whose names differ. False: it is
 * answered, and the request is gone. */
static bool say_piece(struct spoken *s, const struct json *c)
{
    wend_str type = json_get_str(c, "type");
    const struct json *file = json_get(c, "file");

    if (str_is(type, "text") || str_is(type, "input_text") ||
        str_is(type, "output_text"))
        spoken_text(s, json_get_str(c, "text"));
    else if (str_is(type, "image_url"))
        spoken_url(s, json_get_str(json_get(c, "image_url"), "url"), STR_NONE);
    else if (str_is(type, "input_image"))
        spoken_url(s, json_get_str(c, "image_url"), STR_NONE);
    else if (str_is(type, "file") || str_is(type, "input_file"))
        spoken_url(s, json_get_str(file ? file : c, "file_data"),
                   json_get_str(file ? file : c, "filename"));
    else if (str_is(type, "input_audio"))
        spoken_data(s, json_get_str(json_get(c, "input_audio"), "data"),
                    STR_NONE);
    else if (!s->answered) {
        s->answered = true;
        respond_problem(s->q, 400, "part", "messages", NULL,
                        "content of type '%.*s' is not known",
                        (int)(type.len < 40 ? type.len : 40),
                        type.ptr ? type.ptr : "");
    }
    return !s->answered;
}

static bool say_content(struct serve_ask *q, struct proto_ask *p,
                        const struct json *content, bool newest)
{
    struct spoken s;

    spoken_begin(&s, q);
    if (content && content->kind == JSON_STRING)
        spoken_text(&s, content->text);
    for (const struct json *c = json_items(content); c;)
        c = say_piece(&s, c) ? c->next : NULL;
    return spoken_end(&s, p, newest);
}

/* The text of a content that is a text, or of its pieces; in the arena. */
static wend_str text_of(struct serve_ask *q, const struct json *content)
{
    struct buf b = {.mem = &q->server->mem};

    if (!content || content->kind == JSON_STRING)
        return json_str(content);
    for (const struct json *c = json_items(content); c; c = c->next)
        buf_str(&b, str_or(json_get_str(c, "text"), ""));
    return buf_keep(&b, &q->arena);
}

static void refuse_role(struct serve_ask *q, wend_str role)
{
    respond_problem(
        q, 400, "role", "messages", NULL, "the role '%.*s' is not known",
        (int)(role.len < 40 ? role.len : 40), role.ptr ? role.ptr : "");
}

static bool take_chat_message(struct serve_ask *q, struct proto_ask *p,
                              const struct json *m)
{
    wend_str role = json_get_str(m, "role");
    const struct json *content = json_get(m, "content");

    if (str_is(role, "user"))
        return say_content(q, p, content, !m->next);
    if (str_is(role, "system") || str_is(role, "developer")) {
        past_text(p, "system", text_of(q, content));
    } else if (str_is(role, "assistant")) {
        past_functions(q, p, text_of(q, content), json_get(m, "tool_calls"));
    } else if (str_is(role, "tool")) {
        past_result(p, json_get_str(m, "tool_call_id"), text_of(q, content),
                    false);
    } else {
        refuse_role(q, role);
        return false;
    }
    return true;
}

/* {"type":"function","function":{..}} or the same without the inner object. */
static void take_tools(struct proto_ask *p, const struct json *body)
{
    const struct json *choice = json_get(body, "tool_choice");

    if (choice && str_is(json_str(choice), "none"))
        return;
    for (const struct json *t = json_items(json_get(body, "tools")); t;
         t = t->next) {
        const struct json *f = json_get(t, "function");

        if (!str_is(json_get_str(t, "type"), "function"))
            continue;
        f = f ? f : t;
        proto_tool(p, json_get_str(f, "name"), json_get_str(f, "description"),
                   json_get(f, "parameters"));
    }
}

/* body NULL: it is answered. */
static void proto_go(struct serve_ask *q, struct proto_ask *p,
                     const struct json *body)
{
    if (!body) {
        proto_free(p);
        return;
    }
    take_tools(p, body);
    proto_run(q, p);
}

void proto_chat(struct serve_ask *q)
{
    const struct json *body, *list = proto_messages(q, &body);
    struct proto_ask p;
    bool ok = true;

    if (!list)
        return;
    proto_begin(q, &p);
    take_model(&p, json_get_str(body, "model"));
    p.stream = json_is_true(json_get(body, "stream"));
    p.dialect = "openai-chat";
    p.options.whole = !p.stream;
    p.is_done = p.stream;
    p.options.model = ask_text(q, json_get_str(body, "model"));
    p.options.include_usage = json_is_true(
        json_get(json_get(body, "stream_options"), "include_usage"));
    for (const struct json *m = list->first; ok && m;) {
        ok = take_chat_message(q, &p, m);
        m = ok ? m->next : NULL;
    }
    proto_go(q, &p, ok ? body : NULL);
}

/* ---- Responses ----------------------------------------------------------- */

static bool take_item(struct serve_ask *q, struct proto_ask *p,
                      const struct json *item)
{
    wend_str type = json_get_str(item, "type");
    wend_str role = json_get_str(item, "role");
    const struct json *content = json_get(item, "content");
    struct buf calls = {.mem = &q->server->mem};

    if (str_is(type, "function_call")) {
        past_call(&calls, json_get_str(item, "call_id"),
                  json_get_str(item, "name"), json_get_str(item, "arguments"));
        past_assistant(p, STR_NONE, &calls);
    } else if (str_is(type, "function_call_output")) {
        past_result(p, json_get_str(item, "call_id"),
                    text_of(q, json_get(item, "output")), false);
    } else if (str_is(type, "reasoning")) {
        return true; /* it was another model's, and cannot be checked */
    } else if (str_is(role, "user")) {
        return say_content(q, p, content, !item->next);
    } else if (str_is(role, "system") || str_is(role, "developer")) {
        past_text(p, "system", text_of(q, content));
    } else if (str_is(role, "assistant")) {
        past_assistant(p, text_of(q, content), &calls);
    } else {
        refuse_role(q, role.ptr ? role : type);
        return false;
    }
    return true;
}

/* resp_ and the id of the run. */
static bool take_previous(struct serve_ask *q, struct proto_ask *p,
                          wend_str previous)
{
    if (!previous.ptr)
        return true;
    if (!str_starts(previous, "resp_") ||
        !run_id_valid(str_skip(previous, 5))) {
        respond_problem(q, 404, "not_found", "previous_response_id", NULL,
                        "there is no such response");
        return false;
    }
    p->follow = str_skip(previous, 5);
    return ask_run_of(q, p->follow);
}

void proto_responses(struct serve_ask *q)
{
    const struct json *body = proto_body(q), *input;
    wend_str instructions;
    struct proto_ask p;
    bool ok;

    if (!body)
        return;
    input = json_get(body, "input");
    instructions = json_get_str(body, "instructions");
    proto_begin(q, &p);
    take_model(&p, json_get_str(body, "model"));
    p.stream = json_is_true(json_get(body, "stream"));
    p.dialect = "responses";
    p.options.whole = !p.stream;
    p.named = true;
    p.options.model = ask_text(q, json_get_str(body, "model"));
    ok = take_previous(q, &p, json_get_str(body, "previous_response_id"));
    if (ok && instructions.ptr && !p.follow.ptr)
        past_text(&p, "system", instructions);
    if (ok && input && input->kind == JSON_STRING)
        p.prompt = input->text;
    for (const struct json *i = ok ? json_items(input) : NULL; i;) {
        ok = take_item(q, &p, i);
        i = ok ? i->next : NULL;
    }
    proto_go(q, &p, ok ? body : NULL);
}

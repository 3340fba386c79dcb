/*
 * openai_responses_ask.c - requests of the Responses API.
 *
 * Nothing is stored at the server: the whole conversation goes along, with
 * the encrypted reasoning before what came of it. The input is the last
 * member, so the request for a longer conversation begins with the bytes of
 * the shorter one, up to the end of its last message.
 */
#include "wire/model/request.h"
#include "wire/model/parts.h"

static void put_message(struct buf *b, const char *role, wend_str text)
{
    json_key(b, NULL);
    buf_cstr(b, "{\"type\":\"message\"");
    json_add_str(b, "role", str_of(role));
    request_str(b, "content", text);
    json_close(b, '}');
}

static void put_call(struct request_writer *w, const struct msg *m,
                     const struct call *c)
{
    char room[WIRE_ID + 1];

    json_key(w->out, NULL);
    buf_cstr(w->out, "{\"type\":\"function_call\"");
    request_str(w->out, "call_id", wire_call_id(w->turn, m, c, room));
    request_put_name(w->out, c->name);
    request_put_args(w->out, c);
    json_close(w->out, '}');
}

static void put_assistant(struct request_writer *w, const struct msg *m)
{
    struct parts parts;
    struct part part;

    parts_begin(&parts, w->turn, m, "responses", &w->arena);
    while ((part = parts_next(&parts)).kind != PART_END) {
        switch (part.kind) {
        case PART_TEXT: put_message(w->out, "assistant", part.text); break;
        case PART_CALL: put_call(w, m, part.call); break;
        case PART_ITEM:
            if (parts_left(&parts)) /* reasoning at the end is refused */
                json_add(w->out, NULL, json_get(part.item, "item"));
            break;
        case PART_END: break;
        }
    }
}

static void put_said(struct request_writer *w, const struct msg *m)
{
    put_message(w->out, m->role == ROLE_USER ? "user" : "system", m->text);
}

static void put_result(struct request_writer *w, const struct msg *m)
{
    char room[WIRE_ID + 1];

    json_key(w->out, NULL);
    buf_cstr(w->out, "{\"type\":\"function_call_output\"");
    request_str(w->out, "call_id", wire_result_id(w->turn, m, room));
    request_str(w->out, "output", m->text);
    json_close(w->out, '}');
}

/* Not strict: the API refuses strict schemas with optional members, and tools
 * may have those. */
static void put_tool(struct request_writer *w, const struct tool *t)
{
    json_key(w->out, NULL);
    buf_cstr(w->out, "{\"type\":\"function\"");
    request_put_tool(w->out, t, "parameters", REQUEST_ANY_OBJECT);
    buf_cstr(w->out, ",\"strict\":false}");
}

static void put_head(struct request_writer *w)
{
    struct buf *b = w->out;
    enum effort effort = w->config->effort;

    buf_char(b, '{');
    request_str(b, "model", w->q->model);
    buf_cstr(b, ",\"stream\":true,\"store\":false,"
                "\"include\":[\"reasoning.encrypted_content\"]");
    if (w->q->max_tokens > 0)
        json_add_i64(b, "max_output_tokens", w->q->max_tokens);
    if (effort)
        buf_fmt(b, ",\"reasoning\":{\"effort\":\"%s\"%s}", effort_names[effort],
                effort == EFFORT_NONE ? "" : ",\"summary\":\"auto\"");
    if (w->config->instructions.len)
        json_add_str(b, "instructions", w->config->instructions);
    request_put_tools(w, "tools");
    if (w->schema) {
        buf_cstr(b, ",\"text\":{\"format\":{\"type\":\"json_schema\","
                    "\"name\":\"answer\"");
        json_add(b, "schema", w->schema);
        json_add_bool(b, "strict", schema_is_strict(w->schema));
        buf_cstr(b, "}}");
    }
    json_open(b, "input", '[');
}

static void put_tail(struct request_writer *w)
{
    buf_cstr(w->out, "]}");
}

const struct request_form responses_form = {
    .head = put_head,
    .said = put_said,
    .assistant = put_assistant,
    .result = put_result,
    .tail = put_tail,
    .tool = put_tool,
};

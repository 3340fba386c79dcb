/*
 * openai_responses_ask.c - requests of the Responses API.
 *
 * Nothing is stored at the server: the whole conversation goes along, with
 * the encrypted reasoning before what came of it. The input is the last
 * member, so the request for a longer conversation begins with the bytes of
 * the shorter one, up to the end of its last message.
 */
#include "wire/model/model.h"
#include "wire/model/name.h"
#include "wire/model/parts.h"

struct writer {
    const struct turn *turn;
    struct buf *out;
    struct arena *arena;
    bool any; /* an item has been written */
};

static void next_item(struct writer *w)
{
    if (w->any)
        buf_char(w->out, ',');
    w->any = true;
}

static void put_message(struct writer *w, const char *role, wend_str text)
{
    next_item(w);
    buf_fmt(w->out, "{\"type\":\"message\",\"role\":\"%s\",\"content\":", role);
    json_put_str(w->out, text);
    buf_char(w->out, '}');
}

/* Arguments are a string; raw ones already are one. */
static void put_call(struct writer *w, const struct msg *m,
                     const struct call *c)
{
    char room[WIRE_ID + 1];

    next_item(w);
    buf_cstr(w->out, "{\"type\":\"function_call\",\"call_id\":");
    json_put_str(w->out, wire_call_id(w->turn, m, c, room));
    buf_cstr(w->out, ",\"name\":");
    name_put(w->out, c->name);
    buf_cstr(w->out, ",\"arguments\":");
    if (c->invalid)
        buf_str(w->out, c->args);
    else
        json_put_str(w->out, c->args);
    buf_char(w->out, '}');
}

/* Reasoning that nothing follows would be refused. */
static void put_reasoning(struct writer *w, const struct json *item, bool last)
{
    const struct json *whole = json_get(item, "item");

    if (last || !whole)
        return;
    next_item(w);
    json_put(w->out, whole);
}

static void put_assistant(struct writer *w, const struct msg *m)
{
    struct parts parts;
    struct part part;

    parts_begin(&parts, w->turn, m, "responses", w->arena);
    while ((part = parts_next(&parts)).kind != PART_END) {
        switch (part.kind) {
        case PART_TEXT: put_message(w, "assistant", part.text); break;
        case PART_CALL: put_call(w, m, part.call); break;
        case PART_ITEM: put_reasoning(w, part.item, !parts_left(&parts)); break;
        case PART_END: break;
        }
    }
}

static void put_result(struct writer *w, const struct msg *m)
{
    char room[WIRE_ID + 1];

    next_item(w);
    buf_cstr(w->out, "{\"type\":\"function_call_output\",\"call_id\":");
    json_put_str(w->out, wire_result_id(w->turn, m, room));
    buf_cstr(w->out, ",\"output\":");
    json_put_str(w->out, m->text);
    buf_char(w->out, '}');
}

static void put_input(struct writer *w, const struct msg *m)
{
    switch (m->role) {
    case ROLE_USER: put_message(w, "user", m->text); break;
    case ROLE_SYSTEM: put_message(w, "system", m->text); break;
    case ROLE_ASSISTANT: put_assistant(w, m); break;
    case ROLE_TOOL: put_result(w, m); break;
    }
}

/* Not strict: our schemas are what they are, and would be refused for any
 * member that is not required. */
static void put_tools(struct buf *b, const struct config *c)
{
    if (!c->tools_count)
        return;
    buf_cstr(b, ",\"tools\":[");
    for (size_t i = 0; i < c->tools_count; i++) {
        const struct tool *t = &c->tools[i];

        buf_cstr(b, i ? ",{\"type\":\"function\",\"name\":"
                      : "{\"type\":\"function\",\"name\":");
        name_put(b, t->name);
        if (t->description.len) {
            buf_cstr(b, ",\"description\":");
            json_put_str(b, t->description);
        }
        buf_cstr(b, ",\"parameters\":");
        buf_str(b, t->schema ? t->schema_text
                             : STR("{\"type\":\"object\",\"properties\":{}}"));
        buf_cstr(b, ",\"strict\":false}");
    }
    buf_char(b, ']');
}

static void put_format(struct buf *b, wend_str schema, struct arena *a)
{
    const struct json *j = schema.len ? json_parse(schema, a, NULL) : NULL;

    if (!j)
        return;
    buf_cstr(b, ",\"text\":{\"format\":{\"type\":\"json_schema\","
                "\"name\":\"answer\",\"schema\":");
    json_put(b, j);
    buf_cstr(b, ",\"strict\":");
    buf_cstr(b, schema_is_strict(j) ? "true}}" : "false}}");
}

void responses_path(const struct wire_ask *q, struct buf *out)
{
    (void)q;
    buf_cstr(out, "/responses");
}

void responses_request(const struct wire_ask *q, struct buf *out)
{
    const struct config *config = q->turn->config;
    struct arena a = {.mem = out->mem};
    size_t count = 0;
    const struct msg **list = wire_messages(q->turn, &a, &count);
    struct writer w = {.turn = q->turn, .out = out, .arena = &a};

    buf_cstr(out, "{\"model\":");
    json_put_str(out, q->model);
    buf_cstr(out, ",\"stream\":true,\"store\":false,"
                  "\"include\":[\"reasoning.encrypted_content\"]");
    if (q->max_tokens > 0) {
        buf_cstr(out, ",\"max_output_tokens\":");
        buf_i64(out, q->max_tokens);
    }
    if (config->effort)
        buf_fmt(out, ",\"reasoning\":{\"effort\":\"%s\"%s}",
                effort_names[config->effort],
                config->effort == EFFORT_NONE ? "" : ",\"summary\":\"auto\"");
    if (config->instructions.len) {
        buf_cstr(out, ",\"instructions\":");
        json_put_str(out, config->instructions);
    }
    put_tools(out, config);
    put_format(out, q->schema, &a);
    buf_cstr(out, ",\"input\":[");
    for (size_t i = 0; list && i < count; i++)
        put_input(&w, list[i]);
    buf_cstr(out, "]}");
    out->failed |= a.failed;
    arena_free(&a);
}

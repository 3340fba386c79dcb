/*
 * openai_ask.c - a turn as the body of a Chat Completions request.
 *
 * Canonical bytes: the members in a fixed order, tools as the config sorts
 * them, every message as it was. A longer history only adds to the end of
 * the list, so that a server can reuse what it knows of the start.
 */
#include "wire/model/name.h"
#include "wire/model/openai.h"
#include "wire/model/parts.h"

/* The whole history is written for every turn: no format strings here. */
static void put_pair(struct buf *b, const char *key, wend_str value)
{
    buf_add(b, "\"", 1);
    buf_cstr(b, key);
    buf_add(b, "\":", 2);
    json_put_str(b, value);
}

/* Raw text that was no JSON is a JSON string already: the model gets back
 * exactly what it wrote. */
static void put_call(struct buf *b, const struct turn *t, const struct msg *m,
                     const struct call *c)
{
    char room[WIRE_ID + 1];

    buf_char(b, '{');
    put_pair(b, "id", wire_call_id(t, m, c, room));
    buf_cstr(b, ",\"type\":\"function\",\"function\":{\"name\":");
    name_put(b, c->name);
    buf_cstr(b, ",\"arguments\":");
    if (c->invalid)
        buf_str(b, c->args);
    else
        json_put_str(b, c->args);
    buf_cstr(b, "}}");
}

/* Our own item of a list, from `item` on; NULL if there is none. */
static const struct json *own(const struct json *item, const char *key)
{
    while (item && !(str_is(json_str(json_get(item, "p")), "openai") &&
                     json_get(item, key)))
        item = item->next;
    return item;
}

/* What the server wants back, by the names it gave. */
static void put_kept(struct buf *b, const struct msg *m, struct arena *a)
{
    const struct json *all, *item;
    const char *before = ",\"reasoning_details\":[";
    wend_str field;

    if (m->opaque.len <= 2) /* [] is what nearly all have */
        return;
    all = json_parse(m->opaque, a, NULL);
    item = own(all ? all->first : NULL, "thinking");
    field = json_str(json_get(item, "thinking"));
    if (field.ptr && m->calls) { /* others may refuse or bill it */
        buf_char(b, ',');
        json_put_str(b, field);
        buf_char(b, ':');
        json_put_str(b, m->thinking);
    }
    item = own(all ? all->first : NULL, "detail");
    if (!item)
        return;
    for (; item; item = own(item->next, "detail")) {
        buf_cstr(b, before);
        json_put(b, json_get(item, "detail"));
        before = ",";
    }
    buf_char(b, ']');
}

static void put_assistant(struct buf *b, const struct turn *t,
                          const struct msg *m, struct arena *a)
{
    size_t count;
    const struct call **calls = wire_calls(m, a, &count);

    buf_cstr(b, "{\"role\":\"assistant\",\"content\":");
    if (count && !m->text.len)
        buf_cstr(b, "null");
    else
        json_put_str(b, m->text);
    if (wire_is_own(t, m))
        put_kept(b, m, a);
    for (size_t i = 0; i < count; i++) {
        buf_cstr(b, i ? "," : ",\"tool_calls\":[");
        put_call(b, t, m, calls[i]);
    }
    buf_cstr(b, count ? "]}" : "}");
}

static void put_message(struct buf *b, const struct turn *t,
                        const struct msg *m, struct arena *a)
{
    static const char *const roles[] = {
        [ROLE_USER] = "user",
        [ROLE_ASSISTANT] = "assistant",
        [ROLE_TOOL] = "tool",
        [ROLE_SYSTEM] = "system",
    };
    char room[WIRE_ID + 1];

    if (m->role == ROLE_ASSISTANT) {
        put_assistant(b, t, m, a);
        return;
    }
    buf_cstr(b, "{\"role\":\"");
    buf_cstr(b, roles[m->role]);
    buf_add(b, "\",", 2);
    if (m->role == ROLE_TOOL) {
        put_pair(b, "tool_call_id", wire_result_id(t, m, room));
        buf_char(b, ',');
    }
    put_pair(b, "content", m->text);
    buf_char(b, '}');
}

/* Up to the first message of the history. */
static void put_head(struct buf *b, const struct wire_ask *q)
{
    wend_str system = q->turn->config->instructions;

    buf_char(b, '{');
    put_pair(b, "model", q->model);
    buf_cstr(b, ",\"messages\":[");
    if (system.len) {
        buf_cstr(b, "{\"role\":\"system\",");
        put_pair(b, "content", system);
        buf_char(b, '}');
    }
}

static void put_messages(struct buf *b, const struct wire_ask *q)
{
    struct arena a = {.mem = b->mem};
    bool any = q->after || q->turn->config->instructions.len;
    size_t count;
    const struct msg **list =
        wire_messages_after(q->turn, q->after, &a, &count);

    for (size_t i = 0; i < count; i++) {
        if (i || any)
            buf_char(b, ',');
        put_message(b, q->turn, list[i], &a);
    }
    if (q->messages_end)
        *q->messages_end = b->len;
    buf_char(b, ']');
    b->failed |= a.failed;
    arena_free(&a);
}

static void put_tool(struct buf *b, const struct tool *t)
{
    buf_cstr(b, "{\"type\":\"function\",\"function\":{");
    buf_cstr(b, "\"name\":");
    name_put(b, t->name);
    if (t->description.len) {
        buf_char(b, ',');
        put_pair(b, "description", t->description);
    }
    buf_cstr(b, ",\"parameters\":");
    buf_str(b, t->schema ? t->schema_text
                         : STR("{\"type\":\"object\",\"properties\":{}}"));
    buf_cstr(b, "}}");
}

/* `strict` only where it is not refused; the answer is checked anyway. */
static void put_format(struct buf *b, wend_str schema)
{
    struct arena a = {.mem = b->mem};
    const struct json *j = schema.len ? json_parse(schema, &a, NULL) : NULL;

    if (j) {
        buf_cstr(b, ",\"response_format\":{\"type\":\"json_schema\","
                    "\"json_schema\":{\"name\":\"answer\",\"schema\":");
        json_put(b, j);
        buf_cstr(b, schema_is_strict(j) ? ",\"strict\":true}}" : "}}");
    }
    b->failed |= a.failed;
    arena_free(&a);
}

/* OpenAI's newer models refuse the old name of the limit; other servers pass
 * over the new one, and then there is no limit. The model tells whose it is,
 * whatever stands before it. */
static const char *limit_name(wend_str model)
{
    static const char *const theirs[] = {"gpt-", "chatgpt-", "codex-"};
    size_t at = model.len;

    while (at && !memchr("/:", model.ptr[at - 1], 2))
        at--;
    if (str_starts(model, "ft:")) /* ft:MODEL:OWNER:... */
        at = 3;
    model.ptr += at;
    model.len -= at;
    if (model.len > 1 && model.ptr[0] == 'o' && model.ptr[1] >= '1' &&
        model.ptr[1] <= '9')
        return "max_completion_tokens";
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
        if (str_starts(model, theirs[i]) && !str_starts(model, "gpt-oss"))
            return "max_completion_tokens";
    return "max_tokens";
}

void openai_path(const struct wire_ask *q, struct buf *out)
{
    (void)q;
    buf_cstr(out, "/chat/completions");
}

void openai_request(const struct wire_ask *q, struct buf *out)
{
    const struct config *c = q->turn->config;

    if (!q->after)
        put_head(out, q);
    put_messages(out, q);
    for (size_t i = 0; i < c->tools_count; i++) {
        buf_cstr(out, i ? "," : ",\"tools\":[");
        put_tool(out, &c->tools[i]);
    }
    if (c->tools_count)
        buf_char(out, ']');
    if (q->max_tokens)
        buf_fmt(out, ",\"%s\":%lld", limit_name(q->model),
                (long long)q->max_tokens);
    if (c->effort) {
        buf_char(out, ',');
        put_pair(out, "reasoning_effort", str_of(effort_names[c->effort]));
    }
    put_format(out, q->schema);
    buf_cstr(out, ",\"stream\":true,"
                  "\"stream_options\":{\"include_usage\":true}}");
}

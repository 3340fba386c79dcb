/*
 * anthropic_ask.c - requests of the Messages API.
 *
 * The conversation is the last member, so that the request for a longer one
 * begins with the bytes of a shorter one, but for the mark `cache_control`
 * on the last block of the last user message: it moves on with the end of
 * the conversation. The two other marks (last tool, last system block) stay.
 *
 * How much is thought goes as an effort that the model interprets (adaptive)
 * from version 4.6 of its models on, which refuse a budget sooner or later,
 * and as a budget of tokens to all others, which know nothing else.
 *
 * A schema goes as output_config when it is of the closed kind the API can
 * enforce, and as one more system block when it is not; the caller checks
 * the answer either way.
 */
#include "wire/model/parts.h"
#include "wire/model/request.h"

enum { OUTPUT_TOKENS_DEFAULT = 8192 }; /* the API wants a number, always */

#define CACHE_MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"

/* The newest message with a mark, and whether a user's message is open. */
struct cache_marks {
    const struct msg *last;
    bool in_user;
};

static void put_text_block(struct buf *b, wend_str text, const char *mark)
{
    json_key(b, NULL);
    buf_cstr(b, "{\"type\":\"text\"");
    request_str(b, "text", text);
    buf_cstr(b, mark);
    json_close(b, '}');
}

static void put_schema_text(struct buf *b, wend_str schema)
{
    struct buf text = {.mem = b->mem};

    buf_cstr(&text, SCHEMA_WORDS);
    buf_str(&text, schema);
    put_text_block(b, buf_view(&text), CACHE_MARK);
    b->failed |= text.failed;
    buf_free(&text);
}

static void put_system(struct buf *b, wend_str instructions, wend_str schema)
{
    bool says = !text_is_blank(instructions);

    if (!says && !schema.len)
        return;
    json_open(b, "system", '[');
    if (says)
        put_text_block(b, instructions, schema.len ? "" : CACHE_MARK);
    if (schema.len)
        put_schema_text(b, schema);
    json_close(b, ']');
}

static void put_tool(struct request_writer *w, const struct tool *t)
{
    json_open(w->out, NULL, '{');
    request_put_tool(w->out, t, "input_schema", "{\"type\":\"object\"}");
    buf_cstr(w->out, w->last_tool ? CACHE_MARK "}" : "}");
}

static void put_call(struct request_writer *w, const struct msg *m,
                     const struct call *c)
{
    char room[WIRE_ID + 1];

    json_key(w->out, NULL);
    buf_cstr(w->out, "{\"type\":\"tool_use\",\"id\":");
    name_put_id(w->out, wire_call_id(w->turn, m, c, room));
    request_put_name(w->out, c->name);
    json_key(w->out, "input");
    parts_put_args(w->out, c);
    json_close(w->out, '}');
}

static void put_item(struct buf *b, const struct json *item)
{
    const struct json *block = json_get(item, "block");
    const struct json *redacted = json_get(item, "redacted_thinking");
    const struct json *thinking = json_get(item, "thinking");
    const struct json *signature = json_get(item, "signature");

    json_add(b, NULL, block);
    if (block || !(redacted || (thinking && signature)))
        return;
    json_key(b, NULL);
    if (redacted) {
        buf_cstr(b, "{\"type\":\"redacted_thinking\"");
        json_add(b, "data", redacted);
    } else {
        buf_cstr(b, "{\"type\":\"thinking\"");
        json_add(b, "thinking", thinking);
        json_add(b, "signature", signature);
    }
    json_close(b, '}');
}

/* Writes nothing when the part makes no block. */
static void put_part(struct request_writer *w, const struct msg *m,
                     const struct part *p)
{
    switch (p->kind) {
    case PART_TEXT:
        if (!text_is_blank(p->text))
            put_text_block(w->out, p->text, "");
        break;
    case PART_CALL: put_call(w, m, p->call); break;
    case PART_ITEM: put_item(w->out, p->item); break;
    case PART_END: break;
    }
}

/* A message must not end with thinking, nor be empty: what would make it so
 * is taken back. The last one must not end with space; which one is the last
 * changes, so none does. */
static void put_assistant(struct request_writer *w, const struct msg *m)
{
    struct cache_marks *marks = w->own;
    struct buf *b = w->out;
    size_t begin = b->len, end = begin;
    struct parts parts;
    struct part part;

    parts_begin(&parts, w->turn, m, "anthropic", &w->arena);
    buf_cstr(b, marks->in_user ? "]}" : "");
    json_key(b, NULL);
    buf_cstr(b, "{\"role\":\"assistant\",\"content\":[");
    while ((part = parts_next(&parts)).kind != PART_END) {
        size_t before = b->len;

        while (part.text.len && !parts_left(&parts) &&
               strchr(" \t\r\n", part.text.ptr[part.text.len - 1]))
            part.text.len--;
        put_part(w, m, &part);
        if (b->len > before &&
            (part.kind != PART_ITEM || json_get(part.item, "block")))
            end = b->len;
    }
    if (!b->failed)
        b->len = end;
    if (end == begin)
        return;
    buf_cstr(b, "]}");
    marks->in_user = false;
}

static bool makes_user_block(const struct msg *m)
{
    return m->role == ROLE_TOOL ||
           (m->role != ROLE_ASSISTANT &&
            (m->parts_count || !text_is_blank(m->text)));
}

/* Results and what the user says after them are one message. */
static void open_user(struct request_writer *w)
{
    struct cache_marks *marks = w->own;

    json_key(w->out, NULL);
    if (!marks->in_user)
        buf_cstr(w->out, "{\"role\":\"user\",\"content\":[");
    marks->in_user = true;
}

static const char *mark_of(const struct request_writer *w, const struct msg *m)
{
    const struct cache_marks *marks = w->own;

    return m == marks->last ? CACHE_MARK : "";
}

static void put_said(struct request_writer *w, const struct msg *m)
{
    if (!makes_user_block(m))
        return;
    open_user(w);
    request_put_parts(w, m);
    if (!text_is_blank(m->text))
        put_text_block(w->out, m->text, mark_of(w, m));
}

static void put_media_text(struct request_writer *w, wend_str text)
{
    put_text_block(w->out, text, "");
}

static bool put_media(struct request_writer *w, const wend_ev_part *p,
                      enum media_type type, wend_str bytes)
{
    struct buf *b = w->out;

    if (type != MEDIA_IMAGE && type != MEDIA_DOCUMENT)
        return false;
    json_key(b, NULL);
    buf_fmt(b, "{\"type\":\"%s\",\"source\":{\"type\":\"base64\"",
            media_type_names[type]);
    json_add_str(b, "media_type", p->media);
    request_base64(b, "data", bytes);
    json_close(b, '}');
    if (type == MEDIA_DOCUMENT && p->name.len)
        json_add_str(b, "title", p->name);
    json_close(b, '}');
    return true;
}

static void put_content(struct request_writer *w, const struct msg *m)
{
    if (!m->parts_count) {
        request_str(w->out, "content", m->text);
        return;
    }
    json_open(w->out, "content", '[');
    if (!text_is_blank(m->text))
        put_text_block(w->out, m->text, "");
    request_put_parts(w, m);
    json_close(w->out, ']');
}

static void put_result(struct request_writer *w, const struct msg *m)
{
    char room[WIRE_ID + 1];

    open_user(w);
    buf_cstr(w->out, "{\"type\":\"tool_result\",\"tool_use_id\":");
    name_put_id(w->out, wire_result_id(w->turn, m, room));
    put_content(w, m);
    buf_cstr(w->out, m->failed ? ",\"is_error\":true" : "");
    buf_cstr(w->out, mark_of(w, m));
    json_close(w->out, '}');
}

/* ---- Thinking ------------------------------------------------------------ */

/* The number of one or two digits behind `at`, or -1: more are a date. */
static int number_after(wend_str s, size_t at)
{
    int n = 0, digits = 0;

    while (++at < s.len && s.ptr[at] >= '0' && s.ptr[at] <= '9' && digits < 3) {
        n = n * 10 + (s.ptr[at] - '0');
        digits++;
    }
    return digits == 1 || digits == 2 ? n : -1;
}

/* claude-opus-4-7, claude-4.6-sonnet and the like, with anything before and
 * after it: the first short number, and one that follows it. */
static bool is_adaptive(wend_str model)
{
    const char *claude = memmem(model.ptr, model.len, "claude-", 7);
    int major = -1, minor = -1;
    size_t at = claude ? (size_t)(claude - model.ptr) : model.len;

    for (; at < model.len && major < 0; at++)
        if (memchr("-.", model.ptr[at], 2))
            major = number_after(model, at);
    while (at < model.len && model.ptr[at] >= '0' && model.ptr[at] <= '9')
        at++;
    if (at < model.len && memchr("-.", model.ptr[at], 2))
        minor = number_after(model, at);
    return major > 4 || (major == 4 && minor >= 6);
}

/* With a budget the API refuses a turn (the model's messages and results
 * since the user spoke) that calls and does not begin with thinking: of
 * another provider, or one that was cut. */
static bool may_think(struct request_writer *w)
{
    struct parts parts;
    struct part first;
    size_t i = w->count;

    while (i && (w->list[i - 1]->role == ROLE_ASSISTANT ||
                 w->list[i - 1]->role == ROLE_TOOL))
        i--;
    if (i == w->count || w->list[i]->role != ROLE_ASSISTANT)
        return true;
    parts_begin(&parts, w->turn, w->list[i], "anthropic", &w->arena);
    first = parts_next(&parts);
    return first.kind == PART_ITEM && !json_get(first.item, "block");
}

struct thinking {
    enum effort effort;
    bool adaptive;
    int64_t tokens; /* of the budget; 0: none */
};

static void put_thinking(struct buf *b, const struct thinking *t)
{
    if (t->effort == EFFORT_NONE)
        buf_cstr(b, ",\"thinking\":{\"type\":\"disabled\"}");
    else if (t->adaptive)
        buf_cstr(b, ",\"thinking\":{\"type\":\"adaptive\","
                    "\"display\":\"summarized\"}");
    else if (t->tokens)
        buf_fmt(b,
                ",\"thinking\":{\"type\":\"enabled\","
                "\"budget_tokens\":%lld}",
                (long long)t->tokens);
}

/* format: a schema of the kind that can be enforced, or NULL. */
static void put_output(struct buf *b, const struct thinking *t,
                       const struct json *format)
{
    bool effort = t->adaptive && t->effort > EFFORT_NONE;

    if (!effort && !format)
        return;
    json_open(b, "output_config", '{');
    if (effort)
        json_add_str(b, "effort", str_of(effort_names[t->effort]));
    if (format) {
        json_open(b, "format", '{');
        json_add_str(b, "type", STR("json_schema"));
        json_add(b, "schema", format);
        json_close(b, '}');
    }
    json_close(b, '}');
}

int64_t anthropic_output_tokens(wend_str model, enum effort effort)
{
    return OUTPUT_TOKENS_DEFAULT +
           (is_adaptive(model) ? 0 : wire_think_tokens(effort, 0));
}

static void put_head(struct request_writer *w)
{
    struct cache_marks *marks = w->own;
    struct thinking t = {w->effort, w->effort && is_adaptive(w->q->model), 0};
    int64_t max_tokens = w->q->max_tokens;
    bool strict = schema_is_strict(w->schema);
    struct buf *b = w->out;

    for (size_t i = 0; i < w->count; i++)
        if (makes_user_block(w->list[i]))
            marks->last = w->list[i];
    if (!t.adaptive)
        t.tokens = wire_think_tokens(t.effort, max_tokens);
    if (!max_tokens)
        max_tokens = anthropic_output_tokens(w->q->model, t.effort);
    if (t.tokens && !may_think(w))
        t.tokens = 0;
    buf_char(b, '{');
    request_str(b, "model", w->q->model);
    json_add_i64(b, "max_tokens", max_tokens);
    json_add_bool(b, "stream", true);
    put_thinking(b, &t);
    request_put_params(w, NULL);
    request_put_tools(w, "tools");
    put_system(b, w->turn->frame->system, strict ? STR_NONE : w->q->schema);
    put_output(b, &t, strict ? w->schema : NULL);
    json_open(b, "messages", '[');
}

static void put_tail(struct request_writer *w)
{
    const struct cache_marks *marks = w->own;

    buf_cstr(w->out, marks->in_user ? "]}]}" : "]}");
}

const struct request_form anthropic_form = {
    .head = put_head,
    .said = put_said,
    .assistant = put_assistant,
    .result = put_result,
    .tail = put_tail,
    .tool = put_tool,
    .part = put_media,
    .part_text = put_media_text,
    .own_size = sizeof(struct cache_marks),
};

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
#include "wire/model/model.h"
#include "wire/model/name.h"
#include "wire/model/parts.h"

enum { OUTPUT_TOKENS_DEFAULT = 8192 }; /* the API wants a number, always */

#define CACHE_MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"

static void put_text_block(struct buf *b, wend_str text, const char *mark)
{
    buf_cstr(b, "{\"type\":\"text\",\"text\":");
    json_put_str(b, text);
    buf_cstr(b, mark);
    buf_char(b, '}');
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
    buf_cstr(b, ",\"system\":[");
    if (says)
        put_text_block(b, instructions, schema.len ? "" : CACHE_MARK);
    if (says && schema.len)
        buf_char(b, ',');
    if (schema.len)
        put_schema_text(b, schema);
    buf_char(b, ']');
}

static void put_tools(struct buf *b, const struct config *c)
{
    if (!c->tools_count)
        return;
    buf_cstr(b, ",\"tools\":[");
    for (size_t i = 0; i < c->tools_count; i++) {
        const struct tool *t = &c->tools[i];

        buf_cstr(b, i ? ",{\"name\":" : "{\"name\":");
        name_put(b, t->name);
        if (t->description.len) {
            buf_cstr(b, ",\"description\":");
            json_put_str(b, t->description);
        }
        buf_cstr(b, ",\"input_schema\":");
        buf_str(b, t->schema ? t->schema_text : STR("{\"type\":\"object\"}"));
        buf_cstr(b, i + 1 < c->tools_count ? "}" : CACHE_MARK "}");
    }
    buf_char(b, ']');
}

static void put_tool_use(struct buf *b, const struct turn *t,
                         const struct msg *m, const struct call *c)
{
    char room[WIRE_ID + 1];

    buf_cstr(b, "{\"type\":\"tool_use\",\"id\":");
    wire_put_word(b, wire_call_id(t, m, c, room));
    buf_cstr(b, ",\"name\":");
    name_put(b, c->name);
    buf_cstr(b, ",\"input\":");
    parts_put_args(b, c);
    buf_char(b, '}');
}

static bool put_item(struct buf *b, const struct json *item)
{
    const struct json *block = json_get(item, "block");
    const struct json *redacted = json_get(item, "redacted_thinking");
    const struct json *thinking = json_get(item, "thinking");
    const struct json *signature = json_get(item, "signature");

    if (block) {
        json_put(b, block);
        return true;
    }
    if (redacted) {
        buf_cstr(b, "{\"type\":\"redacted_thinking\",\"data\":");
        json_put(b, redacted);
    } else if (thinking && signature) {
        buf_cstr(b, "{\"type\":\"thinking\",\"thinking\":");
        json_put(b, thinking);
        buf_cstr(b, ",\"signature\":");
        json_put(b, signature);
    } else {
        return false;
    }
    buf_char(b, '}');
    return true;
}

/* False, and nothing is written, when the part makes no block. */
static bool put_part(struct buf *b, const struct turn *t, const struct msg *m,
                     const struct part *p)
{
    switch (p->kind) {
    case PART_TEXT:
        if (text_is_blank(p->text))
            return false;
        put_text_block(b, p->text, "");
        return true;
    case PART_CALL: put_tool_use(b, t, m, p->call); return true;
    case PART_ITEM: return put_item(b, p->item);
    case PART_END: break;
    }
    return false;
}

/* A message must not end with thinking, nor be empty: what would make it so
 * is taken back. The last one must not end with space; which one is the last
 * changes, so none does. */
static bool put_assistant(struct buf *b, const struct turn *t,
                          const struct msg *m, struct arena *a)
{
    size_t begin = b->len, end = begin, first;
    struct parts parts;
    struct part part;

    parts_begin(&parts, t, m, "anthropic", a);
    buf_cstr(b, "{\"role\":\"assistant\",\"content\":[");
    first = b->len;
    while ((part = parts_next(&parts)).kind != PART_END) {
        size_t before = b->len;

        while (part.text.len && !parts_left(&parts) &&
               strchr(" \t\r\n", part.text.ptr[part.text.len - 1]))
            part.text.len--;
        if (before > first)
            buf_char(b, ',');
        if (!put_part(b, t, m, &part))
            b->len = before;
        else if (part.kind != PART_ITEM || json_get(part.item, "block"))
            end = b->len;
    }
    if (!b->failed)
        b->len = end;
    if (end == begin)
        return false;
    buf_cstr(b, "]}");
    return true;
}

static void put_user_block(struct buf *b, const struct turn *t,
                           const struct msg *m, bool last)
{
    char room[WIRE_ID + 1];
    const char *mark = last ? CACHE_MARK : "";

    if (m->role != ROLE_TOOL) {
        put_text_block(b, m->text, mark);
        return;
    }
    buf_cstr(b, "{\"type\":\"tool_result\",\"tool_use_id\":");
    wire_put_word(b, wire_result_id(t, m, room));
    buf_cstr(b, ",\"content\":");
    json_put_str(b, m->text);
    buf_cstr(b, m->failed ? ",\"is_error\":true" : "");
    buf_cstr(b, mark);
    buf_char(b, '}');
}

static bool makes_user_block(const struct msg *m)
{
    return m->role == ROLE_TOOL ||
           (m->role != ROLE_ASSISTANT && !text_is_blank(m->text));
}

/* Results and what the user says after them are one message. */
static void put_messages(struct buf *b, const struct turn *t,
                         const struct msg **list, size_t count, struct arena *a)
{
    size_t last = count;
    bool user = false, any = false;

    for (size_t i = 0; i < count; i++)
        if (makes_user_block(list[i]))
            last = i;
    for (size_t i = 0; i < count; i++) {
        const struct msg *m = list[i];
        size_t before = b->len;

        if (m->role == ROLE_ASSISTANT) {
            buf_cstr(b, user ? "]}," : any ? "," : "");
            if (put_assistant(b, t, m, a)) {
                user = false;
                any = true;
            } else if (!b->failed) {
                b->len = before;
            }
        } else if (makes_user_block(m)) {
            if (!user)
                buf_cstr(b, any ? ",{\"role\":\"user\",\"content\":["
                                : "{\"role\":\"user\",\"content\":[");
            else
                buf_char(b, ',');
            put_user_block(b, t, m, i == last);
            user = any = true;
        }
    }
    buf_cstr(b, user ? "]}" : "");
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
static bool may_think(const struct turn *t, const struct msg **list,
                      size_t count, struct arena *a)
{
    struct parts parts;
    struct part first;
    size_t i = count;

    while (i && (list[i - 1]->role == ROLE_ASSISTANT ||
                 list[i - 1]->role == ROLE_TOOL))
        i--;
    if (i == count || list[i]->role != ROLE_ASSISTANT)
        return true;
    parts_begin(&parts, t, list[i], "anthropic", a);
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
    if (t->effort == EFFORT_NONE) {
        buf_cstr(b, ",\"thinking\":{\"type\":\"disabled\"}");
    } else if (t->adaptive) {
        buf_cstr(b, ",\"thinking\":{\"type\":\"adaptive\","
                    "\"display\":\"summarized\"}");
    } else if (t->tokens) {
        buf_cstr(b, ",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":");
        buf_i64(b, t->tokens);
        buf_char(b, '}');
    }
}

/* format: a schema of the kind that can be enforced, or NULL. */
static void put_output(struct buf *b, const struct thinking *t,
                       const struct json *format)
{
    bool effort = t->adaptive && t->effort > EFFORT_NONE;

    if (!effort && !format)
        return;
    buf_cstr(b, ",\"output_config\":{");
    if (effort)
        buf_fmt(b, "\"effort\":\"%s\"%s", effort_names[t->effort],
                format ? "," : "");
    if (format) {
        buf_cstr(b, "\"format\":{\"type\":\"json_schema\",\"schema\":");
        json_put(b, format);
        buf_char(b, '}');
    }
    buf_char(b, '}');
}

void anthropic_path(const struct wire_ask *q, struct buf *out)
{
    (void)q;
    buf_cstr(out, "/messages");
}

int64_t anthropic_output_tokens(wend_str model, enum effort effort)
{
    return OUTPUT_TOKENS_DEFAULT +
           (is_adaptive(model) ? 0 : wire_think_tokens(effort, 0));
}

void anthropic_request(const struct wire_ask *q, struct buf *out)
{
    const struct config *config = q->turn->config;
    struct arena a = {.mem = out->mem};
    size_t count = 0;
    const struct msg **list = wire_messages(q->turn, &a, &count);
    const struct json *schema = NULL;
    struct thinking t = {config->effort,
                         config->effort && is_adaptive(q->model), 0};
    int64_t max_tokens = q->max_tokens;
    bool strict;

    if (q->schema.len)
        schema = json_parse(q->schema, &a, NULL);
    strict = schema_is_strict(schema);
    if (!t.adaptive)
        t.tokens = wire_think_tokens(t.effort, max_tokens);
    if (!max_tokens)
        max_tokens = anthropic_output_tokens(q->model, t.effort);
    if (t.tokens && !may_think(q->turn, list, count, &a))
        t.tokens = 0;
    buf_cstr(out, "{\"model\":");
    json_put_str(out, q->model);
    buf_cstr(out, ",\"max_tokens\":");
    buf_i64(out, max_tokens);
    buf_cstr(out, ",\"stream\":true");
    put_thinking(out, &t);
    put_tools(out, config);
    put_system(out, config->instructions, strict ? STR_NONE : q->schema);
    put_output(out, &t, strict ? schema : NULL);
    buf_cstr(out, ",\"messages\":[");
    if (list)
        put_messages(out, q->turn, list, count, &a);
    buf_cstr(out, "]}");
    out->failed |= a.failed;
    arena_free(&a);
}

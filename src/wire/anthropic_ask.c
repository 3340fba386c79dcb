/*
 * anthropic_ask.c - requests of the Messages API.
 *
 * The conversation is the last member, so that the request for a longer one
 * begins with the bytes of a shorter one, but for the mark `cache_control`
 * on the last block of the last user message: it moves on with the end of
 * the conversation. The two other marks (last tool, last system block) stay.
 *
 * A schema goes as output_config when it is of the closed kind the API can
 * enforce, and as one more system block when it is not; the caller checks
 * the answer either way.
 */
#include "wire/ask.h"
#include "wire/parts.h"

enum { OUTPUT_TOKENS_DEFAULT = 8192 }; /* the API wants a number, always */

#define CACHE_MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"

/* Ids and names may have letters, digits, _ and - alone; another provider's
 * or a model's invention may have more. */
static void put_word(struct buf *b, wend_str s)
{
    buf_char(b, '"');
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                    (c >= '0' && c <= '9') || c == '_' || c == '-';

        buf_char(b, fine ? c : '_');
    }
    buf_cstr(b, s.len ? "\"" : "_\"");
}

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
        json_put_str(b, t->name);
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

static void put_tool_use(struct buf *b, const struct call *c)
{
    buf_cstr(b, "{\"type\":\"tool_use\",\"id\":");
    put_word(b, c->id);
    buf_cstr(b, ",\"name\":");
    put_word(b, c->name);
    buf_cstr(b, ",\"input\":");
    parts_put_args(b, c);
    buf_char(b, '}');
}

static bool put_thinking(struct buf *b, const struct json *item)
{
    const struct json *redacted = json_get(item, "redacted_thinking");
    const struct json *thinking = json_get(item, "thinking");
    const struct json *signature = json_get(item, "signature");

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
static bool put_part(struct buf *b, const struct part *p)
{
    switch (p->kind) {
    case PART_TEXT:
        if (text_is_blank(p->text))
            return false;
        put_text_block(b, p->text, "");
        return true;
    case PART_CALL: put_tool_use(b, p->call); return true;
    case PART_ITEM: return put_thinking(b, p->item);
    case PART_END: break;
    }
    return false;
}

/* A message must not end with thinking, nor be empty: what would make it so
 * is taken back. */
static bool put_assistant(struct buf *b, const struct msg *m, struct arena *a)
{
    size_t begin = b->len, end = begin, first;
    struct parts parts;
    struct part part;

    parts_begin(&parts, m, "anthropic", a);
    buf_cstr(b, "{\"role\":\"assistant\",\"content\":[");
    first = b->len;
    while ((part = parts_next(&parts)).kind != PART_END) {
        size_t before = b->len;

        if (before > first)
            buf_char(b, ',');
        if (!put_part(b, &part))
            b->len = before;
        else if (part.kind != PART_ITEM)
            end = b->len;
    }
    if (!b->failed)
        b->len = end;
    if (end == begin)
        return false;
    buf_cstr(b, "]}");
    return true;
}

static void put_user_block(struct buf *b, const struct msg *m, bool last)
{
    const char *mark = last ? CACHE_MARK : "";

    if (m->role != ROLE_TOOL) {
        put_text_block(b, m->text, mark);
        return;
    }
    buf_cstr(b, "{\"type\":\"tool_result\",\"tool_use_id\":");
    put_word(b, m->call);
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
static void put_messages(struct buf *b, const struct msg **list, size_t count,
                         struct arena *a)
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
            if (put_assistant(b, m, a)) {
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
            put_user_block(b, m, i == last);
            user = any = true;
        }
    }
    buf_cstr(b, user ? "]}" : "");
}

void anthropic_path(const struct wire_ask *q, struct buf *out)
{
    (void)q;
    buf_cstr(out, "/messages");
}

void anthropic_request(const struct wire_ask *q, struct buf *out)
{
    const struct config *config = q->turn->config;
    struct arena a = {.mem = out->mem};
    size_t count = 0;
    const struct msg **list = wire_messages(q->turn, &a, &count);
    const struct json *schema = NULL;
    bool strict;

    if (q->schema.len)
        schema = json_parse(q->schema, &a, NULL);
    strict = schema_is_strict(schema);
    buf_cstr(out, "{\"model\":");
    json_put_str(out, q->model);
    buf_cstr(out, ",\"max_tokens\":");
    buf_i64(out, q->max_tokens > 0 ? q->max_tokens : OUTPUT_TOKENS_DEFAULT);
    buf_cstr(out, ",\"stream\":true");
    put_tools(out, config);
    put_system(out, config->instructions, strict ? STR_NONE : q->schema);
    if (strict) {
        buf_cstr(out, ",\"output_config\":{\"format\":{\"type\":"
                      "\"json_schema\",\"schema\":");
        json_put(out, schema);
        buf_cstr(out, "}}");
    }
    buf_cstr(out, ",\"messages\":[");
    if (list)
        put_messages(out, list, count, &a);
    buf_cstr(out, "]}");
    out->failed |= a.failed;
    arena_free(&a);
}

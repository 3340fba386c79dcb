/*
 * mcp_result.c - what a tool of a server gave, as text for a model.
 *
 * Text stays as it is. Pictures, sound and documents become parts, with a note
 * in the text; what is not one of these is a note with type and size.
 */
#include "base/hash.h"
#include "core/media/media.h"
#include "wire/mcp/mcp_parts.h"

enum { WORD_MAX = 200 }; /* of a name, a type or a URI that is shown */

/* No zero bytes: a message that failed ends at the first. */
static void put_text(struct buf *b, wend_str s)
{
    size_t from = b->len;

    buf_str(b, s);
    for (; !b->failed && from < b->len; from++)
        if (!b->ptr[from])
            b->ptr[from] = ' ';
}

static void put_word(struct buf *b, wend_str s, const char *otherwise)
{
    size_t max = s.len < WORD_MAX ? s.len : WORD_MAX;

    for (size_t i = 0; i < max; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        /* one line, and no cut through a character */
        buf_char(b, c < 0x20 || c == 0x7f || (s.len > max && c >= 0x80)
                        ? '_'
                        : (char)c);
    }
    if (!s.len)
        buf_cstr(b, otherwise);
}

/* A part, if the bytes are one; the note says what it is. */
static bool put_part(struct mcp_result *r, wend_str data, wend_str name)
{
    struct buf bytes = {.mem = r->out->mem};
    wend_ev_part part;
    bool ok = r->media_count < PARTS_MAX && base64_take(&bytes, data) &&
              media_look(buf_view(&bytes), &part, NULL) == WEND_OK &&
              media_type_of(&part) != MEDIA_TEXT;

    if (ok) {
        media_note(r->out, &part, "");
        r->media[r->media_count].bytes = buf_keep(&bytes, r->arena);
        r->media[r->media_count].name = name;
        r->media_count++;
    }
    r->out->failed |= bytes.failed;
    buf_free(&bytes);
    return ok;
}

static void put_media(struct mcp_result *r, const struct json *c)
{
    struct buf *b = r->out;
    wend_str data = json_get_str(c, "data");

    if (put_part(r, data, STR_NONE))
        return;
    buf_char(b, '[');
    put_word(b, json_get_str(c, "type"), "");
    buf_char(b, ' ');
    put_word(b, json_get_str(c, "mimeType"), "of unknown type");
    buf_fmt(b, ", %zu bytes, not shown]", base64_bytes(data));
}

static void put_type(struct buf *b, const struct json *c)
{
    wend_str type = json_get_str(c, "mimeType");

    if (type.len) {
        buf_cstr(b, ", ");
        put_word(b, type, "");
    }
}

static void put_link(struct mcp_result *to, const struct json *c)
{
    struct buf *b = to->out;
    wend_str about = json_get_str(c, "description");
    int64_t size;

    buf_cstr(b, "[resource ");
    put_word(b, json_get_str(c, "name"), "without a name");
    buf_cstr(b, " at ");
    put_word(b, json_get_str(c, "uri"), "an unknown place");
    put_type(b, c);
    if (json_i64(json_get(c, "size"), &size))
        buf_fmt(b, ", %lld bytes", (long long)size);
    buf_char(b, ']');
    if (about.len) {
        buf_char(b, ' ');
        put_text(b, about);
    }
}

static void put_resource(struct mcp_result *to, const struct json *c)
{
    struct buf *b = to->out;
    const struct json *r = json_get(c, "resource");
    wend_str text = json_get_str(r, "text");
    wend_str blob = json_get_str(r, "blob");

    buf_cstr(b, "[resource ");
    put_word(b, json_get_str(r, "uri"), "without a URI");
    put_type(b, r);
    if (blob.ptr) {
        buf_cstr(b, ", ");
        if (!put_part(to, blob, json_get_str(r, "uri")))
            buf_fmt(b, "%zu bytes, not shown", base64_bytes(blob));
    }
    buf_char(b, ']');
    if (text.len) {
        buf_char(b, '\n');
        put_text(b, text);
    }
}

static void put_plain(struct mcp_result *r, const struct json *c)
{
    put_text(r->out, json_get_str(c, "text"));
}

static void put_content(struct mcp_result *r, const struct json *c)
{
    static const struct {
        const char *type;
        void (*put)(struct mcp_result *r, const struct json *c);
    } kinds[] = {
        {"text", put_plain},        {"image", put_media},
        {"audio", put_media},       {"resource_link", put_link},
        {"resource", put_resource},
    };
    wend_str type = json_get_str(c, "type");

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_is(type, kinds[i].type)) {
            kinds[i].put(r, c);
            return;
        }
    buf_cstr(r->out, "[content of kind '");
    put_word(r->out, type, "");
    buf_cstr(r->out, "', not shown]");
}

/* NULL, or what is wrong with the form of a result. */
static const char *wrong_form(const struct json *result)
{
    const struct json *list = json_get(result, "content");
    const struct json *error = json_get(result, "isError");

    if (result->kind != JSON_OBJECT)
        return "it is not an object";
    if (!list && !json_get(result, "structuredContent"))
        return "it has no content";
    if (list && list->kind != JSON_ARRAY)
        return "its content is not a list";
    for (const struct json *c = list ? list->first : NULL; c; c = c->next) {
        const struct json *text = json_get(c, "text");

        if (c->kind != JSON_OBJECT || !json_get_str(c, "type").ptr)
            return "its content has an entry without a type";
        if (str_is(json_get_str(c, "type"), "text") &&
            (!text || text->kind != JSON_STRING))
            return "its content has a text that is not a string";
    }
    if (error && error->kind != JSON_TRUE && error->kind != JSON_FALSE)
        return "its isError is not a boolean";
    return NULL;
}

static void put_wanted(struct buf *out, const struct json *result)
{
    const struct json *all = json_get(result, "inputRequests");

    buf_cstr(out, "the tool needs more input, which wend cannot give:");
    for (const struct json *q = all ? all->first : NULL; q; q = q->next) {
        const struct json *params = json_get(q, "params");
        wend_str text = json_get_str(params, "message");

        buf_char(out, ' ');
        put_word(out, json_get_str(q, "method"), "something");
        if (text.len) {
            buf_cstr(out, " (");
            put_text(out, text);
            buf_char(out, ')');
        }
        if (q->next)
            buf_char(out, ',');
    }
}

/* False: it is not a result; says why. */
static bool has_result(const struct json *result, struct buf *out)
{
    wend_str kind = json_get_str(result, "resultType");
    const char *wrong;

    if (str_is(kind, "input_required")) {
        put_wanted(out, result);
        return false;
    }
    if (kind.len && !str_is(kind, "complete")) {
        buf_cstr(out, "the server gave a result of kind '");
        put_word(out, kind, "");
        buf_cstr(out, "', which wend does not know");
        return false;
    }
    wrong = wrong_form(result);
    if (wrong)
        buf_fmt(out, "the server's answer is not a tool result: %s", wrong);
    return !wrong;
}

bool mcp_result_read(const struct json *result, struct mcp_result *r)
{
    const struct json *list = json_get(result, "content");
    const struct json *value = json_get(result, "structuredContent");
    const struct json *error = json_get(result, "isError");
    struct buf *out = r->out;
    size_t from = out->len;

    r->media = arena_alloc(r->arena, PARTS_MAX * sizeof *r->media);
    if (!r->media) {
        out->failed = true;
        return false;
    }
    if (!has_result(result, out))
        return false;
    for (const struct json *c = list ? list->first : NULL; c; c = c->next) {
        if (out->len > from)
            buf_char(out, '\n');
        put_content(r, c);
    }
    if (value && value->kind == JSON_NULL)
        value = NULL;
    if (list && list->first)
        r->structured = value;
    else if (value)
        json_put(out, value);
    if (json_is_true(error) && out->len == from)
        buf_cstr(out, "the tool failed and did not say why");
    return !json_is_true(error);
}

void mcp_progress_text(const struct json *params, struct buf *out)
{
    const struct json *at = json_get(params, "progress");
    const struct json *total = json_get(params, "total");
    wend_str message = json_get_str(params, "message");
    bool counts = at && at->kind == JSON_NUMBER;

    put_text(out, message);
    if (counts) {
        buf_cstr(out, message.len ? " (" : "");
        put_word(out, at->text, "");
        if (total && total->kind == JSON_NUMBER) {
            buf_char(out, '/');
            put_word(out, total->text, "");
        }
        buf_cstr(out, message.len ? ")" : "");
    }
    if (message.len || counts)
        buf_char(out, '\n');
}

void mcp_error_text(const struct rpc *error, struct buf *out)
{
    put_text(out, error->message.len ? error->message
                                     : STR("the server gave an error"));
    buf_fmt(out, " (%lld)", (long long)error->code);
}

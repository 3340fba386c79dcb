/*
 * request.c - around the spans: requests, answers, attributes, settings.
 */
#include "wire/otel/attr.h"
#include "wire/otel/otel.h"

#include "base/ascii.h"
#include "base/url.h"

/* ---- Attributes ---------------------------------------------------------- */

static void open_attr(struct buf *b, wend_str key)
{
    json_open(b, NULL, '{');
    json_add_str(b, "key", key);
    json_open(b, "value", '{');
}

static void close_attr(struct buf *b)
{
    json_close(b, '}');
    json_close(b, '}');
}

void attr_pair(struct buf *b, wend_str key, wend_str value)
{
    if (!value.ptr)
        return;
    open_attr(b, key);
    json_add_str(b, "stringValue", value);
    close_attr(b);
}

void attr_str(struct buf *b, const char *key, wend_str value)
{
    attr_pair(b, str_of(key), value);
}

void attr_member_i64(struct buf *b, const char *name, int64_t value)
{
    char text[21];

    json_add_str(b, name, (wend_str){text, i64_text(text, value)});
}

void attr_i64(struct buf *b, const char *key, int64_t value)
{
    open_attr(b, str_of(key));
    attr_member_i64(b, "intValue", value);
    close_attr(b);
}

void attr_f64(struct buf *b, const char *key, double value)
{
    open_attr(b, str_of(key));
    json_add_f64(b, "doubleValue", value);
    close_attr(b);
}

void attr_bool(struct buf *b, const char *key, bool value)
{
    open_attr(b, str_of(key));
    json_add_bool(b, "boolValue", value);
    close_attr(b);
}

void attr_list(struct buf *b, const char *key, wend_str value)
{
    open_attr(b, str_of(key));
    json_open(b, "arrayValue", '{');
    json_open(b, "values", '[');
    json_open(b, NULL, '{');
    json_add_str(b, "stringValue", value);
    json_close(b, '}');
    json_close(b, ']');
    json_close(b, '}');
    close_attr(b);
}

/* ---- Requests ------------------------------------------------------------ */

void otel_request_begin(struct buf *b, const struct json *resource)
{
    json_open(b, NULL, '{');
    json_open(b, "resourceSpans", '[');
    json_open(b, NULL, '{');
    json_open(b, "resource", '{');
    json_open(b, "attributes", '[');
    if (!json_get(resource, "service.name"))
        attr_str(b, "service.name", STR("wend"));
    for (const struct json *m = resource ? resource->first : NULL; m;
         m = m->next)
        attr_pair(b, m->key, json_str(m));
    json_close(b, ']');
    json_close(b, '}');
    json_open(b, "scopeSpans", '[');
    json_open(b, NULL, '{');
    json_open(b, "scope", '{');
    json_add_str(b, "name", STR("wend"));
    json_add_str(b, "version", STR(WEND_VERSION));
    json_close(b, '}');
    json_open(b, "spans", '[');
}

void otel_request_end(struct buf *b)
{
    buf_cstr(b, "]}]}]}");
}

int64_t otel_rejected(wend_str answer, struct arena *a, wend_str *why)
{
    const struct json *j = json_parse(answer, a, NULL);
    const struct json *partial = json_get(j, "partialSuccess");
    const struct json *count = json_get(partial, "rejectedSpans");
    int64_t n = 0;

    *why = json_get_str(partial, "errorMessage");
    if (count && count->kind == JSON_STRING)
        str_to_i64(count->text, &n);
    else if (count)
        json_i64(count, &n);
    return n > 0 ? n : 0;
}

/* ---- Settings ------------------------------------------------------------ */

bool otel_pair(wend_str *rest, wend_str *key, struct buf *value)
{
    wend_str all = *rest, piece, text;

    do
        if (!str_take(rest, ',', &piece))
            return false;
    while (!str_trim(piece, is_space).len);
    text = piece;
    if (!str_take(&text, '=', key) || key->len == piece.len) {
        *rest = all;
        return false;
    }
    *key = str_trim(*key, is_space);
    buf_clear(value);
    url_decode(value, str_trim(text, is_space));
    if (key->len)
        return true;
    *rest = all;
    return false;
}

/*
 * request_target.c - the parts of a request's target, decoded.
 */
#include "wire/http/request.h"

#include "base/ascii.h"
#include "base/fail.h"
#include "base/utf8.h"

enum coding {
    SEGMENT, /* of a path */
    FORM,    /* `+` is a space */
};

/* Bytes that no name, id or text of ours has, and that others take for the
 * end of it or for another segment. */
static bool is_refused(char c, enum coding coding)
{
    return !c || (coding == SEGMENT && (!http_is_text(c) || c == '/'));
}

/* Absent if it is invalid, or with a->failed. */
static wend_str decode(wend_str text, enum coding coding, struct arena *a)
{
    char *p = arena_chars(a, text.len);
    size_t len = 0;

    for (size_t i = 0; p && i < text.len; i++) {
        char c = text.ptr[i];
        int high, low;

        if (c == '%') {
            if (text.len - i < 3)
                return STR_NONE;
            high = hex_value(text.ptr[++i]);
            low = hex_value(text.ptr[++i]);
            if (high < 0 || low < 0)
                return STR_NONE;
            c = (char)(high << 4 | low);
        } else if (c == '+' && coding == FORM) {
            c = ' ';
        }
        if (is_refused(c, coding))
            return STR_NONE;
        p[len++] = c;
    }
    if (!p || utf8_valid_len((wend_str){p, len}) != len)
        return STR_NONE;
    p[len] = 0;
    return (wend_str){p, len};
}

wend_str http_segment(wend_str text, struct arena *a)
{
    wend_str s = decode(text, SEGMENT, a);

    return str_is(s, ".") || str_is(s, "..") ? STR_NONE : s;
}

/* ---- Query --------------------------------------------------------------- */

static wend_status read_pair(wend_str text, struct arena *a,
                             struct http_query *q, wend_error *err)
{
    struct http_field *f = &q->pairs[q->count];
    wend_str name = STR_NONE;

    if (q->count == HTTP_QUERY_MAX)
        return fail(err, WEND_E_LIMIT, "the query has over %d parameters",
                    HTTP_QUERY_MAX);
    if (!str_take(&text, '=', &name) || !name.len)
        return fail(err, WEND_E_INVAL,
                    "the query has a parameter without a "
                    "name");
    f->name = decode(name, FORM, a);
    f->value = decode(text, FORM, a);
    if (a->failed)
        return fail_nomem(err);
    if (!f->name.ptr)
        return fail(err, WEND_E_INVAL,
                    "the name of parameter %zu of the query has a bad escape, "
                    "a NUL or is not UTF-8",
                    q->count + 1);
    if (!f->value.ptr)
        return fail(err, WEND_E_INVAL,
                    "the parameter '%.*s' of the query has a bad escape, a "
                    "NUL or is not UTF-8",
                    UTF8_ARGS(f->name, 80));
    for (size_t i = 0; i < q->count; i++)
        if (str_eq(q->pairs[i].name, f->name))
            return fail(err, WEND_E_INVAL,
                        "the parameter '%.*s' of the query is given twice",
                        UTF8_ARGS(f->name, 80));
    q->count++;
    return WEND_OK;
}

wend_status http_query_read(wend_str text, struct arena *a,
                            struct http_query *out, wend_error *err)
{
    wend_status s = WEND_OK;
    wend_str pair;

    out->count = 0;
    if (!text.len)
        return WEND_OK;
    if (text.ptr[text.len - 1] == '&') /* str_take drops the last, empty one */
        return fail(err, WEND_E_INVAL, "the query ends in '&'");
    while (s == WEND_OK && str_take(&text, '&', &pair))
        s = read_pair(pair, a, out, err);
    return s;
}

wend_str http_query_value(const struct http_query *q, const char *name)
{
    for (size_t i = 0; i < q->count; i++)
        if (str_is(q->pairs[i].name, name))
            return q->pairs[i].value;
    return STR_NONE;
}

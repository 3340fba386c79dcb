/*
 * otel_help.h - reads spans by the rules of OTLP's JSON, for tests.
 *
 * Ids in hex, 64-bit integers as text, enumerations as numbers, values with
 * exactly one kind, no key twice, no unknown member: what receivers decode.
 */
#ifndef TESTS_OTEL_HELP_H
#define TESTS_OTEL_HELP_H

#include "base/json.h"
#include "tap.h"
#include "wire/otel/otel.h"

#define PARENT "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

static inline bool is_hex(wend_str s, size_t len)
{
    for (size_t i = 0; i < s.len; i++)
        if (!strchr("0123456789abcdef", s.ptr[i]))
            return false;
    return s.len == len;
}

static inline bool is_count(const struct json *j)
{
    int64_t n;

    return str_to_i64(json_str(j), &n);
}

/* Exactly one of the kinds of values, in its form. */
static inline bool is_value(const struct json *v)
{
    const struct json *m = v && v->kind == JSON_OBJECT ? v->first : NULL;

    if (!m || m->next)
        return false;
    if (str_is(m->key, "stringValue"))
        return m->kind == JSON_STRING;
    if (str_is(m->key, "intValue"))
        return is_count(m);
    if (str_is(m->key, "doubleValue"))
        return m->kind == JSON_NUMBER;
    if (str_is(m->key, "boolValue"))
        return m->kind == JSON_TRUE || m->kind == JSON_FALSE;
    if (!str_is(m->key, "arrayValue"))
        return false;
    for (m = json_items(json_get(m, "values")); m; m = m->next)
        if (!json_get_str(m, "stringValue").ptr)
            return false;
    return true;
}

static inline bool has_once(const struct json *list, wend_str key)
{
    int count = 0;

    for (const struct json *a = json_items(list); a; a = a->next)
        count += str_eq(json_get_str(a, "key"), key);
    return count == 1;
}

static inline bool is_span(const struct json *j)
{
    static const char *const known[] = {
        "traceId",
        "spanId",
        "parentSpanId",
        "traceState",
        "name",
        "kind",
        "startTimeUnixNano",
        "endTimeUnixNano",
        "attributes",
        "events",
        "status",
    };
    const struct json *list = json_get(j, "attributes");
    int64_t kind = 0, code = -1;

    for (const struct json *m = j ? j->first : NULL; m; m = m->next)
        if (str_index(m->key, known, (int)tap_count(known)) < 0)
            return false;
    for (const struct json *a = json_items(list); a; a = a->next)
        if (!is_value(json_get(a, "value")) ||
            !has_once(list, json_get_str(a, "key")))
            return false;
    return is_hex(json_get_str(j, "traceId"), 32) &&
           is_hex(json_get_str(j, "spanId"), 16) &&
           (!json_get(j, "parentSpanId") ||
            is_hex(json_get_str(j, "parentSpanId"), 16)) &&
           json_get_str(j, "name").len &&
           json_i64(json_get(j, "kind"), &kind) && kind >= 1 && kind <= 5 &&
           is_count(json_get(j, "startTimeUnixNano")) &&
           is_count(json_get(j, "endTimeUnixNano")) &&
           json_i64(json_get(json_get(j, "status"), "code"), &code) &&
           code >= 0 && code <= 2;
}

#endif

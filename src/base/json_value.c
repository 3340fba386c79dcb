/*
 * json_value.c - looks into a JSON tree.
 *
 * Numbers are handled as decimal text: those that do not fit a double are
 * still compared exactly, and the locale does not matter.
 */
#include "base/json.h"

#include <assert.h>
#include <float.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "base/decimal.h"

enum {
    /* Digits after these cannot change a double but by not being zero. */
    F64_DIGITS_MAX = 768,
    /* Beyond this every double is 0 or infinite, whatever its digits. */
    F64_EXPONENT_MAX = 4096,
};

static bool same_number(wend_str text_a, wend_str text_b)
{
    struct decimal a = decimal_of(text_a), b = decimal_of(text_b);

    return !decimal_compare(&a, &b);
}

/* The member of b with that key, searched from `near` on and then from the
 * start: objects mostly have the same order. */
static const struct json *member(const struct json *b, const struct json *near,
                                 wend_str key)
{
    const struct json *m;

    for (m = near; m; m = m->next)
        if (str_eq(m->key, key))
            return m;
    for (m = b->first; m && m != near; m = m->next)
        if (str_eq(m->key, key))
            return m;
    return NULL;
}

/* Recursion ends with the tree, which JSON_DEPTH_MAX bounds. */
static bool same_children(const struct json *a, const struct json *b)
{
    const struct json *near = b->first, *other;

    if (a->count != b->count)
        return false;
    for (const struct json *c = a->first; c; c = c->next) {
        other = a->kind == JSON_ARRAY ? near : member(b, near, c->key);
        if (!other || !json_equal(c, other))
            return false;
        near = other->next;
    }
    return true;
}

const char *json_kind_name(enum json_kind k)
{
    static const char *const names[] = {
        [JSON_NULL] = "null",     [JSON_FALSE] = "false",
        [JSON_TRUE] = "true",     [JSON_NUMBER] = "number",
        [JSON_STRING] = "string", [JSON_ARRAY] = "array",
        [JSON_OBJECT] = "object",
    };

    assert((size_t)k < sizeof names / sizeof *names);
    return names[k];
}

struct json *json_member(const struct json *j, wend_str key)
{
    if (!j || j->kind != JSON_OBJECT)
        return NULL;
    for (struct json *m = j->first; m; m = m->next)
        if (m->key.len == key.len && !memcmp(m->key.ptr, key.ptr, key.len))
            return m;
    return NULL;
}

wend_str json_str(const struct json *j)
{
    return j && j->kind == JSON_STRING ? j->text : STR_NONE;
}

bool json_i64(const struct json *j, int64_t *out)
{
    struct decimal d;
    uint64_t n = 0;

    if (!j || j->kind != JSON_NUMBER)
        return false;
    d = decimal_of(j->text);
    /* 19 digits are all of INT64_MAX and fit uint64_t whatever they are. */
    if (d.exponent < 0 || d.exponent > 19 || d.count > 19 - (size_t)d.exponent)
        return false;
    for (; d.from < d.to; d.from++)
        if (*d.from != '.')
            n = n * 10 + (uint64_t)(*d.from - '0');
    for (; d.exponent; d.exponent--)
        n *= 10;
    if (n > (uint64_t)INT64_MAX + d.negative)
        return false;
    *out = d.negative && n ? -(int64_t)(n - 1) - 1 : (int64_t)n;
    return true;
}

bool json_f64(const struct json *j, double *out)
{
    char text[F64_DIGITS_MAX + 32];
    struct decimal d;
    size_t len = 0, digits = 0;
    double value;

    if (!j || j->kind != JSON_NUMBER)
        return false;
    d = decimal_of(j->text);
    if (d.negative)
        text[len++] = '-';
    /* Without a separator in it, strtod reads the same in every locale. */
    for (; d.from < d.to && digits < F64_DIGITS_MAX; d.from++)
        if (*d.from != '.') {
            text[len++] = *d.from;
            digits++;
        }
    d.exponent += (int64_t)(d.count - digits);
    if (digits < d.count) {
        text[len++] = '1'; /* the rest is not zero, and that is enough */
        d.exponent--;
    }
    if (!digits)
        text[len++] = '0';
    if (d.exponent > F64_EXPONENT_MAX)
        d.exponent = F64_EXPONENT_MAX;
    if (d.exponent < -F64_EXPONENT_MAX)
        d.exponent = -F64_EXPONENT_MAX;
    text[len++] = 'e';
    len += i64_text(text + len, d.exponent);
    text[len] = 0;
    value = strtod(text, NULL);
    if (value > DBL_MAX || value < -DBL_MAX)
        return false;
    *out = value;
    return true;
}

bool json_equal(const struct json *a, const struct json *b)
{
    if (!a || !b || a->kind != b->kind)
        return a == b;
    if (a->kind == JSON_NUMBER)
        return same_number(a->text, b->text);
    return str_eq(a->text, b->text) && same_children(a, b);
}

bool nano_read(wend_str text, int64_t *out)
{
    wend_str rest = text, whole;

    for (size_t i = 0; i < text.len; i++)
        if (!is_digit(text.ptr[i]) && text.ptr[i] != '.')
            return false; /* we write no sign and no exponent */
    str_take(&rest, '.', &whole);
    if (rest.len > DECIMAL_NANO_DIGITS)
        text.len -= rest.len - DECIMAL_NANO_DIGITS;
    return decimal_nano(text, INT64_MAX, out);
}

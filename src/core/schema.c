/*
 * schema.c - does a JSON value fit a JSON Schema?
 *
 * Recursion follows the schema and the value, both of bounded depth. The
 * work is bounded too: anyOf in anyOf can multiply, so every step counts.
 */
#include "core/schema.h"

#include <stdio.h>

#include "base/utf8.h"

enum {
    STEPS_MAX = 1000000, /* far above any tool's schema */
    PATH_MAX_BYTES = 256,
};

struct check {
    struct buf *why; /* NULL while trying alternatives */
    char path[PATH_MAX_BYTES];
    size_t path_len;
    uint32_t steps;
};

static bool check(struct check *c, const struct json *schema,
                  const struct json *v);

/* How much of a text of `wanted` bytes there is in p, cut between code
 * points: keys come from the model and what is said goes into an event. */
static size_t printed(const char *p, size_t size, int wanted)
{
    if (wanted < 0)
        return 0;
    return (size_t)wanted < size ? (size_t)wanted : utf8_whole(p, size - 1);
}

__attribute__((format(printf, 2, 3))) static bool wrong(struct check *c,
                                                        const char *fmt, ...)
{
    char text[300];
    va_list ap;
    int len;

    if (!c->why)
        return false;
    va_start(ap, fmt);
    len = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    buf_str(c->why,
            c->path_len ? (wend_str){c->path, c->path_len} : STR("arguments"));
    buf_char(c->why, ' ');
    buf_add(c->why, text, printed(text, sizeof text, len));
    return false;
}

/* Both give the length to go back to. */
static size_t entered(struct check *c, int added)
{
    size_t old = c->path_len;

    c->path_len += printed(c->path + old, sizeof c->path - old, added);
    return old;
}

static size_t enter_key(struct check *c, wend_str key)
{
    return entered(c, snprintf(c->path + c->path_len,
                               sizeof c->path - c->path_len, "%s%.*s",
                               c->path_len ? "." : "", (int)key.len, key.ptr));
}

static size_t enter_index(struct check *c, unsigned i)
{
    return entered(c, snprintf(c->path + c->path_len,
                               sizeof c->path - c->path_len, "[%u]", i));
}

static bool fits_type(const struct json *v, wend_str type)
{
    int64_t n;

    if (str_is(type, "integer"))
        return json_i64(v, &n);
    if (v->kind == JSON_TRUE || v->kind == JSON_FALSE)
        return str_is(type, "boolean");
    return str_is(type, json_kind_name(v->kind));
}

static bool check_type(struct check *c, const struct json *rule,
                       const struct json *v)
{
    const struct json *one = rule->kind == JSON_ARRAY ? rule->first : rule;
    wend_str first = json_str(one);

    for (; one; one = rule->kind == JSON_ARRAY ? one->next : NULL)
        if (fits_type(v, json_str(one)))
            return true;
    return wrong(c, "must be of type %.*s%s, not %s", (int)first.len,
                 first.ptr ? first.ptr : "",
                 rule->kind == JSON_ARRAY && rule->count > 1 ? " (or others)"
                                                             : "",
                 json_kind_name(v->kind));
}

static bool check_enum(struct check *c, const struct json *rule,
                       const struct json *v)
{
    for (const struct json *one = rule->first; one; one = one->next)
        if (json_equal(one, v))
            return true;
    return wrong(c, "is not one of the values of enum");
}

static bool check_const(struct check *c, const struct json *rule,
                        const struct json *v)
{
    return json_equal(rule, v) || wrong(c, "is not the value of const");
}

static bool check_required(struct check *c, const struct json *rule,
                           const struct json *v)
{
    for (const struct json *one = rule->first; one; one = one->next) {
        bool found = false;

        for (const struct json *m = v->first; m && !found; m = m->next)
            found = str_eq(m->key, json_str(one));
        if (!found)
            return wrong(c, "lacks the required property '%.*s'",
                         (int)one->text.len, one->text.ptr);
    }
    return true;
}

/* The schema for one property: its own, or additionalProperties. */
static bool check_property(struct check *c, const struct json *schema,
                           const struct json *m)
{
    const struct json *props = json_get(schema, "properties"), *sub = NULL;
    const struct json *more = json_get(schema, "additionalProperties");
    size_t old;
    bool ok;

    for (sub = props ? props->first : NULL; sub; sub = sub->next)
        if (str_eq(sub->key, m->key))
            break;
    if (!sub && more && more->kind == JSON_FALSE)
        return wrong(c, "has the unknown property '%.*s'", (int)m->key.len,
                     m->key.ptr);
    if (!sub)
        sub = more;
    if (!sub || sub->kind != JSON_OBJECT)
        return true;
    old = enter_key(c, m->key);
    ok = check(c, sub, m);
    c->path_len = old;
    return ok;
}

static bool check_object(struct check *c, const struct json *schema,
                         const struct json *v)
{
    const struct json *required = json_get(schema, "required");

    if (required && !check_required(c, required, v))
        return false;
    for (const struct json *m = v->first; m; m = m->next)
        if (!check_property(c, schema, m))
            return false;
    return true;
}

static bool check_count(struct check *c, const struct json *schema,
                        const char *low, const char *high, int64_t count,
                        const char *what)
{
    int64_t n;

    if (json_i64(json_get(schema, low), &n) && count < n)
        return wrong(c, "must have at least %lld %s (%s), has %lld",
                     (long long)n, what, low, (long long)count);
    if (json_i64(json_get(schema, high), &n) && count > n)
        return wrong(c, "must have at most %lld %s (%s), has %lld",
                     (long long)n, what, high, (long long)count);
    return true;
}

static bool check_array(struct check *c, const struct json *schema,
                        const struct json *v)
{
    const struct json *items = json_get(schema, "items");
    unsigned i = 0;

    if (!check_count(c, schema, "minItems", "maxItems", v->count, "items"))
        return false;
    if (!items || items->kind != JSON_OBJECT)
        return true;
    for (const struct json *e = v->first; e; e = e->next) {
        size_t old = enter_index(c, i++);
        bool ok = check(c, items, e);

        c->path_len = old;
        if (!ok)
            return false;
    }
    return true;
}

static int64_t code_points(wend_str s)
{
    int64_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += (s.ptr[i] & 0xc0) != 0x80;
    return n;
}

static bool check_number(struct check *c, const struct json *schema,
                         const struct json *v)
{
    static const struct {
        const char *keyword;
        int wrong_side; /* of the bound */
        bool equal_ok;
    } bounds[] = {
        {"minimum", -1, true},
        {"maximum", 1, true},
        {"exclusiveMinimum", -1, false},
        {"exclusiveMaximum", 1, false},
    };
    double value, bound;

    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const struct json *rule = json_get(schema, bounds[i].keyword);
        int side;

        if (!rule || !json_f64(rule, &bound) || !json_f64(v, &value))
            continue;
        side = (value > bound) - (value < bound);
        if (side == bounds[i].wrong_side || (!side && !bounds[i].equal_ok))
            return wrong(c, "breaks %s %g", bounds[i].keyword, bound);
    }
    return true;
}

static unsigned matches(struct check *c, const struct json *list,
                        const struct json *v)
{
    struct buf *why = c->why;
    unsigned n = 0;

    c->why = NULL;
    for (const struct json *one = list ? list->first : NULL; one;
         one = one->next)
        n += check(c, one, v);
    c->why = why;
    return n;
}

static bool check_combined(struct check *c, const struct json *schema,
                           const struct json *v)
{
    const struct json *all = json_get(schema, "allOf"), *one;
    const struct json *not = json_get(schema, "not");
    struct buf *why = c->why;
    bool fits;

    for (one = all ? all->first : NULL; one; one = one->next)
        if (!check(c, one, v))
            return false;
    if ((one = json_get(schema, "anyOf")) && !matches(c, one, v))
        return wrong(c, "fits none of the schemas of anyOf");
    if ((one = json_get(schema, "oneOf")) && matches(c, one, v) != 1)
        return wrong(c, "does not fit exactly one schema of oneOf");
    if (!not )
        return true;
    c->why = NULL;
    fits = check(c, not, v);
    c->why = why;
    return !fits || wrong(c, "fits the schema of not");
}

static bool check_kind(struct check *c, const struct json *schema,
                       const struct json *v)
{
    switch (v->kind) {
    case JSON_OBJECT: return check_object(c, schema, v);
    case JSON_ARRAY: return check_array(c, schema, v);
    case JSON_STRING:
        return check_count(c, schema, "minLength", "maxLength",
                           code_points(v->text), "characters");
    case JSON_NUMBER: return check_number(c, schema, v);
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE: break;
    }
    return true;
}

static bool check(struct check *c, const struct json *schema,
                  const struct json *v)
{
    const struct json *rule;

    if (++c->steps > STEPS_MAX)
        return wrong(c, "takes too many steps to check");
    if (schema->kind == JSON_FALSE)
        return wrong(c, "is not allowed");
    if (schema->kind != JSON_OBJECT)
        return true;
    if ((rule = json_get(schema, "type")) && !check_type(c, rule, v))
        return false;
    if ((rule = json_get(schema, "enum")) && !check_enum(c, rule, v))
        return false;
    if ((rule = json_get(schema, "const")) && !check_const(c, rule, v))
        return false;
    return check_kind(c, schema, v) && check_combined(c, schema, v);
}

bool schema_check(const struct json *schema, const struct json *value,
                  struct buf *why)
{
    struct check c = {.why = why};

    return check(&c, schema, value);
}

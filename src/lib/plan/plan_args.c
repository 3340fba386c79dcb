/*
 * plan_args.c - the arguments of an action that are known before it runs,
 * compared with the schema of its tool.
 *
 * A value with a reference is known only when the action runs; the names of
 * arguments and all other values are known now.
 */
#include "lib/plan/plan.h"

#include "base/utf8.h"
#include "core/schema/schema.h"

/* Recursion is bounded by JSON_DEPTH_MAX. */
static bool is_literal(const struct json *j)
{
    if (j->kind == JSON_STRING)
        return !j->text.len || !memchr(j->text.ptr, '$', j->text.len);
    for (const struct json *m = j->first; m; m = m->next)
        if (!is_literal(m))
            return false;
    return true;
}

/* A schema inside another may refer to what is outside of it. */
static bool has_ref(const struct json *schema)
{
    for (const struct json *m = schema->first; m; m = m->next)
        if ((m->key.len && m->key.ptr[0] == '$') || has_ref(m))
            return true;
    return false;
}

static bool fits(const struct json *schema, const struct json *value,
                 struct buf *why)
{
    struct arena a = {.mem = why->mem};
    struct schema *compiled = NULL;
    wend_status s = schema_compile(schema, &a, &compiled, NULL);
    bool ok = s != WEND_OK || schema_check(compiled, value, why);

    why->failed |= s == WEND_E_NOMEM;
    arena_free(&a);
    return ok;
}

static bool is_false(const struct json *j)
{
    return j && j->kind == JSON_FALSE;
}

/* The first argument that the tool does not have. */
static const struct json *find_unknown(const struct json *schema,
                                       const struct json *params,
                                       struct buf *why)
{
    const struct json *known = json_get(schema, "properties");
    wend_str near = STR_NONE;
    char hint[STR_HINT_BYTES];
    int best = 0;

    if (!known || !is_false(json_get(schema, "additionalProperties")) ||
        json_get(schema, "patternProperties"))
        return NULL;
    for (const struct json *m = params->first; m; m = m->next) {
        if (json_member(known, m->key))
            continue;
        for (const struct json *k = known->first; k; k = k->next)
            if (str_nearer(m->key, k->key, &best))
                near = k->key;
        buf_fmt(why, "there is no argument '%.*s'%s", UTF8_ARGS(m->key, 80),
                str_hint(hint, near));
        return m;
    }
    return NULL;
}

static bool find_missing(const struct json *schema, const struct json *params,
                         struct buf *why)
{
    const struct json *list = json_get(schema, "required");

    for (const struct json *e = list ? list->first : NULL; e; e = e->next)
        if (e->kind == JSON_STRING && !json_member(params, e->text)) {
            buf_fmt(why, "the argument '%.*s' is missing",
                    UTF8_ARGS(e->text, 80));
            return true;
        }
    return false;
}

static const struct json *find_wrong(const struct json *schema,
                                     const struct json *params, struct buf *why)
{
    const struct json *known = json_get(schema, "properties");

    for (const struct json *m = params->first; m && known; m = m->next) {
        const struct json *of = json_member(known, m->key);
        size_t from = why->len;

        if (!of || has_ref(of) || !is_literal(m))
            continue;
        buf_fmt(why, "argument '%.*s': ", UTF8_ARGS(m->key, 80));
        if (!fits(of, m, why))
            return m;
        if (!why->failed)
            why->len = from;
    }
    return NULL;
}

bool plan_args_fit(const struct json *params, wend_str schema_text,
                   struct arena *a, struct buf *why, const struct json **at)
{
    static const struct json none = {.kind = JSON_OBJECT};
    struct arena scratch = {.mem = a->mem};
    const struct json *schema = json_parse(schema_text, &scratch, NULL);
    const struct json *given = params ? params : &none;
    bool ok = true;

    *at = NULL;
    if (schema && schema->kind == JSON_OBJECT && given->kind == JSON_OBJECT) {
        *at = find_unknown(schema, given, why);
        if (!*at && find_missing(schema, given, why))
            *at = given;
        if (!*at)
            *at = find_wrong(schema, given, why);
        if (!*at && is_literal(given) && !fits(schema, given, why))
            *at = given;
        ok = !*at;
        if (*at == &none)
            *at = NULL;
    }
    a->failed |= scratch.failed || why->failed;
    arena_free(&scratch);
    return ok;
}

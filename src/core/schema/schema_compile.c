/*
 * schema_compile.c - from JSON to a compiled schema.
 *
 * Schemas inside schemas are queued, not recursed into; $refs are followed
 * when the queue is empty, because they may lead ahead, and what they lead
 * to is queued in turn.
 */
#include "core/schema/schema.h"
#include "core/schema/schema_node.h"

#include <stdio.h>

#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"

enum { POINTER_MAX = 150 }; /* bytes of a place in a message */

const char *const schema_type_names[TYPE_COUNT] = {
    [TYPE_NULL] = "null",       [TYPE_BOOLEAN] = "boolean",
    [TYPE_INTEGER] = "integer", [TYPE_NUMBER] = "number",
    [TYPE_STRING] = "string",   [TYPE_ARRAY] = "array",
    [TYPE_OBJECT] = "object",
};

/* ---- Failing ------------------------------------------------------------- */

bool schema_nomem(struct compiling *k)
{
    k->status = fail_nomem(k->err);
    return false;
}

bool schema_refuse(struct compiling *k, const struct json *at, const char *fmt,
                   ...)
{
    struct buf where = {.mem = k->arena->mem};
    char what[300];
    va_list ap;

    va_start(ap, fmt);
    utf8_vfmt(what, sizeof what, fmt, ap);
    va_end(ap);
    schema_pointer(k->document, at, &where);
    k->status =
        where.failed
            ? fail_nomem(k->err)
            : fail_at(k->err, WEND_E_INVAL, at->line, at->column, "%.*s %s",
                      (int)utf8_cut(buf_view(&where), POINTER_MAX), where.ptr,
                      what);
    buf_free(&where);
    return false;
}

/* ---- Nodes --------------------------------------------------------------- */

static size_t bucket_of(const struct json *json)
{
    return ((uintptr_t)json / sizeof *json) % SCHEMA_BUCKETS;
}

bool schema_node_for(struct compiling *k, const struct json *json,
                     struct schema_resource *resource, struct schema_node **out)
{
    struct schema_node **bucket = &k->buckets[bucket_of(json)], *n = *bucket;

    while (n && n->json != json)
        n = n->chain;
    *out = n;
    if (n)
        return true;
    if (json->kind != JSON_OBJECT && json->kind != JSON_TRUE &&
        json->kind != JSON_FALSE)
        return schema_refuse(k, json,
                             "must be a schema: an object or a "
                             "boolean");
    if (++k->nodes > SCHEMA_NODES_MAX) {
        k->status = fail(k->err, WEND_E_LIMIT, "over %d schemas in one",
                         SCHEMA_NODES_MAX);
        return false;
    }
    n = arena_alloc(k->arena, sizeof *n);
    if (!n)
        return schema_nomem(k);
    n->json = json;
    n->resource = resource;
    n->chain = *bucket;
    *bucket = n;
    *k->last = n;
    k->last = &n->next;
    *out = n;
    return true;
}

/* What asserts nothing may still be what a $ref leads to. */
static bool is_place(wend_str key)
{
    return str_is(key, "$ref") || str_is(key, "definitions") ||
           str_is(key, "$defs");
}

static bool compile_node(struct compiling *k, struct schema_node *n)
{
    bool alone;

    n->never = n->json->kind == JSON_FALSE;
    if (n->json->kind != JSON_OBJECT)
        return true;
    if (!schema_identify(k, n))
        return false;
    alone = schema_ref_alone(n->json, n->resource->draft);
    for (const struct json *m = n->json->first; m; m = m->next)
        if ((!alone || is_place(m->key)) && !schema_keyword(k, n, m))
            return false;
    return true;
}

static bool compile_all(struct compiling *k)
{
    struct schema_node *n;

    while (k->first || k->refs) {
        for (n = k->first; n; n = n->next)
            if (!compile_node(k, n))
                return false;
        k->first = NULL;
        k->last = &k->first;
        if (!schema_follow(k))
            return false;
    }
    return true;
}

wend_status schema_compile(const struct json *json, struct arena *a,
                           struct schema **out, wend_error *err)
{
    struct compiling k = {.arena = a, .document = json, .err = err};
    struct schema *schema = arena_alloc(a, sizeof *schema);

    if (!schema)
        return fail_nomem(err);
    schema->mem = a->mem;
    k.last = &k.first;
    if (!schema_node_for(&k, json, NULL, &schema->root) || !compile_all(&k))
        return k.status;
    *out = schema;
    return WEND_OK;
}

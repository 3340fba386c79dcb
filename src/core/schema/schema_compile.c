/*
 * schema_compile.c - from JSON to a compiled schema.
 *
 * Schemas inside schemas are queued, not recursed into; $refs are followed
 * when the queue is empty, because they may lead ahead, and what they lead
 * to is queued in turn.
 */
#include "core/schema/schema.h"
#include "core/schema/schema_node.h"

#include <assert.h>
#include <stdlib.h>

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

static bool sub(struct compiling *k, const struct schema_node *n,
                const struct json *json, struct schema_node **out)
{
    return schema_node_for(k, json, n->resource, out);
}

/* ---- Keywords ------------------------------------------------------------ */

/* Compiles v, a member of n's schema; `at` is where its compiled form goes. The
 * kind of v is the one that its row asks for. Not all need all of it. */
#define UNUSED __attribute__((unused))
#define PUT(name)                                                              \
    static bool name(UNUSED struct compiling *k, UNUSED struct schema_node *n, \
                     UNUSED const struct json *v, UNUSED void *at)

PUT(put_sub)
{
    return sub(k, n, v, at);
}

PUT(put_list)
{
    struct schema_list *list = at;

    list->at = arena_alloc(k->arena, v->count * sizeof *list->at);
    if (!list->at)
        return schema_nomem(k);
    for (const struct json *e = v->first; e; e = e->next)
        if (!sub(k, n, e, &list->at[list->count++]))
            return false;
    return true;
}

/* For allOf and the like, which say nothing with nothing in them. */
PUT(put_some)
{
    if (!v->count)
        return schema_refuse(k, v, "must not be empty");
    return put_list(k, n, v, at);
}

PUT(put_definitions)
{
    struct schema_node *made;

    for (const struct json *m = v->first; m; m = m->next)
        if (!sub(k, n, m, &made))
            return false;
    return true;
}

PUT(put_ref)
{
    struct schema_ref *ref = arena_alloc(k->arena, sizeof *ref);

    if (!ref)
        return schema_nomem(k);
    *ref = (struct schema_ref){v, n->resource, at, k->refs};
    k->refs = ref;
    return true;
}

PUT(put_type)
{
    const struct json *one = v->kind == JSON_ARRAY ? v->first : v;

    if (!one)
        return schema_refuse(k, v, "must not be empty");
    for (; one; one = v->kind == JSON_ARRAY ? one->next : NULL) {
        int type = str_index(json_str(one), schema_type_names, TYPE_COUNT);

        if (type < 0)
            return schema_refuse(k, one,
                                 "must be null, boolean, integer, number, "
                                 "string, array, object or a list of these");
        n->types |= 1u << type;
    }
    if (n->types & 1u << TYPE_NUMBER)
        n->types |= 1u << TYPE_INTEGER;
    return true;
}

PUT(put_value)
{
    *(const struct json **)at = v;
    return true;
}

PUT(put_count)
{
    struct schema_count *count = at;
    struct decimal d;

    d = decimal_of(v->text);
    if (d.exponent < 0 || (d.negative && d.count))
        return schema_refuse(k, v, "must be an integer from 0 on");
    if (!json_i64(v, &count->n))
        count->n = INT64_MAX; /* more than any value has */
    count->set = true;
    return true;
}

PUT(put_bound)
{
    struct schema_bound *bound = at;

    bound->limit = decimal_of(v->text);
    bound->text = v->text;
    return true;
}

/* In draft 4, a boolean that says something about minimum or maximum. */
PUT(put_exclusive)
{
    bool low = str_is(v->key, "exclusiveMinimum");

    if (v->kind == JSON_NUMBER)
        return put_bound(k, n, v, at);
    if (v->kind != JSON_TRUE && v->kind != JSON_FALSE)
        return schema_refuse(k, v, "must be a number");
    *(low ? &n->exclusive_min : &n->exclusive_max) = v->kind == JSON_TRUE;
    return true;
}

PUT(put_multiple)
{
    struct schema_bound *unit = at;

    if (!put_bound(k, n, v, at))
        return false;
    if (!unit->limit.count || unit->limit.negative)
        return schema_refuse(k, v, "must be above 0");
    if (unit->limit.count > DECIMAL_UNIT_DIGITS)
        return schema_refuse(k, v, "must not have over %d digits",
                             DECIMAL_UNIT_DIGITS);
    return true;
}

PUT(put_bool)
{
    *(bool *)at = v->kind == JSON_TRUE;
    return true;
}

static bool compile_pattern(struct compiling *k, const struct json *place,
                            wend_str text, struct schema_pattern *out)
{
    wend_error why = {0};
    wend_status s = regex_compile(text, k->arena, &out->regex, &why);

    out->text = text;
    if (s == WEND_E_NOMEM)
        return schema_nomem(k);
    if (s != WEND_OK)
        return schema_refuse(k, place, "has a bad pattern '%.*s': %.120s",
                             UTF8_ARGS(text, 60), why.message);
    return true;
}

PUT(put_pattern)
{
    return compile_pattern(k, v, v->text, at);
}

PUT(put_patterns)
{
    struct schema_object *o = n->object;

    o->patterns = arena_alloc(k->arena, v->count * sizeof *o->patterns);
    if (!o->patterns)
        return schema_nomem(k);
    for (const struct json *m = v->first; m; m = m->next) {
        struct schema_pattern *p = &o->patterns[o->patterns_count++];

        if (!compile_pattern(k, m, m->key, p) || !sub(k, n, m, &p->node))
            return false;
    }
    return true;
}

static bool check_names(struct compiling *k, const struct json *v)
{
    if (v->kind != JSON_ARRAY)
        return schema_refuse(k, v, "must be a list of names");
    for (const struct json *e = v->first; e; e = e->next)
        if (e->kind != JSON_STRING)
            return schema_refuse(k, e, "must be a string");
    return true;
}

static int by_key(const void *a, const void *b)
{
    const struct schema_property *x = a, *y = b;

    return schema_key_order(x->key, y->key);
}

/* Names that are both in properties and required, or required twice, become
 * one entry. */
static void merge_properties(struct schema_object *o)
{
    struct schema_property *list = o->properties;
    size_t kept = 0;

    qsort(list, o->properties_count, sizeof *list, by_key);
    for (size_t i = 0; i < o->properties_count; i++) {
        if (kept && str_eq(list[kept - 1].key, list[i].key)) {
            list[kept - 1].required |= list[i].required;
            if (!list[kept - 1].node)
                list[kept - 1].node = list[i].node;
        } else {
            list[kept++] = list[i];
        }
    }
    assert(kept <= o->properties_count);
    o->properties_count = kept;
    for (size_t i = 0; i < kept; i++)
        o->required_count += list[i].required;
}

/* Both keywords end here; the first does the work for the two. */
PUT(put_properties)
{
    const struct json *properties = json_get(n->json, "properties");
    const struct json *required = json_get(n->json, "required");
    struct schema_object *o = n->object;
    size_t count = 0;

    if (o->properties)
        return true;
    if (properties && properties->kind != JSON_OBJECT)
        return schema_refuse(k, properties, "must be an object of schemas");
    if (required && !check_names(k, required))
        return false;
    count =
        (properties ? properties->count : 0) + (required ? required->count : 0);
    o->properties = arena_alloc(k->arena, count * sizeof *o->properties);
    o->names = arena_alloc(k->arena, count * sizeof *o->names);
    if (!o->properties || !o->names)
        return schema_nomem(k);
    for (const struct json *m = properties ? properties->first : NULL; m;
         m = m->next) {
        struct schema_property *p = &o->properties[o->properties_count++];

        p->key = m->key;
        o->names[o->names_count++] = arena_str(k->arena, m->key).ptr;
        if (!sub(k, n, m, &p->node))
            return false;
    }
    for (const struct json *e = required ? required->first : NULL; e;
         e = e->next)
        o->properties[o->properties_count++] =
            (struct schema_property){.key = e->text, .required = true};
    merge_properties(o);
    return !k->arena->failed || schema_nomem(k);
}

/* dependentRequired, dependentSchemas, and dependencies of draft 7, which
 * was both. */
PUT(put_dependents)
{
    struct schema_object *o = n->object;
    struct schema_dependent *list, *d;

    list =
        arena_alloc(k->arena, (o->dependents_count + v->count) * sizeof *list);
    if (!list)
        return schema_nomem(k);
    if (o->dependents_count)
        memcpy(list, o->dependents, o->dependents_count * sizeof *list);
    o->dependents = list;
    for (const struct json *m = v->first; m; m = m->next) {
        d = &list[o->dependents_count++];
        d->key = m->key;
        if (str_is(v->key, "dependentRequired") ||
            (m->kind == JSON_ARRAY && str_is(v->key, "dependencies"))) {
            d->required = m;
            if (!check_names(k, m))
                return false;
        } else if (!sub(k, n, m, &d->node)) {
            return false;
        }
    }
    return true;
}

/* A list is what prefixItems is now. */
PUT(put_items)
{
    if (v->kind == JSON_ARRAY && !json_get(n->json, "prefixItems"))
        return put_list(k, n, v, &n->array->prefix);
    return put_sub(k, n, v, at);
}

/* Only of meaning beside items as a list. */
PUT(put_additional_items)
{
    const struct json *items = json_get(n->json, "items");

    return !items || items->kind != JSON_ARRAY || put_sub(k, n, v, at);
}

/* ---- The table ----------------------------------------------------------- */

enum group { OF_NODE, OF_ANY, OF_OBJECT, OF_ARRAY, OF_NUMBER, OF_STRING };

static const struct {
    size_t slot, size;
} groups[] = {
    [OF_ANY] = {offsetof(struct schema_node, any), sizeof(struct schema_any)},
    [OF_OBJECT] = {offsetof(struct schema_node, object),
                   sizeof(struct schema_object)},
    [OF_ARRAY] = {offsetof(struct schema_node, array),
                  sizeof(struct schema_array)},
    [OF_NUMBER] = {offsetof(struct schema_node, number),
                   sizeof(struct schema_number)},
    [OF_STRING] = {offsetof(struct schema_node, string),
                   sizeof(struct schema_string)},
};

/* What a keyword's value must be; FREE: `put` decides. */
enum form { FREE, STRING, NUMBER, BOOLEAN, OBJECT, SCHEMAS, SCHEMA_LIST, LIST };

static const struct {
    unsigned kinds; /* bits by json_kind */
    const char *wrong;
} forms[] = {
    [STRING] = {1u << JSON_STRING, "must be a string"},
    [NUMBER] = {1u << JSON_NUMBER, "must be a number"},
    [BOOLEAN] = {1u << JSON_FALSE | 1u << JSON_TRUE, "must be a boolean"},
    [OBJECT] = {1u << JSON_OBJECT, "must be an object"},
    [SCHEMAS] = {1u << JSON_OBJECT, "must be an object of schemas"},
    [SCHEMA_LIST] = {1u << JSON_ARRAY, "must be a list of schemas"},
    [LIST] = {1u << JSON_ARRAY, "must be a list of values"},
};

struct keyword {
    const char *name;
    bool (*put)(struct compiling *k, struct schema_node *n,
                const struct json *v, void *at);
    enum form form;
    enum group group;
    size_t offset; /* of `at` in the group */
};

#define IN_ANY(member) OF_ANY, offsetof(struct schema_any, member)
#define IN_OBJECT(member) OF_OBJECT, offsetof(struct schema_object, member)
#define IN_ARRAY(member) OF_ARRAY, offsetof(struct schema_array, member)
#define IN_NUMBER(member) OF_NUMBER, offsetof(struct schema_number, member)
#define IN_STRING(member) OF_STRING, offsetof(struct schema_string, member)

/* Sorted by name. */
static const struct keyword keywords[] = {
    {"$defs", put_definitions, SCHEMAS, OF_NODE, 0},
    {"$dynamicRef", put_ref, STRING, IN_ANY(dynamic)},
    {"$recursiveRef", put_ref, STRING, IN_ANY(dynamic)},
    {"$ref", put_ref, STRING, IN_ANY(ref)},
    {"additionalItems", put_additional_items, FREE, IN_ARRAY(items)},
    {"additionalProperties", put_sub, FREE, IN_OBJECT(additional)},
    {"allOf", put_some, SCHEMA_LIST, IN_ANY(all)},
    {"anyOf", put_some, SCHEMA_LIST, IN_ANY(any)},
    {"const", put_value, FREE, IN_ANY(only)},
    {"contains", put_sub, FREE, IN_ARRAY(contains)},
    {"definitions", put_definitions, SCHEMAS, OF_NODE, 0},
    {"dependencies", put_dependents, OBJECT, OF_OBJECT, 0},
    {"dependentRequired", put_dependents, OBJECT, OF_OBJECT, 0},
    {"dependentSchemas", put_dependents, OBJECT, OF_OBJECT, 0},
    {"else", put_sub, FREE, IN_ANY(otherwise)},
    {"enum", put_value, LIST, IN_ANY(values)},
    {"exclusiveMaximum", put_exclusive, FREE, IN_NUMBER(bounds[BOUND_BELOW])},
    {"exclusiveMinimum", put_exclusive, FREE, IN_NUMBER(bounds[BOUND_ABOVE])},
    {"if", put_sub, FREE, IN_ANY(condition)},
    {"items", put_items, FREE, IN_ARRAY(items)},
    {"maxContains", put_count, NUMBER, IN_ARRAY(contained.max)},
    {"maxItems", put_count, NUMBER, IN_ARRAY(range.max)},
    {"maxLength", put_count, NUMBER, IN_STRING(range.max)},
    {"maxProperties", put_count, NUMBER, IN_OBJECT(range.max)},
    {"maximum", put_bound, NUMBER, IN_NUMBER(bounds[BOUND_MAX])},
    {"minContains", put_count, NUMBER, IN_ARRAY(contained.min)},
    {"minItems", put_count, NUMBER, IN_ARRAY(range.min)},
    {"minLength", put_count, NUMBER, IN_STRING(range.min)},
    {"minProperties", put_count, NUMBER, IN_OBJECT(range.min)},
    {"minimum", put_bound, NUMBER, IN_NUMBER(bounds[BOUND_MIN])},
    {"multipleOf", put_multiple, NUMBER, IN_NUMBER(multiple)},
    {"not", put_sub, FREE, IN_ANY(not )},
    {"oneOf", put_some, SCHEMA_LIST, IN_ANY(one)},
    {"pattern", put_pattern, STRING, IN_STRING(pattern)},
    {"patternProperties", put_patterns, SCHEMAS, OF_OBJECT, 0},
    {"prefixItems", put_some, SCHEMA_LIST, IN_ARRAY(prefix)},
    {"properties", put_properties, FREE, OF_OBJECT, 0},
    {"propertyNames", put_sub, FREE, IN_OBJECT(property_names)},
    {"required", put_properties, FREE, OF_OBJECT, 0},
    {"then", put_sub, FREE, IN_ANY(then)},
    {"type", put_type, FREE, OF_NODE, 0},
    {"unevaluatedItems", put_sub, FREE, IN_ARRAY(unevaluated)},
    {"unevaluatedProperties", put_sub, FREE, IN_OBJECT(unevaluated)},
    {"uniqueItems", put_bool, BOOLEAN, IN_ARRAY(unique)},
};

static int keyword_order(const void *key, const void *row)
{
    const struct keyword *k = row;

    return str_order(*(const wend_str *)key, str_of(k->name));
}

static bool compile_keyword(struct compiling *k, struct schema_node *n,
                            const struct json *v)
{
    const struct keyword *w =
        bsearch(&v->key, keywords, sizeof keywords / sizeof *keywords,
                sizeof *keywords, keyword_order);
    void **slot;

    if (!w)
        return true;
    if (w->form && !(forms[w->form].kinds & 1u << v->kind))
        return schema_refuse(k, v, "%s", forms[w->form].wrong);
    if (w->group == OF_NODE)
        return w->put(k, n, v, n);
    slot = (void **)((char *)n + groups[w->group].slot);
    if (!*slot)
        *slot = arena_alloc(k->arena, groups[w->group].size);
    if (!*slot)
        return schema_nomem(k);
    return w->put(k, n, v, (char *)*slot + w->offset);
}

/* ---- Schemas ------------------------------------------------------------- */

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
        if ((!alone || is_place(m->key)) && !compile_keyword(k, n, m))
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

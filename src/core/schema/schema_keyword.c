/*
 * schema_keyword.c - the keywords of JSON Schema, each with its own form.
 */
#include "core/schema/schema_node.h"

#include <stdlib.h>

#include "base/utf8.h"

static bool sub(struct compiling *k, const struct schema_node *n,
                const struct json *json, struct schema_node **out)
{
    return schema_node_for(k, json, n->resource, out);
}

/* ---- Keywords: `at` is where the compiled form goes ---------------------- */

static bool put_sub(struct compiling *k, struct schema_node *n,
                    const struct json *v, void *at)
{
    return sub(k, n, v, at);
}

static bool put_list(struct compiling *k, struct schema_node *n,
                     const struct json *v, void *at)
{
    struct schema_list *list = at;

    if (v->kind != JSON_ARRAY)
        return schema_refuse(k, v, "must be a list of schemas");
    list->at = arena_alloc(k->arena, v->count * sizeof *list->at);
    if (!list->at)
        return schema_nomem(k);
    for (const struct json *e = v->first; e; e = e->next)
        if (!sub(k, n, e, &list->at[list->count++]))
            return false;
    return true;
}

/* For allOf and the like, which say nothing with nothing in them. */
static bool put_some(struct compiling *k, struct schema_node *n,
                     const struct json *v, void *at)
{
    if (v->kind == JSON_ARRAY && !v->count)
        return schema_refuse(k, v, "must not be empty");
    return put_list(k, n, v, at);
}

static bool put_definitions(struct compiling *k, struct schema_node *n,
                            const struct json *v, void *at)
{
    struct schema_node *made;

    (void)at;
    if (v->kind != JSON_OBJECT)
        return schema_refuse(k, v, "must be an object of schemas");
    for (const struct json *m = v->first; m; m = m->next)
        if (!sub(k, n, m, &made))
            return false;
    return true;
}

static bool add_ref(struct compiling *k, struct schema_node *n,
                    const struct json *v, struct schema_node **out,
                    wend_str *dynamic)
{
    struct schema_ref *ref;

    if (v->kind != JSON_STRING)
        return schema_refuse(k, v, "must be a string");
    ref = arena_alloc(k->arena, sizeof *ref);
    if (!ref)
        return schema_nomem(k);
    ref->json = v;
    ref->resource = n->resource;
    ref->out = out;
    ref->dynamic = dynamic;
    ref->next = k->refs;
    k->refs = ref;
    return true;
}

static bool put_ref(struct compiling *k, struct schema_node *n,
                    const struct json *v, void *at)
{
    return add_ref(k, n, v, at, NULL);
}

static bool put_dynamic_ref(struct compiling *k, struct schema_node *n,
                            const struct json *v, void *at)
{
    struct schema_dynamic *d = at;

    return add_ref(k, n, v, &d->node, &d->name);
}

static bool put_type(struct compiling *k, struct schema_node *n,
                     const struct json *v, void *at)
{
    const struct json *one = v->kind == JSON_ARRAY ? v->first : v;

    (void)at;
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

static bool put_value(struct compiling *k, struct schema_node *n,
                      const struct json *v, void *at)
{
    (void)k;
    (void)n;
    *(const struct json **)at = v;
    return true;
}

static bool put_enum(struct compiling *k, struct schema_node *n,
                     const struct json *v, void *at)
{
    if (v->kind != JSON_ARRAY)
        return schema_refuse(k, v, "must be a list of values");
    return put_value(k, n, v, at);
}

static bool put_count(struct compiling *k, struct schema_node *n,
                      const struct json *v, void *at)
{
    struct schema_count *count = at;
    struct decimal d;

    (void)n;
    if (v->kind != JSON_NUMBER)
        return schema_refuse(k, v, "must be a number");
    d = decimal_of(v->text);
    if (d.exponent < 0 || (d.negative && d.count))
        return schema_refuse(k, v, "must be an integer from 0 on");
    if (!json_i64(v, &count->n))
        count->n = INT64_MAX; /* nothing has so many */
    count->set = true;
    return true;
}

static bool put_bound(struct compiling *k, struct schema_node *n,
                      const struct json *v, void *at)
{
    struct schema_bound *bound = at;

    (void)n;
    if (v->kind != JSON_NUMBER)
        return schema_refuse(k, v, "must be a number");
    bound->limit = decimal_of(v->text);
    bound->text = v->text;
    return true;
}

/* In draft 4, a boolean that says something about minimum or maximum. */
static bool put_exclusive(struct compiling *k, struct schema_node *n,
                          const struct json *v, void *at)
{
    bool low = str_is(v->key, "exclusiveMinimum");

    if (v->kind != JSON_TRUE && v->kind != JSON_FALSE)
        return put_bound(k, n, v, at);
    *(low ? &n->exclusive_min : &n->exclusive_max) = v->kind == JSON_TRUE;
    return true;
}

static bool put_multiple(struct compiling *k, struct schema_node *n,
                         const struct json *v, void *at)
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

static bool put_unique(struct compiling *k, struct schema_node *n,
                       const struct json *v, void *at)
{
    (void)n;
    if (v->kind != JSON_TRUE && v->kind != JSON_FALSE)
        return schema_refuse(k, v, "must be a boolean");
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
                             (int)utf8_cut(text, 60), text.ptr, why.message);
    return true;
}

static bool put_pattern(struct compiling *k, struct schema_node *n,
                        const struct json *v, void *at)
{
    (void)n;
    if (v->kind != JSON_STRING)
        return schema_refuse(k, v, "must be a string");
    return compile_pattern(k, v, v->text, at);
}

static bool put_patterns(struct compiling *k, struct schema_node *n,
                         const struct json *v, void *at)
{
    struct schema_object *o = n->object;

    (void)at;
    if (v->kind != JSON_OBJECT)
        return schema_refuse(k, v, "must be an object of schemas");
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
    o->properties_count = kept;
    for (size_t i = 0; i < kept; i++)
        o->required_count += list[i].required;
}

/* Both keywords end here; the first does the work for the two. */
static bool put_properties(struct compiling *k, struct schema_node *n,
                           const struct json *v, void *at)
{
    const struct json *properties = json_get(n->json, "properties");
    const struct json *required = json_get(n->json, "required");
    struct schema_object *o = n->object;
    size_t count = 0;

    (void)v;
    (void)at;
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
static bool put_dependents(struct compiling *k, struct schema_node *n,
                           const struct json *v, void *at)
{
    struct schema_object *o = n->object;
    struct schema_dependent *list, *d;

    (void)at;
    if (v->kind != JSON_OBJECT)
        return schema_refuse(k, v, "must be an object");
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
static bool put_items(struct compiling *k, struct schema_node *n,
                      const struct json *v, void *at)
{
    if (v->kind == JSON_ARRAY && !json_get(n->json, "prefixItems"))
        return put_list(k, n, v, &n->array->prefix);
    return put_sub(k, n, v, at);
}

/* Only of meaning beside items as a list. */
static bool put_additional_items(struct compiling *k, struct schema_node *n,
                                 const struct json *v, void *at)
{
    const struct json *items = json_get(n->json, "items");

    return !items || items->kind != JSON_ARRAY || put_sub(k, n, v, at);
}

/* ---- The table ----------------------------------------------------------- */

enum group { NODE, ANY, OBJECT, ARRAY, NUMBER, STRING };

static const struct {
    size_t slot, size;
} groups[] = {
    [ANY] = {offsetof(struct schema_node, any), sizeof(struct schema_any)},
    [OBJECT] = {offsetof(struct schema_node, object),
                sizeof(struct schema_object)},
    [ARRAY] = {offsetof(struct schema_node, array),
               sizeof(struct schema_array)},
    [NUMBER] = {offsetof(struct schema_node, number),
                sizeof(struct schema_number)},
    [STRING] = {offsetof(struct schema_node, string),
                sizeof(struct schema_string)},
};

struct keyword {
    const char *name;
    bool (*put)(struct compiling *k, struct schema_node *n,
                const struct json *v, void *at);
    enum group group;
    size_t offset; /* of `at` in the group */
};

#define IN_ANY(member) ANY, offsetof(struct schema_any, member)
#define IN_OBJECT(member) OBJECT, offsetof(struct schema_object, member)
#define IN_ARRAY(member) ARRAY, offsetof(struct schema_array, member)
#define IN_NUMBER(member) NUMBER, offsetof(struct schema_number, member)
#define IN_STRING(member) STRING, offsetof(struct schema_string, member)

/* Sorted by name. */
static const struct keyword keywords[] = {
    {"$defs", put_definitions, NODE, 0},
    {"$dynamicRef", put_dynamic_ref, IN_ANY(dynamic)},
    {"$recursiveRef", put_dynamic_ref, IN_ANY(dynamic)},
    {"$ref", put_ref, IN_ANY(ref)},
    {"additionalItems", put_additional_items, IN_ARRAY(items)},
    {"additionalProperties", put_sub, IN_OBJECT(additional)},
    {"allOf", put_some, IN_ANY(all)},
    {"anyOf", put_some, IN_ANY(any)},
    {"const", put_value, IN_ANY(only)},
    {"contains", put_sub, IN_ARRAY(contains)},
    {"definitions", put_definitions, NODE, 0},
    {"dependencies", put_dependents, OBJECT, 0},
    {"dependentRequired", put_dependents, OBJECT, 0},
    {"dependentSchemas", put_dependents, OBJECT, 0},
    {"else", put_sub, IN_ANY(otherwise)},
    {"enum", put_enum, IN_ANY(values)},
    {"exclusiveMaximum", put_exclusive, IN_NUMBER(bounds[BOUND_BELOW])},
    {"exclusiveMinimum", put_exclusive, IN_NUMBER(bounds[BOUND_ABOVE])},
    {"if", put_sub, IN_ANY(condition)},
    {"items", put_items, IN_ARRAY(items)},
    {"maxContains", put_count, IN_ARRAY(contained.max)},
    {"maxItems", put_count, IN_ARRAY(range.max)},
    {"maxLength", put_count, IN_STRING(range.max)},
    {"maxProperties", put_count, IN_OBJECT(range.max)},
    {"maximum", put_bound, IN_NUMBER(bounds[BOUND_MAX])},
    {"minContains", put_count, IN_ARRAY(contained.min)},
    {"minItems", put_count, IN_ARRAY(range.min)},
    {"minLength", put_count, IN_STRING(range.min)},
    {"minProperties", put_count, IN_OBJECT(range.min)},
    {"minimum", put_bound, IN_NUMBER(bounds[BOUND_MIN])},
    {"multipleOf", put_multiple, IN_NUMBER(multiple)},
    {"not", put_sub, IN_ANY(not )},
    {"oneOf", put_some, IN_ANY(one)},
    {"pattern", put_pattern, IN_STRING(pattern)},
    {"patternProperties", put_patterns, OBJECT, 0},
    {"prefixItems", put_some, IN_ARRAY(prefix)},
    {"properties", put_properties, OBJECT, 0},
    {"propertyNames", put_sub, IN_OBJECT(property_names)},
    {"required", put_properties, OBJECT, 0},
    {"then", put_sub, IN_ANY(then)},
    {"type", put_type, NODE, 0},
    {"unevaluatedItems", put_sub, IN_ARRAY(unevaluated)},
    {"unevaluatedProperties", put_sub, IN_OBJECT(unevaluated)},
    {"uniqueItems", put_unique, IN_ARRAY(unique)},
};

static int keyword_order(const void *key, const void *row)
{
    const wend_str *s = key;
    const char *name = ((const struct keyword *)row)->name;
    size_t len = strlen(name);
    int order = memcmp(s->ptr, name, s->len < len ? s->len : len);

    return order ? order : (s->len > len) - (s->len < len);
}

bool schema_keyword(struct compiling *k, struct schema_node *n,
                    const struct json *v)
{
    const struct keyword *w =
        bsearch(&v->key, keywords, sizeof keywords / sizeof *keywords,
                sizeof *keywords, keyword_order);
    void **slot;

    if (!w)
        return true;
    if (w->group == NODE)
        return w->put(k, n, v, n);
    slot = (void **)((char *)n + groups[w->group].slot);
    if (!*slot)
        *slot = arena_alloc(k->arena, groups[w->group].size);
    if (!*slot)
        return schema_nomem(k);
    return w->put(k, n, v, (char *)*slot + w->offset);
}

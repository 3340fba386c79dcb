/*
 * schema.c - does a JSON value fit a compiled schema?
 *
 * Recursion follows schema and value. A $ref may lead in a circle, so depth
 * is counted; anyOf in anyOf can multiply, so steps are. At either limit the
 * whole check stops: `not` must not turn "unknown" into "fits".
 *
 * For unevaluatedProperties and unevaluatedItems, children that some schema
 * has looked at are marked; marks of an alternative count only if it fits.
 */
#include "core/schema/schema.h"

#include <assert.h>

#include "core/schema/schema_node.h"

#include "base/limits.h"
#include "base/utf8.h"

enum {
    TEXT_A_STEP = 64,     /* bytes of a string or a number */
    VALUES_A_STEP = 8,    /* compared, of enum */
    MEMBERS_A_STEP = 16,  /* looked at, for one name */
    EXPLAINED_MAX = 3,    /* alternatives */
    NAME_MAX_SHOWN = 160, /* bytes */
};

/* Which children are evaluated, by place. */
struct seen_children {
    uint64_t *bits;
    size_t words;
    uint64_t few; /* if one word is enough */
};

static bool check(struct schema_check *c, const struct schema_node *n,
                  const struct json *v, struct seen_children *marks);

/* ---- Marks --------------------------------------------------------------- */

static bool marks_open(struct schema_check *c, struct seen_children *m,
                       size_t count)
{
    m->words = count / 64 + 1;
    m->few = 0;
    m->bits = m->words == 1 ? &m->few
                            : mem_zalloc(c->mem, m->words * sizeof *m->bits);
    c->steps += m->words;
    return m->bits || schema_stop_nomem(c);
}

static void marks_close(struct schema_check *c, struct seen_children *m)
{
    if (m->bits != &m->few)
        mem_free(c->mem, m->bits);
}

static void mark(struct seen_children *m, uint32_t i)
{
    if (m)
        m->bits[i / 64] |= UINT64_C(1) << i % 64;
}

static bool marked(const struct seen_children *m, uint32_t i)
{
    return m->bits[i / 64] >> i % 64 & 1;
}

static void marks_add(struct seen_children *m, const struct seen_children *more)
{
    assert(m->words == more->words); /* of the same value */
    for (size_t i = 0; i < m->words; i++)
        m->bits[i] |= more->bits[i];
}

/* Tries an alternative for the same value; quiet. */
static bool branch(struct schema_check *c, const struct schema_node *n,
                   const struct json *v, struct seen_children *marks)
{
    struct seen_children own;
    bool fits;

    c->quiet++;
    if (!marks) {
        fits = check(c, n, v, NULL);
    } else {
        fits = marks_open(c, &own, v->count) && check(c, n, v, &own);
        if (fits)
            marks_add(marks, &own);
        marks_close(c, &own);
    }
    assert(c->stopped || c->quiet);
    if (!c->stopped)
        c->quiet--;
    return fits && !c->stopped;
}

/* ---- Into children ------------------------------------------------------- */

static bool into(struct schema_check *c, const struct schema_node *n,
                 const struct json *v, struct schema_step step)
{
    bool fits;

    step.up = c->path;
    c->path = &step;
    fits = check(c, n, v, NULL);
    assert(c->path == &step);
    c->path = step.up;
    return fits;
}

static bool into_member(struct schema_check *c, const struct schema_node *n,
                        const struct json *m)
{
    return into(c, n, m, (struct schema_step){.key = m->key});
}

static bool into_item(struct schema_check *c, const struct schema_node *n,
                      const struct json *e, uint32_t i)
{
    return into(c, n, e, (struct schema_step){.index = i});
}

/* ---- Values of each kind ------------------------------------------------- */

static bool check_contains(struct schema_check *c, const struct schema_array *a,
                           const struct json *v, struct seen_children *marks)
{
    struct schema_range range = a->contained;
    int64_t n = 0;
    uint32_t i = 0;

    c->quiet++;
    for (const struct json *e = v->first; e && !c->stopped; e = e->next, i++)
        if (into_item(c, a->contains, e, i)) {
            mark(marks, i);
            n++;
        }
    if (c->stopped)
        return false;
    c->quiet--;
    if (!range.min.set)
        range.min = (struct schema_count){1, true};
    return schema_check_range(c, &range, n, "items that fit contains",
                              "Contains");
}

static bool check_array(struct schema_check *c, const struct schema_array *a,
                        const struct json *v, struct seen_children *marks)
{
    uint32_t i = 0;

    if (!schema_check_range(c, &a->range, v->count, "items", "Items"))
        return false;
    for (const struct json *e = v->first; e; e = e->next, i++) {
        const struct schema_node *n =
            i < a->prefix.count ? a->prefix.at[i] : a->items;

        if (!n)
            break;
        if (!into_item(c, n, e, i))
            return false;
        mark(marks, i);
    }
    if (a->unique && v->count > 1 && !schema_check_unique(c, v))
        return false;
    return !a->contains || check_contains(c, a, v, marks);
}

static const struct schema_property *property(const struct schema_object *o,
                                              wend_str key)
{
    size_t low = 0, high = o->properties_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = schema_key_order(key, o->properties[middle].key);

        if (!order)
            return &o->properties[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static bool check_name(struct schema_check *c, const struct schema_node *n,
                       wend_str key)
{
    const struct json name = {.kind = JSON_STRING, .text = key};

    return into(c, n, &name, (struct schema_step){.key = key, .name = true});
}

static bool check_member(struct schema_check *c, const struct schema_object *o,
                         const struct schema_property *p, const struct json *m,
                         bool *evaluated)
{
    bool known = p && p->node;

    if (known && !into_member(c, p->node, m))
        return false;
    for (size_t i = 0; i < o->patterns_count; i++) {
        if (schema_found(c, &o->patterns[i], m->key)) {
            known = true;
            if (!into_member(c, o->patterns[i].node, m))
                return false;
        }
        if (c->stopped)
            return false;
    }
    if (!known && o->additional) {
        if (o->additional->never)
            return schema_wrong_property(c, o, m->key);
        if (!into_member(c, o->additional, m))
            return false;
        known = true;
    }
    *evaluated = known;
    return !o->property_names || check_name(c, o->property_names, m->key);
}

static bool has(struct schema_check *c, const struct json *v, wend_str key)
{
    c->steps += v->count / MEMBERS_A_STEP;
    for (const struct json *m = v->first; m; m = m->next)
        if (str_eq(m->key, key))
            return true;
    return false;
}

/* Slow, but then it is already known that one is missing. */
static bool missing(struct schema_check *c, const struct schema_object *o,
                    const struct json *v)
{
    if (!schema_speaks(c))
        return false;
    for (size_t i = 0; i < o->properties_count; i++)
        if (o->properties[i].required && !has(c, v, o->properties[i].key))
            return schema_wrong(c, "lacks the required property '%.*s'",
                                STR_ARGS(o->properties[i].key));
    return false;
}

static bool check_dependent(struct schema_check *c,
                            const struct schema_dependent *d,
                            const struct json *v, struct seen_children *marks)
{
    if (!has(c, v, d->key))
        return true;
    if (d->node)
        return check(c, d->node, v, marks);
    for (const struct json *e = d->required->first; e; e = e->next)
        if (!has(c, v, e->text))
            return schema_wrong(c,
                                "lacks the property '%.*s', which '%.*s' "
                                "requires",
                                UTF8_ARGS(e->text, NAME_MAX_SHOWN),
                                STR_ARGS(d->key));
    return true;
}

static bool check_object(struct schema_check *c, const struct schema_object *o,
                         const struct json *v, struct seen_children *marks)
{
    size_t required = 0;
    uint32_t i = 0;

    if (!schema_check_range(c, &o->range, v->count, "properties", "Properties"))
        return false;
    for (const struct json *m = v->first; m; m = m->next, i++) {
        const struct schema_property *p = property(o, m->key);
        bool evaluated = false;

        required += p && p->required;
        if (!check_member(c, o, p, m, &evaluated))
            return false;
        if (evaluated)
            mark(marks, i);
    }
    if (required < o->required_count)
        return missing(c, o, v);
    for (size_t d = 0; d < o->dependents_count; d++)
        if (!check_dependent(c, &o->dependents[d], v, marks))
            return false;
    return true;
}

/* ---- Values of any kind -------------------------------------------------- */

static bool check_enum(struct schema_check *c, const struct json *values,
                       const struct json *v)
{
    c->steps += values->count / VALUES_A_STEP;
    for (const struct json *one = values->first; one; one = one->next)
        if (json_equal(one, v))
            return true;
    return schema_wrong_value(c, values, NULL);
}

/* Why none of them fits, one by one; not again inside one of these. */
static bool explain(struct schema_check *c, const struct schema_list *list,
                    const struct json *v, const char *keyword)
{
    schema_wrong(c, "fits none of the %zu schemas of %s", list->count, keyword);
    if (!schema_speaks(c) || c->explaining)
        return false;
    c->explaining = true;
    for (size_t i = 0; i < list->count && i < EXPLAINED_MAX; i++) {
        buf_fmt(c->why, "%s(%zu) ", i ? "; " : ": ", i + 1);
        check(c, list->at[i], v, NULL);
    }
    if (list->count > EXPLAINED_MAX)
        buf_cstr(c->why, "; ...");
    c->explaining = false;
    return false;
}

static bool check_any(struct schema_check *c, const struct schema_list *list,
                      const struct json *v, struct seen_children *marks)
{
    bool fits = false;

    for (size_t i = 0; i < list->count && !c->stopped; i++) {
        fits |= branch(c, list->at[i], v, marks);
        if (fits && !marks) /* marks need every alternative */
            return true;
    }
    if (c->stopped)
        return false;
    return fits || explain(c, list, v, "anyOf");
}

static bool check_one(struct schema_check *c, const struct schema_list *list,
                      const struct json *v, struct seen_children *marks)
{
    size_t which[2] = {0, 0}, n = 0;

    for (size_t i = 0; i < list->count && n < 2 && !c->stopped; i++)
        if (branch(c, list->at[i], v, marks))
            which[n++] = i + 1;
    if (c->stopped)
        return false;
    if (!n)
        return explain(c, list, v, "oneOf");
    return n == 1 || schema_wrong(c,
                                  "fits more than one schema of oneOf: "
                                  "(%zu) and (%zu)",
                                  which[0], which[1]);
}

static bool check_not(struct schema_check *c, const struct schema_node *n,
                      const struct json *v)
{
    bool fits = branch(c, n, v, NULL);

    return !c->stopped && (!fits || schema_wrong(c, "fits the schema of not"));
}

static bool check_condition(struct schema_check *c, const struct schema_any *a,
                            const struct json *v, struct seen_children *marks)
{
    bool fits = branch(c, a->condition, v, marks);
    const struct schema_node *n = fits ? a->then : a->otherwise;

    if (c->stopped)
        return false;
    return !n || check(c, n, v, marks);
}

static const struct schema_node *
anchored(struct schema_check *c, const struct schema_resource *r, wend_str name)
{
    for (const struct schema_name *a = r->dynamic; a; a = a->next) {
        c->steps++;
        if (str_eq(a->text, name))
            return a->node;
    }
    return NULL;
}

/* The outermost of all resources that the check is in decides. */
static const struct schema_node *target(struct schema_check *c,
                                        const struct schema_target *d)
{
    const struct schema_node *found = d->node, *n;

    if (!d->name.ptr)
        return found;
    for (const struct schema_scope *s = c->scope; s; s = s->up) {
        n = anchored(c, s->resource, d->name);
        found = n ? n : found;
    }
    return found;
}

static bool check_combined(struct schema_check *c, const struct schema_any *a,
                           const struct json *v, struct seen_children *marks)
{
    if (a->ref.node && !check(c, a->ref.node, v, marks))
        return false;
    if (a->dynamic.node && !check(c, target(c, &a->dynamic), v, marks))
        return false;
    for (size_t i = 0; i < a->all.count; i++)
        if (!check(c, a->all.at[i], v, marks))
            return false;
    if (a->any.count && !check_any(c, &a->any, v, marks))
        return false;
    if (a->one.count && !check_one(c, &a->one, v, marks))
        return false;
    if (a->not &&!check_not(c, a->not, v))
        return false;
    return !a->condition || check_condition(c, a, v, marks);
}

/* ---- A node -------------------------------------------------------------- */

static bool fits_type(unsigned types, const struct json *v)
{
    static const unsigned bits[] = {
        [JSON_NULL] = 1u << TYPE_NULL,     [JSON_FALSE] = 1u << TYPE_BOOLEAN,
        [JSON_TRUE] = 1u << TYPE_BOOLEAN,  [JSON_NUMBER] = 1u << TYPE_NUMBER,
        [JSON_STRING] = 1u << TYPE_STRING, [JSON_ARRAY] = 1u << TYPE_ARRAY,
        [JSON_OBJECT] = 1u << TYPE_OBJECT,
    };

    return types & bits[v->kind] ||
           (v->kind == JSON_NUMBER && types & 1u << TYPE_INTEGER &&
            decimal_of(v->text).exponent >= 0);
}

static bool check_rules(struct schema_check *c, const struct schema_node *n,
                        const struct json *v, struct seen_children *marks)
{
    const struct schema_any *a = n->any;
    bool fits = true;

    if (a && a->only && !json_equal(a->only, v))
        return schema_wrong_value(c, NULL, a->only);
    if (a && a->values && !check_enum(c, a->values, v))
        return false;
    switch (v->kind) {
    case JSON_OBJECT:
        fits = !n->object || check_object(c, n->object, v, marks);
        break;
    case JSON_ARRAY:
        fits = !n->array || check_array(c, n->array, v, marks);
        break;
    case JSON_STRING:
        fits = !n->string || schema_check_string(c, n->string, v);
        break;
    case JSON_NUMBER: fits = !n->number || schema_check_number(c, n, v); break;
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE: break;
    }
    return fits && (!a || check_combined(c, a, v, marks));
}

/* Last, the children that nothing has looked at. */
static bool check_rest(struct schema_check *c, const struct schema_node *n,
                       const struct schema_node *rest, const struct json *v,
                       struct seen_children *marks)
{
    struct seen_children own;
    bool fits = marks_open(c, &own, v->count) && check_rules(c, n, v, &own);
    uint32_t i = 0;

    for (const struct json *e = v->first; e && fits; e = e->next, i++) {
        if (!marked(&own, i) && rest->never && v->kind == JSON_OBJECT)
            fits = schema_wrong(c,
                                "has the unknown property '%.*s' "
                                "(unevaluatedProperties)",
                                STR_ARGS(e->key));
        else if (!marked(&own, i))
            fits = v->kind == JSON_OBJECT ? into_member(c, rest, e)
                                          : into_item(c, rest, e, i);
        if (fits)
            mark(marks, i);
    }
    marks_close(c, &own);
    return fits;
}

static bool check(struct schema_check *c, const struct schema_node *n,
                  const struct json *v, struct seen_children *marks)
{
    const struct schema_scope *outer = c->scope;
    struct schema_scope own = {outer, n->resource};
    const struct schema_node *rest = NULL;
    bool fits;

    c->steps += 1 + v->text.len / TEXT_A_STEP + v->count / MEMBERS_A_STEP;
    if (c->steps > SCHEMA_STEPS_MAX)
        return schema_stop(c, "takes too many steps to check");
    if (n->never)
        return schema_wrong(c, "is not allowed");
    if (n->types && !fits_type(n->types, v))
        return schema_wrong_type(c, n->types, v);
    if (c->depth >= SCHEMA_DEPTH_MAX)
        return schema_stop(c, "nests too deep to check; does a $ref lead in "
                              "a circle?");
    if (v->kind == JSON_OBJECT && n->object)
        rest = n->object->unevaluated;
    else if (v->kind == JSON_ARRAY && n->array)
        rest = n->array->unevaluated;
    if (own.resource && own.resource->dynamic &&
        (!outer || outer->resource != own.resource))
        c->scope = &own;
    c->depth++;
    fits =
        rest ? check_rest(c, n, rest, v, marks) : check_rules(c, n, v, marks);
    c->depth--;
    c->scope = outer;
    return fits && !c->stopped;
}

bool schema_check(const struct schema *schema, const struct json *value,
                  struct buf *why)
{
    struct schema_check c = {
        .mem = schema->mem, .why = why, .work = SCHEMA_WORK_MAX};

    return check(&c, schema->root, value, NULL);
}

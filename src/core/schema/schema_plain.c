/*
 * schema_plain.c - rules for strings and numbers, how many of a thing, and
 * whether all items of a list are different.
 */
#include "core/schema/schema_node.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/utf8.h"

enum {
    TEXT_MAX = 40,     /* bytes shown of a number; more of a pattern */
    PAIRWISE_MAX = 16, /* items */
    BYTES_A_STEP = 16, /* sorted */
};

bool schema_check_range(struct schema_check *c, const struct schema_range *r,
                        int64_t count, const char *what, const char *suffix)
{
    bool few = r->min.set && count < r->min.n;
    bool many = r->max.set && count > r->max.n;

    if (!few && !many)
        return true;
    return schema_wrong(c, "must have at %s %lld %s (%s%s), has %lld",
                        few ? "least" : "most",
                        (long long)(few ? r->min.n : r->max.n), what,
                        few ? "min" : "max", suffix, (long long)count);
}

bool schema_found(struct schema_check *c, const struct schema_pattern *p,
                  wend_str text)
{
    wend_error err = {0};

    switch (regex_search(p->regex, text, &c->work, NULL, &err)) {
    case REGEX_YES: return true;
    case REGEX_NO: return false;
    case REGEX_LIMIT:
        return schema_stop(c, "takes too much work to match a pattern");
    case REGEX_ERROR: break;
    }
    return err.status == WEND_E_NOMEM
               ? schema_stop_nomem(c)
               : schema_stop(c, "cannot be matched with a pattern");
}

bool schema_check_string(struct schema_check *c, const struct schema_string *s,
                         const struct json *v)
{
    const struct schema_pattern *p = &s->pattern;

    if ((s->range.min.set || s->range.max.set) &&
        !schema_check_range(c, &s->range, (int64_t)utf8_count(v->text),
                            "characters", "Length"))
        return false;
    if (!p->regex || schema_found(c, p, v->text))
        return true;
    return schema_wrong(c, "does not match the pattern '%.*s'",
                        UTF8_ARGS(p->text, 4 * TEXT_MAX));
}

bool schema_check_number(struct schema_check *c, const struct schema_node *n,
                         const struct json *v)
{
    static const struct {
        const char *words, *keyword;
        int wrong_side; /* of the bound */
        bool equal_ok;
    } rules[BOUND_COUNT] = {
        [BOUND_MIN] = {"at least", "minimum", -1, true},
        [BOUND_MAX] = {"at most", "maximum", 1, true},
        [BOUND_ABOVE] = {"above", "exclusiveMinimum", -1, false},
        [BOUND_BELOW] = {"below", "exclusiveMaximum", 1, false},
    };
    const bool exclusive[BOUND_COUNT] = {
        [BOUND_MIN] = n->exclusive_min, [BOUND_MAX] = n->exclusive_max};
    const struct schema_bound *b = n->number->bounds;
    struct decimal d = decimal_of(v->text);

    for (int i = 0; i < BOUND_COUNT; i++) {
        int side = b[i].text.ptr ? decimal_compare(&d, &b[i].limit) : 0;

        if (!b[i].text.ptr || (side && side != rules[i].wrong_side) ||
            (!side && rules[i].equal_ok && !exclusive[i]))
            continue;
        return schema_wrong(c, "must be %s %.*s (%s), is %.*s",
                            exclusive[i] ? rules[i + BOUND_ABOVE].words
                                         : rules[i].words,
                            UTF8_ARGS(b[i].text, TEXT_MAX), rules[i].keyword,
                            UTF8_ARGS(v->text, TEXT_MAX));
    }
    b = &n->number->multiple;
    if (!b->text.ptr || decimal_multiple(&d, &b->limit))
        return true;
    return schema_wrong(c, "must be a multiple of %.*s (multipleOf), is %.*s",
                        STR_ARGS(b->text), UTF8_ARGS(v->text, TEXT_MAX));
}

/* ---- Different items ----------------------------------------------------- */

/* Few plain values are compared with one another. All else is written in a
 * canonical form (keys sorted, numbers without their spelling) and sorted by
 * hash, so that neither many items nor large objects take forever. */
struct written_item {
    uint64_t hash;
    wend_str text; /* canonical */
    uint32_t index;
};

static int by_name(const void *a, const void *b)
{
    const struct json *x = *(const struct json *const *)a;
    const struct json *y = *(const struct json *const *)b;

    return str_order(x->key, y->key);
}

static void canonical(struct buf *b, const struct json *j);

static void canonical_object(struct buf *b, const struct json *j)
{
    const struct json **members = mem_alloc(b->mem, j->count * sizeof *members);
    size_t n = 0;

    if (!members) {
        b->failed = true;
        return;
    }
    for (const struct json *m = j->first; m; m = m->next)
        members[n++] = m;
    qsort(members, n, sizeof *members, by_name);
    buf_char(b, '{');
    for (size_t i = 0; i < n; i++) {
        json_put_str(b, members[i]->key);
        canonical(b, members[i]);
    }
    buf_char(b, '}');
    mem_free(b->mem, members);
}

/* Recursion ends with the tree, which JSON_DEPTH_MAX bounds. */
static void canonical(struct buf *b, const struct json *j)
{
    struct decimal d;

    switch (j->kind) {
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE:
    case JSON_STRING: json_put(b, j); break;
    case JSON_NUMBER:
        d = decimal_of(j->text);
        decimal_put(b, &d);
        break;
    case JSON_ARRAY:
        buf_char(b, '[');
        for (const struct json *e = j->first; e; e = e->next) {
            canonical(b, e);
            buf_char(b, ',');
        }
        buf_char(b, ']');
        break;
    case JSON_OBJECT: canonical_object(b, j); break;
    }
}

static bool plain_and_few(const struct json *array)
{
    if (array->count > PAIRWISE_MAX)
        return false;
    for (const struct json *e = array->first; e; e = e->next)
        if (e->kind == JSON_ARRAY || e->kind == JSON_OBJECT)
            return false;
    return true;
}

static bool twice(struct schema_check *c, uint32_t i, uint32_t k)
{
    return schema_wrong(c,
                        "has the same item twice, at [%u] and [%u] "
                        "(uniqueItems)",
                        i, k);
}

static bool pairwise(struct schema_check *c, const struct json *array)
{
    uint32_t i = 0, k;

    for (const struct json *e = array->first; e; e = e->next, i++) {
        k = i + 1;
        for (const struct json *f = e->next; f; f = f->next, k++)
            if (json_equal(e, f))
                return twice(c, i, k);
    }
    return true;
}

/* Equal ones end up side by side, whatever their hashes. */
static int by_text(const void *a, const void *b)
{
    const struct written_item *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return schema_key_order(x->text, y->text);
}

static int by_text_then_place(const void *a, const void *b)
{
    const struct written_item *x = a, *y = b;
    int order = by_text(a, b);

    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static bool neighbours(struct schema_check *c, struct written_item *items,
                       size_t n)
{
    qsort(items, n, sizeof *items, by_text_then_place);
    for (size_t i = 1; i < n; i++)
        if (!by_text(&items[i], &items[i - 1]))
            return twice(c, items[i - 1].index, items[i].index);
    return true;
}

bool schema_check_unique(struct schema_check *c, const struct json *v)
{
    struct buf b = {.mem = c->mem};
    struct written_item *items;
    size_t n = 0, at = 0;
    bool ok = false;

    if (plain_and_few(v))
        return pairwise(c, v);
    items = mem_alloc(c->mem, v->count * sizeof *items);
    for (const struct json *e = v->first; items && e; e = e->next, n++) {
        size_t from = b.len;

        canonical(&b, e);
        items[n] = (struct written_item){.text = {NULL, b.len - from},
                                         .index = (uint32_t)n};
    }
    for (size_t i = 0; i < n && !b.failed; at += items[i++].text.len) {
        items[i].text.ptr = b.ptr + at; /* which has stopped moving */
        items[i].hash = mix64(0, b.ptr + at, items[i].text.len);
    }
    c->steps += b.len / BYTES_A_STEP;
    ok = items && !b.failed ? neighbours(c, items, n) : schema_stop_nomem(c);
    buf_free(&b);
    mem_free(c->mem, items);
    return ok;
}

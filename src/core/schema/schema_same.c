/*
 * schema_same.c - are all items of a list different?
 *
 * Few plain values are compared with one another. All else is written in a
 * canonical form (keys sorted, numbers without their spelling) and sorted by
 * hash, so that neither many items nor large objects take forever.
 */
#include "core/schema/schema_node.h"

#include <stdlib.h>

#include "base/hash.h"

enum { PAIRWISE_MAX = 16 };

struct written_item {
    uint64_t hash;
    const char *text; /* canonical */
    size_t len;
    uint32_t index;
};

static int by_key(const void *a, const void *b)
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
    qsort(members, n, sizeof *members, by_key);
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

static enum schema_unique pairwise(const struct json *array, uint32_t pair[2])
{
    uint32_t i = 0, k;

    for (const struct json *e = array->first; e; e = e->next, i++) {
        k = i + 1;
        for (const struct json *f = e->next; f; f = f->next, k++)
            if (json_equal(e, f)) {
                pair[0] = i;
                pair[1] = k;
                return UNIQUE_NO;
            }
    }
    return UNIQUE_YES;
}

/* Equal ones end up side by side, whatever their hashes. */
static int by_text(const void *a, const void *b)
{
    const struct written_item *x = a, *y = b;
    int order;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    if (x->len != y->len)
        return x->len < y->len ? -1 : 1;
    order = memcmp(x->text, y->text, x->len);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static enum schema_unique neighbours(struct written_item *items, size_t n,
                                     uint32_t pair[2])
{
    qsort(items, n, sizeof *items, by_text);
    for (size_t i = 1; i < n; i++)
        if (items[i].hash == items[i - 1].hash &&
            items[i].len == items[i - 1].len &&
            !memcmp(items[i].text, items[i - 1].text, items[i].len)) {
            pair[0] = items[i - 1].index;
            pair[1] = items[i].index;
            return UNIQUE_NO;
        }
    return UNIQUE_YES;
}

enum schema_unique schema_unique(const struct json *array,
                                 const struct mem *mem, uint32_t pair[2],
                                 size_t *bytes)
{
    struct buf b = {.mem = mem};
    struct written_item *items;
    size_t n = 0, at = 0;
    enum schema_unique result = UNIQUE_NOMEM;

    *bytes = 0;
    if (plain_and_few(array))
        return pairwise(array, pair);
    items = mem_alloc(mem, array->count * sizeof *items);
    if (!items)
        return UNIQUE_NOMEM;
    for (const struct json *e = array->first; e; e = e->next, n++) {
        size_t from = b.len;

        canonical(&b, e);
        items[n] =
            (struct written_item){.len = b.len - from, .index = (uint32_t)n};
    }
    for (size_t i = 0; i < n && !b.failed; at += items[i++].len) {
        items[i].text = b.ptr + at; /* which has stopped moving */
        items[i].hash = mix64(0, b.ptr + at, items[i].len);
    }
    if (!b.failed)
        result = neighbours(items, n, pair);
    *bytes = b.len;
    buf_free(&b);
    mem_free(mem, items);
    return result;
}

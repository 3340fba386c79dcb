/*
 * names.c - names and their numbers, given in the order of first use.
 */
#include "core/plan/names.h"

#include <assert.h>

#include "base/hash.h"

enum { NAMES_CAP_MIN = 16 };

/* Where the name is in the table, or the free place where it belongs. */
static uint32_t *place(const struct names *n, wend_str name)
{
    uint32_t mask = n->cap * 2 - 1;
    uint32_t i = (uint32_t)mix64(0, name.ptr, name.len) & mask;

    while (n->table[i] && !str_eq(n->list[n->table[i] - 1], name))
        i = (i + 1) & mask;
    return &n->table[i];
}

static bool resize(const struct names *n, struct arena *a, uint32_t cap,
                   struct names *out)
{
    *out = (struct names){.arena = a, .count = n->count, .cap = cap};
    out->list = arena_alloc(a, cap * sizeof *out->list);
    out->table = arena_alloc(a, cap * 2 * sizeof *out->table);
    if (!out->list || !out->table)
        return false;
    for (uint32_t i = 0; i < n->count; i++) {
        out->list[i] = n->list[i];
        *place(out, n->list[i]) = i + 1;
    }
    return true;
}

uint32_t names_find(const struct names *n, wend_str name)
{
    return n->cap ? *place(n, name) - 1 : NAME_NONE;
}

uint32_t names_add(struct names *n, wend_str name)
{
    struct names larger;
    uint32_t *at;

    if (n->count == n->cap) {
        if (!resize(n, n->arena, n->cap ? n->cap * 2 : NAMES_CAP_MIN, &larger))
            return NAME_NONE;
        *n = larger;
    }
    assert(n->count < n->cap); /* the table has a free place */
    at = place(n, name);
    if (!*at) {
        n->list[n->count] = name;
        *at = ++n->count;
    }
    return *at - 1;
}

bool names_copy(const struct names *n, struct arena *a, struct names *out)
{
    return resize(n, a, n->cap ? n->cap : NAMES_CAP_MIN, out);
}

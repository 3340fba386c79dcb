/*
 * pvec.c - a vector that never changes: a tree of eight ways.
 *
 * Few ways make short nodes to copy: a change among 10,000 copies five of
 * them, 360 bytes; with 32 ways it would be 800.
 */
#include "core/plan/pvec.h"

#include <assert.h>

enum { BITS = 3, WAYS = 1 << BITS };

struct pvec_node {
    const void *child[WAYS];   /* nodes, or elements in the last row */
    uint8_t marks[PVEC_MARKS]; /* bit c: child c or a node below has it */
};

static uint32_t digit(uint32_t i, uint32_t shift)
{
    return i >> shift & (WAYS - 1);
}

/* The nodes of the row above *count children; *count becomes their number. */
static struct pvec_node *make_row(uint32_t *count, struct arena *a)
{
    uint32_t nodes = (*count + WAYS - 1) / WAYS;
    struct pvec_node *row = arena_alloc(a, nodes * sizeof *row);

    *count = nodes;
    return row;
}

void pvec_make(struct pvec *v, uint32_t count, const void *fill,
               struct arena *a)
{
    uint32_t below = count, nodes = count;
    struct pvec_node *row, *under;

    memset(v, 0, sizeof *v);
    if (!count)
        return;
    v->count = count;
    row = make_row(&nodes, a);
    for (uint32_t i = 0; row && i < below; i++)
        row[i / WAYS].child[i % WAYS] = fill;
    while (row && nodes > 1) {
        under = row;
        below = nodes;
        row = make_row(&nodes, a);
        for (uint32_t i = 0; row && i < below; i++)
            row[i / WAYS].child[i % WAYS] = &under[i];
        v->shift += BITS;
    }
    v->root = row;
}

const void *pvec_get(const struct pvec *v, uint32_t i)
{
    const struct pvec_node *n = v->root;

    assert(i < v->count);
    for (uint32_t shift = v->shift; shift; shift -= BITS)
        n = n->child[digit(i, shift)];
    return n->child[digit(i, 0)];
}

static void mark(struct pvec_node *n, uint32_t way, unsigned marks)
{
    for (unsigned m = 0; m < PVEC_MARKS; m++)
        n->marks[m] =
            (uint8_t)((n->marks[m] & ~(1u << way)) | (marks >> m & 1) << way);
}

/* The marks of the node and of all below it. */
static unsigned marks_below(const struct pvec_node *n)
{
    unsigned marks = 0;

    for (unsigned m = 0; m < PVEC_MARKS; m++)
        marks |= (unsigned)(n->marks[m] != 0) << m;
    return marks;
}

enum { ROWS_MAX = 11 }; /* 3 bits each, of 32 */

/* path[0] is the root; sets the element in the last, then marks upwards. */
static void put(struct pvec_node **path, uint32_t rows, uint32_t i,
                const void *element, unsigned marks)
{
    path[rows - 1]->child[digit(i, 0)] = element;
    for (uint32_t row = rows; row--;) {
        mark(path[row], digit(i, (rows - 1 - row) * BITS), marks);
        marks = marks_below(path[row]);
    }
}

void pvec_set(struct pvec *v, uint32_t i, const void *element, unsigned marks,
              struct arena *a)
{
    uint32_t rows = v->shift / BITS + 1;
    const struct pvec_node *n = v->root;
    struct pvec_node *path[ROWS_MAX];

    assert(i < v->count);
    for (uint32_t row = 0; row < rows; row++) {
        path[row] =
            a ? arena_alloc(a, sizeof *n) : (struct pvec_node *)(uintptr_t)n;
        if (!path[row])
            return;
        if (a)
            *path[row] = *n;
        if (row)
            path[row - 1]->child[digit(i, (rows - row) * BITS)] = path[row];
        n = n->child[digit(i, (rows - 1 - row) * BITS)];
    }
    put(path, rows, i, element, marks);
    v->root = path[0];
}

uint32_t pvec_next(const struct pvec *v, unsigned mark_wanted, uint32_t from)
{
    const struct pvec_node *n = v->root;
    uint32_t shift = v->shift;

    while (from < v->count) {
        unsigned bits = (unsigned)n->marks[mark_wanted] >> digit(from, shift);

        if (!bits && shift == v->shift)
            return PVEC_NONE;
        if (!bits) { /* to the node's next sibling, from the root again */
            from = ((from >> (shift + BITS)) + 1) << (shift + BITS);
            n = v->root;
            shift = v->shift;
            continue;
        }
        if (!(bits & 1)) /* the first of a later child */
            from = ((from >> shift) + (uint32_t)__builtin_ctz(bits)) << shift;
        if (!shift)
            return from;
        n = n->child[digit(from, shift)];
        shift -= BITS;
    }
    return PVEC_NONE;
}

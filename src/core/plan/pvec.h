/*
 * pvec.h - a vector that never changes: setting one element makes another.
 *
 * What a change does not touch is shared, so an old vector stays as it was
 * and a new one costs the logarithm of its length, in time and in memory.
 * An element can carry marks, and the next one with a mark is found as
 * quickly: that is the queue of what is ready, of what runs, and so on.
 */
#ifndef CORE_PVEC_H
#define CORE_PVEC_H

#include "base/mem.h"

enum { PVEC_MARKS = 4 };
#define PVEC_NONE UINT32_MAX

struct pvec_node;

struct pvec {
    const struct pvec_node *root;
    uint32_t count;
    uint32_t shift; /* of the root's digit of an index */
};

/* All elements are `fill`, without a mark. A failed allocation sets
 * a->failed, and the vector must not be used. */
void pvec_make(struct pvec *v, uint32_t count, const void *fill,
               struct arena *a);
const void *pvec_get(const struct pvec *v, uint32_t i);
/* marks: bit m for mark m. Without an arena nothing is copied: for a vector
 * that is not shared yet. */
void pvec_set(struct pvec *v, uint32_t i, const void *element, unsigned marks,
              struct arena *a);
/* The first at or after `from` with that mark; or PVEC_NONE. */
uint32_t pvec_next(const struct pvec *v, unsigned mark, uint32_t from);

#endif

/*
 * names.h - names and their numbers, given in the order of first use.
 */
#ifndef CORE_NAMES_H
#define CORE_NAMES_H

#include "base/str.h"

#define NAME_NONE UINT32_MAX

/* Zero-initialise with `arena` set. */
struct names {
    struct arena *arena;
    wend_str *list; /* by number; lent by the caller of names_add */
    uint32_t *table;
    uint32_t count, cap; /* the table has twice as many places */
};

/* NAME_NONE if it is unknown. */
uint32_t names_find(const struct names *n, wend_str name);
/* The number of the name, new or not; NAME_NONE: out of memory. */
uint32_t names_add(struct names *n, wend_str name);
/* A copy that can grow by itself; false: out of memory. */
bool names_copy(const struct names *n, struct arena *a, struct names *out);

#endif

/*
 * fault.h - makes the n-th allocation fail, for every n there is.
 *
 *     struct fault f = {0};
 *
 *     while (fault_next(&f)) {
 *         struct mem m = fault_mem(&f);
 *         ... do the work, free all of it ...
 *         bad += f.live != 0 || (status == WEND_OK) == f.hit;
 *     }
 *
 * The first round fails the first allocation; the last round, in which none
 * failed, is the one that must succeed.
 */
#ifndef TESTS_FAULT_H
#define TESTS_FAULT_H

#include <stdlib.h>

#include "base/mem.h"

struct fault {
    int64_t fail_at; /* number of the failing allocation; 0 = none */
    bool sticks;     /* all after it fail, too */
    /* The store's thread frees, too. */
    _Atomic int64_t count; /* allocations of this round */
    _Atomic int64_t live;  /* not yet freed */
    _Atomic bool hit;      /* one failed in this round */
};

/* A wend_alloc_fn, so that it fits wend_runtime_options as well. */
static inline void *fault_alloc(void *ctx, void *p, size_t size)
{
    struct fault *f = ctx;
    int64_t number;
    void *moved;

    if (!size) {
        f->live -= p != NULL;
        free(p);
        return NULL;
    }
    number = ++f->count;
    if (f->fail_at &&
        (number == f->fail_at || (f->sticks && number > f->fail_at))) {
        f->hit = true;
        return NULL;
    }
    moved = realloc(p, size);
    f->live += moved && !p;
    return moved;
}

static inline struct mem fault_mem(struct fault *f)
{
    return (struct mem){.fn = fault_alloc, .ctx = f};
}

static inline bool fault_next(struct fault *f)
{
    if (f->fail_at && !f->hit)
        return false;
    f->fail_at++;
    f->count = f->live = 0;
    f->hit = false;
    return true;
}

#endif

/*
 * timers.h - deadlines of a runtime: a heap of timers that live in others.
 */
#ifndef LIB_TIMERS_H
#define LIB_TIMERS_H

#include "base/mem.h"

struct timer_node {
    int64_t due_us; /* by the clock that never goes back */
    void (*fire)(struct timer_node *t);
    uint32_t place; /* in the heap, from 1; 0 = not set */
};

struct timers {
    const struct mem *mem;
    struct timer_node **heap;
    uint32_t count;
    size_t cap;
};

/* Sets or moves. False when out of memory. */
bool timer_set(struct timers *ts, struct timer_node *t, int64_t due_us);
void timer_clear(struct timers *ts, struct timer_node *t);
/* The nearest deadline, or INT64_MAX. */
int64_t timers_next(const struct timers *ts);
/* Takes out the nearest one if it is due. */
struct timer_node *timers_due(struct timers *ts, int64_t now_us);
void timers_free(struct timers *ts);

#endif

/*
 * timers.c - deadlines of a runtime.
 */
#include "lib/runtime/runtime.h"

#include <assert.h>

static void put(struct timers *ts, uint32_t i, struct timer_node *t)
{
    ts->heap[i] = t;
    t->place = i + 1;
}

static void rise(struct timers *ts, uint32_t i, struct timer_node *t)
{
    while (i && t->due_us < ts->heap[(i - 1) / 2]->due_us) {
        put(ts, i, ts->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    put(ts, i, t);
}

static void sink(struct timers *ts, uint32_t i, struct timer_node *t)
{
    for (;;) {
        uint32_t child = 2 * i + 1;

        if (child >= ts->count)
            break;
        if (child + 1 < ts->count &&
            ts->heap[child + 1]->due_us < ts->heap[child]->due_us)
            child++;
        if (ts->heap[child]->due_us >= t->due_us)
            break;
        put(ts, i, ts->heap[child]);
        i = child;
    }
    put(ts, i, t);
}

void timer_clear(struct timers *ts, struct timer_node *t)
{
    uint32_t i = t->place - 1;
    struct timer_node *last;

    if (!t->place)
        return;
    assert(i < ts->count && ts->heap[i] == t);
    t->place = 0;
    last = ts->heap[--ts->count];
    if (last == t)
        return;
    if (i && last->due_us < ts->heap[(i - 1) / 2]->due_us)
        rise(ts, i, last);
    else
        sink(ts, i, last);
}

bool timer_set(struct timers *ts, struct timer_node *t, int64_t due_us)
{
    struct timer_node **heap;

    timer_clear(ts, t);
    heap = mem_more(ts->mem, ts->heap, ts->count, &ts->cap, sizeof *heap);
    if (!heap)
        return false;
    ts->heap = heap;
    assert(!t->place && t->fire);
    t->due_us = due_us;
    rise(ts, ts->count++, t);
    return true;
}

int64_t timers_next(const struct timers *ts)
{
    return ts->count ? ts->heap[0]->due_us : INT64_MAX;
}

struct timer_node *timers_due(struct timers *ts, int64_t now_us)
{
    struct timer_node *t;

    if (!ts->count || ts->heap[0]->due_us > now_us)
        return NULL;
    t = ts->heap[0];
    timer_clear(ts, t);
    return t;
}

void timers_free(struct timers *ts)
{
    mem_free(ts->mem, ts->heap);
    ts->heap = NULL;
    ts->count = ts->cap = 0;
}

/*
 * sched.c - which of many things may start now.
 *
 * A binary heap of what is ready: each start and end costs the logarithm of
 * that, never a walk over everything.
 */
#include "core/plan/sched.h"

#include <assert.h>

static bool before(const struct sched *s, uint32_t a, uint32_t b)
{
    const struct sched_item *x = &s->items[a], *y = &s->items[b];

    if (x->priority != y->priority)
        return x->priority > y->priority;
    if (x->rank != y->rank)
        return x->rank > y->rank;
    return a < b;
}

static void push(struct sched *s, uint32_t item)
{
    uint32_t i = s->heap_len++;

    assert(s->heap_len <= s->count);
    while (i && before(s, item, s->heap[(i - 1) / 2])) {
        s->heap[i] = s->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    s->heap[i] = item;
}

static uint32_t pop(struct sched *s)
{
    uint32_t top = s->heap[0], last = s->heap[--s->heap_len], i = 0;

    for (;;) {
        uint32_t child = 2 * i + 1;

        if (child >= s->heap_len)
            break;
        if (child + 1 < s->heap_len &&
            before(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (!before(s, s->heap[child], last))
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return top;
}

void sched_begin(struct sched *s)
{
    s->heap_len = s->running = s->holding = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct sched_item *item = &s->items[i];

        if (item->state == SCHED_RUNNING) {
            s->running++;
            s->holding += item->holds;
        } else if (item->state == SCHED_WAITING && !item->waits) {
            push(s, i);
        }
    }
}

bool sched_next(struct sched *s, uint32_t *item)
{
    if (!s->heap_len || s->running >= s->slots || s->holding)
        return false;
    *item = pop(s);
    s->items[*item].state = SCHED_RUNNING;
    s->running++;
    s->holding += s->items[*item].holds;
    return true;
}

void sched_end(struct sched *s, uint32_t item)
{
    struct sched_item *it = &s->items[item];

    assert(it->state == SCHED_RUNNING);
    it->state = SCHED_DONE;
    s->running--;
    s->holding -= it->holds;
    for (uint32_t e = it->edge; e < it->edge + it->edges_count; e++) {
        struct sched_item *next = &s->items[s->edges[e]];

        assert(next->waits > 0);
        if (!--next->waits && next->state == SCHED_WAITING)
            push(s, s->edges[e]);
    }
}

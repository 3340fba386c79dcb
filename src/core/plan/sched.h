/*
 * sched.h - which of many things may start now. One scheduler for all.
 *
 * An item is ready when nothing it waits for is left. Among the ready the
 * highest priority starts first, then the longest remaining path, then the
 * lowest number. At most `slots` run at once; while an item that `holds`
 * runs, nothing else starts. A batch of tool calls and a plan differ only
 * in the items they bring.
 */
#ifndef CORE_SCHED_H
#define CORE_SCHED_H

#include <stdbool.h>
#include <stdint.h>

enum sched_state { SCHED_WAITING, SCHED_RUNNING, SCHED_DONE };

struct sched_item {
    int64_t rank; /* longest remaining path */
    int32_t priority;
    uint32_t waits;             /* how many it still waits for */
    uint32_t edge, edges_count; /* who waits for it: s->edges[edge ..] */
    enum sched_state state;
    bool holds;
};

struct sched {
    struct sched_item *items; /* the caller's */
    const uint32_t *edges;
    uint32_t *heap; /* the caller's, room for count */
    uint32_t count, slots;
    uint32_t heap_len, running, holding;
};

/* items, edges, heap, count and slots are set; finds what is ready. */
void sched_begin(struct sched *s);
/* The next item to start, now marked as running; false if none may. */
bool sched_next(struct sched *s, uint32_t *item);
/* A running item ended; those that waited for it may become ready. */
void sched_end(struct sched *s, uint32_t item);

#endif

/*
 * queue.h - which of the processes that share a store may write now.
 *
 * SQLite's own lock is taken by the process that asks in the right moment;
 * among hundreds some would wait for ever. In front of it stands a kernel lock
 * on a byte of the owners' file: a process that finds others waiting waits
 * beside them, and all ask at intervals that fit how long a turn takes to come.
 * The kernel releases the lock however its process ends.
 */
#ifndef STORE_QUEUE_H
#define STORE_QUEUE_H

#include <time.h>

#include "store/owner.h"

/* How long a wait may still last: as long as a process writes the store, and
 * QUEUE_IDLE_MS more. Time in which this process was stopped does not count. */
enum { QUEUE_IDLE_MS = 30000 };
struct patience {
    const char *path; /* the store's */
    int64_t looked_us, idle_us, idle_max_us;
    int64_t wal_size;
    struct timespec wal_time;
};
void patience_begin(struct patience *p, const char *path, int idle_ms);
bool patience_left(struct patience *p);

struct queue {
    const struct owner *owner;
    const char *path; /* the store's */
    int idle_ms;      /* 0: QUEUE_IDLE_MS */
    int64_t usual_us; /* how long it took to come in */
    uint64_t chance;
};

wend_status queue_enter(struct queue *q, wend_error *err);
void queue_leave(const struct queue *q);
/* For work that can wait: returns once no other process waits to write, or
 * after a while. */
void queue_yield(const struct queue *q);
int64_t queue_now_us(void); /* monotonic */

#endif

/*
 * loop.h - one event loop: an fd, one timer, one wake-up, worker threads.
 *
 * The owner of the loop keeps its own list of deadlines and passes the nearest.
 * Transfers and programs join through loop_uv.h. A simulated loop (host/env.h)
 * has other operations.
 */
#ifndef HOST_LOOP_H
#define HOST_LOOP_H

#include "base/mem.h"

struct loop { /* the first member of its own struct */
    const struct loop_ops *ops;
};

struct loop_ops {
    void (*free)(struct loop *l);
    int (*fd)(const struct loop *l); /* -1: it has none */
    /* Looks at the world once. timeout_ms: 0 = do not wait, -1 = no limit. */
    void (*turn)(struct loop *l, int timeout_ms);
    /* How long a foreign loop that watches the fd may wait; -1 = no limit. */
    int (*timeout_ms)(struct loop *l);
    /* Ends a waiting turn; the fd becomes readable. [any thread] */
    void (*wake)(struct loop *l);
};

/* The system's. */
wend_status loop_new(const struct mem *m, struct loop **out, wend_error *err);

static inline void loop_free(struct loop *l)
{
    if (l)
        l->ops->free(l);
}

static inline int loop_fd(const struct loop *l)
{
    return l->ops->fd(l);
}

static inline void loop_turn(struct loop *l, int timeout_ms)
{
    l->ops->turn(l, timeout_ms);
}

static inline int loop_timeout_ms(struct loop *l)
{
    return l->ops->timeout_ms(l);
}

static inline void loop_wake(struct loop *l)
{
    l->ops->wake(l);
}

#endif

/*
 * threads.h - a small pool for work that would block the loop.
 *
 * Threads are made as work comes and end with the pool. A job that hangs
 * keeps only its own thread: threads are detached and the pool lives until
 * the last of them is done. A pool may be another one (host/env.h).
 */
#ifndef HOST_THREADS_H
#define HOST_THREADS_H

#include "base/mem.h"

struct threads { /* the first member of its own struct */
    const struct threads_ops *ops;
};

struct threads_job {
    struct threads_job *next;
    void (*fn)(struct threads_job *job); /* on a worker thread */
};

struct threads_ops {
    void (*free)(struct threads *t); /* does not wait */
    /* The job is the caller's; it must live until fn is over. */
    wend_status (*run)(struct threads *t, struct threads_job *job);
};

/* Real ones. m's hook is called from worker threads too. */
wend_status threads_new(const struct mem *m, unsigned max, struct threads **out,
                        wend_error *err);

static inline wend_status threads_run(struct threads *t,
                                      struct threads_job *job)
{
    return t->ops->run(t, job);
}

static inline void threads_free(struct threads *t)
{
    if (t)
        t->ops->free(t);
}

#endif

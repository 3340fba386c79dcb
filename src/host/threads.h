/*
 * threads.h - a small pool for work that would block the loop.
 *
 * Threads start as work comes and end with the pool, which waits for them, but
 * not for one inside the function of a job, which may hang: it keeps only
 * itself. If the job says that its result is out, the pool waits for it up to
 * THREADS_RETURN_MS. A simulation has another pool (host/env.h).
 */
#ifndef HOST_THREADS_H
#define HOST_THREADS_H

#include <stdatomic.h>

#include "base/mem.h"

enum { THREADS_RETURN_MS = 1000 };

struct threads { /* the first member of its own struct */
    const struct threads_ops *ops;
};

struct threads_job {
    struct threads_job *next;
    const atomic_bool *canceled; /* before it began: fn is not called */
    const atomic_bool *answered; /* its result is out: fn returns soon */
    /* Both on a worker thread; `end` always, once, and without blocking, maybe
     * on the thread that frees the pool. */
    void (*fn)(struct threads_job *job);
    void (*end)(struct threads_job *job);
};

struct threads_ops {
    /* Afterwards only jobs whose fn was under way are still to end. */
    void (*free)(struct threads *t);
    /* The job is the caller's; it must live until `end` is called. */
    wend_status (*run)(struct threads *t, struct threads_job *job);
};

/* Real ones. */
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

/*
 * threads.h - a small pool for work that would block the loop.
 *
 * Threads are made as work comes and end with the pool. A job that hangs
 * keeps only its own thread: threads are detached and the pool lives until
 * the last of them is done.
 */
#ifndef HOST_THREADS_H
#define HOST_THREADS_H

#include "base/mem.h"

struct threads;

struct threads_job {
    struct threads_job *next;
    void (*fn)(struct threads_job *job); /* on a worker thread */
};

/* m's hook is called from worker threads too. */
wend_status threads_new(const struct mem *m, unsigned max, struct threads **out,
                        wend_error *err);
/* The job is the caller's; it must live until fn is over. */
wend_status threads_run(struct threads *t, struct threads_job *job);
void threads_free(struct threads *t); /* does not wait */

#endif

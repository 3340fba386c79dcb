/*
 * env.h - time, randomness, the loop, the network and programs, behind one
 * vtable.
 *
 * The real one asks the operating system; a simulated one follows a seed.
 * What is made here carries its own operations (loop.h, threads.h, fetch.h,
 * proc.h), so a transfer or a program costs one call through a pointer, and
 * its bytes none.
 */
#ifndef HOST_ENV_H
#define HOST_ENV_H

#include "host/fetch/fetch.h"
#include "host/proc/proc.h"
#include "host/threads.h"

struct env {
    int64_t (*wall_us)(void *ctx);  /* unix time */
    int64_t (*clock_us)(void *ctx); /* never goes back */
    void (*chance)(void *ctx, void *out, size_t len);
    wend_status (*loop)(void *ctx, const struct mem *m, struct loop **out,
                        wend_error *err);
    wend_status (*threads)(void *ctx, const struct mem *m, unsigned max,
                           struct threads **out, wend_error *err);
    /* Those of a loop that this environment has made. */
    wend_status (*fetch)(void *ctx, const struct mem *m, struct loop *loop,
                         struct fetch **out, wend_error *err);
    wend_status (*procs)(void *ctx, const struct mem *m, struct loop *loop,
                         struct procs **out, wend_error *err);
    void *ctx;
};

extern const struct env env_real;

#endif

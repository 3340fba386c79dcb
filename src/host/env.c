/*
 * env.c - the real environment: clock, randomness, loop, network, programs.
 */
#include "host/env.h"

#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static int64_t wall_us(void *ctx)
{
    (void)ctx;
    return read_clock(CLOCK_REALTIME);
}

static int64_t clock_us(void *ctx)
{
    (void)ctx;
    return read_clock(CLOCK_MONOTONIC);
}

static void chance(void *ctx, void *out, size_t len)
{
    (void)ctx;
    /* It cannot fail for 256 bytes; ids must never be predictable. */
    if (getentropy(out, len))
        abort();
}

static wend_status loop(void *ctx, const struct mem *m, struct loop **out,
                        wend_error *err)
{
    (void)ctx;
    return loop_new(m, out, err);
}

static wend_status threads(void *ctx, const struct mem *m, unsigned max,
                           struct threads **out, wend_error *err)
{
    (void)ctx;
    return threads_new(m, max, out, err);
}

static wend_status fetch(void *ctx, const struct mem *m, struct loop *l,
                         struct fetch **out, wend_error *err)
{
    (void)ctx;
    return fetch_new(m, l, out, err);
}

static wend_status procs(void *ctx, const struct mem *m, struct loop *l,
                         struct procs **out, wend_error *err)
{
    (void)ctx;
    return procs_new(m, l, out, err);
}

const struct env env_real = {
    .wall_us = wall_us,
    .clock_us = clock_us,
    .chance = chance,
    .loop = loop,
    .threads = threads,
    .fetch = fetch,
    .procs = procs,
};

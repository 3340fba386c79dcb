/*
 * env.c - the real clock and the real dice.
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
    /* Up to 256 bytes cannot fail once the kernel's pool is up; ids that
     * were not random would be worse than a stop. */
    if (getentropy(out, len))
        abort();
}

const struct env env_real = {wall_us, clock_us, chance, NULL};

/*
 * env.h - time and chance come in from outside, through one vtable.
 *
 * The real one asks the operating system; a simulated one follows a seed.
 */
#ifndef HOST_ENV_H
#define HOST_ENV_H

#include <stddef.h>
#include <stdint.h>

struct env {
    int64_t (*wall_us)(void *ctx);  /* unix time */
    int64_t (*clock_us)(void *ctx); /* never goes back */
    void (*chance)(void *ctx, void *out, size_t len);
    void *ctx;
};

extern const struct env env_real;

#endif

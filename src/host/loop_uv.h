/*
 * loop_uv.h - the libuv loop inside struct loop. Only for src/host.
 *
 * A callback that leaves work for the loop's owner calls uv_stop: timers run
 * before the poll, and without it the same turn would then wait.
 */
#ifndef HOST_LOOP_UV_H
#define HOST_LOOP_UV_H

#include <uv.h>

#include "host/loop.h"

uv_loop_t *loop_uv(struct loop *l); /* one of loop_new */
/* The next turn that waits rests first, so that one wake-up sees more. */
enum { LOOP_REST_MS = 2 }; /* too short to be seen */
void loop_rest(struct loop *l);
/* A function to call before a turn waits, to save a turn; NULL: none. */
void loop_before(struct loop *l, void (*fn)(void *ctx), void *ctx);

#endif

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
/* The next turn that waits rests first, so that what comes meanwhile is seen
 * at once: to wake up costs more than to read. */
enum { LOOP_REST_MS = 2 }; /* too short to be seen */
void loop_rest(struct loop *l);
/* One function that is called before a turn waits: what it does then needs no
 * turn of its own. NULL: none. */
void loop_before(struct loop *l, void (*fn)(void *ctx), void *ctx);

#endif

/*
 * loop.h - one event loop: an fd, one timer, one wake-up, worker threads.
 *
 * Who owns the loop keeps its own list of deadlines and tells the nearest.
 * What else waits on it (transfers) joins through loop_uv.h.
 */
#ifndef HOST_LOOP_H
#define HOST_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

struct loop;

wend_status loop_new(const struct mem *m, struct loop **out, wend_error *err);
void loop_free(struct loop *l);
int loop_fd(const struct loop *l);
/* Looks at the world once. timeout_ms: 0 = do not wait, -1 = no limit. */
void loop_turn(struct loop *l, int timeout_ms);
/* The next turn that waits rests first, so that what comes meanwhile is seen
 * at once: to wake up costs more than to read. */
enum { LOOP_REST_MS = 2 }; /* nobody sees it */
void loop_rest(struct loop *l);
/* How long a foreign loop that watches the fd may wait; -1 = no limit. */
int loop_timeout_ms(struct loop *l);
/* Makes a waiting loop_turn return; the fd becomes readable. [any thread,
 * but not after loop_free] */
void loop_wake(struct loop *l);

#endif

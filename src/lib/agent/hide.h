/*
 * hide.h - what rules keep from reading, hidden from programs. Only for
 * src/lib.
 */
#ifndef LIB_HIDE_H
#define LIB_HIDE_H

#include "lib/agent/agent.h"

/* Whether the sandbox can do it here; asked only where there is such a rule,
 * else false. */
bool run_hides(struct wend_run *r);

#endif

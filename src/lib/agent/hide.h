/*
 * hide.h - what rules keep from reading, hidden from programs. Only for
 * src/lib.
 */
#ifndef LIB_HIDE_H
#define LIB_HIDE_H

#include "lib/agent/agent.h"

/* Whether a rule asks for it and the sandbox can do it here. */
bool run_hides(struct wend_run *r);

#endif

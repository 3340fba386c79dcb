/*
 * hook.h - the host looks at, changes, skips or stops.
 */
#ifndef LIB_HOOK_H
#define LIB_HOOK_H

#include "lib/run/run.h"

void hook_perform(struct wend_run *r, const struct effect *fx);
wend_hook_answer hook_ask(struct wend_run *r, wend_hook *h);
void hook_stop(struct wend_run *r, wend_str message);

#endif

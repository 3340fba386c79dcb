/*
 * handover.h - handles that are freed by another thread, or in a callback.
 */
#ifndef LIB_HANDOVER_H
#define LIB_HANDOVER_H

#include "wend.h"

/* Around calls that pump or call the host back: handles that are freed in
 * between are destroyed by rt_end. False: the runtime was one of them. */
wend_status rt_begin(wend_runtime *rt);
bool rt_end(wend_runtime *rt);
/* rt_end if `inside`, for a call that returns `s`. */
wend_status rt_end_of(wend_runtime *rt, bool inside, wend_status s,
                      wend_error *err);
/* Frees what was handed over, except `but`, which a caller is reading. */
void rt_bury(wend_runtime *rt, const struct wend_run *but);
/* Whether it, or its runtime, is freed when the call that is inside ends. */
bool run_is_doomed(const struct wend_run *r);

void rt_destroy(wend_runtime *rt); /* runtime.c */
/* agent.c: frees it, or leaves that to the last of its runs. */
void agent_drop(wend_agent *a);

#endif

/*
 * learned.h - what calls and actions took in the past, by type and target.
 */
#ifndef LIB_LEARNED_H
#define LIB_LEARNED_H

#include "lib/lib.h"

/* Takes note of an end, and keeps what the run has shown when it is over. The
 * turn is the one before the event. */
void learned_note(struct wend_run *r, const wend_event *ev);

void learned_forget(struct wend_run *r);

/* What the store knows about the plan's actions, by index, in `a`; `model` is
 * the one that is asked by default. NULL: nothing, or it cannot be read. */
const struct plan_learned *learned_plan(wend_store *store, const struct plan *p,
                                        wend_str model, struct arena *a);
/* The same as the start of a run takes it. */
const int64_t *learned_ms(wend_store *store, const struct plan *p,
                          wend_str model, struct arena *a);

#endif

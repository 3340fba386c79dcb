/*
 * learned.h - what calls and actions took in the past, by type and target.
 */
#ifndef LIB_LEARNED_H
#define LIB_LEARNED_H

#include "lib/run/lib.h"

/* Takes note of an end, now or from the log. The turn is the one before the
 * event. */
void learned_note(struct wend_run *r, const wend_event *ev);
/* Keeps what the run has shown, once: its end is in the store. */
void learned_keep(struct wend_run *r);
void learned_forget(struct wend_run *r);

/* What the store knows of the past, for plans that the run's model writes;
 * looked up once. NULL: it writes none. */
const struct plan_past *learned_past(struct wend_run *r);
/* What the store knows about the plan's actions, by index, in `a`; `model` is
 * the one that is asked by default. NULL: nothing, or it cannot be read. */
const struct plan_learned *learned_plan(wend_store *store, const struct plan *p,
                                        wend_str model, struct arena *a);
/* The same as the start of a run takes it. */
const int64_t *learned_ms(wend_store *store, const struct plan *p,
                          wend_str model, struct arena *a);

#endif

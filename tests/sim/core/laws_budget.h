/*
 * laws_budget.h - what a run may spend, and what counts as spent.
 */
#ifndef SIM_CORE_LAWS_BUDGET_H
#define SIM_CORE_LAWS_BUDGET_H

#include "laws_step.h"
#include "sim.h"

void law_budget(struct sim *s, const struct view *v, const char *name);
void law_charged(struct sim *s, const wend_event *ev, const char *name);
void law_unsent(struct sim *s, const wend_event *ev, const char *name);
void law_kept(struct sim *s, const wend_event *ev, const char *name);

#endif

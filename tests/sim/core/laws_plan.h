/*
 * laws_plan.h - the laws of a run that is a plan: of its events, and of steps.
 */
#ifndef SIM_CORE_LAWS_PLAN_H
#define SIM_CORE_LAWS_PLAN_H

#include "laws_event.h"
#include "laws_step.h"
#include "sim.h"

extern const struct event_law plan_event_laws[];
extern const struct step_law plan_step_laws[];
extern const char law_parent[];
void check_parent(struct sim *s);

#endif

/*
 * plan_make.h - random plans: what a run starts with that is one.
 */
#ifndef SIM_CORE_PLAN_MAKE_H
#define SIM_CORE_PLAN_MAKE_H

#include "sim.h"

void start_with_plan(struct sim *s);

#endif

/*
 * plan.h - runs that are plans, made up from the seed.
 */
#ifndef SIM_SHELL_PLAN_H
#define SIM_SHELL_PLAN_H

#include "sim.h"

wend_status start_plan(struct sim *s, struct known *k,
                       const wend_run_options *o);

#endif

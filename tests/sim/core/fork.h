/*
 * fork.h - a run goes on as a fork: from any event of its log, with its past
 * shared, as lib/run/fork.c makes one.
 */
#ifndef SIM_CORE_FORK_H
#define SIM_CORE_FORK_H

#include "sim.h"

void go_on_as_fork(struct sim *s);

#endif

/*
 * laws_past.h - the laws of a conversation of several runs.
 */
#ifndef SIM_CORE_LAWS_PAST_H
#define SIM_CORE_LAWS_PAST_H

#include "laws_event.h"
#include "laws_step.h"
#include "sim.h"

extern const struct event_law past_event_laws[];
extern const struct step_law past_step_laws[];
/* Whether a compaction is asked for that the next run must begin with. */
void check_fold(struct sim *s, const struct turn *t);

#endif

/*
 * plant_past.h - bugs on purpose: a run that follows is told something else.
 */
#ifndef SIM_CORE_PLANT_PAST_H
#define SIM_CORE_PLANT_PAST_H

#include "sim.h"

void settle_less(struct turn *t, const struct keep *k);
void settle_twice(struct turn *t, const struct keep *k);
void settle_refused(struct turn *t, const struct keep *k);
void settle_labels(struct turn *t, const struct keep *k);
void settle_fold(struct turn *t, const struct keep *k);

#endif

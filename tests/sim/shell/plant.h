/*
 * plant.h - bugs on purpose: the simulator must catch every one.
 */
#ifndef SIM_SHELL_PLANT_H
#define SIM_SHELL_PLANT_H

#include "sim.h"

void hear_again(struct sim *s, struct wend_run *r);
/* A bug without a name ends it. */
extern const struct bug bugs[];

#endif

/*
 * laws.h - what must hold of every run after each pump.
 */
#ifndef SIM_SHELL_LAWS_H
#define SIM_SHELL_LAWS_H

#include "sim.h"

void check_run(struct sim *s, struct known *k);
void check_queue(struct sim *s, const struct reader *r);

#endif

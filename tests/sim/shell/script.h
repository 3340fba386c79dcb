/*
 * script.h - models that are scripts, made up from the seed.
 */
#ifndef SIM_SHELL_SCRIPT_H
#define SIM_SHELL_SCRIPT_H

#include "sim.h"

void put_actions(struct sim *s, struct buf *b);
void put_script(struct sim *s, struct buf *b, bool repairs);

#endif

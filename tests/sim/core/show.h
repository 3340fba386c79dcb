/*
 * show.h - a step for people: what came in, the events, the effects.
 */
#ifndef SIM_CORE_SHOW_H
#define SIM_CORE_SHOW_H

#include "sim.h"

extern const char *const input_names[];
void put_effect(struct buf *b, const struct effect *fx);
void show_input(struct sim *s, const struct input *in);
void show_line(struct sim *s, const struct line *line);
void show_effects(struct sim *s, const struct step *step);

#endif

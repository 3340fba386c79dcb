/*
 * plant_bend.h - bugs on purpose: tt decides from something that is not so.
 */
#ifndef SIM_CORE_PLANT_BEND_H
#define SIM_CORE_PLANT_BEND_H

#include "sim.h"

void bend_parallel(struct sim *s, struct turn *t, struct input *in);
void bend_turns(struct sim *s, struct turn *t, struct input *in);
void bend_cost(struct sim *s, struct turn *t, struct input *in);
void bend_tokens(struct sim *s, struct turn *t, struct input *in);
void bend_pause(struct sim *s, struct turn *t, struct input *in);
void bend_stop(struct sim *s, struct turn *t, struct input *in);
void bend_eager(struct sim *s, struct turn *t, struct input *in);
void bend_approve(struct sim *s, struct turn *t, struct input *in);
void bend_rules(struct sim *s, struct turn *t, struct input *in);
void bend_beside(struct sim *s, struct turn *t, struct input *in);
void bend_late(struct sim *s, struct turn *t, struct input *in);
void bend_pieces(struct sim *s, struct turn *t, struct input *in);
void bend_attempt(struct sim *s, struct turn *t, struct input *in);
void bend_schema(struct sim *s, struct turn *t, struct input *in);
void bend_window(struct sim *s, struct turn *t, struct input *in);
void bend_repair(struct sim *s, struct turn *t, struct input *in);
void bend_retry(struct sim *s, struct turn *t, struct input *in);
void bend_class(struct sim *s, struct turn *t, struct input *in);
void unbend(struct sim *s, struct step *step);

#endif

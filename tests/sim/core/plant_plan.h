/*
 * plant_plan.h - bugs on purpose, of plans and of forks.
 */
#ifndef SIM_CORE_PLANT_PLAN_H
#define SIM_CORE_PLANT_PLAN_H

#include "sim.h"

void repeat_action_end(struct sim *s, struct step *step);
void repeat_action_start(struct sim *s, struct step *step);
void forget_superseded_action(struct sim *s, struct step *step);
void miscount_plan(struct sim *s, struct step *step);
void start_another(struct sim *s, struct step *step);
void skip_for_nothing(struct sim *s, struct step *step);
void make_up_action(struct sim *s, struct step *step);
void forget_action_child(struct sim *s, struct step *step);
void lose_action(struct sim *s, struct step *step);
void run_action_twice(struct sim *s, struct step *step);
void bend_slots(struct sim *s, struct turn *t, struct input *in);
void bend_fewer(struct sim *s, struct turn *t, struct input *in);
void bend_holding(struct sim *s, struct turn *t, struct input *in);
void bend_effect(struct sim *s, struct turn *t, struct input *in);
void bend_files(struct sim *s, struct turn *t, struct input *in);
void edit_past(struct sim *s, struct step *step);
void edit_plan(struct sim *s, struct step *step);
void forget_after_fork(struct sim *s, struct step *step);

#endif

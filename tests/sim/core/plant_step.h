/*
 * plant_step.h - bugs on purpose: changing a step after it was decided.
 */
#ifndef SIM_CORE_PLANT_STEP_H
#define SIM_CORE_PLANT_STEP_H

#include "sim.h"

struct step_event **find_event(struct step *step, wend_event_type type);
void recount(struct sim *s, struct step *step);
void forget(struct sim *s, struct step *step, wend_event_type type);
void repeat(struct sim *s, struct step *step, wend_event_type type);
struct effect **find_effect(struct step *step, enum effect_kind kind);

#endif

/*
 * answers.h - who answers: calls, hooks, children, actions of plans.
 */
#ifndef SIM_CORE_ANSWERS_H
#define SIM_CORE_ANSWERS_H

#include "sim.h"

/* Texts that a model may write as arguments; the first few fit a schema. */
enum { ARGUMENTS = 19, ARGUMENTS_FITTING = 3 };

extern const wend_ev_part some_part;
wend_str some_text(struct sim *s);
wend_str numbered(struct sim *s, const char *what, unsigned n);
wend_str some_arguments(struct sim *s, uint32_t among);
void answer_call(struct sim *s, const struct out *o, struct input *in);
void answer_hook(struct sim *s, const struct out *o, struct input *in);
const struct reply *spoken(struct sim *s, uint32_t action);
void answer_action(struct sim *s, const struct out *o, struct input *in);
bool approve_action(struct sim *s, struct input *in);

#endif

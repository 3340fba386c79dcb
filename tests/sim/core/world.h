/*
 * world.h - what comes in: a model that streams, calls that answer, people
 * that speak, and everything late, twice, or about nothing.
 */
#ifndef SIM_CORE_WORLD_H
#define SIM_CORE_WORLD_H

#include "sim.h"

/* This run's providers keep to the maximum that a request has for its answer,
 * and count the input as it was estimated. */
bool is_honest(const struct sim *s);
void keep_action_to(struct sim *s, uint32_t action, wend_ev_usage *u);
void model_done(struct sim *s, struct input *in);
void model_fail(struct sim *s, struct input *in);
void answer_out(struct sim *s, struct out *o, struct input *in);
bool is_kind(const struct out *o, enum effect_kind kind);
struct out *pick_out(struct sim *s, enum effect_kind kind);
struct out *find_timer(struct sim *s, enum timer timer);
bool next_input(struct sim *s, struct input *in);

#endif

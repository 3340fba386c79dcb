/*
 * follow.h - a conversation: a run that follows another one.
 */
#ifndef SIM_CORE_FOLLOW_H
#define SIM_CORE_FOLLOW_H

#include "sim.h"

/* Whether the conversation has another run. */
bool may_follow(const struct sim *s);
/* The next run of it begins with the past of the one before, which is over, or
 * is closed here. */
void go_on_as_next(struct sim *s);

#endif

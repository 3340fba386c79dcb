/*
 * agent.h - random agents and moods: what a simulated run starts with.
 */
#ifndef SIM_CORE_AGENT_H
#define SIM_CORE_AGENT_H

#include "sim.h"

enum { TOOLS_IN_SIM = 6 };

void make_start(struct sim *s);
void make_mood(struct sim *s);

#endif

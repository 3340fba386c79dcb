/*
 * laws_client.h - the law of calls that the caller of a run executes.
 */
#ifndef SIM_CORE_LAWS_CLIENT_H
#define SIM_CORE_LAWS_CLIENT_H

#include "sim.h"

void law_client(struct sim *s, const wend_event *ev, const char *name);

#endif

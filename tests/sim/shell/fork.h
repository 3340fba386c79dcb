/*
 * fork.h - runs that share the past of others.
 */
#ifndef SIM_SHELL_FORK_H
#define SIM_SHELL_FORK_H

#include "sim.h"

struct known *pick_run(struct sim *s);
wend_filter some_filter(struct sim *s);
void fork_more(struct sim *s, const struct known *k, wend_fork_options *fork,
               wend_fork_result *result, char id[80]);
void act_fork(struct sim *s);
void act_retry(struct sim *s);

#endif

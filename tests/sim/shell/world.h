/*
 * world.h - what is around the library: models, tools, hooks, agents.
 */
#ifndef SIM_SHELL_WORLD_H
#define SIM_SHELL_WORLD_H

#include "sim.h"

extern struct sim *sim_now;
int64_t env_clock(void *ctx);
int64_t env_wall(void *ctx);
void on_stuck(struct world *w);
struct known *known_by_session(struct sim *s, const struct session *x);
void answer(struct sim *s, wend_call *call);
wend_status tool(void *ctx, wend_call *call);
wend_hook_answer hook(void *ctx, wend_hook *h);
extern char pins_file[256];
void make_agents(struct sim *s);

#endif

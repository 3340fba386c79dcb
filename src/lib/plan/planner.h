/*
 * planner.h - plans that a model writes. Only for src/lib.
 */
#ifndef LIB_PLANNER_H
#define LIB_PLANNER_H

#include "lib/run/lib.h"

/* Members of a config: what the model is told, what its plans may name. */
wend_status planner_put(const wend_agent *a, struct buf *b, wend_error *err);
/* The tool `plan`, after the agent's own. */
void planner_put_tool(const wend_agent *a, struct buf *b);
/* After a piece of a call's arguments: an action of a plan may be complete. */
void planner_look(struct wend_run *r, int64_t ask, int call);

#endif

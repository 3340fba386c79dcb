/*
 * plan_draw.h - a plan for people: its numbers, and its graph in lines.
 */
#ifndef CLI_PLAN_DRAW_H
#define CLI_PLAN_DRAW_H

#include "cli/view/plan_cost.h"

struct plan_look {
    size_t columns;
    bool lines;  /* draw the graph; else list dependencies by name */
    bool colour; /* for critical actions */
    struct plan_cost cost;
};

/* `plan` is the JSON of wend_plan_describe. */
void plan_draw(struct buf *out, const struct json *plan,
               const struct plan_look *look);

#endif

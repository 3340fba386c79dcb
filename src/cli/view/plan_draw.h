/*
 * plan_draw.h - a plan for people: its numbers and its graph in lines.
 */
#ifndef CLI_PLAN_DRAW_H
#define CLI_PLAN_DRAW_H

#include "cli/view/plan_cost.h"

struct plan_look {
    size_t columns;
    bool lines;  /* draw the graph; else name what each waits for */
    bool colour; /* of what is critical */
    struct plan_cost cost;
};

/* `plan` is what wend_plan_describe says of it as JSON. */
void plan_draw(struct buf *out, const struct json *plan,
               const struct plan_look *look);

#endif

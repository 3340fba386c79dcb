/*
 * plan_draw.h - a plan for people: its numbers, its cost, its graph in lines.
 */
#ifndef CLI_PLAN_DRAW_H
#define CLI_PLAN_DRAW_H

#include "base/json.h"
#include "cli/cli.h"

/* The maximum cost of its model calls. Prompts are known only at run time, so
 * this is an upper bound: full windows, the longest answers, every allowed
 * attempt. Model calls of agents are not bounded in this way, and count as
 * calls without a price. */
struct plan_cost {
    uint32_t asked;  /* actions that call models */
    uint32_t priced; /* those of them that the sum includes */
    int64_t most_nano;
};

/* `plan` is the JSON of wend_plan_describe. Prints its own errors and
 * returns 0 or an exit code. */
int plan_cost(struct cli *cli, const struct json *plan, struct plan_cost *out);

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

/*
 * plan_cost.h - the maximum cost of a plan's model calls.
 */
#ifndef CLI_PLAN_COST_H
#define CLI_PLAN_COST_H

#include "base/json.h"
#include "cli/cli.h"

struct plan_cost {
    uint32_t asked;    /* actions that call models */
    uint32_t priced;   /* those of them that the sum includes */
    int64_t most_nano; /* USD * 10^-9: full windows, longest answers, all
                        * attempts */
};

/* `plan` is the JSON of wend_plan_describe. Prints its own errors and
 * returns 0 or an exit code. */
int plan_cost(struct cli *cli, const struct json *plan, struct plan_cost *out);

#endif

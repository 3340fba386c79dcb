/*
 * plan_cost.h - the most that a plan's questions to models can cost.
 */
#ifndef CLI_PLAN_COST_H
#define CLI_PLAN_COST_H

#include "base/json.h"
#include "cli/cli.h"

struct plan_cost {
    uint32_t asked;    /* actions that ask models */
    uint32_t priced;   /* of them, those that the sum is about */
    int64_t most_nano; /* USD * 10^-9: full windows, longest answers, all
                        * attempts */
};

/* `plan` is what wend_plan_describe says of it as JSON. Says what is wrong
 * itself; 0 or an exit code. */
int plan_cost(struct cli *cli, const struct json *plan, struct plan_cost *out);

#endif

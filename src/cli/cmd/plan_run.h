/*
 * plan_run.h - wend plan run.
 */
#ifndef CLI_PLAN_RUN_H
#define CLI_PLAN_RUN_H

#include "cli/cli.h"

int plan_run(struct cli *cli); /* runs cli->plan */

#endif

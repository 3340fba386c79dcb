/*
 * plan_run.h - wend plan run.
 */
#ifndef CLI_PLAN_RUN_H
#define CLI_PLAN_RUN_H

#include "cli/cli.h"

int plan_run(struct cli *cli, const char *path);

/* cmd_plan.c: reads the plan of a file, with --set; prints errors. */
int plan_load(struct cli *cli, const char *path, wend_plan **out);

#endif

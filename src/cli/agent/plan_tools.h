/*
 * plan_tools.h - the tools of a plan: files in the folder tools beside it.
 */
#ifndef CLI_PLAN_TOOLS_H
#define CLI_PLAN_TOOLS_H

#include "cli/cli.h"

/* Whether tools/NAME.yaml beside the plan describes it; then it is among
 * cli->plan_tools. What is wrong with the file is added to `wrong`. */
bool plan_tools_know(struct cli *cli, wend_str plan, wend_str name,
                     struct buf *wrong);
/* Whether it is among them already. */
bool plan_tools_have(const struct cli *cli, wend_str name);
/* Offers cli->plan_tools. What is wrong is said; 0 or an exit code. */
int plan_tools_add(struct cli *cli, wend_agent *agent);

#endif

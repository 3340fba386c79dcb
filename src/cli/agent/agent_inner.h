/*
 * agent_inner.h - agents inside others: those that are given tasks.
 */
#ifndef CLI_AGENT_INNER_H
#define CLI_AGENT_INNER_H

#include "cli/agent/agent_file.h"
#include "cli/cli.h"

/* The agent of that file, under the name, for the parent. What is wrong is
 * said; 0 or an exit code. */
int agent_inner(struct cli *cli, wend_agent *parent, const char *name,
                const struct agent_file *f);
/* Those that cli->agent's file names, and the tool to give them tasks. */
int agents_add(struct cli *cli, wend_agent *agent);

#endif

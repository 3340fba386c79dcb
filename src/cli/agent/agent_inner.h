/*
 * agent_inner.h - agents that a plan names.
 */
#ifndef CLI_AGENT_INNER_H
#define CLI_AGENT_INNER_H

#include "cli/cli.h"

/* The agent of that file, under the name, for the parent. What is wrong is
 * said; 0 or an exit code. */
int agent_inner(struct cli *cli, wend_agent *parent, const char *name,
                const wend_manifest *m);

#endif

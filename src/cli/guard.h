/*
 * guard.h - which files the agent itself is made of.
 *
 * A model that may write could change what it is told, which programs its
 * tools are, or the log, for this run or the next: these files are asked
 * about as those of version control are.
 */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

#include "cli/cli.h"

/* Sets o->guarded; an exit status. */
int agent_guard(struct cli *cli, wend_agent_options *o);

#endif

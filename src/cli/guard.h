/*
 * guard.h - finds the files that define the agent.
 *
 * A model with write access could change its own instructions, the programs of
 * its tools, or the log, for this run or the next: writing these files
 * requires approval like writing files of version control.
 */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

#include "cli/cli.h"

/* Sets o->guarded; an exit status. */
int agent_guard(struct cli *cli, wend_agent_options *o);

#endif

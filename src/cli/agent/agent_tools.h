/*
 * agent_tools.h - the tools that options name: -t, --tools, --approve.
 */
#ifndef CLI_AGENT_TOOLS_H
#define CLI_AGENT_TOOLS_H

#include "cli/cli.h"

/* These say what is wrong themselves; 0 or an exit code. */
int tools_load(struct cli *cli); /* the files of --tools */
/* A rule of --approve; one with a misspelled name would protect nothing. */
int tools_check_rule(struct cli *cli, const char *rule,
                     const char *const *modes, int modes_count);
/* Tools, programs and servers of the settings for an agent that is made. */
int tools_fill(struct cli *cli, wend_load_options *o);

#endif

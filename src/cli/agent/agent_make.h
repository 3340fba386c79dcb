/*
 * agent_make.h - the agent of a run, from the settings and its file.
 */
#ifndef CLI_AGENT_MAKE_H
#define CLI_AGENT_MAKE_H

#include "cli/cli.h"

/* Whether somebody is to be asked is in *asks. What is wrong is said. */
int agent_make(struct cli *cli, wend_agent **agent, bool *asks);

/* What --approve says, with what is remembered; *allow_rest is for
 * wend_load_options. */
int agent_approve(struct cli *cli, wend_agent_options *o, bool *asks,
                  bool *allow_rest);

#endif

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

/* What the settings and the agent's file say, for wend_agent_load. */
int agent_fill(struct cli *cli, wend_load_options *load, wend_agent_options *o,
               bool *asks);
/* Says why there is no agent, and where in the file if that is a schema's. */
int agent_not_made(struct cli *cli, wend_status s, const wend_error *err);

#endif

/*
 * chat.h - which conversation a command continues.
 */
#ifndef CLI_CHAT_H
#define CLI_CHAT_H

#include "cli/cli.h"

/* Refuses options that do not apply to a conversation that is continued. */
int conversation_check(const struct cli *cli);

/* Finds the newest run that is over and that another one can follow: not a
 * plan, a child or an imported run. Of the session and user of the settings;
 * without a session, one of this directory. Prints what is wrong and returns 0
 * or an exit code. */
int conversation_find(struct cli *cli, struct found *out);

/* Makes cli->made: the agent of that run, with what the command line gives. `o`
 * gets what wend_run_follow needs to know of it. */
int conversation_agent(struct cli *cli, const struct found *last,
                       wend_run_options *o);

#endif

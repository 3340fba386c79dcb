/*
 * again.h - the agent of a run, made again from what its log says.
 */
#ifndef CLI_AGAIN_H
#define CLI_AGAIN_H

#include "cli/cli.h"

/* 0 or an exit code; what is wrong has been said. Goes to the directory of
 * the run. *asks: calls of it may wait for an answer. */
int again_agent(struct cli *cli, const char *id, wend_agent **agent,
                bool *asks);

#endif

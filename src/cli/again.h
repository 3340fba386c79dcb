/*
 * again.h - the agent of a run, made again from what its log says.
 */
#ifndef CLI_AGAIN_H
#define CLI_AGAIN_H

#include "cli/cli.h"

/* How it differs from what the log says; NULL: not at all. */
struct again {
    int64_t at;    /* the last event that counts; 0 = the newest */
    uint32_t take; /* WEND_FORK_ bits: what the settings say instead */
};

/* 0 or an exit code; what is wrong has been said. Goes to the directory of
 * the run. */
int again_agent(struct cli *cli, const char *id, const struct again *how,
                wend_agent **agent);

#endif

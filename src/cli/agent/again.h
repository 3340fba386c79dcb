/*
 * again.h - the agent of a run, made again from what its log says.
 */
#ifndef CLI_AGAIN_H
#define CLI_AGAIN_H

#include "cli/cli.h"
#include "cli/view/view.h"

struct again {
    int64_t at;        /* the last event that counts; 0 = the newest */
    uint32_t take;     /* WEND_FORK_ bits: what the settings say instead */
    bool imported;     /* the run is: its log says nothing ... */
    bool trust_log;    /* out: ... but the user lets it */
    struct view *view; /* is given the past; out: NULL, if it was */
};

/* 0 or an exit code; what is wrong has been said. Goes to the directory of
 * the run, unless it was imported and the user does not trust its log. */
int again_agent(struct cli *cli, const char *id, struct again *how,
                wend_agent **agent);

#endif

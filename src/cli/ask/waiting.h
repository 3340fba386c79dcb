/*
 * waiting.h - the calls and actions of a run that wait for approval, by its
 * log: for those who answer from another process.
 */
#ifndef CLI_WAITING_H
#define CLI_WAITING_H

#include "cli/cli.h"

enum { WAITING_MAX = 64 };

struct waiting_call {
    wend_event *ask;
    char run[40]; /* that waits: the run or a descendant */
};

struct waiting {
    struct waiting_call list[WAITING_MAX]; /* oldest first */
    size_t count;
    size_t from;     /* those of the log that is read begin here */
    struct buf cwd;  /* of the run */
    struct buf why;  /* arguments were refused: the newest reason ... */
    int64_t refused; /* ... and its event; 0: none */
};

/* Reads the log of a run, again if it was read before. Prints its own errors
 * and returns 0 or an exit code. */
int waiting_find(struct cli *cli, const char *id, struct waiting *w);
/* Adds the calls of its descendants. */
int waiting_find_below(struct cli *cli, const char *id, struct waiting *w);
void waiting_free(struct waiting *w);

/* NULL: it does not wait. */
const wend_event *waiting_call(const struct waiting *w, const char *call);
/* Prints what waits, one call in full and several as a table, and how to answer
 * it. There is at least one. */
int waiting_print(const struct cli *cli, const struct waiting *w);

#endif

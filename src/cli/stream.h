/*
 * stream.h - the loop: a run, its readers, the keyboard and the signals.
 */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include "cli/view/view.h"

struct stream {
    struct cli *cli;
    wend_run *run;
    struct view *view;
    bool live; /* a run of our own: it can be canceled ... */
    bool asks; /* ... and may ask at the terminal */
};

/* Before a run goes on: what there is of it, up to the event `to` (0 = all),
 * has been shown. 0 or an exit code. */
int stream_past(struct stream *st, const char *id, int64_t to);
/* To the end of the run and of the output. Returns the exit code. */
int stream_go(struct stream *st);
int exit_of_outcome(wend_outcome outcome);

#endif

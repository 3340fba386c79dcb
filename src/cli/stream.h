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
    bool live; /* a run of this process: it can be canceled ... */
    bool asks; /* ... and may ask on the terminal */
};

/* Shows the events of a run up to `to` (0 = all) before it continues.
 * Returns 0 or an exit code. */
int stream_past(struct stream *st, const char *id, int64_t to);
/* Runs to the end of the run and of the output. Returns the exit code. */
int stream_go(struct stream *st);
int exit_of_outcome(wend_outcome outcome);

#endif

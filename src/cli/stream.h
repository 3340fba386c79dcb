/*
 * stream.h - the loop: a run, its readers, the keyboard and the signals.
 */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include "cli/view.h"

struct stream {
    struct cli *cli;
    wend_run *run;
    struct view *view;
    bool live; /* a run of our own: it can be canceled ... */
    bool asks; /* ... and may ask at the terminal */
};

/* To the end of the run and of the output. Returns the exit code. */
int stream_go(struct stream *st);
int exit_of_outcome(wend_outcome outcome);

#endif

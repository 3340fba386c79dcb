/*
 * stream.h - the loop: a run, its readers, the keyboard and the signals.
 */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include "cli/view/view.h"

struct stream;

/* A person who types while the run goes on. */
struct typist {
    int fd;
    /* Reads keys, or takes those that were read already. False: leave at
     * once. */
    bool (*read)(void *ctx, struct stream *st, wend_str keys);
    void (*lay)(void *ctx, struct view *v); /* view.typed, for its width */
    void *ctx;
};

struct stream {
    struct cli *cli;
    wend_run *run;
    struct view view;
    const char *file; /* of --output; NULL: none */
    bool live;        /* a run of this process: it can be canceled ... */
    bool asks;        /* ... and may ask on the terminal */
    const struct typist *typist; /* NULL: none */
};

/* Opens its view: what --json and --events select. Returns 0 or an exit code,
 * after which there is nothing to close. */
int stream_open(struct stream *st);
void stream_close(struct stream *st); /* the run and the view */
/* The same for a new run: also opens the runtime and makes the agent. */
int stream_new(struct stream *st);

/* Shows the events of a run up to `to` (0 = all) before it continues.
 * Returns 0 or an exit code. */
int stream_past(struct stream *st, const char *id, int64_t to);
/* Runs to the end of the run and of the output. Returns the exit code. */
int stream_go(struct stream *st);
/* The same if `s` is WEND_OK, else reports it; then closes the stream. */
int stream_run(struct stream *st, wend_status s);
int exit_of_outcome(wend_outcome outcome);

#endif

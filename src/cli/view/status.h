/*
 * status.h - what a run does at the moment, in one line.
 */
#ifndef CLI_STATUS_H
#define CLI_STATUS_H

#include "base/str.h"

enum { STATUS_CALLS_MAX = 8 }; /* that are named; more are counted */

/* A call that is active. */
struct status_call {
    char id[64], text[160]; /* name and arguments */
    int64_t began_us;
};

struct status {
    enum {
        STATUS_NONE,
        STATUS_ASKS,   /* a request was sent */
        STATUS_THINKS, /* the model thinks */
        STATUS_WRITES, /* its text arrives */
        STATUS_WAITS,  /* before the next attempt */
    } now;
    int64_t since_us, until_us; /* of `now` */
    bool compacts;              /* the request is for a summary */
    bool paused;                /* after what is in progress */
    char model[64], pause_by[40];
    struct status_call calls[STATUS_CALLS_MAX];
    size_t named;             /* in `calls` */
    size_t calls_count;       /* may be more */
    struct status_call ended; /* the newest of those that were named */
    int64_t tokens_in, tokens_out;
    int64_t cost_nano;       /* -1: not known */
    int64_t context, window; /* tokens of the newest request; 0: not known */
};

void status_event(struct status *s, const wend_event *ev);
/* Rows for the active calls and what the model does; none if nothing is to
 * be waited for. */
void status_put(const struct status *s, struct buf *out, size_t width,
                size_t rows, int64_t now_us);
/* "1.2k + 300 tokens, $0.0031" */
void status_used(struct buf *out, int64_t in, int64_t made, int64_t nano);
/* "3 turns, 2 calls, 1.2k + 300 tokens, $0.0031, 4.2 s" */
void status_sum(struct buf *out, const wend_ev_metrics *m);

#endif

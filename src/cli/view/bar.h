/*
 * bar.h - something that began and ended, and its bar in a picture of time.
 *
 * Timelines and the waterfall of a plan are made of bars.
 */
#ifndef CLI_BAR_H
#define CLI_BAR_H

#include "base/str.h"

struct bar {
    wend_str id, name;
    int64_t began_us, ended_us; /* ended 0: it is active */
    wend_outcome outcome;       /* NONE: it has no end */
    bool given;                 /* the run that was forked did it */
};

/* The time that a picture shows. */
struct bar_scale {
    int64_t began_us, ended_us;
};

/* Where a time is in the picture, from 0 to `length`. */
double bar_place(const struct bar_scale *s, int64_t time_us, double length);
/* In a line of `columns` cells; at least one is full. */
void bar_put(struct buf *b, const struct bar *bar, const struct bar_scale *s,
             size_t columns, const char *full, const char *empty);

const char *bar_outcome(wend_outcome o); /* "no end" for NONE */
/* A state for people: "waiting" is "waits for you", "no-end" is "no end". */
void bar_put_state(struct buf *b, wend_str state);
/* 950ms, 12.5s; right-aligned in `columns`. */
void bar_put_time(struct buf *b, int64_t ms, int columns);

#endif

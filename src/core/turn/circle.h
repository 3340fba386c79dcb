/*
 * circle.h - a model that goes round in circles, found from the results of its
 * calls alone.
 *
 * Three rules look at the newest calls:
 *
 *     the same call with the same result   3 times: a note to the model; 5
 *                                          times: it shall finish; 8 times: the
 *                                          run ends (limit loop)
 *     outputs that repeat                  5 of the newest 10 are the same one:
 *                                          a note; all 10: it shall finish
 *     calls that fail                      over half of the newest 10, once
 *                                          there are 6: a note; still so 6
 *                                          calls later: it shall finish
 *
 * Each note is also a warning. A result counts once a turn, however often the
 * same message asks for it.
 */
#ifndef CORE_CIRCLE_H
#define CORE_CIRCLE_H

#include "base/str.h"

enum {
    CIRCLE_WINDOW = 10, /* of results, outputs and failures that are kept */
    CIRCLE_SAME_NOTE = 3,
    CIRCLE_SAME_FINISH = 5,
    CIRCLE_SAME_END = 8,
    CIRCLE_OUTPUTS_NOTE = 5,
    CIRCLE_OUTPUT_BYTES = 32, /* shorter ones ("ok") repeat by nature */
    CIRCLE_FAILURES_MIN = 6,  /* calls, before a rate says something */
};

enum circle_level { CIRCLE_NONE, CIRCLE_NOTE, CIRCLE_FINISH, CIRCLE_END };
enum circle_rule { CIRCLE_SAME, CIRCLE_OUTPUTS, CIRCLE_FAILURES, CIRCLE_RULES };

struct circle_seen {
    uint64_t hash;
    int64_t turn;   /* of the newest one */
    uint32_t count; /* turns that had it */
};

/* Evolved by the results of calls; zero at first. */
struct circle {
    struct circle_seen
        results[CIRCLE_WINDOW]; /* different ones, newest first */
    struct circle_seen outputs[CIRCLE_WINDOW]; /* of calls, newest first; a
                                              count of 0: too short, or none */
    uint32_t failed; /* bit i: the ith newest call did */
    uint32_t calls;  /* at most CIRCLE_WINDOW */
    uint32_t since;  /* calls since the note about failures */
    enum circle_level told[CIRCLE_RULES]; /* of what holds now */
    /* What this turn has found, the worst of it. */
    enum circle_level due;
    enum circle_rule rule;
    uint32_t count, of; /* times, of how many */
    wend_str tool;      /* of its newest call */
};

/* One more result. result: the hash of a call and all that came of it. */
struct circle_call {
    wend_str tool; /* kept with the turn */
    uint64_t result, output;
    size_t output_bytes;
    int64_t turn;
    bool failed;
};

void circle_add(struct circle *l, const struct circle_call *c);
/* What is due, for people; and for the model. Appends. */
void circle_text(const struct circle *l, struct buf *out);
void circle_note(const struct circle *l, struct buf *out);

#endif

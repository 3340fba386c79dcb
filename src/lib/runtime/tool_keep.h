/*
 * tool_keep.h - what an agent keeps of a tool's calls: when they began, and
 * what they answered.
 */
#ifndef LIB_TOOL_KEEP_H
#define LIB_TOOL_KEEP_H

#include "base/str.h"

/* ---- Pace: a maximum number of calls per minute -------------------------- */

struct pace {
    int64_t *begun_us; /* the newest `count` beginnings, a ring */
    uint32_t count, at;
};

/* Reserves a place: when a call that is asked for now may begin. */
int64_t pace_take(struct pace *p, int64_t now_us);

/* ---- Answers that are reused --------------------------------------------- */

struct kept_answer {
    struct kept_answer *next;
    int64_t until_us;
    wend_str args, output; /* in the same block */
    uint32_t labels;       /* wend_label of the run that asked first */
};

struct answers {
    struct kept_answer *newest;
    uint32_t count;
    size_t bytes;
};

/* The answer to these arguments if it is not too old; lent. NULL: none. */
const struct kept_answer *answers_find(const struct answers *a, wend_str args,
                                       int64_t now_us);
/* Too long ones are not kept; nor is anything when out of memory. */
void answers_keep(struct answers *a, const struct mem *m, wend_str args,
                  wend_str output, uint32_t labels, int64_t until_us);
void answers_free(struct answers *a, const struct mem *m);

#endif

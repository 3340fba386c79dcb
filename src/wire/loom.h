/*
 * loom.h - the loom dialect: native events in, loom records out.
 *
 * A record is one JSON line: type, timestamp, phase, content, tool_call,
 * tool_result, error, metadata, iteration, turn_id, in this order; what has
 * no value is left out. Records may be held back until their place in
 * loom's order is known: tools come after the message that asked for them,
 * and the last turn of a run has no iteration_end.
 */
#ifndef WIRE_LOOM_H
#define WIRE_LOOM_H

#include "base/str.h"

struct loom_call;

/* One run. */
struct loom {
    const struct mem *mem;
    struct arena calls_arena; /* what is known about this turn's calls */
    struct loom_call *calls;
    struct buf calls_held;         /* records, while the model still speaks */
    struct buf iteration_end_held; /* until the next turn or none follows */
    struct buf turn_id, correlation_id;
    int64_t iteration; /* -1 before the first turn */
    int64_t budget_tokens, turns_max, parallel_max;
    int64_t recoveries; /* attempts whose outcome is open */
    bool in_model;
};

void loom_init(struct loom *l, const struct mem *m); /* m is borrowed */
/* Appends zero or more lines. A failed allocation sticks in out->failed. */
void loom_event(struct loom *l, const wend_event *ev, struct buf *out);
void loom_free(struct loom *l);

#endif

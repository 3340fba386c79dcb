/*
 * dialect.h - another vocabulary: native events in, its records out.
 *
 * A record is one JSON line. A dialect is pure: the same events give the
 * same bytes. It keeps a few counters, and may hold records back until their
 * place in its order is known; in all of them, calls that start while their
 * message still streams come after it.
 *
 * loom: type, timestamp, phase, content, tool_call, tool_result, error,
 * metadata, iteration, turn_id, in this order; what has no value is left
 * out. The last turn of a run has no iteration_end.
 *
 * agio: type, run_id, timestamp (ISO 8601), data, metadata. Steps count from
 * 1; a step is completed after the snapshot of its metrics.
 *
 * cortex: event_type, timestamp, data, action_id, action_name; the last two
 * are null where it is about no action. Iterations count from 1; a plan file
 * is one, else a turn is. A tool call is an action; a call that writes a plan
 * is none, the actions of the plan are. Each action ends in one record,
 * action_completed (status completed or skipped) or action_failed.
 */
#ifndef WIRE_DIALECT_H
#define WIRE_DIALECT_H

#include "base/str.h"

struct dialect {
    const char *name;
    size_t size; /* of its state, for one run */
    /* m is borrowed; verbose: debug records, too, if it has such. */
    void (*init)(void *state, const struct mem *m, bool verbose);
    /* Appends zero or more lines. A failed allocation sticks in
     * out->failed. */
    void (*event)(void *state, const wend_event *ev, struct buf *out);
    void (*free)(void *state);
};

extern const struct dialect dialect_loom, dialect_agio, dialect_cortex;

/* A stream of one run's events, of any of them. */
struct dialect_stream {
    const struct dialect *dialect;
    const struct mem *mem;
    void *state;
};

bool dialect_open(struct dialect_stream *s, const struct dialect *d,
                  const struct mem *m, bool verbose); /* false: no memory */
void dialect_event(struct dialect_stream *s, const wend_event *ev,
                   struct buf *out);
void dialect_close(struct dialect_stream *s); /* also if it never was open */

#endif

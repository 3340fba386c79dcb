/*
 * agio.h - the agio dialect: native events in, agio records out.
 *
 * A record is one JSON line: type, run_id, timestamp (ISO 8601), data and
 * metadata. Steps count from 1. Records may be held back until their place
 * in agio's order is known: tools come after the message that asked for
 * them, and a step is completed after the snapshot of its metrics.
 */
#ifndef WIRE_AGIO_H
#define WIRE_AGIO_H

#include "base/str.h"

/* One run. */
struct agio {
    bool verbose;          /* debug records, too */
    struct buf calls_held; /* while the model still speaks */
    struct buf step_held;  /* step_completed, until the metrics are told */
    struct buf cancel_by;
    int64_t step; /* 0 before the first */
    int64_t step_began_us;
    bool in_model;
};

void agio_init(struct agio *a, const struct mem *m); /* m is borrowed */
/* Appends zero or more lines. A failed allocation sticks in out->failed. */
void agio_event(struct agio *a, const wend_event *ev, struct buf *out);
void agio_free(struct agio *a);

#endif

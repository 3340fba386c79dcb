/*
 * record.h - what the records of all dialects share.
 */
#ifndef WIRE_RECORD_H
#define WIRE_RECORD_H

#include "base/json.h"

/* How a call went, for metadata: what has no member of its own and a reader
 * may still want to know. */
void record_fate(struct buf *b, wend_outcome outcome, bool truncated,
                 bool cached);
/* Lines that were held back, and none are held any more. */
void record_let_go(struct buf *held, struct buf *out);

/* Calls may start while their message still streams: their records wait for
 * its end. */
struct record_calls {
    struct buf held;
    struct buf open; /* hashes of calls and actions that are told as begun */
    bool in_model;   /* a turn's; that of an action has no calls */
};

void record_calls_init(struct record_calls *c, const struct mem *m);
void record_calls_free(struct record_calls *c);
/* An attempt that a crash cut off and the one that follows it are one call to
 * the reader. False: its start was told. */
bool record_calls_begin(struct record_calls *c, const wend_event *ev);
/* False: the attempt is superseded, and there is no result to tell. */
bool record_calls_end(struct record_calls *c, const wend_event *ev);

/* Where a record about a call goes. */
struct buf *record_calls_out(struct record_calls *c, struct buf *out);
/* At model_start, and after the records of model_end. */
void record_calls_model(struct record_calls *c, const wend_event *ev,
                        struct buf *out);

#endif

/*
 * record.h - the members of a dialect's records, written one by one.
 *
 * A comma comes where one is due. A string that is absent is left out with
 * its name.
 */
#ifndef WIRE_RECORD_H
#define WIRE_RECORD_H

#include "base/json.h"

void record_key(struct buf *b, const char *name);
void record_str(struct buf *b, const char *name, wend_str s);
void record_i64(struct buf *b, const char *name, int64_t n);
void record_f64(struct buf *b, const char *name, double d);
void record_bool(struct buf *b, const char *name, bool yes);
void record_open(struct buf *b, const char *name); /* an object */
void record_close(struct buf *b);
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

/*
 * pack.h - deltas in the log: many in one record, each with its boundary.
 *
 * A pack is JSON text so that people can read it in the database:
 *     [time_us,["x",0,"Hel"],["x",2100,"lo"],["a",15,"{\"pa","call_1"]]
 * kind (k thinking, x text, a args, o call output, p action output),
 * microseconds since the one before, text, then call, action and branch as
 * far as they are present (null in front of a later one).
 */
#ifndef STORE_PACK_H
#define STORE_PACK_H

#include "base/json.h"

/* Zero-initialise with body.mem set; reuse with pack_clear. */
struct pack {
    struct buf body; /* open until pack_close */
    int64_t seq, n, count;
    int64_t time_us; /* of the newest delta */
    size_t text_bytes;
};

/* Adds a delta; the first one gives seq and n. Failure sticks in body. */
void pack_add(struct pack *p, const wend_event *delta);
wend_str pack_close(struct pack *p); /* the record, lent */
void pack_clear(struct pack *p);

/* Calls fn for each delta of a record with type, time, n, seq and payload
 * set; the caller adds run and turn. WEND_E_CORRUPT if it is no pack;
 * stops early without error when fn returns false. */
typedef bool (*pack_fn)(void *ctx, wend_event *delta);
wend_status pack_read(wend_str body, int64_t seq, int64_t n,
                      struct arena *scratch, pack_fn fn, void *ctx,
                      wend_error *err);

#endif

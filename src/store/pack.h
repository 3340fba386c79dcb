/*
 * pack.h - deltas in the log: many in one record, each with its boundary.
 *
 * A pack is JSON text so that people can read it in the database: a time,
 * then a list for each run of deltas of one kind,
 *     [time_us,["x","Hello",[3,0,2,2100]],["a","{\"pa",[4,15],"call_1"]]
 * with the kind (k thinking, x text, a args, o call output, p action
 * output), their text in one piece, for each of them its bytes and the
 * microseconds since the one before, then call, action and branch as far
 * as they are present (null in front of a later one).
 */
#ifndef STORE_PACK_H
#define STORE_PACK_H

#include "base/json.h"

enum { PACK_IDS = 3 }; /* call, action, branch */

struct pack {
    struct buf body;        /* closed lists */
    struct buf text, marks; /* of the open list */
    struct buf ids[PACK_IDS];
    bool has_id[PACK_IDS];
    wend_event_type type; /* of the open list */
    int64_t seq, n, count;
    int64_t time_us; /* of the newest delta */
    size_t text_bytes;
    bool failed;
};

void pack_init(struct pack *p, const struct mem *m);
void pack_free(struct pack *p);
/* Adds a delta; the first one gives seq and n. False: out of memory. */
bool pack_add(struct pack *p, const wend_event *delta);
/* Ends the record and hands it over: *body is the caller's, from mem. The
 * pack is as new. False: out of memory, all is lost. */
bool pack_close(struct pack *p, wend_str *body);

/* Calls fn for each delta of a record with type, time, n, seq and payload
 * set; the caller adds run and turn. WEND_E_CORRUPT if it is no pack;
 * stops early without error when fn returns false. */
typedef bool (*pack_fn)(void *ctx, wend_event *delta);
wend_status pack_read(wend_str body, int64_t seq, int64_t n,
                      struct arena *scratch, pack_fn fn, void *ctx,
                      wend_error *err);

#endif

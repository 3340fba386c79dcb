/*
 * past.h - the log of a run, read once for all that need it. Only for src/lib.
 */
#ifndef LIB_PAST_H
#define LIB_PAST_H

#include "lib/runtime/runtime.h"
#include "store/store.h"

struct past_log; /* its items, as the store gives them */

struct past_reader {
    int64_t to;     /* the last event that counts; 0 = the newest */
    uint64_t types; /* bit per wend_event_type: what fn wants */
    /* Called outside the store. False: enough. */
    bool (*fn)(void *ctx, const wend_event *ev);
    void *ctx;
};

/* Reads the log, and checks its chain. *out is NULL where it is too large to
 * be kept. WEND_E_CORRUPT: fn was given what is before the damage. */
wend_status past_read(wend_runtime *rt, const char *id,
                      const struct past_reader *reader, struct past_log **out,
                      wend_error *err);
/* Gives all items, in order, until fn says false; nothing if the log is of
 * another run, or NULL. */
void past_feed(const struct past_log *log, const char *id, store_item_fn fn,
               void *ctx);
void past_free(struct past_log *log); /* of NULL nothing */

#endif

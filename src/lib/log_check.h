/*
 * log_check.h - a log read item by item: whether it is as it was written.
 *
 * The store's rows and the lines of an exported run go through the same
 * checks: the chain of hashes, numbers without gaps, events and packs that
 * can be read, blobs that are what their hash says.
 */
#ifndef LIB_LOG_CHECK_H
#define LIB_LOG_CHECK_H

#include "core/event.h"
#include "store/store.h"

struct log_check {
    wend_str run;
    event_blob_fn blob;
    void *blob_ctx;
    struct arena arena; /* of the item; set its mem */
    struct chain chain;
    int64_t seq; /* newest good event */
    int64_t n;   /* newest good delta after it */
    int64_t time_us;
    bool over;          /* a run_end was read */
    wend_event ev;      /* the newest, until the next item */
    wend_status status; /* WEND_E_CORRUPT or _NOMEM once an item was bad */
    char why[300];
};

/* False: the item after event c->seq is bad, and c says why. */
bool log_check_item(struct log_check *c, const struct store_item *item);
/* Says that it is bad; returns false. */
bool log_check_bad(struct log_check *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void log_check_free(struct log_check *c);

/* An event_blob_fn; ctx is a wend_store. Checks the hash. */
wend_status log_blob(void *ctx, wend_str hash, struct arena *a, wend_str *text);
bool log_blob_fits(wend_str hash, wend_str text);

#endif

/*
 * log.h - a log read item by item: whether it is as it was written.
 *
 * The store's rows and the lines of an exported run go through the same
 * checks: the chain of hashes, numbers without gaps, events and packs that
 * can be read, blobs that are what their hash says.
 */
#ifndef LIB_LOG_CHECK_H
#define LIB_LOG_CHECK_H

#include "base/id.h"
#include "core/event/event.h"
#include "store/store.h"

/* What lists say of a run from its beginning on; strings in an arena. */
struct log_birth {
    struct store_birth b;
    int64_t seq; /* of the event that says so: run_start or run_fork */
    bool open;   /* more of a fork's birth may follow */
};

struct log_check {
    wend_str run;               /* a fork's log begins with events of others */
    char owner[RUN_ID_LEN + 1]; /* whose the newest good event is */
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
/* At the end of the log: whether it came to events of the run itself. */
bool log_check_own(struct log_check *c);
void log_check_free(struct log_check *c);

/* Event by event; a->failed if there is no memory. */
void log_birth_note(struct log_birth *birth, const wend_event *ev,
                    struct arena *a);

/* The run that holds event seq of this one: itself, or of a fork an ancestor
 * whose past it shares. */
wend_status log_owner(wend_store *store, wend_str run, int64_t seq,
                      char owner[RUN_ID_LEN + 1], wend_error *err);

/* An event_blob_fn; ctx is a wend_store. Checks the hash. */
wend_status log_blob(void *ctx, wend_str hash, struct arena *a, wend_str *text);
bool log_blob_fits(wend_str hash, wend_str text);
/* The hash of the blob that has all of an output that was cut; absent: it was
 * not. */
wend_str log_cut_blob(const wend_event *ev);
/* Whether wend_store_close may have written it: it reads nothing of the log,
 * and does not know what is open there. */
bool close_wrote(const wend_event *ev);

#endif

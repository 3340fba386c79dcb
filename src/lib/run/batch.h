/*
 * batch.h - what the steps of one run add to the store, on its way there.
 */
#ifndef LIB_BATCH_H
#define LIB_BATCH_H

#include "core/turn/tt.h"
#include "lib/runtime/mailbox.h"
#include "store/pack.h"
#include "store/store.h"

struct wend_run;

struct batch {
    struct post post; /* POST_COMMITTED */
    struct store_batch sb;
    struct mem mem;
    struct mailbox *mailbox;
    struct wend_run *run; /* NULL once the run is freed */
    struct batch *next;   /* of the run, oldest first */
    char id[40];          /* of the run, which may be gone before us */
    struct store_birth birth;
    struct arena arena;
    struct buf bytes; /* bodies one after the other */
    size_t events_count, events_cap, packs_count, packs_cap, blobs_count;
    struct store_event *events; /* body.ptr is an offset until submitted */
    struct store_pack *packs;
    struct event_blob *blobs;
    struct store_heard *heard; /* requests that it deals with */
    size_t heard_count, heard_cap;
    struct event_blob *end_blobs; /* of run_end, which is the last event ... */
    size_t end_blobs_count;       /* ... this many in a row */
    wend_store *store;            /* that it was handed to */
    int64_t last_seq;
    size_t sent_bytes; /* what it weighs at the store */
    wend_status status;
    struct fx_node *effects, **effects_tail; /* once it is safe */
};

struct fx_node {
    struct fx_node *next;
    struct effect fx; /* args and key in the same block */
};

/* Where a batch stood before a step, to undo a step that fails. */
struct batch_mark {
    size_t events_count, bytes_len, blobs_count;
    struct event_blob *blobs;
    struct fx_node **effects_tail;
    int64_t last_seq;
};

struct batch *batch_new(struct wend_run *r);
struct batch_mark batch_mark(const struct batch *b);
void batch_undo(struct batch *b, struct batch_mark m);
void batch_clear(struct batch *b); /* of events, effects and requests */
bool batch_event(struct batch *b, const wend_event *ev);
bool batch_pack(struct batch *b, struct pack *p);
bool batch_blobs(struct batch *b, const struct event_blob *list);
bool batch_effects(struct batch *b, const struct effect *fx);
/* Room for that many more requests that it deals with. */
bool batch_heard_room(struct batch *b, size_t more);
void batch_heard(struct batch *b, int64_t request, bool late);
/* Takes run_end out of a batch that the store refused. */
void batch_unend(struct batch *b);
/* The same after its run was freed: the next owner resumes it. */
void batch_leave(struct batch *b);
void batch_birth(struct batch *b, const struct store_birth *birth);
/* False: it did not reach the store, for want of memory. */
bool batch_submit(struct batch *b, wend_store *store);
/* [any thread] Posts how it went. */
void batch_answer(struct batch *b, wend_status s);
size_t batch_bytes(const struct batch *b); /* that it holds on to */
void batch_done(struct batch *b);          /* frees it, or keeps it for reuse */
void batch_free(struct batch *b);

#endif

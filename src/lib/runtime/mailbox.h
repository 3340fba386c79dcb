/*
 * mailbox.h - messages of other threads to the runtime.
 */
#ifndef LIB_MAILBOX_H
#define LIB_MAILBOX_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/mem.h"
#include "host/loop.h"

enum post_kind {
    POST_COMMITTED,
    POST_RETURN,
    POST_OUTPUT,
    POST_CANCEL,
    POST_FREE_RUN,
    POST_FREE_AGENT,
};

struct post {
    struct post *next;
    enum post_kind kind;
};

/* Outlives the runtime while something has memory of its allocator: calls,
 * batches, agents and runs that the host has not freed. It has none itself,
 * and its end is that of the allocator. */
struct mailbox {
    wend_release_fn release; /* of the allocator; may be NULL */
    void *release_ctx;
    pthread_mutex_t lock;
    struct post *first, **tail;
    struct loop *loop; /* NULL once the runtime is gone */
    pthread_t owner;
    bool held;        /* by the runtime */
    unsigned batches; /* that the store has not answered */
    pthread_cond_t answered;
    atomic_int refs;
    atomic_bool any;          /* cheap look before the lock */
    atomic_bool store_failed; /* as the runtime's `failed`, for all threads */
    atomic_int use;           /* of the runtime, see handover.c */
};

/* NULL: no memory; then the allocator was released. */
struct mailbox *mailbox_new(wend_release_fn release, void *ctx);
void mailbox_open(struct mailbox *b, struct loop *loop);
void mailbox_ref(struct mailbox *b);
void mailbox_unref(struct mailbox *b);
/* [any thread] False if the runtime is gone: the post stays the caller's. */
bool mailbox_post(struct mailbox *b, struct post *p);
/* All posts so far, oldest first; the owner's. */
struct post *mailbox_take(struct mailbox *b);
/* [any thread] The loop, if it is there. */
void mailbox_wake(struct mailbox *b);
void mailbox_close(struct mailbox *b);
void mailbox_leave(struct mailbox *b); /* the runtime's unref */

/* Around the time that a batch is at the store. [any thread] */
void mailbox_sent(struct mailbox *b);
void mailbox_answered(struct mailbox *b);
/* Waits until no batch is there. For stores that answer from a thread. */
void mailbox_settle(struct mailbox *b);

#endif

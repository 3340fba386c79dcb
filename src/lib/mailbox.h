/*
 * mailbox.h - what other threads have for the runtime.
 */
#ifndef LIB_MAILBOX_H
#define LIB_MAILBOX_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/mem.h"
#include "host/loop.h"

enum post_kind { POST_COMMITTED, POST_RETURN, POST_OUTPUT, POST_CANCEL };

struct post {
    struct post *next;
    enum post_kind kind;
};

/* Outlives the runtime while a call or a batch still points to it. */
struct mailbox {
    struct mem mem;
    pthread_mutex_t lock;
    struct post *first, **tail;
    struct loop *loop; /* NULL once the runtime is gone */
    pthread_t owner;
    atomic_int refs;
    atomic_bool any; /* cheap look before the lock */
};

struct mailbox *mailbox_new(const struct mem *m, struct loop *loop);
void mailbox_ref(struct mailbox *b);
void mailbox_unref(struct mailbox *b);
/* [any thread] False if the runtime is gone: the post stays the caller's. */
bool mailbox_post(struct mailbox *b, struct post *p);
/* All posts so far, oldest first; the owner's. */
struct post *mailbox_take(struct mailbox *b);
void mailbox_close(struct mailbox *b);

#endif

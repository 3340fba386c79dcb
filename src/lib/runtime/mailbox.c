/*
 * mailbox.c - messages of other threads to the runtime.
 *
 * Posts are intrusive: posting never allocates, so an answer cannot be lost
 * to a full memory.
 */
#include "lib/runtime/runtime.h"

#include <assert.h>
#include <stdlib.h>

struct mailbox *mailbox_new(wend_release_fn release, void *ctx)
{
    struct mailbox *b = calloc(1, sizeof *b);

    if (!b) {
        if (release)
            release(ctx);
        return NULL;
    }
    b->release = release;
    b->release_ctx = ctx;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->answered, NULL);
    b->tail = &b->first;
    b->owner = pthread_self();
    b->held = true;
    atomic_init(&b->refs, 1);
    atomic_init(&b->any, false);
    return b;
}

void mailbox_ref(struct mailbox *b)
{
    atomic_fetch_add(&b->refs, 1);
}

void mailbox_unref(struct mailbox *b)
{
    if (!b || atomic_fetch_sub(&b->refs, 1) != 1)
        return;
    assert(!b->batches && !b->held);
    pthread_cond_destroy(&b->answered);
    pthread_mutex_destroy(&b->lock);
    if (b->release)
        b->release(b->release_ctx);
    free(b);
}

bool mailbox_post(struct mailbox *b, struct post *p)
{
    bool open;

    mailbox_ref(b); /* the post may have had the last one, and be taken */
    pthread_mutex_lock(&b->lock);
    open = b->loop != NULL;
    if (open) {
        p->next = NULL;
        *b->tail = p;
        b->tail = &p->next;
        atomic_store(&b->any, true);
        if (!pthread_equal(b->owner, pthread_self()))
            loop_wake(b->loop);
    }
    pthread_mutex_unlock(&b->lock);
    mailbox_unref(b);
    return open;
}

struct post *mailbox_take(struct mailbox *b)
{
    struct post *all;

    if (!atomic_load(&b->any))
        return NULL;
    pthread_mutex_lock(&b->lock);
    all = b->first;
    b->first = NULL;
    b->tail = &b->first;
    atomic_store(&b->any, false);
    pthread_mutex_unlock(&b->lock);
    return all;
}

void mailbox_wake(struct mailbox *b)
{
    pthread_mutex_lock(&b->lock);
    if (b->loop)
        loop_wake(b->loop);
    pthread_mutex_unlock(&b->lock);
}

void mailbox_leave(struct mailbox *b)
{
    pthread_mutex_lock(&b->lock);
    assert(b->held);
    b->held = false;
    pthread_mutex_unlock(&b->lock);
    mailbox_unref(b);
}

void mailbox_close(struct mailbox *b)
{
    pthread_mutex_lock(&b->lock);
    b->loop = NULL;
    pthread_mutex_unlock(&b->lock);
}

/* ---- Batches ------------------------------------------------------------- */

void mailbox_sent(struct mailbox *b)
{
    mailbox_ref(b);
    pthread_mutex_lock(&b->lock);
    b->batches++;
    pthread_mutex_unlock(&b->lock);
}

/* While the runtime holds the box this is not its end, and the runtime learns
 * of the answer after this thread has released its reference. */
void mailbox_answered(struct mailbox *b)
{
    bool held;

    pthread_mutex_lock(&b->lock);
    assert(b->batches);
    held = b->held;
    if (held)
        atomic_fetch_sub(&b->refs, 1);
    b->batches--;
    pthread_cond_signal(&b->answered);
    pthread_mutex_unlock(&b->lock);
    if (!held)
        mailbox_unref(b);
}

void mailbox_settle(struct mailbox *b)
{
    pthread_mutex_lock(&b->lock);
    while (b->batches)
        pthread_cond_wait(&b->answered, &b->lock);
    pthread_mutex_unlock(&b->lock);
}

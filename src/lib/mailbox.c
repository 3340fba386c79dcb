/*
 * mailbox.c - what other threads have for the runtime.
 *
 * Posts are intrusive: posting never allocates, so an answer cannot be lost
 * to a full memory.
 */
#include "lib/mailbox.h"

struct mailbox *mailbox_new(const struct mem *m, struct loop *loop)
{
    struct mailbox *b = mem_zalloc(m, sizeof *b);

    if (!b)
        return NULL;
    b->mem = *m;
    pthread_mutex_init(&b->lock, NULL);
    b->tail = &b->first;
    b->loop = loop;
    b->owner = pthread_self();
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
    struct mem m;

    if (!b || atomic_fetch_sub(&b->refs, 1) != 1)
        return;
    m = b->mem;
    pthread_mutex_destroy(&b->lock);
    mem_free(&m, b);
}

bool mailbox_post(struct mailbox *b, struct post *p)
{
    bool open;

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

void mailbox_close(struct mailbox *b)
{
    pthread_mutex_lock(&b->lock);
    b->loop = NULL;
    pthread_mutex_unlock(&b->lock);
}

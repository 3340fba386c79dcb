/*
 * lease.c - which runs are held by what uses a store handle.
 */
#include "store/lease.h"

#include <assert.h>

#include "base/fail.h"

static struct lease *find(const wend_store *s, wend_str run)
{
    struct lease *l = s->leases;

    while (l && !str_eq(l->run, run))
        l = l->next;
    return l;
}

static void put(struct lease *l, wend_store *s, const void *holder,
                wend_str run)
{
    *l = (struct lease){s->leases, s, holder, run};
    s->leases = l;
}

static void drop(struct lease *l)
{
    struct lease **link = &l->store->leases;

    while (*link != l)
        link = &(*link)->next;
    *link = l->next;
    l->store = NULL;
}

void lease_begin(struct lease *l, wend_store *s, const void *holder,
                 wend_str run)
{
    assert(!l->store);
    pthread_mutex_lock(&s->leases_lock);
    put(l, s, holder, run);
    pthread_mutex_unlock(&s->leases_lock);
}

/* Only its holder changes a lease, so that it may look without the lock. */
void lease_end(struct lease *l)
{
    wend_store *s = l->store;

    if (!s)
        return;
    pthread_mutex_lock(&s->leases_lock);
    drop(l);
    pthread_mutex_unlock(&s->leases_lock);
}

/* The lease stands before the engine is asked: of two that ask at once, one
 * is refused. */
static bool take(struct lease *l, wend_store *s, const void *holder,
                 wend_str run)
{
    struct lease *had;
    bool free;

    pthread_mutex_lock(&s->leases_lock);
    had = find(s, run);
    free = !had || had->holder == holder;
    if (free && had)
        drop(had);
    if (free)
        put(l, s, holder, run);
    pthread_mutex_unlock(&s->leases_lock);
    return free;
}

wend_status lease_claim(struct lease *l, wend_store *s, const void *holder,
                        wend_str run, int64_t known, int64_t *epoch,
                        int64_t *seq, wend_error *err)
{
    wend_status status;

    if (!take(l, s, holder, run))
        return fail(err, WEND_E_BUSY,
                    "run %.*s is under way in another runtime of this process",
                    (int)run.len, run.ptr);
    status = s->ops->claim(s, run, known, epoch, seq, err);
    if (status != WEND_OK)
        lease_end(l);
    return status;
}

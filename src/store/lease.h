/*
 * lease.h - which runs are held by what uses a store handle.
 *
 * The owner that a store knows is a handle (owner.h), and runtimes may share
 * one: the store alone cannot tell a claim of the runtime that has a run from
 * a claim of another. A lease can, for all that share the handle.
 */
#ifndef STORE_LEASE_H
#define STORE_LEASE_H

#include "store/store.h"

/* Part of what holds the run; zero: no lease. */
struct lease {
    struct lease *next;
    wend_store *store; /* NULL: no lease */
    const void *holder;
    wend_str run; /* lent until lease_end */
};

/* For a new run, which no other holder can have. */
void lease_begin(struct lease *l, wend_store *s, const void *holder,
                 wend_str run);
/* May follow twice, and after a lease that was never begun. */
void lease_end(struct lease *l);
/* Claims a run (see `claim` in store.h) that no other holder has a lease of:
 * WEND_E_BUSY otherwise. The lease begins if that succeeds; an older one of
 * the same holder ends. */
wend_status lease_claim(struct lease *l, wend_store *s, const void *holder,
                        wend_str run, int64_t known, int64_t *epoch,
                        int64_t *seq, wend_error *err);

#endif

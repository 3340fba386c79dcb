/*
 * memory.h - the parts of the store in memory.
 */
#ifndef STORE_MEMORY_H
#define STORE_MEMORY_H

#include <pthread.h>

#include "store/memory/memory_run.h"

struct memory_blob {
    struct node node; /* key: the hash */
    size_t len;
    bool used;    /* while the store is tidied */
    char bytes[]; /* the hash, then the text */
};

struct memory_request {
    struct memory_request *next;
    struct store_request view;
    bool late; /* its sender has not asked yet */
};

struct memory_fact;

struct memory_store {
    wend_store base;
    pthread_mutex_t lock;
    struct table runs, blobs;
    struct memory_request *inbox, **inbox_last;
    int64_t request_id, run_number;
    struct memory_fact *facts;
};

/* With the lock held. */
struct memory_run *memory_run_get(const struct memory_store *m, wend_str id);
/* The same; reports an unknown run. */
struct memory_run *memory_run_known(const struct memory_store *m, wend_str id,
                                    wend_error *err);
struct memory_blob *memory_blob_get(const struct memory_store *m,
                                    wend_str hash);

/* memory_facts.c */
void memory_keep(wend_store *s, const struct store_fact *fact,
                 store_kept_fn done, void *ctx);
wend_status memory_facts(wend_store *s, wend_str space, wend_str key,
                         int64_t now_us, store_fact_fn fn, void *ctx,
                         wend_error *err);
/* With the lock held: those that have expired by then; all. */
void memory_facts_drop(struct memory_store *m, int64_t now_us);
void memory_facts_free(struct memory_store *m);

/* memory_inbox.c */
wend_status memory_post(wend_store *s, wend_str run, const char *what,
                        wend_str body, int64_t *id, wend_error *err);
wend_status memory_take(wend_store *s, store_request_fn fn, void *ctx,
                        wend_error *err);
wend_status memory_waiting(wend_store *s, wend_str run, struct arena *a,
                           struct store_request **out, size_t *count,
                           wend_error *err);
wend_status memory_fate(wend_store *s, int64_t id, enum store_fate *out,
                        wend_error *err);
/* With the lock held: whether requests let b be added; and, once it was,
 * deals with those that it has heard. */
bool memory_inbox_lets(const struct memory_store *m,
                       const struct store_batch *b);
void memory_inbox_heard(struct memory_store *m, const struct store_batch *b);
void memory_inbox_drop(struct memory_store *m,
                       wend_str run); /* of a run that goes */

/* memory_prune.c */
wend_status memory_forget(wend_store *s, const char *ids, size_t count,
                          int64_t *gone, wend_error *err);
wend_status memory_tidy(wend_store *s, int64_t now_us, int64_t *bytes,
                        wend_error *err);

#endif

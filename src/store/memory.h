/*
 * memory.h - the parts of the store that forgets.
 */
#ifndef STORE_MEMORY_H
#define STORE_MEMORY_H

#include <pthread.h>

#include "store/memory_facts.h"
#include "store/memory_run.h"

struct blob {
    struct node node; /* key: the hash */
    size_t len;
    bool used;    /* while the store is tidied */
    char bytes[]; /* the hash, then the text */
};

struct request {
    struct request *next;
    struct store_request view;
    char bytes[];
};

struct memory {
    wend_store base;
    pthread_mutex_t lock;
    struct table runs, blobs;
    struct request *inbox, **inbox_last;
    int64_t request_id;
    struct memory_fact *facts;
};

/* With the lock held. */
struct memory_run *memory_run_get(const struct memory *m, wend_str id);
/* The same; says that there is none. */
struct memory_run *memory_run_known(const struct memory *m, wend_str id,
                                    wend_error *err);
struct blob *memory_blob_get(const struct memory *m, wend_str hash);

/* memory_prune.c */
wend_status memory_forget(wend_store *s, wend_str run, wend_error *err);
wend_status memory_tidy(wend_store *s, int64_t now_us, int64_t *bytes,
                        wend_error *err);

#endif

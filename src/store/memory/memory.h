/*
 * memory.h - the parts of the store in memory.
 */
#ifndef STORE_MEMORY_H
#define STORE_MEMORY_H

#include <pthread.h>

#include "store/store.h"
#include "store/table.h"

/* ---- One run: rows and hashes (memory_run.c) ----------------------------- */

/* A kept event or a pack. */
struct memory_row {
    int64_t seq;
    uint32_t n, count; /* of a pack */
    uint32_t len : 31, is_pack : 1;
    char body[];
};

struct memory_rows { /* the rows of one batch */
    struct memory_rows *next;
    char bytes[];
};

struct memory_run {
    struct node node; /* key: the run id */
    struct memory_rows *blocks;
    struct memory_row **rows; /* by seq, then n */
    uint32_t rows_count, rows_cap;
    uint32_t rows_hashed, hashes_count, hashes_cap;
    unsigned char (*hashes)[SHA256_BYTES]; /* of the first events */
    int64_t number;                        /* later runs have higher ones */
    int64_t epoch, seq, seq_base;          /* base: before the first */
    unsigned char head_base[SHA256_BYTES]; /* of the event before the first */
    struct store_summary summary;
    struct store_birth birth;
    char text[]; /* of the id, then of the birth */
};

/* A run without rows from b->birth; NULL when out of memory. */
struct memory_run *memory_run_new(const struct mem *m,
                                  const struct store_batch *b);
void memory_run_free(const struct mem *m, struct memory_run *r);
/* Copies the rows of b: all of them, or none and false. */
bool memory_run_add(struct memory_run *r, const struct mem *m,
                    const struct store_batch *b);
/* The first row that is not before event seq. */
size_t memory_run_find(const struct memory_run *r, int64_t seq);
/* The hash of the newest event; false when out of memory. */
bool memory_run_head(struct memory_run *r, const struct mem *m,
                     unsigned char head[SHA256_BYTES]);
/* False when out of memory. */
bool memory_run_item(struct memory_run *r, const struct mem *m,
                     const struct memory_row *row, struct store_item *item);

/* ---- The store ----------------------------------------------------------- */

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
/* With the lock held: those that have expired by then; -1: all. */
void memory_facts_drop(struct memory_store *m, int64_t now_us);

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

#endif

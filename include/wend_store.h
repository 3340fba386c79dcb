/*
 * wend_store.h - care for stored runs: check, move, forget. Included by
 * wend.h.
 */
#ifndef WEND_H
#include "wend.h" /* which includes this file where it belongs */
#endif
#ifndef WEND_STORE_H
#define WEND_STORE_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Check --------------------------------------------------------------- */

/* What was found; set `size` before. */
typedef struct wend_verdict {
    size_t size;
    int64_t seq;     /* events 1 to seq are as they were written */
    int64_t bad_seq; /* the first that is not; 0 = all are */
    char head[65];   /* hash of event seq, if it is known */
    char why[300];   /* what is wrong with bad_seq */
} wend_verdict;

/* Checks the hash chain of a run, each event, delta and blob of it, and what
 * lists say about it. With `head` (may be NULL) the newest event must have
 * that hash: whoever can write the store can compute the chain anew, but not
 * so that it ends the same. WEND_OK: the verdict is there, good or bad. */
WEND_API wend_status wend_store_verify(wend_store *store, const char *id,
                                       const char *head, wend_verdict *out,
                                       wend_error *err);
/* The store as a whole. WEND_E_CORRUPT: it is damaged. */
WEND_API wend_status wend_store_check(wend_store *store, wend_error *err);

/* ---- Move ---------------------------------------------------------------- */

/* Returns false to stop. */
typedef bool (*wend_write_fn)(void *ctx, wend_str bytes);

/* A run as JSON lines, see wend-store(5); up to event seq_to, 0 = all. Other
 * runs may follow in the same file. WEND_E_CORRUPT: it is damaged; export up
 * to what wend_store_verify says is good. WEND_E_IO: fn has stopped it. */
WEND_API wend_status wend_store_export(wend_store *store, const char *id,
                                       int64_t seq_to, wend_write_fn fn,
                                       void *ctx, wend_error *err);

/* Told of each run in a file: how many events of it were new. */
typedef void (*wend_import_fn)(void *ctx, const char *run, int64_t events);

/* Takes the runs of an exported file into the store. All of it is checked
 * before anything is stored; WEND_E_PARSE or _CORRUPT say in which line the
 * first mistake is. A run that is there already must be the same, or the
 * beginning of the one in the file: WEND_E_EXISTS otherwise. */
WEND_API wend_status wend_store_import(wend_store *store, wend_str file,
                                       wend_import_fn fn, void *ctx,
                                       wend_error *err);

/* ---- Forget -------------------------------------------------------------- */

typedef struct wend_prune_options {
    size_t size;
    int64_t ended_before_us; /* unix microseconds */
    bool dry_run;            /* only count */
} wend_prune_options;

typedef struct wend_pruned {
    size_t size;   /* to be set before */
    int64_t runs;  /* that went, or would */
    int64_t kept;  /* old enough, but another run that stays is their child */
    int64_t bytes; /* given back */
} wend_pruned;

/* Takes runs that are over out of the store, with their events, deltas and
 * the blobs that nobody else refers to. In small transactions: runs of other
 * processes wait for none of it. */
WEND_API wend_status wend_store_prune(wend_store *store,
                                      const wend_prune_options *options,
                                      wend_pruned *out, wend_error *err);

#ifdef __cplusplus
}
#endif
#endif

/*
 * wend_store.h - care for stored runs: fork, check, move, forget. Included
 * by wend.h.
 */
#ifndef WEND_H
#include "wend.h" /* which includes this file where it belongs */
#endif
#ifndef WEND_STORE_H
#define WEND_STORE_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Fork ---------------------------------------------------------------- */

/* What a call or an action that was open at the fork gives instead. */
typedef struct wend_fork_result {
    const char *call; /* its id; or that of the action of a plan */
    wend_str output;  /* of an action JSON, or else a text */
} wend_fork_result;

/* What a fork takes from an agent, in place of its parent's. */
enum {
    WEND_FORK_MODEL = 1,  /* the model and its fallbacks */
    WEND_FORK_TOOLS = 2,  /* the tools and servers of tools */
    WEND_FORK_LIMITS = 4, /* turns, time, tokens, cost, parallel */
    WEND_FORK_POLICY = 8, /* what is allowed, denied or asked */
    WEND_FORK_CONFIG = 16 /* all of these but limits, and what else it is */
};

typedef struct wend_fork_options {
    size_t size;
    /* The last kept event that it shares. 0: the one before the newest
     * call_end or action_end of the first result; without results the newest
     * event, or the last one before run_end. */
    int64_t at;
    wend_str say; /* the next user message; absent: none */
    const wend_fork_result *results;
    size_t results_count;
    wend_agent *agent; /* it takes something from this one; else NULL. With it
                          the call belongs to the agent's thread */
    uint32_t take;     /* WEND_FORK_ bits */
} wend_fork_options;

/* A new run that shares the past of run `id` up to event `at`: nothing is
 * copied, however long that is, and the parent is not changed; it may be
 * under way. What differs stands in its first own events: run_fork, call_end
 * or action_end for each result, message. It is interrupted then:
 * wend_run_resume goes on with it, like with any other. `fork` gets its id.
 * Reading the past is needed only for results and what is taken from an agent.
 * WEND_E_NOTFOUND: no such run. WEND_E_INVAL: no such event, it is run_end,
 * or no such call or action is open there; one that asks a model or has a
 * child is not until that has ended. */
WEND_API wend_status wend_store_fork(wend_store *store, const char *id,
                                     const wend_fork_options *options,
                                     char fork[37], wend_error *err);

/* The same in the runtime's store, and resumes it: see wend_run_resume. The
 * agent is the one that options->take means. If it fails there is no fork,
 * unless the store fails too. */
WEND_API wend_status wend_run_fork(wend_agent *agent, const char *id,
                                   const wend_fork_options *fork,
                                   const wend_run_options *options,
                                   wend_run **out, wend_error *err);

/* ---- Check --------------------------------------------------------------- */

/* What was found; set `size` before. */
typedef struct wend_verdict {
    size_t size;
    int64_t seq;      /* events 1 to seq are as they were written */
    int64_t bad_seq;  /* the first that is not; 0 = all are */
    char head[65];    /* hash of event seq, if it is known */
    char why[300];    /* what is wrong with bad_seq */
    char bad_run[37]; /* that holds bad_seq: a fork shares others' events */
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
/* A run that has lost the end of its log is not resumed: WEND_E_CORRUPT, since
 * calls that were made may be missing in it, and would be made again. After
 * this it is resumed from what is left. */
WEND_API wend_status wend_store_accept_loss(wend_store *store, const char *id,
                                            wend_error *err);

/* ---- Move ---------------------------------------------------------------- */

/* Returns false to stop. */
typedef bool (*wend_write_fn)(void *ctx, wend_str bytes);

/* A run as JSON lines, see wend-store(5). seq_to 0: all of it, and behind it
 * the runs that it has started, and theirs; else the run alone, up to that
 * event. Other runs may follow in the same file. WEND_E_CORRUPT: one is
 * damaged; export up to what wend_store_verify says is good. WEND_E_IO: fn
 * has stopped it. */
WEND_API wend_status wend_store_export(wend_store *store, const char *id,
                                       int64_t seq_to, wend_write_fn fn,
                                       void *ctx, wend_error *err);

/* A text that the run refers to by its hash, or by a beginning of it that no
 * other text of the run has: what is over 256 KiB, and all of a result that was
 * cut. fn gets all of it at once. WEND_E_NOTFOUND: no such run, or it refers to
 * no such text. WEND_E_INVAL: several begin so, or it is no beginning of one.
 */
WEND_API wend_status wend_store_blob(wend_store *store, const char *id,
                                     const char *hash, wend_write_fn fn,
                                     void *ctx, wend_error *err);

/* Told of each run in a file: how many events of it were new. */
typedef void (*wend_import_fn)(void *ctx, const char *run, int64_t events);

/* Takes the runs of an exported file into the store. All of it is checked
 * before anything is stored; WEND_E_PARSE or _CORRUPT say in which line the
 * first mistake is. A run that is there already must be the same, or the
 * beginning of the one in the file: WEND_E_EXISTS otherwise, and nothing of
 * the file is stored. */
WEND_API wend_status wend_store_import(wend_store *store, wend_str file,
                                       wend_import_fn fn, void *ctx,
                                       wend_error *err);

/* Gives bytes of a file from offset `at` on: how many, at most `size`; 0 behind
 * its end, -1 if it cannot be read. The same bytes each time it is asked. */
typedef int64_t (*wend_read_fn)(void *ctx, int64_t at, char *to, size_t size);

/* The same from a file that is never held in memory: it is read three times,
 * line by line. A run is stored in small transactions; what a crash or a
 * failure (of the store, of memory, or a file that changes meanwhile) leaves of
 * one is its beginning, without an owner, and the same import adds the rest.
 * WEND_E_IO: `read` has failed. WEND_E_BUSY: the run is under way. */
WEND_API wend_status wend_store_import_from(wend_store *store,
                                            wend_read_fn read, void *read_ctx,
                                            wend_import_fn fn, void *ctx,
                                            wend_error *err);

/* ---- Origin -------------------------------------------------------------- */

/* Set `size` before. */
typedef struct wend_store_origin {
    size_t size;
    char id[33];  /* random, made with the file; empty: there is none */
    bool made;    /* this open made the file */
    bool adopted; /* this open upgraded a file of this user alone (mode 0600)
                     from a version without id */
} wend_store_origin;

/* A host that keeps the ids of its stores can tell them from a file that was
 * made elsewhere. */
WEND_API wend_status wend_store_origin_of(wend_store *store,
                                          wend_store_origin *out,
                                          wend_error *err);

/* All runs of this handle count as imported: somebody else may have written
 * the file. Call it before anything else uses the handle, in any thread. */
WEND_API wend_status wend_store_distrust(wend_store *store, wend_error *err);

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
 * the blobs that nobody else refers to; and what was kept by name for a while
 * that is over. In small transactions: runs of other processes wait for none
 * of it. */
WEND_API wend_status wend_store_prune(wend_store *store,
                                      const wend_prune_options *options,
                                      wend_pruned *out, wend_error *err);

/* Writes the end of a run that has no owner and cannot be resumed: control
 * (cancel, by `by`) and run_end (canceled), behind whatever the log has. What
 * was open there stays without an end. WEND_E_BUSY: a process has it under
 * way. WEND_E_INVAL: it is over. [any thread] */
WEND_API wend_status wend_store_close(wend_store *store, const char *id,
                                      const char *by, wend_error *err);

/* Takes one run out of the store, with its events and deltas; one without an
 * owner is closed first. WEND_E_BUSY: a process has it under way, or a run
 * that is there shares its past or was started by it. Blobs that no event
 * refers to any more go with wend_store_prune. [any thread] */
WEND_API wend_status wend_store_remove(wend_store *store, const char *id,
                                       wend_error *err);

#ifdef __cplusplus
}
#endif
#endif

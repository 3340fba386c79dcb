/*
 * wend_store.h - manage stored runs: tell, fork, check, export, import, prune.
 * Included by wend.h.
 *
 * Every function that takes a store may be called from any thread, except
 * wend_store_distrust. They read and write the store before they return.
 */
#ifndef WEND_H
#include "wend.h" /* which includes this file where it belongs */
#endif
#ifndef WEND_STORE_H
#define WEND_STORE_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Requests to a run that another process may own --------------------- */

typedef enum wend_request_kind {
    WEND_REQUEST_CANCEL = 0,
    WEND_REQUEST_SAY,
    WEND_REQUEST_PAUSE,
    WEND_REQUEST_CONTINUE,
    WEND_REQUEST_APPROVE,
    WEND_REQUEST_COMPACT /* see wend_run_compact */
} wend_request_kind;

typedef struct wend_request {
    size_t size;
    wend_request_kind kind;
    const char *by;   /* recorded as the initiator; default "inbox" */
    const char *text; /* for SAY: UTF-8; for COMPACT: the focus, or NULL */
    const char *call; /* for APPROVE: the id of a call that waits ... */
    bool yes;         /* ... and whether it may run */
    bool always;      /* the answer also holds for similar calls of this run */
    const char *args; /* for APPROVE with yes and without always: a JSON object
                         instead of the arguments that approval_ask shows. The
                         run checks it like wend_run_approve_changed; refused
                         ones change nothing, and the warning arguments_refused
                         in the log tells why */
    bool pin;         /* for SAY: the message stays when the conversation is
                         shortened */
    /* For SAY: up to 64 files, up to 48 MiB in all. Check them first with
     * wend_part_check: the run leaves out what is not valid or what its model
     * is known not to accept, and says so in the message. */
    const wend_part *parts;
    size_t parts_count;
} wend_request;

/* Leaves a request for a run in the store; WEND_OK means that it is on stable
 * storage. The owner of the run checks for requests every 100 ms and before it
 * writes run_end; without an owner, the next one applies it before anything
 * else starts. A request has no effect if the run is already stopping or if it
 * names a call that does not wait. With the same store handle, a run is found
 * as soon as wend_run_start returns; with another handle, once its first event
 * can be read. WEND_E_NOTFOUND: no such run. WEND_E_INVAL: the run is over.
 * WEND_E_LIMIT: 64 requests wait for it. [any thread] */
WEND_API wend_status wend_store_tell(wend_store *store, const char *id,
                                     const wend_request *request,
                                     wend_error *err);

/* The result of a request. */
typedef enum wend_told {
    WEND_TOLD_APPLIED = 0, /* applied; the log has its effect, if any */
    WEND_TOLD_QUEUED, /* stored: the owner has not read it yet, or the run has
                         no owner and the next one applies it */
    WEND_TOLD_LATE    /* the run was over, or the request changed nothing */
} wend_told;

/* Like wend_store_tell, and waits for the result: at most timeout_ms, and only
 * while the run has an owner. For a run of a runtime that this thread pumps the
 * result is WEND_TOLD_QUEUED. For a run that is over it returns WEND_OK and
 * WEND_TOLD_LATE. [any thread] */
WEND_API wend_status wend_store_tell_wait(wend_store *store, const char *id,
                                          const wend_request *request,
                                          uint32_t timeout_ms, wend_told *told,
                                          wend_error *err);

/* ---- Fork ---------------------------------------------------------------- */

/* A result for a call or action that is open at the point of the fork. */
typedef struct wend_fork_result {
    const char *call; /* id of the call, or of the action of a plan */
    wend_str output;  /* a text; for an action JSON, or else a text */
} wend_fork_result;

/* What a fork takes from an agent instead of from its parent. */
enum {
    WEND_FORK_MODEL = 1,   /* the model and its fallbacks */
    WEND_FORK_TOOLS = 2,   /* the tools and MCP servers */
    WEND_FORK_LIMITS = 4,  /* turns, time, tokens, cost, parallel */
    WEND_FORK_POLICY = 8,  /* rules and approval */
    WEND_FORK_CONFIG = 16, /* the whole config, without limits */
    WEND_FORK_PARAMS = 32  /* params, extra and headers of its models */
};

typedef struct wend_fork_options {
    size_t size;
    /* The last kept event that the fork shares. 0: the one before the newest
     * call_end or action_end of the first result; without results, what
     * wend_store_fork_at says, and what ended behind it is not repeated. */
    int64_t at;
    wend_str say; /* the next user message; absent: none */
    const wend_fork_result *results;
    size_t results_count;
    wend_agent *agent; /* source for `take`, else NULL; with it, call from the
                          agent's thread */
    uint32_t take;     /* WEND_FORK_ bits */
    const char *user, *session, *correlation_id; /* NULL: those of the run */
    const char *labels; /* a JSON object, which replaces those of the run */
    /* What `say` comes with: up to 64, copied. WEND_E_INVAL: one is not valid,
     * or the model is known not to accept it. */
    const wend_part *parts;
    size_t parts_count;
} wend_fork_options;

/* Makes a new run that shares the history of run `id` up to event `at`. Nothing
 * is copied, and the parent does not change; it may be in progress. The first
 * events of the fork record the differences: run_fork, call_end or action_end
 * for each result, message. The fork is then interrupted: wend_run_resume
 * resumes it like any other run. `fork` gets its id. The history is read only
 * if there are results, something is taken from an agent, or the run did not
 * end ok and `at` is 0. WEND_E_NOTFOUND: no
 * such run. WEND_E_INVAL: no such event, or it is run_end, or the call or
 * action of a result is not open there (one that waits for a model or a child
 * does not count as open). [any thread] */
WEND_API wend_status wend_store_fork(wend_store *store, const char *id,
                                     const wend_fork_options *options,
                                     char fork[37], wend_error *err);

/* Where a fork continues if `at` is 0. Of a run that failed, was canceled or
 * reached a limit: before the answer that failed, the cancel or the limit, so
 * that the fork tries again; of a plan, before the first action that is to run
 * again. Of any other run: its newest event, or the last one before run_end.
 * WEND_E_NOTFOUND: no such run. [any thread] */
WEND_API wend_status wend_store_fork_at(wend_store *store, const char *id,
                                        int64_t *at, wend_error *err);

/* Forks a run in the runtime's store and resumes the fork, see wend_run_resume.
 * fork->take refers to `agent`. If it fails no fork remains, unless the store
 * fails too. */
WEND_API wend_status wend_run_fork(wend_agent *agent, const char *id,
                                   const wend_fork_options *fork,
                                   const wend_run_options *options,
                                   wend_run **out, wend_error *err);

/* ---- Check --------------------------------------------------------------- */

/* The result of a check. */
typedef struct wend_verdict {
    size_t size;      /* set by the caller */
    int64_t seq;      /* events 1 to seq are intact */
    int64_t bad_seq;  /* the first damaged one; 0 = none */
    char head[65];    /* hash of event seq, if known */
    char why[300];    /* what is wrong with bad_seq */
    char bad_run[37]; /* the run that holds bad_seq: a fork shares events */
} wend_verdict;

/* Checks the hash chain of a run, its events, deltas and blobs, and its row in
 * listings. With `head` (may be NULL) the newest event must have that hash: a
 * program that can write the store can also recompute the chain, but not with
 * the same hash at its end. WEND_OK: the verdict is valid, good or bad.
 * [any thread] */
WEND_API wend_status wend_store_verify(wend_store *store, const char *id,
                                       const char *head, wend_verdict *out,
                                       wend_error *err);
/* Checks the store as a whole. WEND_E_CORRUPT: it is damaged. [any thread] */
WEND_API wend_status wend_store_check(wend_store *store, wend_error *err);
/* Allows a run that has lost the end of its log to be resumed from the rest.
 * Without this wend_run_resume returns WEND_E_CORRUPT, because calls that are
 * missing in the log would run again. [any thread] */
WEND_API wend_status wend_store_accept_loss(wend_store *store, const char *id,
                                            wend_error *err);

/* ---- Export and import --------------------------------------------------- */

/* Receives bytes; returns false to stop. */
typedef bool (*wend_write_fn)(void *ctx, wend_str bytes);

/* Exports a run as JSON lines, see wend-store(5). seq_to 0: the whole run,
 * followed by its descendants; else the run alone, up to that event. One file
 * may contain several runs. WEND_E_CORRUPT: a run is damaged; export it up to
 * the last good event of wend_store_verify. WEND_E_IO: fn stopped the export.
 * [any thread] */
WEND_API wend_status wend_store_export(wend_store *store, const char *id,
                                       int64_t seq_to, wend_write_fn fn,
                                       void *ctx, wend_error *err);

/* Reads a blob that the run refers to by its hash: a text over 256 KiB, the
 * whole of a result that was truncated, the bytes of a part. `hash` may be a
 * prefix that is unique in the run. fn gets the whole text at once.
 * WEND_E_NOTFOUND: no such run, or it refers to no such blob. WEND_E_INVAL: an
 * ambiguous or malformed prefix. [any thread] */
WEND_API wend_status wend_store_blob(wend_store *store, const char *id,
                                     const char *hash, wend_write_fn fn,
                                     void *ctx, wend_error *err);

/* Passes what a model was asked to fn, as one JSON object: the newest request
 * at or before event `at`, 0 for the newest of the run. Members: run, seq (of
 * model_start), turn, model, purpose, window if it is known, tokens, parts (of
 * context_end), system, tools, schema, messages (as wend_run_options has them)
 * and message_tokens (an estimate for each). Requests of actions and those for
 * a summary do not count. WEND_E_NOTFOUND: no such run, or it has asked no
 * model. WEND_E_INVAL: no such event. WEND_E_IO: fn returned false.
 * [any thread] */
WEND_API wend_status wend_store_context(wend_store *store, const char *id,
                                        int64_t at, wend_write_fn fn, void *ctx,
                                        wend_error *err);

/* Called for each run in a file with the number of its new events. */
typedef void (*wend_import_fn)(void *ctx, const char *run, int64_t events);

/* Imports the runs of an exported file. The whole file is checked before
 * anything is stored; for WEND_E_PARSE and WEND_E_CORRUPT err has the line of
 * the first error. A run that exists already must be equal to the one in the
 * file or a beginning of it; otherwise WEND_E_EXISTS, and nothing is stored.
 * [any thread] */
WEND_API wend_status wend_store_import(wend_store *store, wend_str file,
                                       wend_import_fn fn, void *ctx,
                                       wend_error *err);

/* Reads at most `size` bytes of a file at offset `at`. Returns their number, 0
 * past the end, -1 on failure. It must return the same bytes each time. */
typedef int64_t (*wend_read_fn)(void *ctx, int64_t at, char *to, size_t size);

/* Like wend_store_import, for a file that does not fit into memory: it is read
 * three times, line by line. A run is stored in small transactions. A crash or
 * a failure (of the store, of memory, or a file that changes meanwhile) leaves
 * the beginning of a run, without an owner; the same import adds the rest.
 * WEND_E_IO: `read` failed. WEND_E_BUSY: a process owns the run.
 * [any thread] */
WEND_API wend_status wend_store_import_from(wend_store *store,
                                            wend_read_fn read, void *read_ctx,
                                            wend_import_fn fn, void *ctx,
                                            wend_error *err);

/* ---- Origin -------------------------------------------------------------- */

/* Where a store file comes from. */
typedef struct wend_store_origin {
    size_t size;  /* set by the caller */
    char id[33];  /* random, created with the file; empty: none */
    bool made;    /* this open created the file */
    bool adopted; /* this open upgraded a private file of this user (mode 0600)
                     from a version without id */
} wend_store_origin;

/* Tells the origin of a store. A host that remembers the ids of its stores can
 * recognize a file that was made elsewhere. [any thread] */
WEND_API wend_status wend_store_origin_of(wend_store *store,
                                          wend_store_origin *out,
                                          wend_error *err);

/* Treats all runs of this handle as imported, because others may have written
 * the file. Call it before the handle is used for anything else, by any
 * thread. */
WEND_API wend_status wend_store_distrust(wend_store *store, wend_error *err);

/* ---- Remove -------------------------------------------------------------- */

typedef struct wend_prune_options {
    size_t size;
    int64_t ended_before_us; /* unix microseconds */
    bool dry_run;            /* only count */
    /* With dry_run: called for each run that would be removed, newest first;
     * the info is lent for the call. NULL: not called. */
    void (*each)(void *ctx, const wend_run_info *info);
    void *each_ctx;
} wend_prune_options;

typedef struct wend_pruned {
    size_t size;   /* set by the caller */
    int64_t runs;  /* removed, or would be */
    int64_t kept;  /* old enough, but a run that stays depends on them */
    int64_t bytes; /* freed */
} wend_pruned;

/* Removes old runs that are over, with their events, deltas and unshared blobs,
 * and kv values that have expired. It works in small transactions, so that runs
 * of other processes do not wait for it. [any thread] */
WEND_API wend_status wend_store_prune(wend_store *store,
                                      const wend_prune_options *options,
                                      wend_pruned *out, wend_error *err);

/* Ends a run that has no owner without resuming it: appends control (cancel, by
 * `by`; NULL means "api") and run_end (canceled) to its log. Open calls and
 * turns get no end. WEND_E_BUSY: a process owns the run. WEND_E_INVAL: it is
 * over. [any thread] */
WEND_API wend_status wend_store_close(wend_store *store, const char *id,
                                      const char *by, wend_error *err);

/* Removes one run with its events and deltas; an unfinished run without an
 * owner is closed first. WEND_E_BUSY: a process owns the run, or another run is
 * a fork or a child of it. wend_store_prune removes blobs that no event refers
 * to any more. [any thread] */
WEND_API wend_status wend_store_remove(wend_store *store, const char *id,
                                       wend_error *err);

#ifdef __cplusplus
}
#endif
#endif

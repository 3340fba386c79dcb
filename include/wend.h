/*
 * wend.h - run LLM agents from C.
 *
 * The rules, without exceptions:
 *
 * Status     Every function that can fail returns a wend_status. Details go
 *            into the caller's wend_error (may be NULL) or, for a run, are
 *            lent by wend_run_error; after a success both are empty. A failed
 *            call is a status; a failed run is an event (run_end).
 * Ownership  `T **out` is yours: free it with T_free; T_free(NULL) is fine.
 *            `const T *` is lent until the next call on the same handle.
 *            Strings and structs that go in are copied. Handles that go in
 *            are borrowed. Handles may be freed in any order: a store stays
 *            until its last runtime is gone, an agent until its last run is; a
 *            run or an agent whose runtime is gone can only be freed.
 * Release    What a host gives as `ctx` may come with a release function. It
 *            is called exactly once, with that ctx, when nothing of wend can
 *            use it any more: also if the call that was given it fails (but
 *            not if it was given options that are NULL or whose size is
 *            wrong), and if the runtime goes first. The ctx of a tool lives
 *            until its agent is gone and all its calls are answered. It is
 *            called from any thread, and must not call wend. What is used
 *            only while a function runs (wend_store_export, _import,
 *            wend_plan_options.knows, wend_sim_run) needs none.
 * Threads    A runtime and everything made from it belong to the thread that
 *            made it. Only functions marked [any thread] may be called from
 *            elsewhere. A call from a wrong thread returns WEND_E_MISUSE.
 *            A store may be shared by runtimes of several threads: every
 *            wend_store_ function that takes a store may be called from any
 *            thread, and from several at once, except wend_store_distrust.
 * Freeing    Every _free may be called from any thread, once, as the last call
 *            on its handle. In another thread than its runtime's, or inside a
 *            callback, a run or an agent is handed over and goes when the
 *            runtime is pumped next, or freed. A runtime goes at once; but if
 *            a call that waits or pumps is inside, then at its end, and that
 *            call returns WEND_E_MISUSE. No other call on a runtime or on what
 *            was made from it may be under way meanwhile, but other _free.
 * Callbacks  A callback may call anything except what waits or pumps
 *            (wend_run_next, _next_for, _poll, _wait, wend_runtime_pump,
 *            wend_agent_add_mcp): that returns WEND_E_MISUSE.
 * Fork       A child of fork() cannot use the handles that it inherits: what
 *            is called with one returns WEND_E_MISUSE (without a status: what
 *            it returns for NULL), and a _free does nothing. The runs of a
 *            parent that dies are free, whatever children live. Events and
 *            strings are plain memory and stay readable. A child may make
 *            handles of its own; but a store file that its parent had open
 *            at the fork cannot be opened there (WEND_E_MISUSE): open stores
 *            after the fork, or start a program. fork() waits up to a second
 *            for threads that are reading or writing a store; if that was
 *            not enough, or fork() is called inside a callback of a read,
 *            the child can open no store file. A child that is forked inside
 *            a callback must not return from it. vfork() and _Fork() are for
 *            exec alone.
 * Growth     Option structs begin with `size`; set it to sizeof the struct.
 *            Zero means default. Fields are only ever appended, and a host
 *            built with an older or a newer header is understood; a size that
 *            cannot be is WEND_E_INVAL. wend_limits and wend_filter stand
 *            inside others and stay as they are. Structs that are lent
 *            (events, infos) are only ever appended to: never copy them by
 *            value, use wend_event_clone.
 * Waiting    `next` and `wait` wait, `poll` and `pump` never do.
 */
#ifndef WEND_H
#define WEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WEND_VERSION "0.1.0"
#define WEND_VERSION_NUMBER 100 /* major * 10000 + minor * 100 + patch */

#if defined(__GNUC__)
#define WEND_API __attribute__((visibility("default")))
#else
#define WEND_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Basics -------------------------------------------------------------- */

/* Bytes with a length. `ptr` is NULL when the value is absent. What wend
 * hands out is valid UTF-8; it may contain NUL only as part of the text. */
typedef struct wend_str {
    const char *ptr;
    size_t len;
} wend_str;

/* Lends a C string; NULL gives an absent value. */
static inline wend_str wend_str_of(const char *text)
{
    wend_str s;

    s.ptr = text;
    s.len = text ? strlen(text) : 0;
    return s;
}

typedef enum wend_status {
    WEND_OK = 0,
    WEND_END = 1,         /* the stream is over */
    WEND_AGAIN = 2,       /* nothing now; ask again after a pump */
    WEND_E_INVAL = -1,    /* an argument or an option is wrong */
    WEND_E_NOMEM = -2,    /* an allocation failed */
    WEND_E_NOTFOUND = -3, /* no such run, tool, file, call */
    WEND_E_EXISTS = -4,   /* the name is taken */
    WEND_E_LIMIT = -5,    /* over a named limit */
    WEND_E_MISUSE = -6,   /* wrong thread, in a callback, after free or fork */
    WEND_E_STORE = -7,    /* the store failed; nothing more is accepted */
    WEND_E_PARSE = -8,    /* input does not parse; see line and column */
    WEND_E_BUSY = -9,     /* another owner has it */
    WEND_E_IO = -10,      /* the operating system refused */
    WEND_E_CORRUPT = -11, /* stored data is damaged */
    WEND_E_STALE = -12    /* the run belongs to a newer epoch */
} wend_status;

typedef struct wend_error {
    wend_status status;
    uint32_t line;   /* of the input, from 1; 0 = not about a place */
    uint32_t column; /* from 1 */
    char message[500];
} wend_error;

/* Gives back what a host gave: see Release above. */
typedef void (*wend_release_fn)(void *ctx);

WEND_API const char *wend_version(void);              /* [any thread] */
WEND_API const char *wend_status_name(wend_status s); /* [any thread] */

#ifdef __cplusplus
}
#endif

#include "wend_event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Store: where runs are kept ------------------------------------------ */

typedef struct wend_store wend_store;
typedef struct wend_runs wend_runs;

/* `url` is a path to an SQLite file (made if absent, mode 0600) or
 * "memory:". NULL means $WEND_STORE, then ~/.local/share/wend/wend.db. */
WEND_API wend_status wend_store_open(const char *url, wend_store **out,
                                     wend_error *err);
/* The same for whoever only reads: a file that cannot be written, as on a
 * read-only file system, is opened, too. Then all that would change it fails
 * with WEND_E_STORE. */
WEND_API wend_status wend_store_open_read(const char *url, wend_store **out,
                                          wend_error *err);
WEND_API void wend_store_free(wend_store *store);

typedef struct wend_list_options {
    size_t size;
    const char *user; /* NULL: any; the same for the next four */
    const char *session;
    const char *agent;
    const char *status; /* running waiting paused interrupted ok limit ... */
    const char *run;    /* an id or a prefix of one */
    int64_t since_us;   /* started at or after, unix microseconds */
    int64_t until_us;   /* started before; 0 = no bound */
    const char *after;  /* page: only runs listed after this run id */
    uint32_t limit;     /* default 100 */
} wend_list_options;

/* One row of a listing. Lent until the next wend_runs_next. */
typedef struct wend_run_info {
    wend_str run, status, agent, model, prompt, user, session, parent;
    int64_t started_us, ended_us; /* ended_us is 0 while it is not over */
    int64_t turns, tokens_in, tokens_out;
    int64_t cost_nano; /* USD * 10^-9 */
    int64_t seq;       /* of its newest kept event */
    bool imported;     /* it, or a run that it descends from, was imported */
    bool child; /* `parent` started it and waits for it; else it is a fork */
} wend_run_info;

/* Newest first. */
WEND_API wend_status wend_store_list(wend_store *store,
                                     const wend_list_options *options,
                                     wend_runs **out, wend_error *err);
WEND_API wend_status wend_runs_next(wend_runs *list,
                                    const wend_run_info **info);
WEND_API void wend_runs_free(wend_runs *list);

/* What can be said to a run that another process has under way. */
typedef enum wend_request_kind {
    WEND_REQUEST_CANCEL = 0,
    WEND_REQUEST_SAY,
    WEND_REQUEST_PAUSE,
    WEND_REQUEST_CONTINUE,
    WEND_REQUEST_APPROVE
} wend_request_kind;

typedef struct wend_request {
    size_t size;
    wend_request_kind kind;
    const char *by;   /* who; default "inbox" */
    const char *text; /* for SAY, valid UTF-8 */
    const char *call; /* for APPROVE: the id of a call that waits ... */
    bool yes;         /* ... and whether it may run */
    bool always;      /* the answer counts for calls like it, in this run */
} wend_request;

/* Leaves a request in the store: WEND_OK means that it is on stable storage.
 * The owner of the run looks there every 100 ms and before it keeps run_end;
 * the next owner applies it before anything else starts. What comes when the
 * run is being stopped, or is about a call that does not wait, changes nothing.
 * A run is found as soon as wend_run_start has returned, if it has the same
 * store; in another one once its first event can be read.
 * WEND_E_NOTFOUND: there is no such run. WEND_E_INVAL: it is over.
 * WEND_E_LIMIT: 64 requests wait for it. [any thread] */
WEND_API wend_status wend_store_tell(wend_store *store, const char *id,
                                     const wend_request *request,
                                     wend_error *err);

/* What became of a request. */
typedef enum wend_told {
    WEND_TOLD_APPLIED = 0, /* the log has what it led to, if it led to any */
    WEND_TOLD_QUEUED, /* it is kept: the owner has not read it yet, or there
                         is none, and the next one applies it */
    WEND_TOLD_LATE    /* the run was over, or it changed nothing */
} wend_told;

/* The same, and waits for the answer: at most timeout_ms, and no longer
 * than the run has an owner. For a run of a runtime that this thread pumps the
 * answer is WEND_TOLD_QUEUED. A run that is over is WEND_OK and
 * WEND_TOLD_LATE. [any thread] */
WEND_API wend_status wend_store_tell_wait(wend_store *store, const char *id,
                                          const wend_request *request,
                                          uint32_t timeout_ms, wend_told *told,
                                          wend_error *err);

/* ---- Runtime: one loop, one thread --------------------------------------- */

typedef struct wend_runtime wend_runtime;

/* Like realloc; size 0 frees and returns NULL. Called from tools' and the
 * store's threads too. After wend_runtime_free it is called only to free: by
 * wend_agent_free and wend_run_free of what was not freed before, and when a
 * call that was open then is answered. */
typedef void *(*wend_alloc_fn)(void *ctx, void *p, size_t size);

typedef struct wend_runtime_options {
    size_t size;
    wend_store *store; /* NULL: an own memory store */
    wend_alloc_fn alloc;
    void *alloc_ctx;
    wend_release_fn alloc_release; /* of alloc_ctx; see Release */
} wend_runtime_options;

WEND_API wend_status wend_runtime_new(const wend_runtime_options *options,
                                      wend_runtime **out, wend_error *err);
/* Waits until the store has what its runs have written and its threads have
 * ended. A function of a tool that is under way on a thread (`threaded`)
 * cannot be ended: its call is canceled, and its thread goes on alone until it
 * returns; it touches nothing but the call and what was given with the tool.
 * If it has answered its call, this waits up to a second for its return. */
WEND_API void wend_runtime_free(wend_runtime *rt);

/* For a loop of your own: when the fd is readable or the timeout (-1 =
 * none) is over, pump, then poll your runs. */
WEND_API int wend_runtime_fd(const wend_runtime *rt);
WEND_API int wend_runtime_timeout_ms(const wend_runtime *rt);
WEND_API wend_status wend_runtime_pump(wend_runtime *rt);
/* Makes the fd readable, or a waiting call look around. [any thread] */
WEND_API wend_status wend_runtime_wakeup(wend_runtime *rt);

/* ---- Agent: a model, instructions, tools, limits ------------------------- */

#include "wend_agent.h"

/* ---- Hooks: look at, change, skip or stop -------------------------------- */

typedef enum wend_hook_point {
    WEND_HOOK_TURN_BEFORE,  /* change: `text` joins the conversation */
    WEND_HOOK_MODEL_BEFORE, /* change: as above; skip: `text` is the answer */
    WEND_HOOK_MODEL_AFTER,  /* text = answer; change replaces it */
    WEND_HOOK_CALL_BEFORE,  /* text = arguments; change replaces them;
                               skip: `text` is the result. The values of an
                               action of a plan cannot be changed, they stand
                               in the log with its key: change denies it */
    WEND_HOOK_CALL_AFTER,   /* text = result; change replaces it */
    WEND_HOOK_TURN_AFTER    /* can only stop: no other turn asks the model */
} wend_hook_point;

typedef enum wend_hook_answer {
    WEND_HOOK_GO = 0,
    WEND_HOOK_CHANGE,
    WEND_HOOK_SKIP,
    WEND_HOOK_STOP /* ends the run as failed, code hook_stop */
} wend_hook_answer;

typedef struct wend_hook {
    wend_hook_point point;
    uint32_t turn;
    wend_str call, name; /* of the tool call, else absent */
    wend_str text;       /* in: see the point; out: for change, skip, stop;
                            copied after the callback has returned */
    wend_str run;        /* whose: the run's own, or that of a child of it */
} wend_hook;

typedef wend_hook_answer (*wend_hook_fn)(void *ctx, wend_hook *hook);

/* ---- Run: a stream of events --------------------------------------------- */

typedef struct wend_run wend_run;

/* Makes a slow reader's life easier; what is merged or left out is still
 * in the store. */
typedef struct wend_filter {
    uint64_t types;       /* bit per wend_event_type; 0 = all */
    uint32_t merge_count; /* join up to so many deltas of one kind ... */
    uint32_t merge_ms;    /* ... that came within so many milliseconds */
} wend_filter;

typedef struct wend_run_options {
    size_t size;
    const char *user, *session, *correlation_id;
    const char *labels; /* a JSON object with string values */
    wend_filter filter;
    wend_hook_fn hook;
    void *hook_ctx;
    bool plan; /* the model writes plans for the prompt: see wend_plan.h */
    /* Resume only: */
    uint32_t take;  /* WEND_FORK_ bits: the agent's, in place of the log's */
    bool trust_log; /* the host answers for the config of an imported log */
    wend_limits limits; /* from here on, where not 0; a control event says so */
    wend_release_fn hook_release; /* of hook_ctx, not only when resumed */
} wend_run_options;

WEND_API wend_status wend_run_start(wend_agent *agent, wend_str prompt,
                                    const wend_run_options *options,
                                    wend_run **out, wend_error *err);

/* Goes on with a run that is not over and that nobody has under way, after
 * its last kept event: the process that had it died, or let it go. `id` is a
 * full run id. All that the run is comes from its log; the agent gives the
 * hands: its models are asked, its tools called by name (a call of a tool
 * that it does not have fails). Of the options hook, filter, take and limits
 * count; only time in which a process had the run counts for its limit.
 * Events begin with run_resume. WEND_E_BUSY: it is under way in another
 * process, or in a runtime of this one. WEND_E_CORRUPT: the log is damaged.
 * WEND_E_INVAL: the run is over.
 *
 * A run that was imported (wend_run_info) brings its history and nothing else:
 * config and limits are the agent's, unless `trust_log` is set; user and
 * session are those of the options. What the log says was allowed is decided
 * again, its children are left alone, and its text counts as
 * WEND_LABEL_UNTRUSTED_SOURCE. So it is for its forks and children. */
WEND_API wend_status wend_run_resume(wend_agent *agent, const char *id,
                                     const wend_run_options *options,
                                     wend_run **out, wend_error *err);

/* The next event, lent until the next call on this run. WEND_END after
 * run_end. A run goes on only while its runtime is pumped: by next, wait
 * or pump, of this run or any other. */
WEND_API wend_status wend_run_next(wend_run *run, const wend_event **event);
/* The same, for at most timeout_ms: WEND_AGAIN if no event came by then. A
 * host that must look around now and then (for signals, for a lock of its
 * interpreter) calls this in a loop. */
WEND_API wend_status wend_run_next_for(wend_run *run, uint32_t timeout_ms,
                                       const wend_event **event);
WEND_API wend_status wend_run_poll(wend_run *run, const wend_event **event);

/* Hands every event to `fn` during pumping instead. */
typedef void (*wend_listen_fn)(void *ctx, const wend_event *event);
WEND_API wend_status wend_run_listen(wend_run *run, wend_listen_fn fn,
                                     void *ctx);
/* The same; `release` is for ctx: when another listener comes, or the run
 * goes. */
WEND_API wend_status wend_run_listen_release(wend_run *run, wend_listen_fn fn,
                                             void *ctx,
                                             wend_release_fn release);

/* Runs to the end and lends the answer: run_end's text. */
WEND_API wend_status wend_run_wait(wend_run *run, wend_str *text);

WEND_API wend_status wend_run_say(wend_run *run, wend_str text);
WEND_API wend_status wend_run_approve(wend_run *run, wend_str call, bool yes,
                                      const char *by);
/* The same; and the answer counts for calls like it (approval_ask's rule)
 * while this run lasts. To remember it for longer is the host's business. */
WEND_API wend_status wend_run_approve_always(wend_run *run, wend_str call,
                                             bool yes, const char *by);
/* Nothing more is started, by the run or by its children. */
WEND_API wend_status wend_run_pause(wend_run *run);
WEND_API wend_status wend_run_continue(wend_run *run);
WEND_API wend_status wend_run_cancel(wend_run *run); /* [any thread] */
/* The same; `by`, at most 60 bytes, is what the log says of who did it; else
 * it says "api". The first of several cancels counts. A replay that is
 * canceled ends: WEND_END, without run_end. [any thread] */
WEND_API wend_status wend_run_cancel_by(wend_run *run, const char *by);

/* The i-th child of the run that is under way, or NULL past the last. Lent
 * until the runtime is pumped: its events can be polled, its calls approved,
 * it can be told things, but not waited for or freed. */
WEND_API wend_run *wend_run_child(wend_run *run, size_t i);

WEND_API const char *wend_run_id(const wend_run *run);
/* How it ended: the outcome once run_end has been decided. */
WEND_API wend_status wend_run_outcome(const wend_run *run, wend_outcome *out);
/* Why the last call on this run failed, or why the run cannot go on; empty,
 * with status WEND_OK, after a call that succeeded. Lent. */
WEND_API const wend_error *wend_run_error(const wend_run *run);
/* A run that is not over is left as it is in the store: interrupted. */
WEND_API void wend_run_free(wend_run *run);

/* ---- Replay: a recorded run as a run ------------------------------------- */

typedef struct wend_replay_options {
    size_t size;
    double speed;     /* 1 = as it happened, 2 = twice as fast, 0 = at once */
    int64_t seq_from; /* first kept event, default 1 */
    int64_t seq_to;   /* last kept event; 0 = all */
    bool follow;      /* go on with what is being written, until run_end */
    wend_filter filter;
} wend_replay_options;

/* `id` is a full run id. Calls no model and no tool. */
WEND_API wend_status wend_store_replay(wend_runtime *rt, const char *id,
                                       const wend_replay_options *options,
                                       wend_run **out, wend_error *err);

/* ---- Collector: what most consumers want to know ------------------------- */

typedef struct wend_collector wend_collector;

WEND_API wend_status wend_collector_new(wend_collector **out);
WEND_API wend_status wend_collector_add(wend_collector *c,
                                        const wend_event *event);
/* All text of the run so far, turn after turn, without that of models which
 * actions ask. Lent. */
WEND_API wend_str wend_collector_text(const wend_collector *c);
/* run_end.text, absent before. Lent. */
WEND_API wend_str wend_collector_answer(const wend_collector *c);
/* The i-th event of a type (kept types only), NULL past the last: results
 * are WEND_CALL_END, errors WEND_ERROR, warnings WEND_WARNING. */
WEND_API const wend_event *wend_collector_get(const wend_collector *c,
                                              wend_event_type type, size_t i);
WEND_API void wend_collector_free(wend_collector *c);

#include "wend_plan.h"

#ifdef __cplusplus
}
#endif

#include "wend_store.h"
#include "wend_sim.h"

#endif

/*
 * wend.h - run LLM agents from C.
 *
 * These rules hold for every function, without exception:
 *
 * Status     A function that can fail returns a wend_status. The details are
 *            in the caller's wend_error (which may be NULL) or, for a run, in
 *            wend_run_error; after a success both are empty. A failed call is
 *            a status; a failed run is an event (run_end).
 * Ownership  The caller owns `T **out` and frees it with T_free; T_free(NULL)
 *            does nothing. A `const T *` is lent until the next call on the
 *            same handle. wend copies strings and structs that it is given, and
 *            borrows handles. Handles may be freed in any order: a store lives
 *            until its last runtime is gone, an agent until its last run is
 *            gone. A run or agent whose runtime is gone can only be freed.
 * Release    A `ctx` that the host passes may come with a release function.
 *            wend calls it exactly once, with that ctx, when nothing can use
 *            the ctx any more. That includes a call that fails (unless its
 *            options are NULL or have a wrong size) and a runtime that is freed
 *            first. The ctx of a tool lives until its agent is gone and all its
 *            calls are answered. A release function may run on any thread and
 *            must not call wend. A ctx that is used only during the call itself
 *            (wend_store_export, _import, wend_plan_options.knows,
 *            wend_sim_run) has no release function.
 * Threads    A runtime and everything made from it belong to the thread that
 *            made it. Other threads may call only the functions marked
 *            [any thread]; any other call from there returns WEND_E_MISUSE.
 *            Runtimes of several threads may share a store: every wend_store_
 *            function that takes a store may be called from any thread, also
 *            concurrently, except wend_store_distrust.
 * Freeing    Every _free may be called from any thread, once, as the last call
 *            on its handle. A run or agent that is freed on a thread other than
 *            its runtime's, or inside a callback, is handed over and destroyed
 *            when its runtime is next pumped or freed. A runtime is destroyed
 *            at once; if a call that waits or pumps is inside it, then at the
 *            end of that call, which returns WEND_E_MISUSE. While a runtime is
 *            freed no other call on it, or on anything made from it, may be in
 *            progress, except another _free.
 * Callbacks  A callback may call any function that neither waits nor pumps.
 *            Those that do (wend_run_next, _next_for, _poll, _wait,
 *            wend_runtime_pump, wend_agent_add_mcp) return WEND_E_MISUSE there.
 * Fork       A child of fork() cannot use handles that it inherits. A call with
 *            one returns WEND_E_MISUSE (a function without a status returns
 *            what it returns for NULL), and a _free does nothing. If the parent
 *            dies, its runs can be resumed even while children live. Events and
 *            strings are plain memory and stay readable. A child may make
 *            handles of its own, but it cannot open a store file that its
 *            parent had open at the fork (WEND_E_MISUSE): open stores after the
 *            fork, or exec a program. fork() waits up to a second for threads
 *            that read or write a store. If that is not enough, or if fork() is
 *            called inside a callback of a read, the child can open no store
 *            file. A child that is forked inside a callback must not return
 *            from it. vfork() and _Fork() may be used only to exec.
 * Growth     Option structs begin with `size`: set it to sizeof the struct.
 *            Zero means the default. Fields are only appended, so hosts built
 *            with an older or newer header keep working; an impossible size is
 *            WEND_E_INVAL. wend_limits and wend_filter are members of other
 *            structs and never change. Structs that are lent (events, infos)
 *            also grow at their end: never copy them by value, use
 *            wend_event_clone.
 * Waiting    `next` and `wait` wait; `poll` and `pump` never do.
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

/* Bytes with a length. `ptr` is NULL when the value is absent. Strings that
 * wend hands out are valid UTF-8; a NUL in them is part of the text. */
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
    WEND_AGAIN = 2,       /* nothing yet; try again after a pump */
    WEND_E_INVAL = -1,    /* invalid argument or option */
    WEND_E_NOMEM = -2,    /* an allocation failed */
    WEND_E_NOTFOUND = -3, /* no such run, tool, file or call */
    WEND_E_EXISTS = -4,   /* the name is taken */
    WEND_E_LIMIT = -5,    /* over a named limit */
    WEND_E_MISUSE = -6,   /* wrong thread, in a callback, after free or fork */
    WEND_E_STORE = -7,    /* the store failed and accepts nothing more */
    WEND_E_PARSE = -8,    /* the input does not parse; see line and column */
    WEND_E_BUSY = -9,     /* another owner has it */
    WEND_E_IO = -10,      /* the operating system refused */
    WEND_E_CORRUPT = -11, /* stored data is damaged */
    WEND_E_STALE = -12    /* the run belongs to a newer epoch */
} wend_status;

typedef struct wend_error {
    wend_status status;
    uint32_t line;   /* in the input, from 1; 0 = not about a position */
    uint32_t column; /* from 1 */
    char message[500];
} wend_error;

/* Releases a ctx of the host: see Release above. */
typedef void (*wend_release_fn)(void *ctx);

/* Returns the version of the library, as WEND_VERSION is that of the header.
 * Static. [any thread] */
WEND_API const char *wend_version(void);
/* Returns the name of a status, such as "not_found". Static. [any thread] */
WEND_API const char *wend_status_name(wend_status s);

#ifdef __cplusplus
}
#endif

#include "wend_event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Parts: files in messages -------------------------------------------- */

/* A file that a message comes with: an image (png, jpeg, gif, webp), a document
 * (pdf), audio (wav, mp3, flac, ogg) or text. Its bytes say what it is; the
 * name is shown, and must not promise something else. Up to 48 MiB each. */
typedef struct wend_part {
    wend_str data;
    wend_str name; /* may be absent */
} wend_part;

typedef struct wend_agent wend_agent;

/* Checks a part as wend_run_start does, so that a host can refuse a file as
 * soon as it has it. With an agent, also whether its model is known not to
 * accept it; agent and out may be NULL. `out` describes the part, without its
 * hash; its name is lent by the part. WEND_E_INVAL: it is not valid, or the
 * model does not accept it; the message says why. Without an agent:
 * [any thread] */
WEND_API wend_status wend_part_check(const wend_part *part, wend_agent *agent,
                                     wend_ev_part *out, wend_error *err);

/* ---- Store: the log of all runs ------------------------------------------ */

typedef struct wend_store wend_store;
typedef struct wend_runs wend_runs;

/* Opens a store. `url` is a path to an SQLite file (created if absent, mode
 * 0600) or "memory:". NULL means $WEND_STORE, or else
 * ~/.local/share/wend/wend.db. [any thread] */
WEND_API wend_status wend_store_open(const char *url, wend_store **out,
                                     wend_error *err);
/* Opens a store for reading. Unlike wend_store_open it also opens a file that
 * cannot be written, for example on a read-only file system; then every change
 * fails with WEND_E_STORE. [any thread] */
WEND_API wend_status wend_store_open_read(const char *url, wend_store **out,
                                          wend_error *err);
/* Frees the handle. The store itself is closed when the last runtime that uses
 * it is gone. [any thread] */
WEND_API void wend_store_free(wend_store *store);

typedef struct wend_list_options {
    size_t size;
    const char *user; /* NULL: any; also for the next four */
    const char *session;
    const char *agent;
    const char *status; /* running waiting paused interrupted ok limit ... */
    const char *run;    /* a run id or a prefix of one */
    int64_t since_us;   /* started at or after, unix microseconds */
    int64_t until_us;   /* started before; 0 = no bound */
    const char *after;  /* paging: only runs listed after this run id */
    uint32_t limit;     /* default 100 */
} wend_list_options;

/* One row of a listing. Lent until the list is freed. */
typedef struct wend_run_info {
    wend_str run, status, agent, model, prompt, user, session, parent;
    int64_t started_us, ended_us; /* ended_us is 0 until the run is over */
    int64_t turns, tokens_in, tokens_out;
    int64_t cost_nano; /* USD * 10^-9; -1 = not known */
    int64_t seq;       /* of its newest kept event */
    bool imported;     /* it, or a run that it descends from, was imported */
    bool child; /* `parent` started it and waits for it; else it is a fork */
    wend_str fork_of; /* whose history it shares; absent: it is no fork. A child
                         that a retry continues has both */
} wend_run_info;

/* Lists runs, newest first. options may be NULL. The list is a snapshot: it
 * stays valid while the store changes and after it is freed. [any thread] */
WEND_API wend_status wend_store_list(wend_store *store,
                                     const wend_list_options *options,
                                     wend_runs **out, wend_error *err);
/* Lends the next row. WEND_END after the last one. A list may be used on any
 * thread, on one at a time. */
WEND_API wend_status wend_runs_next(wend_runs *list,
                                    const wend_run_info **info);
/* Frees a list and its rows. */
WEND_API void wend_runs_free(wend_runs *list);

/* ---- Runtime: one loop, one thread --------------------------------------- */

typedef struct wend_runtime wend_runtime;

/* Like realloc; size 0 frees and returns NULL. Also called from threads of
 * tools and of the store. After wend_runtime_free it is called only to free:
 * by wend_agent_free and wend_run_free for handles that outlive the runtime,
 * and when a call that was open at that time is answered. */
typedef void *(*wend_alloc_fn)(void *ctx, void *p, size_t size);

typedef struct wend_runtime_options {
    size_t size;
    wend_store *store; /* NULL: a private store in memory */
    wend_alloc_fn alloc;
    void *alloc_ctx;
    wend_release_fn alloc_release; /* for alloc_ctx; see Release */
} wend_runtime_options;

/* Makes a runtime that belongs to the calling thread. options may be NULL. The
 * runtime keeps its store open. [any thread] */
WEND_API wend_status wend_runtime_new(const wend_runtime_options *options,
                                      wend_runtime **out, wend_error *err);
/* Frees a runtime. It waits until the store has everything that the runs have
 * written, and until its threads have ended. Unfinished runs stay in the store
 * as interrupted. A `threaded` tool function that is still executing cannot be
 * ended: its call is canceled and its thread continues alone until it returns;
 * it uses only the call and the ctx of the tool. If that function has answered
 * its call, this waits up to a second for it to return. [any thread] */
WEND_API void wend_runtime_free(wend_runtime *rt);

/* For an event loop of the host: returns a descriptor that becomes readable
 * when there is work. Then, or when wend_runtime_timeout_ms has passed, call
 * wend_runtime_pump and poll the runs. The runtime owns the descriptor. -1 if
 * called on a wrong thread. */
WEND_API int wend_runtime_fd(const wend_runtime *rt);
/* Returns the time until the next pump is due: 0 = now, -1 = only when the
 * descriptor is readable. Ask again before each wait. */
WEND_API int wend_runtime_timeout_ms(const wend_runtime *rt);
/* Does all work that is due, for all runs of the runtime, without waiting:
 * decides, calls models, tools, hooks and listeners. WEND_E_STORE: the store
 * has failed. */
WEND_API wend_status wend_runtime_pump(wend_runtime *rt);
/* Makes the descriptor readable, and makes a waiting call look for work. It
 * does not end that call. [any thread] */
WEND_API wend_status wend_runtime_wakeup(wend_runtime *rt);

/* ---- Agent: a model, instructions, tools, limits ------------------------- */

#include "wend_agent.h"
#include "wend_load.h"

/* ---- Hooks: inspect, change, skip or stop -------------------------------- */

typedef enum wend_hook_point {
    WEND_HOOK_TURN_BEFORE,  /* change: `text` joins the conversation */
    WEND_HOOK_MODEL_BEFORE, /* change: as above; skip: `text` is the answer */
    WEND_HOOK_MODEL_AFTER,  /* text = answer; change replaces it */
    WEND_HOOK_CALL_BEFORE,  /* text = arguments; change replaces them;
                               skip: `text` is the result. The values of a plan
                               action are in the log with its key and cannot
                               change: there, change denies the action */
    WEND_HOOK_CALL_AFTER,   /* text = result; change replaces it */
    WEND_HOOK_TURN_AFTER    /* may only stop: no further turn asks the model */
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
    wend_str run;        /* the id of the run, or of a child of it */
} wend_hook;

/* Called while the runtime is pumped, on its thread. */
typedef wend_hook_answer (*wend_hook_fn)(void *ctx, wend_hook *hook);

/* ---- Run: a stream of events --------------------------------------------- */

typedef struct wend_run wend_run;

/* Reduces what a reader gets; events that are merged or left out are still in
 * the store. */
typedef struct wend_filter {
    uint64_t types;       /* bit per wend_event_type; 0 = all */
    uint32_t merge_count; /* merge up to this many deltas of one kind ... */
    uint32_t merge_ms;    /* ... that arrive within this many milliseconds */
} wend_filter;

typedef struct wend_run_options {
    size_t size;
    const char *user, *session, *correlation_id; /* up to 256 bytes each */
    const char *labels; /* a JSON object with string values: up to 32 of them,
                           keys up to 64 bytes, values up to 256 */
    wend_filter filter;
    wend_hook_fn hook;
    void *hook_ctx;
    bool plan; /* the model writes plans for the prompt: see wend_plan.h */
    /* Resume and follow only: */
    uint32_t take;  /* WEND_FORK_ bits: the agent's, in place of the log's */
    bool trust_log; /* the host vouches for the config of an imported log */
    /* Where not 0. Resume: new ones, logged as a control event. Start and
     * follow: those of the agent or the run before, if these are lower. */
    wend_limits limits;
    wend_release_fn hook_release; /* for hook_ctx, also without resume */
    /* Start: the past of the conversation, a JSON list, oldest first:
     *     {"role":"user","text":..}
     *     {"role":"assistant","text":..,"thinking":..,"opaque":[..],
     *      "model":..,"calls":[{"id":..,"name":..,"args":{..}}]}
     *     {"role":"tool","call":ID,"text":..,"failed":true}
     *     {"role":"system","text":..}
     * Messages of the user and of tools may have up to 64 "parts", each
     * {"data":BASE64,"name":..}, or {"hash":..} for a blob of the store.
     * Only role is always needed; the first message is a user's, and each call
     * has its result before the next message. Results count as what the tools
     * of their names bring; one of a tool that the agent lacks is labeled
     * WEND_LABEL_UNTRUSTED_SOURCE. The list is recorded in run_start. If it
     * ends with a message of the user or of a tool, the prompt may be absent.
     * Follow: what the caller adds to the past of that run: a result (role
     * tool) for each call of its run_end.pending, in any order, then messages
     * of the user. A pending call without a result gets one that says so; a
     * result for any other call is WEND_E_INVAL. With them the prompt may be
     * absent. */
    const char *messages;
    /* Start only: up to 64 parts, copied. WEND_E_INVAL: one is not valid, or
     * the model is known not to accept it; the message says why. */
    const wend_part *parts;
    size_t parts_count;
    /* Start and follow: shorten the past before the first request, as
     * wend_run_compact does; the text is its focus, "" for none. NULL: only
     * if the past does not fit. */
    const char *compact;
    /* Start and follow: the id of the new run, a UUIDv7 in lower case; for
     * hosts that must know it before they start the run. NULL: a new one.
     * WEND_E_EXISTS: a run has it. */
    const char *id;
    /* Start and follow: client-side tools of this run (see wend_agent.h), a
     * JSON list of up to 128 {"name":..,"description":..,"schema":{..}}, of
     * which only the name is needed. They join the tools of the agent and are
     * recorded in run_start.config.tools. NULL in a follow: those of that run;
     * else they replace them. WEND_E_EXISTS: a name is used twice, or the agent
     * executes a tool of this name. A run that writes or is a plan takes none:
     * WEND_E_INVAL. */
    const char *client_tools;
} wend_run_options;

/* Starts a run. options may be NULL. It decides the first events and hands them
 * to the store, where the run can be found from now on. Nothing else happens
 * before the runtime is pumped: no hook, model or tool is called, and
 * wend_run_poll returns WEND_AGAIN. The runtime is pumped by wend_runtime_pump,
 * and by wend_run_next, _next_for and _wait of any of its runs. The agent may
 * be freed at once. WEND_E_LIMIT: instructions and tools, of the agent or of
 * one of its children, are over the windows of all its models. */
WEND_API wend_status wend_run_start(wend_agent *agent, wend_str prompt,
                                    const wend_run_options *options,
                                    wend_run **out, wend_error *err);

/* Starts the next run of a conversation: like wend_run_start, with the messages
 * of run `id` as its past. `id` is a full run id of a run that is over. An
 * answer that failed is left out, one that was canceled stays as far as it
 * came, and a call without a result gets one that says so. Config and limits
 * are those of that run, as for wend_run_resume; `take` says what is the
 * agent's instead. Turns, time and budgets count anew. User and session are
 * that run's unless the options name others. The labels of that run hold in
 * this one. `messages` has the results of its pending calls; without one, a
 * pending call gets an error. WEND_E_NOTFOUND: no such run. WEND_E_BUSY: it is
 * not over.
 * WEND_E_INVAL: it is a child, a plan, or one whose model writes plans.
 *
 * An imported run contributes its messages and nothing else, see
 * wend_run_resume. */
WEND_API wend_status wend_run_follow(wend_agent *agent, const char *id,
                                     wend_str prompt,
                                     const wend_run_options *options,
                                     wend_run **out, wend_error *err);

/* Resumes an unfinished run that no process owns, after its last kept event:
 * its process died or freed it. `id` is a full run id. Config, limits and
 * history come from the log. The agent supplies models and tools: tools are
 * called by name, and a call of a tool that the agent lacks fails. Only hook,
 * filter, take and limits of the options apply. Only time during which a
 * process owned the run counts towards its time limit. The first event is
 * run_resume; like a new run, it makes progress only while the runtime is
 * pumped. WEND_E_BUSY: another process, or another runtime of this one, owns
 * the run. WEND_E_CORRUPT: the log is damaged. WEND_E_INVAL: the run is over.
 *
 * An imported run (see wend_run_info) contributes its history and nothing else:
 * config and limits are the agent's unless `trust_log` is set; user and session
 * come from the options. Approvals in the log are decided again, children are
 * not resumed, and its text is labeled WEND_LABEL_UNTRUSTED_SOURCE. The same
 * holds for its forks and children. */
WEND_API wend_status wend_run_resume(wend_agent *agent, const char *id,
                                     const wend_run_options *options,
                                     wend_run **out, wend_error *err);

/* Waits for the next event and pumps the runtime meanwhile. The event is lent
 * until the next call on this run. WEND_END after run_end, as often as it is
 * called. Any other status: the run stopped without run_end, see
 * wend_run_error; it can be resumed. A child cannot be waited for:
 * WEND_E_MISUSE. */
WEND_API wend_status wend_run_next(wend_run *run, const wend_event **event);
/* Like wend_run_next, for at most timeout_ms: WEND_AGAIN if no event came. It
 * pumps at least once, even for 0. For hosts that must check something
 * regularly, such as signals or the lock of an interpreter. */
WEND_API wend_status wend_run_next_for(wend_run *run, uint32_t timeout_ms,
                                       const wend_event **event);
/* Like wend_run_next, but neither waits nor pumps: WEND_AGAIN if there is no
 * event yet. */
WEND_API wend_status wend_run_poll(wend_run *run, const wend_event **event);

/* Called while the runtime is pumped or the run is polled, on its thread. */
typedef void (*wend_listen_fn)(void *ctx, const wend_event *event);
/* Passes each event to `fn`, which is called by pump, next, poll and wait; next
 * and poll then return no events, only the end. Events that were not read yet
 * come first. NULL removes the listener. */
WEND_API wend_status wend_run_listen(wend_run *run, wend_listen_fn fn,
                                     void *ctx);
/* Like wend_run_listen; `release` is called for ctx when another listener
 * replaces this one or the run is gone. */
WEND_API wend_status wend_run_listen_release(wend_run *run, wend_listen_fn fn,
                                             void *ctx,
                                             wend_release_fn release);

/* Waits until the run is over, discards its events (a listener gets them) and
 * lends the answer, which is the text of run_end. WEND_OK however the run
 * ended: wend_run_outcome tells. On a run that is over it returns the answer
 * again. A run that asks for approval waits here until its listener calls
 * wend_run_approve or an answer comes by wend_store_tell. WEND_E_MISUSE:
 * nothing can give the approval, since the store is in memory, the run has
 * neither listener nor hook, and no other run of the runtime is in progress;
 * approve or cancel, then wait again. */
WEND_API wend_status wend_run_wait(wend_run *run, wend_str *text);

/* Adds a user message to the conversation; the model sees it with its next
 * request. Invalid UTF-8 is repaired. WEND_END: the run is over. WEND_E_INVAL:
 * it is a replay. WEND_E_LIMIT: over 64 MiB. */
WEND_API wend_status wend_run_say(wend_run *run, wend_str text);
/* Like wend_run_say, with up to 64 parts, which are copied. WEND_E_INVAL: one
 * is not valid, or the model is known not to accept it; wend_run_error says
 * why. */
WEND_API wend_status wend_run_say_parts(wend_run *run, wend_str text,
                                        const wend_part *parts, size_t count);
/* Answers an approval_ask. `call` is the id of the call, or of the action of a
 * plan. `by` is recorded as the initiator; NULL means "api". WEND_E_NOTFOUND:
 * nothing with this id waits for approval, which holds for most runs that are
 * over; else those return WEND_END. */
WEND_API wend_status wend_run_approve(wend_run *run, wend_str call, bool yes,
                                      const char *by);
/* Like wend_run_approve; the answer also holds for similar calls
 * (approval_ask.rule) of this run. Keeping it for other runs is up to the
 * host. */
WEND_API wend_status wend_run_approve_always(wend_run *run, wend_str call,
                                             bool yes, const char *by);
/* Approves a call or an action with other arguments than approval_ask shows:
 * `args`, a JSON object, is what runs, and approval_answer.args records it.
 * They are checked like those of the model. WEND_E_INVAL: they are not JSON, do
 * not match the schema of the tool or are denied by the policy (wend_run_error
 * tells why), or the call cannot be changed because it may have run already; it
 * still waits for approval. Others as wend_run_approve. */
WEND_API wend_status wend_run_approve_changed(wend_run *run, wend_str call,
                                              wend_str args, const char *by);
/* Pauses a run: the run and its children start nothing new; what is in progress
 * continues. WEND_END: the run is over. */
WEND_API wend_status wend_run_pause(wend_run *run);
/* Ends a pause. WEND_END: the run is over. */
WEND_API wend_status wend_run_continue(wend_run *run);
/* Shortens the conversation before the next request to the model: a summary
 * replaces all but the newest messages. `focus`, up to 4,096 bytes, says what
 * the summary is to keep above all; absent or empty: nothing special. Without a
 * summary the conversation stays as it is, and the warning not_compacted says
 * so. If the run sends no further request, the run that follows it
 * (wend_run_follow) does this. WEND_END: the run is over. */
WEND_API wend_status wend_run_compact(wend_run *run, wend_str focus);
/* Cancels a run, as wend_run_cancel_by with "api". [any thread] */
WEND_API wend_status wend_run_cancel(wend_run *run);
/* Cancels a run: the next pump ends all that is open, and the run ends as
 * canceled. `by`, 1 to 60 bytes, is recorded as the initiator; the first cancel
 * counts. On a run that is over it returns WEND_OK and does nothing. A canceled
 * replay ends with WEND_END, without run_end. WEND_E_MISUSE: the runtime is
 * gone. [any thread] */
WEND_API wend_status wend_run_cancel_by(wend_run *run, const char *by);

/* Returns the i-th unfinished child of the run, or NULL past the last. Lent
 * until the runtime is pumped. The host may poll its events, approve its calls
 * and say something to it, but neither wait for it nor free it. */
WEND_API wend_run *wend_run_child(wend_run *run, size_t i);

/* Returns the id of the run, valid until the run is freed. */
WEND_API const char *wend_run_id(const wend_run *run);
/* Tells how the run ended. WEND_AGAIN until run_end is in the store. Works
 * until the run is freed, also when its runtime is gone. */
WEND_API wend_status wend_run_outcome(const wend_run *run, wend_outcome *out);
/* Tells why the last call on this run failed, or why the run cannot continue;
 * empty, with status WEND_OK, after a call that succeeded. Lent. */
WEND_API const wend_error *wend_run_error(const wend_run *run);
/* Frees a run. An unfinished run stays in the store as interrupted and can be
 * resumed; cancel it first to end it. Calls that are open are canceled: their
 * tools may still answer, see wend_call_return. [any thread] */
WEND_API void wend_run_free(wend_run *run);

/* ---- Replay: a recorded run as a run ------------------------------------- */

typedef struct wend_replay_options {
    size_t size;
    double speed;     /* 1 = as recorded, 2 = twice as fast, 0 = at once */
    int64_t seq_from; /* first kept event, default 1 */
    int64_t seq_to;   /* last kept event; 0 = all */
    bool follow;      /* also events that are still being written, to run_end */
    wend_filter filter;
} wend_replay_options;

/* Replays a run of the runtime's store as a wend_run. `id` is a full run id;
 * options may be NULL. A replay calls no model and no tool. It can be read,
 * canceled and freed like a run; it accepts nothing else (WEND_E_INVAL). */
WEND_API wend_status wend_store_replay(wend_runtime *rt, const char *id,
                                       const wend_replay_options *options,
                                       wend_run **out, wend_error *err);

/* ---- Collector: the usual summary of a run ------------------------------- */

typedef struct wend_collector wend_collector;

/* Makes a collector. It belongs to no runtime and may be used on any thread,
 * on one at a time. */
WEND_API wend_status wend_collector_new(wend_collector **out);
/* Adds an event of the run, in order. Kept events are copied. */
WEND_API wend_status wend_collector_add(wend_collector *c,
                                        const wend_event *event);
/* Returns all text of the run so far, turn after turn, without the text of
 * models that plan actions ask. Lent until the next wend_collector_add. */
WEND_API wend_str wend_collector_text(const wend_collector *c);
/* Returns run_end.text; absent before run_end. Lent until the collector is
 * freed. */
WEND_API wend_str wend_collector_answer(const wend_collector *c);
/* Returns the i-th event of a type (kept types only), or NULL past the last:
 * results are WEND_CALL_END, errors WEND_ERROR, warnings WEND_WARNING. Lent
 * until the collector is freed. */
WEND_API const wend_event *wend_collector_get(const wend_collector *c,
                                              wend_event_type type, size_t i);
/* Frees a collector and everything it lent. */
WEND_API void wend_collector_free(wend_collector *c);

#include "wend_dialect.h"
#include "wend_plan.h"
#include "wend_trace.h"

#ifdef __cplusplus
}
#endif

#include "wend_store.h"
#include "wend_sim.h"

#endif

/*
 * runtime.h - the runtime: one loop on one thread.
 *
 * Everything here belongs to the thread that made the runtime, except the
 * mailbox.
 */
#ifndef LIB_RUNTIME_H
#define LIB_RUNTIME_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/options.h"
#include "core/turn/tt.h"
#include "host/env.h"
#include "host/fetch/fetch.h"
#include "host/loop.h"
#include "host/proc/proc.h"
#include "host/threads.h"
#include "store/store.h"

/* ---- Deadlines: a heap of timers that live in others (timers.c) ---------- */

struct timer_node {
    int64_t due_us; /* by the clock that never goes back */
    void (*fire)(struct timer_node *t);
    uint32_t place; /* in the heap, from 1; 0 = not set */
};

struct timers {
    const struct mem *mem;
    struct timer_node **heap;
    uint32_t count;
    size_t cap;
};

/* Sets or moves. False when out of memory. */
bool timer_set(struct timers *ts, struct timer_node *t, int64_t due_us);
void timer_clear(struct timers *ts, struct timer_node *t);
/* The nearest deadline, or INT64_MAX. */
int64_t timers_next(const struct timers *ts);
/* Takes out the nearest one if it is due. */
struct timer_node *timers_due(struct timers *ts, int64_t now_us);
void timers_free(struct timers *ts);

/* ---- Messages of other threads (mailbox.c) ------------------------------- */

enum post_kind {
    POST_COMMITTED,
    POST_RETURN,
    POST_OUTPUT,
    POST_CANCEL,
    POST_FREE_RUN,
    POST_FREE_AGENT,
};

struct post {
    struct post *next;
    enum post_kind kind;
};

/* Outlives the runtime while something has memory of its allocator: calls,
 * batches, agents and runs that the host has not freed. It has none itself,
 * and its end is that of the allocator. */
struct mailbox {
    wend_release_fn release; /* of the allocator; may be NULL */
    void *release_ctx;
    pthread_mutex_t lock;
    struct post *first, **tail;
    struct loop *loop; /* NULL once the runtime is gone */
    pthread_t owner;
    bool held;        /* by the runtime */
    unsigned batches; /* that the store has not answered */
    pthread_cond_t answered;
    atomic_int refs;
    atomic_bool any;          /* cheap look before the lock */
    atomic_bool store_failed; /* as the runtime's `failed`, for all threads */
    atomic_int use;           /* of the runtime, see handover.c */
};

/* NULL: no memory; then the allocator was released. */
struct mailbox *mailbox_new(wend_release_fn release, void *ctx);
void mailbox_ref(struct mailbox *b);
void mailbox_unref(struct mailbox *b);
/* [any thread] False if the runtime is gone: the post stays the caller's. */
bool mailbox_post(struct mailbox *b, struct post *p);
/* All posts so far, oldest first; the owner's. */
struct post *mailbox_take(struct mailbox *b);
/* [any thread] The loop, if it is there. */
void mailbox_wake(struct mailbox *b);
void mailbox_close(struct mailbox *b);
void mailbox_leave(struct mailbox *b); /* the runtime's unref */

/* Around the time that a batch is at the store. [any thread] */
void mailbox_sent(struct mailbox *b);
void mailbox_answered(struct mailbox *b);
/* Waits until no batch is there. For stores that answer from a thread. */
void mailbox_settle(struct mailbox *b);

/* ---- The runtime --------------------------------------------------------- */

struct wend_agent;
struct wend_run;
struct batch;
struct health;
struct tracer;

/* What lives on the loop besides runs: a server. */
struct rt_guest {
    struct rt_guest *next;
    void (*pass)(struct rt_guest *g); /* at the end of each pump */
    void (*gone)(struct rt_guest *g); /* the runtime is being freed */
};

struct wend_runtime {
    uint32_t magic;
    struct mem mem;
    const struct env *env;
    struct loop *loop;
    struct mailbox *mailbox;
    struct threads *threads; /* made with the first threaded call */
    struct fetch *fetch;     /* made with the first request */
    struct procs *procs;     /* made with the first program */
    struct timers timers;
    wend_store *store; /* held */
    pthread_t thread;
    unsigned process;      /* that made it; see store/forked.h */
    unsigned callbacks;    /* depth of callbacks of the host */
    struct wend_run *runs; /* all: the runtime may be freed first */
    struct wend_agent *agents;
    struct wend_run *dirty; /* have something to append */
    struct timer_node inbox_timer;
    size_t live;           /* runs that are not over */
    unsigned since_poll;   /* pumps without a look at the fd */
    wend_error failed;     /* status != WEND_OK: the store has failed */
    struct post *doomed;   /* runs and agents to be freed */
    struct arena scratch;  /* of one step */
    bool stepping;         /* it is in use: a step decides */
    bool inbox_failed;     /* and the runs were told so */
    struct batch *spare;   /* an empty one to use again */
    struct health *health; /* of models, see pool.h */
    struct rt_guest *guests;
    struct tracer *tracer; /* NULL: no spans, see lib/otel */
};

enum { RUNTIME_MAGIC = 0x77656e64, RUN_MAGIC = 0x72756e21 };

/* wend_runtime_new in a world of its own; the env is borrowed. */
wend_status rt_new(const wend_runtime_options *options, const struct env *env,
                   wend_runtime **out, wend_error *err);
/* WEND_OK, or why this call must not happen. */
wend_status rt_enter(const wend_runtime *rt);
/* The same; err names the call and the reason. */
wend_status rt_enter_for(const wend_runtime *rt, const char *what,
                         wend_error *err);
int64_t rt_wall(const wend_runtime *rt);
int64_t rt_clock(const wend_runtime *rt);
/* The clock `ms` milliseconds from now, at most INT64_MAX. */
int64_t rt_after(const wend_runtime *rt, int64_t ms);
/* Looks at mail, timers and the fd once; waits at most timeout_ms (-1 = no
 * limit) if there is nothing to do. */
void rt_pump(wend_runtime *rt, int timeout_ms);
void rt_flush(wend_runtime *rt); /* hands what is dirty to the store */
void rt_guest_add(wend_runtime *rt, struct rt_guest *g);
void rt_guest_remove(wend_runtime *rt, struct rt_guest *g);
void rt_store_failed(wend_runtime *rt, wend_status s);
/* WEND_OK, or WEND_E_STORE: nothing that needs the store begins any more. */
wend_status rt_check_store(const wend_runtime *rt, wend_error *err);
struct threads *rt_threads(wend_runtime *rt);
wend_status rt_fetch(wend_runtime *rt, struct fetch **out, wend_error *err);
wend_status rt_procs(wend_runtime *rt, struct procs **out, wend_error *err);

/* ---- Facts: fire-and-forget writes by name ------------------------------- */

/* Keeps a copy; a failure is not reported. */
void fact_keep(wend_runtime *rt, const struct store_fact *fact);
/* Appends the text of the fact; nothing if there is none. */
wend_status fact_text(wend_runtime *rt, wend_str space, wend_str key,
                      struct buf *out, wend_error *err);

/* ---- handover.c ---------------------------------------------------------- */

/* Around calls that pump or call the host back: handles that are freed in
 * between are destroyed by rt_end. False: the runtime was one of them. */
wend_status rt_begin(wend_runtime *rt);
bool rt_end(wend_runtime *rt);
/* rt_end if `inside`, for a call that returns `s`. */
wend_status rt_end_of(wend_runtime *rt, bool inside, wend_status s,
                      wend_error *err);
/* Frees what was handed over, except `but`, which a caller is reading. */
void rt_bury(wend_runtime *rt, const struct wend_run *but);
/* Whether it, or its runtime, is freed when the call that is inside ends. */
bool run_is_doomed(const struct wend_run *r);

void rt_destroy(wend_runtime *rt); /* runtime.c */
/* agent.c: frees it, or leaves that to the last of its runs. */
void agent_drop(wend_agent *a);

struct kept;

/* NULL without a release function. WEND_E_NOMEM: it was released at once. Its
 * memory is libc's: it may be the last that is left. */
wend_status kept_new(wend_release_fn release, void *ctx, struct kept **out,
                     wend_error *err);
struct kept *kept_ref(struct kept *k); /* [any thread]; of NULL NULL */
void kept_unref(struct kept *k);       /* [any thread] */

#endif

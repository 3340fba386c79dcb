/*
 * run.h - a run: its state, and how it starts and ends.
 *
 * Everything here belongs to the thread of its runtime.
 */
#ifndef LIB_RUN_H
#define LIB_RUN_H

#include "base/options.h"
#include "lib/agent/agent.h"
#include "lib/model/model.h"
#include "lib/run/batch.h"
#include "lib/run/show.h"
#include "store/lease.h"
#include "store/pack.h"

struct action_ask;
struct child;
struct tagging;
struct took;
struct veil;

struct run_timer {
    struct timer_node node;
    struct wend_run *run;
    int64_t ask;
    enum timer kind;
};

struct replay_player; /* replay.c */

/* The state before run_end, and that event: the store may refuse it. */
struct unended {
    struct turn turn;
    wend_ev_run_end end;
    wend_ev_error error;
};

struct wend_run {
    uint32_t magic;
    unsigned process;        /* that made it */
    struct mailbox *mailbox; /* stays until it is freed */
    wend_runtime *rt;        /* NULL once the runtime is gone */
    struct mem mem;
    struct post free_post;
    atomic_bool freed;             /* by the host */
    struct wend_run *next, **prev; /* rt->runs */
    struct wend_run *dirty_next;
    bool dirty;  /* it has an open batch: in rt->dirty */
    bool over;   /* it has its run_end */
    bool parked; /* released before its end: another owner may resume it */
    char id[40];
    wend_agent *agent; /* NULL for a replay */
    struct arena arena;
    struct turn turn;
    int64_t epoch;
    int64_t durable_seq; /* newest kept event that the store has */
    int64_t delta_n;     /* deltas since the newest kept event */
    struct lease lease;  /* from its start to its end in the store */
    int64_t last_us;     /* newest time given to an event */
    int64_t ahead_us;    /* its time, less the runtime's clock */
    bool clock_set;      /* ahead_us is known */
    wend_outcome outcome;
    struct session *session; /* the driver's */
    struct reply reply;
    int64_t asked; /* newest ask that went to the driver */
    bool replying; /* `reply` is that of an open model call */
    struct run_timer timers[TIMERS];
    struct timer_node pack_timer;
    struct pack pack;
    struct batch *open;              /* being filled */
    struct batch *sent, **sent_tail; /* at the store */
    size_t sent_bytes;               /* of them */
    struct wend_call *calls;
    struct veil *veil; /* over what its model says; NULL: no need so far */
    struct action_ask *asks;
    int64_t asks_count;           /* so far */
    struct took *took;            /* durations of ended work; see plan.h */
    const struct plan_past *past; /* NULL: not looked up */
    struct child *children;       /* that it waits for; see child.h */
    struct child *child;          /* what it is to its parent, else NULL */
    wend_str correlation;         /* of run_start */
    struct budget budget;         /* of the newest input */
    struct shown shown;
    wend_hook_fn hook;
    void *hook_ctx;
    struct kept *hook_kept;  /* NULL: it is not released, or its parent's */
    unsigned mode;           /* RUN_ bits: which of agent->configs */
    struct tagging *tagging; /* of a model that writes plans; or NULL */
    wend_str answer;         /* of run_end, lent by wait */
    wend_str end_limit, end_code, end_message; /* of run_end */
    struct unended *unended;                   /* NULL: it has not ended yet */
    wend_str late_cancel; /* who canceled it while its end was on its way */
    uint64_t heard;       /* of the newest step */
    struct store_birth birth;
    bool born, resumed;       /* the store has it; this run came from there */
    bool trusts;              /* the host trusts an imported log */
    struct trouble *troubles; /* that wait for its next step */
    wend_error error;         /* why it does not continue */
    wend_error said;          /* why the last call was refused */
    struct replay_player *player;
    struct post cancel_post;
    char cancel_by[CANCEL_BY_MAX + 1]; /* while it is posted */
    atomic_bool cancel_posted;
};

/* WEND_OK, or why this call must not happen. */
wend_status run_enter(struct wend_run *r);
struct wend_run *run_new(wend_runtime *rt, wend_error *err);
/* One that borrows the agent. */
struct wend_run *run_of(wend_agent *agent, const wend_run_options *o,
                        wend_error *err);
/* plan: NULL for a prompt alone; o: as run_options gives them. */
wend_status run_start(wend_agent *agent, wend_str prompt,
                      const struct plan *plan, const wend_run_options *o,
                      wend_run **out, wend_error *err);
/* resume.c: as wend_run_resume; its reader gets all that follows event
 * `after`, or with 0 what follows from now on. */
wend_status run_resume(wend_agent *agent, const char *id, int64_t after,
                       const wend_run_options *o, wend_run **out,
                       wend_error *err);
/* config_mix.c: members of the agent's config where `take` (WEND_FORK_ bits)
 * says so, else the log's; in `a`, absent if there is no memory. */
wend_str config_mix(wend_str log_json, wend_str agent_json, uint32_t take,
                    struct arena *a);
/* run_options.c: a copy, and the hook's ctx, to be held while a run is made ...
 */
wend_status run_options(const wend_run_options *options, wend_run_options *o,
                        struct kept **hook, wend_error *err);
/* ... and given to it, if it was; gives `s` back. */
wend_status run_give(wend_status s, wend_run **out, struct kept *hook);
/* run_options.c: user, session and correlation of the options. */
void run_name(struct wend_run *r, const wend_run_options *o);
void run_live(struct wend_run *r);   /* it is under way from here on */
void run_detach(struct wend_run *r); /* the runtime goes first */
/* Frees it, also inside a callback: the host must not be reading it. */
void run_drop(struct wend_run *r);

/* inbox.c: requests of other processes */
void inbox_serve(wend_runtime *rt); /* those of all runs that are live */
/* Gives IN_RESUME or IN_UNENDED with what waits for the run. */
wend_status inbox_input(struct wend_run *r, struct input *in, wend_error *err);
/* The store refused the end in b: requests were accepted before it. */
void inbox_unend(struct wend_run *r, struct batch *b);

/* replay.c */
/* Gives the text of a blob of this runtime's store. */
wend_status run_blob(void *ctx, wend_str hash, struct arena *a, wend_str *text);

#endif

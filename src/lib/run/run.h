/*
 * run.h - a run: its state, and how it starts and ends.
 *
 * Everything here belongs to the thread of its runtime.
 */
#ifndef LIB_RUN_H
#define LIB_RUN_H

#include "base/options.h"
#include "lib/agent/agent.h"
#include "lib/log/log.h"
#include "lib/model/model.h"
#include "store/lease.h"
#include "store/pack.h"

struct action_ask;
struct child;
struct tagging;
struct took;
struct veil;

/* ---- What the steps of a run add to the store, on its way there ---------- */

struct batch {
    struct post post; /* POST_COMMITTED */
    struct store_batch sb;
    struct mem mem;
    struct mailbox *mailbox;
    struct wend_run *run; /* NULL once the run is freed */
    struct batch *next;   /* of the run, oldest first */
    char id[40];          /* of the run, which may be gone before us */
    struct store_birth birth;
    struct arena arena;
    struct buf bytes; /* bodies one after the other */
    /* What sb counts; body.ptr of an event is an offset until batch_ready. */
    struct store_event *events;
    struct store_pack *packs;
    struct store_heard *heard; /* requests that it deals with */
    size_t events_cap, packs_cap, heard_cap;
    struct event_blob *blobs;
    struct event_blob *end_blobs; /* of run_end, which is the last event ... */
    size_t end_blobs_count;       /* ... this many in a row */
    wend_store *store;            /* that it was handed to */
    int64_t last_seq;
    size_t sent_bytes; /* what it weighs at the store */
    wend_status status;
    struct fx_node *effects, **effects_tail; /* once it is safe */
};

struct fx_node {
    struct fx_node *next;
    struct effect fx; /* args and key in the same block */
};

/* ---- The reader's side: a bounded queue, then the store ------------------ */

/* Events in order, visible up to durable_seq. */
struct shown {
    wend_event **ring;
    uint32_t cap, first, count;
    size_t bytes;
    wend_event *lent;       /* given out last */
    int64_t seq, n;         /* newest event given out or queued */
    bool lagged;            /* read on from the store after (seq, n) */
    struct log_reader *log; /* of a replay, else NULL */
    wend_filter filter;
    wend_listen_fn listen;
    void *listen_ctx;
    struct kept *listen_kept; /* NULL: it is not released */
    struct timer_node look;   /* there may be something to see then */
    /* a delta being merged */
    wend_event *held;
    struct buf held_text;
    uint32_t held_count;
    int64_t held_n; /* of the newest delta in it */
    struct timer_node held_timer;
};

/* ---- The run ------------------------------------------------------------- */

struct run_timer {
    struct timer_node node;
    struct wend_run *run;
    int64_t ask;
    enum timer kind;
};

struct replay_player; /* replay.c */
struct run_trace;     /* lib/otel */

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
    struct child_done end;   /* what of it a parent is told */
    struct unended *unended; /* NULL: it has not ended yet */
    wend_str late_cancel;    /* who canceled it while its end was on its way */
    uint64_t heard;          /* of the newest step */
    struct store_birth birth;
    bool born, resumed;       /* the store has it; this run came from there */
    bool trusts;              /* the host trusts an imported log */
    struct run_trace *trace;  /* NULL: it has no spans */
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
/* What a run begins with in place of what its agent says, if not absent or
 * NULL. */
struct run_past {
    wend_str config_json;
    wend_str model, cwd;
    const wend_ev_limits *limits;
    wend_str messages_json, follows, labels_json; /* of the conversation */
    wend_str refused_json;                        /* see turn_refusals_text */
    uint32_t refused; /* types of parts, by the model that is asked first */
    const struct event_blob *blobs; /* of its parts, if they are new */
    const wend_ev_part *parts;      /* of a child: that it is given */
    size_t parts_count;
    bool asked; /* it ends with what the model is to answer: the prompt may be
                   absent */
};

/* plan: NULL for a prompt alone; o: as run_options gives them; past: NULL for
 * none. */
wend_status run_start(wend_agent *agent, wend_str prompt,
                      const struct plan *plan, const wend_run_options *o,
                      const struct run_past *past, wend_run **out,
                      wend_error *err);
unsigned run_mode(const wend_run_options *o); /* RUN_ bits */
/* follow.c: the same with o->messages as its past, and o->client_tools. */
wend_status run_start_told(wend_agent *agent, wend_str prompt,
                           const wend_run_options *o, wend_run **out,
                           wend_error *err);
/* resume.c: as wend_run_resume; its reader gets all that follows event
 * `after`, or with 0 what follows from now on. */
wend_status run_resume(wend_agent *agent, const char *id, int64_t after,
                       const wend_run_options *o, wend_run **out,
                       wend_error *err);
/* resume.c: whether a run can have this config of run `id`'s log, but for what
 * is taken from an agent with that many models. */
wend_status config_usable(const struct config *c, const char *id, uint32_t take,
                          uint32_t models, wend_error *err);
/* mix.c: members of the agent's config where `take` (WEND_FORK_ bits)
 * says so, else the log's; in `a`, absent if there is no memory. */
wend_str config_mix(wend_str log_json, wend_str agent_json, uint32_t take,
                    struct arena *a);
enum { TAKE_HOOKS = 1 << 30 }; /* for it: whether the host has hooks */
/* A copy, and the hook's ctx, to be held while a run is made ... */
wend_status run_options(const wend_run_options *options, wend_run_options *o,
                        struct kept **hook, wend_error *err);
/* ... and given to it, if it was; gives `s` back. */
wend_status run_give(wend_status s, wend_run **out, struct kept *hook);
/* User, session and correlation of the options. */
void run_name(struct wend_run *r, const wend_run_options *o);
/* Checks them and the labels, which become canonical. */
wend_status run_name_check(struct arena *a, const wend_run_options *o,
                           wend_str *labels_json, wend_error *err);
/* As a host says them; false: one of them is invalid. */
bool run_limits(const wend_limits *l, wend_ev_limits *out);
/* Lowers limits to those that are wanted, where not 0. */
wend_status run_limits_lower(const wend_limits *wanted, wend_ev_limits *limits,
                             wend_error *err);
/* r->id: the wanted one, or a new one for NULL. */
wend_status run_make_id(struct wend_run *r, const char *wanted,
                        wend_error *err);
void run_live(struct wend_run *r);   /* it is under way from here on */
void run_detach(struct wend_run *r); /* the runtime goes first */
/* Frees it, also inside a callback: the host must not be reading it. */
void run_drop(struct wend_run *r);

/* run_tell.c: approvals */
bool run_waits_for_approval(const struct wend_run *r);
/* It waits for one that nothing can give: no other process reaches the store,
 * no callback of the host is to come, and no other run is in progress. */
bool run_waits_in_vain(const struct wend_run *r);

/* inbox.c: requests of other processes */
void inbox_serve(wend_runtime *rt); /* those of all runs that are live */
/* Gives IN_RESUME or IN_UNENDED with what waits for the run. */
wend_status inbox_input(struct wend_run *r, struct input *in, wend_error *err);
/* The store refused the end in b: requests were accepted before it. */
void inbox_unend(struct wend_run *r, struct batch *b);

/* ---- batch.c ------------------------------------------------------------- */

struct batch *batch_new(struct wend_run *r);
/* One without a run, whose bytes are zero; batch_end is the other end. */
void batch_init(struct batch *b, const struct mem *m);
void batch_end(struct batch *b);
/* Undoes a step that fails; before: a copy from before the step. */
void batch_undo(struct batch *b, const struct batch *before);
void batch_clear(struct batch *b); /* of events, effects and requests */
bool batch_event(struct batch *b, const wend_event *ev);
bool batch_pack(struct batch *b, struct pack *p);
bool batch_blobs(struct batch *b, const struct event_blob *list);
bool batch_effects(struct batch *b, const struct effect *fx);
/* Room for that many more requests that it deals with. */
bool batch_heard_room(struct batch *b, size_t more);
void batch_heard(struct batch *b, int64_t request, bool late);
/* Takes run_end out of a batch that the store refused. */
void batch_unend(struct batch *b);
/* The same after its run was freed: the next owner resumes it. */
void batch_leave(struct batch *b);
void batch_birth(struct batch *b, const struct store_birth *birth);
/* Fills sb; false: out of memory. */
bool batch_ready(struct batch *b);
/* False: it did not reach the store, for want of memory. */
bool batch_submit(struct batch *b, wend_store *store);
/* [any thread] Posts how it went. */
void batch_answer(struct batch *b, wend_status s);
size_t batch_bytes(const struct batch *b); /* that it holds on to */
void batch_done(struct batch *b);          /* frees it, or keeps it for reuse */
void batch_free(struct batch *b);

/* ---- parts.c ------------------------------------------------------------- */

struct wire_ask;

/* Adds the blob, the hash and the name of a part that media_look has filled;
 * bytes live as long as the blobs. See blobs->arena->failed. */
void part_finish(wend_ev_part *part, wend_str bytes, wend_str name,
                 struct event_blobs *blobs);
/* Parts of a host, checked, for a model that is asked next; NULL: for any. The
 * bytes stay the caller's, except for text: keys in it are blanked if there is
 * an agent. */
struct parts_given {
    const wend_part *parts;
    size_t count;
    const wend_agent *agent; /* may be NULL */
    const struct model_use *model;
    uint32_t refused; /* types that it has refused: 1 << enum media_type */
};
wend_status parts_take(const struct parts_given *g, struct arena *a,
                       struct said_parts *out, wend_error *err);
/* Whether this model takes them all in one message; NULL: any model. If not,
 * *at is the index of the one to blame. */
wend_status parts_fit(const wend_part *const *parts, size_t count,
                      const struct model_use *model, const struct mem *mem,
                      size_t *at, wend_error *err);
/* The same of parts that the log has. */
wend_status parts_accepted(const wend_ev_part *parts, size_t count,
                           const struct model_use *model, const struct mem *mem,
                           wend_error *err);
/* A part of a message in wend_run_options.messages; ctx is a part_source. */
struct part_source {
    wend_store *store;
    const wend_agent *agent;
    struct event_blobs blobs; /* that are new */
};
wend_status part_told(void *ctx, const struct json *part, wend_ev_part *out,
                      wend_error *err);
/* The parts of a request of another process; what is left out is said in the
 * text. */
void parts_heard(struct wend_run *r, const struct json *body, struct arena *a,
                 struct input *in);
wend_status part_bytes(wend_store *store, wend_str hash, struct arena *a,
                       wend_str *out, wend_error *err);
/* Reads the bytes of the parts that the next request carries. */
wend_status run_media(struct wend_run *r, const struct turn *t, struct arena *a,
                      struct wire_ask *q, wend_error *err);

/* ---- show.c -------------------------------------------------------------- */

bool show_event(struct wend_run *r, const wend_event *ev);
void show_unend(struct wend_run *r);   /* run_end was not kept */
void show_visible(struct wend_run *r); /* to the listener, if there is one */
/* Takes over `kept`, which may be NULL. */
void show_listen(struct wend_run *r, wend_listen_fn fn, void *ctx,
                 struct kept *kept);
/* Makes a waiting reader look, and the listener hear, at that time. */
void show_at(struct wend_run *r, int64_t due_us);
/* The next visible event, now lent; NULL if none is. */
const wend_event *show_next(struct wend_run *r);
/* IN_PAUSE, IN_CONTINUE, or IN_COMPACT with its focus; `by` is recorded. */
wend_status run_control(struct wend_run *r, enum input_kind kind, wend_str text,
                        wend_str by);
/* As wend_run_poll, also while the runtime is pumped. */
wend_status run_poll(struct wend_run *r, const wend_event **event);
/* What comes next cannot be read; seq is what is damaged. */
void show_lost(struct wend_run *r, wend_status why, int64_t seq);
void show_free(struct wend_run *r);

/* ---- replay.c ------------------------------------------------------------ */

bool replay_due(struct wend_run *r, const wend_event *ev);
bool replay_read(struct wend_run *r, const wend_event *ev);
void replay_drained(struct wend_run *r); /* the store has no more now */
bool replay_over(const struct wend_run *r);
void replay_cancel(struct wend_run *r); /* nothing more is given out */
void replay_free(struct wend_run *r);

/* ---- run_context.c ------------------------------------------------------- */

/* run_start.context of a new run; absent: its agent wants none. */
wend_status run_context(struct wend_run *r, wend_str *out, wend_error *err);
/* If its model is told less of its tools than the agent says. */
void run_warn_tools(struct wend_run *r);

/* ---- run_tell.c ---------------------------------------------------------- */

/* Why the call or action that waits for approval may not run with these
 * arguments (canonical JSON); absent: it may, or it does not wait. */
wend_str run_args_refused(const struct wend_run *r, wend_str call,
                          wend_str args, struct arena *a);

/* ---- trouble.c ----------------------------------------------------------- */

/* An error whose code is the component. */
void run_error(struct wend_run *r, const char *component, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void run_warn(struct wend_run *r, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void run_inherit_troubles(struct wend_run *r); /* those that the agent has */
/* Tells all runs of the agent; stands: also those that start later. */
void agent_trouble(wend_agent *a, const struct trouble *t, bool stands);
void agent_forget_trouble(wend_agent *a, wend_str of);

#endif

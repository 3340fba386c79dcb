/*
 * lib.h - the handles behind wend.h. Only for src/lib.
 *
 * Everything here belongs to the runtime's thread, except the mailbox and
 * what of a call says otherwise.
 */
#ifndef LIB_LIB_H
#define LIB_LIB_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/network.h"
#include "base/options.h"
#include "base/redact.h"
#include "core/turn/tt.h"
#include "host/env.h"
#include "host/fetch/fetch.h"
#include "host/loop.h"
#include "host/proc/proc.h"
#include "host/threads.h"
#include "lib/runtime/kept.h"
#include "lib/runtime/mailbox.h"
#include "lib/runtime/timers.h"
#include "lib/runtime/tool_keep.h"
#include "store/pack.h"
#include "store/store.h"
#include "tools/tools.h"

/* ---- Runtime ------------------------------------------------------------- */

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
    unsigned callbacks;    /* depth: callbacks of the host under way */
    struct wend_run *runs; /* all, for the day the runtime goes first */
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
};

enum { RUNTIME_MAGIC = 0x77656e64, RUN_MAGIC = 0x72756e21 };

/* wend_runtime_new in a world of its own; the env is borrowed. */
wend_status rt_new(const wend_runtime_options *options, const struct env *env,
                   wend_runtime **out, wend_error *err);
/* WEND_OK, or why this call must not happen. */
wend_status rt_enter(const wend_runtime *rt);
/* The same, and says of what call and why not. */
wend_status rt_enter_for(const wend_runtime *rt, const char *what,
                         wend_error *err);
int64_t rt_wall(const wend_runtime *rt);
int64_t rt_clock(const wend_runtime *rt);
/* The clock in so many milliseconds; INT64_MAX if it has no such time. */
int64_t rt_after(const wend_runtime *rt, int64_t ms);
/* Looks at mail, timers and the fd once; waits at most timeout_ms (-1 = no
 * limit) if there is nothing to do. */
void rt_pump(wend_runtime *rt, int timeout_ms);
void rt_flush(wend_runtime *rt); /* hands what is dirty to the store */
void rt_store_failed(wend_runtime *rt, wend_status s);
/* WEND_OK, or WEND_E_STORE: nothing that needs the store begins any more. */
wend_status rt_check_store(const wend_runtime *rt, wend_error *err);
struct threads *rt_threads(wend_runtime *rt);
wend_status rt_fetch(wend_runtime *rt, struct fetch **out, wend_error *err);
wend_status rt_procs(wend_runtime *rt, struct procs **out, wend_error *err);

/* ---- Agent --------------------------------------------------------------- */

struct codec;
struct driver;
struct health;
struct model;
struct mcp_server;
struct action_ask;
struct agent_kid;
struct tagging;
struct child;

/* What of an agent's config is a run's own business; bits. */
enum { RUN_HOOKS = 1, RUN_PLANS = 2, RUN_MODES = 4 };

/* What the built-in tools work with. A call that was given up may be at
 * work when its agent is gone: each call holds on to it. */
struct workplace {
    struct tool_env env;
    struct mem mem;
    atomic_int refs;
};

struct agent_tool {
    struct agent_tool *next;
    wend_str name;
    wend_tool_fn fn;
    void *ctx;
    struct kept *kept;       /* ctx; NULL: it is not released */
    struct workplace *place; /* NULL: a tool of the host's */
    bool threaded;
    int64_t cache_ms; /* answers are given again so long; 0 = never */
    struct pace pace;
    struct answers answers;
    struct agent_tool *check; /* says whether a lost call had its effect */
};

struct tool_set {
    struct agent_tool *first;
    size_t count;
    struct buf json; /* `{...},{...}` */
};

struct wend_agent {
    wend_runtime *rt;        /* NULL once the runtime is gone */
    unsigned process;        /* that made it */
    struct mailbox *mailbox; /* stays until it is freed */
    struct mem mem;
    struct post free_post;
    atomic_bool freed;               /* by the host */
    struct wend_agent *next, **prev; /* rt->agents */
    struct arena arena;
    wend_str name, model, cwd;
    wend_str root;          /* cwd in the bytes that the system knows it by */
    struct network network; /* that tools may reach besides the public one */
    struct web_env web;     /* the same with what else the options say */
    wend_ev_limits limits;
    struct tool_set tools;
    struct tool_set ends;   /* of relics, for plans; no model sees them */
    struct buf relics_json; /* what is needed to make them again */
    struct buf rest_json;   /* the other members of the config */
    struct config *configs[RUN_MODES]; /* parsed on first use */
    struct driver *driver;
    wend_str keys[KEYS_MAX]; /* of its models' providers, and what its tools
                                and servers were granted */
    size_t keys_count;
    struct workplace *place; /* made with the first built-in tool */
    struct mcp_server *servers;
    struct trouble *troubles; /* that each of its runs is told */
    struct agent_kid *kids;   /* in the order they were added */
    bool offers_task;         /* its model may give them tasks */
    bool no_tool_calls;       /* its model calls no tools */
    wend_tool_info info;      /* lent last */
    unsigned runs;            /* that borrow it */
    bool gone;                /* freed by the host while runs go on */
    bool sandbox_off;         /* programs run without */
    bool memory_user;         /* what is remembered counts in all folders */
    bool parallel_given;      /* so that it counts for plans, too */
};

/* WEND_OK, or why the call that `what` names must not happen. */
wend_status agent_enter(const wend_agent *a, const char *what, wend_error *err);
/* The parsed config for runs of that mode. */
wend_status agent_config(wend_agent *a, unsigned mode, wend_error *err);
void agent_changed(wend_agent *a); /* runs keep the config they have */
struct agent_tool *agent_tool(const wend_agent *a, wend_str name);
/* relic.endpoint; NULL if there is none. */
struct agent_tool *relic_end(const wend_agent *a, wend_str target);
/* `"key":"value"`, the value of a host made valid. */
void agent_put(struct buf *b, const char *key, const char *value);
/* Where a tool comes from. */
struct tool_kind {
    const char *source;
    struct workplace *place; /* of a built-in tool, else NULL */
    struct kept *kept;       /* its ctx; NULL: it is not released */
    bool program, sandbox_off;
    bool of_relic;  /* an endpoint for plans */
    wend_str hands; /* JSON members that say how to make it again, or none */
};

wend_status agent_add(wend_agent *a, const wend_tool_options *t,
                      const struct tool_kind *kind, wend_error *err);
/* agent_models.c: makes a->driver and the part of rest_json about models. */
wend_status agent_models(wend_agent *a, const wend_agent_options *o,
                         wend_error *err);
/* agent_models.c: the text with the keys of the models' providers blanked;
 * the same one if there are none in it. */
wend_str agent_blank(const wend_agent *a, wend_str text, struct arena *out);
/* `,"labels":[...]` of a policy; nothing if there are no rows. */
wend_status agent_put_label_rows(struct buf *b, const wend_agent_options *o,
                                 wend_error *err);
/* From now on this value is blanked, too, wherever it shows up. */
wend_status agent_hide(wend_agent *a, wend_str secret, wend_error *err);
void agent_detach(wend_agent *a);  /* the runtime goes first */
void agent_release(wend_agent *a); /* one run less */
void workplace_unref(struct workplace *w);
void agent_drop_servers(wend_agent *a); /* mcp.c: ends them */
/* mcp.c: `,"mcp":[...]`, what is needed to reach them again. */
void agent_put_servers(const wend_agent *a, struct buf *b);
/* `,"key":["...",...]`, nothing if there is none or one is no UTF-8. */
void agent_put_list(struct buf *b, const char *key, const char *const *list,
                    size_t count);

/* plan.c */
wend_status plan_enter(const wend_plan *plan, wend_error *err); /* as others */
const struct plan *plan_inside(const wend_plan *plan);          /* lent */

/* ---- Driver: how a model is asked ---------------------------------------- */

struct wend_run;

/* What a driver keeps for one run; the first member of its own struct. */
struct session {
    const struct driver_ops *ops;
};

struct driver_ops {
    /* A run's session; NULL when out of memory. */
    struct session *(*open)(struct driver *d, struct wend_run *run);
    /* Starts asking. What comes of it is told through shell_*, from inside
     * this call only if asking failed at once. */
    void (*ask)(struct session *s, const struct turn *t, int64_t ask);
    /* What was asked last has ended: answered, or failed with this code.
     * NULL: it does not want to know. */
    void (*ended)(struct session *s, wend_str code);
    /* An answer that the log has: the model was asked with this turn, before
     * this session began. NULL: it does not want to know. */
    int64_t (*recall)(struct session *s, const struct turn *t);
    /* What recall gave was cut off, and will be asked for again. */
    void (*give_back)(struct session *s, const struct turn *t, int64_t taken);
    void (*stop)(struct session *s);
    void (*close)(struct session *s);
    void (*free)(struct driver *d);
};

struct driver {
    const struct driver_ops *ops;
    wend_str model;        /* name shown in events */
    wend_str key;          /* the provider's secret; absent: none is known */
    int64_t output_tokens; /* that a request allows an answer; 0: not said */
};

/* model_facts.c: what the file of models says about this one, nothing if
 * there is none; `output` is the agent's own if it has one. Refuses a limit
 * of cost that cannot be kept. */
wend_status model_facts(const wend_agent_options *o, const char *model,
                        const struct mem *m, struct model *out,
                        wend_error *err);

/* What of an agent's options is the driver's business. */
struct driver_options {
    wend_str spec; /* the model's name after the provider and its colon */
    const char *base_url, *key_file, *ca_file;
    const char *record_dir, *playback_dir;
    int64_t output_tokens; /* 0: not known */
    enum effort effort;
    int64_t whole_ms;       /* for one answer, all of it */
    bool tape_may_be_empty; /* to play: it was never asked */
    bool http2, insecure_http;
};

wend_status driver_open(const char *model, struct driver_options o,
                        const struct mem *m, struct driver **out,
                        wend_error *err);
/* One for each kind: a script, and providers over HTTP. */
wend_status script_driver_open(const struct driver_options *o,
                               const struct mem *m, struct driver **out,
                               wend_error *err);
wend_status http_driver_open(const struct codec *codec,
                             const struct driver_options *o,
                             const struct mem *m, struct driver **out,
                             wend_error *err);

/* ---- Run ----------------------------------------------------------------- */

/* What is on its way into the store. */
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
    size_t events_count, events_cap, packs_count, packs_cap, blobs_count;
    struct store_event *events; /* body.ptr is an offset until submitted */
    struct store_pack *packs;
    struct event_blob *blobs;
    struct store_heard *heard; /* requests that it deals with */
    size_t heard_count, heard_cap;
    struct event_blob *end_blobs; /* of run_end, which is the last event ... */
    size_t end_blobs_count;       /* ... so many in a row */
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

/* The reader's side: events in order, visible up to durable_seq. */
struct shown {
    wend_event **ring;
    uint32_t cap, first, count;
    size_t bytes;
    wend_event *lent; /* given out last */
    int64_t seq, n;   /* newest event given out or queued */
    bool lagged;      /* go on from the store after (seq, n) */
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

struct run_timer {
    struct timer_node node;
    struct wend_run *run;
    int64_t ask;
    enum timer kind;
};

struct player; /* replay.c */

/* Where a run stood before its run_end, and what that said. */
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
    bool dirty, over;
    bool parked; /* let go before its end: somebody else may take it up */
    char id[40];
    wend_agent *agent; /* NULL for a replay */
    struct arena arena;
    struct turn turn;
    int64_t epoch, durable_seq, delta_n;
    int64_t last_us;  /* newest time given to an event */
    int64_t ahead_us; /* by so much its time is ahead of the runtime's clock */
    bool taken_up;    /* that is known */
    wend_outcome outcome;
    struct session *session;
    struct reply reply;
    int64_t asked; /* newest ask that went to the driver */
    bool replying;
    struct run_timer timers[TIMERS];
    struct timer_node pack_timer;
    struct pack pack;
    struct batch *open;              /* being filled */
    struct batch *sent, **sent_tail; /* at the store */
    size_t sent_bytes;               /* of them */
    struct wend_call *calls;
    struct veil *veil; /* over what its model says; NULL: no need so far */
    struct action_ask *asks;
    int64_t asks_count;           /* that there were */
    struct took *took;            /* what ended took; see learned.h */
    const struct plan_past *past; /* NULL: not looked up */
    struct child *children;       /* that it waits for; see child.h */
    struct child *child;          /* what it is to its parent, else NULL */
    wend_str correlation;         /* of run_start */
    struct purse purse;           /* lent last */
    struct shown shown;
    wend_hook_fn hook;
    void *hook_ctx;
    struct kept *hook_kept;  /* NULL: it is not released, or its parent's */
    unsigned mode;           /* of its config */
    struct tagging *tagging; /* of a model that writes plans; or NULL */
    wend_str answer;         /* of run_end, lent by wait */
    wend_str end_limit, end_code, end_message; /* of run_end */
    struct unended *unended;                   /* NULL: it has not ended yet */
    wend_str late_cancel; /* who canceled it while its end was on its way */
    uint64_t heard;       /* of the newest step */
    struct store_birth birth;
    bool born, resumed;       /* the store has it; it was taken up from there */
    bool trusts;              /* the host answers for an imported log */
    struct trouble *troubles; /* that wait for its next step */
    wend_error error;         /* why nothing goes on */
    wend_error said;          /* why the last call was refused */
    struct player *player;
    struct post cancel_post;
    char cancel_by[CANCEL_BY_MAX + 1]; /* while it is posted */
    atomic_bool cancel_posted;
};

/* shell.c: the only place where mind and hands meet */
void shell_input(struct wend_run *r, struct input *in);
void shell_committed(struct batch *b);
void shell_submit(struct wend_run *r);
struct batch *shell_batch(struct wend_run *r); /* open; NULL: no memory */
void shell_fail(struct wend_run *r, wend_status s, const char *message);
/* A driver's answers; ignored unless `ask` is the open one. */
bool shell_open(const struct wend_run *r, int64_t ask);
void shell_text(struct wend_run *r, int64_t ask, wend_str piece);
/* The same, whatever tags are in it. */
void shell_plain(struct wend_run *r, int64_t ask, wend_str piece);
void shell_thinking(struct wend_run *r, int64_t ask, wend_str piece);
int shell_call(struct wend_run *r, int64_t ask, wend_str id, wend_str name);
void shell_args(struct wend_run *r, int64_t ask, int call, wend_str piece);
void shell_seal(struct wend_run *r, int64_t ask, int call);
void shell_opaque(struct wend_run *r, int64_t ask, wend_str json);
/* Replaces what was told before. */
void shell_usage(struct wend_run *r, int64_t ask, const wend_ev_usage *usage);
/* The message begins anew: what was gathered is void. False if one of its
 * calls has started: then the message is there to stay. */
bool shell_restart(struct wend_run *r, int64_t ask);
void shell_done(struct wend_run *r, int64_t ask, wend_str finish,
                const wend_ev_usage *usage);
void shell_model_fail(struct wend_run *r, int64_t ask,
                      const struct model_error *e);
void shell_output(struct wend_run *r, wend_str call, wend_str text);
void shell_action_output(struct wend_run *r, uint32_t action, wend_str text);
/* A piece of what an action's model says. */
void shell_action_delta(struct wend_run *r, wend_event_type type,
                        uint32_t action, wend_str text, int64_t now_us);
int64_t shell_now(struct wend_run *r); /* for an event, never going back */

/* batch.c */
/* Where a batch stood before a step, to go back if the step fails. */
struct batch_mark {
    size_t events_count, bytes_len, blobs_count;
    struct event_blob *blobs;
    struct fx_node **effects_tail;
    int64_t last_seq;
};

struct batch *batch_new(struct wend_run *r);
struct batch_mark batch_mark(const struct batch *b);
void batch_undo(struct batch *b, struct batch_mark m);
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
/* The same, when its run is gone: the run stays for its next owner. */
void batch_leave(struct batch *b);
void batch_birth(struct batch *b, const struct store_birth *birth);
/* False: it did not reach the store, for want of memory. */
bool batch_submit(struct batch *b, wend_store *store);
/* [any thread] Posts how it went. */
void batch_answer(struct batch *b, wend_status s);
size_t batch_bytes(const struct batch *b); /* that it holds on to */
bool shell_may_read(const struct wend_run *r);
void batch_done(struct batch *b); /* frees it, or keeps it for reuse */
void batch_free(struct batch *b);

/* show.c */
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
/* What comes next cannot be read; seq is what is damaged. */
void show_lost(struct wend_run *r, wend_status why, int64_t seq);
void show_free(struct wend_run *r);
bool show_wants(const struct shown *s, wend_event_type type);

/* inbox.c: requests of other processes */
void inbox_serve(wend_runtime *rt); /* those of all runs that are live */
/* Gives IN_RESUME or IN_UNENDED with what waits for the run. */
wend_status inbox_input(struct wend_run *r, struct input *in, wend_error *err);
/* The store refused the end in b: requests were accepted before it. */
void inbox_unend(struct wend_run *r, struct batch *b);

/* replay.c */
/* Gives the text of a blob of this runtime's store. */
wend_status run_blob(void *ctx, wend_str hash, struct arena *a, wend_str *text);

/* run.c */
/* WEND_OK, or why this call must not happen. */
wend_status run_enter(struct wend_run *r);
struct wend_run *run_new(wend_runtime *rt, wend_error *err);
/* One that borrows the agent. */
struct wend_run *run_of(wend_agent *agent, const wend_run_options *o,
                        wend_error *err);
/* plan: NULL for a prompt alone. */
wend_status run_start(wend_agent *agent, wend_str prompt,
                      const struct plan *plan, const wend_run_options *options,
                      wend_run **out, wend_error *err);
/* resume.c: as wend_run_resume; its reader gets all that follows event
 * `after`, or with 0 what follows from now on. */
wend_status run_resume(wend_agent *agent, const char *id, int64_t after,
                       const wend_run_options *options, wend_run **out,
                       wend_error *err);
/* config_mix.c: members of the agent's config where `take` (WEND_FORK_ bits)
 * says so, else the log's; in `a`, absent if there is no memory. */
wend_str config_mix(wend_str log_json, wend_str agent_json, uint32_t take,
                    struct arena *a);
/* options.c: a copy, and the hook's ctx, to be held while a run is made ... */
wend_status run_options(const wend_run_options *options, wend_run_options *o,
                        struct kept **hook, wend_error *err);
/* ... and given to it, if it was; gives `s` back. */
wend_status run_give(wend_status s, wend_run **out, struct kept *hook);
/* options.c: a string of the host's, made valid; of NULL absent. */
wend_str run_clean(struct wend_run *r, const char *s);
/* The same for user, session and correlation of the options. */
void run_name(struct wend_run *r, const wend_run_options *o);
void run_live(struct wend_run *r);   /* it is under way from here on */
void run_detach(struct wend_run *r); /* the runtime goes first */
/* Frees it, also inside a callback: nothing of the host's may be reading it. */
void run_drop(struct wend_run *r);

#include "lib/run/call.h"

#endif

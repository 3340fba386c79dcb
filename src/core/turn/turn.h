/*
 * turn.h - the state of a run: an immutable value, evolved by events.
 *
 * turn_apply changes one struct and nothing that it points to: history, calls
 * and results are lists that only grow at their head. So a copy of the struct
 * stays valid: a fork starts from one, and an old state can be read while a
 * newer one runs. In all structs here a wend_str with ptr NULL is absent.
 *
 *     PH_NEW --run_start--> PH_BETWEEN --turn_start--> PH_TURN
 *     PH_TURN --model_start--> PH_MODEL --model_end--> PH_CALLS
 *     PH_CALLS --turn_end--> PH_BETWEEN      any --run_end--> PH_END
 *     PH_BETWEEN --plan_start--> PH_PLAN, in a run that is one plan
 *     PH_PLAN --turn_start--> PH_TURN, if that plan failed: a model replans
 *     PH_MODEL --model_end(superseded)--> PH_TURN, after a crash
 *     PH_MODEL --model_end--> PH_TURN, if it was asked for a summary, or if
 *                             the request was too long and is asked shorter
 */
#ifndef CORE_TURN_H
#define CORE_TURN_H

#include "base/limits.h"
#include "core/config/config.h"
#include "core/context/context.h"
#include "core/event/event.h"
#include "core/plan/plan_state.h"
#include "core/turn/circle.h"

enum phase { PH_NEW, PH_BETWEEN, PH_TURN, PH_MODEL, PH_CALLS, PH_PLAN, PH_END };

/* What holds for a call of the current message. */
enum call_flag {
    CALL_STARTED = 1,
    CALL_ENDED = 2,
    CALL_ASKED = 4, /* for approval */
    CALL_ANSWERED = 8,
    CALL_APPROVED = 16,
    CALL_LOST = 32,       /* open when its process died, not settled yet */
    CALL_SUPERSEDED = 64, /* ... and that attempt has its end: it starts again,
                             in this step or in that of a fork */
};

/* Why the run is being stopped; outcome NONE while it is not. */
struct stop {
    wend_outcome outcome;
    wend_str limit, code, message;
};

/* What has become of a call; each change adds one in front. */
struct call_state {
    const struct call_state *prev;
    uint32_t index;  /* of the call */
    int64_t attempt; /* 0: it has not begun */
    wend_str args;   /* that its tool got: a hook may have changed them */
    wend_str child;  /* the run that it waits for; absent: none */
    wend_str key;    /* stays, also in a fork: the effect is the same one */
    wend_str shown;  /* arguments for approval; absent: none was asked */
    bool changed;    /* ... which came with the approval: the model is told */
    wend_outcome outcome; /* NONE: it has not ended */
    bool client;          /* it has, and the caller executes it */
    wend_str output;
    const wend_ev_part *parts; /* that come with the output */
    size_t parts_count;
};

/* What a model has refused: it is not asked for it again. */
struct refusal {
    const struct refusal *prev;
    wend_str spec, base_url; /* which model, see struct model_use */
    uint32_t media;          /* 1 << enum media_type */
    uint32_t dropped;        /* parameters, as core/config/params.h has them */
};

/* A child of the run that this one tries again: see wend_ev_unfinished. */
struct unfinished {
    const struct unfinished *next;
    wend_str call, action, run, input;
    wend_str as;             /* the run that continues it; absent: none yet */
    wend_ev_metrics metrics; /* that count already */
};

/* What is known about how a model counts, and which one it is. */
struct asked_model {
    uint32_t at;
    wend_str name;
    int64_t refused_tokens, limit_tokens, used_tokens, used_estimate, ratio;
};

struct turn {
    enum phase phase;
    wend_str run;
    int64_t seq;     /* of the newest kept event */
    int64_t time_us; /* of the newest kept event */
    int64_t started_us;
    int64_t idle_us; /* since started_us: how long no process owned it */
    int64_t lives;   /* processes that owned it; a fork counts from its start */
    const struct config *config;
    wend_str context_json;     /* of run_start */
    const struct frame *frame; /* of both: what a request says first */
    wend_str model;
    wend_ev_limits limits;
    bool redefined; /* its log has another config: its children follow it */

    int64_t counter; /* of this turn, -1 before the first */
    wend_str id, parent_id;

    const struct msg *first; /* the prompt of the run; NULL: not begun */
    const struct msg *history;
    const struct msg *pending; /* newer messages; join at context_start */
    const struct msg *aside;   /* the history while a summary of it is asked
                                  for: then `history` is that request */
    struct asked_model own;    /* while another model writes it; else no name */
    wend_str context_model;    /* of the newest context */
    bool forked;               /* since the newest context ... */
    bool reconfigured;         /* ... and with another config */
    bool recut;                /* ... and with a shorter history, */
    int64_t recut_byte;        /* the same up to here */
    bool entered;              /* this turn has had a context */

    int64_t compactions;    /* so far */
    int64_t settled;        /* messages after the newest one; -1: another one
                               may follow without a new message */
    bool trimmed;           /* that one cut results: a summary may follow */
    int64_t refused_tokens; /* of a request that this model refused as too
                               long; 0: none */
    int64_t refused;        /* how many of them in this turn */
    int64_t limit_tokens;   /* the window, as a refusal named it; 0: none did */
    int64_t used_tokens;    /* that the provider counted; 0: nothing counts */
    int64_t used_estimate;  /* what we estimate for the same messages */
    int64_t ratio;          /* provider's count to estimate, in thousandths;
                               0: not known */
    bool results_cut;       /* the model may read cut results ... */
    const struct msg *gone; /* ... and those that were left out, newest first */
    bool fold;              /* a compaction is asked for, not done yet ... */
    bool folding;           /* ... since before the newest context */
    wend_str focus;         /* what its summary is to keep above all */
    int64_t summary_tries;  /* since then, that failed */
    wend_str summary;       /* written, not in use yet; absent: none */

    int64_t ask;              /* number of model attempts so far */
    int64_t attempt;          /* of this model call, from 1 */
    int64_t tries;            /* of them with this model */
    uint32_t model_at;        /* which of the config's models is asked */
    int64_t model_us;         /* when this model call began */
    struct allowance allowed; /* for the answer */
    wend_purpose purpose;     /* of this model call */
    bool repair;              /* an answer did not fit the schema */
    bool repair_used;         /* the model was asked to repair it */
    bool part;                /* model_part has been written for this message */
    bool again;               /* the model call was cut off: ask once more */
    bool halted;      /* the model paused: it continues when asked again */
    bool cut;         /* the message reached the output limit */
    bool unanswered;  /* the newest message broke off: it is no answer */
    bool context;     /* context_start without its end, after a fork */
    bool metrics_due; /* a turn, a plan or a forgotten action ended */
    const struct unfinished *unfinished; /* one of a call or an action */
    const struct refusal *refusals;      /* newest first */

    const struct call *calls; /* of this message, last one first */
    uint32_t calls_count, failed_calls;
    unsigned char flags[CALLS_MAX];                 /* call_flag, by index */
    const struct call_state *states;                /* newest first */
    wend_str part_text, part_thinking, part_opaque; /* of model_part */

    struct circle circle;    /* whether its calls repeat themselves */
    wend_ev_metrics metrics; /* its cost: what is known of it */
    bool unpriced;           /* ... and that is not all: see turn_metrics */
    uint32_t labels; /* wend_label: what its calls brought into the run */
    bool imported;   /* its past is not trusted: see turn_resume */
    const struct remembered *rules; /* newest first; before the config's */
    wend_str answer;                /* text of the newest answer message */
    bool paused;
    bool paused_above; /* by its parent; it continues with the parent */
    struct stop stop;
    struct plan_state plan;

    wend_str file_plan;    /* name of run_start.plan; absent: it has none */
    int64_t plans;         /* that a model wrote in this run */
    wend_str plan_call;    /* the call of this turn that writes `plan` */
    wend_str plan_args;    /* of the newest call of the tool plan that began */
    wend_str plan_stop;    /* why no turn follows: no_actions, no_progress,
                              final */
    int64_t plan_failures; /* plans in a row that failed */
    wend_str plan_why;     /* the newest of these failures */
};

void turn_init(struct turn *t);

/* Where turn_apply allocates. `known`: a parsed config; one with the same JSON
 * is not parsed again. */
struct keep {
    struct arena *arena;
    const struct config *known; /* may be NULL */
};

/* Evolves the turn by one event. On a failed allocation k->arena->failed is
 * set and the turn must not be used any more. */
void turn_apply(struct turn *t, const wend_event *ev, const struct keep *k);

const struct call *turn_call(const struct turn *t, uint32_t index);
/* -1 if this message has no call with that id. */
int turn_call_index(const struct turn *t, wend_str id);
bool turn_call_runs(const struct turn *t, uint32_t index);
uint32_t turn_running(const struct turn *t);
/* The tool or the relic's endpoint that an action uses; NULL: neither. */
const struct tool *turn_action_tool(const struct turn *t, uint32_t action);
wend_class turn_action_class(const struct turn *t, uint32_t action);
/* Whether the caller executes calls of this message: then no turn follows. */
bool turn_hands_over(const struct turn *t);
/* Whether the call waits for an approval. */
bool turn_call_waits(const struct turn *t, uint32_t index);
/* Running calls and actions; the call of a plan does not count. */
uint32_t turn_busy(const struct turn *t);
/* The call whose plan runs; -1 if there is none, or its message is open. */
int turn_plan_call(const struct turn *t);
/* A model is writing a plan, and at least one action of it is complete. */
bool turn_plan_open(const struct turn *t);
/* Its newest state; all zero if it has none yet. */
const struct call_state *turn_call_state(const struct turn *t, uint32_t index);
/* A copy of that to change, the newest from now on; NULL: out of memory. */
struct call_state *turn_change_call(struct turn *t, uint32_t index,
                                    const struct keep *k);
/* The sum, or INT64_MAX if it overflows. */
int64_t i64_sum(int64_t a, int64_t b);
/* Adds to what is spent or reserved; nothing lowers that, nor wraps. */
void spend(int64_t *spent, int64_t more);
/* Adds what counts for a run and for all above it: not its time, nor its
 * turns. */
void metrics_add(wend_ev_metrics *m, const wend_ev_metrics *more);
/* What `all` has more than `part`; nothing is below 0, but an unknown cost. */
wend_ev_metrics metrics_more(const wend_ev_metrics *all,
                             const wend_ev_metrics *part);
/* The child that this call or action, the other absent, may continue; the one
 * that run `as` continues. NULL: none. */
const struct unfinished *turn_unfinished(const struct turn *t, wend_str call,
                                         wend_str action);
const struct unfinished *turn_continued(const struct turn *t, wend_str as);
/* The metrics as events tell them. A sum with an unknown part is unknown: one
 * model call without a cost makes the cost of the run -1. */
wend_ev_metrics turn_metrics(const struct turn *t);
/* The one that an action with this target asks. */
const struct model_use *turn_target_model(const struct turn *t,
                                          wend_str target);
/* What that model of the config has refused. */
uint32_t turn_dropped(const struct turn *t, const struct model_use *m);
/* The model that is asked now, of the config's. */
const struct model_use *turn_model(const struct turn *t);
/* The maximum that the request has for its answer: what a budget leaves, else
 * `usual`. */
int64_t turn_answer_tokens(const struct turn *t, int64_t usual);
/* The JSON Schema that the answer is asked for with; absent: free text, as a
 * summary is. */
wend_str turn_schema(const struct turn *t);
/* Whether readers see what this model call says as it comes. */
bool turn_shows_deltas(const struct turn *t);
/* Estimated tokens of the next request: what the provider counted for the last
 * one, and what is new since. */
int64_t turn_tokens(const struct turn *t);
/* The same with `more` tokens, counted as an average family has them. */
int64_t turn_tokens_with(const struct turn *t, int64_t more);
struct token_map turn_map(const struct turn *t);
/* The same for another model, of which nothing is counted yet. */
int64_t turn_tokens_for(const struct turn *t, const struct model_use *m);
/* A provider has counted a request with these messages. */
void turn_on_usage(struct turn *t, const wend_ev_usage *u,
                   const struct msg *asked);
/* The provider refused the newest request as too long, and says this. */
void turn_on_refused(struct turn *t, wend_str message);
/* How long processes had it, by that time. */
int64_t turn_ran_us(const struct turn *t, int64_t time_us);

/* What one kind of event does, for turn.c. An imported run that resumes forgets
 * what its log allowed: approvals, remembered rules, its time and its budgets.
 */
typedef void turn_event_fn(struct turn *t, const wend_event *ev,
                           const struct keep *k);
turn_event_fn turn_fork, turn_resume, turn_child_start, turn_child_end,
    turn_on_plan_start, turn_on_plan_action, turn_on_plan_end,
    turn_on_action_end, turn_on_action_retry, turn_on_warning,
    turn_on_compacted;
void turn_on_context_start(struct turn *t, const struct keep *k);
void turn_on_context_end(struct turn *t);
/* A model is asked for a summary of the history; and what became of it. */
void turn_ask_summary(struct turn *t, wend_str model, const struct keep *k);
/* Back to the model of the conversation. */
void turn_ask_own(struct turn *t);
void turn_on_summary(struct turn *t, const wend_ev_model_end *e,
                     const struct keep *k);
/* A compaction is asked for; and it is done, or cannot be. */
void turn_fold(struct turn *t, wend_str focus, const struct keep *k);
void turn_unfold(struct turn *t);
/* Whether the model is offered read_result. */
bool turn_reads(const struct turn *t);
/* What a request to the turn's model may have. */
struct context_room turn_room(const struct turn *t);
/* The same for a compaction that is asked for. */
struct context_room turn_fold_room(const struct turn *t);

/* turn_fork.c: usage that run_fork brings, NULL: none; the child is continued;
 * a new turn continues none before it. */
void turn_take_redone(struct turn *t, const wend_ev_metrics *redone);
void turn_continue(struct turn *t, const wend_ev_child_start *e,
                   const struct keep *k);
void turn_forget_unfinished(struct turn *t, const struct keep *k);

/* Adds labels to the run; absent: none. */
void turn_take_labels(struct turn *t, wend_str labels_json,
                      const struct keep *k);
/* Replaces the config; false if it is invalid, or out of memory. */
bool turn_take_config(struct turn *t, wend_str json, const struct keep *k);
/* A control event's value, and what it does. */
void limits_write(struct buf *b, const wend_ev_limits *l); /* if not 0 */
void turn_take_limits(struct turn *t, const struct json *value);
/* Adds a rule in front of all others. */
void turn_remember(struct turn *t, wend_str text, const struct keep *k);

/* call_start of a plan: it is complete. */
void turn_on_plan_call(struct turn *t, wend_str call, const struct keep *k);
/* Its message broke off. */
void turn_on_plan_cut(struct turn *t, const struct keep *k);
void turn_on_plan_result(struct turn *t, const wend_ev_call_end *e,
                         const struct keep *k);
/* The plan that a model begins to write in this turn, with what the plans
 * before it gave as its inputs; NULL: out of memory. */
struct plan *turn_new_plan(const struct turn *t, wend_str name,
                           struct arena *a);
uint32_t tool_labels(const struct tool *tool); /* 0 for NULL */

/* Puts a message whose strings are kept on the history; false for NULL. */
bool turn_history_add(struct turn *t, struct msg *m);
void turn_join_pending(struct turn *t, const struct keep *k);
/* The results of the calls of this turn, also of those without one. */
void turn_add_results(struct turn *t, const struct keep *k);

/* ---- turn_media.c: parts of messages ------------------------------------- */

/* What it adds to a request, as an average family of models has it. */
int64_t part_tokens(const wend_ev_part *p, const struct model_use *m);
/* The member "parts" of a message, or of the values of an action: a copy in the
 * arena; NULL if there are none, or memory runs out. */
const wend_ev_part *parts_of(const struct json *j, struct arena *a,
                             size_t *count);
/* Part n, from 0, of those that an entry of an action's files means; NULL: it
 * has fewer. */
const wend_ev_part *turn_file(const struct turn *t, const struct plan_file *f,
                              size_t n);
/* Whether the model is known not to accept the part, in a request with that
 * many images. Appends a sentence about `shown` then. */
bool part_refused(const struct model_use *m, const wend_ev_part *p,
                  size_t images, wend_str shown, struct buf *why);
/* Those that the messages of the conversation have. */
uint32_t turn_media_present(const struct turn *t);
/* The parts that the next request carries, newest first: those that the model
 * accepts, as many as the provider's limits leave room for. In the arena; NULL:
 * out of memory. */
const wend_ev_part **turn_media_sent(const struct turn *t, struct arena *a,
                                     size_t *count);
/* Names the others, and says why: for the user. since: the answer to the last
 * request that the user was told about, NULL: none; what that one omitted is
 * not named again. Absent if there are none; see a->failed. */
wend_str turn_media_omitted(const struct turn *t, const struct msg *since,
                            struct arena *a);
/* The types that a provider's words refuse, out of those present. */
uint32_t media_in_words(wend_str message, uint32_t present);

/* ---- turn_refused.c: what models have refused ---------------------------- */

/* The types that the model which is asked accepts, as far as is known. */
uint32_t turn_media(const struct turn *t);
uint32_t turn_media_of(const struct turn *t, const struct model_use *m);
/* Notes the parameters and types of parts that a model refused. */
void turn_take_dropped(struct turn *t, const struct model_use *m,
                       wend_str dropped_json, const struct keep *k);
/* As the reason of model_retry has them: "refused image". */
wend_str media_reason(uint32_t types, struct arena *a);
/* Takes a reason of media_reason; others change nothing. */
void turn_note_refused(struct turn *t, wend_str reason, const struct keep *k);
/* All of it for another run, as run_start.past_refused has it; absent: nothing,
 * or a->failed. */
wend_str turn_refusals_text(const struct turn *t, struct arena *a);
void turn_take_refusals(struct turn *t, wend_str json, const struct keep *k);

#endif

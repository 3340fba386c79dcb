/*
 * tt.h - tt, the tail-recursive turn function: decides what happens next.
 *
 * tt(turn, input) gives events (what happened) and effects (what the shell must
 * do), and does nothing itself. Its last act in a turn is to name the argument
 * of its own next call, the turn_start event; the shell loops, so no stack
 * grows. Events are applied as they are decided, because the next decision of
 * the same step needs to see them; step->turn is the state after all of them.
 * In inputs and effects, as in turns, a wend_str with ptr NULL is absent.
 */
#ifndef CORE_TT_H
#define CORE_TT_H

#include "core/turn/reply.h"
#include "core/turn/turn.h"

enum input_kind {
    IN_START,       /* start */
    IN_HOOK,        /* hook */
    IN_SEALED,      /* one more call of the reply is complete */
    IN_WRITTEN,     /* one more action of a plan in the reply is complete */
    IN_WARN,        /* ask, text: a part of the reply that cannot be read */
    IN_MODEL_DONE,  /* ask; the reply is complete */
    IN_MODEL_FAIL,  /* ask, error */
    IN_CALL_DONE,   /* done */
    IN_ACTION_DONE, /* done: action, attempt instead of turn, call */
    IN_APPROVAL,    /* approval */
    IN_TIMER,       /* timer, ask for TIMER_RETRY */
    IN_CANCEL,      /* by */
    IN_STOP,        /* by, text: a hook ends the run */
    IN_SAY,         /* text */
    IN_PAUSE,       /* by */
    IN_CONTINUE,    /* by */
    IN_COMPACT,     /* by, text: what the summary is to keep; absent: all */
    IN_CHECKED,     /* done: whether lost work had its effect: outcome OK,
                       SKIPPED (it had not), else unknown; call absent:
                       action, attempt */
    IN_RESUME,      /* epoch; reply: what the log has of an open message;
                       requests */
    IN_UNENDED,     /* requests, end: the store refused run_end (`end`), since
                       it had accepted these requests before */
    IN_TROUBLE,     /* troubles, which IN_START and IN_RESUME may have, too */
};

/* A problem of a component that does not end the run. */
struct trouble {
    struct trouble *next;
    bool warning; /* else an error */
    bool retryable;
    wend_str code, message, component;
    wend_str of; /* whose problem, by name: the agent forgets it by this */
};

enum timer { TIMER_RUN, TIMER_RETRY, TIMER_METRICS, TIMER_STOP, TIMERS };

struct model_error {
    wend_str code; /* network timeout rate_limit service auth ... */
    wend_str message;
    bool retry_never;       /* whatever the code says */
    bool resting;           /* not asked at all, see lib/model/pool.c */
    int64_t retry_after_ms; /* the provider's wish; 0 = none */
    uint32_t refused;       /* what it was asked for, core/config/params.h */
};

/* How a child ended: its run_end, and what it leaves behind. */
struct child_done {
    wend_outcome outcome;
    wend_str text, limit, code, message;
    uint32_t labels; /* wend_label */
    wend_ev_metrics metrics;
    bool late; /* it was stopped, since its time was over */
};

struct call_done {
    int64_t turn; /* counter: an answer to an older turn is late */
    wend_str call;
    wend_outcome outcome;
    wend_str output;           /* valid UTF-8; the message if not ok */
    wend_str code;             /* of the error, if not ok */
    wend_str structured;       /* of a call: JSON besides; absent: none */
    const wend_ev_part *parts; /* of a call: that come with the output ... */
    size_t parts_count;
    const struct event_blob *blobs; /* ... and their bytes */
    bool effect_possible, cached;
    bool client; /* of a call: the caller executes it */
    int64_t ms;
    const struct child_done *child; /* then all of the above follows from it */
    /* of an action */
    uint32_t action; /* its index */
    int64_t attempt; /* an answer to an older one is late */
    bool json;       /* output is JSON already */
    wend_str reason; /* why it was skipped */
    uint32_t labels; /* wend_label: what it brings besides its tool's */
    bool retryable;
    bool uncached;    /* the cache has no answer: its child may start */
    uint32_t refused; /* by its model, as in struct model_error */
};

/* As an input: what the budgets of this run and its parents leave for all
 * open requests to models of this run. What the input itself brings is not
 * counted yet: the usage of an answer or of a child. INT64_MAX: no limit. */
struct budget {
    int64_t tokens, cost_nano;
    int64_t others;   /* runs that share it and may ask next */
    int64_t children; /* turn_children of the state that they were counted in */
};

struct hook_done {
    int64_t turn;
    wend_str call; /* absent: the hook before a turn */
    wend_hook_answer answer;
    wend_str text; /* canonical JSON if it changes arguments */
};

/* What a message comes with: descriptions, and the bytes. */
struct said_parts {
    const wend_ev_part *list;
    size_t count;
    const struct event_blob *blobs;
    wend_str refused; /* why others were left out; absent: none were */
};

/* A request of another process that the run has not heard yet. */
struct remote_request {
    enum input_kind kind; /* IN_CANCEL IN_SAY IN_PAUSE IN_CONTINUE IN_COMPACT;
                             any other comes too late */
    wend_str by, text;
    bool pin; /* of IN_SAY: a compaction keeps it */
    struct said_parts parts;
};

struct input {
    enum input_kind kind;
    int64_t time_us;
    /* What the model has written so far, NULL when no call is open. */
    const struct reply *reply;
    const struct budget *budget; /* NULL: no other run shares its budgets */
    int64_t ask;                 /* which model attempt this is about */
    const wend_ev_run_start *start;
    const struct event_blob *blobs; /* with start: bytes of parts of its past */
    /* With the start of a plan: what each action took in the past, -1 if that
     * is not known; NULL: nothing is known. */
    const int64_t *learned_ms;
    const struct plan_past *past; /* for plans of models; NULL: none */
    wend_str run;                 /* with start */
    wend_str compact; /* with start: a compaction comes first, as IN_COMPACT
                         asks for one; absent: only if it is crowded */
    size_t repaired;  /* bad bytes replaced in the prompt */
    bool hides;       /* with start and over: the sandbox can hide paths */
    struct model_error error;
    struct call_done done;
    struct hook_done hook;
    struct {
        wend_str call, by;
        wend_str args; /* canonical JSON instead of what was shown; or absent */
        bool yes, remember;
    } approval;
    enum timer timer;
    bool pin;                /* IN_SAY: a compaction keeps it */
    struct said_parts parts; /* with start, IN_SAY */
    wend_str text, by; /* IN_RESUME: who cancels it at once; else absent */
    int64_t epoch;
    /* IN_RESUME: model, limits, config_json and imported, as the event has
     * them; NULL: nothing changes. */
    const wend_ev_run_resume *over;
    /* IN_RESUME: limits that hold from here on, where they are not 0; NULL:
     * none. */
    const wend_ev_limits *limits;
    struct remote_request *requests; /* oldest first, at most REQUESTS_MAX */
    size_t requests_count;
    const wend_ev_run_end *end;
    struct trouble *troubles; /* oldest first */
};

enum effect_kind {
    FX_ASK_MODEL,  /* ask; the same number again is the same request */
    FX_STOP_MODEL, /* ask */
    /* call, or NULL: action; attempt, args, key, tool, timeout_ms */
    FX_RUN_CALL,
    FX_STOP_CALL,
    FX_RUN_ACTION, /* after delay_ms */
    FX_STOP_ACTION,
    FX_START_CHILD, /* child, child_of, child_config, after delay_ms; one that
                       the store has is resumed */
    FX_CHECK,
    FX_TIMER, /* timer, delay_ms, ask; replaces an earlier one */
    FX_HOOK,  /* call, or absent before a turn */
};

struct effect {
    struct effect *next;
    enum effect_kind kind;
    int64_t ask;
    int64_t turn;
    const struct call *call; /* kept with the turn */
    const struct tool *tool;
    wend_str args; /* for the tool: a hook may have changed them */
    wend_str key;
    enum timer timer;
    int64_t delay_ms;
    uint32_t action; /* index in the plan */
    int64_t attempt, timeout_ms;
    wend_str child;    /* its run; kept with the turn, as the next one is */
    wend_str child_of; /* the run that it continues; absent: none */
    const struct child_config *child_config;
};

struct step_event {
    struct step_event *next;
    wend_event ev;
};

/* scratch and keep are the caller's; tt fills the rest. If scratch or
 * keep->arena failed, the step must be thrown away. */
struct step {
    struct arena *scratch; /* events and effects, until the next step */
    const struct keep *keep;
    struct turn turn;
    struct step_event *events, **events_tail;
    struct effect *effects, **effects_tail;
    struct event_blobs blobs; /* besides those of long strings */
    size_t events_count;
    uint64_t heard; /* bit i: requests[i] counts; the others came too late.
                       Bit 0 for an input that is a request itself */
    const struct turn *unended; /* the state before run_end, in case the store
                                   refuses it; NULL: no run_end */
};

/* tt_budget.c: the most that the open model calls may still cost. */
void turn_reserved(const struct turn *t, struct budget *out);
/* Calls and actions under way that a run of their own answers. */
int64_t turn_children(const struct turn *t);
/* A request is open whose cost will not be known: a crash would leave it so. */
bool turn_asks_unpriced(const struct turn *t);

/* tt_work.c: why the call or action that waits for approval may not run with
 * these arguments (canonical JSON); absent: it may. In the arena. */
wend_str changed_refused(const struct turn *t, wend_str id, wend_str args,
                         struct arena *a);

/* tt_child.c: what the child of that open call or action, the other absent, is
 * given, as wend_ev_unfinished has it; absent: it has none. In the arena. */
wend_str turn_child_input(const struct turn *t, wend_str call, wend_str action,
                          struct arena *a);

void step_begin(struct step *s, struct arena *scratch, const struct keep *k);
void tt(const struct turn *t, const struct input *in, struct step *s);

#endif

/*
 * plan_state.h - how far a plan is: part of the turn, evolved by events.
 *
 *     AT_WAITS --dependencies--> AT_READY --action_start--> AT_RUNS
 *     AT_WAITS --dependencies--> AT_SKIPS (with a reason), AT_BREAKS
 *     AT_READY --approval_ask--> AT_APPROVAL --approval_answer--> AT_READY
 *     AT_RUNS --run_resume, run_fork--> AT_LOST --action_start--> AT_RUNS
 *     AT_LOST --action_end(superseded)--> AT_LOST, its bracket closed
 *     AT_LOST --approval_ask--> AT_DOUBTED --approval_answer--> AT_LOST
 *     any --action_end--> AT_ENDED
 *
 * What follows from an event without a choice happens with it: an action
 * becomes ready, or is to be skipped, when the last one it waited for ends,
 * and its condition is looked at then. It waits for its dependencies, and
 * then for providers of values it refers to (value edges of the graph).
 * tt_plan.c makes the choices.
 *
 * How an action *counts* for those that wait for it is not always how it
 * ended: a fallback may take its place, a failure may count as skipped, and
 * one that is fire_and_forget counts as ok once it has started.
 */
#ifndef CORE_PLAN_STATE_H
#define CORE_PLAN_STATE_H

#include "core/event/event.h"
#include "core/plan/plan.h"
#include "core/plan/pvec.h"

enum action_at {
    AT_WAITS,
    AT_READY,
    AT_SKIPS,    /* its end is still to be written: skipped */
    AT_BREAKS,   /* ... failed, since its condition has no value */
    AT_APPROVAL, /* waits for approval */
    AT_RUNS,
    AT_LOST,    /* ran when the run was interrupted; not running now */
    AT_DOUBTED, /* ... and waits for approval to run again */
    AT_ENDED,
    ACTION_ATS
};

/* Marks in plan_state.actions. */
enum {
    MARK_READY,
    MARK_SETTLE, /* AT_SKIPS and AT_BREAKS */
    MARK_RUNS,   /* AT_RUNS, AT_LOST and AT_DOUBTED */
    MARK_OPEN    /* neither started nor ended */
};

/* How long the answer to a request may be, so that a budget holds. */
struct allowance {
    int64_t tokens; /* reserved for it; 0: what the model is allowed anyway */
    wend_str
        limit; /* the budget that it is cut at: tokens or cost; absent: none
                */
};

/* Files that came with a result. */
struct plan_parts {
    const wend_ev_part *list;
    size_t count;
};

struct action_state {
    enum action_at at;
    wend_outcome outcome; /* once it has ended */
    wend_outcome counts;  /* for those that wait: OK, FAILED, SKIPPED; NONE */
    bool triggered;       /* the action that it is the fallback for has
                             failed, or it is not a fallback */
    bool answered, approved;
    bool refused; /* policy or a check kept its target from running */
    bool asking;  /* of a model: its model_end is still to come */
    struct allowance allowed; /* ... for its answer */
    bool superseded;          /* its bracket is closed, and it starts again */
    bool again;               /* it has begun once more after an interruption */
    int64_t attempt;          /* from 1 once it has started */
    int64_t began_us;
    uint32_t waits; /* dependencies that do not count yet */
    uint32_t oks, fails;
    uint32_t values; /* providers that may still give a value it refers to */
    wend_str reason; /* of AT_SKIPS, AT_BREAKS; of a model's plan also why it
                        ended as it did */
    wend_str params; /* resolved, once asked about or started */
    wend_str output; /* kept for a fallback, whose action may take it, and
                        for all in a model's plan */
    const struct plan_parts *parts; /* ... for a fallback; NULL: none */
    wend_str child; /* the run that it waits for; absent: none */
    bool left;      /* its child has ended, or is left to another run */
    wend_str key;   /* while it runs; stays, also in a fork */
};

/* It waits for approval. */
static inline bool action_needs_approval(const struct action_state *s)
{
    return s->at == AT_APPROVAL || s->at == AT_DOUBTED;
}

/* How many actions run at once when the plan says "auto": one more whenever
 * that many ended at a higher rate than those before, half after a failure
 * that means "too many". */
enum { PLAN_PACE_FIRST = PARALLEL_DEFAULT };

struct plan_pace {
    uint32_t slots;
    uint32_t ended;           /* in this window */
    uint32_t last_ended;      /* in the one before */
    int64_t from_us, last_us; /* when this one began; how long that took */
};

struct plan_state {
    const struct plan *plan;   /* NULL: this run has none */
    const int64_t *learned_ms; /* by action, -1: none; NULL: none at all */
    const uint32_t *place;     /* of an action in `actions`: best first */
    const uint32_t *action;    /* ... and back */
    struct pvec actions;       /* of struct action_state */
    struct pvec values;        /* by slot of plan->keys, of wend_str */
    struct pvec parts;         /* ... of struct plan_parts; empty: no value has
                                  any */
    bool started, ended;       /* plan_start, plan_end */
    int64_t started_us;
    uint32_t running, holding;    /* that take a slot; of them, sync */
    uint32_t approvals;           /* actions that wait for one */
    uint32_t left;                /* plan_end waits for */
    uint32_t ok, failed, skipped; /* of those that ended */
    uint32_t canceled, unknown;   /* ... none of these */
    bool broken;                  /* a failure that counts */
    wend_str why;                 /* the newest failure, until one counts */
    wend_str cause;               /* of the first one: what to tell people */
    wend_str wrong; /* why a model's plan is invalid: nothing more starts */
    struct plan_pace pace;
};

/* The plan's beginning: actions without dependencies become ready. */
void plan_begin(struct plan_state *p, const wend_event *ev, struct arena *a);
/* The plan is this one now: it has one action more, or it is complete. */
void plan_grow(struct plan_state *p, const struct plan *plan, struct arena *a);
/* The next state, in place; events about others change nothing. */
void plan_evolve(struct plan_state *p, const wend_event *ev, struct arena *a);

/* The process that ran it is gone, and for gap_us no other process had it: what
 * runs is lost, and that time does not count. */
void plan_interrupt(struct plan_state *p, int64_t gap_us, struct arena *a);

const struct action_state *plan_action_state(const struct plan_state *p,
                                             uint32_t i);
/* Replaces it; s lives in the arena. NULL: in a state that is not shared yet,
 * without a copy. */
void plan_keep_state(struct plan_state *p, uint32_t i,
                     const struct action_state *s, struct arena *a);
/* The next action with the mark, best first, after place `*place` (0 at
 * first); or PLAN_NONE. */
uint32_t plan_marked(const struct plan_state *p, unsigned mark,
                     uint32_t *place);
uint32_t plan_slots(const struct plan_state *p);
/* Nothing more starts, what runs is told to stop. */
bool plan_fails_fast(const struct plan_state *p);

/* The values that these references need, in `a`. */
bool plan_scope(const struct plan_state *p, const struct ref *refs,
                struct arena *a, struct scope *out);
/* All values. */
bool plan_scope_all(const struct plan_state *p, struct arena *a,
                    struct scope *out);

/* What came with the value of a slot; NULL: nothing. */
const struct plan_parts *plan_parts_of(const struct plan_state *p,
                                       uint32_t slot);
void plan_set_parts(struct plan_state *p, uint32_t slot,
                    const struct plan_parts *parts, struct arena *a);
/* The files of values that p has of another state, by name. */
void plan_keep_parts(struct plan_state *p, const struct plan_state *old,
                     struct arena *a);

/* Places and empty vectors for p->plan; then each action gets its state. */
bool plan_room(struct plan_state *p, struct arena *a);

/* For plan_grow.c: whether what it waits for lets it start, or never will. */
void plan_look_at_deps(const struct plan_state *p, uint32_t i,
                       struct action_state *s, struct arena *a);

/* plan_learned.c: durations by action from plan_start, NULL if it has none;
 * what follows for the order, NULL if there is no memory. */
const int64_t *plan_learned_of(const struct plan *p, wend_str actions_json,
                               struct arena *a);
const int64_t *plan_learned_rank(const struct plan *p,
                                 const int64_t *learned_ms, struct arena *a);

#endif

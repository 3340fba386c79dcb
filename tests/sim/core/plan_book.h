/*
 * plan_book.h - a plan that was made up, and what a reader of the log knows
 * about how far it is.
 */
#ifndef SIM_CORE_PLAN_BOOK_H
#define SIM_CORE_PLAN_BOOK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/config.h"
#include "core/event/event.h"
#include "core/plan/plan.h"

enum { ACTIONS_MAX = 8, CHILD_ID = 48, NO_ACTION = -1 };

/* What was written, before it is compiled. */
struct made_action {
    enum action_type type;
    enum action_mode mode;
    uint32_t deps; /* bits; also of decisions that name it */
    bool any;      /* the first that ends ok is enough */
    bool skip_on_error;
    int fallback, fallback_of; /* or NO_ACTION */
    int64_t retry_max;
    bool never;              /* its condition does not hold */
    int class_;              /* wend_class, -1: that of its target */
    const struct tool *tool; /* NULL: none, or unknown */
    bool cached;
    int chosen, other; /* actions that a decision names; or NO_ACTION */
    int of;            /* the action whose value it refers to; or NO_ACTION */
    int files;         /* the tool whose files it gets; or NO_ACTION */
};

/* Each tool but every third gives a file, which has its name. */
static inline bool act_gives_file(uint32_t i)
{
    return i % 3 != 2;
}

struct made_plan {
    struct made_action a[ACTIONS_MAX];
    uint32_t count;
    int64_t slots; /* 0: as many as go well */
    bool fail_fast, continues;
};

struct book_action {
    bool started, ended, asked, answered, yes, unheard;
    bool ran, begun; /* FX_RUN_ACTION, FX_START_CHILD of this attempt */
    bool fresh;      /* started in this step, for the first time */
    bool lost;       /* its process is gone */
    bool closed;     /* ... and its attempt has ended as superseded */
    bool doubted;    /* it may not run again: it begins only to end */
    bool child;      /* a run of its own is at it */
    bool left;       /* ... was, and has ended or is another run's */
    bool asking;     /* its model call is open */
    bool ready;      /* it may start, whatever is decided then */
    char child_id[CHILD_ID];
    int64_t attempt;
    int64_t allowed; /* tokens that the log reserves for its answer */
    wend_outcome outcome;
};

struct plan_book {
    const struct made_plan *made; /* NULL: this run is no plan */
    struct book_action a[ACTIONS_MAX];
    bool open, over; /* plan_start, plan_end were read */
};

int act_index(const struct plan_book *b, wend_str id);
struct book_action *act_find(struct plan_book *b, wend_str id);
bool act_runs(const struct book_action *a);
bool act_waits(const struct book_action *a);
bool outcome_failed(wend_outcome o);
bool plan_broken(const struct plan_book *b);
bool plan_stops(const struct plan_book *b);
uint32_t acts_running(const struct plan_book *b);
bool acts_hold(const struct plan_book *b);
bool is_child_type(const struct made_action *m);
bool act_is_unsafe(const struct made_action *m);
const char *act_waits_for(const struct plan_book *b, int i);
struct book_action *act_parent(struct plan_book *b, wend_str run);
void plan_book_add(struct plan_book *b, const wend_event *ev);

#endif

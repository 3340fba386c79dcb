/*
 * sim.h - the state of one simulated run.
 *
 * The simulated shell does what lib/run does, with nothing real in it: it
 * stores the events of a step, then performs the effects. Besides it keeps
 * what the laws need: the log as bytes, a second state folded from these
 * bytes, and a book of what a reader of the log knows.
 */
#ifndef SIM_CORE_SIM_H
#define SIM_CORE_SIM_H

#include <stdarg.h>
#include <stdio.h>

#include "sim/seeds.h"
#include "state/state.h"
#include "base/chance.h"
#include "book.h"
#include "core/turn/tt.h"

enum {
    OUT_MAX = 256, /* effects that wait for an answer */
    PAST_MAX = 24, /* inputs that may come a second time */
    CALLS_PER_MESSAGE = 8,
    SAYS_MAX = 24,   /* in a run, so that the book stays small */
    PATIENCE = 1500, /* inputs until an answering world must have ended */
};

/* An effect that the world has yet to answer. */
struct out {
    enum effect_kind kind; /* FX_RUN_CALL, FX_RUN_ACTION, FX_TIMER, FX_HOOK */
    int64_t ask, turn, due_us, attempt;
    uint32_t action;
    wend_str call;
    enum timer timer;
    bool used, stop; /* stop: it was told to */
    bool child;      /* a run of its own answers */
};

/* The open model call; `reply` counts only while open. */
struct stream {
    struct reply reply;
    int64_t ask;
    uint32_t left; /* things it will still do before it ends */
    bool open;
    bool made; /* the reply holds memory, maybe of an earlier ask */
};

struct line {
    char *ptr;
    size_t len;
};

struct blob {
    char hash[SHA256_HEX + 1];
    char *ptr;
    size_t len;
};

struct log {
    struct line *lines;
    struct blob *blobs;
    size_t lines_count, lines_cap, blobs_count, blobs_cap;
};

/* How unkind this world is, in permille of its inputs. */
struct mood {
    uint32_t again, unknown, say, pause, cancel, stop, model_fail, call_fail;
    uint32_t nomem, clock_back, huge, long_text, timer, outage, crash, fork;
};

struct counters {
    int64_t inputs[IN_TROUBLE + 1], stale[IN_TROUBLE + 1];
    int64_t events[WEND_EVENT_TYPES], outcomes[WEND_OUTCOME_SKIPPED + 1];
    int64_t steps, discarded, blobs, eager, probes, drained;
    int64_t superseded, unknown, again; /* what a crash leads to */
    int64_t acts_unknown, acts_again;   /* the same of actions */
    int64_t forks, given; /* of runs; results that a fork was given */
    /* Runs that follow another one: with an answer that failed there, or one
     * that was closed by force; and what they were told. */
    int64_t follows, unanswered, closed, refusals, labels, folds;
};

struct sim {
    struct sim_head head; /* first */
    struct chance chance;
    struct mood mood;

    struct mem mem; /* through the fault */
    struct arena keep_arena, scratch, world;
    struct keep keep;
    struct turn turn;
    wend_ev_limits raised; /* of the newest resume */
    int64_t now_us, steps;

    wend_ev_run_start start;
    char run[40];
    struct config *config; /* as the world knows it */
    bool planned;          /* the run is a plan: */
    struct made_plan made;
    struct stream stream;
    struct stream spoken; /* to an action */
    struct out outs[OUT_MAX];
    struct input past[PAST_MAX];
    uint32_t past_count, says, ids;
    int64_t epoch;
    bool draining;
    struct trouble trouble; /* told last */
    bool probe;             /* a side history: the reply is lent */
    bool reborn;            /* a fork that is not resumed yet */
    uint32_t forks;
    bool talks;              /* a conversation: runs follow each other */
    uint32_t runs;           /* that are left, with this one */
    wend_str compact;        /* the run begins with it; absent: it does not */
    struct book_carry carry; /* what it has from the run before */
    struct turn parent;      /* of the fork, as it was left ... */
    struct buf parent_state; /* ... as bytes; empty: no fork */

    struct log log;
    struct book book;
    struct turn folded;
    struct arena fold_arena;
    struct keep fold_keep;
    struct buf state; /* the live turn as bytes */
    struct turn bent; /* for bugs: what tt is given in place of turn */
    struct config bent_config;
    struct tool bent_tools[8];
    struct reply bent_reply;
    struct plan bent_plan;
    uint32_t bends;
    void *leaked;
};

#define broken(s, law, ...) law_broken(&(s)->head, law, __VA_ARGS__)
__attribute__((format(printf, 2, 3))) void trace(struct sim *s, const char *fmt,
                                                 ...);

#endif

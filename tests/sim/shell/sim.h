/*
 * sim.h - the state of one simulated runtime, and the laws for it.
 *
 * The library is the real one. What is around it is not: the store commits
 * when the simulator says so, the clock stands until it is moved, and all
 * chance comes from the seed.
 */
#ifndef SIM_SHELL_SIM_H
#define SIM_SHELL_SIM_H

#include <stdarg.h>
#include <stdio.h>

#include "sim/seeds.h"
#include "base/chance.h"
#include "host/world.h"
#include "lib/run/call.h"
#include "lib/run/run.h"

enum {
    RUNS_MAX = 6,
    KNOWN_MAX = 96,             /* with the children of runs */
    READERS_MAX = 4 * RUNS_MAX, /* owners, and some who follow the log */
    KEPT_MAX = 64,              /* calls that a tool has not answered */
    TOOLS = 6,
    POSTS_MAX = 256,   /* requests to the runs of one seed */
    TURNS_KNOWN = 128, /* of a run, for the laws of hooks */
};

/* ---- Laws ---------------------------------------------------------------- */

enum law {
    LAW_BATCH,
    LAW_SHOWN,
    LAW_ACTED,
    LAW_ORDER,
    LAW_LOG,
    LAW_LISTEN,
    LAW_FAILED,
    LAW_STALE,
    LAW_END,
    LAW_CALL_END,
    LAW_ACTION_END,
    LAW_MADE,
    LAW_MISUSE,
    LAW_CANCEL,
    LAW_STOP,
    LAW_AFTER,
    LAW_QUEUE,
    LAW_WRITER,
    LAW_COMMITS,
    LAW_HOOK,
    LAW_REPAIR,
    LAW_STREAM,
    LAW_REQUEST,
    LAW_PROGRAM,
    LAW_CHAIN,
    LAW_TIME,
    LAW_HEARD,
    LAW_LEAK,
    LAWS
};

/* ---- What is known ------------------------------------------------------- */

/* 64-bit hashes, in no order. */
struct set {
    uint64_t *at;
    uint32_t count, cap;
};

enum style { READ_ALL, READ_SOME, READ_SELDOM, READ_LATE, READ_LISTEN, STYLES };

/* What one reader was given: exact lines, or with deltas of one kind joined
 * if the reader wants them so. */
struct reader {
    struct sim *sim;
    wend_run *handle; /* NULL once freed */
    struct known *of;
    wend_filter filter;
    enum style style;
    bool owner;   /* of the run; else a replay that follows */
    bool orphan;  /* the process it was in has died */
    int64_t from; /* it came after this event */
    bool ended;
    bool early;              /* ... when the run had no owner, before run_end */
    bool repairs;            /* the open model call does */
    int64_t seq, n, time_us; /* of the newest event */
    struct buf seen;
    size_t kept_len;        /* of `seen`, up to the newest kept event */
    wend_event_type joined; /* kind of the delta at its end */
    uint64_t joined_call;
};

/* A run, as one who knows only the store and the tools sees it. */
struct known {
    wend_run *handle; /* NULL before the start and after the free */
    char id[40];
    uint32_t place;
    bool hooked, born, planned, forked, has_forks;
    int64_t sent_seq, stored_seq, acked_seq;
    int64_t forked_at;        /* the last event that it shares */
    int64_t pack_seq, pack_n; /* where the newest pack ended */
    int64_t stored_pack_seq, stored_pack_n;
    uint32_t agent; /* whose it is */
    int64_t epoch;
    int64_t batches;         /* appended */
    int64_t asks;            /* model attempts on record */
    int64_t action_asks;     /* made by actions */
    uint32_t pack_max;       /* deltas in the largest pack */
    size_t waiting_bytes;    /* at the store, not yet committed */
    struct set starts, made; /* calls on record, calls made */
    bool stolen;             /* another owner took the run */
    bool stale_told, cut;    /* cut: freed before its end */
    bool left;               /* a resume failed: the next process resumes it */
    bool cancel_sent;        /* before this pump */
    bool cancel_waits;       /* in the store, when it was resumed */
    int64_t stop_seen_us;    /* first pump after a stop was on record */
    bool stop_acked, end_acked;
    int64_t turns_begun, turns_ended, messages_begun; /* on record */
    uint8_t heard_before[TURNS_KNOWN], heard_after[TURNS_KNOWN];
    struct reader *reader; /* the owner's; a child has none */
    struct sim *sim;
    struct known *parent;         /* whose child it is */
    struct set act_ids, act_keys; /* of actions, side by side */
};

/* A request that the store has accepted. */
struct posted {
    int64_t id;
    struct known *to;
    const char *what;
    char text[24];  /* unique */
    uint32_t found; /* what it led to, in the log */
};

/* A call that its tool has not answered yet. */
struct kept_call {
    wend_call *call;
    int64_t due_us; /* INT64_MAX: only at the very end */
};

/* How unkind this world is: permille of the steps, or a choice. */
struct mood {
    uint32_t say, pause, cancel, inbox, approve, free_run;
    uint32_t steal, fail_store, jump, progress, never, nomem, crash;
    uint32_t storm, reboot, fork, retry;
    uint32_t net_fault, net_stall, net_ms_max, net_piece;
    uint32_t wired, programs, plans; /* of agents, tools, runs */
    uint32_t children, planners;     /* of calls */
    uint32_t web, served;            /* of calls, too; and what goes wrong: */
    uint32_t web_fault, served_fault;
    bool fork_more;         /* with results, and with what another agent has */
    uint32_t commit_ms_max; /* 0: inside append */
    uint32_t runs, steps;
    bool hooks;
    bool calm;   /* nothing goes wrong: commits are counted */
    bool flood;  /* an answer larger than the store can take at once */
    bool abrupt; /* everything is freed in the middle */
};

struct counters {
    int64_t steps, batches, events, lagged, merged, listened, followed,
        canceled;
    int64_t stolen, failed, freed, hooks, approvals, late_answers, deadlines;
    int64_t outcomes[WEND_OUTCOME_SKIPPED + 1], calm, nomem, ends;
    int64_t crashed, forgotten, again; /* batches lost, calls made again */
    int64_t reboots, revived, storms, plans, actions, action_asks;
    int64_t requests, net_faults[16], net_ends[8];
    int64_t programs, program_ends[PROC_LOST + 1];
    int64_t children, model_plans, forks, continued;
    int64_t given, taken; /* results, and what else a fork may get */
    int64_t web_faults[16], servers, served[16];
    int64_t posted, unended, late; /* requests; ends that had to wait */
};

/* A batch at the store, not yet on stable storage. */
struct held {
    struct held *next;
    struct store_batch *batch;
    struct known *of;
    int64_t due_us;
    size_t bytes;
    bool told;        /* a bug has called done already, so that ... */
    struct arena own; /* ... the batch must be ours */
    struct store_batch copy;
};

struct slow_store {
    struct store_ops ops; /* first: those of the store lead here */
    const struct store_ops *real;
    wend_store *store; /* in memory */
    struct sim *sim;
    struct held *first, **last;
    struct held *lost; /* by a bug */
    int64_t due_us;    /* of the newest batch: commits keep their order */
    bool failed;       /* a commit has failed */
    bool told;         /* and a writer was told so */
    bool forking;      /* just now */
    bool opened_anew;  /* after all processes: what is there can be read */
};

struct sim {
    struct sim_head head; /* first */
    struct chance chance;
    struct mood mood;

    struct world world;
    struct slow_store store;
    wend_runtime *rt;
    wend_agent *agents[2];
    uint64_t agent_seeds[2]; /* the same agent in every process */
    struct spy {
        struct driver_ops ops;
        const struct driver_ops *real;
    } spies[2];
    struct stage *stage; /* its programs; NULL before the first one */
    struct known runs[KNOWN_MAX];
    uint32_t runs_count, own_count; /* own: without children */
    struct known *starting;         /* its id is known with its first batch */
    struct reader readers[READERS_MAX];
    uint32_t readers_count;
    struct kept_call kept[KEPT_MAX];
    uint32_t kept_count;
    struct posted posts[POSTS_MAX];
    uint32_t posts_count;
    struct chance afar; /* of those who ask while a run has no owner */
    bool down;          /* the runtime has said WEND_E_STORE */
    bool draining;      /* the world answers */
    bool in_pump, in_flush;
    int64_t steps, tool_turns;
    void *leaked;
    uint32_t plants; /* how often the bug has struck */
};

/* A bug on purpose; store and readers look for the flags. */
struct bug {
    const char *name;
    enum law law;                  /* that it must break */
    void (*before)(struct sim *s); /* each pump */
    void (*after)(struct sim *s);
    bool ack_early, ack_swapped, ack_failed, ack_never, drop_pack,
        stale_spreads;
    bool read_loses_ends, read_loses_actions, read_bends;
    bool read_flips;
    bool flush_always, leak, forget_cancel, answer_twice;
    bool lose_result, program_stays, claim_stays;
    bool serve_again, ask_service_again;
    bool deaf, end_anyway, hear_again;
};

extern const char *const law_names[LAWS];
/* Of the test itself: never fails on purpose. */
extern const struct mem libc_mem;
#define broken(s, law, ...) law_broken(&(s)->head, law_names[law], __VA_ARGS__)
__attribute__((format(printf, 2, 3))) void trace(struct sim *s, const char *fmt,
                                                 ...);
uint64_t hash_of(wend_str s);
uint32_t set_count(const struct set *s, uint64_t h);
void set_add(struct set *s, uint64_t h);
struct known *known_by_id(struct sim *s, wend_str id);
struct sim *sim_of_world(void *w);
bool is_of(const struct known *k, const struct known *parent);
bool known_failed(const struct sim *s, const struct known *k);

#endif

/*
 * fork.h - a fork while it is made. Only for fork.c, retry.c,
 * retry_child.c and child.c.
 */
#ifndef LIB_FORK_H
#define LIB_FORK_H

#include "lib/run/run.h"

/* An event of the run that the fork repeats as its own. */
struct fork_done {
    struct fork_done *next;
    const wend_event *ev;
};

/* A fork that another run starts and waits for. */
struct fork_child {
    const char *id;
    const wend_ev_run_start *start; /* what it would begin with, were it new */
};

struct retry;

struct fork {
    wend_store *store;
    const char *id; /* the run that was named */
    wend_fork_options o;
    struct arena arena;
    struct log_reader log;   /* the newest reading */
    struct log_reader last;  /* that of the last shared event ... */
    const wend_event *at;    /* ... which is this */
    struct log_birth birth;  /* what lists say there, if it was needed */
    struct turn turn;        /* the state there, if it was needed */
    wend_ev_metrics used;    /* by it and by what it shares, as lists say */
    struct said_parts parts; /* of what it says */
    wend_event *events;      /* its own */
    size_t events_count;
    const struct fork_child *child; /* NULL: no run waits for it */
    bool imported;                  /* the run that was named */
    wend_str user, session;         /* of the fork */
    wend_str labels_json;           /* absent: those of the run */
    wend_str correlation;           /* of the run, if it was read */
    const wend_run_info *owner;     /* of the history that it shares */
    /* What ended behind `at`: retry.c. */
    struct retry *retry; /* NULL: it is no retry */
    struct fork_done *done, **done_end, *copies;
    size_t done_count;
    int64_t now_us;
    char fork[RUN_ID_LEN + 1];
    wend_error *err;
};

/* A run that a call or an action waited for. */
struct retry_child {
    struct retry_child *next;
    wend_ev_unfinished e;
    wend_str from; /* the run that it continued; absent: none */
};

struct retried; /* an action of the run's own plan */

struct retry {
    struct fork *f;
    struct turn turn;             /* at the end, without run_end */
    int64_t stop;                 /* the event that stopped it; 0: none did */
    int64_t model;                /* model_start of the newest turn; 0: none */
    int64_t turn_end, end;        /* of that turn, of the run */
    bool next_turn;               /* it ended instead of beginning a turn */
    bool no_room;                 /* a budget did not let it ask */
    struct retry_child *children; /* of the newest turn, newest first */
    int64_t limited; /* the end of its last child that reached a limit, before
                        any stop; 0: none */
    struct retried *actions; /* of its own plan; NULL: the run has no plan, or
                                a model has taken over */
};

/* Makes a child as a retry of run `of`. trusts: also of an imported one. */
wend_status fork_child(struct wend_runtime *rt, const char *of,
                       const struct fork_child *child, bool trusts,
                       wend_error *err);

/* Reads kept events from `from` on, until fn has enough; f is its ctx. */
wend_status fork_read(struct fork *f, int64_t from, log_event_fn fn);
/* f->turn, the state at f->o.at. */
wend_status fork_state(struct fork *f);
/* parts.c: what its message comes with. */
wend_status fork_parts(struct fork *f);
/* One more event of its own. */
wend_event *fork_add(struct fork *f, wend_event_type type);
/* Whether it can be given a result. */
bool fork_open_call(const struct turn *t, int i);
bool fork_open_action(const struct plan_state *p, uint32_t i);

/* retry.c: sets f->o.at to where a fork continues if its maker does not say,
 * and collects what the run has done behind it ... */
wend_status retry_look(struct fork *f, const wend_run_info *info);
void retry_say(struct fork *f); /* ... which are events of the fork, too */
/* retry_child.c: all its events are there: what it counts, and whom it
 * continues. */
void retry_sum_up(struct fork *f);
void retry_free(struct fork *f);

#endif

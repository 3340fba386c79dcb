/*
 * stats.h - usage and durations of many runs, folded from events.
 */
#ifndef CLI_STATS_H
#define CLI_STATS_H

#include "base/str.h"

enum { PERCENTILES = 3 };
extern const int percentiles[PERCENTILES]; /* 50, 90, 99 */

struct spread {
    int64_t at[PERCENTILES], most;
};

struct usage {
    int64_t tokens_in, tokens_out, tokens_cached;
    int64_t cost_nano; /* the known part ... */
    int64_t unpriced;  /* ... and the model calls whose cost is unknown */
};

/* Totals of a model, a tool or an agent. */
struct tally {
    struct tally *next; /* in the order of first use */
    wend_str name;
    int64_t count, retries, cached;
    int64_t outcomes[WEND_OUTCOME_SKIPPED + 1];
    int64_t interrupted, active;  /* runs that are not over */
    struct usage used;            /* as providers report it */
    struct usage estimated;       /* charged for interrupted calls */
    struct buf first_token, took; /* durations in ms, int64_t each */
};

/* Why something failed. */
struct cause {
    struct cause *next;
    wend_str what; /* run, model, tool */
    wend_str code;
    int64_t count;
};

/* An active action. */
struct stats_begun {
    struct stats_begun *next;
    wend_str action;
    wend_str tool; /* absent: its target is not a tool */
};

struct stats {
    struct arena arena;
    int64_t turns;
    struct tally runs; /* all of them together */
    struct tally *models, *tools, *agents;
    struct cause *causes;
    bool failed; /* out of memory */
    /* The run that is being read: */
    struct tally *agent, *model;
    int64_t open; /* requests to models that have not ended */
    bool ended;
    bool given; /* what the newest events tell was done by its parent */
    struct stats_begun *begun;
};

void stats_init(struct stats *s, const struct mem *m); /* m is borrowed */
/* Types that matter, a bit each, for wend_filter. */
uint64_t stats_types(void);
void stats_event(struct stats *s, const wend_event *ev);
/* After the last event of a run; it may have no end. `status` is that of the
 * listing: the log does not tell whether its owner lives. */
void stats_run_over(struct stats *s, wend_str status);
/* False if there are none. Sorts them. */
bool times_spread(struct buf *times, struct spread *out);
void stats_free(struct stats *s);

#endif

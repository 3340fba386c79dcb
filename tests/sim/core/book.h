/*
 * book.h - what a reader of the log knows about a run.
 */
#ifndef SIM_CORE_BOOK_H
#define SIM_CORE_BOOK_H

#include <stdio.h>
#include <string.h>

#include "core/config/config.h"
#include "core/event/event.h"
#include "core/turn/turn.h"
#include "plan_book.h"

enum { BOOK_CALLS = 32, BOOK_MSGS = 320, BOOK_ID = 48, BOOK_REFUSED = 8 };

struct book_call {
    char id[BOOK_ID];
    const struct tool *tool; /* NULL: unknown */
    bool listed;             /* in model_end.calls */
    bool started, ended, asked, answered, yes;
    bool unheard;   /* its question is lost: it is asked again, or the
                       rules say yes by now */
    bool ran, told; /* FX_RUN_CALL, FX_STOP_CALL were seen */
    bool fresh;     /* started in this step */
    bool lost;      /* its process is gone */
    bool closed;    /* ... and its attempt has ended as superseded */
    bool doubted;   /* it may not run again: it begins only to end */
    bool again;     /* it began once more after that */
    bool child;     /* a run of its own is at it */
    bool client;    /* it has ended, and the caller executes it */
    char child_id[BOOK_ID];
    int64_t attempt;
    uint64_t output;
};

struct book_msg {
    enum role role;
    uint64_t text;
    uint64_t call;  /* of a tool's result */
    uint32_t calls; /* of an assistant */
    uint32_t parts;
    bool pinned, summary, own;
    bool cut; /* of a result: `text` is what it was before */
};

/* What a model refused, in this run and in those before it. */
struct book_refused {
    uint64_t model;
    uint32_t dropped; /* bits of asked_names */
    bool media;
};

/* What a run has from the one that it follows. */
struct book_carry {
    struct book_msg msgs[BOOK_MSGS];
    uint32_t msgs_count;
    struct book_refused refused_by[BOOK_REFUSED];
    uint32_t refused_count;
    uint32_t labels;
    bool follows;
};

struct book {
    const struct config *config; /* the sim's own */
    wend_ev_limits limits;
    bool run_open, run_over, turn_open, context_open, context_done;
    bool model_open, model_done, part, paused;
    bool context_used; /* a model was asked with it */
    bool context_seen; /* one was begun in this turn */
    bool summed;       /* a summary was asked for in this turn */
    int refused;       /* requests of the turn, by the model, as too long */
    uint64_t summary;  /* of the newest that was written */
    bool stopping;
    bool resumed;   /* in this step */
    bool model_cut; /* the model call was open when a process died */
    uint32_t lives; /* processes; of a fork, since it was made */
    wend_outcome stop;
    int64_t seq, time_us, started_us;
    int64_t idle_us; /* between the end of one process and the next one */
    int64_t turn, asks, attempt;
    int64_t tries;     /* attempts with this model */
    uint32_t model_at; /* which of the config's models */
    int64_t allowed;   /* tokens that the log reserves for its answer */
    bool shared;       /* children have spent some of the budgets */
    char turn_id[BOOK_ID], last_turn_id[BOOK_ID];
    int64_t context_tokens; /* that the newest context is estimated at ... */
    uint32_t context_at;    /* ... for this of the config's models */
    bool asked_model;       /* FX_ASK_MODEL was seen for `asks` */
    bool model_fresh;       /* the model call began in this step */
    struct book_call calls[BOOK_CALLS];
    uint32_t calls_count, failed;
    struct book_msg msgs[BOOK_MSGS], pending[BOOK_MSGS];
    uint32_t msgs_count, pending_count;
    struct book_msg sent[BOOK_MSGS]; /* of the newest context */
    uint32_t sent_count;
    wend_ev_metrics sum;
    bool unpriced;                /* the cost of a model call is unknown */
    uint64_t answer, answer_bare; /* bare: as JSON for a schema */
    wend_purpose purpose;         /* of the newest model call */
    uint32_t invalid, repaired;   /* answer_invalid, repairs of it */
    bool told;                    /* and what was wrong, since */
    bool broken_off;              /* the newest message, not superseded */
    bool forked;                  /* since the newest context */
    struct plan_book plan;
    /* past_book.c */
    struct book_refused refused_by[BOOK_REFUSED];
    uint32_t refused_count;
    uint32_t labels;    /* wend_label: at least these were brought */
    uint64_t part_text; /* of the newest model_part */
    bool unanswered;    /* the newest message, or its turn, failed */
    bool fold, folding; /* a compaction is asked for; before this context */
    bool unfolded;      /* ... and the log says why it is not done */
};

uint64_t hash_str(wend_str s);
void book_init(struct book *b, const struct config *c,
               const struct book_carry *carry);
struct book_call *book_call(struct book *b, wend_str id);
bool book_waits(const struct book_call *c);
bool book_runs(const struct book_call *c);
uint32_t book_running(const struct book *b);
uint32_t book_live(const struct book *b);
uint32_t book_busy(const struct book *b);
struct book_call *book_parent(struct book *b, wend_str run);
void book_add(struct book *b, const wend_event *ev);

#endif

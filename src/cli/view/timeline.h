/*
 * timeline.h - the turns of a run and the calls in them, with their times.
 */
#ifndef CLI_TIMELINE_H
#define CLI_TIMELINE_H

#include "base/hash.h"
#include "cli/view/bar.h"

enum span_kind { SPAN_MODEL, SPAN_CALL, SPAN_ACTION, SPAN_CHILD };
extern const char *const span_kinds[];

/* An input or an output: its beginning, and where the whole text is. */
struct detail {
    wend_str text;
    size_t bytes;              /* of all */
    int64_t seq;               /* of the event */
    char hash[SHA256_HEX + 1]; /* of a text that the store keeps apart */
};

/* A part of a span: one attempt, a wait for approval, the delay before the
 * next attempt. */
enum piece_kind { PIECE_WORK, PIECE_WAIT, PIECE_DELAY };

struct piece {
    struct piece *next;
    enum piece_kind kind;
    int64_t attempt;            /* of work: from 1 */
    int64_t began_us, ended_us; /* ended 0: it is active */
    wend_outcome outcome;       /* of work; NONE: it has no end */
};

/* What a plan declares about an action. */
struct action_note {
    struct action_note *next;
    wend_str id, name, type, target, when, after;
    int64_t wave, retries; /* wave 0: not known */
    bool seen;             /* it has a span */
};

/* A model call, a tool call, an action or a child. */
struct span {
    struct span *next;
    enum span_kind kind;
    struct bar bar;
    struct detail in, out;
    struct piece *pieces, *last; /* none: it never started */
    int64_t attempts;
    int64_t first_us; /* when a model's first token came; 0: not known */
    bool cached;
    bool critical;                  /* on the critical path */
    wend_str why;                   /* error code, or why it was skipped */
    wend_str message;               /* of the error */
    const struct span *owner;       /* action or call that it belongs to */
    const struct action_note *note; /* of an action; may be NULL */
    struct timeline *child;         /* the run of SPAN_CHILD; may be NULL */
};

struct turn_line {
    struct turn_line *next;
    int64_t counter; /* -1: before the first turn */
    struct bar bar;
    wend_str parent_id;
    int64_t tokens_in, tokens_out, retries;
    int64_t cost_nano; /* -1: not known */
    struct span *spans, **spans_last;
};

/* A run whose history it shares, up to event `at`. */
struct ancestor {
    const struct ancestor *next; /* of the ancestor */
    wend_str run;
    int64_t at;
};

/* No process owned the run: this time is left out. */
struct gap {
    struct gap *next;
    int64_t at_us; /* in the timeline */
    int64_t us;    /* duration */
    int64_t epoch; /* of the process that resumed it; 0: it is not resumed */
    bool forked;   /* another run continues from there */
};

/* A run that was forked from this one. */
struct forked {
    const struct forked *next;
    wend_str run;
};

/* Maximum bytes of a detail: the page uses the largest with which it stays
 * small enough. */
enum { DETAIL_STEPS = 5 };
extern const size_t detail_steps[DETAIL_STEPS];

/* A warning, an error that did not end the run, what somebody said, or that the
 * conversation was made shorter. */
enum remark_kind {
    REMARK_WARNING,
    REMARK_ERROR,
    REMARK_SAID,
    REMARK_CONTROL,
    REMARK_COMPACTED
};
extern const char *const remark_kinds[];
struct remark {
    struct remark *next;
    enum remark_kind kind;
    wend_str message;
    int64_t at_us;
};

/* What a model thought before one answer. */
struct thought {
    struct thought *next;
    int64_t turn; /* -1: none */
    struct detail text;
};

/* An image that a message comes with, for a page. */
struct picture {
    struct picture *next;
    const char *type;
    wend_str hash, name;
    wend_str bytes; /* absent: they were not read */
};
enum { PICTURE_BYTES = 256 << 10, PICTURES_BYTES = 1 << 20 }; /* of one; all */

struct timeline {
    struct arena arena;
    size_t detail_max;            /* bytes to keep of a detail */
    size_t details[DETAIL_STEPS]; /* bytes of all in the page, by step */
    wend_str run, agent, model, prompt, plan;
    struct detail asked, answer; /* the whole prompt, the whole answer */
    struct detail failure;       /* the error that ended it */
    wend_str code;               /* of that error, or the limit */
    struct thought *thoughts, **thoughts_last; /* oldest first */
    struct picture *pictures, **pictures_last; /* the same */
    struct action_note *notes, **notes_last;   /* of its plan */
    wend_str parent;              /* run that started it, or absent */
    wend_str follows;             /* run before it in its conversation, too */
    const struct ancestor *forks; /* newest first; NULL: not a fork */
    const struct forked *forked;  /* from it */
    int64_t started_us;           /* by the clock */
    int64_t idle_us;              /* time left out so far */
    struct gap *gaps;             /* newest first */
    struct bar_scale scale;
    int64_t path_us; /* length of the critical path */
    bool has_path;   /* something is not on it */
    wend_outcome outcome;
    const char *state; /* without an outcome, as it is listed: running, waiting,
                          paused, interrupted; NULL: not known */
    int64_t tokens_in, tokens_out, cost_nano; /* cost -1: not known */
    struct turn_line *turns, *last;
    struct remark *remarks, **remarks_last; /* oldest first */
    size_t remarks_count;                   /* also those not kept */
};

/* `m` is borrowed. */
void timeline_init(struct timeline *t, const struct mem *m, size_t detail_max);
/* Bytes of each detail that a page with details of these sizes should keep. */
size_t timeline_detail_max(const size_t details[DETAIL_STEPS]);
void timeline_event(void *timeline,
                    const wend_event *ev); /* an each_event_fn */
/* After the last event: a span without an end lasts to the end. */
void timeline_end(struct timeline *t);

/* Its outcome; or what it does, else "no-end". */
const char *timeline_state(const struct timeline *t);
/* The same for a span, which may also be "not-started" or "waiting". */
const char *span_state(const struct timeline *t, const struct span *s);

/* timeline_path.c: finds the critical path; timeline_end calls it. */
void timeline_path(struct timeline *t);

/* timeline_plan.c: what the plan of a run declares; a JSON object with
 * `actions`, a list of them, or one action. */
void timeline_note_plan(struct timeline *t, wend_str plan_json);
void timeline_note_waves(struct timeline *t, wend_str actions_json);
void timeline_note_action(struct timeline *t, wend_str action_json);
struct action_note *timeline_note(const struct timeline *t, wend_str id);

/* `width`: of the terminal that shows it; 0: none does, and lines of words are
 * not wrapped. */
void timeline_put_text(struct buf *b, const struct timeline *t, size_t width);
void timeline_put_json(struct buf *b, const struct timeline *t);
void timeline_put_svg(struct buf *b, const struct timeline *t);

/* ---- timeline_axis.c: time as a place, without what is idle -------------- */

/* Time that the picture leaves out: a break of fixed width. */
struct axis_cut {
    int64_t from_us, to_us; /* equal: only the clock moved on, in a gap */
    int64_t us;             /* all that is left out */
    int64_t epoch;          /* of a process that resumed the run; 0: none */
    bool forked;            /* a fork continues there */
};

struct axis {
    int64_t began_us, ended_us;
    int64_t shown_us; /* without the cuts */
    struct axis_cut *cuts;
    size_t count;
    double cut_width; /* in percent */
};

void axis_init(struct axis *x, const struct timeline *t, struct arena *a);
/* In percent of the width. A gap has two places: where what ended at it ends,
 * and where what began at it begins. */
double axis_begin(const struct axis *x, int64_t time_us);
double axis_end(const struct axis *x, int64_t time_us);
/* Where the cut begins; it is cut_width wide. */
double axis_cut_at(const struct axis *x, size_t i);
/* Time since the start at a place; -1 in a cut. */
int64_t axis_time(const struct axis *x, double percent);

#endif

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

/* A model call, a tool call, an action or a child. */
struct span {
    struct span *next;
    enum span_kind kind;
    struct bar bar;
    struct detail in, out;
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
    const struct gap *next;
    int64_t at_us; /* in the timeline */
    int64_t us;    /* duration */
};

/* Maximum bytes of a detail: the page uses the largest with which it stays
 * small enough. */
enum { DETAIL_STEPS = 5 };
extern const size_t detail_steps[DETAIL_STEPS];

/* A warning, or an error that did not end the run. */
struct remark {
    struct remark *next;
    bool error;
    wend_str message;
    int64_t at_us;
};

struct timeline {
    struct arena arena;
    size_t detail_max;            /* bytes to keep of a detail */
    size_t details[DETAIL_STEPS]; /* bytes of all in the page, by step */
    wend_str run, agent, model, prompt;
    wend_str parent;              /* run that started it, or absent */
    const struct ancestor *forks; /* newest first; NULL: not a fork */
    int64_t idle_us;              /* time left out so far */
    const struct gap *gaps;       /* newest first */
    struct bar_scale scale;
    wend_outcome outcome;
    int64_t tokens_in, tokens_out, cost_nano; /* cost -1: not known */
    struct turn_line *turns, *last;
    struct remark *remarks, **remarks_last; /* oldest first */
    size_t remarks_count;                   /* also those not kept */
};

/* `m` is borrowed. */
void timeline_init(struct timeline *t, const struct mem *m, size_t detail_max);
/* Bytes of each detail that a page of this run should keep. */
size_t timeline_detail_max(const struct timeline *t);
void timeline_event(void *timeline,
                    const wend_event *ev); /* an each_event_fn */
/* After the last event: a span without an end lasts to the end. */
void timeline_end(struct timeline *t);

void timeline_put_text(struct buf *b, const struct timeline *t, size_t width);
void timeline_put_json(struct buf *b, const struct timeline *t);
void timeline_put_svg(struct buf *b, const struct timeline *t);
void timeline_put_html(struct buf *b, const struct timeline *t);

#endif

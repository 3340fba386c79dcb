/*
 * timeline.h - what happened in a run and when: turns and what ran in them.
 */
#ifndef CLI_TIMELINE_H
#define CLI_TIMELINE_H

#include "base/hash.h"
#include "base/str.h"

enum span_kind { SPAN_MODEL, SPAN_CALL, SPAN_ACTION, SPAN_CHILD };
extern const char *const span_kinds[];

/* What went in or came out: its beginning, and where all of it is. */
struct detail {
    wend_str text;
    size_t bytes;              /* of all */
    int64_t seq;               /* of the event */
    char hash[SHA256_HEX + 1]; /* of a text that the store keeps apart */
};

/* Something that began and ended. */
struct span {
    struct span *next;
    enum span_kind kind;
    wend_str id, name;
    struct detail in, out;
    int64_t began_us, ended_us;
    wend_outcome outcome; /* NONE: it has no end */
};

struct turn_line {
    struct turn_line *next;
    int64_t counter; /* -1: before the first turn */
    wend_str id, parent_id;
    int64_t began_us, ended_us;
    wend_outcome outcome;
    int64_t tokens_in, tokens_out, cost_nano, retries;
    struct span *spans, **spans_last;
};

/* A run whose past it shares, up to event `at`. */
struct ancestor {
    const struct ancestor *next; /* that one's own */
    wend_str run;
    int64_t at;
};

/* No process had the run: that time is left out. */
struct gap {
    const struct gap *next;
    int64_t at_us; /* where it is in the timeline */
    int64_t us;    /* how long it was */
};

/* Limits of a detail from which the page takes the largest that lets it stay
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
    size_t detail_max;            /* bytes that are kept of a detail */
    size_t details[DETAIL_STEPS]; /* bytes that all take in the page, by step */
    wend_str run, agent, model, prompt;
    wend_str parent;              /* that started it; absent: none did */
    const struct ancestor *forks; /* newest first; NULL: it is no fork */
    int64_t idle_us;              /* that is left out so far */
    const struct gap *gaps;       /* newest first */
    int64_t began_us, ended_us;
    wend_outcome outcome;
    int64_t tokens_in, tokens_out, cost_nano;
    struct turn_line *turns, *last;
    struct remark *remarks, **remarks_last; /* oldest first */
    size_t remarks_count;                   /* that there were */
};

/* `m` is borrowed. */
void timeline_init(struct timeline *t, const struct mem *m, size_t detail_max);
/* What a page of this run should keep of each detail. */
size_t timeline_detail_max(const struct timeline *t);
/* What a text takes in the page. */
size_t timeline_escaped(wend_str s);
void timeline_event(struct timeline *t, const wend_event *ev);
/* After the last event: what has no end lasts to the end. */
void timeline_end(struct timeline *t);
void timeline_free(struct timeline *t);

void timeline_put_text(struct buf *b, const struct timeline *t, size_t width);
void timeline_put_json(struct buf *b, const struct timeline *t);
void timeline_put_svg(struct buf *b, const struct timeline *t);
void timeline_put_html(struct buf *b, const struct timeline *t);

#endif

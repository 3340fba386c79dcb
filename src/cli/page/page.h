/*
 * page.h - runs as one page that needs no other file.
 *
 * Everything from a run is escaped; the page has no script.
 */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include "cli/view/timeline.h"

enum {
    PAGE_BYTES_MAX = 5000000,
    PAGE_RUNS_MAX = 1000, /* in an index */
    PAGE_ROWS_MAX = 1500, /* of one run: 1 KB each, and twice that of text */
};

/* A page of one run with its children. */
void page_put_run(struct buf *b, const struct timeline *t);

/* ---- An index over many runs (page_index.c) ------------------------------ */

struct page_index {
    struct buf *out;
    const wend_str *ids; /* of all runs on the page, sorted */
    size_t count;
    size_t runs_all; /* in the store, also those that are not shown */
    size_t bytes;    /* for each run */
};

/* What each of `count` runs may take. */
size_t page_index_share(size_t count);
void page_index_open(struct page_index *x);
void page_index_add(struct page_index *x, const struct timeline *t);
void page_index_close(struct page_index *x);

/* ---- Parts that both have (page_part.c) ---------------------------------- */

struct page {
    struct buf *out;
    const wend_str *ids; /* of runs on the page, sorted; links lead to them */
    size_t ids_count;
    int rows_left;
    size_t text_max; /* bytes of a text */
    int notes_max;   /* thoughts, remarks */
};

extern const char *const page_styles[];

/* Shapes that marks and bars use. */
void page_put_shapes(struct buf *b);
void page_put_key(struct buf *b); /* what the bars mean */
/* 840 ms, 4.1 s, 2 m 05 s, 2 h 14 m. */
void page_put_time(struct buf *b, int64_t us);
void page_put_count(struct buf *b, int64_t n); /* 812, 12.4k, 3.1M */
/* `unknown` for -1. */
void page_put_cost(struct buf *b, int64_t nano, const char *unknown);
/* UTC, to the minute or `whole`. */
void page_put_clock(struct buf *b, int64_t time_us, bool whole);
/* The mark and the word of a state; why may be absent. */
const char *page_state(const struct timeline *t); /* word, and a class */
void page_put_state(struct buf *b, const char *state, wend_str why);
/* A link if the run is on the page. */
void page_put_link(const struct page *p, wend_str run);
/* Behind a text that is cut: the command that prints all of it. */
void page_put_rest(const struct page *p, const struct timeline *t,
                   const struct detail *d);
/* The first line, for a heading. */
void page_put_line(struct buf *b, wend_str text, size_t chars);

/* The row of a span, the axis above it, and what the axis leaves out
 * (page_bar.c). */
void page_put_bar(struct buf *b, const struct axis *x, const struct span *s,
                  bool critical);
void page_put_axis(struct buf *b, const struct axis *x);
void page_put_cuts(struct buf *b, const struct axis *x);

/* Everything about a run below its heading (page_run.c). `deep`: inside of
 * its parent. */
void page_put_story(struct page *p, const struct timeline *t, int deep);
void page_put_facts(const struct page *p, const struct timeline *t);

#endif

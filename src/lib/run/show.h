/*
 * show.h - the reader's side of a run: a bounded queue, then the store.
 */
#ifndef LIB_SHOW_H
#define LIB_SHOW_H

#include "base/str.h"
#include "lib/runtime/kept.h"
#include "lib/runtime/timers.h"
#include "wend.h"

struct wend_run;

/* The reader's side: events in order, visible up to durable_seq. */
struct shown {
    wend_event **ring;
    uint32_t cap, first, count;
    size_t bytes;
    wend_event *lent; /* given out last */
    int64_t seq, n;   /* newest event given out or queued */
    bool lagged;      /* read on from the store after (seq, n) */
    wend_filter filter;
    wend_listen_fn listen;
    void *listen_ctx;
    struct kept *listen_kept; /* NULL: it is not released */
    struct timer_node look;   /* there may be something to see then */
    /* a delta being merged */
    wend_event *held;
    struct buf held_text;
    uint32_t held_count;
    int64_t held_n; /* of the newest delta in it */
    struct timer_node held_timer;
};

bool show_event(struct wend_run *r, const wend_event *ev);
void show_unend(struct wend_run *r);   /* run_end was not kept */
void show_visible(struct wend_run *r); /* to the listener, if there is one */
/* Takes over `kept`, which may be NULL. */
void show_listen(struct wend_run *r, wend_listen_fn fn, void *ctx,
                 struct kept *kept);
/* Makes a waiting reader look, and the listener hear, at that time. */
void show_at(struct wend_run *r, int64_t due_us);
/* The next visible event, now lent; NULL if none is. */
const wend_event *show_next(struct wend_run *r);
/* What comes next cannot be read; seq is what is damaged. */
void show_lost(struct wend_run *r, wend_status why, int64_t seq);
void show_free(struct wend_run *r);
bool show_wants(const struct shown *s, wend_event_type type);

#endif

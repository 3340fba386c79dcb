/*
 * timeline_span.h - what folding events into a timeline uses.
 */
#ifndef CLI_TIMELINE_SPAN_H
#define CLI_TIMELINE_SPAN_H

#include "cli/view/timeline.h"

wend_str keep_name(struct timeline *t, wend_str s); /* its beginning */
void keep_detail(struct timeline *t, const wend_event *ev, wend_str s,
                 struct detail *out);

/* A fork starts where it left its parent, whenever it was created; likewise a
 * run that no process owned for a while. */
int64_t timeline_when(const struct timeline *t, const wend_event *ev);
struct turn_line *turn_new(struct timeline *t, int64_t counter,
                           int64_t time_us);
/* Spans outside of turns have their own line. */
struct turn_line *turn_now(struct timeline *t, const wend_event *ev);

/* One that is open, or NULL; an absent id fits all. */
struct span *span_find(struct timeline *t, enum span_kind kind, wend_str id);
/* The open span, or a new one. */
struct span *span_take(struct timeline *t, const wend_event *ev,
                       enum span_kind kind, wend_str id, wend_str name);
/* The same, and its next attempt begins. */
struct span *span_open(struct timeline *t, const wend_event *ev,
                       enum span_kind kind, wend_str id, wend_str name,
                       wend_str in);
/* For NULL these do nothing. The attempt failed; the next one begins after the
 * delay. */
void span_retry(struct timeline *t, const wend_event *ev, struct span *s,
                int64_t delay_ms);
struct span *span_close(struct timeline *t, const wend_event *ev,
                        struct span *s, wend_outcome outcome, wend_str out);
/* Another attempt replaces the one that a crash interrupted. */
void span_supersede(struct timeline *t, const wend_event *ev, struct span *s);
void span_blame(struct timeline *t, struct span *s, const wend_ev_error *e);

void piece_add(struct timeline *t, struct span *s, enum piece_kind kind,
               int64_t time_us);
void piece_end(struct span *s, int64_t time_us, wend_outcome outcome);

#endif

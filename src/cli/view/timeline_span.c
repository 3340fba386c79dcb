/*
 * timeline_span.c - the turns and spans that the events of a run fold into.
 *
 * Memory never fails here (cli_mem).
 */
#include "cli/view/timeline_span.h"

#include <string.h>

#include "base/limits.h"
#include "base/svg.h"
#include "base/utf8.h"

enum {
    NAME_BYTES = 2000,
    DETAILS_BYTES = 5 << 19, /* of all details; a page has at most 5 MB */
};

const size_t detail_steps[DETAIL_STEPS] = {STRING_INLINE_MAX, 32 << 10, 4 << 10,
                                           512, 0};

wend_str keep_name(struct timeline *t, wend_str s)
{
    if (s.ptr)
        s.len = utf8_cut(s, NAME_BYTES);
    return arena_str(&t->arena, s);
}

void keep_detail(struct timeline *t, const wend_event *ev, wend_str s,
                 struct detail *out)
{
    *out = (struct detail){.bytes = s.len, .seq = ev->seq};
    if (!s.ptr)
        return;
    for (int i = 0; i < DETAIL_STEPS; i++)
        t->details[i] +=
            xml_put(NULL, (wend_str){s.ptr, utf8_cut(s, detail_steps[i])});
    out->text =
        arena_str(&t->arena, (wend_str){s.ptr, utf8_cut(s, t->detail_max)});
    if (s.len > STRING_INLINE_MAX)
        sha256_hex(out->hash, s);
}

size_t timeline_detail_max(const size_t details[DETAIL_STEPS])
{
    int i = 0;

    while (i < DETAIL_STEPS - 1 && details[i] > DETAILS_BYTES)
        i++;
    return detail_steps[i];
}

/* A fork starts where it left its parent, whenever it was created; likewise a
 * run that no process owned for a while. */
int64_t timeline_when(const struct timeline *t, const wend_event *ev)
{
    return ev->time_us - t->idle_us;
}

struct turn_line *turn_new(struct timeline *t, int64_t counter, int64_t time_us)
{
    struct turn_line *line = arena_alloc(&t->arena, sizeof *line);

    line->counter = counter;
    line->bar.began_us = time_us;
    line->spans_last = &line->spans;
    if (t->last)
        t->last->next = line;
    else
        t->turns = line;
    t->last = line;
    return line;
}

/* Spans outside of turns have their own line. */
struct turn_line *turn_now(struct timeline *t, const wend_event *ev)
{
    return t->last ? t->last : turn_new(t, -1, timeline_when(t, ev));
}

/* ---- Spans --------------------------------------------------------------- */

static struct span *span_in(struct turn_line *line, enum span_kind kind,
                            wend_str id)
{
    for (struct span *s = line ? line->spans : NULL; s; s = s->next)
        if (s->kind == kind && !s->bar.ended_us &&
            (!id.ptr || str_eq(s->bar.id, id)))
            return s;
    return NULL;
}

/* Models and calls end in their turn, the rest may end later. */
struct span *span_find(struct timeline *t, enum span_kind kind, wend_str id)
{
    struct span *found = span_in(t->last, kind, id);

    if (kind == SPAN_MODEL || kind == SPAN_CALL)
        return found;
    for (struct turn_line *line = t->turns; line && !found; line = line->next)
        found = span_in(line, kind, id);
    return found;
}

void piece_end(struct span *s, int64_t time_us, wend_outcome outcome)
{
    if (!s->last || s->last->ended_us)
        return;
    s->last->ended_us = time_us;
    s->last->outcome = outcome;
}

void piece_add(struct timeline *t, struct span *s, enum piece_kind kind,
               int64_t time_us)
{
    struct piece *p = arena_alloc(&t->arena, sizeof *p);

    piece_end(s, time_us, WEND_OUTCOME_NONE);
    *p = (struct piece){.kind = kind, .began_us = time_us};
    if (kind == PIECE_WORK)
        p->attempt = ++s->attempts;
    *(s->last ? &s->last->next : &s->pieces) = p;
    s->last = p;
}

/* The open span, or a new one. */
struct span *span_take(struct timeline *t, const wend_event *ev,
                       enum span_kind kind, wend_str id, wend_str name)
{
    struct turn_line *line = turn_now(t, ev);
    struct span *s = id.ptr ? span_find(t, kind, id) : NULL;

    if (s)
        return s; /* it runs again, or was approved */
    s = arena_alloc(&t->arena, sizeof *s);
    s->kind = kind;
    s->bar.id = keep_name(t, id);
    s->bar.name = keep_name(t, name);
    s->bar.began_us = timeline_when(t, ev);
    *line->spans_last = s;
    line->spans_last = &s->next;
    return s;
}

struct span *span_open(struct timeline *t, const wend_event *ev,
                       enum span_kind kind, wend_str id, wend_str name,
                       wend_str in)
{
    struct span *s = span_take(t, ev, kind, id, name);

    if (!s->in.bytes)
        keep_detail(t, ev, in, &s->in);
    piece_add(t, s, PIECE_WORK, timeline_when(t, ev));
    return s;
}

/* The attempt failed; the next one begins after the delay. */
void span_retry(struct timeline *t, const wend_event *ev, struct span *s,
                int64_t delay_ms)
{
    if (!s)
        return;
    piece_end(s, timeline_when(t, ev), WEND_OUTCOME_FAILED);
    if (delay_ms > 0)
        piece_add(t, s, PIECE_DELAY, timeline_when(t, ev));
    piece_add(t, s, PIECE_WORK,
              timeline_when(t, ev) + (delay_ms > 0 ? delay_ms * 1000 : 0));
}

/* Also one that ends without a start: an action that is skipped. */
struct span *span_close(struct timeline *t, const wend_event *ev,
                        struct span *s, wend_outcome outcome, wend_str out)
{
    int64_t now = timeline_when(t, ev);

    if (!s)
        return NULL;
    if (s->last && s->last->began_us > now) /* ended during the delay */
        s->last->began_us = now;
    piece_end(s, now, outcome);
    s->bar.ended_us = now;
    s->bar.outcome = outcome;
    keep_detail(t, ev, out, &s->out);
    return s;
}

/* The attempt counts as work that is superseded by the next one. */
void span_supersede(struct timeline *t, const wend_event *ev, struct span *s)
{
    if (s)
        piece_end(s, timeline_when(t, ev), WEND_OUTCOME_SUPERSEDED);
}

const char *timeline_state(const struct timeline *t)
{
    if (t->outcome)
        return wend_outcome_name(t->outcome);
    return t->state ? t->state : "no-end";
}

const char *span_state(const struct timeline *t, const struct span *s)
{
    if (s->bar.outcome)
        return wend_outcome_name(s->bar.outcome);
    if (!s->pieces)
        return "not-started";
    if (t->outcome || !t->state || !strcmp(t->state, "interrupted"))
        return "no-end";
    return s->last->kind == PIECE_WAIT ? "waiting" : "running";
}

void span_blame(struct timeline *t, struct span *s, const wend_ev_error *e)
{
    if (!s || !e)
        return;
    s->why = keep_name(t, e->code);
    s->message = keep_name(t, e->message);
}

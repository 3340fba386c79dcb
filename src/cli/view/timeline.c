/*
 * timeline.c - folds the events of a run into turns and spans.
 *
 * Memory never fails here (cli_mem).
 */
#include "cli/view/timeline.h"

#include "base/cost.h"
#include "base/limits.h"
#include "base/svg.h"
#include "base/utf8.h"

enum {
    NAME_BYTES = 2000,
    DETAILS_BYTES = 5 << 19, /* of all details; a page has at most 5 MB */
};

const size_t detail_steps[DETAIL_STEPS] = {STRING_INLINE_MAX, 32 << 10, 4 << 10,
                                           512, 0};

const char *const span_kinds[] = {
    [SPAN_MODEL] = "model",
    [SPAN_CALL] = "call",
    [SPAN_ACTION] = "action",
    [SPAN_CHILD] = "run",
};

static wend_str keep(struct timeline *t, wend_str s)
{
    if (s.ptr)
        s.len = utf8_cut(s, NAME_BYTES);
    return arena_str(&t->arena, s);
}

static void keep_detail(struct timeline *t, const wend_event *ev, wend_str s,
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

size_t timeline_detail_max(const struct timeline *t)
{
    int i = 0;

    while (i < DETAIL_STEPS - 1 && t->details[i] > DETAILS_BYTES)
        i++;
    return detail_steps[i];
}

/* A fork starts where it left its parent, whenever it was created; likewise a
 * run that no process owned for a while. */
static int64_t when(const struct timeline *t, const wend_event *ev)
{
    return ev->time_us - t->idle_us;
}

static struct turn_line *turn_new(struct timeline *t, int64_t counter,
                                  int64_t time_us)
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
static struct turn_line *turn_now(struct timeline *t, const wend_event *ev)
{
    return t->last ? t->last : turn_new(t, -1, when(t, ev));
}

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
static struct span *span_find(struct timeline *t, enum span_kind kind,
                              wend_str id)
{
    struct span *found = span_in(t->last, kind, id);

    if (kind == SPAN_MODEL || kind == SPAN_CALL)
        return found;
    for (struct turn_line *line = t->turns; line && !found; line = line->next)
        found = span_in(line, kind, id);
    return found;
}

static void span_open(struct timeline *t, const wend_event *ev,
                      enum span_kind kind, wend_str id, wend_str name,
                      wend_str in)
{
    struct turn_line *line = turn_now(t, ev);
    struct span *s;

    if (id.ptr && span_find(t, kind, id))
        return; /* it runs again after an interruption */
    s = arena_alloc(&t->arena, sizeof *s);
    s->kind = kind;
    s->bar.id = keep(t, id);
    s->bar.name = keep(t, name);
    keep_detail(t, ev, in, &s->in);
    s->bar.began_us = when(t, ev);
    *line->spans_last = s;
    line->spans_last = &s->next;
}

static void span_close(struct timeline *t, const wend_event *ev,
                       enum span_kind kind, wend_str id, wend_outcome outcome,
                       wend_str out)
{
    struct span *s = span_find(t, kind, id);

    if (!s)
        return;
    s->bar.ended_us = when(t, ev);
    s->bar.outcome = outcome;
    keep_detail(t, ev, out, &s->out);
}

static void spend(struct timeline *t, const wend_event *ev,
                  const wend_ev_usage *u, int64_t cost)
{
    struct turn_line *line = turn_now(t, ev);

    t->tokens_in += u->input;
    t->tokens_out += u->output;
    cost_add(&t->cost_nano, cost);
    line->tokens_in += u->input;
    line->tokens_out += u->output;
    cost_add(&line->cost_nano, cost);
}

static void model_end(struct timeline *t, const wend_event *ev)
{
    const wend_ev_model_end *e = &ev->u.model_end;

    span_close(t, ev, SPAN_MODEL, e->action, e->outcome,
               e->error ? e->error->message : e->text);
    spend(t, ev, &e->usage, cost_of_answer(e));
}

static void run_start(struct timeline *t, const wend_event *ev)
{
    const wend_ev_run_start *e = &ev->u.run_start;

    t->run = keep(t, ev->run);
    t->agent = keep(t, e->agent);
    t->model = keep(t, e->model);
    t->prompt = keep(t, e->prompt);
    t->parent = keep(t, e->parent_run);
    t->scale.began_us = when(t, ev);
}

static void turn_start(struct timeline *t, const wend_event *ev)
{
    const wend_ev_turn_start *e = &ev->u.turn_start;
    struct turn_line *line = turn_new(t, e->counter, when(t, ev));

    line->bar.id = keep(t, e->id);
    line->parent_id = keep(t, e->parent_id);
}

static void turn_end(struct timeline *t, const wend_event *ev)
{
    if (!t->last)
        return;
    t->last->bar.ended_us = when(t, ev);
    t->last->bar.outcome = ev->u.turn_end.outcome;
}

static void run_end(struct timeline *t, const wend_event *ev)
{
    t->outcome = ev->u.run_end.outcome;
}

static void run_resume(struct timeline *t, const wend_event *ev)
{
    struct gap *g = arena_alloc(&t->arena, sizeof *g);

    *g = (struct gap){.next = t->gaps,
                      .at_us = t->scale.ended_us,
                      .us = when(t, ev) - t->scale.ended_us};
    t->gaps = g;
    t->idle_us += g->us;
}

static void run_fork(struct timeline *t, const wend_event *ev)
{
    struct ancestor *a = arena_alloc(&t->arena, sizeof *a);

    t->idle_us += when(t, ev) - t->scale.ended_us;
    t->run = keep(t, ev->run);
    if (ev->u.run_fork.model.ptr)
        t->model = keep(t, ev->u.run_fork.model);
    *a = (struct ancestor){.next = t->forks,
                           .run = keep(t, ev->u.run_fork.parent),
                           .at = ev->u.run_fork.at};
    t->forks = a;
}

static void model_start(struct timeline *t, const wend_event *ev)
{
    const wend_ev_model_start *e = &ev->u.model_start;

    span_open(t, ev, SPAN_MODEL, e->action, e->model, STR_NONE);
}

static void model_retry(struct timeline *t, const wend_event *ev)
{
    const wend_ev_usage *used = ev->u.model_retry.usage;

    turn_now(t, ev)->retries++;
    if (used)
        spend(t, ev, used, cost_of_usage(used));
}

static void call_start(struct timeline *t, const wend_event *ev)
{
    const wend_ev_call_start *e = &ev->u.call_start;

    span_open(t, ev, SPAN_CALL, e->call, e->name, e->args_json);
}

static void call_end(struct timeline *t, const wend_event *ev)
{
    const wend_ev_call_end *e = &ev->u.call_end;

    if (e->outcome == WEND_OUTCOME_SUPERSEDED)
        return; /* one line for all attempts */
    span_close(t, ev, SPAN_CALL, e->call, e->outcome, e->output);
}

static void action_start(struct timeline *t, const wend_event *ev)
{
    const wend_ev_action_start *e = &ev->u.action_start;

    span_open(t, ev, SPAN_ACTION, e->action, e->name, e->params_json);
}

static void action_end(struct timeline *t, const wend_event *ev)
{
    const wend_ev_action_end *e = &ev->u.action_end;

    if (e->outcome == WEND_OUTCOME_SUPERSEDED)
        return;
    span_close(t, ev, SPAN_ACTION, e->action, e->outcome, e->output_json);
}

static void child_start(struct timeline *t, const wend_event *ev)
{
    const wend_ev_child_start *e = &ev->u.child_start;

    span_open(t, ev, SPAN_CHILD, e->run, e->agent, e->run);
}

static void child_end(struct timeline *t, const wend_event *ev)
{
    const wend_ev_child_end *e = &ev->u.child_end;

    span_close(t, ev, SPAN_CHILD, e->run, e->outcome, e->text);
    spend(t, ev,
          &(wend_ev_usage){.input = e->metrics.tokens_in,
                           .output = e->metrics.tokens_out},
          e->metrics.cost_nano);
}

static void remark(struct timeline *t, const wend_event *ev, bool error,
                   wend_str message)
{
    enum { REMARKS_MAX = 100 }; /* kept; the rest are only counted */
    struct remark *r;

    if (t->remarks_count++ >= REMARKS_MAX)
        return;
    r = arena_alloc(&t->arena, sizeof *r);
    *r = (struct remark){
        .error = error, .message = keep(t, message), .at_us = when(t, ev)};
    *t->remarks_last = r;
    t->remarks_last = &r->next;
}

static void warning(struct timeline *t, const wend_event *ev)
{
    remark(t, ev, false, ev->u.warning.message);
}

static void error(struct timeline *t, const wend_event *ev)
{
    remark(t, ev, true, ev->u.error.message);
}

typedef void (*timeline_fn)(struct timeline *t, const wend_event *ev);

static const timeline_fn handlers[WEND_EVENT_TYPES] = {
    [WEND_RUN_RESUME] = run_resume,
    [WEND_RUN_START] = run_start,
    [WEND_RUN_FORK] = run_fork,
    [WEND_RUN_END] = run_end,
    [WEND_TURN_START] = turn_start,
    [WEND_TURN_END] = turn_end,
    [WEND_MODEL_START] = model_start,
    [WEND_MODEL_RETRY] = model_retry,
    [WEND_MODEL_END] = model_end,
    [WEND_CALL_START] = call_start,
    [WEND_CALL_END] = call_end,
    [WEND_ACTION_START] = action_start,
    [WEND_ACTION_END] = action_end,
    [WEND_CHILD_START] = child_start,
    [WEND_CHILD_END] = child_end,
    [WEND_WARNING] = warning,
    [WEND_ERROR] = error,
};

void timeline_event(void *timeline, const wend_event *ev)
{
    struct timeline *t = timeline;

    if (handlers[ev->type])
        handlers[ev->type](t, ev);
    t->scale.ended_us = when(t, ev);
}

void timeline_end(struct timeline *t)
{
    for (struct turn_line *line = t->turns; line; line = line->next) {
        if (!line->bar.ended_us)
            line->bar.ended_us = t->scale.ended_us;
        for (struct span *s = line->spans; s; s = s->next)
            if (!s->bar.ended_us)
                s->bar.ended_us = t->scale.ended_us;
    }
}

void timeline_init(struct timeline *t, const struct mem *m, size_t detail_max)
{
    memset(t, 0, sizeof *t);
    t->arena.mem = m;
    t->detail_max = detail_max;
    t->remarks_last = &t->remarks;
}

/*
 * timeline.c - folds the events of a run into turns and spans.
 *
 * Memory never fails here (cli_mem).
 */
#include "cli/view/timeline_span.h"

#include "base/cost.h"
#include "wire/dialect/dialect.h"

const char *const span_kinds[] = {
    [SPAN_MODEL] = "model",
    [SPAN_CALL] = "call",
    [SPAN_ACTION] = "action",
    [SPAN_CHILD] = "run",
};

const char *const remark_kinds[] = {
    [REMARK_WARNING] = "warning",     [REMARK_ERROR] = "error",
    [REMARK_SAID] = "said",           [REMARK_CONTROL] = "control",
    [REMARK_COMPACTED] = "compacted",
};

/* ---- Events -------------------------------------------------------------- */

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

/* As the run counts: a child may continue another, which counted before. */
static void sum_up(struct timeline *t, const wend_ev_metrics *m)
{
    t->tokens_in = m->tokens_in;
    t->tokens_out = m->tokens_out;
    t->cost_nano = m->cost_nano;
}

static void think(struct timeline *t, const wend_event *ev, wend_str text)
{
    struct thought *h;

    if (!text.len)
        return;
    h = arena_alloc(&t->arena, sizeof *h);
    h->turn = ev->in_turn ? ev->turn : -1;
    keep_detail(t, ev, text, &h->text);
    *t->thoughts_last = h;
    t->thoughts_last = &h->next;
}

static void model_end(struct timeline *t, const wend_event *ev)
{
    const wend_ev_model_end *e = &ev->u.model_end;
    struct span *s = span_find(t, SPAN_MODEL, e->action);

    if (s && s->last && e->first_token_ms > 0)
        s->first_us = s->last->began_us + e->first_token_ms * 1000;
    span_blame(t, s, e->error);
    span_close(t, ev, s, e->outcome, e->error ? e->error->message : e->text);
    think(t, ev, e->thinking);
    spend(t, ev, &e->usage, cost_of_answer(e));
}

/* Of these types only: the type becomes a part of the page. */
static const char *const picture_types[] = {"image/png", "image/jpeg",
                                            "image/gif", "image/webp"};

static void keep_pictures(struct timeline *t, const wend_ev_part *parts,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int type = str_index(parts[i].media, picture_types, 4);
        struct picture *p;

        if (type < 0 || parts[i].bytes > PICTURE_BYTES)
            continue;
        p = arena_alloc(&t->arena, sizeof *p);
        p->type = picture_types[type];
        p->hash = arena_str(&t->arena, parts[i].hash);
        p->name = keep_name(t, str_or(parts[i].name, ""));
        *t->pictures_last = p;
        t->pictures_last = &p->next;
    }
}

/* A text with notes about what it comes with; in the arena if there are any. */
static wend_str with_parts(struct timeline *t, wend_str said,
                           const wend_ev_part *parts, size_t count)
{
    struct buf text = {.mem = t->arena.mem};

    if (!count)
        return said;
    buf_str(&text, said);
    dialect_put_parts(&text, parts, count);
    return buf_keep(&text, &t->arena);
}

static void keep_message(struct timeline *t, const wend_event *ev,
                         wend_str said, const wend_ev_part *parts, size_t count,
                         struct detail *out)
{
    keep_detail(t, ev, with_parts(t, said, parts, count), out);
    keep_pictures(t, parts, count);
}

static void run_start(struct timeline *t, const wend_event *ev)
{
    const wend_ev_run_start *e = &ev->u.run_start;

    t->run = keep_name(t, ev->run);
    t->agent = keep_name(t, e->agent);
    t->model = keep_name(t, e->model);
    t->prompt =
        keep_name(t, with_parts(t, e->prompt, e->parts, e->parts_count));
    t->parent = keep_name(t, e->parent_run);
    t->follows = keep_name(t, e->follows);
    t->started_us = ev->time_us;
    t->scale.began_us = timeline_when(t, ev);
    if (e->plan_json.len) {
        t->plan = keep_name(t, e->prompt); /* its name */
        keep_pictures(t, e->parts, e->parts_count);
        timeline_note_plan(t, e->plan_json);
    } else {
        keep_message(t, ev, e->prompt, e->parts, e->parts_count, &t->asked);
    }
}

static void turn_start(struct timeline *t, const wend_event *ev)
{
    const wend_ev_turn_start *e = &ev->u.turn_start;
    struct turn_line *line = turn_new(t, e->counter, timeline_when(t, ev));

    line->bar.id = keep_name(t, e->id);
    line->parent_id = keep_name(t, e->parent_id);
}

static void turn_end(struct timeline *t, const wend_event *ev)
{
    if (!t->last)
        return;
    t->last->bar.ended_us = timeline_when(t, ev);
    t->last->bar.outcome = ev->u.turn_end.outcome;
}

static void run_end(struct timeline *t, const wend_event *ev)
{
    const wend_ev_run_end *e = &ev->u.run_end;

    sum_up(t, &e->metrics);
    t->outcome = e->outcome;
    t->code = keep_name(t, e->error ? e->error->code : e->limit);
    keep_detail(t, ev, e->text, &t->answer);
    if (e->error)
        keep_detail(t, ev, e->error->message, &t->failure);
}

static void metrics(struct timeline *t, const wend_event *ev)
{
    sum_up(t, &ev->u.metrics);
}

/* The start of a fork, which is resumed at the same place, is one gap. */
static void leave_out(struct timeline *t, const wend_event *ev, int64_t epoch)
{
    int64_t at_us = t->scale.ended_us, us = timeline_when(t, ev) - at_us;
    struct gap *g = t->gaps;

    if (!g || !g->forked || g->epoch || g->at_us != at_us) {
        g = arena_alloc(&t->arena, sizeof *g);
        *g = (struct gap){.next = t->gaps, .at_us = at_us, .forked = !epoch};
        t->gaps = g;
    }
    g->us += us;
    g->epoch = epoch;
    t->idle_us += us;
}

static void run_resume(struct timeline *t, const wend_event *ev)
{
    leave_out(t, ev, ev->u.run_resume.epoch);
}

static void run_fork(struct timeline *t, const wend_event *ev)
{
    const wend_ev_run_fork *e = &ev->u.run_fork;
    struct ancestor *a = arena_alloc(&t->arena, sizeof *a);

    leave_out(t, ev, 0);
    t->run = keep_name(t, ev->run);
    t->started_us = ev->time_us;
    t->parent = keep_name(t, e->parent_run);
    if (e->model.ptr)
        t->model = keep_name(t, e->model);
    *a = (struct ancestor){
        .next = t->forks, .run = keep_name(t, e->parent), .at = e->at};
    t->forks = a;
    t->outcome = WEND_OUTCOME_NONE; /* its parent may have ended */
    if (e->redone) {
        t->tokens_in += e->redone->tokens_in;
        t->tokens_out += e->redone->tokens_out;
        cost_add(&t->cost_nano, e->redone->cost_nano);
    }
}

static void model_start(struct timeline *t, const wend_event *ev)
{
    const wend_ev_model_start *e = &ev->u.model_start;
    struct span *s =
        span_open(t, ev, SPAN_MODEL, e->action, e->model, STR_NONE);

    if (e->action.ptr)
        s->owner = span_find(t, SPAN_ACTION, e->action);
}

static void model_retry(struct timeline *t, const wend_event *ev)
{
    const wend_ev_model_retry *e = &ev->u.model_retry;

    turn_now(t, ev)->retries++;
    span_retry(t, ev, span_find(t, SPAN_MODEL, STR_NONE), e->delay_ms);
    if (e->usage)
        spend(t, ev, e->usage, cost_of_usage(e->usage));
}

/* The call or the action that an approval is about. */
static struct span *span_asked(struct timeline *t, const wend_event *ev,
                               wend_str call, wend_str action, wend_str name)
{
    return action.len ? span_take(t, ev, SPAN_ACTION, action, name)
                      : span_take(t, ev, SPAN_CALL, call, name);
}

static void approval_ask(struct timeline *t, const wend_event *ev)
{
    const wend_ev_approval_ask *e = &ev->u.approval_ask;
    struct span *s = span_asked(t, ev, e->call, e->action, e->name);

    if (!s->in.bytes)
        keep_detail(t, ev, e->args_json, &s->in);
    if (!s->note && s->kind == SPAN_ACTION)
        s->note = timeline_note(t, e->action);
    piece_add(t, s, PIECE_WAIT, timeline_when(t, ev));
}

static void approval_answer(struct timeline *t, const wend_event *ev)
{
    const wend_ev_approval_answer *e = &ev->u.approval_answer;
    struct span *s = e->action.len ? span_find(t, SPAN_ACTION, e->action)
                                   : span_find(t, SPAN_CALL, e->call);

    if (s && s->last && s->last->kind == PIECE_WAIT)
        piece_end(s, timeline_when(t, ev), WEND_OUTCOME_NONE);
}

static void call_start(struct timeline *t, const wend_event *ev)
{
    const wend_ev_call_start *e = &ev->u.call_start;

    span_open(t, ev, SPAN_CALL, e->call, e->name, e->args_json);
}

static void call_end(struct timeline *t, const wend_event *ev)
{
    const wend_ev_call_end *e = &ev->u.call_end;
    struct span *s = span_find(t, SPAN_CALL, e->call);

    keep_pictures(t, e->parts, e->parts_count);
    if (e->outcome == WEND_OUTCOME_SUPERSEDED) {
        span_supersede(t, ev, s); /* one line for all attempts */
        return;
    }
    span_blame(t, s, e->error);
    if (s)
        s->cached = e->cached;
    span_close(t, ev, s, e->outcome, e->output);
}

static void action_start(struct timeline *t, const wend_event *ev)
{
    const wend_ev_action_start *e = &ev->u.action_start;
    struct span *s =
        span_open(t, ev, SPAN_ACTION, e->action, e->name, e->params_json);

    s->note = timeline_note(t, e->action);
}

static void action_retry(struct timeline *t, const wend_event *ev)
{
    const wend_ev_action_retry *e = &ev->u.action_retry;

    span_retry(t, ev, span_find(t, SPAN_ACTION, e->action), e->delay_ms);
}

static void action_end(struct timeline *t, const wend_event *ev)
{
    const wend_ev_action_end *e = &ev->u.action_end;
    struct span *s = span_take(t, ev, SPAN_ACTION, e->action, e->name);

    if (e->outcome == WEND_OUTCOME_SUPERSEDED) {
        span_supersede(t, ev, s);
        return;
    }
    keep_pictures(t, e->parts, e->parts_count);
    s->note = timeline_note(t, e->action);
    s->why = keep_name(t, e->reason);
    s->cached = e->cached;
    span_blame(t, s, e->error);
    span_close(t, ev, s, e->outcome, e->output_json);
}

static void child_start(struct timeline *t, const wend_event *ev)
{
    const wend_ev_child_start *e = &ev->u.child_start;
    struct span *s = span_open(t, ev, SPAN_CHILD, e->run, e->agent, e->run);

    if (e->action.ptr)
        s->owner = span_find(t, SPAN_ACTION, e->action);
    else if (e->call.ptr)
        s->owner = span_find(t, SPAN_CALL, e->call);
}

static void child_end(struct timeline *t, const wend_event *ev)
{
    const wend_ev_child_end *e = &ev->u.child_end;

    span_close(t, ev, span_find(t, SPAN_CHILD, e->run), e->outcome, e->text);
    spend(t, ev,
          &(wend_ev_usage){.input = e->metrics.tokens_in,
                           .output = e->metrics.tokens_out},
          e->metrics.cost_nano);
}

static void plan_start(struct timeline *t, const wend_event *ev)
{
    t->plan = keep_name(t, ev->u.plan_start.name);
    timeline_note_waves(t, ev->u.plan_start.actions_json);
}

static void plan_action(struct timeline *t, const wend_event *ev)
{
    timeline_note_action(t, ev->u.plan_action.action_json);
}

static void remark(struct timeline *t, const wend_event *ev,
                   enum remark_kind kind, wend_str message)
{
    enum { REMARKS_MAX = 100 }; /* kept; the rest are only counted */
    struct remark *r;

    if (t->remarks_count++ >= REMARKS_MAX)
        return;
    r = arena_alloc(&t->arena, sizeof *r);
    *r = (struct remark){.kind = kind,
                         .message = keep_name(t, message),
                         .at_us = timeline_when(t, ev)};
    *t->remarks_last = r;
    t->remarks_last = &r->next;
}

static void warning(struct timeline *t, const wend_event *ev)
{
    remark(t, ev, REMARK_WARNING, ev->u.warning.message);
}

static void error(struct timeline *t, const wend_event *ev)
{
    remark(t, ev, REMARK_ERROR, ev->u.error.message);
}

static void message(struct timeline *t, const wend_event *ev)
{
    remark(t, ev, REMARK_SAID, ev->u.message.text);
}

static void control(struct timeline *t, const wend_event *ev)
{
    const wend_ev_control *e = &ev->u.control;
    struct buf b = {.mem = t->arena.mem};

    if (str_is(e->what, "limits") && str_has(e->value_json, STR("reached"))) {
        buf_cstr(&b, "stopped at the limit of ");
    } else {
        buf_str(&b, e->what);
        buf_cstr(&b, e->by.len ? " by " : "");
    }
    buf_str(&b, e->by);
    remark(t, ev, REMARK_CONTROL, buf_view(&b));
    buf_free(&b);
}

static void compacted(struct timeline *t, const wend_event *ev)
{
    const wend_ev_compacted *e = &ev->u.compacted;
    struct buf b = {.mem = t->arena.mem};

    buf_str(&b, e->method);
    buf_fmt(&b, ": %lld messages become %lld, %lld tokens become %lld",
            (long long)e->messages_before, (long long)e->messages_after,
            (long long)e->tokens_before, (long long)e->tokens_after);
    remark(t, ev, REMARK_COMPACTED, buf_view(&b));
    buf_free(&b);
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
    [WEND_APPROVAL_ASK] = approval_ask,
    [WEND_APPROVAL_ANSWER] = approval_answer,
    [WEND_CALL_START] = call_start,
    [WEND_CALL_END] = call_end,
    [WEND_PLAN_START] = plan_start,
    [WEND_PLAN_ACTION] = plan_action,
    [WEND_ACTION_START] = action_start,
    [WEND_ACTION_RETRY] = action_retry,
    [WEND_ACTION_END] = action_end,
    [WEND_CHILD_START] = child_start,
    [WEND_CHILD_END] = child_end,
    [WEND_METRICS] = metrics,
    [WEND_MESSAGE] = message,
    [WEND_CONTROL] = control,
    [WEND_COMPACTED] = compacted,
    [WEND_WARNING] = warning,
    [WEND_ERROR] = error,
};

void timeline_event(void *timeline, const wend_event *ev)
{
    struct timeline *t = timeline;

    if (handlers[ev->type])
        handlers[ev->type](t, ev);
    t->scale.ended_us = timeline_when(t, ev);
}

static void end_span(struct timeline *t, struct span *s)
{
    /* What it costs is not known yet, and a sum of 0 would look like free. */
    if (s->kind == SPAN_MODEL && !s->bar.ended_us && !t->cost_nano)
        t->cost_nano = -1;
    for (struct piece *p = s->pieces; p; p = p->next)
        if (!p->ended_us)
            p->ended_us = p->began_us > t->scale.ended_us ? p->began_us
                                                          : t->scale.ended_us;
    if (!s->bar.ended_us)
        s->bar.ended_us = t->scale.ended_us;
}

/* Actions that the run never came to. */
static void add_unseen(struct timeline *t)
{
    for (struct action_note *n = t->notes; n; n = n->next) {
        struct span *s;

        if (n->seen || !t->last)
            continue;
        s = arena_alloc(&t->arena, sizeof *s);
        s->kind = SPAN_ACTION;
        s->note = n;
        s->bar = (struct bar){.id = n->id,
                              .name = n->name,
                              .began_us = t->scale.ended_us,
                              .ended_us = t->scale.ended_us};
        *t->last->spans_last = s;
        t->last->spans_last = &s->next;
    }
}

void timeline_end(struct timeline *t)
{
    for (struct turn_line *line = t->turns; line; line = line->next) {
        if (!line->bar.ended_us)
            line->bar.ended_us = t->scale.ended_us;
        for (struct span *s = line->spans; s; s = s->next)
            end_span(t, s);
    }
    if (t->outcome) /* else they may still start */
        add_unseen(t);
    timeline_path(t);
}

void timeline_init(struct timeline *t, const struct mem *m, size_t detail_max)
{
    memset(t, 0, sizeof *t);
    t->arena.mem = m;
    t->detail_max = detail_max;
    t->remarks_last = &t->remarks;
    t->thoughts_last = &t->thoughts;
    t->pictures_last = &t->pictures;
    t->notes_last = &t->notes;
}

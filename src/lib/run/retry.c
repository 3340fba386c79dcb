/*
 * retry.c - where a run that did not end ok is continued, and what need not be
 * done again.
 *
 * A fork shares the past up to one event. The run goes on from there, so what
 * failed must lie behind it:
 *
 *     a stop (cancel, limit, hook)   just before it, or before the end of the
 *                                    child that met the budget
 *     the model failed, or its       before its model_start: it is asked again
 *     answer did not fit
 *     a budget left no room          before the end of the turn that was to
 *                                    ask
 *     limit of turns, failed plans   before run_end: one more turn
 *     of a model
 *     a plan                         before the first action that is to run
 *                                    again has started
 *
 * What ended behind that event is not repeated: the fork begins with the ends
 * of these calls and actions, as if it had been given their results. Actions
 * that failed or were canceled run again. One that is idempotent keeps its
 * key if its outcome is not certain: the fork begins with its start, too, and
 * the resume starts it once more.
 *
 * A child that did not end ok is not done again either: the fork names it, and
 * the call or action that waited for it starts a fork of the child, by the same
 * rules. What was used behind that event counts for the fork, too: it was spent
 * for the same end, and a budget that forgot it could be passed by retries.
 */
#include "lib/run/fork.h"

#include <string.h>

#include "base/fail.h"

/* An action of the run's own plan, by index. */
struct retried {
    int64_t start, end;             /* seq of its first start, of its end */
    const wend_event *began;        /* behind `at`: its newest start ... */
    const wend_event *asked, *said; /* ... question and answer ... */
    const wend_event *child;        /* ... end of its child */
    bool again;                     /* it runs again ... */
    bool keeps_key;                 /* ... as the same effect */
};

/* ---- How it ended -------------------------------------------------------- */

static struct retried *retried_of(struct retry *r, wend_str action)
{
    uint32_t i = r->actions && action.ptr ? plan_find(r->turn.plan.plan, action)
                                          : PLAN_NONE;

    return i != PLAN_NONE ? &r->actions[i] : NULL;
}

static void note_action_start(struct retry *r, const wend_event *ev)
{
    struct retried *a = retried_of(r, ev->u.action_start.action);

    if (a && !a->start)
        a->start = ev->seq;
}

static void note_action_end(struct retry *r, const wend_event *ev)
{
    struct retried *a = retried_of(r, ev->u.action_end.action);

    if (!a || ev->u.action_end.outcome == WEND_OUTCOME_SUPERSEDED)
        return;
    a->end = ev->seq;
    if (!a->start)
        a->start = ev->seq;
}

static void note_run_end(struct retry *r, const wend_event *ev)
{
    const wend_ev_run_end *e = &ev->u.run_end;

    r->end = ev->seq;
    r->next_turn = str_is(e->limit, "turns") || str_is(e->limit, "loop") ||
                   (e->error && str_is(e->error->code, "plan_failed"));
    r->no_room = str_is(e->limit, "tokens") || str_is(e->limit, "cost");
}

static void note_run_start(struct retry *r, const wend_event *ev)
{
    struct arena *a = &r->f->arena;

    r->f->correlation = arena_str(a, ev->u.run_start.correlation_id);
    if (r->turn.file_plan.ptr)
        r->actions = arena_alloc(&r->f->arena, (r->turn.plan.plan->count + 1) *
                                                   sizeof *r->actions);
}

static void note_fork(struct retry *r, const wend_event *ev)
{
    wend_str id = ev->u.run_fork.correlation_id;

    if (id.ptr)
        r->f->correlation = arena_str(&r->f->arena, id);
    r->stop = 0;        /* what stopped the parent does not stop it */
    r->children = NULL; /* nor are they its children */
    r->limited = 0;
}

static void note_control(struct retry *r, const wend_event *ev)
{
    if (!r->stop && r->turn.stop.outcome != WEND_OUTCOME_NONE)
        r->stop = ev->seq;
}

static void note_turn_start(struct retry *r, const wend_event *ev)
{
    (void)ev;
    r->model = r->turn_end = 0;
    r->actions = NULL;
    r->children = NULL;
    r->limited = 0;
}

static void note_model_start(struct retry *r, const wend_event *ev)
{
    if (!ev->u.model_start.action.ptr)
        r->model = ev->seq;
}

static void note_turn_end(struct retry *r, const wend_event *ev)
{
    r->turn_end = ev->seq;
}

static void note_child_start(struct retry *r, const wend_event *ev)
{
    const wend_ev_child_start *e = &ev->u.child_start;
    struct arena *a = &r->f->arena;
    const struct unfinished *u = turn_continued(&r->turn, e->run);
    struct retry_child *c = arena_alloc(a, sizeof *c);

    if (!c)
        return;
    c->e.call = arena_str(a, e->call);
    c->e.action = arena_str(a, e->action);
    c->e.run = arena_str(a, e->run);
    c->e.input = turn_child_input(&r->turn, e->call, e->action, a);
    c->from = arena_str(a, e->fork_of);
    if (u)
        c->e.metrics = u->metrics;
    c->next = r->children;
    r->children = c;
}

static void note_child_end(struct retry *r, const wend_event *ev)
{
    const wend_ev_child_end *e = &ev->u.child_end;
    struct retry_child *c = r->children;
    wend_ev_metrics more;

    while (c && !str_eq(c->e.run, e->run))
        c = c->next;
    if (!c)
        return;
    more = metrics_more(&e->metrics, &c->e.metrics);
    metrics_add(&c->e.metrics, &more);
    if (e->outcome == WEND_OUTCOME_LIMIT && !r->stop)
        r->limited = ev->seq;
}

typedef void (*retry_fn)(struct retry *r, const wend_event *ev);

static const retry_fn notes[WEND_EVENT_TYPES] = {
    [WEND_RUN_START] = note_run_start,
    [WEND_RUN_FORK] = note_fork,
    [WEND_CONTROL] = note_control,
    [WEND_TURN_START] = note_turn_start,
    [WEND_MODEL_START] = note_model_start,
    [WEND_TURN_END] = note_turn_end,
    [WEND_CHILD_START] = note_child_start,
    [WEND_CHILD_END] = note_child_end,
    [WEND_ACTION_START] = note_action_start,
    [WEND_ACTION_END] = note_action_end,
    [WEND_RUN_END] = note_run_end,
};

static wend_status look_at(void *ctx, const wend_event *ev)
{
    struct fork *f = ctx;
    struct keep keep = {&f->arena, NULL};

    if (ev->type != WEND_RUN_END)
        turn_apply(&f->retry->turn, ev, &keep);
    if (f->arena.failed)
        return WEND_E_NOMEM;
    if (notes[ev->type])
        notes[ev->type](f->retry, ev);
    return ev->type == WEND_RUN_END ? WEND_END : WEND_OK;
}

/* ---- Where it goes on ---------------------------------------------------- */

/* It failed or was canceled, and the plan went wrong with it. */
static bool runs_again(const struct turn *t, uint32_t i)
{
    const struct action_state *s = plan_action_state(&t->plan, i);

    if (s->at != AT_ENDED || s->outcome == WEND_OUTCOME_OK ||
        s->outcome == WEND_OUTCOME_SKIPPED ||
        t->plan.plan->actions[i]->mode == ACTION_FORGET)
        return false;
    return s->counts == WEND_OUTCOME_FAILED ||
           s->outcome == WEND_OUTCOME_CANCELED;
}

static bool is_uncertain(wend_outcome o)
{
    return o == WEND_OUTCOME_CANCELED || o == WEND_OUTCOME_TIMEOUT ||
           o == WEND_OUTCOME_UNKNOWN;
}

/* The run stopped at a budget that its child had met, whose end it follows. */
static bool met_budget(const struct retry *r, int64_t action_end)
{
    return r->stop && r->no_room && r->limited && action_end == r->limited + 1;
}

static int64_t plan_at(struct retry *r, int64_t at)
{
    const struct turn *t = &r->turn;

    for (uint32_t i = 0; i < t->plan.plan->count; i++) {
        struct retried *a = &r->actions[i];
        int64_t before;

        a->again = a->end && (runs_again(t, i) || met_budget(r, a->end));
        if (!a->again)
            continue;
        a->keeps_key = turn_action_class(t, i) == WEND_CLASS_IDEMPOTENT &&
                       is_uncertain(plan_action_state(&t->plan, i)->outcome);
        before = (a->keeps_key ? a->end : a->start) - 1;
        if (before < at)
            at = before;
    }
    return at;
}

static int64_t place(struct retry *r)
{
    if (r->actions && r->turn.plan.started)
        return plan_at(r, (r->stop ? r->stop : r->end) - 1);
    if (r->stop && r->no_room && r->limited)
        return r->limited - 1;
    if (r->stop)
        return r->stop - 1;
    if (r->model && !r->next_turn)
        return r->model - 1;
    if (r->turn_end && !r->next_turn)
        return r->turn_end - 1;
    return r->end - 1;
}

/* ---- What is done -------------------------------------------------------- */

/* Of an event that is gone with the next one. */
static const wend_event *copy(struct fork *f, const wend_event *ev)
{
    struct fork_done *c = arena_alloc(&f->arena, sizeof *c);

    if (!c)
        return NULL;
    c->ev = event_copy(&f->store->mem, ev);
    f->arena.failed |= !c->ev;
    c->next = f->copies;
    f->copies = c;
    return c->ev;
}

static void add_done(struct fork *f, const wend_event *ev)
{
    struct fork_done *d = ev ? arena_alloc(&f->arena, sizeof *d) : NULL;

    if (!d)
        return;
    d->ev = ev;
    *f->done_end = d;
    f->done_end = &d->next;
    f->done_count++;
}

/* Of a plan that a model wrote. */
static void end_written(struct fork *f, const wend_event *ev)
{
    const struct plan_state *p = &f->turn.plan;
    uint32_t i =
        p->started ? plan_find(p->plan, ev->u.action_end.action) : PLAN_NONE;

    if (ev->u.action_end.outcome == WEND_OUTCOME_OK && fork_open_action(p, i))
        add_done(f, copy(f, ev));
}

/* What is open at `at` has begun there. */
static void end_own(struct fork *f, struct retried *a, uint32_t i,
                    const wend_event *ev)
{
    const struct action_state *s = plan_action_state(&f->turn.plan, i);
    bool fresh = a->start > f->o.at;

    if (ev->u.action_end.outcome == WEND_OUTCOME_SKIPPED ||
        (s->child.ptr && !a->child))
        return;
    if (fresh && (!a->again || a->keeps_key))
        add_done(f, a->began);
    if (a->again)
        return;
    if (!s->asking && a->said)
        add_done(f, a->asked);
    add_done(f, a->said);
    if (s->child.ptr)
        add_done(f, a->child);
    add_done(f, copy(f, ev));
}

static void end_action(struct retry *r, const wend_event *ev)
{
    struct retried *a = retried_of(r, ev->u.action_end.action);

    if (ev->u.action_end.outcome == WEND_OUTCOME_SUPERSEDED)
        return;
    if (!r->actions)
        end_written(r->f, ev);
    else if (a && r->f->turn.plan.started)
        end_own(r->f, a, (uint32_t)(a - r->actions), ev);
}

/* Others than ok may come from the stop. */
static void end_call(struct retry *r, const wend_event *ev)
{
    struct fork *f = r->f;
    wend_outcome o = ev->u.call_end.outcome;
    int i = turn_call_index(&f->turn, ev->u.call_end.call);
    bool own = ev->in_turn && ev->turn == f->turn.counter;

    if ((o == WEND_OUTCOME_OK || (!r->stop && o != WEND_OUTCOME_SUPERSEDED)) &&
        own && fork_open_call(&f->turn, i) && (f->turn.flags[i] & CALL_STARTED))
        add_done(f, copy(f, ev));
}

static void end_child(struct retry *r, const wend_event *ev)
{
    const struct plan_state *p = &r->f->turn.plan;
    uint32_t place = 0, i;

    while (r->actions && p->started &&
           (i = plan_marked(p, MARK_RUNS, &place)) != PLAN_NONE)
        if (str_eq(plan_action_state(p, i)->child, ev->u.child_end.run))
            r->actions[i].child = copy(r->f, ev);
}

static void note_said(struct retry *r, const wend_event *ev)
{
    bool asks = ev->type == WEND_MODEL_START;
    struct retried *a =
        retried_of(r, asks ? ev->u.model_start.action : ev->u.model_end.action);

    if (a && asks)
        a->asked = copy(r->f, ev);
    else if (a && ev->u.model_end.outcome != WEND_OUTCOME_SUPERSEDED)
        a->said = copy(r->f, ev);
}

static void begin_action(struct retry *r, const wend_event *ev)
{
    struct retried *a = retried_of(r, ev->u.action_start.action);

    if (a)
        a->began = copy(r->f, ev);
}

static wend_status take_done(void *ctx, const wend_event *ev)
{
    static const retry_fn rows[WEND_EVENT_TYPES] = {
        [WEND_ACTION_START] = begin_action, [WEND_MODEL_START] = note_said,
        [WEND_MODEL_END] = note_said,       [WEND_CHILD_END] = end_child,
        [WEND_ACTION_END] = end_action,     [WEND_CALL_END] = end_call,
    };
    struct fork *f = ctx;

    if (rows[ev->type])
        rows[ev->type](f->retry, ev);
    return f->arena.failed            ? WEND_E_NOMEM
           : ev->type == WEND_RUN_END ? WEND_END
                                      : WEND_OK;
}

/* ---- For fork.c ---------------------------------------------------------- */

static bool is_retried(wend_str status)
{
    static const char *const words[] = {"failed", "canceled", "limit"};

    return str_index(status, words, 3) >= 0;
}

wend_status retry_look(struct fork *f, const wend_run_info *info)
{
    struct retry *r;
    int64_t at = info->seq - (info->ended_us != 0);
    wend_status s;

    f->o.at = at;
    f->done_end = &f->done;
    if (!is_retried(info->status) && !f->child)
        return WEND_OK;
    r = arena_alloc(&f->arena, sizeof *r);
    if (!r)
        return fail_nomem(f->err);
    r->f = f;
    f->imported = info->imported;
    turn_init(&r->turn);
    f->retry = r;
    s = fork_read(f, 1, look_at);
    if (s != WEND_OK || !r->turn.config) {
        f->retry = NULL;
        return s;
    }
    if (is_retried(info->status) && r->end)
        at = place(r);
    f->o.at = at > 1 ? at : 1;
    s = fork_state(f);
    if (s == WEND_OK)
        s = fork_read(f, f->o.at + 1, take_done);
    return s == WEND_OK && f->arena.failed ? fail_nomem(f->err) : s;
}

void retry_say(struct fork *f)
{
    for (const struct fork_done *d = f->done; d; d = d->next) {
        wend_event *ev = fork_add(f, d->ev->type);

        /* A copy has no more than its own payload. */
        memcpy(&ev->u, &d->ev->u, event_fields(ev->type)->size);
        if (ev->type == WEND_ACTION_START)
            ev->u.action_start.attempt = 1;
        else if (ev->type == WEND_ACTION_END)
            ev->u.action_end.given = true;
        else if (ev->type == WEND_CALL_END)
            ev->u.call_end.given = true;
    }
}

void retry_free(struct fork *f)
{
    for (struct fork_done *c = f->copies; c; c = c->next)
        mem_free(&f->store->mem, (void *)(uintptr_t)c->ev);
    f->copies = NULL;
}

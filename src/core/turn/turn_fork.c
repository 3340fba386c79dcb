/*
 * turn_fork.c - a run's state as it continues in a fork or in another process,
 * maybe with another model, other tools or limits.
 *
 * All of the state stays, except what belongs to the parent run or process
 * alone: its name, its clock, what stopped or paused it, and the running
 * calls.
 */
#include "core/turn/turn.h"

#include <assert.h>
#include <string.h>

bool turn_take_config(struct turn *t, wend_str json, const struct keep *k)
{
    struct config *c = NULL;

    if (k->known && str_eq(k->known->json, json)) {
        t->config = k->known;
    } else if (config_parse(json, k->arena, &c, NULL) == WEND_OK) {
        t->config = c;
    } else {
        k->arena->failed = true;
        return false;
    }
    t->frame = frame_with(t->config, t->context_json, k->arena);
    return t->frame != NULL;
}

/* The process that ran the open calls is gone; a plan resumes by its actions.
 */
static void lose_calls(struct turn *t)
{
    for (uint32_t i = 0; i < t->calls_count; i++)
        if (turn_call_runs(t, i) && (int)i != turn_plan_call(t))
            t->flags[i] |= CALL_LOST;
}

/* The config is part of every prefix after it. */
static const struct msg *seal_again(const struct turn *t,
                                    const struct msg *history,
                                    const struct keep *k)
{
    size_t count = history ? (size_t)history->index + 1 : 0;
    struct msg *list = arena_alloc(k->arena, (count + 1) * sizeof *list);
    size_t i = count;

    if (!list)
        return NULL;
    for (const struct msg *m = history; m && i; m = m->prev)
        list[--i] = *m;
    assert(!i);
    for (i = 0; i < count; i++)
        msg_link(&list[i], i ? &list[i - 1] : NULL, t->frame->prefix);
    return count ? &list[count - 1] : NULL;
}

/* What an event replaces; absent or NULL: nothing. */
static bool take_over(struct turn *t, wend_str config_json, wend_str model,
                      const wend_ev_limits *limits, const struct keep *k)
{
    if (limits)
        t->limits = *limits;
    turn_ask_own(t);
    if (config_json.ptr) {
        if (!turn_take_config(t, config_json, k))
            return false;
        t->reconfigured = t->redefined = true;
        if (t->model_at >= t->config->models_count) /* no event of ours */
            t->model_at = 0;
        t->history = seal_again(t, t->history, k);
        t->aside = seal_again(t, t->aside, k);
    }
    if (config_json.ptr || model.ptr) /* other tools, or another count */
        t->used_tokens = t->used_estimate = t->ratio = 0;
    if (model.ptr) {
        t->model = arena_str(k->arena, model);
        t->model_at = 0;
    }
    return true;
}

/* ---- Children that did not end ok ----------------------------------------
 *
 * The run that is tried again counted what they used, and so does the fork from
 * its first event on. The run that continues a child has the same usage in its
 * own: only what it adds counts once more. */

const struct unfinished *turn_unfinished(const struct turn *t, wend_str call,
                                         wend_str action)
{
    const struct unfinished *u = t->unfinished;

    while (u &&
           (u->as.ptr || !str_eq(u->call, call) || !str_eq(u->action, action)))
        u = u->next;
    return u;
}

const struct unfinished *turn_continued(const struct turn *t, wend_str as)
{
    const struct unfinished *u = t->unfinished;

    while (u && !(u->as.ptr && str_eq(u->as, as)))
        u = u->next;
    return u;
}

/* The list without `but`, or without all that no run continues. */
static void keep_unfinished(struct turn *t, const struct unfinished *but,
                            bool continued, const struct keep *k)
{
    const struct unfinished *rest = t->unfinished;

    t->unfinished = NULL;
    for (; rest; rest = rest->next) {
        struct unfinished *u = rest == but || (continued && !rest->as.ptr)
                                   ? NULL
                                   : arena_alloc(k->arena, sizeof *u);

        if (!u)
            continue;
        *u = *rest;
        u->next = t->unfinished;
        t->unfinished = u;
    }
}

void turn_forget_unfinished(struct turn *t, const struct keep *k)
{
    if (t->unfinished)
        keep_unfinished(t, NULL, true, k);
}

static void add_unfinished(struct turn *t, const wend_ev_unfinished *e,
                           wend_str as, const struct keep *k)
{
    const struct unfinished *before = turn_unfinished(t, e->call, e->action);
    struct unfinished *u = arena_alloc(k->arena, sizeof *u);

    if (!u)
        return;
    if (before)
        keep_unfinished(t, before, false, k);
    *u = (struct unfinished){.next = t->unfinished,
                             .call = arena_str(k->arena, e->call),
                             .action = arena_str(k->arena, e->action),
                             .run = arena_str(k->arena, e->run),
                             .input = arena_str(k->arena, e->input),
                             .as = arena_str(k->arena, as),
                             .metrics = e->metrics};
    t->unfinished = u;
}

void turn_continue(struct turn *t, const wend_ev_child_start *e,
                   const struct keep *k)
{
    const struct unfinished *u =
        e->fork_of.ptr ? turn_unfinished(t, e->call, e->action) : NULL;
    wend_ev_unfinished same;

    if (!u)
        return;
    same = (wend_ev_unfinished){.call = u->call,
                                .action = u->action,
                                .run = u->run,
                                .input = u->input,
                                .metrics = u->metrics};
    add_unfinished(t, &same, e->run, k);
}

void turn_take_redone(struct turn *t, const wend_ev_metrics *redone)
{
    if (!redone)
        return;
    metrics_add(&t->metrics, redone);
    t->unpriced |= redone->cost_nano < 0;
}

/* ---- A fork -------------------------------------------------------------- */

/* The time that no process owned it. The old owner lived on after the last kept
 * event for at most METRICS_EVERY_MS, METRICS_WAITING_MS if it only waited. */
static int64_t since_last(const struct turn *t, const wend_event *ev)
{
    return ev->time_us - t->time_us;
}

/* What waits for approval is decided again; all: also what has got it. */
static void forget_answers(struct plan_state *p, bool all, struct arena *a)
{
    static const unsigned marks[] = {MARK_OPEN, MARK_RUNS};

    for (size_t m = 0; p->started && m < sizeof marks / sizeof *marks; m++) {
        uint32_t place = 0, i;

        while ((i = plan_marked(p, marks[m], &place)) != PLAN_NONE) {
            const struct action_state *was = plan_action_state(p, i);
            struct action_state *s;

            if (was->at != AT_APPROVAL && !(all && was->answered))
                continue;
            s = arena_alloc(a, sizeof *s);
            if (!s)
                return;
            *s = *was;
            p->approvals -= s->at == AT_APPROVAL;
            s->at = s->at == AT_APPROVAL ? AT_READY : s->at;
            s->answered = s->approved = false;
            plan_keep_state(p, i, s, a);
        }
    }
}

void turn_fork(struct turn *t, const wend_event *ev, const struct keep *k)
{
    const wend_ev_run_fork *e = &ev->u.run_fork;

    t->run = arena_str(k->arena, ev->run);
    t->started_us = ev->time_us;
    t->idle_us = 0;
    t->lives = 0;
    t->stop = (struct stop){0};
    t->paused = t->paused_above = false;
    t->forked = true;
    t->plan_failures = 0; /* a fork may try again what its parent gave up */
    if (str_is(t->plan_stop, "no_progress"))
        t->plan_stop = STR_NONE;
    if (!take_over(t, e->config_json, e->model, e->limits, k))
        return;
    turn_take_redone(t, e->redone);
    for (size_t i = 0; i < e->children_count; i++)
        add_unfinished(t, &e->children[i], STR_NONE, k);
    lose_calls(t);
    plan_interrupt(&t->plan, since_last(t, ev), k->arena);
    if (e->config_json.ptr)
        forget_answers(&t->plan, false, k->arena);
}

static int64_t at_least_0(int64_t n)
{
    return n > 0 ? n : 0;
}

/* Negative sums would raise the budgets. */
static void distrust(struct turn *t, const wend_event *ev)
{
    wend_ev_metrics *m = &t->metrics;

    t->imported = true;
    t->started_us = ev->time_us;
    t->idle_us = 0;
    t->rules = NULL;
    t->unfinished = NULL; /* nor are its children continued */
    for (uint32_t i = 0; i < t->calls_count; i++)
        t->flags[i] &= ~(CALL_ASKED | CALL_ANSWERED | CALL_APPROVED);
    t->labels |= WEND_LABEL_UNTRUSTED_SOURCE;
    m->turns = at_least_0(m->turns);
    m->tokens_in = at_least_0(m->tokens_in);
    m->tokens_out = at_least_0(m->tokens_out);
    m->cost_nano = at_least_0(m->cost_nano);
}

void turn_resume(struct turn *t, const wend_event *ev, const struct keep *k)
{
    const wend_ev_run_resume *e = &ev->u.run_resume;

    t->lives++;
    t->idle_us += since_last(t, ev);
    if (!take_over(t, e->config_json, e->model, e->limits, k))
        return;
    if (e->imported)
        distrust(t, ev);
    t->forked |= e->config_json.ptr || e->model.ptr;
    lose_calls(t);
    plan_interrupt(&t->plan, since_last(t, ev), k->arena);
    if (e->imported || e->config_json.ptr)
        forget_answers(&t->plan, e->imported, k->arena);
}

/* ---- Limits --------------------------------------------------------------
 *
 * The value of a control event, {"turns":N,"time_ms":N,"tokens":N,"cost":USD,
 * "parallel":N}. Members that are missing stay as they are. */

void limits_write(struct buf *b, const wend_ev_limits *l)
{
    json_open(b, NULL, '{');
    for (size_t i = 0; i < limits_fields->count; i++) {
        const struct event_field *f = &limits_fields->list[i];
        int64_t n =
            *(const int64_t *)(const void *)((const char *)l + f->offset);

        if (n <= 0)
            continue;
        json_key(b, NULL);
        json_put_str(b, event_field_name(f));
        buf_char(b, ':');
        if (f->kind == F_NANO)
            json_put_nano(b, n);
        else
            buf_i64(b, n);
    }
    json_close(b, '}');
}

void turn_take_limits(struct turn *t, const struct json *value)
{
    for (size_t i = 0; i < limits_fields->count; i++) {
        const struct event_field *f = &limits_fields->list[i];
        const struct json *j = json_member(value, event_field_name(f));
        int64_t n = 0;
        bool is = f->kind == F_NANO
                      ? j && j->kind == JSON_NUMBER && nano_read(j->text, &n)
                      : json_i64(j, &n);

        assert(f->kind == F_NANO || f->kind == F_I64);
        if (is && n > 0)
            *(int64_t *)(void *)((char *)&t->limits + f->offset) = n;
    }
}

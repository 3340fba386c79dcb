/*
 * laws_step.c - the laws that a whole step can break.
 *
 * They run when the step's events are stored and entered into the book and
 * before its effects are performed; `before` is the book as it was.
 */
#include "core/turn/verdict.h"
#include "laws_budget.h"
#include "laws_context.h"
#include "laws_step.h"
#include "plan_book.h"

/* ---- Inputs -----------------------------------------------------------------
 */
static bool hook_is_stale(struct book *b, const struct input *in)
{
    const struct book_call *c;

    if (in->hook.turn != b->turn || !b->turn_open || b->paused)
        return true;
    if (!in->hook.call.ptr)
        return b->context_seen;
    c = book_call(b, in->hook.call);
    return b->model_open || !c || c->started || book_waits(c);
}

/* A child is begun once, and not for a run that is being stopped. */
static bool action_is_stale(const struct book *b, const struct input *in)
{
    const struct plan_book *p = &b->plan;
    const struct book_action *a = p->made && in->done.action < p->made->count
                                      ? &p->a[in->done.action]
                                      : NULL;

    if (!act_runs(a) || a->lost || a->attempt != in->done.attempt)
        return true;
    return in->done.uncached && (a->child || b->stopping ||
                                 !is_child_type(&p->made->a[in->done.action]));
}

static bool stop_is_stale(struct book *b, const struct input *in)
{
    if (in->kind == IN_CALL_DONE)
        return in->done.turn != b->turn ||
               !book_runs(book_call(b, in->done.call)) ||
               book_call(b, in->done.call)->lost;
    if (in->kind == IN_RESUME)
        return false;
    if (in->kind == IN_ACTION_DONE)
        return action_is_stale(b, in);
    return in->kind != IN_TIMER || in->timer != TIMER_STOP;
}

static bool timer_is_stale(const struct book *b, const struct input *in)
{
    if (in->timer == TIMER_RETRY)
        return !b->model_open || in->ask != b->asks;
    return in->timer == TIMER_STOP;
}

/* Nothing waits for this input: it must change nothing. */
bool is_stale(struct book *b, const struct input *in)
{

    if (b->run_over)
        return true;
    if (!b->run_open || in->kind == IN_START)
        return b->run_open || in->kind != IN_START;
    if (in->kind == IN_TROUBLE)
        return false;
    if (b->stopping)
        return stop_is_stale(b, in);
    switch (in->kind) {
    case IN_HOOK: return hook_is_stale(b, in);
    case IN_SEALED:
    case IN_WRITTEN:
    case IN_WARN: return !b->model_open || in->ask != b->asks || b->paused;
    case IN_MODEL_DONE:
        return !b->model_open || in->ask != b->asks || !in->reply;
    case IN_MODEL_FAIL: return !b->model_open || in->ask != b->asks;
    case IN_CALL_DONE: return stop_is_stale(b, in);
    case IN_ACTION_DONE: return action_is_stale(b, in);
    case IN_CHECKED: return true; /* nor tools that can be looked up */
    case IN_APPROVAL:
        return !book_waits(book_call(b, in->approval.call)) &&
               !act_waits(act_find(&b->plan, in->approval.call));
    case IN_TIMER: return timer_is_stale(b, in);
    case IN_PAUSE: return b->paused;
    case IN_CONTINUE: return !b->paused;
    case IN_START:
    case IN_CANCEL:
    case IN_STOP:
    case IN_SAY:
    case IN_COMPACT:
    case IN_RESUME:
    case IN_TROUBLE:
    case IN_UNENDED: break;
    }
    return false;
}

static void law_late(struct sim *s, const struct view *v, const char *name)
{
    const struct step_event *e = v->step->events;

    if (is_stale(v->before, v->in) && (e || v->step->effects))
        broken(s, name, "input %d gives %s", (int)v->in->kind,
               e ? wend_event_name(e->ev.type) : "an effect");
}

/* The event that an input that counts begins its step with. */
static const wend_event_type first_event[] = {
    [IN_START] = WEND_RUN_START,
    [IN_MODEL_DONE] = WEND_MODEL_END,
    [IN_MODEL_FAIL] = WEND_MODEL_END,
    [IN_CALL_DONE] = WEND_CALL_END,
    [IN_APPROVAL] = WEND_APPROVAL_ANSWER,
    [IN_CANCEL] = WEND_CONTROL,
    [IN_STOP] = WEND_CONTROL,
    [IN_SAY] = WEND_MESSAGE,
    [IN_PAUSE] = WEND_CONTROL,
    [IN_CONTINUE] = WEND_CONTROL,
    [IN_COMPACT] = WEND_CONTROL,
    [IN_RESUME] = WEND_RUN_RESUME,
    [IN_TROUBLE] = WEND_ERROR,
};

/* All that the model sealed before its end, and all that it wrote. */
static bool is_whole(const wend_ev_model_end *e, const struct reply *r)
{
    size_t sealed = 0;

    while (sealed < r->calls_count && r->calls[sealed].sealed)
        sealed++;
    if (e->purpose == WEND_PURPOSE_SUMMARY)
        sealed = 0; /* it may not call tools */
    return e->calls_count == sealed && str_eq(e->text, buf_view(&r->text));
}

static bool says_the_same(const wend_event *ev, const struct input *in)
{
    const wend_ev_call_end *end = &ev->u.call_end;

    if (in->kind == IN_TROUBLE)
        return hash_str(ev->u.error.message) == hash_str(in->troubles->message);
    if (in->kind == IN_SAY)
        return hash_str(ev->u.message.text) == hash_str(in->text);
    if (in->kind == IN_MODEL_DONE)
        return is_whole(&ev->u.model_end, in->reply);
    if (in->kind == IN_APPROVAL)
        return ev->u.approval_answer.yes == in->approval.yes;
    if (ev->type == WEND_CHILD_END)
        return hash_str(ev->u.child_end.text) == hash_str(in->done.child->text);
    if (in->kind == IN_CALL_DONE)
        return str_eq(end->call, in->done.call) &&
               end->outcome == in->done.outcome &&
               (end->truncated ||
                hash_str(end->output) == hash_str(in->done.output)) &&
               (end->outcome == WEND_OUTCOME_OK) == !end->error;
    return true;
}

static void law_heard(struct sim *s, const struct view *v, const char *name)
{
    const struct step_event *e = v->step->events;
    wend_event_type want;

    if (v->in->kind == IN_UNENDED || is_stale(v->before, v->in))
        return;
    if (v->in->kind == IN_ACTION_DONE && !e)
        broken(s, name, "an action is done, and nothing follows");
    if (v->in->kind == IN_ACTION_DONE)
        return;
    want = v->in->kind == IN_CALL_DONE && v->in->done.child
               ? WEND_CHILD_END
               : first_event[v->in->kind];
    if (want == WEND_EVENT_NONE)
        return;
    if (v->in->kind == IN_MODEL_FAIL && e && e->ev.type == WEND_WARNING)
        e = e->next; /* about the window of the next model */
    if (v->in->kind == IN_MODEL_FAIL && e && e->ev.type == WEND_MODEL_RETRY)
        return;
    if (v->in->kind == IN_SAY && v->in->pin && e &&
        e->ev.type == WEND_WARNING &&
        str_is(e->ev.u.warning.code, "pin_refused"))
        return; /* the window has no room for it */
    if (!e || e->ev.type != want)
        broken(s, name, "input %d gives %s, not %s", (int)v->in->kind,
               e ? wend_event_name(e->ev.type) : "nothing",
               wend_event_name(want));
    else if (!says_the_same(&e->ev, v->in))
        broken(s, name, "%s does not say what came in", wend_event_name(want));
}

/* ---- Calls --------------------------------------------------------------- */

static bool is_beside(const struct book_call *c)
{
    return c->tool &&
           (c->tool->call_class == WEND_CLASS_READ || c->tool->concurrent);
}

/* What was cut off has no place until it begins again; a child then does to
 * be stopped, too. */
static void law_parallel(struct sim *s, const struct view *v, const char *name)
{
    uint32_t running = book_live(&s->book);

    (void)v;
    if (s->book.run_open && !s->book.stopping &&
        running > s->book.limits.parallel)
        broken(s, name, "%u run, %lld may", running,
               (long long)s->book.limits.parallel);
}

/* A call that may not run beside others begins after all before it ended,
 * and is over before any behind it begins. */
static void check_order(struct sim *s, uint32_t at, const char *name)
{
    const struct book *b = &s->book;
    const struct book_call *c = &b->calls[at];

    for (uint32_t i = 0; i < b->calls_count; i++) {
        const struct book_call *o = &b->calls[i];

        if (i == at)
            continue;
        if (book_runs(o) && (!is_beside(c) || !is_beside(o)))
            broken(s, name, "'%s' and '%s' overlap", o->id, c->id);
        if (i > at)
            continue;
        if (!o->ended && (!is_beside(c) || !is_beside(o)))
            broken(s, name, "'%s' starts before '%s' has ended", c->id, o->id);
        if (!o->started && !o->asked && !b->config->hooks)
            broken(s, name, "'%s' starts before '%s'", c->id, o->id);
    }
}

static void law_order(struct sim *s, const struct view *v, const char *name)
{
    (void)v;
    for (uint32_t i = 0; i < s->book.calls_count; i++)
        if (s->book.calls[i].fresh && !s->book.calls[i].ended)
            check_order(s, i, name);
}

static void law_eager(struct sim *s, const struct view *v, const char *name)
{
    const struct book *b = &s->book;

    (void)v;
    for (uint32_t i = 0; b->model_open && i < b->calls_count; i++) {
        const struct book_call *c = &b->calls[i];

        if (!c->fresh)
            continue;
        if (b->config->eager == EAGER_OFF || !c->tool ||
            (b->config->eager == EAGER_SAFE &&
             c->tool->call_class == WEND_CLASS_UNSAFE))
            broken(s, name, "'%s' starts while its message streams", c->id);
    }
}

/* What policy says about the arguments that the call really gets. */
static void check_allowed(struct sim *s, const struct turn *t,
                          const struct effect *fx, const struct book_call *c,
                          const char *name)
{
    struct arena a = {.mem = &s->mem};
    struct json *args = json_parse(fx->args, &a, NULL);
    struct verdict verdict;

    if (!args || !c->tool) {
        broken(s, name, "'%s' runs with no tool or no arguments", c->id);
    } else {
        policy_check(t, c->tool, args, &a, &verdict);
        if (verdict.policy.decision == WEND_DECISION_DENY)
            broken(s, name, "'%s' runs though it is denied", c->id);
        else if (verdict.policy.decision == WEND_DECISION_ASK && !c->yes)
            broken(s, name, "'%s' runs before it is approved", c->id);
        if (c->answered && !c->yes)
            broken(s, name, "'%s' runs though approval was refused", c->id);
    }
    arena_free(&a);
}

static void check_act_allowed(struct sim *s, const struct turn *t,
                              const struct effect *fx, const char *name)
{
    const struct book_action *a = &s->book.plan.a[fx->action];
    struct book_call c = {
        .tool = fx->tool, .answered = a->answered, .yes = a->yes};

    snprintf(c.id, sizeof c.id, "a%u", fx->action);
    check_allowed(s, t, fx, &c, name);
}

/* When it began: what the step started behind it had brought no labels. */
static struct turn turn_at_start(const struct view *v, const struct effect *fx,
                                 const struct keep *k)
{
    struct turn t = *v->was;
    wend_str key = fx->key;

    for (const struct step_event *e = v->step->events; e; e = e->next) {
        if ((e->ev.type == WEND_CALL_START &&
             str_eq(e->ev.u.call_start.key, key)) ||
            (e->ev.type == WEND_ACTION_START &&
             str_eq(e->ev.u.action_start.key, key)))
            break;
        turn_apply(&t, &e->ev, k);
    }
    return t;
}

static void law_allowed(struct sim *s, const struct view *v, const char *name)
{
    struct arena a = {.mem = &s->mem};
    struct keep k = {&a, s->config};

    for (const struct effect *fx = v->step->effects; fx; fx = fx->next) {
        const struct book_call *c =
            fx->kind == FX_RUN_CALL || (fx->kind == FX_START_CHILD && fx->call)
                ? book_call(&s->book, fx->call->id)
                : NULL;
        struct turn t;

        if (fx->kind == FX_RUN_ACTION && fx->tool && fx->attempt == 1) {
            t = turn_at_start(v, fx, &k);
            check_act_allowed(s, &t, fx, name);
        } else if (c && !c->again) { /* else it was when it began */
            t = turn_at_start(v, fx, &k);
            check_allowed(s, &t, fx, c, name);
        }
    }
    arena_free(&a);
}

/* ---- Effects ------------------------------------------------------------- */

static void check_call_effect(struct sim *s, const struct effect *fx,
                              const char *name)
{
    struct book_call *c = fx->call ? book_call(&s->book, fx->call->id) : NULL;
    bool *seen;

    if (!book_runs(c)) {
        broken(s, name, "an effect %d for a call that is not open",
               (int)fx->kind);
        return;
    }
    seen = fx->kind == FX_STOP_CALL ? &c->told : &c->ran;
    if (*seen)
        broken(s, name, "effect %d twice for '%s'", (int)fx->kind, c->id);
    *seen = true;
    if (fx->kind == FX_STOP_CALL && !s->book.stopping)
        broken(s, name, "'%s' is told to stop for no reason", c->id);
}

/* The log says first what an effect then does. */
static void law_effects(struct sim *s, const struct view *v, const char *name)
{
    struct book *b = &s->book;

    for (const struct effect *fx = v->step->effects; fx; fx = fx->next) {
        if (fx->kind == FX_RUN_CALL || fx->kind == FX_STOP_CALL ||
            (fx->kind == FX_START_CHILD && fx->call))
            check_call_effect(s, fx, name);
        if (fx->kind != FX_ASK_MODEL)
            continue;
        if (!b->model_open || fx->ask != b->asks)
            broken(s, name, "model ask %lld, the log is at %lld",
                   (long long)fx->ask, (long long)b->asks);
        b->asked_model = true;
    }
    for (uint32_t i = 0; i < b->calls_count; i++) {
        const struct book_call *c = &b->calls[i];

        if (c->lost &&
            (b->paused || book_waits(c) || book_live(b) >= b->limits.parallel))
            continue; /* it waits */
        if (book_runs(c) && c->doubted && !c->lost)
            broken(s, name, "'%s', which is unsafe, runs again", c->id);
        if (book_runs(c) && !c->ran)
            broken(s, name, "call_start of '%s', but it does not run", c->id);
        if (book_runs(c) && b->stopping && !c->told)
            broken(s, name, "stopping, but '%s' is not told", c->id);
    }
}

/* A step may meet a limit behind what it has started: the log says so in that
 * order, and what has just been started is told to stop. */
static bool starts_before_stop(struct sim *s, const struct view *v,
                               const struct effect *run)
{
    bool started = false, before = false;

    for (const struct step_event *e = v->step->events; e; e = e->next) {
        started |= e->ev.type == WEND_ACTION_START &&
                   act_index(&s->book.plan, e->ev.u.action_start.action) ==
                       (int)run->action;
        if (e->ev.type == WEND_CONTROL) /* the last one stops */
            before = started;
    }
    for (const struct effect *fx = run->next; before && fx; fx = fx->next)
        if (fx->kind == FX_STOP_ACTION && fx->action == run->action &&
            fx->attempt == run->attempt)
            return true;
    return false;
}

static void law_still(struct sim *s, const struct view *v, const char *name)
{
    if (!s->book.paused && !s->book.stopping)
        return;
    for (const struct effect *fx = v->step->effects; fx; fx = fx->next) {
        bool runs = fx->kind == FX_RUN_ACTION && !fx->delay_ms &&
                    !starts_before_stop(s, v, fx);

        if (runs || fx->kind == FX_ASK_MODEL || fx->kind == FX_RUN_CALL ||
            fx->kind == FX_HOOK)
            broken(s, name, "effect %d while %s", (int)fx->kind,
                   s->book.stopping ? "stopping" : "paused");
    }
}

/* ---- State --------------------------------------------------------------- */

static void law_request(struct sim *s, const struct view *v, const char *name)
{
    const struct book *b = &s->book;
    uint32_t left = b->msgs_count;
    const struct turn *t = &s->turn;
    const struct msg *newest = t->aside ? t->aside : t->history;

    (void)v;
    if ((b->model_open && b->purpose == WEND_PURPOSE_SUMMARY) !=
        (t->aside && str_starts(t->history->text, summary_ask.ptr)))
        broken(s, name, "a summary is asked for, or is not");
    for (const struct msg *m = newest; m; m = m->prev) {
        const struct book_msg *want = left ? &b->msgs[--left] : NULL;

        if (!want) {
            broken(s, name, "more messages than the log has");
            return;
        }
        if (want->summary)
            continue;
        if (m->role != want->role || (m->whole.ptr != NULL) != want->cut ||
            hash_str(want->cut ? m->whole : m->text) != want->text ||
            (m->role == ROLE_TOOL && hash_str(m->call) != want->call) ||
            (m->calls ? m->calls->index + 1 : 0) != want->calls ||
            m->parts_count != want->parts)
            broken(s, name, "message %u is role %d '%.40s', wanted role %d",
                   left, (int)m->role, m->text.ptr ? m->text.ptr : "",
                   (int)want->role);
    }
    if (left)
        broken(s, name, "%u messages of the log are missing", left);
}

/* Newest first: results are met before the calls they answer. */
static void law_pairs(struct sim *s, const struct view *v, const char *name)
{
    const struct msg *m = s->turn.history;
    bool asks = false;

    for (const struct effect *fx = v->step->effects; fx; fx = fx->next)
        asks |= fx->kind == FX_ASK_MODEL;
    while (asks && m) {
        uint32_t results = 0;
        const struct msg *last = m;
        const struct call *c;

        for (; m && m->role == ROLE_TOOL; m = m->prev)
            results++;
        c = m ? m->calls : NULL;
        if ((c ? c->index + 1 : 0) != results) {
            broken(s, name, "%u results for %u calls", results,
                   c ? c->index + 1 : 0);
            return;
        }
        for (; results; results--, last = last->prev, c = c->prev)
            if (!str_eq(last->call, c->id))
                broken(s, name, "the result of '%.*s' stands for '%.*s'",
                       (int)last->call.len, last->call.ptr, (int)c->id.len,
                       c->id.ptr);
        m = m ? m->prev : NULL;
    }
}

/* A stop is over as soon as no call runs, and at the end of patience. */
static void law_stop(struct sim *s, const struct view *v, const char *name)
{
    const struct book *b = &s->book;
    bool timer = v->in->kind == IN_TIMER && v->in->timer == TIMER_STOP;
    bool armed = false;

    if (!b->stopping || b->run_over)
        return;
    if (!book_busy(b))
        broken(s, name, "stopped and nothing runs, but no run_end");
    if (timer && v->before->stopping)
        broken(s, name, "out of patience, but no run_end");
    for (const struct effect *fx = v->step->effects; fx; fx = fx->next)
        armed |= fx->kind == FX_TIMER && fx->timer == TIMER_STOP;
    if (!v->before->stopping && !armed)
        broken(s, name, "stopping without a timer");
}

/* Hours in which no process had it are not its own. */
static void law_clock(struct sim *s, const struct view *v, const char *name)
{
    int64_t left_ms = s->book.limits.time_ms - v->before->sum.ms;

    if (v->in->kind != IN_RESUME || !s->book.limits.time_ms ||
        v->before->run_over)
        return;
    for (const struct effect *fx = v->step->effects; fx; fx = fx->next)
        if (fx->kind == FX_TIMER && fx->timer == TIMER_RUN &&
            fx->delay_ms != left_ms)
            broken(s, name, "it has %lld ms left, of which %lld ms are given",
                   (long long)left_ms, (long long)fx->delay_ms);
    for (const struct step_event *e = v->step->events; e; e = e->next)
        if (e->ev.type == WEND_CONTROL && left_ms > 0 &&
            str_is(e->ev.u.control.by, "time"))
            broken(s, name, "stopped, and %lld ms were left",
                   (long long)left_ms);
}

const struct step_law step_laws[] = {
    {"late answers change nothing", law_late},
    {"what counts is heard", law_heard},
    {"running calls within the limit", law_parallel},
    {"calls run in call order", law_order},
    {"only safe calls are eager", law_eager},
    {"nothing runs that is not allowed", law_allowed},
    {"effects follow the log", law_effects},
    {"a question is asked only if it fits the budget", law_budget},
    {"nothing starts while paused or stopping", law_still},
    {"the request is what was said", law_request},
    {"every call in the request has its result", law_pairs},
    {"a stop ends the run", law_stop},
    {"time limits count the time in which it ran", law_clock},
    {"a request fits the window, or cannot be shorter", law_window},
    {NULL, NULL},
};

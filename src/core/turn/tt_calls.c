/*
 * tt_calls.c - the calls of a message: admission, order, results.
 *
 * Calls start in call order. Reading ones run beside each other up to the
 * limit; any other waits for all before it and holds all after it, so that
 * the outcome is that of running them one by one.
 */
#include "core/turn/tt_step.h"

#include <assert.h>

#include "base/limits.h"

/* ---- Which may start ----------------------------------------------------- */

/* A plan does whatever its actions do. */
static bool runs_beside_others(const struct turn *t, const struct tool *tool)
{
    return tool && tool != t->config->plan_tool &&
           (tool->call_class == WEND_CLASS_READ || tool->concurrent);
}

static uint32_t slots(const struct turn *t)
{
    return t->limits.parallel ? (uint32_t)t->limits.parallel : CALLS_MAX;
}

/* Calls start in the order of the message: one that may not run beside others
 * waits for all before it, and all after it wait for it. */
struct call_line {
    uint32_t next; /* the call to look at */
    uint32_t running;
    uint32_t open, alone; /* before it; of them, those that run alone */
};

static struct call_line line_begin(const struct turn *t)
{
    return (struct call_line){.running = turn_running(t)};
}

/* Whether those before it leave room for one more. */
static bool line_fits(const struct turn *t, const struct call_line *l,
                      bool beside)
{
    return l->running < slots(t) && !(beside ? l->alone : l->open);
}

/* The next call that may start, which counts as running from then on. */
static bool line_next(const struct turn *t, struct call_line *l, uint32_t *out)
{
    while (l->next < t->calls_count) {
        uint32_t i = l->next++;
        bool beside, fits;

        if (t->flags[i] & CALL_ENDED)
            continue;
        beside = runs_beside_others(
            t, config_tool(t->config, turn_call(t, i)->name));
        fits = line_fits(t, l, beside);
        l->open++;
        l->alone += !beside;
        if (!fits || (t->flags[i] & CALL_STARTED) || turn_call_waits(t, i))
            continue;
        assert(l->running < slots(t));
        l->running++;
        *out = i;
        return true;
    }
    return false;
}

/* Refusals and requests for approval come before anything starts, once: a
 * message may have many calls with long arguments, and each look reads them. */
static void settle(struct tt *x, uint32_t i)
{
    const struct turn *t = x->t;
    struct work w;
    struct admission a;

    if ((t->flags[i] & CALL_STARTED) || turn_call_waits(t, i) ||
        (int)i == turn_plan_call(t)) /* which has begun before its call */
        return;
    w = work_of_call(t, turn_call(t, i));
    admit_work(x, &w, &a);
    if (!refuse_work(x, &w, &a) &&
        a.verdict.policy.decision == WEND_DECISION_ASK && !w.answered)
        request_approval(x, &w, &a.verdict);
}

/* A yes is for the arguments that were shown, and for no others. */
static void approved_policy(const struct turn *t, const struct work *w,
                            struct admission *a)
{
    if (!w->approved ||
        !str_eq(w->args, turn_call_state(t, w->call->index)->shown))
        return;
    a->verdict.policy.decision = WEND_DECISION_ALLOW;
    a->verdict.policy.rule = STR("approved");
}

static void start_or_ask(struct tt *x, const struct work *w,
                         struct admission *a)
{
    if (refuse_work(x, w, a))
        return;
    if (a->verdict.policy.decision == WEND_DECISION_ASK)
        request_approval(x, w, &a->verdict);
    else
        start_work(x, w, a);
}

/* What was allowed when its message ended may not be now: calls before it
 * have brought something into the run. False if it does not start. */
static bool start_allowed(struct tt *x, uint32_t i)
{
    const struct turn *t = x->t;
    struct work w = work_of_call(t, turn_call(t, i));
    struct admission a;

    admit_work(x, &w, &a);
    approved_policy(t, &w, &a);
    if ((int)i == turn_plan_call(t))
        start_plan_call(x, &w, &a); /* whatever is wrong with it */
    else
        start_or_ask(x, &w, &a);
    return turn_call_runs(t, i);
}

/* Asks the host about a call; the answer starts it. */
static void want_hook(struct tt *x, uint32_t i)
{
    const struct work w = work_of_call(x->t, turn_call(x->t, i));

    want(x, (struct effect){.kind = FX_HOOK, .call = w.call, .args = w.args});
}

static void start_ready(struct tt *x)
{
    const struct turn *t = x->t;
    struct call_line l = line_begin(t);
    uint32_t i;

    while (!no_memory(x) && !t->stop.outcome && !t->paused &&
           line_next(t, &l, &i))
        if (t->config->hooks)
            want_hook(x, i);
        else if (!start_allowed(x, i)) /* its place is free */
            l = line_begin(t);
}

void settle_calls(struct tt *x)
{
    for (uint32_t i = 0; i < x->t->calls_count; i++)
        settle(x, i);
}

/* Tells people and the model that its calls repeat themselves; true: that was
 * the end of the run. */
static bool ends_loop(struct tt *x)
{
    const struct circle *l = &x->t->circle;
    struct buf text = {.mem = x->s->scratch->mem}, note = text;
    bool over = l->due == CIRCLE_END;

    circle_text(l, &text);
    circle_note(l, &note);
    warn(x, STR("loop"), take_text(x, &text));
    if (over) {
        buf_free(&note);
        end_turn(x, WEND_OUTCOME_OK);
        end_run(x, WEND_OUTCOME_LIMIT, STR("loop"), NULL);
    } else {
        emit_note(x, take_text(x, &note));
    }
    return over;
}

void run_calls(struct tt *x)
{
    const struct turn *t = x->t;
    uint32_t open = 0;

    restart_lost(x);
    if (turn_plan_call(t) >= 0)
        advance_plan(x);
    start_ready(x);
    if (t->stop.outcome != WEND_OUTCOME_NONE)
        return; /* a limit that a plan's action met */
    for (uint32_t i = 0; i < t->calls_count; i++)
        open += !(t->flags[i] & CALL_ENDED);
    if (open)
        return;
    /* A provider that works long on its own pauses its message, and continues
     * when it gets it back: what it said so far is not an answer yet. The next
     * turn counts like any other, so that a limit ends an endless one. */
    if (!t->calls_count && !t->pending && !t->halted && !t->unanswered) {
        close_answer(x);
        return;
    }
    if (t->circle.due && ends_loop(x))
        return;
    /* A fork may begin behind a message that broke off: it is asked for again.
     */
    end_turn(x, t->calls_count || !t->unanswered ? WEND_OUTCOME_OK
                                                 : WEND_OUTCOME_FAILED);
    next_turn(x);
}

void fill_pending(struct tt *x, wend_ev_run_end *e)
{
    const struct turn *t = x->t;
    wend_ev_call *list =
        arena_alloc(x->s->scratch, t->calls_count * sizeof *list);

    for (uint32_t i = 0; list && i < t->calls_count; i++) {
        const struct call *c = turn_call(t, i);
        const struct call_state *s = turn_call_state(t, i);

        if (s->client)
            list[e->pending_count++] = (wend_ev_call){
                .id = c->id, .name = c->name, .args_json = s->args};
    }
    e->pending = list;
}

/* ---- While the message still streams ------------------------------------- */

static bool is_eager(const struct config *c, const struct admission *a)
{
    if (c->eager == EAGER_OFF || c->hooks || a->refused != WEND_OUTCOME_NONE ||
        a->verdict.policy.decision != WEND_DECISION_ALLOW ||
        a->tool->client) /* nothing is gained, and its message could not be
                            asked for again */
        return false;
    return c->eager == EAGER_ALL || a->tool->call_class != WEND_CLASS_UNSAFE;
}

/* All calls so far have started. */
static bool has_room(const struct turn *t, const struct tool *tool)
{
    struct call_line l = line_begin(t);
    uint32_t i;

    return !line_next(t, &l, &i) &&
           line_fits(t, &l, runs_beside_others(t, tool));
}

void emit_part(struct tt *x)
{
    const struct reply *r = x->in->reply;

    emit(x, WEND_MODEL_PART,
         &(wend_ev_model_part){.text = buf_view(&r->text),
                               .thinking = text_or_absent(&r->thinking),
                               .opaque_json = text_or_absent(&r->opaque)});
}

/* The first call that cannot start now keeps those after it waiting too. */
void start_eager(struct tt *x)
{
    const struct reply *r = x->in->reply;
    const struct turn *t = x->t;

    if (t->phase != PH_MODEL || !r || t->paused ||
        t->purpose == WEND_PURPOSE_SUMMARY) /* which may have none */
        return;
    while (t->calls_count < r->calls_count && r->calls[t->calls_count].sealed) {
        const struct reply_call *rc = &r->calls[t->calls_count];
        struct call c = {.index = t->calls_count,
                         .id = buf_view(&rc->id),
                         .name = buf_view(&rc->name),
                         .args = rc->json,
                         .invalid = rc->invalid};
        struct work w = work_of_call(t, &c);
        struct admission a;

        if (is_plan_tool(t->config, c.name))
            break;
        admit_work(x, &w, &a);
        if (!is_eager(t->config, &a) || !has_room(t, a.tool))
            return;
        if (!t->part)
            emit_part(x);
        start_work(x, &w, &a);
        if (no_memory(x))
            return;
    }
    take_written(x);
}

/* ---- Answers ------------------------------------------------------------- */

void on_call_done(struct tt *x)
{
    const struct turn *t = x->t;
    struct call_done d = x->in->done;
    int i = turn_call_index(t, d.call);
    struct work w;

    if (i < 0 || x->in->done.turn != t->counter ||
        !turn_call_runs(t, (uint32_t)i) || (t->flags[i] & CALL_LOST))
        return; /* late, twice, or from before an interruption */
    w = work_of_call(t, turn_call(t, (uint32_t)i));
    if (d.child)
        settle_child(x, child_name(x, &w), &d);
    end_work(x, &w, &d);
    if (t->stop.outcome != WEND_OUTCOME_NONE)
        return;
    if (d.child && child_met_budget(x, child_name(x, &w), d.child))
        limit_reached(x, d.child->limit);
    else if (t->phase == PH_MODEL)
        start_eager(x);
    else if (t->phase == PH_CALLS)
        run_calls(x);
}

/* Starts the call if it would still be chosen. */
void on_call_hook(struct tt *x)
{
    const struct hook_done *h = &x->in->hook;
    const struct turn *t = x->t;
    int index = turn_call_index(t, h->call);
    struct admission a;
    struct call changed;
    struct work w;
    struct call_line l = line_begin(t);
    uint32_t i;
    bool chosen = false;

    if (t->phase != PH_CALLS || index < 0 || t->paused)
        return;
    while (!chosen && line_next(t, &l, &i))
        chosen = i == (uint32_t)index;
    if (!chosen)
        return;
    changed = *turn_call(t, (uint32_t)index);
    w = work_of_call(t, &changed);
    if (h->answer == WEND_HOOK_CHANGE) {
        changed.args = w.args = h->text;
        changed.invalid = false;
    }
    admit_work(x, &w, &a);
    approved_policy(t, &w, &a);
    if (a.verdict.policy.decision == WEND_DECISION_ASK && w.answered)
        deny(x, &a, STR("denied: a hook changed what had been approved"));
    if (h->answer == WEND_HOOK_SKIP)
        end_unstarted(
            x, &w, &a,
            &(struct call_done){.outcome = WEND_OUTCOME_OK, .output = h->text});
    else
        start_or_ask(x, &w, &a);             /* only the changed one needs it */
    if (!turn_call_runs(t, (uint32_t)index)) /* others have its place */
        run_calls(x);
}

void on_approval(struct tt *x)
{
    const struct turn *t = x->t;
    int i = turn_call_index(t, x->in->approval.call);
    struct work w;

    if (on_plan_approval(x))
        return;
    if (i < 0 || !turn_call_waits(t, (uint32_t)i))
        return;
    w = work_of_call(t, turn_call(t, (uint32_t)i));
    answer_approval(x, &w);
    if (w.lost && !x->in->approval.yes)
        end_lost(x, &w);
    settle(x, (uint32_t)i);
    run_calls(x);
}

/* ---- Stopping ------------------------------------------------------------ */

void stop_calls(struct tt *x)
{
    const struct turn *t = x->t;

    for (uint32_t i = 0; i < t->calls_count; i++) {
        const struct call_done d = {.outcome = WEND_OUTCOME_CANCELED,
                                    .code = STR("canceled"),
                                    .output = STR("canceled before it began")};
        struct work w = work_of_call(t, turn_call(t, i));
        bool of_plan = (int)i == turn_plan_call(t); /* ends with its actions */
        struct admission a;

        if (t->flags[i] & CALL_ENDED)
            continue;
        if (w.lost && !w.child.ptr) {
            end_lost(x, &w);
        } else if (t->flags[i] & CALL_STARTED) {
            if (w.lost && !of_plan)
                begin_again(x, &w); /* its child's end is written, too */
            if (!of_plan)
                want(x, work_effect(FX_STOP_CALL, &w));
        } else {
            admit_work(x, &w, &a);
            if (of_plan)
                emit_start(x, &w, &a);
            else
                end_unstarted(x, &w, &a, &d);
        }
    }
}

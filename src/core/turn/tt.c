/*
 * tt.c - the tail-recursive turn function: runs, turns, stops.
 *
 * Begin with tt, at the end. `x` is one call of tt: x->in is the input, x->s
 * the step that is written, x->t its turn, the state after all events so far.
 * emit adds an event, want an effect. Base cases: no calls (ok), a limit,
 * canceled, an error; everything else ends in begin_turn, the tail call.
 *
 * A turn's inside is in tt_model.c and tt_calls.c, plans are in tt_plan.c and
 * tt_planner.c, what follows a crash is in tt_resume.c.
 */
#include "core/turn/tt_step.h"

#include <assert.h>
#include <stdio.h>

#include "base/id.h"

void step_begin(struct step *s, struct arena *scratch, const struct keep *k)
{
    *s = (struct step){.scratch = scratch, .keep = k, .blobs.arena = scratch};
    s->events_tail = &s->events;
    s->effects_tail = &s->effects;
}

/* ---- Writing a step ------------------------------------------------------ */

/* The time of an event that is emitted now; it never goes back. */
static int64_t event_time(const struct tt *x)
{
    return x->in->time_us > x->t->time_us ? x->in->time_us : x->t->time_us;
}

void emit(struct tt *x, wend_event_type type, const void *payload)
{
    struct turn *t = &x->s->turn;
    struct step_event *e = arena_alloc(x->s->scratch, sizeof *e);
    wend_event *ev;

    assert(!wend_event_is_delta(type));
    if (!e)
        return;
    ev = &e->ev;
    ev->type = type;
    memcpy(&ev->u, payload, event_fields(type)->size);
    ev->run = t->run.ptr ? t->run : x->in->run;
    ev->seq = t->seq + 1;
    ev->time_us = event_time(x);
    turn_apply(t, ev, x->s->keep);
    assert(t->seq == ev->seq);
    /* turn_start and turn_end belong to the turn they open and close. */
    ev->in_turn = t->counter >= 0 && type != WEND_RUN_END &&
                  (t->phase != PH_BETWEEN || type == WEND_TURN_END);
    ev->turn = t->counter;
    ev->turn_id = t->id;
    *x->s->events_tail = e;
    x->s->events_tail = &e->next;
    x->s->events_count++;
}

void want(struct tt *x, struct effect effect)
{
    struct effect *fx = arena_alloc(x->s->scratch, sizeof *fx);

    if (!fx)
        return;
    *fx = effect;
    fx->ask = x->t->ask;
    fx->turn = x->t->counter;
    *x->s->effects_tail = fx;
    x->s->effects_tail = &fx->next;
}

void want_timer(struct tt *x, enum timer timer, int64_t delay_ms)
{
    want(x, (struct effect){
                .kind = FX_TIMER, .timer = timer, .delay_ms = delay_ms});
}

wend_ev_error *draft_error(struct tt *x, wend_str code, wend_str message,
                           wend_str component)
{
    wend_ev_error *e = arena_alloc(x->s->scratch, sizeof *e);

    if (!e)
        return NULL;
    e->code = code;
    e->message = message;
    e->component = component;
    return e;
}

wend_str take_text(struct tt *x, struct buf *b)
{
    return buf_keep(b, x->s->scratch);
}

wend_str text_join(struct tt *x, const wend_str *parts, size_t count)
{
    size_t len = 0, at = 0;
    char *p;

    for (size_t i = 0; i < count; i++)
        len += parts[i].len;
    p = arena_chars(x->s->scratch, len);
    if (!p)
        return STR_NONE;
    for (size_t i = 0; i < count; at += parts[i++].len)
        if (parts[i].len)
            memcpy(p + at, parts[i].ptr, parts[i].len);
    return (wend_str){p, len};
}

wend_str text_fmt(struct tt *x, const char *fmt, ...)
{
    va_list ap;
    char *p;
    int len;

    va_start(ap, fmt);
    len = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    p = len < 0 ? NULL : arena_chars(x->s->scratch, (size_t)len);
    if (!p)
        return STR_NONE;
    va_start(ap, fmt);
    vsnprintf(p, (size_t)len + 1, fmt, ap);
    va_end(ap);
    return (wend_str){p, (size_t)len};
}

void warn(struct tt *x, wend_str code, wend_str message)
{
    emit(x, WEND_WARNING, &(wend_ev_warning){.code = code, .message = message});
}

void tell_troubles(struct tt *x)
{
    for (const struct trouble *t = x->in->troubles; t && !no_memory(x);
         t = t->next)
        if (t->warning)
            warn(x, t->code, t->message);
        else
            emit(x, WEND_ERROR,
                 &(wend_ev_error){.code = t->code,
                                  .message = t->message,
                                  .component = t->component,
                                  .retryable = t->retryable});
}

/* ---- Ends ---------------------------------------------------------------- */

/* As of now, not as of the event before. */
wend_ev_metrics metrics_now(const struct tt *x)
{
    wend_ev_metrics m = turn_metrics(x->t);

    m.ms = turn_ran_us(x->t, event_time(x)) / 1000;
    return m;
}

void emit_metrics(struct tt *x)
{
    wend_ev_metrics now = metrics_now(x);

    emit(x, WEND_METRICS, &now);
}

void end_turn(struct tt *x, wend_outcome outcome)
{
    assert(no_memory(x) || x->t->phase != PH_BETWEEN);
    emit(x, WEND_TURN_END,
         &(wend_ev_turn_end){.outcome = outcome,
                             .calls = x->t->calls_count,
                             .failed_calls = x->t->failed_calls});
    emit_metrics(x);
}

void end_run(struct tt *x, wend_outcome outcome, wend_str limit,
             const wend_ev_error *error)
{
    const struct turn *t = x->t;
    struct turn *unended = arena_alloc(x->s->scratch, sizeof *unended);
    wend_str text = t->answer.ptr ? t->answer : STR("");
    wend_ev_run_end e = {.outcome = outcome, .limit = limit, .error = error};

    assert(no_memory(x) || t->phase != PH_END);
    if (t->metrics_due)
        emit_metrics(x);
    if (unended) /* the store may refuse the end: see tt_resume.c */
        *unended = *t;
    x->s->unended = unended;
    if (outcome == WEND_OUTCOME_OK && turn_hands_over(t))
        fill_pending(x, &e);
    else if (t->file_plan.ptr && t->counter < 0)
        text = plan_text(x);
    else if (outcome == WEND_OUTCOME_OK && t->config->schema)
        text = answer_json(t->answer); /* for a program */
    e.text = text;
    e.metrics = metrics_now(x);
    emit(x, WEND_RUN_END, &e);
}

/* ---- Turns --------------------------------------------------------------- */

/* A paused run waits here until it is continued, and a run with hooks until
 * the hook has answered. */
void enter_turn(struct tt *x)
{
    if (x->t->paused)
        return;
    if (x->t->config->hooks && !x->t->again && !x->t->entered)
        want(x, (struct effect){.kind = FX_HOOK});
    else
        ask_model(x);
}

void begin_turn(struct tt *x)
{
    const struct turn *t = x->t;
    int64_t counter = t->counter + 1;
    char id[TURN_ID_MAX];
    size_t len;

    assert(no_memory(x) || t->phase == PH_BETWEEN || t->phase == PH_PLAN);
    if (t->limits.turns && counter >= t->limits.turns) {
        end_run(x, WEND_OUTCOME_LIMIT, STR("turns"), NULL);
        return;
    }
    len = turn_id_make(id, t->run, counter);
    emit(x, WEND_TURN_START,
         &(wend_ev_turn_start){
             .counter = counter,
             .id = arena_str(x->s->scratch, (wend_str){id, len}),
             .parent_id = t->id,
             .compacted = t->compactions > 0});
    enter_turn(x);
}

void next_turn(struct tt *x)
{
    if (turn_hands_over(x->t)) {
        end_run(x, WEND_OUTCOME_OK, STR_NONE, NULL);
        return;
    }
    if (x->t->config->plan_tool && end_planning(x))
        return;
    if (x->t->calls_count || x->t->pending || x->t->halted || x->t->unanswered)
        begin_turn(x);
    else
        end_run(x, WEND_OUTCOME_OK, STR_NONE, NULL);
}

/* ---- Inputs -------------------------------------------------------------- */

void tell_gap(struct tt *x)
{
    wend_str gap = policy_gap(x->t->config, x->in->hides, x->s->scratch);

    if (gap.ptr)
        warn(x, STR("rule_gap"), gap);
}

void keep_blobs(struct tt *x, const struct event_blob *list)
{
    for (; list; list = list->next) {
        struct event_blob *copy = arena_alloc(x->s->scratch, sizeof *copy);

        if (!copy)
            return;
        *copy = *list;
        copy->next = x->s->blobs.first;
        x->s->blobs.first = copy;
        x->s->blobs.count++;
    }
}

static void on_start(struct tt *x)
{
    keep_blobs(x, x->in->blobs);
    keep_blobs(x, x->in->parts.blobs);
    emit(x, WEND_RUN_START, x->in->start);
    if (no_memory(x))
        return;
    if (x->in->repaired)
        warn(x, STR("invalid_utf8"),
             STR("the prompt was not valid UTF-8: bad bytes are replaced by "
                 "U+FFFD"));
    tell_gap(x);
    tell_troubles(x);
    if (x->in->compact.ptr)
        emit_compact(x, STR("api"), x->in->compact);
    arm_timers(x, x->t->limits.time_ms);
    if (x->t->plan.plan)
        begin_plan(x);
    else
        begin_turn(x);
}

void emit_control(struct tt *x, wend_str what, wend_str by, wend_str value_json)
{
    emit(x, WEND_CONTROL,
         &(wend_ev_control){.what = what, .by = by, .value_json = value_json});
}

/* The rest of a stop, once nothing runs any more. */
static void finish_stop(struct tt *x)
{
    const struct turn *t = x->t;
    wend_ev_error *error = NULL;

    if (t->stop.code.ptr)
        error = draft_error(x, t->stop.code, t->stop.message,
                            str_is(t->stop.code, "hook_stop") ? STR("hook")
                                                              : STR("policy"));
    if (t->plan.started)
        end_plan(x, t->stop.outcome);
    end_plan_call(x);
    if (t->context) /* a summary was asked for */
        end_context(x);
    if (t->phase != PH_PLAN && t->phase != PH_BETWEEN)
        end_turn(x, t->stop.outcome);
    end_run(x, x->t->stop.outcome, x->t->stop.limit, error);
}

/* The control event is written; now close every bracket that can be. */
void stop_all(struct tt *x)
{
    if (x->t->phase == PH_MODEL) {
        want(x, (struct effect){.kind = FX_STOP_MODEL});
        close_model(x, WEND_OUTCOME_CANCELED, NULL);
    }
    stop_calls(x);
    stop_plan(x);
    if (turn_busy(x->t))
        want_timer(x, TIMER_STOP, STOP_GRACE_MS + STOP_SLACK_MS);
    else
        finish_stop(x);
}

void stop_for(struct tt *x, wend_str by, wend_str code, wend_str message)
{
    struct buf b = {.mem = x->s->scratch->mem};

    json_open(&b, NULL, '{');
    json_add_str(&b, "code", code);
    json_add_str(&b, "message", message);
    json_close(&b, '}');
    emit_control(x, STR("cancel"), by, take_text(x, &b));
    stop_all(x);
}

static void on_stop(struct tt *x)
{
    stop_for(x, x->in->by, STR("hook_stop"),
             x->in->text.ptr ? x->in->text : STR("a hook stopped the run"));
}

void emit_note(struct tt *x, wend_str text)
{
    emit(x, WEND_MESSAGE,
         &(wend_ev_message){
             .role = STR("user"), .text = text, .by = STR(MESSAGE_BY_WEND)});
}

/* What a pause has kept waiting. */
static void leave_pause(struct tt *x)
{
    if (x->t->phase == PH_TURN)
        enter_turn(x);
    else if (x->t->phase == PH_CALLS)
        run_calls(x);
    else if (x->t->phase == PH_PLAN)
        run_plan(x);
    check_lost_calls(x);
    restart_lost_actions(x);
}

static void on_request(struct tt *x)
{
    bool paused = x->t->paused;

    x->s->heard = hear(x, &(struct remote_request){.kind = x->in->kind,
                                                   .by = x->in->by,
                                                   .text = x->in->text,
                                                   .pin = x->in->pin,
                                                   .parts = x->in->parts});
    if (x->in->kind == IN_CANCEL)
        stop_all(x);
    else if (x->in->kind == IN_CONTINUE && paused)
        leave_pause(x);
}

/* An answer about a call that does not wait comes too late. */
static void on_answer(struct tt *x)
{
    on_approval(x);
    x->s->heard = x->s->events != NULL;
}

static void answer_instead(struct tt *x, wend_str text)
{
    emit_context(x);
    if (x->t->fold)
        warn_unfolded(x, STR("a hook answers in place of the model"));
    end_context(x);
    emit_model_start(x, x->t->model, turn_purpose(x->t),
                     &(struct allowance){0});
    emit(x, WEND_MODEL_END,
         &(wend_ev_model_end){.outcome = WEND_OUTCOME_OK,
                              .purpose = x->t->purpose,
                              .text = text,
                              .finish = STR("hook"),
                              .usage.cost_nano = -1});
    run_calls(x);
}

static void on_turn_hook(struct tt *x)
{
    const struct hook_done *h = &x->in->hook;

    if (x->t->phase != PH_TURN || x->t->paused || x->t->again || x->t->entered)
        return;
    if (h->answer == WEND_HOOK_SKIP) {
        answer_instead(x, h->text);
        return;
    }
    if (h->answer == WEND_HOOK_CHANGE)
        emit(x, WEND_MESSAGE,
             &(wend_ev_message){.role = STR("system"), .text = h->text});
    ask_model(x);
}

static void on_hook(struct tt *x)
{
    if (x->in->hook.turn != x->t->counter)
        return;
    if (x->in->hook.call.ptr)
        on_call_hook(x);
    else
        on_turn_hook(x);
}

static void on_sealed(struct tt *x)
{
    if (x->in->ask == x->t->ask)
        start_eager(x);
}

static void on_warn(struct tt *x)
{
    if (x->t->phase == PH_MODEL && x->in->ask == x->t->ask)
        warn(x, STR("bad_action"), x->in->text);
}

/* A crash hides how long a process owned the run after its last kept event, so
 * a run that only waits for a person writes metrics, too. */
static void on_metrics_timer(struct tt *x)
{
    if (x->t->phase == PH_MODEL || turn_busy(x->t) ||
        event_time(x) - x->t->time_us >= METRICS_WAITING_MS * INT64_C(1000))
        emit_metrics(x);
    want_timer(x, TIMER_METRICS, METRICS_EVERY_MS);
}

void limit_reached(struct tt *x, wend_str limit)
{
    emit_control(x, STR("limits"), limit,
                 JOIN(x, STR("{\"reached\":\""), limit, STR("\"}")));
    stop_all(x);
}

void time_is_over(struct tt *x)
{
    limit_reached(x, STR("time"));
}

static void on_timer(struct tt *x)
{
    switch (x->in->timer) {
    case TIMER_RUN: time_is_over(x); break;
    case TIMER_RETRY: on_retry_timer(x); break;
    case TIMER_METRICS: on_metrics_timer(x); break;
    case TIMER_STOP: break; /* only while stopping */
    case TIMERS: break;
    }
}

/* While stopping only two things count: work that ends, and TIMER_STOP, which
 * abandons the rest. */
static void while_stopping(struct tt *x)
{
    if (x->in->kind == IN_CALL_DONE)
        on_call_done(x);
    else if (x->in->kind == IN_ACTION_DONE)
        on_action_done(x);
    else if (x->in->kind == IN_TIMER && x->in->timer == TIMER_STOP)
        abandon_work(x);
    else {
        x->s->heard = x->in->kind == IN_CANCEL; /* it is being done */
        return;
    }
    if (!turn_busy(x->t))
        finish_stop(x);
}

static void while_going(struct tt *x)
{
    switch (x->in->kind) {
    case IN_START: break; /* a second one has no effect */
    case IN_HOOK: on_hook(x); break;
    case IN_SEALED:
    case IN_WRITTEN: on_sealed(x); break;
    case IN_WARN: on_warn(x); break;
    case IN_MODEL_DONE: on_model_done(x); break;
    case IN_MODEL_FAIL: on_model_fail(x); break;
    case IN_CALL_DONE: on_call_done(x); break;
    case IN_ACTION_DONE: on_action_done(x); break;
    case IN_CHECKED: on_checked(x); break;
    case IN_APPROVAL: on_answer(x); break;
    case IN_TIMER: on_timer(x); break;
    case IN_STOP: on_stop(x); break;
    case IN_CANCEL:
    case IN_SAY:
    case IN_PAUSE:
    case IN_CONTINUE:
    case IN_COMPACT: on_request(x); break;
    case IN_RESUME:
    case IN_UNENDED:
    case IN_TROUBLE: break; /* see tt: in any state */
    }
}

void tt(const struct turn *t, const struct input *in, struct step *s)
{
    struct tt x = {.s = s, .from = t, .t = &s->turn, .in = in};

    assert(!s->events);
    assert(!s->effects);
    s->turn = *t;
    if (t->phase == PH_END)
        return;
    if (t->phase == PH_NEW) {
        if (in->kind == IN_START)
            on_start(&x);
    } else if (in->kind == IN_RESUME) {
        on_resume(&x);
    } else if (in->kind == IN_UNENDED) {
        on_unended(&x);
    } else if (in->kind == IN_TROUBLE) {
        tell_troubles(&x);
    } else if (t->stop.outcome != WEND_OUTCOME_NONE) {
        while_stopping(&x);
    } else {
        while_going(&x);
    }
}

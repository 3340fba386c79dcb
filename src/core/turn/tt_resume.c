/*
 * tt_resume.c - resumes a run in another process, after its last kept event.
 *
 * Only the log says where it stood: of the work that was under way it is known
 * only that it had begun. Every open bracket is closed or entered once more,
 * here and in tt_work.c, and nowhere else:
 *
 *     model call, no call of it began    model_end(superseded), asked again
 *     model call for a summary           the same, in another context
 *     model call, calls of it began      model_end(failed) with what was
 *                                        sealed; the calls continue
 *     call that reads or is idempotent   call_end(superseded), then
 *                                        call_start again, the same key
 *     call with a child                  the same, with the same child
 *     unsafe call                        as the policy's on_unknown says
 *     child of a run that this forks     child_end(superseded)
 *     approval that was asked for        asked for again
 *     refusal that a fork cut in two     refused again
 *     being stopped, or resumed for it   everything ends
 *
 * A superseded end stands just before the next start. That is in the step of
 * run_resume, unless the run is paused or the call waits for approval: until
 * then it is not known whether it runs again. If it does not, its one end is
 * the result, and no start has to be made up for it.
 */
#include "core/turn/tt_step.h"

#include <assert.h>

/* ---- Events -------------------------------------------------------------- */

static void emit_resume(struct tt *x)
{
    wend_ev_run_resume e = {0};
    struct buf b = {.mem = x->s->scratch->mem};
    struct work_place at = {0};
    struct work w;

    json_open(&b, NULL, '[');
    while (work_next_open(x->t, &at, &w))
        json_add_str(&b, NULL, w.id);
    json_close(&b, ']');
    if (x->in->over)
        e = *x->in->over;
    e.epoch = x->in->epoch;
    e.from_seq = x->t->seq;
    e.unsettled_json = take_text(x, &b);
    emit(x, WEND_RUN_RESUME, &e);
}

/* ---- Calls --------------------------------------------------------------- */

/* A fork may run fewer calls at once than its parent; then some wait. */
static bool has_slot(const struct turn *t)
{
    int64_t running = 0;

    for (uint32_t i = 0; i < t->calls_count; i++)
        running += turn_call_runs(t, i) && !(t->flags[i] & CALL_LOST) &&
                   (int)i != turn_plan_call(t);
    return !t->limits.parallel || running < t->limits.parallel;
}

void restart_lost(struct tt *x)
{
    const struct turn *t = x->t;

    for (uint32_t i = 0; !t->paused && i < t->calls_count; i++) {
        struct work w;

        if (!(t->flags[i] & CALL_LOST) || turn_call_waits(t, i) || !has_slot(t))
            continue;
        w = work_of_call(t, turn_call(t, i));
        if (!is_looked_up(t, &w))
            begin_again(x, &w);
    }
}

void check_lost_calls(struct tt *x)
{
    const struct turn *t = x->t;

    for (uint32_t i = 0; !t->paused && i < t->calls_count; i++) {
        const struct work w = work_of_call(t, turn_call(t, i));

        if (is_looked_up(t, &w)) /* which only lost work is */
            want(x, work_effect(FX_CHECK, &w));
    }
}

/* The process that asked for it is gone. The policy of a fork may allow what
 * its parent's asks about. */
static void request_approval_again(struct tt *x, const struct work *w)
{
    struct work asked = *w;
    struct admission a;

    asked.args = turn_call_state(x->t, w->call->index)->shown;
    admit_work(x, &asked, &a);
    if (a.refused != WEND_OUTCOME_NONE ||
        a.verdict.policy.decision != WEND_DECISION_ALLOW)
        request_approval(x, &asked, &a.verdict);
    else
        approve_by_policy(x, &asked);
}

/* Settles the open calls that do not simply run once more. */
static void settle_lost(struct tt *x)
{
    const struct turn *t = x->t;
    bool any = false;

    for (uint32_t i = 0; i < t->calls_count; i++) {
        const struct work w = work_of_call(t, turn_call(t, i));

        if (settle_doubt(x, &w, false))
            any = true;
        else if (turn_call_waits(t, i))
            request_approval_again(x, &w);
    }
    if (any && unknown_policy(t) == UNKNOWN_STOP)
        stop_for(x, STR("policy"), STR("unknown_outcome"),
                 STR("the outcome of a call is not known, and the policy is "
                     "to stop then"));
}

/* A fork may be given the result of the call whose plan is under way: then the
 * plan is canceled. */
static void leave_given_plan(struct tt *x)
{
    int i = turn_plan_call(x->t);

    if (i < 0 || !(x->t->flags[i] & CALL_ENDED))
        return;
    stop_plan(x);
    end_plan(x, WEND_OUTCOME_CANCELED);
}

static void resume_calls(struct tt *x)
{
    settle_lost(x);
    if (x->t->stop.outcome == WEND_OUTCOME_NONE)
        check_lost_calls(x);
    leave_given_plan(x);
    if (x->t->stop.outcome == WEND_OUTCOME_NONE)
        resume_actions(x);
    if (x->t->stop.outcome != WEND_OUTCOME_NONE)
        return;
    settle_calls(x);
    run_calls(x);
}

static void resume_model(struct tt *x)
{
    if (!x->t->calls_count && !turn_plan_open(x->t)) {
        close_model(x, WEND_OUTCOME_SUPERSEDED, NULL);
        enter_turn(x);
        return;
    }
    close_model(x, WEND_OUTCOME_FAILED,
                draft_error(x, STR("interrupted"),
                            STR("the run was interrupted while the model was "
                                "answering"),
                            STR("model")));
    resume_calls(x);
}

/* ---- Requests of other processes -----------------------------------------
 *
 * They were accepted while no process owned the run, or before a run_end that
 * was not kept. Each counts, or its sender is told that it came too late:
 *
 *                at a resume                       before the end
 *     cancel     the run is stopped                if it would end ok
 *     say        the next request to a model       if it would end ok and has
 *                                                  turns: one more
 *     pause      nothing starts                    too late
 *     continue   the run is not paused any more    too late
 *     compact    before the next request           too late
 *
 * Approvals are not part of this: they are asked for again with a resume, and
 * answered then. */

static void hear_text(struct tt *x, const struct remote_request *q)
{
    keep_blobs(x, q->parts.blobs);
    if (q->parts.refused.ptr)
        warn(x, STR("media_omitted"), q->parts.refused);
    emit(x, WEND_MESSAGE,
         &(wend_ev_message){.role = STR("user"),
                            .text = q->text,
                            .pinned = q->pin,
                            .parts = q->parts.list,
                            .parts_count = q->parts.count});
}

bool hear(struct tt *x, const struct remote_request *q)
{
    if (q->kind == IN_SAY && q->pin && !may_pin(x, q->text))
        return false;
    if (q->kind == IN_CANCEL)
        emit_control(x, STR("cancel"), q->by, STR_NONE);
    else if (q->kind == IN_SAY)
        hear_text(x, q);
    else if (q->kind == IN_PAUSE && !x->t->paused)
        emit_control(x, STR("pause"), q->by, STR_NONE);
    else if (q->kind == IN_CONTINUE && x->t->paused)
        emit_control(x, STR("continue"), q->by, STR_NONE);
    else if (q->kind == IN_COMPACT)
        emit_compact(x, q->by, q->text);
    return true;
}

/* Whether a model would be asked once more if something were said. */
static bool has_turns(const struct turn *t)
{
    return t->phase == PH_BETWEEN && t->counter >= 0 && !turn_hands_over(t) &&
           (!t->limits.turns || t->counter + 1 < t->limits.turns);
}

/* `last`: before the run's end. */
static bool counts(const struct turn *t, enum input_kind kind, bool last)
{
    if (kind == IN_CANCEL)
        return true;
    if (t->stop.outcome != WEND_OUTCOME_NONE)
        return false;
    return (kind == IN_SAY && (!last || has_turns(t))) ||
           (!last &&
            (kind == IN_PAUSE || kind == IN_CONTINUE || kind == IN_COMPACT));
}

static void hear_all(struct tt *x, bool last)
{
    assert(x->in->requests_count <= REQUESTS_MAX);
    for (size_t i = 0; i < x->in->requests_count && !no_memory(x); i++) {
        const struct remote_request *q = &x->in->requests[i];

        if (!counts(x->t, q->kind, last))
            continue;
        /* If it is being stopped, it is canceled. */
        if (x->t->stop.outcome != WEND_OUTCOME_NONE || hear(x, q))
            x->s->heard |= (uint64_t)1 << i;
    }
}

/* The run stands where it stood before its run_end. */
void on_unended(struct tt *x)
{
    const struct turn *t = x->t;
    const wend_ev_run_end *end = x->in->end;
    bool ok = end->outcome == WEND_OUTCOME_OK;

    if (ok || t->stop.outcome != WEND_OUTCOME_NONE)
        hear_all(x, true);
    if (ok && t->stop.outcome != WEND_OUTCOME_NONE) {
        stop_all(x);
    } else if (ok && t->pending && has_turns(t)) {
        arm_timers(x, t->limits.time_ms - metrics_now(x).ms);
        begin_turn(x);
    } else {
        end_run(x, end->outcome, end->limit, end->error);
    }
}

/* ---- All of it ----------------------------------------------------------- */

void arm_timers(struct tt *x, int64_t left_ms)
{
    if (x->t->limits.time_ms)
        want_timer(x, TIMER_RUN, left_ms);
    want_timer(x, TIMER_METRICS, METRICS_EVERY_MS);
}

static void resume_from(struct tt *x)
{
    switch (x->t->phase) {
    case PH_NEW:
    case PH_END: break; /* tt never gets here */
    case PH_BETWEEN:
        if (x->t->file_plan.ptr && !x->t->plan.started)
            begin_plan(x);
        else if (x->t->counter < 0)
            begin_turn(x);
        else
            next_turn(x);
        break;
    case PH_TURN: enter_turn(x); break;
    case PH_MODEL: resume_model(x); break;
    case PH_CALLS: resume_calls(x); break;
    case PH_PLAN: resume_plan(x); break;
    }
}

/* A child that began before the fork belongs to the parent run: the key of
 * what waits for it has that run's id. Those of an imported run are left, too.
 */
static void leave_children(struct tt *x)
{
    const struct child_done left = {.outcome = WEND_OUTCOME_SUPERSEDED};
    struct work_place at = {0};
    struct work w;

    while (work_next_open(x->t, &at, &w))
        if (w.child.ptr && (x->t->imported || !is_own_key(x->t, w.key)))
            end_child(x, w.child, &left);
}

void on_resume(struct tt *x)
{
    const struct turn *t = x->t;
    struct buf b = {.mem = x->s->scratch->mem};
    int64_t left_ms;

    charge(turn_model(t), &t->allowed, turn_tokens(t), &x->cut);
    emit_resume(x);
    if (x->in->over)
        tell_gap(x); /* other tools, or other rules */
    tell_troubles(x);
    if (t->metrics_due)
        emit_metrics(x);
    leave_children(x);
    if (t->phase == PH_MODEL && t->purpose == WEND_PURPOSE_SUMMARY)
        close_model(x, WEND_OUTCOME_SUPERSEDED, NULL);
    if (t->context)
        end_context(x);
    if (x->in->limits) {
        limits_write(&b, x->in->limits);
        emit_control(x, STR("limits"), STR("api"), take_text(x, &b));
    }
    if (x->in->by.ptr && t->stop.outcome == WEND_OUTCOME_NONE)
        emit_control(x, STR("cancel"), x->in->by, STR_NONE);
    hear_all(x, false);
    left_ms = t->limits.time_ms - t->metrics.ms;
    if (t->stop.outcome != WEND_OUTCOME_NONE) {
        stop_all(x);
    } else if (t->limits.time_ms && left_ms <= 0) {
        time_is_over(x);
    } else {
        arm_timers(x, left_ms);
        resume_from(x);
    }
}

/*
 * tt_told.c - requests of other processes that were accepted while no process
 * could hear them: before a resume, or before a run_end that was not kept.
 *
 * Each counts, or its sender is told that it came too late:
 *
 *                at a resume                       before the end
 *     cancel     the run is stopped                if it would end ok
 *     say        the next request to a model       if it would end ok and has
 *                                                  turns: one more
 *     pause      nothing starts                    too late
 *     continue   the run is not paused any more    too late
 *
 * An approval is no part of this: its question is asked again with a resume,
 * and is answered then.
 */
#include "core/turn/tt_step.h"

static void hear(struct tt *x, const struct remote_request *q)
{
    const struct turn *t = &x->s->turn;

    if (q->kind == IN_CANCEL)
        emit_control(x, STR("cancel"), q->by, STR_NONE);
    else if (q->kind == IN_SAY)
        emit_said(x, q->text);
    else if (q->kind == IN_PAUSE && !t->paused)
        emit_control(x, STR("pause"), q->by, STR_NONE);
    else if (q->kind == IN_CONTINUE && t->paused)
        emit_control(x, STR("continue"), q->by, STR_NONE);
}

static bool is_request(enum input_kind kind)
{
    return kind == IN_CANCEL || kind == IN_SAY || kind == IN_PAUSE ||
           kind == IN_CONTINUE;
}

void hear_requests(struct tt *x)
{
    const struct turn *t = &x->s->turn;

    for (size_t i = 0; i < x->in->requests_count && !no_memory(x); i++) {
        const struct remote_request *q = &x->in->requests[i];
        bool stopping = t->stop.outcome != WEND_OUTCOME_NONE;

        if (!is_request(q->kind) || (stopping && q->kind != IN_CANCEL))
            continue;
        if (!stopping)
            hear(x, q);
        x->s->heard |= (uint64_t)1 << i;
    }
}

/* Whether a model would be asked once more if something were said. */
static bool has_turns(const struct turn *t)
{
    return t->phase == PH_BETWEEN && t->counter >= 0 &&
           (!t->limits.turns || t->counter + 1 < t->limits.turns);
}

/* Of a run that would end ok, or is being stopped. */
static void hear_last(struct tt *x)
{
    const struct turn *t = &x->s->turn;

    for (size_t i = 0; i < x->in->requests_count && !no_memory(x); i++) {
        const struct remote_request *q = &x->in->requests[i];
        bool stopping = t->stop.outcome != WEND_OUTCOME_NONE;

        if (q->kind != IN_CANCEL &&
            (q->kind != IN_SAY || stopping || !has_turns(t)))
            continue;
        if (!stopping)
            hear(x, q);
        x->s->heard |= (uint64_t)1 << i;
    }
}

/* The run stands where it stood before its run_end. */
void on_unended(struct tt *x)
{
    const struct turn *t = &x->s->turn;
    const wend_ev_run_end *end = x->in->end;
    bool ok = end->outcome == WEND_OUTCOME_OK;

    if (ok || t->stop.outcome != WEND_OUTCOME_NONE)
        hear_last(x);
    if (ok && t->stop.outcome != WEND_OUTCOME_NONE) {
        stop_all(x);
    } else if (ok && t->pending && has_turns(t)) {
        arm_timers(x, t->limits.time_ms - metrics_now(x).ms);
        begin_turn(x);
    } else {
        end_run(x, end->outcome, end->limit, end->error);
    }
}

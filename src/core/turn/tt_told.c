/*
 * tt_told.c - requests of other processes that were accepted while no process
 * owned the run, or before a run_end that was not kept.
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
 * Approvals are not part of this: they are asked for again with a resume, and
 * answered then.
 */
#include "core/turn/tt_step.h"

#include <assert.h>

static void hear(struct tt *x, const struct remote_request *q, size_t i)
{
    x->s->heard |= (uint64_t)1 << i;
    if (x->t->stop.outcome != WEND_OUTCOME_NONE)
        return; /* a second cancel adds nothing */
    if (q->kind == IN_CANCEL)
        emit_control(x, STR("cancel"), q->by, STR_NONE);
    else if (q->kind == IN_SAY)
        emit_message(x, STR("user"), q->text);
    else if (q->kind == IN_PAUSE && !x->t->paused)
        emit_control(x, STR("pause"), q->by, STR_NONE);
    else if (q->kind == IN_CONTINUE && x->t->paused)
        emit_control(x, STR("continue"), q->by, STR_NONE);
}

/* Whether a model would be asked once more if something were said. */
static bool has_turns(const struct turn *t)
{
    return t->phase == PH_BETWEEN && t->counter >= 0 &&
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
           (!last && (kind == IN_PAUSE || kind == IN_CONTINUE));
}

static void hear_all(struct tt *x, bool last)
{
    assert(x->in->requests_count <= REQUESTS_MAX);
    for (size_t i = 0; i < x->in->requests_count && !no_memory(x); i++)
        if (counts(x->t, x->in->requests[i].kind, last))
            hear(x, &x->in->requests[i], i);
}

void hear_requests(struct tt *x)
{
    hear_all(x, false);
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

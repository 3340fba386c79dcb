/*
 * tt_action.c - one action of a plan: how it starts, and once more.
 */
#include "core/turn/tt_plan.h"

#include <assert.h>

void refuse_action(struct tt *x, uint32_t i, wend_str code, wend_str message)
{
    const struct admission none = {0};
    struct work w = work_of_action(x->t, i);

    w.args = STR_NONE;
    end_unstarted(x, &w, &none,
                  &(struct call_done){.outcome = WEND_OUTCOME_FAILED,
                                      .code = code,
                                      .output = message});
}

/* An approval is for the values that were shown. */
bool start_action(struct tt *x, uint32_t i)
{
    struct work w = work_of_action(x->t, i);
    struct admission a;
    wend_str limit;

    if (decide(x, i))
        return true;
    if (!w.answered && !action_params(x, i, &w.args))
        return true;
    admit_work(x, &w, &a);
    if (x->t->plan.plan->open &&
        (a.refused || a.verdict.policy.decision != WEND_DECISION_ALLOW))
        return false; /* that is said when the plan is complete */
    if (refuse_work(x, &w, &a))
        return true;
    if (a.verdict.policy.decision == WEND_DECISION_ASK && !w.answered) {
        request_approval(x, &w, &a.verdict);
        return true;
    }
    if (a.verdict.policy.decision == WEND_DECISION_ASK) {
        a.verdict.policy.decision = WEND_DECISION_ALLOW;
        a.verdict.policy.rule = STR("approved");
    }
    limit = work_over_budget(x, &w);
    if (limit.ptr) {
        limit_reached(x, limit);
        return false;
    }
    start_work(x, &w, &a);
    return true;
}

/* ---- Once more ----------------------------------------------------------- */

bool may_retry_action(const struct tt *x, const struct work *w,
                      const struct call_done *d)
{
    const struct turn *t = x->t;

    if (d->outcome != WEND_OUTCOME_FAILED && d->outcome != WEND_OUTCOME_TIMEOUT)
        return false;
    return w->attempt <= t->plan.plan->actions[w->action]->retry.max &&
           t->stop.outcome == WEND_OUTCOME_NONE && !plan_fails_fast(&t->plan) &&
           !t->plan.wrong.ptr &&
           (!d->effect_possible || work_class(t, w) != WEND_CLASS_UNSAFE);
}

static int64_t retry_delay(const struct plan_retry *r, int64_t attempt)
{
    double delay = (double)r->delay_ms;

    for (int64_t n = 1; n < attempt && delay < (double)r->delay_max_ms; n++)
        delay *= r->backoff;
    return delay < (double)r->delay_max_ms ? (int64_t)delay : r->delay_max_ms;
}

void retry_action(struct tt *x, const struct work *w, const struct call_done *d)
{
    const struct plan_action *a = x->t->plan.plan->actions[w->action];
    int64_t delay_ms = retry_delay(&a->retry, w->attempt);
    const wend_ev_error *error = work_error(x, w, d, d->output);
    struct work now;
    wend_str limit;

    assert(!w->call);
    emit_action_answer(x, w->action, d->outcome, error);
    end_child(x, w->child, d->child);
    limit = work_over_budget(x, w);
    if (limit.ptr) {
        now = work_now(x->t, w); /* without its child */
        end_work(x, &now, d);
        limit_reached(x, limit);
        return;
    }
    emit(x, WEND_ACTION_RETRY,
         &(wend_ev_action_retry){.action = w->id,
                                 .attempt = w->attempt,
                                 .delay_ms = delay_ms,
                                 .error = error});
    run_work(x, w, delay_ms);
}

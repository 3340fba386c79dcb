/*
 * tt_action.c - one action of a plan: admission, brackets, once more.
 *
 * As with calls, a start supersedes the attempt that an interruption cut off.
 */
#include "core/turn/tt_plan.h"

#include <string.h>

static const struct plan_action *action_of(const struct tt *x, uint32_t i)
{
    return x->s->turn.plan.plan->actions[i];
}

static const struct action_state *state_of(const struct tt *x, uint32_t i)
{
    return plan_action_state(&x->s->turn.plan, i);
}

/* ---- Brackets ------------------------------------------------------------ */

static bool is_child(const struct plan_action *a)
{
    return a->type == ACTION_AGENT || a->type == ACTION_WORKFLOW;
}

/* The same on every attempt, in every resume and every fork; but a fork has
 * children of its own. */
static wend_str action_key(struct tt *x, uint32_t i)
{
    const struct turn *t = &x->s->turn;
    wend_str before = state_of(x, i)->key;
    struct buf b = {.mem = x->s->scratch->mem};

    if (before.len && !(is_child(action_of(x, i)) && !is_own_key(t, before)))
        return before;
    buf_str(&b, t->run);
    buf_char(&b, '/');
    buf_str(&b, t->plan.plan->name);
    buf_char(&b, '/');
    buf_str(&b, action_of(x, i)->id);
    return take_text(x, &b);
}

static const struct kid *kid_of(const struct turn *t,
                                const struct plan_action *a)
{
    return config_kid(t->config, a->target);
}

/* How its child ended, if this is what came in. */
static const struct child_done *child_of(const struct tt *x, uint32_t i)
{
    return x->in->kind == IN_ACTION_DONE && x->in->done.action == i
               ? x->in->done.child
               : NULL;
}

static wend_event *draft_action_end(struct tt *x, uint32_t i,
                                    wend_outcome outcome)
{
    const struct action_state *s = state_of(x, i);
    wend_event *ev = draft(x, WEND_ACTION_END);
    wend_ev_action_end *e;

    if (!ev)
        return NULL;
    e = &ev->u.action_end;
    e->action = action_of(x, i)->id;
    e->name = action_of(x, i)->name;
    e->outcome = outcome;
    e->output_json = STR("null");
    if (s->attempt && x->in->time_us > s->began_us)
        e->ms = (x->in->time_us - s->began_us) / 1000;
    return ev;
}

static wend_str emit_action_start(struct tt *x, uint32_t i, wend_str params,
                                  const wend_ev_policy *policy)
{
    const struct plan_action *a = action_of(x, i);
    wend_event *ev;
    wend_ev_action_start *e;

    if (state_of(x, i)->at == AT_LOST && !state_of(x, i)->superseded)
        emit(x, draft_action_end(x, i, WEND_OUTCOME_SUPERSEDED));
    ev = draft(x, WEND_ACTION_START);
    if (!ev)
        return STR_NONE;
    e = &ev->u.action_start;
    e->action = a->id;
    e->name = a->name;
    e->type = str_of(action_type_names[a->type]);
    e->mode = str_of(action_mode_names[a->mode]);
    e->target = a->target.ptr ? a->target : STR("");
    e->params_json = params.ptr ? params : STR("{}");
    e->attempt = state_of(x, i)->attempt + 1;
    e->key = action_key(x, i);
    e->policy = *policy;
    emit(x, ev);
    return e->key;
}

static const wend_ev_error *fate_error(struct tt *x, uint32_t i,
                                       const struct action_fate *f)
{
    static const char *const components[ACTION_TYPES] = {
        [ACTION_TOOL] = "tool",   [ACTION_AGENT] = "agent",
        [ACTION_RELIC] = "relic", [ACTION_WORKFLOW] = "plan",
        [ACTION_LLM] = "model",   [ACTION_DECISION] = "plan",
    };
    wend_ev_error *error;

    if (f->outcome == WEND_OUTCOME_OK || f->outcome == WEND_OUTCOME_SKIPPED)
        return NULL;
    error = draft_error(x, f->code.ptr ? f->code : STR("failed"),
                        f->message.ptr ? f->message : STR(""),
                        str_of(components[action_of(x, i)->type]));
    if (error) {
        error->effect_possible =
            f->effect_possible &&
            turn_action_class(&x->s->turn, i) != WEND_CLASS_READ;
        error->retryable = f->retryable;
    }
    return error;
}

/* A fork may begin between the end of the attempt that was cut off and the
 * start of the next one: then what ends has no open bracket. */
static void reopen(struct tt *x, uint32_t i)
{
    static const wend_ev_policy policy = {.rule = {"resumed", 7}};

    emit_action_start(x, i, state_of(x, i)->params, &policy);
}

void end_action(struct tt *x, uint32_t i, const struct action_fate *f)
{
    const wend_ev_error *error = fate_error(x, i, f);
    wend_event *ev;
    wend_ev_action_end *e;

    if (state_of(x, i)->superseded)
        reopen(x, i);
    emit_action_answer(x, i, f->outcome, error);
    end_child(x, state_of(x, i)->child, child_of(x, i));
    ev = draft_action_end(x, i, f->outcome);
    if (!ev || x->s->keep->arena->failed)
        return;
    e = &ev->u.action_end;
    e->cached = f->cached;
    e->labels_json = labels_text(x, f->labels);
    if (f->output.ptr)
        e->output_json = f->output;
    if (f->outcome == WEND_OUTCOME_OK)
        e->output_key = action_of(x, i)->output_key;
    e->error = error;
    e->reason = f->reason;
    emit(x, ev);
}

void end_unstarted_action(struct tt *x, uint32_t i, wend_str params,
                          const wend_ev_policy *policy,
                          const struct action_fate *f)
{
    emit_action_start(x, i, params, policy);
    end_action(x, i, f);
}

void refuse_action(struct tt *x, uint32_t i, wend_str code, wend_str message)
{
    static const wend_ev_policy none;
    struct action_fate f = {
        .outcome = WEND_OUTCOME_FAILED, .code = code, .message = message};

    end_unstarted_action(x, i, STR_NONE, &none, &f);
}

/* ---- Starting ------------------------------------------------------------ */

/* No live run has an action without its child; a log may. */
static void run_child(struct tt *x, uint32_t i, wend_str key, int64_t delay_ms)
{
    const struct plan_action *a = action_of(x, i);
    struct errand e = {
        .action = i,
        .args = state_of(x, i)->params,
        .key = key,
        .attempt = state_of(x, i)->attempt,
        .timeout_ms = a->timeout_ms,
        .delay_ms = delay_ms,
        .kid = kid_of(&x->s->turn, a),
    };
    struct action_fate f = {.outcome = WEND_OUTCOME_FAILED,
                            .code = STR("unknown_agent"),
                            .message = STR("its agent or plan is not there")};

    if (e.kid)
        start_child(x, &e);
    else
        end_action(x, i, &f);
}

/* The hands look before the child begins, and only once. */
static bool may_be_cached(const struct tt *x, uint32_t i)
{
    return action_of(x, i)->cache_ms && state_of(x, i)->attempt == 1 &&
           !state_of(x, i)->child.ptr;
}

void start_action_child(struct tt *x, uint32_t i)
{
    if (is_child(action_of(x, i)) && !state_of(x, i)->child.ptr &&
        x->s->turn.stop.outcome == WEND_OUTCOME_NONE)
        run_child(x, i, action_key(x, i), 0);
}

static void run_action(struct tt *x, uint32_t i, wend_str key, int64_t delay_ms)
{
    const struct action_state *s = state_of(x, i);
    const struct plan_action *a = action_of(x, i);
    struct action_fate f;
    struct effect *fx;

    if (is_child(a) && !may_be_cached(x, i)) {
        run_child(x, i, key, delay_ms);
        return;
    }
    if (!action_fits(x, i, &f)) {
        end_action(x, i, &f);
        return;
    }
    fx = want(x, FX_RUN_ACTION);
    if (!fx)
        return;
    if (a->type == ACTION_LLM)
        emit_action_ask(x, i);
    fx->action = i;
    fx->attempt = s->attempt;
    fx->args = s->params;
    fx->key = key;
    fx->delay_ms = delay_ms;
    fx->timeout_ms = a->timeout_ms;
    fx->tool = turn_action_tool(&x->s->turn, i);
    if (a->type == ACTION_RELIC && fx->tool &&
        fx->tool->timeout_ms < fx->timeout_ms)
        fx->timeout_ms = fx->tool->timeout_ms;
}

static void ask_about(struct tt *x, uint32_t i, wend_str params,
                      const struct verdict *v)
{
    wend_event *ev = draft(x, WEND_APPROVAL_ASK);
    wend_ev_approval_ask *e;

    if (!ev)
        return;
    e = &ev->u.approval_ask;
    e->action = action_of(x, i)->id;
    e->name = action_of(x, i)->target;
    e->args_json = params;
    e->risk = v->policy.risk;
    e->layers_json = v->policy.layers_json;
    e->reason = v->reason;
    e->rule = v->rule;
    emit(x, ev);
}

static void admit(struct tt *x, uint32_t i, wend_str params,
                  struct admission *a)
{
    const struct plan_action *action = action_of(x, i);
    struct call c = {.id = action->id, .name = action->target, .args = params};

    if (action->type == ACTION_TOOL) {
        admit_call(x, &c, a);
        return;
    }
    if (action->type == ACTION_RELIC) {
        admit_end(x, &c, a);
        return;
    }
    if ((action->type == ACTION_AGENT && x->s->turn.plan.plan->written) ||
        (is_child(action) && x->s->turn.imported)) {
        admit_agent(x, &c, a);
        return;
    }
    memset(a, 0, sizeof *a);
    a->verdict.policy.rule = STR("plan"); /* the user's own words */
    if (is_child(action))
        check_agent(x, a, action->target);
}

/* True: it was refused, by the policy or by whoever was asked. */
static bool refuse(struct tt *x, uint32_t i, wend_str params,
                   struct admission *a)
{
    const struct action_state *s = state_of(x, i);
    struct action_fate f = {0};

    if (s->answered && !s->approved)
        admission_refuse(a, WEND_OUTCOME_DENIED, STR("denied"),
                         STR("denied: the action was not approved"));
    if (a->refused == WEND_OUTCOME_NONE)
        return false;
    f.outcome = a->refused;
    f.code = a->code;
    f.message = a->message;
    end_unstarted_action(x, i, params, &a->verdict.policy, &f);
    return true;
}

/* What was approved are the values that were shown. */
bool start_action(struct tt *x, uint32_t i)
{
    const struct action_state *s = state_of(x, i);
    struct admission a;
    wend_str params = s->params, key, limit;

    if (action_of(x, i)->type == ACTION_DECISION) {
        decide(x, i);
        return true;
    }
    if (!s->answered && !action_params(x, i, &params))
        return true;
    admit(x, i, params, &a);
    if (x->s->turn.plan.plan->open &&
        (a.refused || a.verdict.policy.decision != WEND_DECISION_ALLOW))
        return false; /* that is said when the plan is complete */
    if (refuse(x, i, params, &a))
        return true;
    if (a.verdict.policy.decision == WEND_DECISION_ASK && !s->answered) {
        ask_about(x, i, params, &a.verdict);
        return true;
    }
    if (a.verdict.policy.decision == WEND_DECISION_ASK) {
        a.verdict.policy.decision = WEND_DECISION_ALLOW;
        a.verdict.policy.rule = STR("approved");
    }
    limit = action_over_budget(x, action_of(x, i), params);
    if (limit.ptr) {
        limit_reached(x, limit);
        return false;
    }
    key = emit_action_start(x, i, params, &a.verdict.policy);
    if (!x->s->keep->arena->failed)
        run_action(x, i, key, 0);
    return true;
}

/* Nobody hears what was asked before. */
void ask_action_again(struct tt *x, uint32_t i)
{
    const struct action_state *s = state_of(x, i);
    struct admission a;

    admit(x, i, s->params, &a);
    if (s->at == AT_LOST) {
        a.verdict.rule = STR_NONE; /* the answer is about this one alone */
        a.verdict.reason =
            STR("the process ended while this action was under way, and "
                "whether it had its effect is not known; yes runs it again");
    }
    ask_about(x, i, s->params, &a.verdict);
}

/* What has both brackets in one step may be cut in two where a fork begins:
 * a refusal, which is made again, or a decision. */
static bool end_at_once(struct tt *x, uint32_t i)
{
    wend_str params = STR_NONE;
    struct admission a;

    if (action_of(x, i)->type == ACTION_DECISION) {
        decide(x, i);
        return true;
    }
    if (state_of(x, i)->child.ptr)
        return false;
    if (!action_params(x, i, &params))
        return true;
    admit(x, i, params, &a);
    return refuse(x, i, params, &a);
}

/* That an imported log says it was allowed to begin means nothing. */
static bool may_begin(struct tt *x, uint32_t i)
{
    struct admission a;

    if (!x->s->turn.imported || state_of(x, i)->approved)
        return true;
    admit(x, i, state_of(x, i)->params, &a);
    return a.verdict.policy.decision == WEND_DECISION_ALLOW;
}

/* It was allowed to begin; it is the same action with the same values. */
void start_action_again(struct tt *x, uint32_t i)
{
    wend_ev_policy policy = {.rule = STR("resumed")};
    wend_str params = state_of(x, i)->params, key, limit;

    emit_action_answer(x, i, WEND_OUTCOME_SUPERSEDED, NULL);
    if (end_at_once(x, i))
        return;
    if (!may_begin(x, i)) {
        end_lost_action(x, i);
        return;
    }
    limit = action_over_budget(x, action_of(x, i), params);
    if (limit.ptr) {
        limit_reached(x, limit);
        return;
    }
    key = emit_action_start(x, i, params, &policy);
    if (!x->s->keep->arena->failed)
        run_action(x, i, key, 0);
}

/* The rule that the answer makes for actions like this one. */
static wend_str remembered(struct tt *x, uint32_t i)
{
    struct buf b = {.mem = x->s->scratch->mem};
    struct admission a;

    admit(x, i, state_of(x, i)->params, &a);
    if (!a.verdict.rule.ptr || x->in->approval.yes)
        return a.verdict.rule;
    buf_char(&b, '!');
    buf_str(&b, a.verdict.rule);
    return take_text(x, &b);
}

void action_approval(struct tt *x, uint32_t i)
{
    wend_event *ev = draft(x, WEND_APPROVAL_ANSWER);

    if (ev) {
        ev->u.approval_answer.action = action_of(x, i)->id;
        ev->u.approval_answer.yes = x->in->approval.yes;
        ev->u.approval_answer.by = x->in->approval.by;
        if (x->in->approval.remember && state_of(x, i)->at == AT_ASKED)
            ev->u.approval_answer.remember = remembered(x, i);
    }
    emit(x, ev);
}

/* ---- Once more ----------------------------------------------------------- */

bool is_unknown(const struct turn *t, uint32_t i)
{
    return turn_action_class(t, i) == WEND_CLASS_UNSAFE &&
           (!is_child(t->plan.plan->actions[i]) ||
            plan_action_state(&t->plan, i)->left);
}

bool may_retry_action(const struct tt *x, uint32_t i,
                      const struct action_fate *f)
{
    const struct turn *t = &x->s->turn;

    if (f->outcome != WEND_OUTCOME_FAILED && f->outcome != WEND_OUTCOME_TIMEOUT)
        return false;
    return state_of(x, i)->attempt <= action_of(x, i)->retry.max &&
           t->stop.outcome == WEND_OUTCOME_NONE && !plan_fails_fast(&t->plan) &&
           !t->plan.wrong.ptr &&
           (!f->effect_possible ||
            turn_action_class(t, i) != WEND_CLASS_UNSAFE);
}

static int64_t retry_delay(const struct plan_retry *r, int64_t attempt)
{
    double delay = (double)r->delay_ms;

    for (int64_t n = 1; n < attempt && delay < (double)r->delay_max_ms; n++)
        delay *= r->backoff;
    return delay < (double)r->delay_max_ms ? (int64_t)delay : r->delay_max_ms;
}

void retry_action(struct tt *x, uint32_t i, const struct action_fate *f)
{
    const struct plan_action *a = action_of(x, i);
    int64_t attempt = state_of(x, i)->attempt;
    int64_t delay_ms = retry_delay(&a->retry, attempt);
    const wend_ev_error *error = fate_error(x, i, f);
    wend_event *ev;
    wend_str limit;

    emit_action_answer(x, i, f->outcome, error);
    end_child(x, state_of(x, i)->child, child_of(x, i));
    limit = action_over_budget(x, a, state_of(x, i)->params);
    if (limit.ptr) {
        end_action(x, i, f);
        limit_reached(x, limit);
        return;
    }
    ev = draft(x, WEND_ACTION_RETRY);
    if (ev) {
        ev->u.action_retry.action = a->id;
        ev->u.action_retry.attempt = attempt;
        ev->u.action_retry.delay_ms = delay_ms;
        ev->u.action_retry.error = error;
    }
    emit(x, ev);
    if (!x->s->keep->arena->failed)
        run_action(x, i, action_key(x, i), delay_ms);
}

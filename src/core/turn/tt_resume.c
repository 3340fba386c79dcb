/*
 * tt_resume.c - a run goes on in another process, after its last kept event.
 *
 * The log alone says where it stood: nothing of what was under way is known
 * but that it had begun. Every bracket that was open is closed or entered
 * once more, here and nowhere else:
 *
 *     model call, no call of it began    model_end(superseded), asked again
 *     model call, calls of it began      model_end(failed) with what was
 *                                        sealed; the calls go on
 *     call that reads or is idempotent   call_end(superseded), then
 *                                        call_start again, the same key
 *     call with a child                  the same, with the same child
 *     unsafe call                        as the policy's on_unknown says
 *     child of a run that this forks     child_end(superseded)
 *     question to whoever approves       asked again
 *     refusal that a fork cut in two     refused again
 *     being stopped, or taken up for it  everything ends
 *
 * A superseded end stands just before the next start. That is in the step of
 * run_resume, unless the run is paused or a person is asked about the call
 * first: until then it is not known whether it runs again. If it does not, its
 * one end is the result, and no start has to be made up for it.
 */
#include "core/turn/tt_step.h"

#include <string.h>

static const struct tool *tool_of(const struct turn *t, uint32_t i)
{
    return config_tool(t->config, turn_call(t, i)->name);
}

/* Only a tool that says so may run twice. */
static bool is_unsafe(const struct turn *t, uint32_t i)
{
    const struct tool *tool = tool_of(t, i);

    return !tool || tool->call_class == WEND_CLASS_UNSAFE;
}

enum unknown unknown_policy(const struct turn *t)
{
    return t->config->on_unknown == UNKNOWN_ASK &&
                   t->config->approve != APPROVE_ASK
               ? UNKNOWN_TELL
               : t->config->on_unknown;
}

bool is_checked(const struct turn *t, wend_str name)
{
    const struct tool *tool = config_tool(t->config, name);

    /* What an imported log says of a call is nothing to run a program for. */
    return t->config->on_unknown == UNKNOWN_VERIFY && tool && tool->verify &&
           !t->imported;
}

/* What it really got. */
static wend_str args_of(const struct turn *t, uint32_t i)
{
    const struct begun *b = turn_begun(t, i);

    return b ? b->args : turn_call(t, i)->args;
}

/* ---- Events -------------------------------------------------------------- */

static void emit_resume(struct tt *x)
{
    const struct turn *t = &x->s->turn;
    wend_event *ev = draft(x, WEND_RUN_RESUME);
    struct buf b = {.mem = x->s->scratch->mem};
    uint32_t place = 0, action;

    buf_char(&b, '[');
    for (uint32_t i = 0; i < t->calls_count; i++)
        if (turn_call_runs(t, i) && (int)i != turn_plan_call(t)) {
            if (b.len > 1)
                buf_char(&b, ',');
            json_put_str(&b, turn_call(t, i)->id);
        }
    while (t->plan.started &&
           (action = plan_marked(&t->plan, MARK_RUNS, &place)) != PLAN_NONE) {
        if (b.len > 1)
            buf_char(&b, ',');
        json_put_str(&b, t->plan.plan->actions[action]->id);
    }
    buf_char(&b, ']');
    if (ev && x->in->over)
        ev->u.run_resume = *x->in->over;
    if (ev) {
        ev->u.run_resume.epoch = x->in->epoch;
        ev->u.run_resume.from_seq = t->seq;
        ev->u.run_resume.unsettled_json = take_text(x, &b);
    } else {
        buf_free(&b);
    }
    emit(x, ev);
}

void end_lost(struct tt *x, uint32_t i)
{
    const struct turn *t = &x->s->turn;
    bool unknown = is_unsafe(t, i);
    struct call_done d = {
        .outcome = unknown ? WEND_OUTCOME_UNKNOWN : WEND_OUTCOME_CANCELED,
        .code = unknown ? STR("unknown") : STR("canceled"),
        .output = unknown
                      ? STR("unknown: the process ended while this call was "
                            "under way. It may have had its effect, wholly, "
                            "in part or not at all: find out before you call "
                            "it again")
                      : STR("canceled: the process ended while this call was "
                            "under way"),
        .effect_possible = true,
    };

    emit_ran(x, turn_call(t, i), &d);
}

/* ---- Calls --------------------------------------------------------------- */

/* A refusal has both brackets in one step, and the event that a fork begins
 * at may be the first of them. What was refused does not run. */
static bool refuse_again(struct tt *x, uint32_t i)
{
    const struct turn *t = &x->s->turn;
    struct call c = *turn_call(t, i);
    struct admission a;

    c.invalid &= str_eq(c.args, args_of(t, i)); /* else a hook changed them */
    c.args = args_of(t, i);
    admit_call(x, &c, &a);
    refuse_denied(t, i, &a);
    if (a.refused == WEND_OUTCOME_NONE || turn_call_child(t, i).ptr)
        return false;
    end_unstarted_call(x, &c, &a, a.refused, a.code, a.message);
    return true;
}

/* That an imported log says it was allowed to begin means nothing. */
static bool may_begin(struct tt *x, uint32_t i)
{
    const struct turn *t = &x->s->turn;
    struct call c = *turn_call(t, i);
    struct admission a;

    if (!t->imported || bit_get(&t->approved, i))
        return true;
    c.args = args_of(t, i);
    admit_call(x, &c, &a);
    return a.verdict.policy.decision == WEND_DECISION_ALLOW;
}

/* It was allowed to begin; it is the same call with the same arguments. */
void begin_again(struct tt *x, uint32_t i)
{
    const struct turn *t = &x->s->turn;
    struct admission a;

    admit_resumed(t, turn_call(t, i), &a);
    if (!a.tool) { /* no live run began such a call; a log may say so */
        end_lost(x, i);
        return;
    }
    if (refuse_again(x, i))
        return;
    if (!may_begin(x, i)) {
        end_lost(x, i);
        return;
    }
    start_call(x, turn_call(t, i), &a, args_of(t, i));
}

/* Its outcome is not known yet, but will be. */
static bool is_looked_up(const struct turn *t, uint32_t i)
{
    return bit_get(&t->lost, i) && is_unsafe(t, i) &&
           !turn_call_child(t, i).ptr && turn_begun(t, i) &&
           is_checked(t, turn_call(t, i)->name);
}

/* Of a fork that may run fewer at once than its parent, some wait. */
static bool has_slot(const struct turn *t)
{
    int64_t running = 0;

    for (uint32_t i = 0; i < t->calls_count; i++)
        running += turn_call_runs(t, i) && !bit_get(&t->lost, i) &&
                   (int)i != turn_plan_call(t);
    return !t->limits.parallel || running < t->limits.parallel;
}

void restart_lost(struct tt *x)
{
    const struct turn *t = &x->s->turn;

    for (uint32_t i = 0; !t->paused && i < t->calls_count; i++)
        if (bit_get(&t->lost, i) && !waits_for_approval(t, i) &&
            !is_looked_up(t, i) && has_slot(t))
            begin_again(x, i);
}

void check_lost_calls(struct tt *x)
{
    const struct turn *t = &x->s->turn;

    for (uint32_t i = 0; !t->paused && i < t->calls_count; i++) {
        struct effect *fx = is_looked_up(t, i) ? want(x, FX_CHECK) : NULL;

        if (!fx)
            continue;
        fx->call = turn_call(t, i);
        fx->args = args_of(t, i);
        fx->key = turn_begun(t, i)->key;
        fx->timeout_ms = tool_of(t, i)->timeout_ms;
    }
}

/* A pause keeps it waiting: it is looked up once more then. */
void on_checked(struct tt *x)
{
    const struct turn *t = &x->s->turn;
    const struct call_done *d = &x->in->done;
    int i = d->call.ptr ? turn_call_index(t, d->call) : -1;

    if (!d->call.ptr)
        on_action_checked(x);
    if (i < 0 || d->turn != t->counter || t->paused ||
        !is_looked_up(t, (uint32_t)i))
        return;
    if (d->outcome == WEND_OUTCOME_OK)
        emit_ran(x, turn_call(t, (uint32_t)i), d);
    else if (d->outcome == WEND_OUTCOME_SKIPPED)
        begin_again(x, (uint32_t)i);
    else
        end_lost(x, (uint32_t)i);
    run_calls(x);
}

/* The question once more: nobody who could hear the first one is left. The
 * policy of a fork may allow what its parent's asks about. */
static void ask_once_more(struct tt *x, uint32_t i)
{
    struct call c = *turn_call(&x->s->turn, i);
    struct admission a;
    wend_event *ev;

    c.args = turn_asked_args(&x->s->turn, i);
    admit_call(x, &c, &a);
    if (a.refused != WEND_OUTCOME_NONE ||
        a.verdict.policy.decision != WEND_DECISION_ALLOW) {
        ask_approval(x, &c, &a);
        return;
    }
    ev = draft(x, WEND_APPROVAL_ANSWER);
    if (ev) {
        ev->u.approval_answer.call = c.id;
        ev->u.approval_answer.yes = true;
        ev->u.approval_answer.by = STR("policy");
    }
    emit(x, ev);
}

static void ask_about_lost(struct tt *x, uint32_t i)
{
    struct call c = *turn_call(&x->s->turn, i);
    struct admission a;

    c.args = args_of(&x->s->turn, i);
    admit_call(x, &c, &a);
    a.verdict.rule = STR_NONE; /* the answer is about this call alone */
    a.verdict.reason =
        STR("the process ended while this call was under way, and whether it "
            "had its effect is not known; yes runs it again");
    ask_approval(x, &c, &a);
}

/* What of the open calls is not simply run once more. */
static void settle_lost(struct tt *x)
{
    const struct turn *t = &x->s->turn;
    enum unknown policy = unknown_policy(t);
    bool any = false;

    for (uint32_t i = 0; i < t->calls_count; i++) {
        if (!bit_get(&t->lost, i) || !is_unsafe(t, i) ||
            policy == UNKNOWN_RETRY || is_looked_up(t, i) ||
            turn_call_child(t, i).ptr) { /* which is gone on with */
            if (waits_for_approval(t, i))
                ask_once_more(x, i);
            continue;
        }
        any = true;
        if (policy == UNKNOWN_ASK)
            ask_about_lost(x, i);
        else
            end_lost(x, i);
    }
    if (any && policy == UNKNOWN_STOP)
        stop_for(x, STR("policy"), STR("unknown_outcome"),
                 STR("the outcome of a call is not known, and the policy is "
                     "to stop then"));
}

static void resume_calls(struct tt *x)
{
    settle_lost(x);
    if (x->s->turn.stop.outcome == WEND_OUTCOME_NONE)
        check_lost_calls(x);
    leave_given_plan(x);
    if (x->s->turn.stop.outcome == WEND_OUTCOME_NONE)
        resume_actions(x);
    if (x->s->turn.stop.outcome != WEND_OUTCOME_NONE)
        return;
    settle_calls(x);
    run_calls(x);
}

static void resume_model(struct tt *x)
{
    if (!x->s->turn.calls_count && !turn_plan_open(&x->s->turn)) {
        close_model(x, WEND_OUTCOME_SUPERSEDED, NULL);
        enter_turn(x);
        return;
    }
    close_model(x, WEND_OUTCOME_FAILED,
                draft_error(x, STR("interrupted"),
                            STR("the process ended while the model was "
                                "answering"),
                            STR("model")));
    resume_calls(x);
}

/* ---- All of it ----------------------------------------------------------- */

void arm_timers(struct tt *x, int64_t left_ms)
{
    if (x->s->turn.limits.time_ms)
        want_timer(x, TIMER_RUN, left_ms);
    want_timer(x, TIMER_METRICS, METRICS_EVERY_MS);
}

static void go_on_from(struct tt *x)
{
    switch (x->s->turn.phase) {
    case PH_NEW:
    case PH_END: break; /* tt never gets here */
    case PH_BETWEEN:
        if (x->s->turn.file_plan.ptr && !x->s->turn.plan.started)
            begin_plan(x);
        else if (x->s->turn.counter < 0)
            begin_turn(x);
        else
            go_on(x);
        break;
    case PH_TURN: enter_turn(x); break;
    case PH_MODEL: resume_model(x); break;
    case PH_CALLS: resume_calls(x); break;
    case PH_PLAN: resume_plan(x); break;
    }
}

/* A child that began before the fork is the parent's: its id is in the
 * key of what waits for it. Those of an imported run came from a file, too. */
static bool is_left(const struct turn *t, wend_str key)
{
    return t->imported || !is_own_key(t, key);
}

static void leave_children(struct tt *x)
{
    const struct child_done left = {.outcome = WEND_OUTCOME_SUPERSEDED};
    const struct turn *t = &x->s->turn;
    uint32_t place = 0, i;

    for (i = 0; i < t->calls_count; i++)
        if (bit_get(&t->lost, i) && turn_call_child(t, i).ptr &&
            is_left(t, turn_begun(t, i)->key))
            end_child(x, turn_call_child(t, i), &left);
    while (t->plan.started &&
           (i = plan_marked(&t->plan, MARK_RUNS, &place)) != PLAN_NONE) {
        const struct action_state *s = plan_action_state(&t->plan, i);

        if (s->child.ptr && is_left(t, s->key))
            end_child(x, s->child, &left);
    }
}

static void emit_limits(struct tt *x)
{
    struct buf b = {.mem = x->s->scratch->mem};

    limits_write(&b, x->in->limits);
    emit_control(x, STR("limits"), STR("api"), take_text(x, &b));
}

void on_resume(struct tt *x)
{
    const struct turn *t = &x->s->turn;
    int64_t left_ms;

    charge(turn_model(t), turn_tokens(t), &x->cut);
    emit_resume(x);
    if (x->in->over)
        tell_gap(x); /* other tools, or other rules */
    tell_troubles(x);
    if (t->metrics_due)
        emit_metrics(x);
    leave_children(x);
    if (t->context)
        end_context(x);
    if (x->in->limits)
        emit_limits(x);
    if (x->in->by.ptr && t->stop.outcome == WEND_OUTCOME_NONE)
        emit_control(x, STR("cancel"), x->in->by, STR_NONE);
    hear_requests(x);
    left_ms = t->limits.time_ms - t->metrics.ms;
    if (t->stop.outcome != WEND_OUTCOME_NONE) {
        stop_all(x);
    } else if (t->limits.time_ms && left_ms <= 0) {
        time_is_over(x);
    } else {
        arm_timers(x, left_ms);
        go_on_from(x);
    }
}

/*
 * tt_plan.c - running a plan: what starts next, what ends, when it is over.
 *
 * Ready first: an action starts as soon as nobody it waits for is left and a
 * slot is free; there are no waves. A decision takes no slot, since it takes
 * no time. While a sync action runs nothing starts.
 */
#include "core/turn/tt_plan.h"

#include "base/fail.h"

static const struct plan_state *plan_of(const struct tt *x)
{
    return &x->s->turn.plan;
}

/* ---- The plan's brackets ------------------------------------------------- */

static void put_action(struct buf *b, const struct plan *p, uint32_t i,
                       int64_t learned_ms)
{
    const struct plan_action *a = p->actions[i];
    const struct plan_graph *g = &p->graph;

    buf_cstr(b, i ? ",{\"id\":" : "{\"id\":");
    json_put_str(b, a->id);
    buf_cstr(b, ",\"name\":");
    json_put_str(b, a->name);
    buf_fmt(b, ",\"type\":\"%s\",\"mode\":\"%s\",\"depends_on\":[",
            action_type_names[a->type], action_mode_names[a->mode]);
    for (uint32_t d = g->deps_at[i]; d < g->deps_at[i + 1]; d++) {
        if (d > g->deps_at[i])
            buf_char(b, ',');
        json_put_str(b, p->actions[g->deps[d]]->id);
    }
    buf_cstr(b, "],\"wave\":");
    buf_i64(b, g->wave[i]);
    buf_cstr(b, ",\"estimate_ms\":");
    if (learned_ms >= 0)
        buf_i64(b, learned_ms);
    else if (a->estimate_ms < 0)
        buf_cstr(b, "null");
    else
        buf_i64(b, a->estimate_ms);
    buf_cstr(b, learned_ms >= 0 ? ",\"learned\":true}" : "}");
}

static wend_str actions_json(struct tt *x, const struct plan *p)
{
    struct buf b = {.mem = x->s->scratch->mem};

    buf_char(&b, '[');
    for (uint32_t i = 0; i < p->count; i++)
        put_action(&b, p, i, x->in->learned_ms ? x->in->learned_ms[i] : -1);
    buf_char(&b, ']');
    return take_text(x, &b);
}

static void emit_plan_start(struct tt *x)
{
    const struct plan *p = plan_of(x)->plan;
    wend_event *ev = draft(x, WEND_PLAN_START);

    if (!ev)
        return;
    ev->u.plan_start.plan = p->name;
    ev->u.plan_start.name = p->name;
    ev->u.plan_start.actions_json = actions_json(x, p);
    ev->u.plan_start.waves = p->graph.waves;
    ev->u.plan_start.sequential_ms = p->graph.sequential_ms;
    ev->u.plan_start.critical_path_ms = p->graph.critical_ms;
    ev->u.plan_start.max_parallel =
        p->max_parallel ? p->max_parallel : PLAN_PACE_FIRST;
    ev->u.plan_start.auto_parallel = !p->max_parallel;
    emit(x, ev);
}

void end_plan(struct tt *x, wend_outcome outcome)
{
    const struct plan_state *p = plan_of(x);
    wend_event *ev;

    if (p->ended)
        return;
    ev = draft(x, WEND_PLAN_END);
    if (ev) {
        ev->u.plan_end.outcome = outcome;
        ev->u.plan_end.ok = p->ok;
        ev->u.plan_end.failed = p->failed;
        ev->u.plan_end.canceled = p->canceled;
        ev->u.plan_end.skipped = p->skipped;
        ev->u.plan_end.running = p->running;
        if (x->in->time_us > p->started_us)
            ev->u.plan_end.ms = (x->in->time_us - p->started_us) / 1000;
    }
    emit(x, ev);
    emit_metrics(x);
}

/* ---- The run's end ------------------------------------------------------- */

/* {"name":value,...}; of a plan that failed, null for what is missing. */
static wend_str outputs_json(struct tt *x, wend_error *why)
{
    const struct plan *p = plan_of(x)->plan;
    struct buf b = {.mem = x->s->scratch->mem};
    struct scope scope;
    wend_status s = WEND_OK;

    if (!plan_scope_all(plan_of(x), x->s->scratch, &scope))
        return STR_NONE;
    scope.missing_null |= plan_of(x)->broken || !plan_of(x)->ended ||
                          x->s->turn.stop.outcome != WEND_OUTCOME_NONE;
    buf_char(&b, '{');
    for (size_t i = 0; s == WEND_OK && i < p->outputs_count; i++) {
        if (i)
            buf_char(&b, ',');
        json_put_str(&b, p->outputs[i].name);
        buf_char(&b, ':');
        s = b.len < BLOB_BYTES_MAX
                ? template_put(p->outputs[i].value, &scope,
                               BLOB_BYTES_MAX - b.len, &b, why)
                : fail(why, WEND_E_LIMIT, "the outputs have more than %d bytes",
                       BLOB_BYTES_MAX);
    }
    buf_char(&b, '}');
    if (s == WEND_E_NOMEM)
        x->s->scratch->failed = true;
    if (s == WEND_OK)
        return take_text(x, &b);
    buf_free(&b);
    return STR_NONE;
}

wend_str plan_text(struct tt *x)
{
    wend_str text;

    if (!plan_of(x)->started || !plan_of(x)->plan->outputs_count)
        return STR("");
    text = outputs_json(x, NULL);
    return text.ptr ? text : STR("");
}

static const wend_ev_error *failure(struct tt *x)
{
    const struct plan_state *p = plan_of(x);
    struct buf b = {.mem = x->s->scratch->mem};

    buf_str(&b, p->cause);
    if (p->failed > 1 || p->skipped || p->canceled)
        buf_fmt(&b, "; %u failed, %u skipped", p->failed, p->skipped);
    if (p->canceled)
        buf_fmt(&b, ", %u canceled", p->canceled);
    return draft_error(x, STR("plan_failed"), take_text(x, &b), STR("plan"));
}

static void end_plan_run(struct tt *x)
{
    const struct plan_state *p = plan_of(x);
    wend_error why = {0};
    wend_ev_error *error;

    if (p->broken && p->plan->on_failure == FAILURE_REPLAN && ask_for_plan(x))
        return;
    if (p->broken && p->plan->on_failure != FAILURE_CONTINUE) {
        end_run(x, WEND_OUTCOME_FAILED, STR_NONE, failure(x));
        return;
    }
    if (p->plan->outputs_count && !outputs_json(x, &why).ptr) {
        error = draft_error(x, STR("bad_output"),
                            arena_str(x->s->scratch, str_of(why.message)),
                            STR("plan"));
        end_run(x, WEND_OUTCOME_FAILED, STR_NONE, error);
        return;
    }
    end_run(x, WEND_OUTCOME_OK, STR_NONE, NULL);
}

/* ---- Going on ------------------------------------------------------------ */

/* Never started: only its end is written. */
static void skip_action(struct tt *x, uint32_t i, wend_str reason)
{
    struct action_fate f = {.outcome = WEND_OUTCOME_SKIPPED, .reason = reason};

    end_action(x, i, &f);
}

static void settle(struct tt *x, uint32_t i)
{
    const struct action_state *s = plan_action_state(plan_of(x), i);

    if (s->at == AT_SKIPS)
        skip_action(x, i, s->reason);
    else
        refuse_action(x, i, STR("bad_condition"), s->reason);
}

/* What has not started never will. */
static void skip_open(struct tt *x, wend_str reason)
{
    uint32_t place = 0, i;

    while (!no_memory(x) &&
           (i = plan_marked(plan_of(x), MARK_OPEN, &place)) != PLAN_NONE)
        skip_action(x, i, reason);
}

void end_lost_action(struct tt *x, uint32_t i)
{
    bool unknown = is_unknown(&x->s->turn, i);
    struct action_fate f = {
        .outcome = unknown ? WEND_OUTCOME_UNKNOWN : WEND_OUTCOME_CANCELED,
        .code = unknown ? STR("unknown") : STR("canceled"),
        .message = STR("the process ended while this action was under way; "
                       "it may have had an effect"),
        .effect_possible = true,
    };

    end_action(x, i, &f);
}

static void stop_action(struct tt *x, uint32_t i)
{
    struct effect *fx = want(x, FX_STOP_ACTION);

    if (!fx)
        return;
    fx->action = i;
    fx->attempt = plan_action_state(plan_of(x), i)->attempt;
}

/* Nobody runs what was cut off: whoever is asked or looks it up is not waited
 * for; a pause keeps the rest. */
static void stop_running(struct tt *x)
{
    uint32_t place = 0, i;

    while (!no_memory(x) &&
           (i = plan_marked(plan_of(x), MARK_RUNS, &place)) != PLAN_NONE) {
        enum action_at at = plan_action_state(plan_of(x), i)->at;

        if (at == AT_RUNS)
            stop_action(x, i);
        else if (at == AT_DOUBTED || !x->s->turn.paused)
            end_lost_action(x, i);
    }
}

/* The plan's own limit, and the run's if that is smaller. */
static bool has_slot(const struct tt *x, uint32_t i)
{
    const struct plan_state *p = plan_of(x);
    int64_t limit = x->s->turn.limits.parallel;

    return p->plan->actions[i]->type == ACTION_DECISION ||
           (p->running < plan_slots(p) && (limit <= 0 || p->running < limit));
}

/* While it is being written, the best one may have to wait for its end. */
static bool start_one(struct tt *x)
{
    const struct plan_state *p = plan_of(x);
    uint32_t place = 0, i;

    if (x->s->turn.paused || p->holding)
        return false;
    while ((i = plan_marked(p, MARK_READY, &place)) != PLAN_NONE) {
        if (!has_slot(x, i))
            return false;
        if (p->plan->open && !may_start_early(x, i))
            continue;
        if (start_action(x, i))
            return true;
        if (no_memory(x) || x->s->turn.stop.outcome)
            return false;
    }
    return false;
}

/* The next thing to do; false if there is none now. */
static bool go_on_once(struct tt *x)
{
    uint32_t place = 0, i = plan_marked(plan_of(x), MARK_SETTLE, &place);

    if (i == PLAN_NONE)
        return start_one(x);
    settle(x, i);
    return true;
}

void advance_plan(struct tt *x)
{
    const struct plan_state *p = plan_of(x);

    while (!no_memory(x) && !plan_fails_fast(p) && !p->wrong.ptr &&
           go_on_once(x))
        continue;
    if (!no_memory(x) && p->wrong.ptr)
        skip_open(x, STR("plan_invalid")); /* what runs is finished */
    if (!no_memory(x) && plan_fails_fast(p)) {
        skip_open(x, STR("fail_fast"));
        stop_running(x);
    }
    if (no_memory(x) || p->left || p->plan->open || x->s->turn.stop.outcome)
        return; /* a limit that was met on the way ends it otherwise */
    end_plan(x,
             p->broken || p->wrong.ptr ? WEND_OUTCOME_FAILED : WEND_OUTCOME_OK);
    end_plan_call(x);
}

void run_plan(struct tt *x)
{
    const struct turn *t = &x->s->turn;
    int call = turn_plan_call(t);

    advance_plan(x);
    if (no_memory(x) || t->stop.outcome)
        return;
    if (!t->plan.plan->written && t->plan.ended && !t->plan.running)
        end_plan_run(x);
    else if (call >= 0 && t->phase == PH_CALLS &&
             bit_get(&t->ended, (uint32_t)call))
        run_calls(x);
}

void begin_plan(struct tt *x)
{
    emit_plan_start(x);
    if (!no_memory(x))
        run_plan(x);
}

/* What its tool's arguments say that it brings. */
static uint32_t action_labels(struct tt *x, uint32_t i)
{
    const struct turn *t = &x->s->turn;
    const struct tool *tool = turn_action_tool(t, i);

    return tool ? policy_labels(t, tool, plan_action_state(&t->plan, i)->params,
                                x->s->scratch->mem)
                : 0;
}

void on_action_done(struct tt *x)
{
    struct call_done d = x->in->done;
    const struct plan_state *p = plan_of(x);
    struct action_fate f = {0};
    const struct action_state *s;

    if (!p->started || d.action >= p->plan->count)
        return;
    s = plan_action_state(p, d.action);
    if (s->at != AT_RUNS || s->attempt != d.attempt)
        return; /* late, twice, or from before an interruption */
    if (d.uncached) {
        start_action_child(x, d.action);
        return;
    }
    if (d.child)
        settle_child(x, p->plan->actions[d.action]->target, &d);
    f.outcome = d.outcome;
    f.code = d.code;
    f.effect_possible = d.effect_possible;
    f.retryable = d.retryable;
    f.cached = d.cached;
    f.labels = d.labels | action_labels(x, d.action);
    if (d.outcome != WEND_OUTCOME_OK)
        f.message = d.output;
    else
        f.output = d.json ? d.output : output_json(x, d.output);
    if (may_retry_action(x, d.action, &f)) {
        retry_action(x, d.action, &f);
        return;
    }
    end_action(x, d.action, &f);
    if (d.child &&
        child_met_limit(x, p->plan->actions[d.action]->target, d.child)) {
        limit_reached(x, d.child->limit);
        return;
    }
    if (x->s->turn.stop.outcome == WEND_OUTCOME_NONE)
        run_plan(x);
}

bool on_plan_approval(struct tt *x)
{
    const struct plan_state *p = plan_of(x);
    uint32_t i =
        p->started ? plan_find(p->plan, x->in->approval.call) : PLAN_NONE;
    enum action_at at = i == PLAN_NONE ? AT_ENDED : plan_action_state(p, i)->at;

    if (at != AT_ASKED && at != AT_DOUBTED)
        return false;
    action_approval(x, i);
    if (at == AT_DOUBTED && !x->in->approval.yes)
        end_lost_action(x, i);
    else if (at == AT_DOUBTED && !x->s->turn.paused)
        start_action_again(x, i);
    run_plan(x);
    return true;
}

/* ---- Stopping, and going on after an interruption ------------------------ */

/* A child is gone on with, be it to be stopped: how it ends is known then. */
static void end_all_lost(struct tt *x)
{
    uint32_t place = 0, i;

    while (!no_memory(x) &&
           (i = plan_marked(plan_of(x), MARK_RUNS, &place)) != PLAN_NONE) {
        const struct action_state *s = plan_action_state(plan_of(x), i);

        if (s->at == AT_RUNS)
            continue;
        if (s->child.ptr)
            start_action_again(x, i);
        else
            end_lost_action(x, i);
    }
}

void stop_plan(struct tt *x)
{
    const struct plan_state *p = plan_of(x);

    if (!p->started)
        return;
    end_all_lost(x);
    skip_open(x, x->s->turn.stop.limit.ptr ? STR("limit") : STR("canceled"));
    stop_running(x);
}

void abandon_actions(struct tt *x)
{
    struct action_fate f = {
        .outcome = WEND_OUTCOME_CANCELED,
        .code = STR("canceled"),
        .message = STR("canceled; it did not stop in time and may have had "
                       "an effect"),
        .effect_possible = true,
    };
    uint32_t place = 0, i;

    while (plan_of(x)->started && !no_memory(x) &&
           (i = plan_marked(plan_of(x), MARK_RUNS, &place)) != PLAN_NONE)
        end_action(x, i, &f);
}

static bool is_lost(const struct tt *x, uint32_t i)
{
    return plan_action_state(plan_of(x), i)->at == AT_LOST;
}

/* Of one that may not run twice nobody knows how it went; a child is gone on
 * with. */
static bool is_in_doubt(const struct tt *x, uint32_t i)
{
    return is_lost(x, i) && !plan_action_state(plan_of(x), i)->child.ptr &&
           is_unknown(&x->s->turn, i);
}

static bool can_check(const struct tt *x, uint32_t i)
{
    const struct plan_action *a = plan_of(x)->plan->actions[i];

    return a->type == ACTION_TOOL && is_checked(&x->s->turn, a->target);
}

static void check_action(struct tt *x, uint32_t i)
{
    const struct action_state *s = plan_action_state(plan_of(x), i);
    struct effect *fx = want(x, FX_CHECK);

    if (!fx)
        return;
    fx->action = i;
    fx->attempt = s->attempt;
    fx->args = s->params;
    fx->key = s->key;
    fx->timeout_ms = plan_of(x)->plan->actions[i]->timeout_ms;
}

/* Looked up, or run once more; a pause keeps them waiting. */
void restart_lost_actions(struct tt *x)
{
    uint32_t place = 0, i;

    while (plan_of(x)->started && !x->s->turn.paused && !no_memory(x) &&
           (i = plan_marked(plan_of(x), MARK_RUNS, &place)) != PLAN_NONE)
        if (is_in_doubt(x, i) && can_check(x, i))
            check_action(x, i);
        else if (is_lost(x, i))
            start_action_again(x, i);
}

void on_action_checked(struct tt *x)
{
    const struct call_done *d = &x->in->done;
    const struct plan_state *p = plan_of(x);
    struct action_fate f = {.outcome = WEND_OUTCOME_OK};

    if (!p->started || d->action >= p->plan->count || x->s->turn.paused ||
        !is_in_doubt(x, d->action) ||
        plan_action_state(p, d->action)->attempt != d->attempt)
        return;
    if (d->outcome == WEND_OUTCOME_OK) {
        f.output = output_json(x, d->output);
        end_action(x, d->action, &f);
    } else if (d->outcome == WEND_OUTCOME_SKIPPED) {
        start_action_again(x, d->action);
    } else {
        end_lost_action(x, d->action);
    }
    run_plan(x);
}

/* What the policy says of those in doubt; true: the run is to be stopped. */
static bool settle_doubts(struct tt *x, enum unknown policy)
{
    uint32_t place = 0, i;
    bool any = false;

    while (policy != UNKNOWN_RETRY && !no_memory(x) &&
           (i = plan_marked(plan_of(x), MARK_RUNS, &place)) != PLAN_NONE) {
        bool over = plan_fails_fast(plan_of(x));

        if (!is_in_doubt(x, i) || (can_check(x, i) && !over))
            continue;
        if (policy == UNKNOWN_ASK && !over) {
            ask_action_again(x, i);
            continue;
        }
        any = true;
        end_lost_action(x, i);
    }
    return any && policy == UNKNOWN_STOP;
}

/* Those that may run twice do; of the others nobody knows how they went. */
void resume_actions(struct tt *x)
{
    uint32_t place = 0, i;

    if (!plan_of(x)->started)
        return;
    if (settle_doubts(x, unknown_policy(&x->s->turn))) {
        stop_for(x, STR("policy"), STR("unknown_outcome"),
                 STR("the outcome of an action is not known, and the "
                     "policy is to stop then"));
        return;
    }
    restart_lost_actions(x);
    while (plan_of(x)->asked && !no_memory(x) &&
           (i = plan_marked(plan_of(x), MARK_OPEN, &place)) != PLAN_NONE)
        if (plan_action_state(plan_of(x), i)->at == AT_ASKED)
            ask_action_again(x, i);
}

void resume_plan(struct tt *x)
{
    resume_actions(x);
    if (x->s->turn.stop.outcome == WEND_OUTCOME_NONE)
        run_plan(x);
}

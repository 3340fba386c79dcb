/*
 * tt_plan.c - running a plan: what starts next, what ends, when it is over.
 *
 * An action starts as soon as all that it waits for has ended and a slot is
 * free; there are no waves. A decision takes no slot, since it takes no time.
 * While a sync action runs nothing starts.
 */
#include "core/turn/tt_step.h"

#include <assert.h>

#include "base/fail.h"

static const struct plan_state *plan_of(const struct tt *x)
{
    return &x->t->plan;
}

/* ---- The plan's brackets ------------------------------------------------- */

static void put_action(struct buf *b, const struct plan *p, uint32_t i,
                       int64_t learned_ms)
{
    const struct plan_action *a = p->actions[i];
    const struct plan_graph *g = &p->graph;
    int64_t estimate_ms = learned_ms >= 0 ? learned_ms : a->estimate_ms;

    json_open(b, NULL, '{');
    json_add_str(b, "id", a->id);
    json_add_str(b, "name", a->name);
    json_add_str(b, "type", str_of(action_type_names[a->type]));
    json_add_str(b, "mode", str_of(action_mode_names[a->mode]));
    json_open(b, "depends_on", '[');
    for (uint32_t d = g->deps_at[i]; d < g->deps_at[i + 1]; d++)
        json_add_str(b, NULL, p->actions[g->deps[d]]->id);
    json_close(b, ']');
    json_add_i64(b, "wave", g->wave[i]);
    if (estimate_ms >= 0)
        json_add_i64(b, "estimate_ms", estimate_ms);
    else
        json_add_raw(b, "estimate_ms", STR("null"));
    if (learned_ms >= 0)
        json_add_bool(b, "learned", true);
    json_close(b, '}');
}

static wend_str actions_json(struct tt *x, const struct plan *p)
{
    struct buf b = {.mem = x->s->scratch->mem};

    json_open(&b, NULL, '[');
    for (uint32_t i = 0; i < p->count; i++)
        put_action(&b, p, i, x->in->learned_ms ? x->in->learned_ms[i] : -1);
    json_close(&b, ']');
    return take_text(x, &b);
}

void end_plan(struct tt *x, wend_outcome outcome)
{
    const struct plan_state *p = plan_of(x);
    int64_t took_us = x->in->time_us - p->started_us;

    if (p->ended)
        return;
    emit(x, WEND_PLAN_END,
         &(wend_ev_plan_end){.outcome = outcome,
                             .ok = p->ok,
                             .failed = p->failed,
                             .skipped = p->skipped,
                             .running = p->running,
                             .ms = took_us > 0 ? took_us / 1000 : 0,
                             .canceled = p->canceled,
                             .unknown = p->unknown});
    emit_metrics(x);
}

/* ---- The run's end ------------------------------------------------------- */

/* {"name":value,...}; null for what a failed plan has no value for. */
static wend_str outputs_json(struct tt *x, wend_error *why)
{
    const struct plan *p = plan_of(x)->plan;
    struct buf b = {.mem = x->s->scratch->mem};
    struct scope scope;
    wend_status s = WEND_OK;

    if (!plan_scope_all(plan_of(x), x->s->scratch, &scope))
        return STR_NONE;
    scope.missing_null |= plan_of(x)->broken || !plan_of(x)->ended ||
                          x->t->stop.outcome != WEND_OUTCOME_NONE;
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
    if (p->failed + p->unknown > 1 || p->skipped || p->canceled)
        buf_fmt(&b, "; %u failed, %u skipped", p->failed, p->skipped);
    if (p->canceled)
        buf_fmt(&b, ", %u canceled", p->canceled);
    if (b.len > p->cause.len && p->unknown)
        buf_fmt(&b, ", %u unknown", p->unknown);
    return draft_error(x, STR("plan_failed"), take_text(x, &b), STR("plan"));
}

static void end_plan_run(struct tt *x)
{
    const struct plan_state *p = plan_of(x);
    const wend_ev_error *error = NULL;
    wend_error why = {0};

    if (p->broken && p->plan->on_failure == FAILURE_REPLAN && ask_for_plan(x))
        return;
    if (p->broken && p->plan->on_failure != FAILURE_CONTINUE)
        error = failure(x);
    else if (p->plan->outputs_count && !outputs_json(x, &why).ptr)
        error = draft_error(x, STR("bad_output"),
                            arena_str(x->s->scratch, str_of(why.message)),
                            STR("plan"));
    end_run(x, error ? WEND_OUTCOME_FAILED : WEND_OUTCOME_OK, STR_NONE, error);
}

/* ---- The next action ----------------------------------------------------- */

/* Never started: only its end is written. */
static void skip_action(struct tt *x, const struct work *w, wend_str reason)
{
    end_work(
        x, w,
        &(struct call_done){.outcome = WEND_OUTCOME_SKIPPED, .reason = reason});
}

static void settle(struct tt *x, uint32_t i)
{
    const struct action_state *s = plan_action_state(plan_of(x), i);
    struct work w = work_of_action(x->t, i);

    if (s->at == AT_SKIPS)
        skip_action(x, &w, s->reason);
    else
        refuse_action(x, i, STR("bad_condition"), s->reason);
}

/* The next action with that mark, as it is now. */
static bool next_action(const struct tt *x, unsigned mark, uint32_t *place,
                        struct work *out)
{
    uint32_t i = no_memory(x) || !plan_of(x)->started
                     ? PLAN_NONE
                     : plan_marked(plan_of(x), mark, place);

    if (i != PLAN_NONE)
        *out = work_of_action(x->t, i);
    return i != PLAN_NONE;
}

/* What has not started never will. */
static void skip_open(struct tt *x, wend_str reason)
{
    uint32_t place = 0;
    struct work w;

    while (next_action(x, MARK_OPEN, &place, &w))
        skip_action(x, &w, reason);
}

/* Lost work needs no stop, and nothing waits for an approval or a lookup of
 * it; a pause keeps the rest. */
static void stop_running(struct tt *x)
{
    uint32_t place = 0;
    struct work w;

    while (next_action(x, MARK_RUNS, &place, &w))
        if (w.at == AT_RUNS)
            want(x, work_effect(FX_STOP_ACTION, &w));
        else if (w.at == AT_DOUBTED || !x->t->paused)
            end_lost(x, &w);
}

/* The plan's own limit, and the run's if that is smaller. */
static bool has_slot(const struct tt *x, uint32_t i)
{
    const struct plan_state *p = plan_of(x);
    int64_t limit = x->t->limits.parallel;

    return p->plan->actions[i]->type == ACTION_DECISION ||
           (p->running < plan_slots(p) && (limit <= 0 || p->running < limit));
}

static bool may_start_early(const struct tt *x, uint32_t i)
{
    if (x->t->config->eager == EAGER_OFF || !x->t->plan.plan->whole[i])
        return false;
    return x->t->config->eager == EAGER_ALL ||
           turn_action_class(x->t, i) != WEND_CLASS_UNSAFE;
}

/* While it is being written, the best one may have to wait for its end. */
static bool start_one(struct tt *x)
{
    const struct plan_state *p = plan_of(x);
    uint32_t place = 0, i;

    if (x->t->paused || p->holding)
        return false;
    while ((i = plan_marked(p, MARK_READY, &place)) != PLAN_NONE) {
        if (!has_slot(x, i))
            return false;
        if (p->plan->open && !may_start_early(x, i))
            continue;
        if (start_action(x, i))
            return true;
        if (no_memory(x) || x->t->stop.outcome)
            return false;
    }
    return false;
}

/* The next thing to do; false if there is none now. */
static bool settle_once(struct tt *x)
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

    assert(no_memory(x) || p->started);
    while (!no_memory(x) && !plan_fails_fast(p) && !p->wrong.ptr &&
           settle_once(x))
        continue;
    if (!no_memory(x) && p->wrong.ptr)
        skip_open(x, STR("plan_invalid")); /* what runs is finished */
    if (!no_memory(x) && plan_fails_fast(p)) {
        skip_open(x, STR("fail_fast"));
        stop_running(x);
    }
    if (no_memory(x) || p->left || p->plan->open || x->t->stop.outcome)
        return; /* a limit that was met on the way ends it otherwise */
    end_plan(x,
             p->broken || p->wrong.ptr ? WEND_OUTCOME_FAILED : WEND_OUTCOME_OK);
    end_plan_call(x);
}

void run_plan(struct tt *x)
{
    const struct turn *t = x->t;
    int call = turn_plan_call(t);

    advance_plan(x);
    if (no_memory(x) || t->stop.outcome)
        return;
    if (!t->plan.plan->written && t->plan.ended && !t->plan.running)
        end_plan_run(x);
    else if (call >= 0 && t->phase == PH_CALLS && (t->flags[call] & CALL_ENDED))
        run_calls(x);
}

void begin_plan(struct tt *x)
{
    const struct plan *p = plan_of(x)->plan;

    emit(x, WEND_PLAN_START,
         &(wend_ev_plan_start){.plan = p->name,
                               .name = p->name,
                               .actions_json = actions_json(x, p),
                               .waves = p->graph.waves,
                               .sequential_ms = p->graph.sequential_ms,
                               .critical_path_ms = p->graph.critical_ms,
                               .max_parallel = p->max_parallel
                                                   ? p->max_parallel
                                                   : PLAN_PACE_FIRST,
                               .auto_parallel = !p->max_parallel});
    if (!no_memory(x))
        run_plan(x);
}

/* The budget that left no room for all of its answer; absent: none. */
static wend_str cut_by(const struct tt *x, uint32_t i)
{
    const struct reply *r = x->in->reply;

    return r && str_is(r->finish, "length")
               ? plan_action_state(plan_of(x), i)->allowed.limit
               : STR_NONE;
}

void on_action_done(struct tt *x)
{
    struct call_done d = x->in->done;
    const struct turn *t = x->t;
    const struct plan_state *p = plan_of(x);
    bool met = false; /* a budget that it shares with its child */
    struct work w;

    if (!p->started || d.action >= p->plan->count)
        return;
    w = work_of_action(t, d.action);
    if (w.at != AT_RUNS || w.attempt != d.attempt)
        return; /* late, twice, or from before an interruption */
    if (d.uncached) {
        if (w.by_child && !w.child.ptr && t->stop.outcome == WEND_OUTCOME_NONE)
            start_child(x, &w, 0); /* nothing that was kept answers it */
        return;
    }
    if (d.child) {
        settle_child(x, w.name, &d);
        met = child_met_budget(x, w.name, d.child);
    }
    if (w.tool)
        d.labels |= policy_labels(t, w.tool, w.args, x->s->scratch->mem);
    if (!met && may_retry_action(x, &w, &d)) {
        retry_action(x, &w, &d);
        return;
    }
    end_work(x, &w, &d);
    if (met && t->stop.outcome == WEND_OUTCOME_NONE) {
        limit_reached(x, d.child->limit);
        return;
    }
    if (d.outcome == WEND_OUTCOME_OK && cut_by(x, d.action).ptr) {
        limit_reached(x, cut_by(x, d.action));
        return;
    }
    if (t->stop.outcome == WEND_OUTCOME_NONE)
        run_plan(x);
}

bool on_plan_approval(struct tt *x)
{
    const struct plan_state *p = plan_of(x);
    uint32_t i =
        p->started ? plan_find(p->plan, x->in->approval.call) : PLAN_NONE;
    enum action_at at = i == PLAN_NONE ? AT_ENDED : plan_action_state(p, i)->at;
    struct work w;

    if (at != AT_APPROVAL && at != AT_DOUBTED)
        return false;
    w = work_of_action(x->t, i);
    answer_approval(x, &w);
    w = work_now(x->t, &w);
    if (at == AT_DOUBTED && !x->in->approval.yes)
        end_lost(x, &w);
    else if (at == AT_DOUBTED && !x->t->paused)
        begin_again(x, &w);
    run_plan(x);
    return true;
}

/* ---- Stopping, and resuming ---------------------------------------------- */

/* A child is resumed, if only to be stopped: then its outcome is known. */
static void end_all_lost(struct tt *x)
{
    uint32_t place = 0;
    struct work w;

    while (next_action(x, MARK_RUNS, &place, &w))
        if (w.at == AT_RUNS)
            continue;
        else if (w.child.ptr)
            begin_again(x, &w);
        else
            end_lost(x, &w);
}

void stop_plan(struct tt *x)
{
    const struct plan_state *p = plan_of(x);

    if (!p->started)
        return;
    end_all_lost(x);
    skip_open(x, x->t->stop.limit.ptr ? STR("limit") : STR("canceled"));
    stop_running(x);
}

/* Looked up, or run once more; a pause keeps them waiting. */
void restart_lost_actions(struct tt *x)
{
    uint32_t place = 0;
    struct work w;

    while (!x->t->paused && next_action(x, MARK_RUNS, &place, &w))
        if (is_looked_up(x->t, &w))
            want(x, work_effect(FX_CHECK, &w));
        else if (w.lost)
            begin_again(x, &w);
}

/* True: the run is to be stopped. */
static bool settle_doubts(struct tt *x)
{
    uint32_t place = 0;
    bool any = false;
    struct work w;

    while (next_action(x, MARK_RUNS, &place, &w))
        any |= settle_doubt(x, &w, plan_fails_fast(plan_of(x)));
    return any && unknown_policy(x->t) == UNKNOWN_STOP;
}

/* The process that asked for them is gone. */
static void request_approvals_again(struct tt *x)
{
    uint32_t place = 0;
    struct work w;

    while (plan_of(x)->approvals && next_action(x, MARK_OPEN, &place, &w)) {
        struct admission a;

        if (w.at != AT_APPROVAL)
            continue;
        admit_work(x, &w, &a);
        request_approval(x, &w, &a.verdict);
    }
}

/* Those that may run twice do; the outcome of the others is unknown. */
void resume_actions(struct tt *x)
{
    if (!plan_of(x)->started)
        return;
    if (settle_doubts(x)) {
        stop_for(x, STR("policy"), STR("unknown_outcome"),
                 STR("the outcome of an action is not known, and the "
                     "policy is to stop then"));
        return;
    }
    restart_lost_actions(x);
    request_approvals_again(x);
}

void resume_plan(struct tt *x)
{
    resume_actions(x);
    if (x->t->stop.outcome == WEND_OUTCOME_NONE)
        run_plan(x);
}

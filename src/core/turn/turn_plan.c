/*
 * turn_plan.c - what the events of plans and of children do to a turn.
 *
 * A run may be a plan; or its model writes plans, one at a time, each the
 * arguments of a call of the tool `plan`:
 *
 *     plan_start (call)  the plan is open: it has no action yet
 *     plan_action        it has one more, which may start
 *     call_start (plan)  it is complete; or it is invalid, see plan.wrong
 *     plan_end, call_end as for any plan and any call
 *
 * The outputs of earlier plans are inputs of the next one.
 */
#include "base/utf8.h"
#include "core/turn/turn.h"

enum { WHY_BYTES_MAX = 300 }; /* of a failure, in what the run says */

uint32_t tool_labels(const struct tool *tool)
{
    return tool ? tool->labels : 0;
}

void turn_take_labels(struct turn *t, wend_str labels_json,
                      const struct keep *k)
{
    struct arena scratch = {.mem = k->arena->mem};

    if (labels_json.ptr)
        t->labels |= labels_read(json_parse(labels_json, &scratch, NULL));
    k->arena->failed |= scratch.failed;
    arena_free(&scratch);
}

struct plan *turn_new_plan(const struct turn *t, wend_str name, struct arena *a)
{
    const struct plan_state *p = &t->plan;
    uint32_t count = p->started ? p->values.count : 0;
    struct plan_set *sets = arena_alloc(a, (count + 1) * sizeof *sets);
    struct plan *plan = NULL;
    size_t n = 0;

    for (uint32_t i = 0; sets && i < count; i++) {
        const wend_str *value = pvec_get(&p->values, i);

        if (value)
            sets[n++] = (struct plan_set){.name = p->plan->keys.list[i],
                                          .value = *value};
    }
    if (!sets || plan_open(name, sets, n, a, &plan, NULL) != WEND_OK)
        return NULL;
    return plan;
}

void turn_on_plan_start(struct turn *t, const wend_event *ev,
                        const struct keep *k)
{
    const wend_ev_plan_start *e = &ev->u.plan_start;
    const struct plan_state before = t->plan;

    if (e->call.ptr) { /* a model writes it */
        struct plan *plan = turn_new_plan(t, e->plan, k->arena);

        if (!plan) {
            k->arena->failed = true;
            return;
        }
        plan->max_parallel = e->max_parallel;
        t->plan = (struct plan_state){.plan = plan};
        t->plan_call = arena_str(k->arena, e->call);
        t->plans++;
    } else if (t->plan.plan) {
        t->phase = PH_PLAN;
    }
    plan_begin(&t->plan, ev, k->arena);
    if (e->call.ptr && t->plan.started)
        plan_keep_parts(&t->plan, &before, k->arena);
}

void turn_on_plan_action(struct turn *t, const wend_event *ev,
                         const struct keep *k)
{
    const wend_ev_plan_action *e = &ev->u.plan_action;
    struct plan_options o = {.sets_count = 0};
    struct plan *plan = NULL;
    wend_status s;

    if (!turn_plan_open(t))
        return;
    if (e->learned && e->estimate_ms >= 0 && e->estimate_ms <= LEARNED_MS_MAX)
        o.learned_ms = &e->estimate_ms;
    s = plan_add(t->plan.plan, e->action_json, &o, k->arena, &plan, NULL);
    if (s == WEND_OK)
        plan_grow(&t->plan, plan, k->arena);
    else if (s == WEND_E_NOMEM)
        k->arena->failed = true; /* other errors are a damaged log's */
}

/* What a tool that ran may have brought into the run, and what came with a
 * value that was kept. */
void turn_on_action_end(struct turn *t, const wend_event *ev,
                        const struct keep *k)
{
    const wend_ev_action_end *e = &ev->u.action_end;
    uint32_t i =
        t->plan.started ? plan_find(t->plan.plan, e->action) : PLAN_NONE;

    /* It runs again; or a forged log ends it twice. */
    if (e->outcome == WEND_OUTCOME_SUPERSEDED ||
        (i != PLAN_NONE && plan_action_state(&t->plan, i)->at == AT_ENDED)) {
        plan_evolve(&t->plan, ev, k->arena);
        return;
    }
    if (i != PLAN_NONE && e->outcome != WEND_OUTCOME_SKIPPED &&
        e->outcome != WEND_OUTCOME_DENIED &&
        !plan_action_state(&t->plan, i)->refused)
        t->labels |= tool_labels(turn_action_tool(t, i));
    turn_take_labels(t, e->labels_json, k);
    t->metrics.actions++;
    t->metrics_due |= t->plan.ended; /* one that was forgotten */
    plan_evolve(&t->plan, ev, k->arena);
}

static void note_failure(struct turn *t, wend_str why, const struct keep *k)
{
    t->plan_failures++;
    t->plan_why =
        arena_str(k->arena, (wend_str){why.ptr, utf8_cut(why, WHY_BYTES_MAX)});
}

void turn_on_plan_end(struct turn *t, const wend_event *ev,
                      const struct keep *k)
{
    plan_evolve(&t->plan, ev, k->arena);
    t->metrics_due = true;
    if (t->plan.plan && !t->plan.plan->written &&
        ev->u.plan_end.outcome == WEND_OUTCOME_FAILED)
        note_failure(t, t->plan.cause, k);
}

static void set_wrong(struct turn *t, wend_str why, const struct keep *k)
{
    if (!t->plan.wrong.ptr)
        t->plan.wrong = arena_str(k->arena, why);
}

void turn_on_plan_call(struct turn *t, wend_str call, const struct keep *k)
{
    struct plan *plan = NULL;
    wend_error why = {0};
    wend_status s = WEND_E_PARSE;

    if (!turn_plan_open(t) || !str_eq(call, t->plan_call))
        return;
    if (!t->plan.wrong.ptr)
        s = plan_finish(t->plan.plan, k->arena, &plan, &why);
    if (s == WEND_E_NOMEM) {
        k->arena->failed = true;
    } else if (s != WEND_OK) {
        set_wrong(t, str_of(why.message), k);
        t->plan.plan = plan_close(t->plan.plan, k->arena);
    } else {
        plan_grow(&t->plan, plan, k->arena);
    }
}

void turn_on_plan_cut(struct turn *t, const struct keep *k)
{
    set_wrong(t,
              STR("the message broke off before the plan was complete; what "
                  "had not started does not run"),
              k);
}

void turn_on_plan_result(struct turn *t, const wend_ev_call_end *e,
                         const struct keep *k)
{
    bool ran = t->plan_call.ptr && str_eq(t->plan_call, e->call);

    if (e->outcome == WEND_OUTCOME_OK)
        t->plan_failures = 0;
    else
        note_failure(t,
                     ran && t->plan.wrong.ptr ? t->plan.wrong
                     : ran && t->plan.broken  ? t->plan.cause
                                              : str_or(e->output, ""),
                     k);
}

void turn_on_action_retry(struct turn *t, const wend_event *ev,
                          const struct keep *k)
{
    const wend_ev_action_retry *e = &ev->u.action_retry;
    const struct plan *p = t->plan.plan;
    uint32_t i = p ? plan_find(p, e->action) : PLAN_NONE;

    if (i != PLAN_NONE)
        turn_take_dropped(t, turn_target_model(t, p->actions[i]->target),
                          e->dropped_json, k);
    plan_evolve(&t->plan, ev, k->arena);
}

void turn_on_warning(struct turn *t, const wend_event *ev, const struct keep *k)
{
    const wend_ev_warning *e = &ev->u.warning;
    static const char *const stops[] = {"no_actions", "no_progress"};

    t->repair |= str_is(e->code, "answer_invalid");
    if (!t->config->plan_tool)
        return;
    if (str_index(e->code, stops, 2) >= 0)
        t->plan_stop = arena_str(k->arena, e->code);
    if (turn_plan_open(t) &&
        (str_is(e->code, "plan_invalid") || str_is(e->code, "no_progress")))
        set_wrong(t, e->message, k);
}

/* ---- Children: runs that calls and actions wait for ---------------------- */

static void set_of_call(struct turn *t, uint32_t i, wend_str child,
                        const struct keep *k)
{
    struct call_state *s = turn_change_call(t, i, k);

    if (s)
        s->child = child;
}

static void set_of_action(struct plan_state *p, uint32_t i, wend_str child,
                          bool left, struct arena *a)
{
    const struct action_state *before = plan_action_state(p, i);
    struct action_state *s;

    if (before->at != AT_RUNS && before->at != AT_LOST)
        return; /* a damaged log may say so */
    s = arena_alloc(a, sizeof *s);
    if (!s)
        return;
    *s = *before;
    s->child = child;
    s->left = left;
    pvec_set(&p->actions, p->place[i], s, 1U << MARK_RUNS, a);
}

void turn_child_start(struct turn *t, const wend_event *ev,
                      const struct keep *k)
{
    const wend_ev_child_start *e = &ev->u.child_start;
    wend_str run = arena_str(k->arena, e->run.ptr ? e->run : STR(""));
    uint32_t i = e->action.ptr && t->plan.started
                     ? plan_find(t->plan.plan, e->action)
                     : PLAN_NONE;
    int call = e->call.ptr ? turn_call_index(t, e->call) : -1;

    if (i != PLAN_NONE)
        set_of_action(&t->plan, i, run, false, k->arena);
    else if (call >= 0 && turn_call_runs(t, (uint32_t)call))
        set_of_call(t, (uint32_t)call, run, k);
    turn_continue(t, e, k);
}

static bool take_from_actions(struct turn *t, const wend_ev_child_end *e,
                              const struct keep *k)
{
    uint32_t place = 0, i;

    while (t->plan.started &&
           (i = plan_marked(&t->plan, MARK_RUNS, &place)) != PLAN_NONE)
        if (str_eq(plan_action_state(&t->plan, i)->child, e->run)) {
            set_of_action(&t->plan, i, STR_NONE, true, k->arena);
            return true;
        }
    return false;
}

static bool take_from_calls(struct turn *t, wend_str run, const struct keep *k)
{
    for (const struct call *c = t->calls; c; c = c->prev)
        if (str_eq(turn_call_state(t, c->index)->child, run)) {
            set_of_call(t, c->index, STR_NONE, k);
            return true;
        }
    return false;
}

void turn_child_end(struct turn *t, const wend_event *ev, const struct keep *k)
{
    const wend_ev_child_end *e = &ev->u.child_end;
    const struct unfinished *u = turn_continued(t, e->run);
    wend_ev_metrics more =
        u ? metrics_more(&e->metrics, &u->metrics) : e->metrics;

    if (!e->run.ptr ||
        (!take_from_actions(t, e, k) && !take_from_calls(t, e->run, k)))
        return; /* counted before, or never begun */
    metrics_add(&t->metrics, &more);
    t->unpriced |= e->metrics.cost_nano < 0;
    turn_take_labels(t, e->labels_json, k);
}

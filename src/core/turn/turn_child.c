/*
 * turn_child.c - runs that calls and actions wait for: what follows from
 * their brackets.
 */
#include "core/turn/turn.h"

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
}

/* The parent counts what the child used, but not its time. */
static void count(wend_ev_metrics *m, const wend_ev_metrics *more)
{
    spend(&m->model_calls, more->model_calls);
    spend(&m->tool_calls, more->tool_calls);
    spend(&m->tool_errors, more->tool_errors);
    spend(&m->tokens_in, more->tokens_in);
    spend(&m->tokens_out, more->tokens_out);
    spend(&m->tokens_cached, more->tokens_cached);
    spend(&m->cost_nano, more->cost_nano);
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

void turn_take_labels(struct turn *t, wend_str labels_json,
                      const struct keep *k)
{
    struct arena scratch = {.mem = k->arena->mem};

    if (labels_json.ptr)
        t->labels |= labels_read(json_parse(labels_json, &scratch, NULL));
    k->arena->failed |= scratch.failed;
    arena_free(&scratch);
}

void turn_child_end(struct turn *t, const wend_event *ev, const struct keep *k)
{
    const wend_ev_child_end *e = &ev->u.child_end;

    if (!e->run.ptr ||
        (!take_from_actions(t, e, k) && !take_from_calls(t, e->run, k)))
        return; /* counted before, or never begun */
    count(&t->metrics, &e->metrics);
    turn_take_labels(t, e->labels_json, k);
}

/*
 * plant_plan.c - bugs on purpose, of plans and of forks.
 */
#include "plant_plan.h"
#include "plant_step.h"

void repeat_action_end(struct sim *s, struct step *step)
{
    repeat(s, step, WEND_ACTION_END);
}

void repeat_action_start(struct sim *s, struct step *step)
{
    repeat(s, step, WEND_ACTION_START);
}

/* The attempt that was cut off has no end. */
void forget_superseded_action(struct sim *s, struct step *step)
{
    struct step_event **at = &step->events;

    while (*at && !((*at)->ev.type == WEND_ACTION_END &&
                    (*at)->ev.u.action_end.outcome == WEND_OUTCOME_SUPERSEDED))
        at = &(*at)->next;
    if (!*at)
        return;
    *at = (*at)->next;
    recount(s, step);
}

void miscount_plan(struct sim *s, struct step *step)
{
    struct step_event *e = *find_event(step, WEND_PLAN_END);

    (void)s;
    if (e)
        e->ev.u.plan_end.ok++;
}

/* The last one, whatever it waits for. */
void start_another(struct sim *s, struct step *step)
{
    struct step_event *e = *find_event(step, WEND_ACTION_START);
    uint32_t last = s->made.count - 1;

    if (!e || !s->made.a[last].deps || s->book.plan.a[last].started)
        return;
    e->ev.u.action_start.action = step->turn.plan.plan->actions[last]->id;
    recount(s, step);
}

void skip_for_nothing(struct sim *s, struct step *step)
{
    struct step_event *e = *find_event(step, WEND_ACTION_END);

    if (!e || e->ev.u.action_end.outcome != WEND_OUTCOME_SKIPPED)
        return;
    e->ev.u.action_end.reason = STR("condition");
    recount(s, step);
}

void make_up_action(struct sim *s, struct step *step)
{
    struct step_event *e = *find_event(step, WEND_ACTION_END);

    if (!e || e->ev.u.action_end.outcome != WEND_OUTCOME_UNKNOWN)
        return;
    e->ev.u.action_end.outcome = WEND_OUTCOME_CANCELED;
    recount(s, step);
}

void forget_action_child(struct sim *s, struct step *step)
{
    forget(s, step, WEND_CHILD_END);
}

void lose_action(struct sim *s, struct step *step)
{
    struct effect **at = find_effect(step, FX_RUN_ACTION);

    (void)s;
    if (*at)
        *at = (*at)->next;
}

void run_action_twice(struct sim *s, struct step *step)
{
    struct effect *fx = *find_effect(step, FX_RUN_ACTION), *copy;

    (void)s;
    if (!fx)
        return;
    copy = arena_alloc(step->scratch, sizeof *copy);
    *copy = *fx;
    fx->next = copy;
}

/* ---- Bent: a plan that is not the one that was written ------------------- */

static struct plan *bend_plan(struct sim *s, struct turn *t)
{
    if (!t->plan.plan)
        return NULL;
    s->bent_plan = *t->plan.plan;
    t->plan.plan = &s->bent_plan;
    return &s->bent_plan;
}

void bend_slots(struct sim *s, struct turn *t, struct input *in)
{
    struct plan *p = bend_plan(s, t);

    (void)in;
    t->limits.parallel++;
    if (p && p->max_parallel)
        p->max_parallel++;
}

void bend_fewer(struct sim *s, struct turn *t, struct input *in)
{
    struct plan *p = bend_plan(s, t);

    (void)in;
    if (p && p->max_parallel)
        p->max_parallel = 1;
}

void bend_holding(struct sim *s, struct turn *t, struct input *in)
{
    (void)s, (void)in;
    t->plan.holding = 0;
}

/* A result comes without its files. */
void bend_files(struct sim *s, struct turn *t, struct input *in)
{
    (void)s;
    (void)t;
    if (in->kind == IN_ACTION_DONE)
        in->done.parts_count = 0;
}

void bend_effect(struct sim *s, struct turn *t, struct input *in)
{
    (void)s, (void)t;
    if (in->kind == IN_ACTION_DONE)
        in->done.effect_possible = false;
}

/* ---- Of forks ------------------------------------------------------------ */

/* What both have is changed in place. */
void edit_past(struct sim *s, struct step *step)
{
    (void)step;
    if (s->parent_state.len && s->parent.history)
        ((struct msg *)(uintptr_t)s->parent.history)->text = STR("edited");
}

void edit_plan(struct sim *s, struct step *step)
{
    (void)step;
    if (s->parent_state.len && s->parent.plan.started)
        ((struct action_state *)(uintptr_t)plan_action_state(&s->parent.plan,
                                                             0))
            ->attempt++;
}

/* A call that was open where it begins is forgotten. */
void forget_after_fork(struct sim *s, struct step *step)
{
    if (s->book.forked && *find_event(step, WEND_RUN_RESUME))
        forget(s, step, WEND_CALL_START);
}

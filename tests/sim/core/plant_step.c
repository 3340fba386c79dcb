/*
 * plant_step.c - bugs on purpose: changing a step after it was decided.
 */
#include "plant_step.h"

struct step_event **find_event(struct step *step, wend_event_type type)
{
    struct step_event **at = &step->events;

    while (*at && (*at)->ev.type != type)
        at = &(*at)->next;
    return at;
}

/* As if the core had decided just these events. */
void recount(struct sim *s, struct step *step)
{
    struct turn t = s->turn;

    for (struct step_event *e = step->events; e; e = e->next) {
        e->ev.seq = t.seq + 1;
        turn_apply(&t, &e->ev, step->keep);
    }
    step->turn = t;
}

void forget(struct sim *s, struct step *step, wend_event_type type)
{
    struct step_event **at = find_event(step, type);

    if (!*at)
        return;
    *at = (*at)->next;
    recount(s, step);
}

void repeat(struct sim *s, struct step *step, wend_event_type type)
{
    struct step_event *e = *find_event(step, type), *copy;

    if (!e)
        return;
    copy = arena_alloc(step->scratch, sizeof *copy);
    *copy = *e;
    e->next = copy;
    recount(s, step);
}

struct effect **find_effect(struct step *step, enum effect_kind kind)
{
    struct effect **at = &step->effects;

    while (*at && (*at)->kind != kind)
        at = &(*at)->next;
    return at;
}

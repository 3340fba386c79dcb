/*
 * stage.c - programs that are only played: what each has and how it goes.
 */
#include "stage.h"

void said_free(struct said *l)
{
    struct said **link = &l->of->said_later;

    while (*link != l)
        link = &(*link)->next;
    *link = l->next;
    world_clear(&l->of->stage->sim->world, &l->event);
    buf_free(&l->text);
    free(l);
}

void act_gone(struct act *a)
{
    struct act **link = &a->stage->live;

    while (*link != a)
        link = &(*link)->next;
    *link = a->next;
    world_clear(&a->stage->sim->world, &a->event);
    while (a->said_later)
        said_free(a->said_later);
    buf_free(&a->heard);
    free(a);
}

void tell_exit(struct act *a, enum proc_how how, int code, const char *message)
{
    struct proc_end end = {.how = how, .code = code, .message = message};

    a->ended = a->inside = true;
    trace(a->stage->sim, "%s %u: a program ends: %d %s",
          a->of ? "run" : "server", a->of ? a->of->place : 0, (int)how,
          message);
    if (a->of)
        a->stage->sim->head.counters->program_ends[how]++;
    a->events.end(a->ctx, &end);
    a->inside = false;
    if (a->freed)
        act_gone(a);
}

void again_in(struct act *a, int64_t ms)
{
    struct world *w = &a->stage->sim->world;

    world_at(w, &a->event, w->clock_us + ms * 1000);
}

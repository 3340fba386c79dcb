/*
 * plant_past.c - bugs on purpose: a run that follows is told something else.
 */
#include "plant_past.h"

/* The newest message is lost. */
void settle_less(struct turn *t, const struct keep *k)
{
    (void)k;
    if (t->history)
        t->history = t->history->prev;
}

/* What was said but not sent is added twice. */
void settle_twice(struct turn *t, const struct keep *k)
{
    struct msg *copy = t->history && t->history->role == ROLE_USER
                           ? arena_alloc(k->arena, sizeof *copy)
                           : NULL;

    if (!copy)
        return;
    *copy = *t->history;
    turn_history_add(t, copy);
}

void settle_refused(struct turn *t, const struct keep *k)
{
    (void)k;
    t->refusals = NULL;
}

void settle_labels(struct turn *t, const struct keep *k)
{
    (void)k;
    t->labels = 0;
}

void settle_fold(struct turn *t, const struct keep *k)
{
    (void)k;
    t->fold = false;
}

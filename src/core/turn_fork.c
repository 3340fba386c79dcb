/*
 * turn_fork.c - a run's state as it goes on in a fork, maybe with another
 * model, other tools or limits.
 *
 * All that was so at that event stays so, but what belongs to the parent
 * alone: its name, its clock, what stopped or paused it, and whoever ran
 * the calls that were open.
 */
#include "core/turn.h"

bool turn_take_config(struct turn *t, wend_str json, const struct keep *k)
{
    struct config *c = NULL;

    if (k->known && str_eq(k->known->json, json)) {
        t->config = k->known;
    } else if (config_parse(json, k->arena, &c, NULL) == WEND_OK) {
        t->config = c;
    } else {
        k->arena->failed = true;
        return false;
    }
    return true;
}

void turn_lose_calls(struct turn *t)
{
    for (uint32_t i = 0; i < t->calls_count; i++)
        if (turn_call_runs(t, i) && (int)i != turn_plan_call(t))
            bit_set(&t->lost, i);
}

/* What a request begins with is part of every prefix after it. */
static void seal_again(struct turn *t, const struct keep *k)
{
    size_t count = t->history ? (size_t)t->history->index + 1 : 0;
    struct msg *list = arena_alloc(k->arena, (count + 1) * sizeof *list);
    size_t i = count;

    if (!list)
        return;
    for (const struct msg *m = t->history; m && i; m = m->prev)
        list[--i] = *m;
    t->history = NULL;
    for (i = 0; i < count; i++)
        turn_history_add(t, &list[i]);
}

void turn_fork(struct turn *t, const wend_event *ev, const struct keep *k)
{
    const wend_ev_run_fork *e = &ev->u.run_fork;

    t->run = arena_str(k->arena, ev->run);
    t->started_us = ev->time_us;
    t->stop = (struct stop){0};
    t->paused = t->paused_above = false;
    t->forked = true;
    if (e->limits)
        t->limits = *e->limits;
    if (e->config_json.ptr) {
        if (!turn_take_config(t, e->config_json, k))
            return;
        t->reconfigured = true;
        if (t->model_at >= t->config->models_count) /* no fork of ours */
            t->model_at = 0;
        seal_again(t, k);
    }
    if (e->model.ptr) {
        t->model = arena_str(k->arena, e->model);
        t->model_at = 0;
    }
    turn_lose_calls(t);
    plan_evolve(&t->plan, ev, k->arena);
}

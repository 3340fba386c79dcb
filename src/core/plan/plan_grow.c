/*
 * plan_grow.c - the beginning of a plan, and of each action that joins it.
 *
 * A plan that a model is writing gets one action at a time while others of
 * it run. The state of an action stays; only those that had to wait for an
 * action not yet written are looked at again.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "core/plan/plan_state.h"

/* ---- Places -------------------------------------------------------------- */

struct placed {
    int64_t priority, rank;
    uint32_t index;
    bool free; /* takes no slot, so it never waits behind one that does */
};

static int by_place(const void *va, const void *vb)
{
    const struct placed *a = va, *b = vb;

    if (a->free != b->free)
        return a->free ? -1 : 1;
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Best first, once: among the ready the first one starts. */
static bool find_places(struct plan_state *p, struct arena *a)
{
    const struct plan *plan = p->plan;
    struct arena scratch = {.mem = a->mem};
    size_t room = plan->count + 1;
    struct placed *list = arena_alloc(&scratch, room * sizeof *list);
    uint32_t *place = arena_alloc(a, room * sizeof *place);
    uint32_t *action = arena_alloc(a, room * sizeof *action);
    const int64_t *rank = plan_learned_rank(plan, p->learned_ms, &scratch);
    bool ok = list && place && action && rank;

    for (uint32_t i = 0; ok && i < plan->count; i++)
        list[i] = (struct placed){plan->actions[i]->priority, rank[i], i,
                                  plan->actions[i]->type == ACTION_DECISION};
    if (ok)
        qsort(list, plan->count, sizeof *list, by_place);
    for (uint32_t i = 0; ok && i < plan->count; i++) {
        action[i] = list[i].index;
        place[list[i].index] = i;
    }
    p->place = place;
    p->action = action;
    a->failed |= !ok;
    arena_free(&scratch);
    return ok;
}

bool plan_room(struct plan_state *p, struct arena *a)
{
    if (!find_places(p, a))
        return false;
    pvec_make(&p->actions, p->plan->count, NULL, a);
    pvec_make(&p->values, p->plan->keys.count, NULL, a);
    return !a->failed;
}

/* ---- Files of values ----------------------------------------------------- */

void plan_set_parts(struct plan_state *p, uint32_t slot,
                    const struct plan_parts *parts, struct arena *a)
{
    if (parts && !p->parts.count)
        pvec_make(&p->parts, p->plan->keys.count, NULL, a);
    if (p->parts.count && !a->failed)
        pvec_set(&p->parts, slot, parts, 0, a);
}

void plan_keep_parts(struct plan_state *p, const struct plan_state *old,
                     struct arena *a)
{
    for (uint32_t i = 0; i < old->parts.count && !a->failed; i++) {
        const struct plan_parts *parts = plan_parts_of(old, i);
        uint32_t slot =
            parts ? names_find(&p->plan->keys, old->plan->keys.list[i])
                  : NAME_NONE;

        if (slot != NAME_NONE && pvec_get(&p->values, slot))
            plan_set_parts(p, slot, parts, a);
    }
}

/* ---- Actions ------------------------------------------------------------- */

static const struct action_state *state_if_any(const struct plan_state *p,
                                               uint32_t i)
{
    return i == PLAN_NONE ? NULL : pvec_get(&p->actions, p->place[i]);
}

/* The action that it is the fallback for may have ended before all was written:
 * failed, and waits for it; or skipped by a decision, and needs it no more. */
static void look_at_main(const struct plan_state *p, uint32_t i,
                         struct action_state *s)
{
    uint32_t of = p->plan->graph.fallback_of[i];
    const struct action_state *main = state_if_any(p, of);

    s->triggered = of == PLAN_NONE || (main && main->at == AT_ENDED);
    if (!main || main->counts == WEND_OUTCOME_NONE)
        return;
    s->at = AT_SKIPS;
    s->reason = STR("not_needed");
}

/* How many may still give a value that i refers to. */
static uint32_t values_to_come(const struct plan_state *p, uint32_t i)
{
    const struct plan_graph *g = &p->plan->graph;
    uint32_t count = 0;

    for (uint32_t k = g->values_at[i]; k < g->values_at[i + 1]; k++) {
        const struct action_state *by = state_if_any(p, g->values[k]);

        count += !by || by->counts == WEND_OUTCOME_NONE;
    }
    return count;
}

/* As if it had been there from the start: some that it waits for may count
 * already. */
static void begin_action(struct plan_state *p, uint32_t i, struct arena *a)
{
    const struct plan_graph *g = &p->plan->graph;
    struct action_state *s = arena_alloc(a, sizeof *s);

    if (!s)
        return;
    look_at_main(p, i, s);
    s->values = values_to_come(p, i);
    for (uint32_t d = g->deps_at[i]; d < g->deps_at[i + 1]; d++) {
        const struct action_state *dep = state_if_any(p, g->deps[d]);
        wend_outcome how = dep ? dep->counts : WEND_OUTCOME_NONE;

        s->waits += how == WEND_OUTCOME_NONE;
        s->oks += how == WEND_OUTCOME_OK;
        s->fails += how == WEND_OUTCOME_FAILED;
    }
    if (s->at == AT_WAITS && (!s->waits || s->oks || s->fails))
        plan_look_at_deps(p, i, s, a);
    plan_keep_state(p, i, s, NULL);
}

/* An action that was added may provide a value that i refers to. */
static void count_values(struct plan_state *p, uint32_t i, struct arena *a)
{
    uint32_t values = values_to_come(p, i);
    struct action_state *s;

    if (values == plan_action_state(p, i)->values)
        return;
    s = arena_alloc(a, sizeof *s);
    if (!s)
        return;
    *s = *plan_action_state(p, i);
    s->values = values;
    if (!values)
        plan_look_at_deps(p, i, s, a);
    plan_keep_state(p, i, s, NULL);
}

void plan_begin(struct plan_state *p, const wend_event *ev, struct arena *a)
{
    const struct plan *plan = p->plan;

    if (!plan || p->started)
        return;
    p->learned_ms = plan_learned_of(plan, ev->u.plan_start.actions_json, a);
    if (!plan_room(p, a))
        return;
    for (uint32_t slot = 0; slot < plan->keys.count; slot++)
        if (plan->inputs[slot].ptr)
            pvec_set(&p->values, slot, &plan->inputs[slot], 0, NULL);
    p->started = true;
    p->started_us = ev->time_us;
    p->left = plan->count;
    p->pace =
        (struct plan_pace){.slots = PLAN_PACE_FIRST, .from_us = ev->time_us};
    for (uint32_t i = 0; !a->failed && i < plan->count; i++)
        begin_action(p, i, a);
}

/* An input whose name an action has taken has no value until that ends. */
static void keep_values(struct plan_state *p, const struct plan_state *old)
{
    for (uint32_t slot = 0; slot < old->values.count; slot++) {
        const void *value = pvec_get(&old->values, slot);

        if (value &&
            (!old->plan->inputs[slot].ptr || p->plan->inputs[slot].ptr))
            pvec_set(&p->values, slot, value, 0, NULL);
    }
}

void plan_grow(struct plan_state *p, const struct plan *plan, struct arena *a)
{
    const struct plan_state old = *p;

    assert(plan->count >= old.plan->count); /* nothing is taken back */
    p->plan = plan;
    if (!plan_room(p, a))
        return;
    keep_values(p, &old);
    p->parts = (struct pvec){0};
    plan_keep_parts(p, &old, a);
    for (uint32_t i = 0; i < old.plan->count; i++) {
        const struct action_state *s = plan_action_state(&old, i);

        if (old.plan->whole[i] || s->at >= AT_APPROVAL)
            plan_keep_state(p, i, s, NULL);
    }
    for (uint32_t i = 0; !a->failed && i < plan->count; i++)
        if (!pvec_get(&p->actions, p->place[i]))
            begin_action(p, i, a);
        else if (plan_action_state(p, i)->at == AT_WAITS)
            count_values(p, i, a);
    p->left += plan->count - old.plan->count;
}

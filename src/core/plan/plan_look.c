/*
 * plan_look.c - asking how far a plan is; nothing changes here.
 */
#include "core/plan/plan_state.h"

const struct action_state *plan_action_state(const struct plan_state *p,
                                             uint32_t i)
{
    return pvec_get(&p->actions, p->place[i]);
}

uint32_t plan_marked(const struct plan_state *p, unsigned mark, uint32_t *place)
{
    uint32_t at = pvec_next(&p->actions, mark, *place);

    if (at == PVEC_NONE)
        return PLAN_NONE;
    *place = at + 1;
    return p->action[at];
}

uint32_t plan_slots(const struct plan_state *p)
{
    return p->plan->max_parallel ? (uint32_t)p->plan->max_parallel
                                 : p->pace.slots;
}

bool plan_fails_fast(const struct plan_state *p)
{
    return p->broken && p->plan->fail_fast;
}

static bool scope_room(const struct plan_state *p, struct arena *a,
                       struct scope *out, wend_str **values)
{
    size_t room = p->plan->keys.count + 1;

    *values = arena_alloc(a, room * sizeof **values);
    *out = (struct scope){
        .values = *values,
        .trees = arena_alloc(a, room * sizeof *out->trees),
        .arena = a,
        .missing_null = p->plan->missing_null,
    };
    return *values && out->trees;
}

static wend_str value_of(const struct plan_state *p, uint32_t slot)
{
    const wend_str *v =
        slot < p->values.count ? pvec_get(&p->values, slot) : NULL;

    return v ? *v : STR_NONE;
}

const struct plan_parts *plan_parts_of(const struct plan_state *p,
                                       uint32_t slot)
{
    return slot < p->parts.count ? pvec_get(&p->parts, slot) : NULL;
}

bool plan_scope(const struct plan_state *p, const struct ref *refs,
                struct arena *a, struct scope *out)
{
    wend_str *values;

    if (!scope_room(p, a, out, &values))
        return false;
    for (const struct ref *r = refs; r; r = r->next)
        values[r->slot] = value_of(p, r->slot);
    return true;
}

bool plan_scope_all(const struct plan_state *p, struct arena *a,
                    struct scope *out)
{
    wend_str *values;

    if (!scope_room(p, a, out, &values))
        return false;
    for (uint32_t slot = 0; slot < p->plan->keys.count; slot++)
        values[slot] = value_of(p, slot);
    return true;
}

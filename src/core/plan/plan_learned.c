/*
 * plan_learned.c - what actions took in the past, in the place of what is
 * declared.
 *
 * The numbers come from a store, so they enter with the start of a run and
 * stand in plan_start: every reader of the log orders the actions in the same
 * way.
 */
#include <stdlib.h>
#include <string.h>

#include "core/plan/plan_state.h"

/* ---- Looking it up ------------------------------------------------------- */

wend_str plan_past_key(char room[LEARNED_KEY_MAX], const struct plan_action *a,
                       wend_str model)
{
    bool by_default = a->type == ACTION_LLM && str_is(a->target, "default");
    wend_str type = str_of(action_type_names[a->type]);
    wend_str target = by_default ? model : a->target;
    size_t len = type.len + 1 + target.len;

    if (len > LEARNED_KEY_MAX)
        return STR_NONE;
    memcpy(room, type.ptr, type.len);
    room[type.len] = ' ';
    if (target.len)
        memcpy(room + type.len + 1, target.ptr, target.len);
    return (wend_str){room, len};
}

int plan_past_order(const void *known_a, const void *known_b)
{
    const struct plan_known *a = known_a, *b = known_b;

    return str_order(a->key, b->key);
}

const struct plan_learned *plan_past_get(const struct plan_past *past,
                                         wend_str key)
{
    const struct plan_known wanted = {.key = key}, *known = NULL;

    if (key.ptr && past->count)
        known = bsearch(&wanted, past->list, past->count, sizeof wanted,
                        plan_past_order);
    return known ? &known->learned : NULL;
}

const struct plan_learned *plan_past_find(const struct plan_past *past,
                                          const struct plan_action *a)
{
    char room[LEARNED_KEY_MAX];

    return plan_past_get(past, plan_past_key(room, a, past->model));
}

/* ---- What counts for the order ------------------------------------------- */

/* What counts for the order: at least 1, so that more steps are longer. */
static int64_t expected(const struct plan *p, const int64_t *learned_ms,
                        uint32_t i)
{
    int64_t ms = learned_ms && learned_ms[i] >= 0 ? learned_ms[i]
                                                  : p->actions[i]->estimate_ms;

    return ms > 0 ? ms : 1;
}

const int64_t *plan_learned_rank(const struct plan *p,
                                 const int64_t *learned_ms, struct arena *a)
{
    int64_t *ms;

    if (!learned_ms)
        return p->graph.rank;
    ms = arena_alloc(a, ((size_t)p->count + 1) * sizeof *ms);
    for (uint32_t i = 0; ms && i < p->count; i++)
        ms[i] = expected(p, learned_ms, i);
    return ms ? plan_rank(p, ms, a) : NULL;
}

/* Names are escaped: no action can look like this. */
static bool any_learned(wend_str actions)
{
    static const char mark[] = "\"learned\":true";

    return actions.len &&
           memmem(actions.ptr, actions.len, mark, sizeof mark - 1);
}

const int64_t *plan_learned_of(const struct plan *p, wend_str actions_json,
                               struct arena *a)
{
    struct arena scratch = {.mem = a->mem};
    const struct json *j, *list;
    int64_t *ms;

    if (!any_learned(actions_json))
        return NULL;
    list = json_parse_own(actions_json, &scratch, NULL);
    ms = arena_alloc(a, ((size_t)p->count + 1) * sizeof *ms);
    j = list ? list->first : NULL;
    for (uint32_t i = 0; ms && i < p->count; i++, j = j ? j->next : NULL) {
        const struct json *learned = json_get(j, "learned");

        ms[i] = -1;
        if (learned && learned->kind == JSON_TRUE &&
            (!json_i64(json_get(j, "estimate_ms"), &ms[i]) || ms[i] < 0 ||
             ms[i] > LEARNED_MS_MAX))
            ms[i] = -1;
    }
    a->failed |= scratch.failed;
    arena_free(&scratch);
    return ms;
}

bool plan_learned_totals(const struct plan *p, const struct plan_learned *l,
                         const struct mem *m, int64_t *sequential_ms,
                         int64_t *critical_ms, bool *critical)
{
    struct arena a = {.mem = m};
    int64_t *ms = arena_alloc(&a, ((size_t)p->count + 1) * sizeof *ms);
    const int64_t *rank;
    uint32_t first;

    *sequential_ms = *critical_ms = 0;
    for (uint32_t i = 0; ms && i < p->count; i++) {
        bool known = l[i].runs && l[i].ms >= 0;

        ms[i] = known ? l[i].ms : p->actions[i]->estimate_ms;
        if (ms[i] < 0)
            ms[i] = 0;
    }
    rank = ms ? plan_rank(p, ms, &a) : NULL;
    if (rank) {
        first = plan_totals(p, ms, rank, sequential_ms, critical_ms);
        if (critical)
            plan_mark_path(p, rank, first, critical);
    }
    arena_free(&a);
    return rank;
}

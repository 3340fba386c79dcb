/*
 * cost.h - money that may be unknown: USD * 10^-9, -1 = not known.
 *
 * A sum with an unknown part is unknown. Unknown is never shown or kept as 0.
 */
#ifndef BASE_COST_H
#define BASE_COST_H

#include "base/str.h"

static inline void cost_add(int64_t *sum, int64_t more)
{
    if (*sum < 0 || more < 0)
        *sum = -1;
    else if (__builtin_add_overflow(*sum, more, sum))
        *sum = INT64_MAX;
}

/* Nothing was used: that is free whatever the price. */
static inline int64_t cost_of_usage(const wend_ev_usage *u)
{
    return u->cost_nano >= 0 || u->input || u->output ? u->cost_nano : 0;
}

/* A server that counts no tokens tells no cost, and is paid all the same: what
 * it answered has an unknown cost. A request that brought nothing was free, and
 * so is the answer of a hook. What a crash cut off is charged by its usage. */
static inline int64_t cost_of_answer(const wend_ev_model_end *e)
{
    bool free = e->outcome == WEND_OUTCOME_SUPERSEDED ||
                str_is(e->finish, "hook") ||
                (e->outcome != WEND_OUTCOME_OK && !e->text.len &&
                 !e->thinking.len && !e->calls_count);

    return free ? cost_of_usage(&e->usage) : e->usage.cost_nano;
}

#endif

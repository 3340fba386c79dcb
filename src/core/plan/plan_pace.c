/*
 * plan_pace.c - how many actions at once, when the plan leaves it to us.
 */
#include "core/plan/plan_state.h"

static bool says_too_many(const wend_ev_error *e)
{
    return e && (str_is(e->code, "rate_limit") || str_is(e->code, "timeout"));
}

static void slow_down(struct plan_pace *w, int64_t now_us)
{
    *w = (struct plan_pace){.slots = w->slots > 1 ? w->slots / 2 : 1,
                            .from_us = now_us};
}

void plan_pace_end(struct plan_pace *w, const wend_ev_action_end *e,
                   int64_t now_us)
{
    int64_t took_us = now_us - w->from_us;
    bool faster;

    if (e->outcome == WEND_OUTCOME_TIMEOUT || says_too_many(e->error)) {
        slow_down(w, now_us);
        return;
    }
    if (++w->ended < w->slots)
        return;
    faster = !w->last_ended || (double)w->ended * (double)w->last_us >
                                   (double)w->last_ended * (double)took_us;
    if (faster && w->slots < PARALLEL_MAX)
        w->slots++;
    w->last_ended = w->ended;
    w->last_us = took_us;
    w->ended = 0;
    w->from_us = now_us;
}

void plan_pace_retry(struct plan_pace *w, const wend_ev_action_retry *e,
                     int64_t now_us)
{
    if (says_too_many(e->error))
        slow_down(w, now_us);
}

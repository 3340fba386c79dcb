/*
 * tt_put.h - what an event is about, and effects, in the lines of tt_help.h.
 */
#ifndef TESTS_TT_PUT_H
#define TESTS_TT_PUT_H

#include "core/event/event.h"
#include "core/turn/tt.h"

static inline void put_outcome(struct buf *b, wend_outcome outcome)
{
    if (outcome != WEND_OUTCOME_OK)
        buf_fmt(b, "(%s)", wend_outcome_name(outcome));
}

static inline void put_call(struct buf *b, wend_str call, wend_outcome outcome)
{
    buf_fmt(b, "(%.*s", (int)call.len, call.ptr);
    if (outcome != WEND_OUTCOME_OK)
        buf_fmt(b, ",%s", wend_outcome_name(outcome));
    buf_char(b, ')');
}

/* Its outcome, and the calls that the caller executes. */
static inline void put_run_end(struct buf *b, const wend_ev_run_end *e)
{
    buf_fmt(b, "(%s", wend_outcome_name(e->outcome));
    for (size_t i = 0; i < e->pending_count; i++)
        buf_fmt(b, ",%.*s", (int)e->pending[i].id.len, e->pending[i].id.ptr);
    buf_char(b, ')');
}

/* Of plans; false: it is about something else. */
static inline bool put_plan_event(struct buf *b, const wend_event *ev)
{
    if (ev->type == WEND_PLAN_START)
        put_call(b, ev->u.plan_start.plan, WEND_OUTCOME_OK);
    else if (ev->type == WEND_ACTION_START)
        put_call(b, ev->u.action_start.action, WEND_OUTCOME_OK);
    else if (ev->type == WEND_ACTION_END)
        put_call(b, ev->u.action_end.action, ev->u.action_end.outcome);
    else if (ev->type == WEND_PLAN_END)
        put_outcome(b, ev->u.plan_end.outcome);
    else if (ev->type == WEND_COMPACTED)
        put_call(b, ev->u.compacted.method, WEND_OUTCOME_OK);
    else if (ev->type == WEND_CHILD_START)
        put_call(b, ev->u.child_start.agent, WEND_OUTCOME_OK);
    else if (ev->type == WEND_CHILD_END)
        put_outcome(b, ev->u.child_end.outcome);
    else if (ev->type == WEND_WARNING &&
             (str_starts(ev->u.warning.code, "plan_") ||
              str_starts(ev->u.warning.code, "no_")))
        put_call(b, ev->u.warning.code, WEND_OUTCOME_OK);
    else
        return false;
    return true;
}

static inline void put_effect(struct buf *b, const struct effect *fx)
{
    static const char *const names[] = {
        [FX_ASK_MODEL] = "ask",     [FX_STOP_MODEL] = "stop_model",
        [FX_RUN_CALL] = "run",      [FX_STOP_CALL] = "stop",
        [FX_TIMER] = "timer",       [FX_HOOK] = "hook",
        [FX_RUN_ACTION] = "act",    [FX_STOP_ACTION] = "stop_act",
        [FX_START_CHILD] = "child",
    };
    static const char *const timers[] = {
        [TIMER_RUN] = "time",
        [TIMER_RETRY] = "retry",
        [TIMER_METRICS] = NULL, /* always there */
        [TIMER_STOP] = "patience",
    };

    if (fx->kind == FX_TIMER && !timers[fx->timer])
        return;
    buf_fmt(b, " +%s",
            fx->kind == FX_TIMER ? timers[fx->timer] : names[fx->kind]);
    if (fx->call)
        put_call(b, fx->call->id, WEND_OUTCOME_OK);
    else if (fx->kind == FX_RUN_ACTION || fx->kind == FX_STOP_ACTION)
        buf_fmt(b, "(%u)", fx->action);
}

#endif

/*
 * show.c - a step for people: what came in, the events, the effects.
 */
#include "show.h"

const char *const input_names[] = {
    [IN_START] = "start",
    [IN_HOOK] = "hook",
    [IN_SEALED] = "sealed",
    [IN_WRITTEN] = "written",
    [IN_WARN] = "warn",
    [IN_MODEL_DONE] = "model_done",
    [IN_MODEL_FAIL] = "model_fail",
    [IN_CALL_DONE] = "call_done",
    [IN_ACTION_DONE] = "action_done",
    [IN_APPROVAL] = "approval",
    [IN_TIMER] = "timer",
    [IN_CANCEL] = "cancel",
    [IN_STOP] = "stop",
    [IN_SAY] = "say",
    [IN_PAUSE] = "pause",
    [IN_CONTINUE] = "continue",
    [IN_COMPACT] = "compact",
    [IN_CHECKED] = "checked",
    [IN_RESUME] = "resume",
    [IN_UNENDED] = "unended",
    [IN_TROUBLE] = "trouble",
};

static const char *const effect_names[] = {
    [FX_ASK_MODEL] = "ask_model",
    [FX_STOP_MODEL] = "stop_model",
    [FX_RUN_CALL] = "run_call",
    [FX_STOP_CALL] = "stop_call",
    [FX_TIMER] = "timer",
    [FX_HOOK] = "hook",
    [FX_RUN_ACTION] = "run_action",
    [FX_STOP_ACTION] = "stop_action",
    [FX_START_CHILD] = "start_child",
};

static const char *const timer_names[] = {
    [TIMER_RUN] = "run",
    [TIMER_RETRY] = "retry",
    [TIMER_METRICS] = "metrics",
    [TIMER_STOP] = "stop",
};

enum { SHOWN_MAX = 1200 }; /* of a line; a long text tells nothing more */

/* Everything in it, so that equal lines mean equal effects. */
void put_effect(struct buf *b, const struct effect *fx)
{
    buf_fmt(b, "%s ask %lld turn %lld", effect_names[fx->kind],
            (long long)fx->ask, (long long)fx->turn);
    if (fx->kind == FX_TIMER)
        buf_fmt(b, " %s in %lld ms", timer_names[fx->timer],
                (long long)fx->delay_ms);
    if (fx->call)
        buf_fmt(b, " call %.*s", (int)fx->call->id.len, fx->call->id.ptr);
    if (fx->tool)
        buf_fmt(b, " tool %.*s", (int)fx->tool->name.len, fx->tool->name.ptr);
    if (fx->args.ptr) {
        buf_char(b, ' ');
        buf_str(b, fx->args);
    }
    if (fx->key.ptr)
        buf_fmt(b, " key %.*s", (int)fx->key.len, fx->key.ptr);
    buf_char(b, '\n');
}

void show_input(struct sim *s, const struct input *in)
{
    trace(s, "%4lld > %s", (long long)s->steps, input_names[in->kind]);
    if (in->kind == IN_TIMER)
        trace(s, " %s", timer_names[in->timer]);
    if (in->kind == IN_CALL_DONE)
        trace(s, " turn %lld '%.*s' %s", (long long)in->done.turn,
              (int)in->done.call.len, in->done.call.ptr,
              wend_outcome_name(in->done.outcome));
    if (in->kind == IN_HOOK)
        trace(s, " turn %lld call '%.*s' answer %d '%.60s'",
              (long long)in->hook.turn, (int)in->hook.call.len,
              in->hook.call.ptr ? in->hook.call.ptr : "", (int)in->hook.answer,
              in->hook.text.ptr ? in->hook.text.ptr : "");
    if (in->kind == IN_APPROVAL)
        trace(s, " '%.*s' %s", (int)in->approval.call.len,
              in->approval.call.ptr, in->approval.yes ? "yes" : "no");
    if (in->kind == IN_MODEL_FAIL)
        trace(s, " %.*s", (int)in->error.code.len, in->error.code.ptr);
    trace(s, " ask %lld; reply: ", (long long)in->ask);
    if (in->reply)
        trace(s, "%lld pieces, %zu calls\n", (long long)in->reply->pieces,
              in->reply->calls_count);
    else
        trace(s, "none\n");
}

void show_line(struct sim *s, const struct line *line)
{
    if (line->len > SHOWN_MAX)
        trace(s, "     %.*s... (%zu bytes)\n", (int)SHOWN_MAX, line->ptr,
              line->len);
    else
        trace(s, "     %s\n", line->ptr);
}

void show_effects(struct sim *s, const struct step *step)
{
    struct buf b = {.mem = &s->mem};

    if (!s->head.trace)
        return;
    for (const struct effect *fx = step->effects; fx; fx = fx->next) {
        buf_clear(&b);
        put_effect(&b, fx);
        trace(s, "     ! %.*s%s", (int)SHOWN_MAX, b.ptr,
              b.len > SHOWN_MAX ? "\n" : "");
    }
    buf_free(&b);
}

/*
 * hook.c - the host looks at, changes, skips or stops.
 *
 * What a hook says becomes an input like any other: the core decides, and the
 * log has it.
 */
#include "lib/run/call.h"
#include "lib/run/shell.h"

#include "base/utf8.h"

wend_hook_answer hook_ask(struct wend_run *r, wend_hook *h)
{
    wend_hook_answer a = WEND_HOOK_GO;

    if (!r->hook)
        return a;
    h->run = str_of(r->id);
    r->rt->callbacks++;
    a = r->hook(r->hook_ctx, h);
    r->rt->callbacks--;
    if (a != WEND_HOOK_GO) /* it lives in the run from here on */
        h->text = h->text.ptr ? utf8_keep(h->text, &r->arena) : STR("");
    return a;
}

void hook_stop(struct wend_run *r, wend_str message)
{
    struct input in = {.kind = IN_STOP, .by = STR("hook"), .text = message};

    shell_input(r, &in);
}

/* The arguments a hook gives must be JSON, in canonical form. */
static bool canonical(struct wend_run *r, wend_str *text)
{
    struct arena a = {.mem = &r->rt->mem};
    struct json *j = json_parse(*text, &a, NULL);

    if (j)
        *text = json_text(j, &r->arena);
    arena_free(&a);
    return j != NULL;
}

static void before_call(struct wend_run *r, const struct effect *fx)
{
    wend_hook h = {.point = WEND_HOOK_CALL_BEFORE,
                   .turn = (uint32_t)fx->turn,
                   .call = fx->call->id,
                   .name = fx->call->name,
                   .text = fx->args};
    struct input in = {.kind = IN_HOOK};

    if ((r->turn.flags[fx->call->index] & CALL_STARTED) ||
        fx->turn != r->turn.counter)
        return;
    in.hook.turn = fx->turn;
    in.hook.call = fx->call->id;
    in.hook.answer = hook_ask(r, &h);
    in.hook.text = h.text;
    if (in.hook.answer == WEND_HOOK_STOP)
        hook_stop(r, h.text);
    else if (in.hook.answer == WEND_HOOK_CHANGE && !canonical(r, &in.hook.text))
        hook_stop(r, STR("a hook gave arguments that are not JSON"));
    else
        shell_input(r, &in);
}

/* Both hooks before a turn give one answer: what either adds joins the
 * conversation; only the model's hook can answer instead of the model. */
static void before_turn(struct wend_run *r, const struct effect *fx)
{
    wend_hook h = {.point = WEND_HOOK_TURN_BEFORE, .turn = (uint32_t)fx->turn};
    struct input in = {.kind = IN_HOOK};
    struct buf b = {.mem = &r->rt->mem};
    wend_hook_answer a;

    if (r->turn.phase != PH_TURN || fx->turn != r->turn.counter ||
        r->turn.paused)
        return; /* stopped, answered already, or asked again later */
    in.hook.turn = fx->turn;
    a = hook_ask(r, &h);
    if (a == WEND_HOOK_CHANGE) {
        in.hook.answer = a;
        buf_str(&b, h.text);
    }
    if (a != WEND_HOOK_STOP) {
        h = (wend_hook){.point = WEND_HOOK_MODEL_BEFORE,
                        .turn = (uint32_t)fx->turn};
        a = hook_ask(r, &h);
    }
    if (a == WEND_HOOK_CHANGE || a == WEND_HOOK_SKIP) {
        in.hook.answer = a;
        if (a == WEND_HOOK_SKIP)
            buf_clear(&b);
        else if (b.len)
            buf_char(&b, '\n');
        buf_str(&b, h.text);
    }
    in.hook.text = buf_view(&b);
    r->arena.failed |= b.failed;
    if (a == WEND_HOOK_STOP)
        hook_stop(r, h.text);
    else
        shell_input(r, &in);
    buf_free(&b);
}

void hook_perform(struct wend_run *r, const struct effect *fx)
{
    if (fx->call)
        before_call(r, fx);
    else
        before_turn(r, fx);
}

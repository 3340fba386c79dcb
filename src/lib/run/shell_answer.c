/*
 * shell_answer.c - what a driver, a tool or an action brings, piece by piece.
 *
 * Pieces are deltas: shown at once, packed into the log behind. What is
 * complete becomes an input (shell.c).
 */
#include "lib/plan/action.h"
#include "lib/plan/plan.h"
#include "lib/run/shell.h"

#include <string.h>

#include "base/utf8.h"

bool shell_open(const struct wend_run *r, int64_t ask_number)
{
    if (ask_number < 0)
        return ask_under_way(r, ask_number) && r->error.status == WEND_OK;
    return r->replying && r->turn.phase == PH_MODEL &&
           r->turn.ask == ask_number && r->error.status == WEND_OK;
}

static void flush_pack(struct timer_node *t)
{
    struct wend_run *r = container_of(t, struct wend_run, pack_timer);
    struct batch *b = shell_batch(r);

    if (!b || !batch_pack(b, &r->pack))
        shell_nomem(r);
}

/* Whose text it is: a call's, an action's, or neither. */
struct about {
    wend_str call, action;
};

/* A delta of the open turn or plan: shown at once, packed behind. */
static void one_delta(struct wend_run *r, wend_event_type type,
                      struct about about, wend_str text, int64_t now_us)
{
    wend_event ev;

    memset(&ev, 0, offsetof(wend_event, u) + sizeof ev.u.text_delta);
    ev.type = type;
    ev.run = r->turn.run;
    ev.seq = r->turn.seq;
    ev.n = ++r->delta_n;
    ev.time_us = now_us;
    ev.in_turn = r->turn.counter >= 0;
    ev.turn = r->turn.counter;
    ev.turn_id = r->turn.id;
    ev.u.text_delta.text = text;
    ev.u.text_delta.call = about.call;
    ev.u.text_delta.action = about.action;
    if (!pack_add(&r->pack, &ev) || !show_event(r, &ev)) {
        shell_nomem(r);
        return;
    }
    if (r->pack.text_bytes >= PACK_BYTES_MAX) {
        flush_pack(&r->pack_timer);
    } else if (!r->pack_timer.place) {
        r->pack_timer.fire = flush_pack;
        timer_set(&r->rt->timers, &r->pack_timer,
                  rt_clock(r->rt) + PACK_MS * 1000);
    }
    show_visible(r); /* last: a listener may change everything */
}

/* A delta is one line of the log, so a longer piece becomes several. */
static void delta(struct wend_run *r, wend_event_type type, struct about about,
                  wend_str text, int64_t now_us)
{
    while (text.len && r->error.status == WEND_OK) {
        wend_str part = {text.ptr, utf8_cut(text, STRING_INLINE_MAX)};

        one_delta(r, type, about, part, now_us);
        text = str_skip(text, part.len);
    }
}

/* A delta of the model's message; not every purpose shows them. */
static void model_delta(struct wend_run *r, wend_event_type type, wend_str call,
                        wend_str text, int64_t now_us)
{
    if (turn_shows_deltas(&r->turn))
        delta(r, type, (struct about){.call = call}, text, now_us);
}

void shell_plain(struct wend_run *r, int64_t ask_number, wend_str piece)
{
    int64_t now = shell_now(r);

    if (!shell_open(r, ask_number))
        return;
    reply_text(&r->reply, piece, now);
    model_delta(r, WEND_TEXT_DELTA, STR_NONE, piece, now);
}

static void thinking(struct wend_run *r, wend_str piece)
{
    int64_t now = shell_now(r);

    reply_thinking(&r->reply, piece, now);
    model_delta(r, WEND_THINKING_DELTA, STR_NONE, piece, now);
}

/* The piece without secrets, lent by `room`. */
static wend_str veiled(struct wend_run *r, int64_t ask_number,
                       enum veil_what what, int call, wend_str piece,
                       struct buf *room)
{
    struct action_ask *a = ask_number < 0 ? ask_under_way(r, ask_number) : NULL;

    *room = (struct buf){.mem = &r->rt->mem};
    return veil_piece(r, a ? &a->veil : &r->veil, a ? &a->arena : &r->arena,
                      ask_number, what, call, piece, room);
}

/* A piece without secrets, to an action's model call or to the turn's. */
static void take_piece(struct wend_run *r, int64_t ask_number,
                       enum veil_what what, wend_str piece)
{
    bool text = what == VEIL_TEXT;
    struct buf room;

    if (!shell_open(r, ask_number) || !piece.len)
        return;
    piece = veiled(r, ask_number, what, 0, piece, &room);
    if (!piece.len)
        ; /* out of memory: the run has failed */
    else if (ask_number < 0)
        ask_piece(ask_under_way(r, ask_number), text, piece);
    else if (!text)
        thinking(r, piece);
    else if (r->turn.config->plan_tool &&
             r->turn.purpose != WEND_PURPOSE_SUMMARY)
        tagged_text(r, ask_number, piece);
    else
        shell_plain(r, ask_number, piece);
    buf_free(&room);
}

void shell_text(struct wend_run *r, int64_t ask_number, wend_str piece)
{
    take_piece(r, ask_number, VEIL_TEXT, piece);
}

void shell_thinking(struct wend_run *r, int64_t ask_number, wend_str piece)
{
    take_piece(r, ask_number, VEIL_THINKING, piece);
}

int shell_call(struct wend_run *r, int64_t ask_number, wend_str id,
               wend_str name)
{
    if (ask_number < 0)
        return -1; /* an action's model has no tools */
    return shell_open(r, ask_number) ? reply_call(&r->reply, id, name) : -1;
}

void shell_args(struct wend_run *r, int64_t ask_number, int call,
                wend_str piece)
{
    struct buf room;
    int64_t now;

    if (call < 0 || !shell_open(r, ask_number) || !piece.len)
        return;
    now = shell_now(r);
    piece = veiled(r, ask_number, VEIL_ARGS, call, piece, &room);
    if (piece.len) {
        reply_args(&r->reply, call, piece, now);
        model_delta(r, WEND_ARGS_DELTA, reply_call_id(&r->reply, call), piece,
                    now);
        planner_look(r, ask_number, call);
    }
    buf_free(&room);
}

void shell_seal(struct wend_run *r, int64_t ask_number, int call)
{
    struct input in = {.kind = IN_SEALED, .ask = ask_number};

    if (call < 0 || !shell_open(r, ask_number))
        return;
    reply_seal(&r->reply, call);
    shell_input(r, &in);
}

void shell_opaque(struct wend_run *r, int64_t ask_number, wend_str json)
{
    if (ask_number >= 0 && shell_open(r, ask_number))
        reply_opaque(&r->reply, json); /* an action's is never sent again */
}

static void ended(struct wend_run *r, wend_str code)
{
    if (r->session->ops->ended)
        r->session->ops->ended(r->session, code);
}

/* The reply of the turn's model call, or of an action's. */
static struct reply *reply_of(struct wend_run *r, int64_t ask_number)
{
    return ask_number < 0 ? &ask_under_way(r, ask_number)->reply : &r->reply;
}

/* What was used counts, also if the answer breaks off. */
void shell_usage(struct wend_run *r, int64_t ask_number,
                 const wend_ev_usage *usage)
{
    if (shell_open(r, ask_number))
        reply_of(r, ask_number)->usage = *usage;
}

void shell_model_fail(struct wend_run *r, int64_t ask_number,
                      const struct model_error *e)
{
    struct input in = {.kind = IN_MODEL_FAIL, .ask = ask_number, .error = *e};

    if (!shell_open(r, ask_number))
        return;
    if (ask_number < 0) {
        ask_fail(ask_under_way(r, ask_number), e);
        return;
    }
    /* A model whose answer breaks off can still be asked. */
    ended(r, r->reply.pieces ? STR_NONE : e->code);
    r->reply.sent = false;
    shell_input(r, &in);
}

bool shell_restart(struct wend_run *r, int64_t ask_number)
{
    struct reply *reply;

    if (!shell_open(r, ask_number) ||
        (ask_number >= 0 && (r->turn.calls_count || turn_plan_open(&r->turn))))
        return false;
    reply = reply_of(r, ask_number);
    reply_again(reply, reply->began_us);
    if (ask_number >= 0)
        tagged_again(r);
    return true;
}

/* A call at the output limit is refused as any other with bad arguments, so
 * that the model can try again. A plan may have begun with its first actions:
 * that message fails. */
static void seal_cut_calls(struct wend_run *r)
{
    const struct config *c = r->turn.config;

    for (size_t i = 0; i < r->reply.calls_count; i++)
        if (!r->reply.calls[i].sealed &&
            !is_plan_tool(c, buf_view(&r->reply.calls[i].name)))
            reply_seal_cut(&r->reply, (int)i);
}

/* A message that ends inside a call cannot be acted upon: its arguments are
 * incomplete, and may mean something else than the model intended. */
static bool ends_inside_call(struct wend_run *r, int64_t ask_number,
                             wend_str finish)
{
    bool cut = str_is(finish, "length");
    struct model_error e = {
        .code = STR("invalid"),
        .message = cut ? STR("the model reached its output limit inside a "
                             "plan; allow it more or ask for less")
                       : STR("the answer ended inside a tool call"),
        .retry_never = true,
    };
    size_t open = 0;

    if (cut)
        seal_cut_calls(r);
    for (size_t i = 0; i < r->reply.calls_count; i++)
        open += !r->reply.calls[i].sealed;
    if (open)
        shell_model_fail(r, ask_number, &e);
    return open > 0;
}

void shell_done(struct wend_run *r, int64_t ask_number, wend_str finish,
                const wend_ev_usage *usage)
{
    struct input in = {.kind = IN_MODEL_DONE, .ask = ask_number};
    wend_hook h = {.point = WEND_HOOK_MODEL_AFTER,
                   .turn = (uint32_t)r->turn.counter};

    if (ask_number < 0 && shell_open(r, ask_number)) {
        ask_done(ask_under_way(r, ask_number), finish, usage);
        return;
    }
    if (!shell_open(r, ask_number))
        return;
    finish = tagged_end(r, ask_number, finish);
    if (!shell_open(r, ask_number) || ends_inside_call(r, ask_number, finish))
        return;
    ended(r, STR_NONE);
    r->reply.finish = arena_str(&r->reply.arena, finish);
    if (usage)
        r->reply.usage = *usage;
    if (r->hook) {
        h.text = buf_view(&r->reply.text);
        switch (hook_ask(r, &h)) {
        case WEND_HOOK_CHANGE:
            buf_clear(&r->reply.text);
            buf_str(&r->reply.text, h.text);
            r->reply.failed |= r->reply.text.failed;
            break;
        case WEND_HOOK_STOP: hook_stop(r, h.text); return;
        case WEND_HOOK_GO:
        case WEND_HOOK_SKIP: break;
        }
    }
    shell_input(r, &in);
}

/* Late output of a call that has ended is not shown. */
void shell_output(struct wend_run *r, wend_str call, wend_str text)
{
    int i = turn_call_index(&r->turn, call);

    if (!r->over && r->error.status == WEND_OK && i >= 0 && text.len &&
        turn_call_runs(&r->turn, (uint32_t)i))
        delta(r, WEND_CALL_OUTPUT, (struct about){.call = call}, text,
              shell_now(r));
}

void shell_action_delta(struct wend_run *r, wend_event_type type,
                        uint32_t action, wend_str text, int64_t now_us)
{
    const struct plan_state *p = &r->turn.plan;

    if (!r->over && r->error.status == WEND_OK && text.len &&
        plan_action_state(p, action)->at == AT_RUNS)
        delta(r, type, (struct about){.action = p->plan->actions[action]->id},
              text, now_us);
}

void shell_action_output(struct wend_run *r, uint32_t action, wend_str text)
{
    shell_action_delta(r, WEND_ACTION_OUTPUT, action, text, shell_now(r));
}

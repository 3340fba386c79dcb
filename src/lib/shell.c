/*
 * shell.c - the only place where the mind (core) meets the hands.
 *
 *     what happened -> tt decides -> remember -> once it is safe: show, act
 *
 * Callbacks only turn what they get into inputs; no decision lives here.
 * Deltas take the short way: shown at once, packed into the log behind.
 */
#include "lib/child.h"
#include "lib/planner.h"

#include <string.h>

#include "base/fail.h"
#include "base/utf8.h"

/* Wall time that never goes back inside a run. */
int64_t shell_now(struct wend_run *r)
{
    int64_t now = rt_wall(r->rt);

    if (now < r->last_us)
        now = r->last_us;
    r->last_us = now;
    return now;
}

static void mark_dirty(struct wend_run *r)
{
    if (r->dirty)
        return;
    r->dirty = true;
    r->dirty_next = r->rt->dirty;
    r->rt->dirty = r;
}

static struct batch *open_batch(struct wend_run *r)
{
    if (!r->open)
        r->open = batch_new(r);
    if (r->open)
        mark_dirty(r);
    return r->open;
}

/* Ends the work on a run without a run_end: its log stays as it is, so
 * that it can be taken up again. */
void shell_fail(struct wend_run *r, wend_status s, const char *message)
{
    if (r->error.status != WEND_OK)
        return;
    fail(&r->error, s, "%s", message);
    if (r->session)
        r->session->ops->stop(r->session);
    asks_silence(r);
    calls_drop(r);
    children_fail(r, s, message);
    for (int i = 0; i < TIMERS; i++)
        timer_clear(&r->rt->timers, &r->timers[i].node);
}

/* ---- One step ------------------------------------------------------------ */

static bool fill(struct batch *b, const struct step *s)
{
    for (const struct step_event *e = s->events; e; e = e->next)
        if (!batch_event(b, &e->ev))
            return false;
    return batch_blobs(b, s->blobs.first) && batch_effects(b, s->effects);
}

static bool remember(struct wend_run *r, const struct step *s)
{
    struct batch *b = open_batch(r);
    struct batch_mark before;

    if (!b || !batch_pack(b, &r->pack))
        return false;
    before = batch_mark(b);
    if (fill(b, s))
        return true;
    batch_undo(b, before);
    return false;
}

static void note_end(struct wend_run *r, const wend_event *ev)
{
    r->over = true;
    run_note_end(r, ev);
    r->rt->live--;
    for (int i = 0; i < TIMERS; i++)
        timer_clear(&r->rt->timers, &r->timers[i].node);
}

static bool show(struct wend_run *r, const struct step *s)
{
    bool ok = true;

    for (const struct step_event *e = s->events; e; e = e->next) {
        if (e->ev.type == WEND_RUN_END)
            note_end(r, &e->ev); /* whether it can be shown or not */
        ok = ok && show_event(r, &e->ev);
    }
    return ok;
}

/* A closed message needs its reply no longer. */
static void drop_reply(struct wend_run *r)
{
    if (r->replying && r->turn.phase != PH_MODEL) {
        reply_again(&r->reply, 0);
        r->replying = false;
    }
}

/* What tools and people say may hold a key of ours: neither the log nor the
 * model gets to see it. What models say was looked through by their driver. */
static void blank(struct wend_run *r, struct input *in)
{
    struct arena *scratch = &r->rt->scratch;

    in->text = agent_blank(r->agent, in->text, scratch);
    in->hook.text = agent_blank(r->agent, in->hook.text, scratch);
    in->done.output = agent_blank(r->agent, in->done.output, scratch);
}

void shell_input(struct wend_run *r, struct input *in)
{
    struct keep keep = {&r->arena, r->agent->configs[r->mode]};
    struct step s;
    bool ok;

    if (r->over || r->error.status != WEND_OK)
        return;
    in->time_us = shell_now(r);
    if (in->kind != IN_ACTION_DONE) /* which brings its own */
        in->reply = r->replying ? &r->reply : NULL;
    if (r->replying && r->reply.failed) {
        shell_fail(r, WEND_E_NOMEM, "out of memory");
        return;
    }
    blank(r, in);
    in->purse = child_purse(r, in);
    step_begin(&s, &r->rt->scratch, &keep);
    tt(&r->turn, in, &s);
    ok = !r->rt->scratch.failed && !r->arena.failed;
    if (ok && (s.events || s.effects)) {
        ok = remember(r, &s);
        if (ok) {
            if (s.events_count)
                r->delta_n = 0;
            for (const struct step_event *e = s.events; e; e = e->next)
                if (e->ev.type == WEND_ACTION_END)
                    cache_keep(r, &e->ev);
            r->turn = s.turn;
            ok = show(r, &s);
        }
        drop_reply(r);
    }
    arena_reset(&r->rt->scratch);
    if (!ok)
        shell_fail(r, WEND_E_NOMEM, "out of memory");
}

/* ---- Acting -------------------------------------------------------------- */

static void ask(struct wend_run *r, const struct effect *fx)
{
    if (fx->ask <= r->asked || fx->ask != r->turn.ask ||
        r->turn.phase != PH_MODEL)
        return;
    r->asked = fx->ask;
    if (r->reply.mem)
        reply_again(&r->reply, rt_wall(r->rt));
    else
        reply_init(&r->reply, &r->rt->mem, rt_wall(r->rt));
    r->replying = true;
    r->session->ops->ask(r->session, &r->turn, fx->ask);
}

static void arm(struct wend_run *r, const struct effect *fx)
{
    struct run_timer *t = &r->timers[fx->timer];

    if (r->over)
        return;
    t->ask = fx->ask;
    if (!timer_set(&r->rt->timers, &t->node, rt_after(r->rt, fx->delay_ms)))
        shell_fail(r, WEND_E_NOMEM, "out of memory");
}

static void perform(struct wend_run *r, const struct effect *fx)
{
    switch (fx->kind) {
    case FX_ASK_MODEL: ask(r, fx); break;
    case FX_STOP_MODEL: r->session->ops->stop(r->session); break;
    case FX_RUN_CALL: call_start(r, fx); break;
    case FX_RUN_ACTION: action_start(r, fx); break;
    case FX_STOP_CALL:
    case FX_STOP_ACTION: work_stop(r, fx); break;
    case FX_START_CHILD: child_start(r, fx); break;
    case FX_TIMER: arm(r, fx); break;
    case FX_HOOK: hook_perform(r, fx); break;
    }
}

/* For every turn that this batch ends; mostly it begins the next one, too. */
static void after_turn_hook(struct wend_run *r, const struct batch *b)
{
    int64_t turn = r->turn.counter;

    if (!r->hook)
        return;
    for (size_t i = 0; i < b->events_count; i++)
        turn -= b->events[i].type == WEND_TURN_START;
    for (size_t i = 0; i < b->events_count; i++) {
        wend_hook h = {.point = WEND_HOOK_TURN_AFTER, .turn = (uint32_t)turn};

        turn += b->events[i].type == WEND_TURN_START;
        if (b->events[i].type == WEND_TURN_END &&
            hook_ask(r, &h) == WEND_HOOK_STOP)
            hook_stop(r, h.text);
    }
}

static void link_sent(struct wend_run *r, struct batch *b)
{
    *r->sent_tail = b;
    r->sent_tail = &b->next;
    b->sent_bytes = batch_bytes(b);
    r->sent_bytes += b->sent_bytes;
}

/* Answers mostly come in the order of sending, but one that ran out of
 * memory on its way to the store is back before those in front of it. */
static void drop_sent(struct wend_run *r, struct batch *b)
{
    struct batch **link = &r->sent;

    while (*link != b)
        link = &(*link)->next;
    *link = b->next;
    if (!*link)
        r->sent_tail = link;
    r->sent_bytes -= b->sent_bytes;
}

void shell_committed(struct batch *b)
{
    struct wend_run *r = b->run;

    if (!r || !r->rt) {
        batch_free(b);
        return;
    }
    drop_sent(r, b);
    if (b->status != WEND_OK) {
        shell_fail(r, b->status,
                   b->status == WEND_E_STALE
                       ? "the run belongs to another owner now"
                   : b->status == WEND_E_STORE ? r->rt->failed.message
                                               : "out of memory");
    } else if (r->error.status == WEND_OK) {
        if (b->last_seq > r->durable_seq)
            r->durable_seq = b->last_seq;
        show_visible(r);
        after_turn_hook(r, b);
        for (struct fx_node *n = b->effects; n; n = n->next)
            if (r->error.status == WEND_OK)
                perform(r, &n->fx);
        child_look(r);
    }
    batch_done(b);
}

static const char *status_now(const struct wend_run *r)
{
    const struct turn *t = &r->turn;

    if (r->over)
        return wend_outcome_name(r->outcome);
    if (r->parked)
        return "interrupted";
    if (t->paused)
        return "paused";
    for (uint32_t i = 0; i < t->calls_count; i++)
        if (bit_get(&t->asked, i) && !bit_get(&t->answered, i))
            return "waiting";
    return t->plan.asked ? "waiting" : "running";
}

void shell_submit(struct wend_run *r)
{
    struct batch *b = r->open;

    if (!b)
        return;
    r->open = NULL;
    timer_clear(&r->rt->timers, &r->pack_timer);
    if (!b->events_count && !b->packs_count && !r->sent && !r->parked) {
        /* Nothing to keep, and all that it follows from is kept. */
        link_sent(r, b);
        batch_answer(b, WEND_OK);
        return;
    }
    b->sb.run = str_of(b->id);
    b->sb.epoch = r->epoch;
    if (!r->born)
        batch_birth(b, &r->birth);
    b->sb.summary = (struct store_summary){
        .status = status_now(r),
        .ended_us = r->over ? r->turn.time_us : 0,
        .turns = r->turn.metrics.turns,
        .tokens_in = r->turn.metrics.tokens_in,
        .tokens_out = r->turn.metrics.tokens_out,
        .cost_nano = r->turn.metrics.cost_nano,
    };
    link_sent(r, b);
    r->born |= batch_submit(b, r->rt->store);
}

/* ---- What a driver brings ------------------------------------------------ */

bool shell_open(const struct wend_run *r, int64_t ask_number)
{
    if (ask_number < 0)
        return ask_under_way(r, ask_number) && r->error.status == WEND_OK;
    return r->replying && r->turn.phase == PH_MODEL &&
           r->turn.ask == ask_number && r->error.status == WEND_OK;
}

static void flush_pack(struct timer_node *t)
{
    struct wend_run *r =
        (struct wend_run *)(void *)((char *)t -
                                    offsetof(struct wend_run, pack_timer));
    struct batch *b = open_batch(r);

    if (!b || !batch_pack(b, &r->pack))
        shell_fail(r, WEND_E_NOMEM, "out of memory");
}

/* Of what the text is: a call, an action, or neither. */
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
        shell_fail(r, WEND_E_NOMEM, "out of memory");
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

/* A delta is one line wherever it goes, so a longer piece becomes several. */
static void delta(struct wend_run *r, wend_event_type type, struct about about,
                  wend_str text, int64_t now_us)
{
    while (text.len && r->error.status == WEND_OK) {
        wend_str part = {text.ptr, utf8_cut(text, STRING_INLINE_MAX)};

        one_delta(r, type, about, part, now_us);
        text.ptr += part.len;
        text.len -= part.len;
    }
}

/* Of the model's message, which not every purpose shows as it comes. */
static void model_delta(struct wend_run *r, wend_event_type type, wend_str call,
                        wend_str text, int64_t now_us)
{
    if (turn_shows_deltas(&r->turn))
        delta(r, type, (struct about){.call = call}, text, now_us);
}

void shell_text(struct wend_run *r, int64_t ask_number, wend_str piece)
{
    int64_t now;

    if (!shell_open(r, ask_number) || !piece.len)
        return;
    if (ask_number < 0) {
        ask_text(ask_under_way(r, ask_number), piece);
        return;
    }
    now = shell_now(r);
    reply_text(&r->reply, piece, now);
    model_delta(r, WEND_TEXT_DELTA, STR_NONE, piece, now);
}

void shell_thinking(struct wend_run *r, int64_t ask_number, wend_str piece)
{
    int64_t now;

    if (!shell_open(r, ask_number) || !piece.len)
        return;
    if (ask_number < 0) {
        ask_thinking(ask_under_way(r, ask_number), piece);
        return;
    }
    now = shell_now(r);
    reply_thinking(&r->reply, piece, now);
    model_delta(r, WEND_THINKING_DELTA, STR_NONE, piece, now);
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
    int64_t now;

    if (call < 0 || !shell_open(r, ask_number) || !piece.len)
        return;
    now = shell_now(r);
    reply_args(&r->reply, call, piece, now);
    model_delta(r, WEND_ARGS_DELTA, reply_call_id(&r->reply, call), piece, now);
    planner_look(r, ask_number, call);
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

/* What was used counts, also if the answer breaks off. */
void shell_usage(struct wend_run *r, int64_t ask_number,
                 const wend_ev_usage *usage)
{
    if (!shell_open(r, ask_number))
        return;
    if (ask_number < 0)
        ask_under_way(r, ask_number)->reply.usage = *usage;
    else
        r->reply.usage = *usage;
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
    /* One that breaks off in the middle is not one that cannot be asked. */
    ended(r, r->reply.pieces ? STR_NONE : e->code);
    shell_input(r, &in);
}

bool shell_restart(struct wend_run *r, int64_t ask_number)
{
    if (!shell_open(r, ask_number) ||
        (ask_number >= 0 && (r->turn.calls_count || turn_plan_open(&r->turn))))
        return false;
    if (ask_number < 0) {
        struct action_ask *a = ask_under_way(r, ask_number);

        reply_again(&a->reply, a->reply.began_us);
        return true;
    }
    reply_again(&r->reply, r->reply.began_us);
    return true;
}

/* A message that ends inside a call cannot be acted upon: what is there of
 * its arguments may mean something else than was meant. */
static bool ends_inside_call(struct wend_run *r, int64_t ask_number,
                             wend_str finish)
{
    struct model_error e = {
        .code = STR("invalid"),
        .message = str_is(finish, "length")
                       ? STR("the model reached its output limit inside a "
                             "tool call; allow it more or ask for less")
                       : STR("the answer ended inside a tool call"),
        .retry_never = true,
    };
    size_t open = 0;

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

/* A late word from a call that has ended is not shown. */
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

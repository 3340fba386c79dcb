/*
 * shell.c - the only place where the core meets the world.
 *
 *     what happened -> tt decides -> remember -> once it is safe: show, act
 *
 * shell_input takes a step and adds it to the open batch of the run. rt_flush
 * (lib/runtime/runtime.c) calls shell_submit at the end of a pass of the loop;
 * when the store has the batch, shell_committed shows its events and performs
 * its effects. Callbacks only turn what they get into inputs; no decision is
 * made here. Deltas take a shorter way, in shell_answer.c.
 *
 * struct wend_run (`r`) is in run.h.
 */
#include "lib/otel/otel.h"
#include "lib/plan/action.h"
#include "lib/plan/plan.h"
#include "lib/run/call.h"
#include "lib/run/child.h"
#include "lib/run/shell.h"

#include <assert.h>

#include "base/fail.h"
#include "base/utf8.h"

/* Wall time when the process started or resumed the run, then the monotonic
 * clock, so that durations are right. It never goes back, even if the wall
 * clock does; a child has its parent's time. */
int64_t shell_now(struct wend_run *r)
{
    int64_t clock_us = rt_clock(r->rt);

    if (!r->clock_set) {
        int64_t now_us =
            r->child ? shell_now(r->child->parent) : rt_wall(r->rt);

        r->clock_set = true;
        r->ahead_us = (now_us > r->last_us ? now_us : r->last_us) - clock_us;
    }
    r->last_us = clock_us + r->ahead_us;
    return r->last_us;
}

static void mark_dirty(struct wend_run *r)
{
    assert(!r->parked);
    if (r->dirty)
        return;
    r->dirty = true;
    r->dirty_next = r->rt->dirty;
    r->rt->dirty = r;
}

struct batch *shell_batch(struct wend_run *r)
{
    if (!r->open)
        r->open = batch_new(r);
    if (r->open)
        mark_dirty(r);
    return r->open;
}

/* Ends the work on a run without a run_end: its log stays as it is, so that it
 * can be resumed. */
void shell_fail(struct wend_run *r, wend_status s, const char *message)
{
    if (r->error.status != WEND_OK)
        return;
    fail(&r->error, s, "%s", message);
    if (s == WEND_E_STALE) /* another owner has it */
        lease_end(&r->lease);
    if (r->session)
        r->session->ops->stop(r->session);
    asks_silence(r);
    calls_drop(r);
    children_fail(r, s, message);
    for (int i = 0; i < TIMERS; i++)
        timer_clear(&r->rt->timers, &r->timers[i].node);
}

void shell_nomem(struct wend_run *r)
{
    shell_fail(r, WEND_E_NOMEM, "out of memory");
}

bool shell_timer(struct wend_run *r, struct timer_node *t, int64_t due_us)
{
    bool ok = timer_set(&r->rt->timers, t, due_us);

    if (!ok)
        shell_nomem(r);
    return ok;
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
    struct batch *b = shell_batch(r);
    struct batch before;

    if (!b || !batch_pack(b, &r->pack))
        return false;
    before = *b;
    if (fill(b, s))
        return true;
    batch_undo(b, &before);
    return false;
}

/* For inbox_unend: the store refuses the end if it has accepted a request that
 * the run has not heard; then the run continues from the state before. */
static bool keep_unended(struct wend_run *r, const struct turn *before,
                         const wend_ev_run_end *e)
{
    struct unended *u =
        r->unended ? r->unended : arena_alloc(&r->arena, sizeof *u);

    if (!u)
        return false;
    u->turn = *before;
    u->end = *e;
    u->end.text = STR_NONE;
    u->end.limit = arena_str(&r->arena, e->limit);
    if (e->error) {
        u->error = *e->error;
        u->error.code = arena_str(&r->arena, e->error->code);
        u->error.message = arena_str(&r->arena, e->error->message);
        u->error.component = arena_str(&r->arena, e->error->component);
        u->end.error = &u->error;
    }
    r->unended = u;
    return !r->arena.failed;
}

static void note_end(struct wend_run *r, const wend_event *ev)
{
    assert(!r->over);
    assert(r->rt->live);
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
        if (e->ev.type == WEND_RUN_END) {
            note_end(r, &e->ev); /* whether it can be shown or not */
            ok = ok && keep_unended(r, s->unended, &e->ev.u.run_end);
        }
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

/* Secrets of its parents are blanked in a child's log, too. */
static void blank_text(struct wend_run *r, wend_str *text)
{
    for (const struct wend_run *a = r; a;
         a = a->child ? a->child->parent : NULL)
        *text = agent_blank(a->agent, *text, &r->rt->scratch);
}

/* Blanks the agent's secrets in the texts of tools, people and children:
 * neither the log nor the model sees them. Text of models was blanked piece by
 * piece (veil.c). `child`: room for a copy. */
static void blank(struct wend_run *r, struct input *in,
                  struct child_done *child)
{
    blank_text(r, &in->text);
    for (size_t i = 0; i < in->requests_count; i++)
        blank_text(r, &in->requests[i].text);
    blank_text(r, &in->hook.text);
    blank_text(r, &in->done.output);
    blank_text(r, &in->done.structured);
    blank_text(r, &in->error.message);
    for (struct trouble *t = in->troubles; t; t = t->next)
        blank_text(r, &t->message);
    if (in->done.child) {
        *child = *in->done.child;
        blank_text(r, &child->text);
        blank_text(r, &child->message);
        in->done.child = child;
    }
}

/* Whether this input brings the waiting troubles along. */
static bool tells(const struct input *in)
{
    return in->kind == IN_TROUBLE || in->kind == IN_START ||
           in->kind == IN_RESUME;
}

static void tell_waiting(struct wend_run *r)
{
    struct input in = {.kind = IN_TROUBLE};

    if (r->troubles && r->turn.phase != PH_NEW)
        shell_input(r, &in);
}

void shell_input(struct wend_run *r, struct input *in)
{
    struct keep keep = {&r->arena, r->agent->configs[r->mode]};
    uint64_t heard;
    struct child_done child;
    struct step s;
    bool ok, kept = false; /* kept: its events are in the batch */

    assert(!r->rt->stepping);
    r->heard = 0;
    if (r->over && in->kind == IN_CANCEL && !r->late_cancel.ptr &&
        r->durable_seq != r->turn.seq)
        r->late_cancel = arena_str(&r->arena, in->by);
    if (r->over || r->parked || r->error.status != WEND_OK)
        return; /* parked: work that its free stops may still report trouble */
    r->rt->stepping = true; /* a failed read is reported with this input */
    in->past = learned_past(r);
    r->rt->stepping = false;
    if (!tells(in))
        tell_waiting(r); /* before it: it may end the run */
    in->time_us = shell_now(r);
    if (in->kind != IN_ACTION_DONE) /* which brings its own */
        in->reply = r->replying ? &r->reply : NULL;
    if (r->replying && r->reply.failed) {
        shell_nomem(r);
        return;
    }
    r->rt->stepping = true;
    if (tells(in)) {
        in->troubles = r->troubles;
        r->troubles = NULL;
    }
    blank(r, in, &child);
    in->budget = child_budget(r, in);
    step_begin(&s, &r->rt->scratch, &keep);
    tt(&r->turn, in, &s);
    ok = !r->rt->scratch.failed && !r->arena.failed;
    if (ok && (s.events || s.effects)) {
        ok = kept = remember(r, &s);
        if (ok) {
            if (s.events_count)
                r->delta_n = 0;
            for (const struct step_event *e = s.events; e; e = e->next) {
                cache_keep(r, &e->ev);
                learned_note(r, &e->ev);
                trace_event(r, &e->ev, false);
            }
            r->turn = s.turn;
            ok = show(r, &s);
        }
        drop_reply(r);
    }
    heard = ok || kept ? s.heard : 0;
    arena_reset(&r->rt->scratch);
    r->rt->stepping = false;
    if (!ok)
        shell_nomem(r);
    else if (in->kind == IN_PAUSE || in->kind == IN_CONTINUE)
        children_heed(r);
    if (ok)
        tell_waiting(r);
    r->heard = heard;
}

/* ---- Acting -------------------------------------------------------------- */

static void ask(struct wend_run *r, const struct effect *fx)
{
    const struct turn *turn;

    if (fx->ask <= r->asked || fx->ask != r->turn.ask ||
        r->turn.phase != PH_MODEL)
        return;
    r->asked = fx->ask;
    if (r->reply.mem)
        reply_again(&r->reply, shell_now(r));
    else
        reply_init(&r->reply, &r->rt->mem, shell_now(r));
    r->replying = r->reply.sent = true;
    turn = tagged_turn(r);
    if (turn)
        r->session->ops->ask(r->session, turn, fx->ask);
    else
        shell_nomem(r);
}

static void arm(struct wend_run *r, const struct effect *fx)
{
    struct run_timer *t = &r->timers[fx->timer];

    if (r->over)
        return;
    t->ask = fx->ask;
    shell_timer(r, &t->node, rt_after(r->rt, fx->delay_ms));
}

static void perform(struct wend_run *r, const struct effect *fx)
{
    assert(r->error.status == WEND_OK);
    switch (fx->kind) {
    case FX_ASK_MODEL: ask(r, fx); break;
    case FX_STOP_MODEL: r->session->ops->stop(r->session); break;
    case FX_RUN_CALL: call_start(r, fx); break;
    case FX_CHECK: call_check(r, fx); break;
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
    for (size_t i = 0; i < b->sb.events_count; i++)
        turn -= b->events[i].type == WEND_TURN_START;
    for (size_t i = 0; i < b->sb.events_count; i++) {
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

/* Batches mostly come back in the order of sending, but one that ran out of
 * memory on its way to the store overtakes those before it. */
static void drop_sent(struct wend_run *r, struct batch *b)
{
    struct batch **link = &r->sent;

    while (*link != b)
        link = &(*link)->next;
    *link = b->next;
    if (!*link)
        r->sent_tail = link;
    assert(r->sent_bytes >= b->sent_bytes);
    r->sent_bytes -= b->sent_bytes;
}

void shell_committed(struct batch *b)
{
    struct wend_run *r = b->run;

    if (!r || !r->rt) {
        if (b->status == WEND_E_BUSY)
            batch_leave(b);
        else
            batch_free(b);
        return;
    }
    drop_sent(r, b);
    if (b->status == WEND_E_BUSY && r->error.status == WEND_OK) {
        inbox_unend(r, b);
        return;
    }
    if (b->status != WEND_OK) {
        shell_fail(r, b->status,
                   b->status == WEND_E_STALE
                       ? "the run belongs to another owner now"
                   : b->status == WEND_E_STORE ? r->rt->failed.message
                                               : "out of memory");
    } else if (r->error.status == WEND_OK) {
        if (b->last_seq > r->durable_seq)
            r->durable_seq = b->last_seq;
        if (r->over && r->durable_seq == r->turn.seq) {
            lease_end(&r->lease);
            learned_keep(r);
            trace_kept(r);
        }
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
    return run_waits_for_approval(r) ? "waiting" : "running";
}

void shell_submit(struct wend_run *r)
{
    struct batch *b = r->open;

    if (!b)
        return;
    r->open = NULL;
    timer_clear(&r->rt->timers, &r->pack_timer);
    if (!b->sb.events_count && !b->sb.packs_count && !b->sb.heard_count &&
        !r->sent && !r->parked) {
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
        .cost_nano = turn_asks_unpriced(&r->turn) || child_cost_unknown(r)
                         ? -1
                         : turn_metrics(&r->turn).cost_nano,
    };
    link_sent(r, b);
    if (batch_submit(b, r->rt->store))
        r->born = true;
    else /* nothing may follow what the store will never have */
        shell_nomem(r);
}

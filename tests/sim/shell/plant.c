/*
 * plant.c - bugs on purpose: the simulator must catch every one.
 *
 * Some live in the store, as flags that it looks at. The others reach into
 * the library's state before or after a pump: to the laws that looks as if
 * the library had done it.
 */
#include "lib/run/shell.h"
#include "plant.h"
#include "record.h"
#include "world.h"

/* Calls fn for every run that goes on. */
static void each_run(struct sim *s,
                     void (*fn)(struct sim *s, struct wend_run *r))
{
    for (uint32_t i = 0; i < s->runs_count; i++) {
        struct wend_run *r = s->runs[i].handle;

        if (r && r->error.status == WEND_OK)
            fn(s, r);
    }
}

/* ---- Too early ----------------------------------------------------------- */

static void show_now(struct sim *s, struct wend_run *r)
{
    (void)s;
    r->durable_seq = r->turn.seq;
}

static void show_early(struct sim *s)
{
    each_run(s, show_now);
}

/* Does what the batches at the store will ask for, before they are safe. */
static void act_now(struct sim *s, struct wend_run *r, enum effect_kind kind)
{
    if (r->over)
        return;
    for (struct batch *b = r->sent; b; b = b->next)
        for (struct fx_node *n = b->effects; n; n = n->next)
            if (n->fx.kind == kind && r->error.status == WEND_OK) {
                s->plants++;
                if (kind == FX_RUN_CALL)
                    call_start(r, &n->fx);
                else if (kind == FX_HOOK)
                    hook_perform(r, &n->fx);
                else
                    r->session->ops->ask(r->session, &r->turn, n->fx.ask);
            }
}

static void call_now(struct sim *s, struct wend_run *r)
{
    act_now(s, r, FX_RUN_CALL);
}

static void call_early(struct sim *s)
{
    each_run(s, call_now);
}

static void hook_now(struct sim *s, struct wend_run *r)
{
    act_now(s, r, FX_HOOK);
}

static void hook_early(struct sim *s)
{
    each_run(s, hook_now);
}

static void ask_now(struct sim *s, struct wend_run *r)
{
    act_now(s, r, FX_ASK_MODEL);
}

static void ask_early(struct sim *s)
{
    each_run(s, ask_now);
}

/* ---- Lost, twice, too much ----------------------------------------------- */

/* The newest event in the queue, if it is a delta. */
static void lose_newest(struct sim *s, struct wend_run *r)
{
    struct shown *q = &r->shown;
    wend_event *ev =
        q->count ? q->ring[(q->first + q->count - 1) % q->cap] : NULL;

    if (!ev || !ev->n || s->plants++ % 5 || q->held)
        return;
    q->count--;
    q->bytes -= sizeof *ev + ev->u.text_delta.text.len;
    mem_free(&r->rt->mem, ev);
}

static void lose_delta(struct sim *s)
{
    each_run(s, lose_newest);
}

/* A reader that lags goes back too far. */
static void go_back(struct sim *s, struct wend_run *r)
{
    (void)s;
    if (r->shown.lagged && r->shown.seq > 1)
        r->shown.seq--;
}

static void read_again(struct sim *s)
{
    each_run(s, go_back);
}

/* Its queue has no limit: what waits is put aside while it is looked at. */
static struct shown aside[KNOWN_MAX];

static void put_aside(struct sim *s)
{
    s->mood.nomem = s->head.fault.fail_at = 0; /* no two bugs at once */
    for (uint32_t i = 0; i < s->runs_count; i++) {
        struct shown *q = s->runs[i].handle ? &s->runs[i].handle->shown : NULL;

        memset(&aside[i], 0, sizeof aside[i]);
        if (!q || q->listen)
            continue;
        aside[i] = *q;
        q->ring = NULL;
        q->cap = q->first = q->count = 0;
        q->bytes = 0;
    }
}

static void put_back(struct sim *s)
{
    for (uint32_t i = 0; i < s->runs_count; i++) {
        struct shown *q = s->runs[i].handle ? &s->runs[i].handle->shown : NULL;
        struct shown *was = &aside[i];
        wend_event **ring;

        if (!was->ring)
            continue;
        ring =
            mem_alloc(&s->rt->mem, (was->count + q->count + 1) * sizeof *ring);
        for (uint32_t n = 0; n < was->count; n++)
            ring[n] = was->ring[(was->first + n) % was->cap];
        for (uint32_t n = 0; n < q->count; n++)
            ring[was->count + n] = q->ring[(q->first + n) % q->cap];
        mem_free(&s->rt->mem, q->ring);
        mem_free(&s->rt->mem, was->ring);
        q->ring = ring;
        q->first = 0;
        q->count += was->count;
        q->cap = q->count + 1;
        q->bytes += was->bytes;
    }
}

/* ---- Not told, not stopped ----------------------------------------------- */

static wend_listen_fn silenced[KNOWN_MAX];

static void silence(struct sim *s)
{
    for (uint32_t i = 0; i < s->runs_count; i++)
        if (s->runs[i].handle) {
            silenced[i] = s->runs[i].handle->shown.listen;
            s->runs[i].handle->shown.listen = NULL;
        }
}

static void unsilence(struct sim *s)
{
    for (uint32_t i = 0; i < s->runs_count; i++)
        if (s->runs[i].handle)
            s->runs[i].handle->shown.listen = silenced[i];
}

/* As if nothing had happened. */
static void forgive(struct sim *s)
{
    for (uint32_t i = 0; i < s->runs_count; i++)
        if (s->runs[i].handle &&
            s->runs[i].handle->error.status == WEND_E_STORE)
            s->runs[i].handle->error.status = WEND_OK;
    s->rt->failed.status = WEND_OK;
}

/* Neither told to stop nor given up. */
static void never_stop(struct sim *s, struct wend_run *r)
{
    struct batch *list[2] = {r->open, r->sent};

    (void)s;
    for (int i = 0; i < 2; i++)
        for (struct batch *b = list[i]; b; b = b->next)
            for (struct fx_node *n = b->effects; n; n = n->next)
                if (n->fx.kind == FX_STOP_CALL ||
                    (n->fx.kind == FX_TIMER && n->fx.timer == TIMER_STOP)) {
                    n->fx.kind = FX_TIMER;
                    n->fx.timer = TIMER_METRICS;
                }
}

/* As if each event had the time of the wall clock. */
static void follow_wall(struct sim *s)
{
    for (struct wend_run *r = s->rt->runs; r; r = r->next)
        r->clock_set = false;
}

static void keep_running(struct sim *s)
{
    each_run(s, never_stop);
}

static void ask_again(struct sim *s, struct wend_run *r)
{
    struct known *k = known_by_session(s, r->session);

    if (k->stop_acked && k->asks && !s->plants++)
        r->session->ops->ask(r->session, &r->turn, 1);
}

static void ask_after(struct sim *s)
{
    each_run(s, ask_again);
}

static void call_again(struct sim *s, struct wend_run *r)
{
    if (r->calls && !s->plants++)
        check_call(s, r->calls->key);
}

static void call_twice(struct sim *s)
{
    each_run(s, call_again);
}

static void be_older(struct sim *s, struct wend_run *r)
{
    if (r->turn.counter == 1 && !s->plants++)
        r->epoch--;
}

static void wrong_epoch(struct sim *s)
{
    each_run(s, be_older);
}

static void be_born(struct sim *s, struct wend_run *r)
{
    if (r->turn.counter == 1 && !s->plants++)
        r->born = false;
}

static void born_twice(struct sim *s)
{
    each_run(s, be_born);
}

void hear_again(struct sim *s, struct wend_run *r)
{
    wend_hook h = {.point = WEND_HOOK_TURN_AFTER};
    struct known *k = known_by_session(s, r->session);

    if (r->hook && k->turns_ended && !s->plants++)
        r->hook(r->hook_ctx, &h);
}

static void hook_twice(struct sim *s)
{
    each_run(s, hear_again);
}

static void forget_purpose(struct sim *s, struct wend_run *r)
{
    (void)s;
    r->turn.purpose = WEND_PURPOSE_ANSWER;
}

static void show_repair(struct sim *s)
{
    each_run(s, forget_purpose);
}

/* As if all that waits at the store were safe. */
static void forget_waiting(struct sim *s, struct wend_run *r)
{
    (void)s;
    for (struct batch *b = r->sent; b; b = b->next)
        b->sent_bytes = 0;
    r->sent_bytes = 0;
}

static void never_pause(struct sim *s)
{
    each_run(s, forget_waiting);
}

const struct bug bugs[] = {
    {"ack-early", LAW_SHOWN, .ack_early = true},
    {"ack-swapped", LAW_SHOWN, .ack_swapped = true},
    {"ack-failed", LAW_SHOWN, .ack_failed = true},
    {"ack-never", LAW_END, .ack_never = true},
    {"drop-pack", LAW_LOG, .drop_pack = true},
    {"stale-spreads", LAW_STALE, .stale_spreads = true},
    {"read-loses-ends", LAW_CALL_END, .read_loses_ends = true},
    {"read-loses-actions", LAW_ACTION_END, .read_loses_actions = true},
    {"read-bends", LAW_STREAM, .read_bends = true},
    {"show-early", LAW_SHOWN, .after = show_early},
    {"call-early", LAW_ACTED, .after = call_early},
    {"ask-early", LAW_ACTED, .after = ask_early},
    {"hook-early", LAW_ACTED, .after = hook_early},
    {"call-twice", LAW_MADE, .after = call_twice},
    {"lose-delta", LAW_ORDER, .after = lose_delta},
    {"read-again", LAW_ORDER, .after = read_again},
    {"queue-everything", LAW_QUEUE, .before = put_aside, .after = put_back},
    {"never-pause", LAW_WRITER, .before = never_pause},
    {"silence", LAW_LISTEN, .before = silence, .after = unsilence},
    {"forgive-store", LAW_FAILED, .after = forgive},
    {"forget-cancel", LAW_CANCEL, .forget_cancel = true},
    {"keep-running", LAW_STOP, .after = keep_running},
    {"ask-after-stop", LAW_AFTER, .after = ask_after},
    {"answer-twice", LAW_MISUSE, .answer_twice = true},
    {"flush-always", LAW_COMMITS, .flush_always = true},
    {"hook-twice", LAW_HOOK, .after = hook_twice},
    {"show-repair", LAW_REPAIR, .before = show_repair, .after = show_repair},
    {"wrong-epoch", LAW_BATCH, .after = wrong_epoch},
    {"born-twice", LAW_BATCH, .after = born_twice},
    {"lose-result", LAW_REQUEST, .lose_result = true},
    {"program-stays", LAW_PROGRAM, .program_stays = true},
    {"claim-stays", LAW_END, .claim_stays = true},
    {"flip-byte", LAW_CHAIN, .read_flips = true},
    {"serve-again", LAW_MADE, .serve_again = true},
    {"ask-service-again", LAW_MADE, .ask_service_again = true},
    {"follow-wall", LAW_TIME, .after = follow_wall},
    {"deaf-resume", LAW_HEARD, .deaf = true},
    {"end-anyway", LAW_HEARD, .end_anyway = true},
    {"hear-again", LAW_HEARD, .hear_again = true},
    {"leak", LAW_LEAK, .leak = true},
    {.name = NULL},
};

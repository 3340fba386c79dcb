/*
 * show.c - the reader's side of a run: a bounded queue, then the store.
 *
 * An event is visible once the kept event it belongs to is durable. A
 * reader that falls behind loses its queue, not its events: it reads on from
 * the store until it has caught up.
 */
#include "base/utf8.h"
#include "lib/run/shell.h"

#include <assert.h>
#include <string.h>

enum {
    RING_MIN = 16,
    REFILL_ITEMS = 64, /* store rows read at once by a reader that lags */
};

static bool show_wants(const struct shown *s, wend_event_type type)
{
    return !s->filter.types || s->filter.types >> type & 1;
}

/* Rough: what an event holds on to. */
static size_t weight(const wend_event *ev)
{
    size_t text = wend_event_is_delta(ev->type) ? ev->u.text_delta.text.len
                  : ev->type == WEND_CALL_END   ? ev->u.call_end.output.len
                  : ev->type == WEND_MODEL_END  ? ev->u.model_end.text.len
                                                : 0;

    return sizeof *ev + text;
}

static bool ring_grow(struct wend_run *r)
{
    struct shown *s = &r->shown;
    uint32_t cap = s->cap ? s->cap * 2 : RING_MIN;
    wend_event **ring;

    if (s->count < s->cap)
        return true;
    ring = mem_alloc(&r->rt->mem, cap * sizeof *ring);
    if (!ring)
        return false;
    for (uint32_t i = 0; i < s->count; i++)
        ring[i] = s->ring[(s->first + i) % s->cap];
    mem_free(&r->rt->mem, s->ring);
    s->ring = ring;
    s->cap = cap;
    s->first = 0;
    return true;
}

/* How far the reader has come. A joined delta is queued after what followed
 * it was read, so this never goes back. */
static void come_to(struct shown *s, int64_t seq, int64_t n)
{
    if (seq < s->seq || (seq == s->seq && n < s->n))
        return;
    s->seq = seq;
    s->n = n;
}

/* Takes the copy over, also when it fails. */
static bool ring_push(struct wend_run *r, wend_event *copy)
{
    struct shown *s = &r->shown;

    if (!copy || !ring_grow(r)) {
        mem_free(&r->rt->mem, copy);
        return false;
    }
    assert(s->count < s->cap);
    s->ring[(s->first + s->count++) % s->cap] = copy;
    s->bytes += weight(copy);
    come_to(s, copy->seq, copy->n);
    return true;
}

static wend_event *ring_pop(struct shown *s)
{
    wend_event *ev;

    assert(s->count);
    ev = s->ring[s->first];
    s->first = (s->first + 1) % s->cap;
    s->count--;
    s->bytes -= weight(ev);
    return ev;
}

/* ---- Merging ------------------------------------------------------------- */

static bool flush_held(struct wend_run *r)
{
    struct shown *s = &r->shown;
    wend_event *held = s->held, merged;
    bool ok;

    if (!held)
        return true;
    s->held = NULL;
    timer_clear(&r->rt->timers, &s->held_timer);
    memcpy(&merged, held, offsetof(wend_event, u) + sizeof(wend_ev_delta));
    merged.u.text_delta.text = buf_view(&s->held_text);
    ok = !s->held_text.failed && ring_push(r, event_copy(&r->rt->mem, &merged));
    /* A reader that lags reads on after the newest delta that was joined;
     * nothing may follow what is lost. */
    if (ok)
        come_to(s, merged.seq, s->held_n);
    s->lagged &= ok;
    buf_clear(&s->held_text);
    mem_free(&r->rt->mem, held);
    return ok;
}

static void on_held_timer(struct timer_node *t)
{
    struct wend_run *r = container_of(t, struct wend_run, shown.held_timer);

    if (!flush_held(r))
        shell_nomem(r);
    show_visible(r);
}

/* Whether both are pieces of the same text. */
static bool go_together(const wend_event *a, const wend_event *b)
{
    return a->type == b->type && a->seq == b->seq &&
           str_eq(a->u.text_delta.call, b->u.text_delta.call) &&
           str_eq(a->u.text_delta.action, b->u.text_delta.action);
}

/* Joins a delta to the held one; the first one's number stays, so that the
 * order by (seq, n) holds. */
static bool merge(struct wend_run *r, const wend_event *ev)
{
    struct shown *s = &r->shown;

    if (s->held &&
        (s->held_count >= s->filter.merge_count || !go_together(s->held, ev)))
        if (!flush_held(r))
            return false;
    if (!s->held) {
        s->held = event_copy(&r->rt->mem, ev);
        if (!s->held)
            return false;
        s->held_text.mem = &r->rt->mem;
        s->held_count = 0;
        s->held_timer.fire = on_held_timer;
        if (!timer_set(&r->rt->timers, &s->held_timer,
                       rt_after(r->rt, s->filter.merge_ms ? s->filter.merge_ms
                                                          : PACK_MS)))
            return false;
    }
    buf_str(&s->held_text, ev->u.text_delta.text);
    s->held_count++;
    s->held_n = ev->n;
    return s->held_count < s->filter.merge_count || flush_held(r);
}

/* ---- In ------------------------------------------------------------------ */

/* `copy` knows how long what ev points to lives. */
static bool enqueue(struct wend_run *r, const wend_event *ev,
                    wend_event *(*copy)(const struct mem *m,
                                        const wend_event *ev))
{
    if (r->shown.filter.merge_count > 1 && ev->n)
        return merge(r, ev);
    return flush_held(r) && ring_push(r, copy(&r->rt->mem, ev));
}

bool show_event(struct wend_run *r, const wend_event *ev)
{
    struct shown *s = &r->shown;

    if (s->lagged)
        return true; /* it will be read from the store */
    if (s->count >= QUEUE_EVENTS_MAX || s->bytes >= QUEUE_BYTES_MAX) {
        s->lagged = true;
        return flush_held(r);
    }
    if (!show_wants(s, ev->type)) {
        if (!s->held && !s->count)
            come_to(s, ev->seq, ev->n);
        return ev->type != WEND_RUN_END || flush_held(r);
    }
    return enqueue(r, ev, event_copy_here);
}

/* It is the newest event, and no reader has seen it. */
void show_unend(struct wend_run *r)
{
    struct shown *s = &r->shown;
    wend_event *last =
        s->count ? s->ring[(s->first + s->count - 1) % s->cap] : NULL;

    if (last && last->type == WEND_RUN_END) {
        s->count--;
        s->bytes -= weight(last);
        mem_free(&r->rt->mem, last);
    }
    if (s->seq == r->turn.seq) {
        s->seq--;
        s->n = 0;
    }
}

/* ---- Catching up from the store ------------------------------------------ */

struct refill {
    struct wend_run *run;
    struct log_reader *reader;
    int64_t seq, n; /* skip up to here */
    bool any;
};

static wend_status refill_one(void *ctx, const wend_event *ev)
{
    struct refill *f = ctx;
    struct shown *s = &f->run->shown;
    bool ok = true;

    if (ev->seq < f->seq || (ev->seq == f->seq && ev->n <= f->n))
        return WEND_OK;
    f->any = true;
    if (f->run->player)
        ok = replay_read(f->run, ev);
    if (ok && ev->type != WEND_EVENT_NONE && show_wants(s, ev->type))
        ok = enqueue(f->run, ev, event_copy);
    come_to(s, ev->seq, ev->n);
    return ok ? WEND_OK : WEND_E_NOMEM;
}

/* A queue holds at most one whole record more than its limit. */
static bool refill_item(void *ctx, const struct store_item *item)
{
    struct refill *f = ctx;
    const struct shown *s = &f->run->shown;

    return log_read_item(f->reader, item) && s->count < QUEUE_EVENTS_MAX &&
           s->bytes < QUEUE_BYTES_MAX;
}

void show_lost(struct wend_run *r, wend_status why, int64_t seq)
{
    char text[200];

    if (why == WEND_E_CORRUPT)
        utf8_fmt(text, sizeof text,
                 "the log of run %s is damaged at event %lld", r->id,
                 (long long)seq);
    else
        utf8_fmt(text, sizeof text, "the log of run %s cannot be read: %s",
                 r->id, wend_status_name(why));
    shell_fail(r, why, text);
    r->shown.lagged = false; /* what is missing must not be followed */
}

/* Reads on after the newest event the reader has had; false if there was
 * nothing. Once the store has nothing more and nothing newer exists, the
 * reader is live again. */
static bool refill(struct wend_run *r)
{
    struct shown *s = &r->shown;
    wend_store *store = r->rt->store;
    struct log_reader own = {.store = store,
                             .mem = &r->rt->mem,
                             .blob = log_text,
                             .unchained = true};
    struct refill f = {
        .run = r, .reader = s->log ? s->log : &own, .seq = s->seq, .n = s->n};
    /* A replay that begins in the middle reads the deltas before its first
     * event, too: that event's hash covers them. */
    struct store_place from = {f.seq ? f.seq : 1, f.n == INT64_MAX ? 0 : f.n};
    wend_status st;

    f.reader->fn = refill_one;
    f.reader->ctx = &f;
    st = store->ops->read(store, str_of(r->id), from, REFILL_ITEMS, refill_item,
                          &f, NULL);
    if (st == WEND_OK)
        st = f.reader->status;
    log_read_free(&own);
    if (st != WEND_OK) {
        show_lost(r, st, f.reader->bad_seq);
        return false;
    }
    if (f.any)
        return true;
    if (!flush_held(r))
        shell_nomem(r);
    if (r->player)
        replay_drained(r);
    else if (s->seq == r->turn.seq && s->n == r->delta_n)
        s->lagged = false;
    return false;
}

/* ---- Out ----------------------------------------------------------------- */

static bool is_visible(struct wend_run *r)
{
    const struct shown *s = &r->shown;

    if (!s->count)
        return false;
    if (r->player)
        return replay_due(r, s->ring[s->first]);
    return s->ring[s->first]->seq <= r->durable_seq;
}

const wend_event *show_next(struct wend_run *r)
{
    struct shown *s = &r->shown;

    /* All that is read may be filtered out or held: read on until the store
     * has no more, since nothing would wake the reader. */
    while (!s->count && s->lagged && refill(r))
        continue;
    if (!is_visible(r))
        return NULL;
    mem_free(&r->rt->mem, s->lent);
    s->lent = ring_pop(s);
    return s->lent;
}

void show_visible(struct wend_run *r)
{
    struct shown *s = &r->shown;
    const wend_event *ev;

    while (s->listen && (ev = show_next(r))) {
        struct kept *kept = kept_ref(s->listen_kept); /* it may be replaced */

        r->rt->callbacks++;
        s->listen(s->listen_ctx, ev);
        r->rt->callbacks--;
        kept_unref(kept);
    }
}

static void on_look(struct timer_node *t)
{
    show_visible(container_of(t, struct wend_run, shown.look));
}

void show_at(struct wend_run *r, int64_t due_us)
{
    r->shown.look.fire = on_look;
    shell_timer(r, &r->shown.look, due_us);
}

void show_listen(struct wend_run *r, wend_listen_fn fn, void *ctx,
                 struct kept *kept)
{
    struct kept *before = r->shown.listen_kept;

    r->shown.listen = fn;
    r->shown.listen_ctx = ctx;
    r->shown.listen_kept = kept;
    show_at(r, rt_clock(r->rt));
    kept_unref(before);
}

void show_free(struct wend_run *r)
{
    struct shown *s = &r->shown;
    const struct mem *m = &r->rt->mem;

    while (s->count)
        mem_free(m, ring_pop(s));
    mem_free(m, s->lent);
    mem_free(m, s->ring);
    mem_free(m, s->held);
    timer_clear(&r->rt->timers, &s->held_timer);
    timer_clear(&r->rt->timers, &s->look);
    s->held_text.mem = m;
    buf_free(&s->held_text);
    kept_unref(s->listen_kept);
    memset(s, 0, sizeof *s);
}

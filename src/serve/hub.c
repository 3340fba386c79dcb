/*
 * hub.c - the runs that this server owns: each event once, for all readers.
 *
 * A run is read by one listener. While it has streams, its newest events are in
 * a ring, and each stream knows its place there. A stream that falls behind the
 * ring reads the store until it is back (flow.c), so that a slow reader costs
 * neither memory nor time of the run.
 */
#include "serve/serve.h"

#include <assert.h>

#include "base/limits.h"
#include "lib/run/run.h"

/* ---- Frames -------------------------------------------------------------- */

/* As a server-sent event; kept events have an id, so that a reader can
 * continue behind them. */
void frame_put(struct buf *out, const wend_event *ev)
{
    if (!wend_event_is_delta(ev->type))
        buf_fmt(out, "id: %lld\n", (long long)ev->seq);
    buf_cstr(out, "data: ");
    event_write(out, ev, NULL);
    buf_cstr(out, "\n\n");
}

static struct serve_frame *frame_at(const struct serve_run *r, size_t i)
{
    return &r->ring[(r->start + i) % QUEUE_EVENTS_MAX];
}

/* The text stands in it twice: in the event and as it is sent. */
static size_t frame_weight(const struct serve_frame *f)
{
    return sizeof *f->event + 2 * f->native.len;
}

static void drop_first(struct serve_run *r)
{
    struct serve_frame *f = frame_at(r, 0);

    assert(r->count);
    r->bytes -= frame_weight(f);
    mem_free(&r->server->mem, f->event);
    buf_free(&f->native);
    memset(f, 0, sizeof *f);
    r->start = (r->start + 1) % QUEUE_EVENTS_MAX;
    r->first++;
    r->count--;
}

const struct serve_frame *hub_frame(const struct serve_run *r, uint64_t index)
{
    assert(index >= r->first && index < r->first + r->count);
    return frame_at(r, index - r->first);
}

static bool is_behind(const wend_event *ev, int64_t seq, int64_t n)
{
    return ev->seq > seq || (ev->seq == seq && ev->n > n);
}

uint64_t hub_after(const struct serve_run *r, int64_t seq, int64_t n)
{
    const wend_event *oldest = r->count ? frame_at(r, 0)->event : NULL;

    if (r->seq == seq && r->n == n)
        return r->first + r->count;
    if (!oldest || (is_behind(oldest, seq, n) &&
                    !(oldest->seq == seq && oldest->n - 1 == n)))
        return 0;
    for (size_t i = 0; i < r->count; i++)
        if (is_behind(frame_at(r, i)->event, seq, n))
            return r->first + i;
    return 0;
}

/* ---- Events of a run ----------------------------------------------------- */

static void set_dirty(struct serve_run *r)
{
    if (r->is_dirty)
        return;
    r->is_dirty = true;
    r->dirty_next = r->server->dirty;
    r->server->dirty = r;
}

static bool keep_frame(struct serve_run *r, const wend_event *ev)
{
    const struct mem *m = &r->server->mem;
    struct serve_frame *f;

    if (!r->ring)
        r->ring = mem_zalloc(m, QUEUE_EVENTS_MAX * sizeof *r->ring);
    if (!r->ring)
        return false;
    while (r->count == QUEUE_EVENTS_MAX ||
           (r->count && r->bytes > QUEUE_BYTES_MAX))
        drop_first(r);
    f = frame_at(r, r->count);
    f->native.mem = m;
    frame_put(&f->native, ev);
    f->event = f->native.failed ? NULL : event_copy(m, ev);
    if (!f->event) {
        buf_free(&f->native);
        memset(f, 0, sizeof *f);
        return false;
    }
    r->count++;
    r->bytes += frame_weight(f);
    return true;
}

static bool changes_row(wend_event_type type)
{
    switch ((int)type) {
    case WEND_RUN_START:
    case WEND_RUN_RESUME:
    case WEND_RUN_FORK:
    case WEND_RUN_END:
    case WEND_TURN_END:
    case WEND_APPROVAL_ASK:
    case WEND_APPROVAL_ANSWER:
    case WEND_CONTROL: return true;
    default: return false;
    }
}

static void tell_starters(struct serve_run *r)
{
    struct serve_ask *q;

    while ((q = r->starters)) {
        r->starters = q->next;
        q->gone = NULL;
        respond_run(q, 201, r->id);
    }
}

static void on_event(void *ctx, const wend_event *ev)
{
    struct serve_run *r = ctx;
    bool kept = !wend_event_is_delta(ev->type);

    /* Without memory for it the readers find it in the log. */
    if (!r->streams || !keep_frame(r, ev)) {
        while (r->count)
            drop_first(r);
        r->first++;
    }
    metrics_event(&r->server->metrics, ev);
    r->seq = ev->seq;
    r->n = ev->n;
    if (ev->type == WEND_RUN_END) {
        r->is_over = true;
        outbox_ended(r->server, r->id);
    }
    if (kept) {
        r->waits = ev->type == WEND_APPROVAL_ASK;
        r->parks |= r->server->draining;
        tell_starters(r);
    }
    if (r->watch)
        r->watch(r->watch_ctx, ev);
    if (changes_row(ev->type))
        feed_changed(r->server, r->id);
    set_dirty(r);
}

/* ---- All of them --------------------------------------------------------- */

static struct serve_run **bucket_of(struct wend_server *server, const char *id)
{
    return &server->runs[mix64(0, id, strlen(id)) % SERVE_BUCKETS];
}

struct serve_run *hub_find(struct wend_server *server, const char *id)
{
    struct serve_run *r = *bucket_of(server, id);

    while (r && strcmp(r->id, id) != 0)
        r = r->bucket;
    return r;
}

struct serve_run *hub_add(struct wend_server *server, wend_run *run)
{
    struct serve_run *r = mem_zalloc(&server->mem, sizeof *r), **to;

    if (!r) {
        wend_run_free(run);
        return NULL;
    }
    r->server = server;
    r->run = run;
    r->first = 1;
    memcpy(r->id, wend_run_id(run), sizeof r->id);
    to = bucket_of(server, r->id);
    r->bucket = *to;
    *to = r;
    server->runs_count++;
    outbox_new_run(server, r->id);
    wend_run_listen(run, on_event, r);
    return r;
}

static void on_starter_gone(struct serve_ask *q)
{
    struct serve_run *r = q->ctx;
    struct serve_ask **at = &r->starters;

    while (*at != q)
        at = &(*at)->next;
    *at = q->next;
}

void hub_answer(struct serve_run *r, struct serve_ask *q)
{
    if (r->seq) {
        respond_run(q, 201, r->id);
        return;
    }
    q->next = r->starters;
    r->starters = q;
    q->ctx = r;
    q->gone = on_starter_gone;
    q->stays = true;
}

void hub_watch(struct serve_run *r, void (*fn)(void *ctx, const wend_event *ev),
               void *ctx, void (*free)(void *ctx))
{
    r->watch = fn;
    r->watch_ctx = ctx;
    r->watch_free = free;
}

void hub_free(struct serve_run *r)
{
    struct wend_server *server = r->server;
    struct serve_run **at = bucket_of(server, r->id), **dirty = &server->dirty;
    struct serve_ask *q;

    while (*at != r)
        at = &(*at)->bucket;
    *at = r->bucket;
    while (*dirty && *dirty != r)
        dirty = &(*dirty)->dirty_next;
    if (*dirty)
        *dirty = r->dirty_next;
    while (r->streams)
        flow_unlink(r->streams);
    while ((q = r->starters)) {
        r->starters = q->next;
        q->gone = NULL;
        respond_problem(q, 503, "stopped", NULL, "try again",
                        "the run stopped before it was stored");
    }
    if (r->watch_free)
        r->watch_free(r->watch_ctx);
    while (r->count)
        drop_first(r);
    mem_free(&server->mem, r->ring);
    wend_run_listen(r->run, NULL, NULL); /* it may be freed later than r */
    wend_run_free(r->run);
    server->runs_count--;
    mem_free(&server->mem, r);
}

void hub_park(struct serve_run *r)
{
    r->parks |= r->waits;
    if (r->parks)
        set_dirty(r);
}

/* Not wend_run_error, which also tells why a request to it was refused. */
static bool has_failed(const struct serve_run *r)
{
    return r->run->error.status != WEND_OK;
}

void hub_check(struct serve_run *r)
{
    if (has_failed(r))
        set_dirty(r);
}

/* ---- After a pass of the loop -------------------------------------------- */

/* What every stream has had is not needed; one that reads the log may come
 * back to any of it. */
static void trim(struct serve_run *r)
{
    uint64_t least = r->first + r->count;

    for (const struct serve_flow *s = r->streams; s; s = s->next) {
        uint64_t at = s->log ? r->first : s->at;

        if (at < least)
            least = at;
    }
    while (r->first < least && r->count)
        drop_first(r);
}

static void pass_run(struct serve_run *r)
{
    struct serve_flow *s, *next;

    for (s = r->streams; s; s = next) {
        next = s->next;
        flow_pump(s);
    }
    trim(r);
    if (!r->is_over && !r->parks && !has_failed(r))
        return;
    /* A stream that is still behind finds the rest in the store. */
    for (s = r->streams; s; s = next) {
        next = s->next;
        flow_leave(s);
    }
    hub_free(r);
}

void hub_pass(struct wend_server *server)
{
    struct serve_run *r;

    while ((r = server->dirty)) {
        server->dirty = r->dirty_next;
        r->dirty_next = NULL;
        r->is_dirty = false;
        pass_run(r);
    }
}

/*
 * fetch.c - transfers: their deadlines, begin and end.
 *
 *   CONNECT -> WAIT (the request leaves) -> BODY (its first byte) -> OVER
 *
 * Each phase has a deadline, and so has the whole; a single timer checks them
 * when it fires, so a byte that arrives only costs a note of the time.
 *
 * The way of a transfer (struct way) is chosen when it starts. Connecting,
 * resuming and, from inside a callback, stopping are queued for the loop's next
 * turn.
 */
#include "host/fetch/fetch.h"

#include <assert.h>

#include "base/fail.h"
#include "base/header.h"
#include "base/utf8.h"
#include "host/fetch/fetch_pool.h"
#include "host/loop_uv.h"

enum {
    BYTES_KEPT = 2 << 10, /* by each buffer of a transfer that is spare */
    SPARES_MAX = 256,     /* each holds a handle of about 6 KB */
    SERVED_MAX = 256,     /* of the queue, in one turn */
    /* Many small reads cost mostly wake-ups. A stream is quick after
     * QUICK_READS reads of at most QUICK_BYTES, each QUICK_NS after another. */
    QUICK_READS = 8,
    QUICK_BYTES = 4 << 10,
    QUICK_NS = 1000 * 1000,
};

const char *const fetch_codes[FETCH_ENDS] = {
    [FETCH_OK] = "ok",
    [FETCH_NETWORK] = "network",
    [FETCH_TIMEOUT] = "timeout",
    [FETCH_NOMEM] = "no_memory",
    [FETCH_REFUSED] = "denied",
    [FETCH_CERTIFICATE] = "certificate",
    [FETCH_CA_FILE] = "ca_file",
    [FETCH_PROXY] = "proxy",
    [FETCH_HEADERS] = "headers",
    [FETCH_HTTP2_ONLY] = "http2_only",
    [FETCH_DESCRIPTORS] = "descriptors",
    [FETCH_INSECURE] = "insecure_http",
};

int64_t fetch_now_ms(const struct net *f)
{
    return (int64_t)uv_now(f->uv);
}

/* ---- Deadlines ----------------------------------------------------------- */

static void sooner(int64_t *at, int64_t from, int64_t ms)
{
    if (ms && from + ms < *at)
        *at = from + ms;
}

static int64_t deadline_of(const struct exchange *t)
{
    int64_t at = INT64_MAX, alone_ms;

    sooner(&at, t->began_ms, t->whole_ms);
    switch (t->phase) {
    case PHASE_CONNECT:
        if (!t->starved)
            sooner(&at, t->phase_ms, t->connect_ms);
        else if (!room_others(&alone_ms)) /* else one will end */
            sooner(&at, t->phase_ms > alone_ms ? t->phase_ms : alone_ms,
                   t->connect_ms);
        break;
    case PHASE_WAIT: sooner(&at, t->phase_ms, t->first_byte_ms); break;
    case PHASE_BODY:
        if (!t->paused) /* the silence is ours */
            sooner(&at, t->byte_ms, t->between_ms);
        break;
    case PHASE_OVER: break;
    }
    return at;
}

static void starve(struct exchange *t)
{
    utf8_fmt(t->message, sizeof t->message,
             "%.300s: no file descriptor was free for a connection within "
             "%lld ms; raise the limit (ulimit -n), or run less at once",
             t->parties.host, (long long)t->connect_ms);
    transfer_over(t, FETCH_DESCRIPTORS);
}

void transfer_timeout(struct exchange *t)
{
    static const char *const words[] = {
        [PHASE_CONNECT] = "no connection",
        [PHASE_WAIT] = "no answer",
        [PHASE_BODY] = "no more bytes",
    };
    int64_t limits[] = {
        [PHASE_CONNECT] = t->connect_ms,
        [PHASE_WAIT] = t->first_byte_ms,
        [PHASE_BODY] = t->between_ms,
    };
    char host[PARTIES_BYTES];

    if (t->phase == PHASE_CONNECT && t->starved) {
        starve(t);
        return;
    }
    easy_put_host(&t->parties, host, sizeof host);
    if (t->whole_ms && fetch_now_ms(t->fetch) >= t->began_ms + t->whole_ms)
        utf8_fmt(t->message, sizeof t->message,
                 "%s: not complete within %lld ms", host,
                 (long long)t->whole_ms);
    else
        utf8_fmt(t->message, sizeof t->message, "%s: %s within %lld ms", host,
                 words[t->phase], (long long)limits[t->phase]);
    transfer_over(t, FETCH_TIMEOUT);
}

void transfer_bare(struct exchange *t, const char *address)
{
    utf8_fmt(t->message, sizeof t->message,
             "%.200s: a key or secret would go over plain http to another "
             "machine%s%s%s, and others could read it; use https, or "
             "--insecure-http (insecure_http in the settings file)",
             t->parties.host, address ? " (" : "", address ? address : "",
             address ? ")" : "");
}

void transfer_say(struct exchange *t, const char *words)
{
    utf8_fmt(t->message, sizeof t->message, "%.300s: %s", t->parties.host,
             words);
}

static void on_deadline(uv_timer_t *timer);

/* Starts the timer unless it fires early enough already. */
void transfer_arm(struct exchange *t)
{
    int64_t at = deadline_of(t), now = fetch_now_ms(t->fetch);

    if (t->phase == PHASE_CONNECT && t->dial.turn_ms < at)
        at = t->dial.turn_ms;
    if (at == INT64_MAX)
        return;
    if (uv_is_active((uv_handle_t *)&t->timer) &&
        (int64_t)uv_timer_get_due_in(&t->timer) <= at - now)
        return;
    uv_timer_start(&t->timer, on_deadline, at > now ? (uint64_t)(at - now) : 0,
                   0);
}

/* A delayed loop runs timers before sockets, where bytes may be waiting. */
static void on_deadline(uv_timer_t *timer)
{
    struct exchange *t = timer->data;
    int64_t now = fetch_now_ms(t->fetch);

    if (deadline_of(t) > now) {
        if (t->phase == PHASE_CONNECT && t->dial.turn_ms <= now)
            t->way->turn(t);
        else
            transfer_arm(t);
    } else if (!t->doubted) {
        t->doubted = true;
        uv_timer_start(timer, on_deadline, 1, 0);
    } else {
        transfer_timeout(t);
    }
}

void transfer_enter(struct exchange *t, enum fetch_phase phase)
{
    assert(phase != PHASE_OVER);
    t->phase = phase;
    t->phase_ms = fetch_now_ms(t->fetch);
    t->doubted = false;
    transfer_arm(t);
}

/* ---- What comes ---------------------------------------------------------- */

bool transfer_head(struct exchange *t, int status)
{
    t->head_done = true;
    uv_stop(t->fetch->uv);
    t->events->head(t->ctx, &t->base, status);
    return !t->stopped;
}

bool transfer_body(struct exchange *t, wend_str piece)
{
    struct net *f = t->fetch;

    t->byte_ms = fetch_now_ms(f);
    t->doubted = false;
    if (t->phase != PHASE_BODY)
        transfer_enter(t, PHASE_BODY);
    f->body_bytes += piece.len;
    uv_stop(f->uv);
    t->paused = !t->events->body(t->ctx, piece.ptr, piece.len);
    return !t->stopped && !t->paused;
}

bool transfer_resumes(struct exchange *t)
{
    bool was = t->resume && t->paused;

    t->resume = false;
    if (was) {
        t->paused = false;
        t->byte_ms = fetch_now_ms(t->fetch);
    }
    return was;
}

/* ---- Queue --------------------------------------------------------------- */

static void on_idle(uv_idle_t *idle);

void fetch_kick(struct net *f)
{
    if (!uv_is_active((uv_handle_t *)&f->idle))
        uv_idle_start(&f->idle, on_idle);
}

void fetch_enqueue(struct exchange *t)
{
    if (ring_empty(&t->queue_link))
        ring_put(&t->fetch->queue, &t->queue_link);
    fetch_kick(t->fetch);
}

/* A quick stream is read after a rest, unless there are others. */
void fetch_note_read(struct net *f, int fd, size_t bytes)
{
    uint64_t now_ns = uv_hrtime(), gap_ns = now_ns - f->read_ns;
    uint64_t soon_ns = f->quick_reads > QUICK_READS
                           ? QUICK_NS + LOOP_REST_MS * 1000000
                           : QUICK_NS;
    bool same = fd == f->read_fd;

    f->read_ns = now_ns;
    f->read_fd = fd;
    if (!same || !bytes || bytes > QUICK_BYTES || gap_ns > soon_ns)
        f->quick_reads = 0;
    else if (++f->quick_reads > QUICK_READS)
        loop_rest(f->loop);
}

/* ---- Transfers ----------------------------------------------------------- */

static wend_status transfer_new(struct net *f, struct exchange **out,
                                wend_error *err)
{
    struct exchange *t;

    if (!ring_empty(&f->spare)) {
        t = of_link(f->spare.prev);
        f->spare_count--;
        ring_out(&t->link);
        *out = t;
        return WEND_OK;
    }
    t = mem_zalloc(&f->mem, sizeof *t);
    if (!t)
        return fail_nomem(err);
    t->base.ops = f->base.ops;
    t->fetch = f;
    t->arena.mem = t->head.mem = t->url.text.mem = &f->mem;
    t->asking.mem = t->held.mem = &f->mem;
    ring_init(&t->link);
    ring_init(&t->queue_link);
    uv_timer_init(f->uv, &t->timer);
    t->timer.data = t;
    f->handles++;
    *out = t;
    return WEND_OK;
}

static void on_transfer_closed(uv_handle_t *h)
{
    struct exchange *t = h->data;
    struct net *f = t->fetch;

    mem_free(&f->mem, t);
    fetch_handle_closed(f);
}

static void transfer_free(struct exchange *t)
{
    ring_out(&t->link);
    if (t->easy) {
        t->fetch->curl->easy_cleanup(t->easy);
        easy_url_free(t->fetch->curl, &t->url);
    }
    buf_free(&t->head);
    buf_free(&t->asking);
    buf_free(&t->held);
    arena_free(&t->arena);
    uv_close((uv_handle_t *)&t->timer, on_transfer_closed);
}

/* Leaves its connection and all lists. */
static void detach(struct exchange *t)
{
    uv_timer_stop(&t->timer);
    t->way->leave(t);
    ring_out(&t->queue_link);
    ring_out(&t->link);
    t->phase = PHASE_OVER;
}

static void empty(struct buf *b)
{
    if (b->cap > BYTES_KEPT)
        buf_free(b);
    buf_clear(b);
    b->failed = false;
}

static void retire(struct exchange *t)
{
    struct net *f = t->fetch;

    if (f->spare_count >= SPARES_MAX || f->closed) {
        transfer_free(t);
        return;
    }
    assert(ring_empty(&t->link) && ring_empty(&t->queue_link));
    t->way->forget(t);
    arena_reset(&t->arena);
    t->arena.failed = false;
    empty(&t->head);
    empty(&t->asking);
    empty(&t->held);
    ring_put(&f->spare, &t->link);
    f->spare_count++;
}

void transfer_over(struct exchange *t, enum fetch_end how)
{
    assert(t->phase != PHASE_OVER);
    detach(t);
    room_wake(t->fetch);
    t->fetch->quick_reads = 0; /* what follows is not put off */
    if (!t->stopped) {
        uv_stop(t->fetch->uv);
        t->events->end(t->ctx, how, t->message);
    }
    retire(t);
}

/* ---- Serving the queue --------------------------------------------------- */

static void serve(struct exchange *t)
{
    ring_out(&t->queue_link);
    if (t->stopped)
        transfer_over(t, FETCH_OK);
    else if (t->doom != FETCH_OK)
        transfer_over(t, t->doom);
    else
        t->way->serve(t);
}

/* Transfers queued meanwhile wait for the next turn, and so does the rest of a
 * thousand starts: those under way must not wait for all. */
static void on_idle(uv_idle_t *idle)
{
    struct net *f = idle->data;
    struct ring now;

    uv_idle_stop(idle);
    ring_init(&now);
    ring_move(&now, &f->queue);
    for (int n = 0; n < SERVED_MAX && !ring_empty(&now); n++)
        serve(of_queue(now.next));
    ring_move(&now, &f->queue);
    ring_move(&f->queue, &now);
    multi_run_due(f);
    if (!ring_empty(&f->queue))
        fetch_kick(f);
}

/* The loop is about to wait: then nothing need wait for the next turn. */
static void serve_now(void *ctx)
{
    struct net *f = ctx;

    if (!uv_is_active((uv_handle_t *)&f->idle))
        return;
    uv_update_time(f->uv);
    on_idle(&f->idle);
}

/* ---- Public -------------------------------------------------------------- */

static void on_idle_closed(uv_handle_t *h)
{
    fetch_handle_closed(h->data);
}

static void close_all(struct fetch *base)
{
    struct net *f = container_of(base, struct net, base);

    f->closed = true;
    loop_before(f->loop, NULL, NULL);
    while (!ring_empty(&f->live)) {
        struct exchange *t = of_link(f->live.next);

        detach(t);
        retire(t);
    }
    while (!ring_empty(&f->spare))
        transfer_free(of_link(f->spare.next));
    multi_free_all(f);
    conn_free_all(f);
    room_free();
    if (f->share)
        f->curl->share_cleanup(f->share);
    uv_close((uv_handle_t *)&f->idle, on_idle_closed);
    uv_close((uv_handle_t *)&f->retry, on_idle_closed);
}

/* Also if the server takes it twice. */
static bool is_harmless(const struct fetch_request *q)
{
    const char *method = q->method ? q->method : q->body.ptr ? "POST" : "GET";

    return !q->once &&
           (q->harmless || !strcmp(method, "GET") || !strcmp(method, "HEAD"));
}

static wend_status start(struct fetch *base, const struct fetch_request *q,
                         const struct fetch_events *events, void *ctx,
                         struct transfer **out, wend_error *err)
{
    struct net *f = container_of(base, struct net, base);
    struct exchange *t = NULL;
    wend_status s = easy_check(q, err);

    if (s == WEND_OK)
        s = transfer_new(f, &t, err);
    if (s != WEND_OK)
        return s;
    t->events = events;
    t->ctx = ctx;
    t->host = easy_host(q, &t->arena).ptr;
    t->connect_ms = q->connect_ms;
    t->first_byte_ms = q->first_byte_ms;
    t->between_ms = q->between_ms;
    t->whole_ms = q->whole_ms;
    t->harmless = is_harmless(q);
    t->http2 = q->http2;
    t->stopped = t->paused = t->resume = t->head_done = false;
    t->message[0] = 0;
    t->doom = FETCH_OK;
    t->starved = false;
    t->parties = (struct parties){.host = easy_party(q, &t->arena).ptr};
    t->guard = route_guard(q, &t->arena);
    t->way = route_find(q, &t->arena, &t->route) ? &plain_way : &libcurl_way;
    if (t->guard == GUARD_REFUSE) {
        t->doom = FETCH_INSECURE;
        transfer_bare(t, NULL);
    }
    s = t->way->prepare(t, q, err);
    if (s != WEND_OK) {
        retire(t);
        return s;
    }
    ring_put(&f->live, &t->link);
    f->quick_reads = 0;
    uv_update_time(f->uv); /* the last turn may be long ago */
    t->began_ms = t->byte_ms = fetch_now_ms(f);
    dial_begin(t);
    transfer_enter(t, PHASE_CONNECT);
    if (t->doom == FETCH_OK)
        t->way->begin(t);
    else
        fetch_enqueue(t);
    *out = &t->base;
    return WEND_OK;
}

static wend_str header(const struct transfer *base, const char *name)
{
    const struct exchange *t = container_of(base, struct exchange, base);

    return header_value(buf_view(&t->head), name);
}

static void resume(struct transfer *base)
{
    struct exchange *t = container_of(base, struct exchange, base);

    if (t->stopped || t->phase == PHASE_OVER)
        return;
    t->resume = true;
    fetch_enqueue(t);
}

static void stop(struct transfer *base)
{
    struct exchange *t = container_of(base, struct exchange, base);

    if (t->stopped || t->phase == PHASE_OVER)
        return;
    t->stopped = true;
    if (t->fetch->inside)
        fetch_enqueue(t);
    else
        transfer_over(t, FETCH_OK);
}

static const struct fetch_ops ops = {close_all, start, header, resume, stop};

wend_status fetch_new(const struct mem *m, struct loop *loop,
                      struct fetch **out, wend_error *err)
{
    struct net *f = mem_zalloc(m, sizeof *f);

    if (!f)
        return fail_nomem(err);
    f->base.ops = &ops;
    f->mem = *m;
    f->loop = loop;
    f->uv = loop_uv(loop);
    ring_init(&f->live);
    ring_init(&f->spare);
    ring_init(&f->queue);
    ring_init(&f->idle_conns);
    name_init(f);
    uv_idle_init(f->uv, &f->idle);
    f->idle.data = f;
    f->handles = 1;
    room_init(f);
    loop_before(loop, serve_now, f);
    *out = &f->base;
    return WEND_OK;
}

/*
 * fetch.c - transfers: their callbacks, deadlines, begin and end.
 *
 *   CONNECT -> WAIT (the request leaves) -> BODY (its first byte) -> OVER
 *
 * Each phase has its own deadline, and all together one; a transfer keeps a
 * single timer, which looks when it fires what is due. So a byte that
 * arrives only costs a note of the time.
 *
 * fetch_start, fetch_resume and, from inside a callback, fetch_stop only
 * leave a wish in the queue; the loop's next turn serves it.
 */
#include "host/fetch.h"

#include <stdio.h>
#include <strings.h>

#include "base/fail.h"
#include "host/fetch_pool.h"
#include "host/loop_uv.h"

enum {
    HEAD_BYTES_MAX = 32 << 10, /* of a response's headers, as servers do */
    HEAD_BYTES_KEPT = 2 << 10, /* by a transfer that is spare */
    SPARES_MAX = 256,          /* each holds a handle of about 6 KB */
    SERVED_MAX = 256,          /* of the queue, in one turn */
};

static int64_t now_ms(const struct fetch *f)
{
    return (int64_t)uv_now(f->uv);
}

/* ---- Deadlines ----------------------------------------------------------- */

static void sooner(int64_t *at, int64_t from, int64_t ms)
{
    if (ms && from + ms < *at)
        *at = from + ms;
}

static int64_t deadline_of(const struct transfer *t)
{
    int64_t at = INT64_MAX;

    sooner(&at, t->began_ms, t->whole_ms);
    switch (t->phase) {
    case PHASE_CONNECT: sooner(&at, t->began_ms, t->connect_ms); break;
    case PHASE_WAIT: sooner(&at, t->phase_ms, t->first_byte_ms); break;
    case PHASE_BODY:
        if (!t->paused) /* the silence is ours */
            sooner(&at, t->byte_ms, t->between_ms);
        break;
    case PHASE_OVER: break;
    }
    return at;
}

static void say_timeout(struct transfer *t)
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

    if (t->whole_ms && now_ms(t->fetch) >= t->began_ms + t->whole_ms)
        snprintf(t->message, sizeof t->message,
                 "%s: not complete within %lld ms", t->host,
                 (long long)t->whole_ms);
    else
        snprintf(t->message, sizeof t->message, "%s: %s within %lld ms",
                 t->host, words[t->phase], (long long)limits[t->phase]);
}

static void on_deadline(uv_timer_t *timer);

/* Starts the timer unless it fires early enough already. */
static void arm(struct transfer *t)
{
    int64_t at = deadline_of(t), now = now_ms(t->fetch);

    if (at == INT64_MAX)
        return;
    if (uv_is_active((uv_handle_t *)&t->timer) &&
        (int64_t)uv_timer_get_due_in(&t->timer) <= at - now)
        return;
    uv_timer_start(&t->timer, on_deadline, at > now ? (uint64_t)(at - now) : 0,
                   0);
}

/* A loop that was held up runs its timers before it looks at the sockets,
 * where the bytes may be waiting: so it looks there once more. */
static void on_deadline(uv_timer_t *timer)
{
    struct transfer *t = timer->data;

    if (deadline_of(t) > now_ms(t->fetch)) {
        arm(t);
    } else if (!t->doubted) {
        t->doubted = true;
        uv_timer_start(timer, on_deadline, 1, 0);
    } else {
        transfer_finish(t, CURLE_OPERATION_TIMEDOUT);
    }
}

static void enter(struct transfer *t, enum phase phase)
{
    t->phase = phase;
    t->phase_ms = now_ms(t->fetch);
    t->doubted = false;
    arm(t);
}

/* ---- Queue --------------------------------------------------------------- */

static void on_idle(uv_idle_t *idle);

void fetch_kick(struct fetch *f)
{
    if (!uv_is_active((uv_handle_t *)&f->idle))
        uv_idle_start(&f->idle, on_idle);
}

void fetch_enqueue(struct transfer *t)
{
    if (ring_empty(&t->queue_link))
        ring_put(&t->fetch->queue, &t->queue_link);
    fetch_kick(t->fetch);
}

/* ---- Callbacks of libcurl ------------------------------------------------
 */

/* A name is known when a socket is opened for it. */
static curl_socket_t on_open(void *ctx, curlsocktype purpose,
                             struct curl_sockaddr *a)
{
    struct transfer *t = ctx;

    (void)purpose;
    name_done(t, true);
    if (t->stopped) /* and whoever could be asked is gone */
        return CURL_SOCKET_BAD;
    if (t->allow && !t->allow(t->ctx, &a->addr, t->why, sizeof t->why))
        return CURL_SOCKET_BAD; /* libcurl tries the next address */
    return multi_open_socket(t, a);
}

static int on_connected(void *ctx, char *ip, char *own_ip, int port,
                        int own_port)
{
    struct transfer *t = ctx;

    (void)ip, (void)own_ip, (void)port, (void)own_port;
    name_done(t, true);
    if (t->phase == PHASE_CONNECT)
        enter(t, PHASE_WAIT);
    return CURL_PREREQFUNC_OK;
}

/* Returning 0 makes libcurl give up. */
static size_t refuse(struct transfer *t, CURLcode why)
{
    t->refused = why;
    return 0;
}

static bool head_ends(struct transfer *t)
{
    struct fetch *f = t->fetch;
    long status = 0;

    f->curl->easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200) { /* more heads follow */
        buf_clear(&t->head);
        return true;
    }
    t->head_done = true;
    uv_stop(f->uv);
    t->events->head(t->ctx, t, (int)status);
    return !t->stopped;
}

static size_t on_header(char *p, size_t size, size_t count, void *ctx)
{
    struct transfer *t = ctx;
    size_t len = size * count;

    if (t->stopped)
        return 0;
    if (t->head_done) /* trailers */
        return len;
    if (len > 5 && !memcmp(p, "HTTP/", 5))
        buf_clear(&t->head);
    if (len <= 2 && (p[0] == '\r' || p[0] == '\n'))
        return head_ends(t) ? len : 0;
    if (len > HEAD_BYTES_MAX - t->head.len)
        return refuse(t, CURLE_FILESIZE_EXCEEDED);
    buf_add(&t->head, p, len);
    return t->head.failed ? refuse(t, CURLE_OUT_OF_MEMORY) : len;
}

static size_t on_body(char *p, size_t size, size_t count, void *ctx)
{
    struct transfer *t = ctx;
    size_t len = size * count;

    if (t->stopped || !len)
        return 0;
    t->byte_ms = now_ms(t->fetch);
    t->doubted = false;
    if (t->phase != PHASE_BODY)
        enter(t, PHASE_BODY);
    t->fetch->body_bytes += len;
    uv_stop(t->fetch->uv);
    t->paused = !t->events->body(t->ctx, p, len);
    if (t->stopped)
        return 0;
    return t->paused ? CURL_WRITEFUNC_PAUSE : len;
}

/* ---- Transfers ----------------------------------------------------------- */

static wend_status transfer_new(struct fetch *f, struct transfer **out,
                                wend_error *err)
{
    struct transfer *t;

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
    t->easy = f->curl->easy_init();
    if (!t->easy) {
        mem_free(&f->mem, t);
        return fail_nomem(err);
    }
    t->fetch = f;
    t->arena.mem = t->head.mem = t->url.text.mem = &f->mem;
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
    struct transfer *t = h->data;
    struct fetch *f = t->fetch;

    mem_free(&f->mem, t);
    fetch_handle_closed(f);
}

static void transfer_free(struct transfer *t)
{
    ring_out(&t->link);
    t->fetch->curl->easy_cleanup(t->easy);
    easy_url_free(t->fetch->curl, &t->url);
    buf_free(&t->head);
    arena_free(&t->arena);
    uv_close((uv_handle_t *)&t->timer, on_transfer_closed);
}

/* Away from libcurl and from whoever waits. */
static void detach(struct transfer *t)
{
    uv_timer_stop(&t->timer);
    multi_remove(t);
    name_done(t, false);
    ring_out(&t->queue_link);
    ring_out(&t->link);
    t->phase = PHASE_OVER;
}

static void retire(struct transfer *t)
{
    struct fetch *f = t->fetch;

    if (f->spare_count >= SPARES_MAX || f->closed) {
        transfer_free(t);
        return;
    }
    f->curl->easy_reset(t->easy); /* forgets keys and bodies */
    arena_reset(&t->arena);
    t->arena.failed = false;
    if (t->head.cap > HEAD_BYTES_KEPT)
        buf_free(&t->head);
    buf_clear(&t->head);
    t->head.failed = false;
    ring_put(&f->spare, &t->link);
    f->spare_count++;
}

static void finish_one(struct transfer *t, CURLcode code)
{
    enum fetch_end how = FETCH_TIMEOUT;

    if (t->refused != CURLE_OK)
        code = t->refused;
    else if (code == CURLE_OK && !t->head_done)
        code = CURLE_GOT_NOTHING; /* the end came within the head */
    if (code == CURLE_OPERATION_TIMEDOUT) {
        say_timeout(t);
    } else if (code == CURLE_COULDNT_CONNECT && t->why[0]) {
        how = FETCH_REFUSED;
        snprintf(t->message, sizeof t->message, "%.300s: %s", t->host, t->why);
    } else {
        how = easy_result(t->fetch->curl, t->easy, code, t->host, t->detail,
                          t->message, sizeof t->message);
    }
    detach(t);
    t->fetch->quick_reads = 0; /* what follows is not put off */
    if (!t->stopped) {
        uv_stop(t->fetch->uv);
        t->events->end(t->ctx, how, t->message);
    }
    retire(t);
}

/* A name that one transfer cannot resolve is not asked for again by those
 * that waited for the answer. */
void transfer_finish(struct transfer *t, CURLcode code)
{
    struct ring same;

    ring_init(&same);
    if (code == CURLE_COULDNT_RESOLVE_HOST && t->asks)
        ring_move(&same, &t->asks->waiting);
    finish_one(t, code);
    while (!ring_empty(&same))
        finish_one(of_queue(same.next), code);
}

/* ---- Serving the queue --------------------------------------------------- */

static void go_on(struct transfer *t)
{
    struct fetch *f = t->fetch;
    CURLcode code;

    t->resume = false;
    if (!t->paused)
        return;
    t->paused = false;
    t->byte_ms = now_ms(f);
    f->inside++;
    code = f->curl->easy_pause(t->easy, CURLPAUSE_CONT);
    f->inside--;
    if (code != CURLE_OK)
        transfer_finish(t, code);
    else
        arm(t);
}

static void serve(struct transfer *t)
{
    ring_out(&t->queue_link);
    if (t->stopped || t->refused != CURLE_OK) {
        transfer_finish(t, CURLE_ABORTED_BY_CALLBACK);
    } else if (t->multi) {
        if (t->resume)
            go_on(t);
    } else if (!name_wait(t) && !multi_add(t)) {
        transfer_finish(t, CURLE_OUT_OF_MEMORY);
    }
}

/* What is queued while this runs waits for the next turn, and so does the
 * rest of a thousand starts: those under way must not wait for all of them.
 */
static void on_idle(uv_idle_t *idle)
{
    struct fetch *f = idle->data;
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

/* The loop is about to wait: then libcurl need not wait for the next turn. */
static void serve_now(void *ctx)
{
    struct fetch *f = ctx;

    if (!uv_is_active((uv_handle_t *)&f->idle))
        return;
    uv_update_time(f->uv);
    on_idle(&f->idle);
}

/* ---- Public -------------------------------------------------------------- */

wend_status fetch_new(const struct mem *m, struct loop *loop,
                      struct fetch **out, wend_error *err)
{
    struct fetch *f = mem_zalloc(m, sizeof *f);

    if (!f)
        return fail_nomem(err);
    f->mem = *m;
    f->loop = loop;
    f->uv = loop_uv(loop);
    f->ca_file = easy_ca_file();
    ring_init(&f->live);
    ring_init(&f->spare);
    ring_init(&f->queue);
    name_init(f);
    uv_idle_init(f->uv, &f->idle);
    f->idle.data = f;
    f->handles = 1;
    loop_before(loop, serve_now, f);
    *out = f;
    return WEND_OK;
}

static void on_idle_closed(uv_handle_t *h)
{
    fetch_handle_closed(h->data);
}

void fetch_free(struct fetch *f)
{
    if (!f)
        return;
    f->closed = true;
    loop_before(f->loop, NULL, NULL);
    while (!ring_empty(&f->live)) {
        struct transfer *t = of_link(f->live.next);

        detach(t);
        retire(t);
    }
    while (!ring_empty(&f->spare))
        transfer_free(of_link(f->spare.next));
    multi_free_all(f);
    if (f->share)
        f->curl->share_cleanup(f->share);
    uv_close((uv_handle_t *)&f->idle, on_idle_closed);
}

/* With the first transfer. */
static wend_status open_curl(struct fetch *f, wend_error *err)
{
    const struct curl_api *curl;
    wend_status s = curl_load(&curl, err);

    if (s != WEND_OK)
        return s;
    f->share = curl->share_init();
    if (!f->share)
        return fail_nomem(err);
    curl->share_setopt(f->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
    curl->share_setopt(f->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    f->curl = curl;
    return WEND_OK;
}

static bool set_callbacks(const struct curl_api *curl, struct transfer *t)
{
    const struct {
        CURLoption option;
        void *value;
    } data[] = {
        {CURLOPT_PRIVATE, t},
        {CURLOPT_ERRORBUFFER, t->detail},
        {CURLOPT_SHARE, t->fetch->share},
        {CURLOPT_PREREQDATA, t},
        {CURLOPT_OPENSOCKETDATA, t},
        {CURLOPT_CLOSESOCKETDATA, t->fetch}, /* connections outlive t */
        {CURLOPT_HEADERDATA, t},
        {CURLOPT_WRITEDATA, t},
    };
    int failed = 0;

    for (size_t i = 0; i < sizeof data / sizeof *data; i++)
        failed |= curl->easy_setopt(t->easy, data[i].option, data[i].value);
    failed |= curl->easy_setopt(t->easy, CURLOPT_PREREQFUNCTION, on_connected);
    failed |= curl->easy_setopt(t->easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    failed |= curl->easy_setopt(t->easy, CURLOPT_CLOSESOCKETFUNCTION,
                                multi_close_socket);
    failed |= curl->easy_setopt(t->easy, CURLOPT_HEADERFUNCTION, on_header);
    failed |= curl->easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, on_body);
    return !failed;
}

wend_status fetch_start(struct fetch *f, const struct fetch_request *q,
                        const struct fetch_events *events, void *ctx,
                        struct transfer **out, wend_error *err)
{
    struct transfer *t = NULL;
    wend_status s = easy_check(q, err);

    if (s == WEND_OK && !f->curl)
        s = open_curl(f, err);
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
    t->stopped = t->paused = t->resume = t->head_done = false;
    t->refused = CURLE_OK;
    t->detail[0] = t->why[0] = 0;
    t->allow = q->allow;
    if (!easy_set(f->curl, t->easy, q, f->ca_file, &t->url, &t->arena) ||
        !set_callbacks(f->curl, t)) {
        retire(t);
        return fail_nomem(err);
    }
    ring_put(&f->live, &t->link);
    f->quick_reads = 0;
    uv_update_time(f->uv); /* the last turn may be long ago */
    t->began_ms = t->byte_ms = now_ms(f);
    enter(t, PHASE_CONNECT);
    fetch_enqueue(t);
    *out = t;
    return WEND_OK;
}

wend_str fetch_header(const struct transfer *t, const char *name)
{
    const char *p = t->head.ptr, *end = p ? p + t->head.len : NULL, *next;
    size_t len = strlen(name);

    for (; p < end; p = next) {
        next = memchr(p, '\n', (size_t)(end - p));
        next = next ? next + 1 : end;
        if ((size_t)(next - p) <= len || p[len] != ':' ||
            strncasecmp(p, name, len) != 0)
            continue;
        p += len + 1;
        while (p < next && (*p == ' ' || *p == '\t'))
            p++;
        while (next > p && strchr(" \t\r\n", next[-1]))
            next--;
        return (wend_str){p, (size_t)(next - p)};
    }
    return STR_NONE;
}

void fetch_resume(struct transfer *t)
{
    if (t->stopped || t->phase == PHASE_OVER)
        return;
    t->resume = true;
    fetch_enqueue(t);
}

void fetch_stop(struct transfer *t)
{
    if (t->stopped || t->phase == PHASE_OVER)
        return;
    t->stopped = true;
    if (t->fetch->inside)
        fetch_enqueue(t);
    else
        transfer_finish(t, CURLE_ABORTED_BY_CALLBACK);
}

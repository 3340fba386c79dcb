/*
 * conn.c - a connection: requests in, answers out, one after another.
 *
 *     IDLE -> HEAD -> BODY -> ANSWER -> IDLE
 *                               |  `--> DENIED -> IDLE
 *                               |  `--> STREAM -> IDLE
 *                               `-----> LINGER, closed
 */
#include "serve/serve.h"

#include <assert.h>

enum { HEAD_KEPT_BYTES = 4 << 10, BODY_KEPT_BYTES = 16 << 10 };

static void feed_ahead(struct serve_conn *c);

static void conn_set(struct serve_conn *c, enum serve_state state)
{
    c->state = state;
    c->since_us = server_now(c->server);
}

/* ---- The end ------------------------------------------------------------- */

static void drop_body(struct serve_conn *c)
{
    c->server->bodies -= c->body.len;
    buf_reuse(&c->body, BODY_KEPT_BYTES);
    buf_clear(&c->body);
}

/* Notes how much of the last write is still to be sent. */
static void count_out(struct serve_conn *c, size_t left)
{
    c->server->outs += left;
    c->server->outs -= c->left;
    c->left = left;
}

static void release(struct serve_conn *c)
{
    struct wend_server *server = c->server;

    *c->prev = c->next;
    if (c->next)
        c->next->prev = c->prev;
    server->conns_count--;
    server->bodies -= c->body.len;
    count_out(c, 0);
    mem_free(&server->mem, c->req);
    buf_free(&c->head);
    buf_free(&c->body);
    buf_free(&c->out);
    buf_free(&c->ahead);
    arena_free(&c->ask.arena);
    mem_free(&server->mem, c);
}

void conn_free(struct serve_conn *c)
{
    struct serve_flow *s = c->stream;

    if (!c->dead) {
        c->dead = true;
        c->stream = NULL;
        sock_close(c->sock);
        if (s)
            flow_free(s);
        if (c->ask.gone)
            c->ask.gone(&c->ask);
        c->ask.gone = NULL;
    }
    if (!c->inside)
        release(c);
}

static void enter(struct serve_conn *c)
{
    c->inside++;
}

static void leave(struct serve_conn *c)
{
    c->inside--;
    if (c->dead && !c->inside)
        release(c);
}

/* ---- Answers ------------------------------------------------------------- */

static void log_access(struct serve_conn *c, int status, int64_t bytes)
{
    const wend_server_options *o = &c->server->options;
    const struct http_req *req = c->req;
    int64_t now = server_now(c->server);
    struct buf b = {.mem = &c->server->mem};

    c->server->metrics.requests[status / 100 % SERVE_CLASSES]++;
    if (!o->access)
        return;
    json_open(&b, NULL, '{');
    json_add_time(&b, "time", rt_wall(c->server->rt));
    json_add_str(&b, "method", req ? req->method : STR_NONE);
    json_add_str(&b, "path", req ? req->path : STR_NONE);
    json_add_i64(&b, "status", status);
    if (bytes >= 0)
        json_add_i64(&b, "bytes", bytes);
    json_add_i64(&b, "ms", (now - c->asked_us) / 1000);
    json_add_str(&b, "user", c->ask.user);
    json_close(&b, '}');
    if (!b.failed)
        o->access(o->access_ctx, buf_view(&b));
    buf_free(&b);
}

/* What is written is with the system, or copied. */
static void after_answer(struct serve_conn *c)
{
    arena_free(&c->ask.arena);
    memset(&c->ask, 0, sizeof c->ask);
    drop_body(c);
    mem_free(&c->server->mem, c->req);
    c->req = NULL;
    buf_reuse(&c->head, HEAD_KEPT_BYTES);
    buf_clear(&c->head);
    if (c->keep && !c->server->draining) {
        conn_set(c, CONN_IDLE);
        return;
    }
    conn_set(c, CONN_LINGER);
    sock_reads(c->sock, true);
    if (!sock_is_busy(c->sock))
        sock_shut(c->sock);
}

static void flush(struct serve_conn *c, wend_str body)
{
    const wend_str pieces[] = {buf_view(&c->out), body};

    sock_write(c->sock, pieces, 2);
    count_out(c, sock_left(c->sock));
    buf_reuse(&c->out, HEAD_KEPT_BYTES);
    buf_clear(&c->out);
    after_answer(c);
}

/* Whether too much is in memory for clients that read slowly. */
static bool is_flooded(const struct serve_conn *c, wend_str body)
{
    return body.len > SERVE_OUT_MAX &&
           c->server->outs + body.len > SERVE_OUTS_MAX;
}

void conn_answer(struct serve_conn *c, const struct http_answer *head,
                 wend_str body)
{
    struct http_answer a = *head;

    assert(c->state != CONN_STREAM && c->state != CONN_DENIED);
    if (is_flooded(c, body)) {
        respond_problem(&c->ask, 503, "overloaded", NULL,
                        "try again in a second",
                        "too many answers are being sent");
        return;
    }
    if (c->state != CONN_ANSWER) /* the rest of it is not read */
        c->keep = false;
    a.keep = c->keep && !c->server->draining;
    c->keep = a.keep;
    c->ask.gone = NULL;
    if (!http_answer_head(&c->out, &a))
        c->out.failed = true;
    if (c->req && c->req->is_head)
        body = STR_NONE;
    if (a.status == 401)
        buf_str(&c->out, body); /* it may be sent later */
    if (c->out.failed) {
        conn_free(c);
        return;
    }
    log_access(c, a.status, a.length);
    if (a.status == 401 && http_req_value(c->req, "authorization").ptr) {
        conn_set(c, CONN_DENIED);
        server_tick_on(c->server);
        return;
    }
    flush(c, a.status == 401 ? STR_NONE : body);
    if (!c->inside)
        feed_ahead(c);
}

/* ---- Streams ------------------------------------------------------------- */

bool conn_stream(struct serve_conn *c, struct serve_flow *s,
                 const struct http_field *fields, size_t fields_count)
{
    const struct http_answer head = {
        .status = 200,
        .length = c->req->old ? HTTP_TO_CLOSE : HTTP_CHUNKED,
        .keep = c->keep && !c->req->old,
        .fields = fields,
        .fields_count = fields_count,
    };
    wend_str out;

    c->keep = head.keep;
    c->chunked = !c->req->old;
    c->ask.gone = NULL;
    if (!http_answer_head(&c->out, &head) || c->out.failed) {
        c->out.failed = false;
        return false;
    }
    log_access(c, 200, -1);
    c->stream = s;
    conn_set(c, CONN_STREAM);
    out = buf_view(&c->out);
    sock_write(c->sock, &out, 1);
    buf_free(&c->out);
    drop_body(c);
    return true;
}

bool conn_ready(const struct serve_conn *c)
{
    return !c->dead && c->state == CONN_STREAM && !sock_is_busy(c->sock);
}

void conn_send(struct serve_conn *c, const wend_str *pieces, size_t count)
{
    enum { PIECES_MAX = 64 };
    wend_str all[PIECES_MAX + 2];
    char head[HTTP_CHUNK_HEAD_MAX];
    size_t len = 0;

    assert(count <= PIECES_MAX && conn_ready(c));
    if (!c->chunked) {
        sock_write(c->sock, pieces, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        all[i + 1] = pieces[i];
        len += pieces[i].len;
    }
    if (!len)
        return;
    all[0] = (wend_str){head, http_chunk_head(head, len)};
    all[count + 1] = STR("\r\n");
    c->since_us = server_now(c->server);
    sock_write(c->sock, all, count + 2);
}

void conn_stream_end(struct serve_conn *c)
{
    assert(conn_ready(c));
    c->stream = NULL;
    if (c->chunked)
        buf_cstr(&c->out, http_chunk_last);
    if (c->out.failed) {
        conn_free(c);
        return;
    }
    flush(c, STR_NONE);
    if (!c->inside)
        feed_ahead(c);
}

/* ---- Requests ------------------------------------------------------------ */

static bool begin_request(struct serve_conn *c)
{
    if (c->req)
        return true;
    c->req = mem_zalloc(&c->server->mem, sizeof *c->req);
    if (!c->req)
        return false;
    http_req_begin(c->req, &c->head);
    memset(&c->ask, 0, sizeof c->ask);
    c->ask.conn = c;
    c->ask.server = c->server;
    c->ask.req = c->req;
    c->ask.arena.mem = &c->server->mem;
    c->asked_us = server_now(c->server);
    return true;
}

static void on_head(struct serve_conn *c)
{
    uint64_t max = 0;

    conn_set(c, CONN_BODY);
    c->keep = c->req->keep;
    if (!route_head(&c->ask, &max))
        return;
    if (c->server->bodies + max > SERVE_BODIES_MAX && c->req->has_body) {
        respond_problem(&c->ask, 503, "overloaded", NULL,
                        "try again in a second", "too many requests at once");
        return;
    }
    c->req->body_max = max;
    if (c->req->expects && c->req->has_body && c->req->length <= (int64_t)max &&
        !sock_is_busy(c->sock)) {
        wend_str go = str_of(http_continue);

        sock_write(c->sock, &go, 1);
    }
}

static void on_body(struct serve_conn *c, wend_str piece)
{
    size_t before = c->body.len;

    buf_str(&c->body, piece);
    c->server->bodies += c->body.len - before;
    if (c->body.failed)
        respond_nomem(&c->ask);
    else if (c->server->bodies > SERVE_BODIES_MAX)
        respond_problem(&c->ask, 503, "overloaded", NULL,
                        "try again in a second", "too many requests at once");
}

static void on_complete(struct serve_conn *c)
{
    conn_set(c, CONN_ANSWER);
    c->ask.body = buf_view(&c->body);
    route_ask(&c->ask);
}

static void on_bad(struct serve_conn *c)
{
    c->ask.req = c->req;
    respond_problem(&c->ask, c->req->status, "bad_request", NULL, NULL, "%s",
                    c->req->why);
}

static bool takes_bytes(const struct serve_conn *c)
{
    return !c->dead && c->state <= CONN_BODY;
}

static void feed(struct serve_conn *c, wend_str in)
{
    wend_str piece;

    enter(c);
    while (takes_bytes(c) && !sock_is_busy(c->sock) &&
           (in.len || c->state == CONN_BODY)) {
        enum http_req_event ev;

        if (!begin_request(c)) {
            conn_free(c);
            break;
        }
        ev = http_req_next(c->req, &in, &piece);
        if (ev == HTTP_REQ_MORE)
            break;
        switch (ev) {
        case HTTP_REQ_HEAD: on_head(c); break;
        case HTTP_REQ_BODY: on_body(c, piece); break;
        case HTTP_REQ_DONE: on_complete(c); break;
        case HTTP_REQ_BAD: on_bad(c); break;
        case HTTP_REQ_NOMEM: conn_free(c); break;
        case HTTP_REQ_MORE: break;
        }
    }
    if (!c->dead && c->state == CONN_IDLE && c->req && http_req_begun(c->req))
        conn_set(c, CONN_HEAD);
    if (!c->dead && c->state != CONN_LINGER && in.len) {
        buf_str(&c->ahead, in);
        if (c->ahead.failed)
            conn_free(c);
        else if (c->ahead.len > SERVE_PIPELINED_MAX)
            sock_reads(c->sock, false);
    }
    leave(c);
}

/* What was read ahead of the answer that is now complete. */
static void feed_ahead(struct serve_conn *c)
{
    struct buf ahead = c->ahead;

    if (!takes_bytes(c) || sock_is_busy(c->sock))
        return;
    c->ahead = (struct buf){.mem = ahead.mem};
    if (!c->ended)
        sock_reads(c->sock, true);
    enter(c);
    if (ahead.len)
        feed(c, buf_view(&ahead));
    if (!c->dead && c->ended && takes_bytes(c) && !c->ahead.len)
        conn_free(c);
    leave(c);
    buf_free(&ahead);
}

/* ---- Events of the socket ------------------------------------------------ */

static void on_read(void *ctx, wend_str bytes)
{
    struct serve_conn *c = ctx;

    if (c->state == CONN_LINGER)
        return;
    if (!takes_bytes(c) || c->ahead.len) {
        buf_str(&c->ahead, bytes);
        if (c->ahead.failed)
            conn_free(c);
        else if (c->ahead.len > SERVE_PIPELINED_MAX)
            sock_reads(c->sock, false);
        return;
    }
    feed(c, bytes);
}

/* A client may send its last request and close its side: the answer is still
 * written. A stream has no reader any more. */
static void on_ended(void *ctx)
{
    struct serve_conn *c = ctx;

    c->ended = true;
    if ((c->state == CONN_ANSWER && (!c->ask.gone || c->ask.stays)) ||
        c->state == CONN_DENIED || (takes_bytes(c) && c->ahead.len) ||
        (c->state != CONN_STREAM && sock_is_busy(c->sock)))
        return;
    conn_free(c);
}

static void on_room(void *ctx)
{
    struct serve_conn *c = ctx;

    c->since_us = server_now(c->server);
    count_out(c, 0);
    if (c->state == CONN_LINGER) {
        if (c->ended)
            conn_free(c);
        else
            sock_shut(c->sock);
    } else if (c->state == CONN_STREAM) {
        flow_pump(c->stream);
    } else {
        feed_ahead(c);
    }
}

static const struct sock_events conn_events = {on_read, on_ended, on_room};

void *conn_accept(void *ctx, struct sock *s, const struct sock_events **events)
{
    struct wend_server *server = ctx;
    struct serve_conn *c;

    if (server->conns_count >= server->options.connections_max)
        return NULL;
    c = mem_zalloc(&server->mem, sizeof *c);
    if (!c)
        return NULL;
    c->server = server;
    c->sock = s;
    c->head.mem = c->body.mem = c->out.mem = c->ahead.mem = &server->mem;
    c->next = server->conns;
    c->prev = &server->conns;
    if (c->next)
        c->next->prev = &c->next;
    server->conns = c;
    server->conns_count++;
    conn_set(c, CONN_IDLE);
    server_tick_on(server);
    *events = &conn_events;
    return c;
}

/* ---- Time ---------------------------------------------------------------- */

static int64_t patience_ms(const struct serve_conn *c)
{
    switch (c->state) {
    case CONN_IDLE: return SERVE_IDLE_MS;
    case CONN_HEAD: return SERVE_HEAD_MS;
    case CONN_BODY:
        return SERVE_BODY_MS + (int64_t)c->body.len * 1000 / SERVE_BODY_RATE;
    case CONN_LINGER: return SERVE_LINGER_MS;
    case CONN_ANSWER:
    case CONN_DENIED:
    case CONN_STREAM: break; /* they wait for the server */
    }
    return INT64_MAX / 1000;
}

/* Closed on time-out without an answer where none was asked for. */
static void time_out(struct serve_conn *c)
{
    if (c->state == CONN_HEAD || c->state == CONN_BODY)
        respond_problem(&c->ask, 408, "timeout", NULL, NULL,
                        "the request did not arrive in time");
    else
        conn_free(c);
}

/* A client that takes nothing of what is written is given up. */
static void tick_write(struct serve_conn *c, int64_t now_us)
{
    size_t left = sock_left(c->sock);

    if (left != c->left)
        c->since_us = now_us;
    count_out(c, left);
    if (now_us - c->since_us > SERVE_WRITE_MS * 1000LL)
        conn_free(c);
}

void conn_tick(struct serve_conn *c, int64_t now_us)
{
    if (c->state == CONN_DENIED) {
        enter(c);
        conn_set(c, CONN_ANSWER);
        flush(c, STR_NONE);
        feed_ahead(c);
        leave(c);
        return;
    }
    if (sock_is_busy(c->sock))
        tick_write(c, now_us);
    else if (now_us - c->since_us > patience_ms(c) * 1000)
        time_out(c);
}

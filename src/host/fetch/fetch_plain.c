/*
 * fetch_plain.c - transfers over plain sockets: HTTP/1.1 without TLS.
 *
 * Loading libcurl costs more than the rest of a process's start, and it takes
 * a third of the time of a request to this machine.
 *
 * Head and body leave in one system call if they fit, on a kept connection if
 * there is one; a new socket is written to before it is known to be connected,
 * since on loopback it mostly is. All transfers read into one buffer, of which
 * the rest is copied while a transfer is paused.
 *
 * A kept connection that the server closes without a word is replaced by a new
 * one, once, if the server may take the request twice.
 */
#include <assert.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/fail.h"
#include "host/fetch/fetch_pool.h"

enum { READ_BYTES = 16 << 10 }; /* at once; and held, if it pauses then */

/* The state of a transfer after a step. */
enum plain_verdict {
    GO_ON,
    WELL,  /* the answer is complete */
    ILL,   /* `answer.why` or `error` says why */
    STALE, /* the connection was closed before the request came */
};

/* ---- Words --------------------------------------------------------------- */

static const char *error_words(int error)
{
    switch (error) {
    case ECONNREFUSED: return "connection refused";
    case ECONNRESET: return "connection reset by the server";
    case EPIPE: return "connection closed by the server";
    }
    return strerrordesc_np(error);
}

static void finish(struct exchange *t, enum plain_verdict v)
{
    const char *words = t->error ? error_words(t->error) : t->answer.why;
    enum fetch_end how = FETCH_OK;

    if (v != WELL && (!words || t->error == ENOMEM)) {
        how = FETCH_NOMEM;
        words = "out of memory";
    } else if (v != WELL) {
        how = words == http1_head_too_long ? FETCH_HEADERS : FETCH_NETWORK;
    }
    if (how != FETCH_OK)
        transfer_say(t, words);
    transfer_over(t, how);
}

/* ---- Reading ------------------------------------------------------------- */

static bool hold(struct exchange *t, wend_str rest)
{
    if (t->held.len) { /* of which this is the rest */
        t->held_at = t->held.len - rest.len;
        return true;
    }
    t->held_at = 0;
    buf_str(&t->held, rest);
    return !t->held.failed;
}

static enum plain_verdict feed(struct exchange *t, wend_str in)
{
    wend_str piece;

    for (;;) {
        switch (http1_next(&t->answer, &in, &piece)) {
        case HTTP1_MORE: return GO_ON;
        case HTTP1_HEAD:
            if (!transfer_head(t, t->answer.status))
                return GO_ON;
            break;
        case HTTP1_BODY:
            if (!transfer_body(t, piece))
                return t->stopped || hold(t, in) ? GO_ON : ILL;
            http1_take(&t->answer, &in, piece.len);
            break;
        case HTTP1_DONE: t->answer.keep &= !in.len; return WELL;
        case HTTP1_BAD:
        case HTTP1_NOMEM: return ILL;
        }
    }
}

/* Closed before anything came, though it was open a while ago. */
static bool is_stale(const struct exchange *t)
{
    return t->conn->used && t->harmless && !http1_begun(&t->answer);
}

static enum plain_verdict read_some(struct exchange *t)
{
    struct net *f = t->fetch;
    size_t before = f->body_bytes;
    ssize_t n;
    enum plain_verdict v;

    do
        n = recv(t->conn->fd, f->read_buf, READ_BYTES, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN)
        return GO_ON;
    if (n <= 0 && is_stale(t))
        return STALE;
    if (n < 0) {
        t->error = errno;
        return ILL;
    }
    if (!n)
        return http1_end(&t->answer) == HTTP1_DONE ? WELL : ILL;
    v = feed(t, (wend_str){f->read_buf, (size_t)n});
    fetch_note_read(f, t->conn->fd, f->body_bytes - before);
    return v;
}

/* ---- Sending ------------------------------------------------------------- */

static ssize_t send_rest(struct exchange *t)
{
    wend_str head = buf_view(&t->asking);
    size_t in_head = t->sent < head.len ? t->sent : head.len;
    size_t in_body = t->sent - in_head;
    struct iovec parts[] = {
        {(char *)(uintptr_t)head.ptr + in_head, head.len - in_head},
        {(char *)(uintptr_t)t->body.ptr + in_body, t->body.len - in_body},
    };
    struct msghdr m = {.msg_iov = parts, .msg_iovlen = t->body.len ? 2 : 1};
    ssize_t n;

    do
        n = sendmsg(t->conn->fd, &m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n;
}

static bool is_unsent(const struct exchange *t)
{
    return t->sent < t->asking.len + t->body.len && !t->error;
}

/* After an error, bytes that the server sent before are still read. */
static void send_some(struct exchange *t)
{
    ssize_t n = is_unsent(t) ? send_rest(t) : 0;

    if (n < 0) {
        t->error = errno == EAGAIN ? 0 : errno;
        return;
    }
    t->sent += (size_t)n;
    if (t->phase == PHASE_CONNECT)
        transfer_enter(t, PHASE_WAIT);
}

/* ---- Connections --------------------------------------------------------- */

static void let_go(struct exchange *t)
{
    struct conn *c = t->conn;

    t->conn = NULL;
    if (c) {
        room_leave(t->fetch);
        conn_close(c);
    }
}

static void ask_on(struct exchange *t, struct conn *c)
{
    assert(!t->conn);
    t->conn = c;
    room_take(t, false);
    c->transfer = t;
    t->sent = 0;
    t->error = 0;
    http1_begin(&t->answer, &t->head, !strncmp(t->asking.ptr, "HEAD ", 5));
    send_some(t);
}

/* The next place that does not refuse at once. */
static enum plain_verdict connect_next(struct exchange *t)
{
    while (t->route.next < t->route.count) {
        const struct place *to = &t->route.places[t->route.next++];
        struct conn *c = conn_open(t->fetch, to, &t->error);

        if (!c && t->error == ENOMEM)
            return ILL;
        if (!c)
            continue;
        ask_on(t, c);
        if (t->phase == PHASE_CONNECT)
            dial_next(t, t->route.next == t->route.count);
        if (!t->error)
            return GO_ON;
        let_go(t);
    }
    return ILL;
}

static bool ask_kept(struct exchange *t)
{
    struct conn *c = NULL;

    for (int i = 0; i < t->route.count && !c && !t->anew; i++)
        c = conn_kept(t->fetch, &t->route.places[i]);
    if (!c)
        return false;
    ask_on(t, c);
    if (!t->error)
        return true;
    let_go(t); /* closed, as can be seen already */
    return false;
}

static bool watch(struct exchange *t)
{
    return conn_watch(t->conn, (t->paused ? 0 : UV_READABLE) |
                                   (is_unsent(t) ? UV_WRITABLE : 0));
}

static void settle(struct exchange *t, enum plain_verdict v)
{
    if (v == STALE) {
        let_go(t);
        t->anew = true;
        transfer_enter(t, PHASE_CONNECT);
        v = connect_next(t);
    }
    assert(v != GO_ON || t->conn);
    if (v == GO_ON && !watch(t)) {
        t->error = ENOMEM;
        v = ILL;
    }
    if (v == ILL && !t->conn && (t->error == EMFILE || t->error == ENFILE)) {
        t->route.next = 0;
        room_enter(t);
        return;
    }
    if (v != GO_ON)
        finish(t, v);
}

/* While it connects, an error is that of this place. */
static enum plain_verdict connecting(struct exchange *t)
{
    send_some(t);
    if (!t->error)
        return GO_ON;
    let_go(t);
    return connect_next(t);
}

static void turn(struct exchange *t)
{
    let_go(t);
    settle(t, connect_next(t));
}

static enum plain_verdict look(struct exchange *t, int events)
{
    if (t->phase == PHASE_CONNECT)
        return connecting(t);
    if (events & UV_WRITABLE)
        send_some(t);
    return events & UV_READABLE && !t->paused ? read_some(t) : GO_ON;
}

void plain_ready(struct exchange *t, int status, int events)
{
    struct net *f = t->fetch;
    enum plain_verdict v;

    if (t->stopped) /* it is in the queue */
        return;
    f->inside++;
    v = look(t, status < 0 ? UV_READABLE | UV_WRITABLE : events);
    f->inside--;
    settle(t, v);
}

/* ---- The way ------------------------------------------------------------- */

static wend_status prepare(struct exchange *t, const struct fetch_request *q,
                           wend_error *err)
{
    struct net *f = t->fetch;

    if (!f->read_buf)
        f->read_buf = mem_alloc(&f->mem, READ_BYTES);
    route_put_head(&t->route, q, &t->asking);
    t->body =
        q->copy_body && q->body.len ? arena_str(&t->arena, q->body) : q->body;
    t->once = t->anew = q->once;
    t->error = 0;
    if (!f->read_buf || t->asking.failed || t->arena.failed)
        return fail_nomem(err);
    return WEND_OK;
}

/* At once on a kept connection; a thousand connects would delay others. */
static void begin(struct exchange *t)
{
    if (!ask_kept(t) || !watch(t))
        fetch_enqueue(t);
}

static void continue_body(struct exchange *t)
{
    struct net *f = t->fetch;
    enum plain_verdict v;

    if (!transfer_resumes(t))
        return;
    f->inside++;
    v = feed(t, (wend_str){t->held.ptr + t->held_at, t->held.len - t->held_at});
    f->inside--;
    if (!t->paused)
        buf_clear(&t->held);
    if (v == GO_ON)
        transfer_arm(t);
    settle(t, v);
}

static void serve(struct exchange *t)
{
    if (!t->conn && ask_kept(t))
        settle(t, GO_ON);
    else if (!t->conn && !room_wait(t))
        settle(t, connect_next(t));
    else if (!t->conn)
        return;
    else if (t->resume)
        continue_body(t);
    else
        settle(t, GO_ON);
}

static void leave(struct exchange *t)
{
    struct conn *c = t->conn;

    if (!c)
        return;
    t->conn = NULL;
    room_leave(t->fetch);
    if (t->answer.state == HTTP1_OVER && t->answer.keep && !is_unsent(t) &&
        !t->error && !t->once)
        conn_keep(c);
    else
        conn_close(c);
}

static void forget(struct exchange *t)
{
    t->body = STR_NONE; /* the rest is in buffers that are emptied */
}

const struct way plain_way = {prepare, begin, serve, turn, leave, forget};

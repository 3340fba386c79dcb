/*
 * conn.c - one connection: requests in, answers out, in clear or by TLS.
 *
 * Answers are made only as fast as the socket takes them, so that a slow
 * reader costs no memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server.h"

enum {
    READ_BYTES = 16 << 10,
    OUT_BYTES = 32 << 10,         /* made before a write */
    REQUEST_BYTES_MAX = 64 << 20, /* more is a mistake of the test */
};

static void conn_free(struct conn *c)
{
    server_due(c, 0);
    SSL_free(c->ssl);
    close(c->fd);
    answer_free(&c->answer);
    buf_free(&c->in);
    buf_free(&c->out);
    c->server->open--;
    free(c);
}

/* The other side sees a reset instead of an end. */
static void conn_reset(struct conn *c)
{
    struct linger l = {1, 0};

    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &l, sizeof l);
    if (c->ssl)
        SSL_set_quiet_shutdown(c->ssl, 1);
    conn_free(c);
}

/* ---- Bytes --------------------------------------------------------------- */

/* Like read and write: -1 with EAGAIN, 0 at the end. */
static ssize_t tls_result(struct conn *c, int rc)
{
    if (rc > 0)
        return rc;
    switch (SSL_get_error(c->ssl, rc)) {
    case SSL_ERROR_WANT_WRITE:
    case SSL_ERROR_WANT_READ: errno = EAGAIN; return -1;
    case SSL_ERROR_ZERO_RETURN: return 0;
    default: errno = ECONNRESET; return -1;
    }
}

static ssize_t take(struct conn *c, char *p, size_t len)
{
    if (c->ssl)
        return tls_result(c, SSL_read(c->ssl, p, (int)len));
    return recv(c->fd, p, len, 0);
}

static ssize_t give(struct conn *c, const char *p, size_t len)
{
    if (c->ssl)
        return tls_result(c, SSL_write(c->ssl, p, (int)len));
    return send(c->fd, p, len, MSG_NOSIGNAL);
}

/* False: the connection is dead. */
static bool flush_out(struct conn *c)
{
    while (c->out_at < c->out.len) {
        ssize_t n = give(c, c->out.ptr + c->out_at, c->out.len - c->out_at);

        if (n < 0 && errno == EAGAIN) {
            server_watch(c, EPOLLIN | EPOLLOUT);
            return true;
        }
        if (n <= 0)
            return false;
        c->out_at += (size_t)n;
        c->server->bytes += (size_t)n;
    }
    buf_clear(&c->out);
    c->out_at = 0;
    server_watch(c, EPOLLIN);
    return true;
}

/* ---- Answering ----------------------------------------------------------- */

static void answer_stats(struct conn *c)
{
    struct buf body = {.mem = &c->server->mem};

    server_stats(c->server, &body);
    buf_fmt(&c->out,
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            "Content-Length: %zu\r\n\r\n",
            body.len);
    buf_str(&c->out, buf_view(&body));
    buf_free(&body);
}

static void write_log(const struct conn *c, wend_str request)
{
    if (!c->server->log)
        return;
    fwrite(request.ptr, 1, request.len, c->server->log);
    fputs("\n\n", c->server->log);
    fflush(c->server->log);
}

/* False: there is no whole request yet. */
static bool next_request(struct conn *c)
{
    struct request q = {0};
    int64_t len;

    c->answer.arena.mem = c->answer.held.mem = &c->server->mem;
    arena_reset(&c->answer.arena);
    len = request_read(buf_view(&c->in), &c->answer.arena, &q);
    if (!len)
        return false;
    if (len < 0) {
        buf_cstr(&c->out, "HTTP/1.1 400 Bad Request\r\n"
                          "Content-Length: 0\r\nConnection: close\r\n\r\n");
        c->after = AFTER_CLOSE;
        buf_clear(&c->in);
        return true;
    }
    c->keep = q.keep;
    if (str_is(q.path, "/stats")) {
        answer_stats(c);
    } else {
        c->server->requests++;
        write_log(c, (wend_str){c->in.ptr, (size_t)len});
        answer_begin(&c->answer, &q, server_count(c->server, q.scenario),
                     server_now_us());
        c->answering = true;
    }
    /* Whatever the answer needs of the request is in its arena. */
    memmove(c->in.ptr, c->in.ptr + len, c->in.len - (size_t)len);
    c->in.len -= (size_t)len;
    return true;
}

/* Makes bytes until there is enough for a write. */
static void make_more(struct conn *c)
{
    enum answer_next next;
    int64_t due_us = 0;

    do
        next = answer_more(&c->answer, &c->out, server_now_us(), &due_us);
    while (next == ANSWER_MORE && c->out.len < OUT_BYTES &&
           !c->answer.plan.chunk);
    switch (next) {
    case ANSWER_MORE: break;
    case ANSWER_WAIT: server_due(c, due_us); break;
    case ANSWER_DONE:
        c->answering = false;
        if (!c->keep || c->answer.plan.shut || c->answer.plan.eof)
            c->after = AFTER_CLOSE;
        break;
    case ANSWER_CLOSE: c->after = AFTER_CLOSE; break;
    case ANSWER_RESET: c->after = AFTER_RESET; break;
    case ANSWER_HANG: c->hangs = true; break;
    }
}

void conn_go(struct conn *c)
{
    for (;;) {
        if (!flush_out(c)) {
            conn_free(c);
            return;
        }
        if (c->out_at < c->out.len)
            return; /* goes on when it can be written */
        if (c->after == AFTER_RESET) {
            conn_reset(c);
            return;
        }
        if (c->after == AFTER_CLOSE) {
            conn_free(c);
            return;
        }
        if (c->due_us || c->hangs || (!c->answering && !next_request(c)))
            return;
        if (c->answering)
            make_more(c);
    }
}

static bool read_in(struct conn *c)
{
    for (;;) {
        ssize_t n;

        if (c->in.len > REQUEST_BYTES_MAX || !buf_room(&c->in, READ_BYTES))
            return false;
        n = take(c, c->in.ptr + c->in.len, READ_BYTES);
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n <= 0)
            return false;
        c->in.len += (size_t)n;
        if (n < READ_BYTES && !c->ssl)
            return true;
    }
}

void conn_event(struct conn *c, uint32_t events)
{
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && !read_in(c)) {
        conn_free(c);
        return;
    }
    conn_go(c);
}

void conn_new(struct server *s, int fd, bool tls)
{
    struct conn *c = calloc(1, sizeof *c);

    if (!c) {
        close(fd);
        return;
    }
    c->server = s;
    c->fd = fd;
    c->in.mem = c->out.mem = &s->mem;
    s->connections++;
    s->open++;
    if (tls) {
        c->ssl = SSL_new(s->tls);
        SSL_set_fd(c->ssl, fd);
        SSL_set_accept_state(c->ssl);
    }
    server_watch(c, EPOLLIN);
}

/*
 * sock.c - stream sockets of a server, on libuv.
 *
 * Memory of a handle lives until libuv has closed it, which it does in a later
 * turn of the loop.
 */
#include "host/sock.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/address.h"
#include "base/fail.h"
#include "host/loop_uv.h"

enum {
    READ_BYTES = 64 << 10, /* at once; as much as libuv suggests */
    BACKLOG = 511,
    PIECES_MAX = 64, /* in one call of the system */
    NAME_BYTES = 128,
};

union handle {
    uv_handle_t any;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
};

struct listener {
    union handle h;
    const struct mem *mem;
    sock_accept_fn accept;
    void *ctx;
    char name[NAME_BYTES];
    bool is_unix;
    char *room;  /* for reading, shared: one read at a time */
    int sockets; /* that use the room */
    /* Without memory a connection is taken and closed: libuv listens again
     * only when it has been taken. NULL while it is in use. */
    struct sock *spare;
    bool owes; /* a connection waits for the spare one */
    bool closed;
};

struct sock {
    union handle h;
    struct listener *from;
    const struct sock_events *events;
    void *ctx;
    uv_write_t write;
    char *rest; /* being written */
    bool busy, closing, reads;
};

/* ---- Life ---------------------------------------------------------------- */

static void listener_drop(struct listener *l)
{
    if (!l->closed || l->sockets)
        return;
    mem_free(l->mem, l->room);
    mem_free(l->mem, l->spare);
    mem_free(l->mem, l);
}

static void on_listener_closed(uv_handle_t *h)
{
    struct listener *l = container_of(h, struct listener, h.any);

    l->closed = true;
    listener_drop(l);
}

static void on_sock_closed(uv_handle_t *h)
{
    struct sock *s = container_of(h, struct sock, h.any);
    struct listener *l = s->from;

    mem_free(l->mem, s->rest);
    mem_free(l->mem, s);
    l->sockets--;
    listener_drop(l);
}

void sock_close(struct sock *s)
{
    assert(!s->closing);
    s->closing = true;
    s->events = NULL;
    uv_close(&s->h.any, on_sock_closed);
}

/* ---- Reading ------------------------------------------------------------- */

static void on_room(uv_handle_t *h, size_t wanted, uv_buf_t *out)
{
    struct sock *s = container_of(h, struct sock, h.any);

    (void)wanted;
    *out = uv_buf_init(s->from->room, READ_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *buf)
{
    struct sock *s = container_of(stream, struct sock, h.stream);

    if (!s->events || !got)
        return;
    if (got > 0) {
        s->events->read(s->ctx, (wend_str){buf->base, (size_t)got});
        return;
    }
    uv_read_stop(stream);
    s->reads = false;
    s->events->ended(s->ctx);
}

void sock_reads(struct sock *s, bool on)
{
    if (on == s->reads || s->closing)
        return;
    s->reads = on;
    if (on)
        uv_read_start(&s->h.stream, on_room, on_read);
    else
        uv_read_stop(&s->h.stream);
}

/* ---- Writing ------------------------------------------------------------- */

static void on_written(uv_write_t *w, int rc)
{
    struct sock *s = container_of(w, struct sock, write);

    s->busy = false;
    mem_free(s->from->mem, s->rest);
    s->rest = NULL;
    if (s->closing)
        return;
    if (rc)
        s->events->ended(s->ctx);
    else
        s->events->room(s->ctx);
}

static bool keep_rest(struct sock *s, const wend_str *pieces, size_t count,
                      size_t done)
{
    size_t len = 0, at = 0;
    uv_buf_t buf;

    for (size_t i = 0; i < count; i++)
        len += pieces[i].len;
    len -= done;
    s->rest = mem_alloc(s->from->mem, len);
    if (!s->rest)
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t skip = done < pieces[i].len ? done : pieces[i].len;

        memcpy(s->rest + at, pieces[i].ptr + skip, pieces[i].len - skip);
        at += pieces[i].len - skip;
        done -= skip;
    }
    buf = uv_buf_init(s->rest, (unsigned)len);
    s->busy = !uv_write(&s->write, &s->h.stream, &buf, 1, on_written);
    return s->busy;
}

/* A socket that cannot be written any more is closed by its owner, which the
 * next read tells. */
static void break_off(struct sock *s)
{
    int fd;

    if (!uv_fileno(&s->h.any, &fd))
        shutdown(fd, SHUT_RDWR);
    sock_reads(s, true);
}

/* As many bytes as the system takes at once; below 0: it is broken. */
static ssize_t try_write(struct sock *s, const wend_str *pieces, size_t count)
{
    uv_buf_t bufs[PIECES_MAX];
    ssize_t done = 0;

    for (size_t from = 0; from < count; from += PIECES_MAX) {
        size_t n = count - from < PIECES_MAX ? count - from : PIECES_MAX;
        size_t len = 0;
        int rc;

        for (size_t i = 0; i < n; i++) {
            wend_str p = pieces[from + i];

            bufs[i] = uv_buf_init((char *)(uintptr_t)p.ptr, (unsigned)p.len);
            len += p.len;
        }
        rc = len ? uv_try_write(&s->h.stream, bufs, (unsigned)n) : 0;
        if (rc == UV_EAGAIN)
            break;
        if (rc < 0)
            return rc;
        done += rc;
        if ((size_t)rc < len)
            break;
    }
    return done;
}

bool sock_write(struct sock *s, const wend_str *pieces, size_t count)
{
    ssize_t done;
    size_t len = 0;

    assert(!s->busy && !s->closing);
    for (size_t i = 0; i < count; i++)
        len += pieces[i].len;
    done = try_write(s, pieces, count);
    if (done == (ssize_t)len)
        return true;
    if (done < 0 || !keep_rest(s, pieces, count, (size_t)done)) {
        mem_free(s->from->mem, s->rest);
        s->rest = NULL;
        break_off(s);
    }
    return false;
}

void sock_shut(struct sock *s)
{
    int fd;

    assert(!s->busy);
    if (!uv_fileno(&s->h.any, &fd))
        shutdown(fd, SHUT_WR);
}

bool sock_is_busy(const struct sock *s)
{
    return s->busy;
}

size_t sock_left(const struct sock *s)
{
    return s->busy ? uv_stream_get_write_queue_size(&s->h.stream) : 0;
}

/* ---- Accepting ----------------------------------------------------------- */

static void refuse(struct listener *l);

static int sock_init(struct listener *l, struct sock *s)
{
    s->from = l;
    l->sockets++;
    return l->is_unix ? uv_pipe_init(l->h.any.loop, &s->h.pipe, 0)
                      : uv_tcp_init(l->h.any.loop, &s->h.tcp);
}

static void on_spare_closed(uv_handle_t *h)
{
    struct sock *s = container_of(h, struct sock, h.any);
    struct listener *l = s->from;

    memset(s, 0, sizeof *s);
    l->spare = s;
    l->sockets--;
    if (l->owes && !l->closed && !uv_is_closing(&l->h.any))
        refuse(l);
    listener_drop(l);
}

static void refuse(struct listener *l)
{
    struct sock *s = l->spare;

    l->owes = !s;
    if (!s)
        return;
    l->spare = NULL;
    if (!sock_init(l, s)) /* cannot fail for a handle without a socket */
        uv_accept(&l->h.stream, &s->h.stream);
    uv_close(&s->h.any, on_spare_closed);
}

static void on_connection(uv_stream_t *stream, int rc)
{
    struct listener *l = container_of(stream, struct listener, h.stream);
    struct sock *s = rc ? NULL : mem_zalloc(l->mem, sizeof *s);

    if (!s) {
        if (!rc)
            refuse(l);
        return;
    }
    if (!sock_init(l, s) && !uv_accept(stream, &s->h.stream))
        s->ctx = l->accept(l->ctx, s, &s->events);
    if (!s->ctx) {
        s->closing = true;
        uv_close(&s->h.any, on_sock_closed);
        return;
    }
    if (!l->is_unix)
        uv_tcp_nodelay(&s->h.tcp, 1);
    sock_reads(s, true);
}

/* ---- Listening ----------------------------------------------------------- */

static wend_status no_listen(const char *address, int rc, wend_error *err)
{
    return fail(err, WEND_E_IO, "cannot listen on %s: %s%s", address,
                uv_strerror(rc),
                rc == UV_EADDRINUSE ? "; another server has it" : "");
}

/* HOST:PORT into host and port; "localhost" is 127.0.0.1, so that no look-up
 * decides who can connect. */
static bool split_address(const char *address, char host[64], int *port)
{
    const char *colon = strrchr(address, ':');
    wend_str name;
    struct address a;
    int64_t n;

    if (!colon || !str_to_i64(str_of(colon + 1), &n) || n > 65535)
        return false;
    name = (wend_str){address, (size_t)(colon - address)};
    if (str_is(name, "localhost"))
        name = STR("127.0.0.1");
    if (name.len > 2 && name.ptr[0] == '[' && name.ptr[name.len - 1] == ']')
        name = (wend_str){name.ptr + 1, name.len - 2};
    if (name.len >= 64 || !address_read(name, &a))
        return false;
    snprintf(host, 64, "%.*s", STR_ARGS(name));
    *port = (int)n;
    return true;
}

static int name_of(struct listener *l)
{
    struct sockaddr_storage ss;
    int len = sizeof ss, rc;
    char host[64];

    rc = uv_tcp_getsockname(&l->h.tcp, (struct sockaddr *)&ss, &len);
    if (rc)
        return rc;
    if (ss.ss_family == AF_INET6) {
        const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)&ss;

        uv_ip6_name(in, host, sizeof host);
        snprintf(l->name, sizeof l->name, "[%s]:%d", host,
                 ntohs(in->sin6_port));
    } else {
        const struct sockaddr_in *in = (const struct sockaddr_in *)&ss;

        uv_ip4_name(in, host, sizeof host);
        snprintf(l->name, sizeof l->name, "%s:%d", host, ntohs(in->sin_port));
    }
    return 0;
}

static int listen_tcp(struct listener *l, uv_loop_t *uv, const char *host,
                      int port)
{
    struct sockaddr_storage ss;
    int rc = strchr(host, ':')
                 ? uv_ip6_addr(host, port, (struct sockaddr_in6 *)&ss)
                 : uv_ip4_addr(host, port, (struct sockaddr_in *)&ss);

    if (rc)
        return rc;
    rc = uv_tcp_init(uv, &l->h.tcp);
    if (rc)
        return rc;
    rc = uv_tcp_bind(&l->h.tcp, (const struct sockaddr *)&ss, 0);
    if (!rc)
        rc = uv_listen(&l->h.stream, BACKLOG, on_connection);
    return rc ? rc : name_of(l);
}

/* A socket file whose server died refuses connections; it is replaced. */
static void remove_stale(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct stat st;
    int fd;

    if (strlen(path) >= sizeof to.sun_path || lstat(path, &st) ||
        !S_ISSOCK(st.st_mode))
        return;
    memcpy(to.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return;
    if (connect(fd, (struct sockaddr *)&to, sizeof to) && errno == ECONNREFUSED)
        unlink(path);
    close(fd);
}

static int listen_unix(struct listener *l, uv_loop_t *uv, const char *path)
{
    mode_t before;
    int rc;

    if (strlen(path) >= sizeof((struct sockaddr_un *)0)->sun_path)
        return UV_ENAMETOOLONG;
    remove_stale(path);
    rc = uv_pipe_init(uv, &l->h.pipe, 0);
    if (rc)
        return rc;
    before = umask(0177);
    rc = uv_pipe_bind(&l->h.pipe, path);
    umask(before);
    if (!rc)
        rc = uv_listen(&l->h.stream, BACKLOG, on_connection);
    snprintf(l->name, sizeof l->name, "unix:%s", path);
    return rc;
}

wend_status listener_new(const struct mem *m, struct loop *loop,
                         const char *address, sock_accept_fn fn, void *ctx,
                         struct listener **out, wend_error *err)
{
    struct listener *l;
    char host[64] = "";
    int port = 0, rc;
    bool is_unix = !strncmp(address, "unix:", 5);

    if (!is_unix && !split_address(address, host, &port))
        return fail(err, WEND_E_INVAL,
                    "'%s' is not an address to listen on; write HOST:PORT with "
                    "an IP address or localhost, or unix:PATH",
                    address);
    l = mem_zalloc(m, sizeof *l);
    if (l) {
        l->room = mem_alloc(m, READ_BYTES);
        l->spare = mem_zalloc(m, sizeof *l->spare);
    }
    if (!l || !l->room || !l->spare) {
        if (l) {
            mem_free(m, l->room);
            mem_free(m, l->spare);
        }
        mem_free(m, l);
        return fail_nomem(err);
    }
    l->mem = m;
    l->accept = fn;
    l->ctx = ctx;
    l->is_unix = is_unix;
    rc = is_unix ? listen_unix(l, loop_uv(loop), address + 5)
                 : listen_tcp(l, loop_uv(loop), host, port);
    if (rc) {
        if (l->h.any.loop) /* else it was never made */
            listener_free(l);
        else {
            mem_free(m, l->room);
            mem_free(m, l->spare);
            mem_free(m, l);
        }
        return no_listen(address, rc, err);
    }
    *out = l;
    return WEND_OK;
}

const char *listener_name(const struct listener *l)
{
    return l->name;
}

void listener_free(struct listener *l)
{
    if (l)
        uv_close(&l->h.any, on_listener_closed);
}

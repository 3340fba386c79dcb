/*
 * fetch_conn.c - connections of the plain way: sockets on the loop.
 *
 * A connection whose answer has ended is kept, and stays watched: the only
 * event on an idle connection is its end, and most are used again soon.
 */
#include <assert.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/fetch/fetch_pool.h"

enum {
    IDLE_MS_MAX = 118000, /* servers forget theirs after two minutes */
    KEEPALIVE_IDLE_S = 60,
    KEEPALIVE_EVERY_S = 30,
};

static struct conn *of_conn(struct ring *r)
{
    return container_of(r, struct conn, link);
}

static void on_closed(uv_handle_t *h)
{
    struct conn *c = h->data;
    struct net *f = c->fetch;

    mem_free(&f->mem, c);
    fetch_handle_closed(f);
}

static void leave_idle(struct conn *c)
{
    c->fetch->idle_count--;
    ring_out(&c->link);
}

void conn_close(struct conn *c)
{
    if (!c->transfer)
        leave_idle(c);
    uv_close((uv_handle_t *)&c->poll, on_closed);
    close(c->fd);
}

bool conn_drop_idle(struct net *f)
{
    if (ring_empty(&f->idle_conns))
        return false;
    conn_close(of_conn(f->idle_conns.next));
    return true;
}

void conn_free_all(struct net *f)
{
    while (!ring_empty(&f->idle_conns))
        conn_close(of_conn(f->idle_conns.next));
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct conn *c = poll->data;

    if (status < 0)
        c->watched = 0; /* libuv has stopped it */
    if (c->transfer)
        plain_ready(c->transfer, status, events);
    else
        conn_close(c);
}

bool conn_watch(struct conn *c, int events)
{
    if (c->watched == events)
        return true;
    c->watched = events;
    return !uv_poll_start(&c->poll, events, on_ready);
}

void conn_keep(struct conn *c)
{
    struct net *f = c->fetch;

    assert(c->transfer);
    c->transfer = NULL;
    c->used = true;
    c->idle_ms = fetch_now_ms(f);
    ring_put(&f->idle_conns, &c->link);
    f->idle_count++;
    if (!conn_watch(c, UV_READABLE))
        conn_close(c);
    else if (f->idle_count > f->idle_max)
        conn_close(of_conn(f->idle_conns.next));
}

struct conn *conn_kept(struct net *f, const struct place *to)
{
    int64_t oldest = fetch_now_ms(f) - IDLE_MS_MAX;

    for (struct ring *r = f->idle_conns.prev; r != &f->idle_conns;
         r = r->prev) {
        struct conn *c = of_conn(r);

        if (c->idle_ms < oldest)
            return NULL; /* and so are those before it */
        if (!place_is(&c->place, to))
            continue;
        assert(!c->transfer);
        leave_idle(c);
        return c;
    }
    return NULL;
}

/* Both ends of a loopback connection die together: no need to look. */
static bool is_far(const struct place *p)
{
    if (p->at.any.sa_family == AF_INET)
        return ntohl(p->at.v4.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET;
    return p->at.any.sa_family == AF_INET6 &&
           !IN6_IS_ADDR_LOOPBACK(&p->at.v6.sin6_addr);
}

static void set(int fd, int level, int option, int value)
{
    /* A transfer goes well without any of these. */
    (void)setsockopt(fd, level, option, &value, sizeof value);
}

static int open_socket(const struct place *to)
{
    /* Tools that are started meanwhile must not inherit it. */
    int fd = socket(to->at.any.sa_family,
                    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    if (to->at.any.sa_family != AF_UNIX)
        set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    if (is_far(to)) {
        set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
        set(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
        set(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_EVERY_S);
    }
    if (connect(fd, &to->at.any, to->len) && errno != EINPROGRESS) {
        int error = errno;

        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

struct conn *conn_open(struct net *f, const struct place *to, int *error)
{
    struct conn *c = mem_zalloc(&f->mem, sizeof *c);
    int rc;

    *error = ENOMEM;
    if (!c)
        return NULL;
    c->fetch = f;
    c->place = *to;
    ring_init(&c->link);
    c->fd = open_socket(to);
    if (c->fd < 0) {
        *error = errno;
        mem_free(&f->mem, c);
        return NULL;
    }
    rc = uv_poll_init_socket(f->uv, &c->poll, c->fd);
    if (rc) {
        *error = -rc;
        close(c->fd);
        mem_free(&f->mem, c);
        return NULL;
    }
    c->poll.data = c;
    f->handles++;
    return c;
}

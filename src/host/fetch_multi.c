/*
 * fetch_multi.c - libcurl's multi handles on the libuv loop.
 *
 * libcurl says which sockets it watches and when it wants to be called; each
 * socket gets a uv_poll, each multi handle a uv_timer. A wish to be called
 * at once is served by the idle handle, so that libcurl is never entered
 * from its own callbacks and a chain of such wishes cannot hold up the loop.
 */
#include "host/fetch_pool.h"

enum { MULTI_TRANSFERS_MAX = 1000 }; /* above, each costs more than before */

struct sock {
    struct sock *next;   /* among the closed ones */
    struct fetch *fetch; /* which may outlive the multi */
    struct multi *multi;
    uv_poll_t poll;
    curl_socket_t fd;
    int events; /* that libcurl waits for */
};

void fetch_handle_closed(struct fetch *f)
{
    struct mem m = f->mem;

    if (--f->handles || !f->closed)
        return;
    while (f->socks) {
        struct sock *s = f->socks;

        f->socks = s->next;
        mem_free(&m, s);
    }
    mem_free(&m, f);
}

/* ---- Calling libcurl ----------------------------------------------------- */

static void take_results(struct multi *m)
{
    const struct curl_api *curl = m->fetch->curl;
    CURLMsg *msg;
    int left;

    while ((msg = curl->multi_info_read(m->handle, &left))) {
        CURLcode code = msg->data.result;
        char *t = NULL;

        curl->easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &t);
        if (t)
            transfer_finish((struct transfer *)(void *)t, code);
    }
}

static void act(struct multi *m, curl_socket_t fd, int events)
{
    struct fetch *f = m->fetch;
    int running;

    f->inside++;
    f->curl->multi_socket_action(m->handle, fd, events, &running);
    f->inside--;
    take_results(m);
}

void multi_run_due(struct fetch *f)
{
    for (struct multi *m = f->multis; m; m = m->next)
        if (m->due) {
            m->due = false;
            act(m, CURL_SOCKET_TIMEOUT, 0);
        }
}

static void on_timer(uv_timer_t *timer)
{
    act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timeout_wish(CURLM *handle, long timeout_ms, void *ctx)
{
    struct multi *m = ctx;

    (void)handle;
    m->due = timeout_ms == 0;
    if (timeout_ms > 0)
        uv_timer_start(&m->timer, on_timer, (uint64_t)timeout_ms, 0);
    else
        uv_timer_stop(&m->timer);
    if (m->due)
        fetch_kick(m->fetch);
    return 0;
}

/* ---- Sockets ------------------------------------------------------------- */

static void on_sock_closed(uv_handle_t *h)
{
    struct sock *s = h->data;
    struct fetch *f = s->fetch;

    s->next = f->socks;
    f->socks = s;
    fetch_handle_closed(f);
}

static struct sock *sock_new(struct multi *m, curl_socket_t fd)
{
    struct fetch *f = m->fetch;
    struct sock *s = f->socks;

    if (s)
        f->socks = s->next;
    else if (!(s = mem_alloc(&f->mem, sizeof *s)))
        return NULL;
    s->fetch = f;
    s->multi = m;
    s->fd = fd;
    if (uv_poll_init_socket(f->uv, &s->poll, fd)) {
        s->next = f->socks;
        f->socks = s;
        return NULL;
    }
    s->poll.data = s;
    f->handles++;
    f->curl->multi_assign(m->handle, fd, s);
    return s;
}

/* libuv ends the watch when a socket has an error; libcurl learns which one
 * by reading or writing, after what came before it. */
static void on_sock(uv_poll_t *p, int status, int events)
{
    struct sock *s = p->data;
    int bits = 0;

    if (status < 0) {
        events = s->events;
        uv_poll_start(p, events, on_sock);
    }
    if (events & UV_READABLE)
        bits |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE)
        bits |= CURL_CSELECT_OUT;
    act(s->multi, s->fd, bits);
}

static int on_socket_wish(CURL *easy, curl_socket_t fd, int what, void *ctx,
                          void *sockp)
{
    struct multi *m = ctx;
    struct sock *s = sockp;
    char *t = NULL;
    int events = 0;

    if (what == CURL_POLL_REMOVE) {
        if (s) {
            m->fetch->curl->multi_assign(m->handle, fd, NULL);
            uv_close((uv_handle_t *)&s->poll, on_sock_closed);
        }
        return 0;
    }
    if (what & CURL_POLL_IN)
        events |= UV_READABLE;
    if (what & CURL_POLL_OUT)
        events |= UV_WRITABLE;
    if (!s)
        s = sock_new(m, fd);
    if (s) {
        s->events = events;
        if (!uv_poll_start(&s->poll, events, on_sock))
            return 0;
    }
    /* A refusal here would end every transfer of this handle. */
    m->fetch->curl->easy_getinfo(easy, CURLINFO_PRIVATE, &t);
    if (t) {
        ((struct transfer *)(void *)t)->refused = CURLE_OUT_OF_MEMORY;
        fetch_enqueue((struct transfer *)(void *)t);
    }
    return 0;
}

/* ---- Multi handles ------------------------------------------------------- */

static struct multi *multi_new(struct fetch *f)
{
    struct multi *m = mem_zalloc(&f->mem, sizeof *m);

    if (!m)
        return NULL;
    m->handle = f->curl->multi_init();
    if (!m->handle) {
        mem_free(&f->mem, m);
        return NULL;
    }
    m->fetch = f;
    f->curl->multi_setopt(m->handle, CURLMOPT_SOCKETFUNCTION, on_socket_wish);
    f->curl->multi_setopt(m->handle, CURLMOPT_SOCKETDATA, m);
    f->curl->multi_setopt(m->handle, CURLMOPT_TIMERFUNCTION, on_timeout_wish);
    f->curl->multi_setopt(m->handle, CURLMOPT_TIMERDATA, m);
    f->curl->multi_setopt(m->handle, CURLMOPT_MAXCONNECTS,
                          (long)MULTI_TRANSFERS_MAX);
    uv_timer_init(f->uv, &m->timer);
    m->timer.data = m;
    f->handles++;
    return m;
}

/* The first with room, so that few connections are kept in many places. */
static struct multi *multi_with_room(struct fetch *f)
{
    struct multi **at = &f->multis;

    while (*at && (*at)->transfers >= MULTI_TRANSFERS_MAX)
        at = &(*at)->next;
    if (!*at)
        *at = multi_new(f);
    return *at;
}

bool multi_add(struct transfer *t)
{
    struct fetch *f = t->fetch;
    struct multi *m = multi_with_room(f);

    if (!m || f->curl->multi_add_handle(m->handle, t->easy) != CURLM_OK)
        return false;
    t->multi = m;
    m->transfers++;
    return true;
}

void multi_remove(struct transfer *t)
{
    if (!t->multi)
        return;
    t->fetch->curl->multi_remove_handle(t->multi->handle, t->easy);
    t->multi->transfers--;
    t->multi = NULL;
}

static void on_multi_closed(uv_handle_t *h)
{
    struct multi *m = h->data;
    struct fetch *f = m->fetch;

    mem_free(&f->mem, m);
    fetch_handle_closed(f);
}

void multi_free_all(struct fetch *f)
{
    for (struct multi *m = f->multis, *next; m; m = next) {
        next = m->next;
        f->curl->multi_cleanup(m->handle);
        uv_close((uv_handle_t *)&m->timer, on_multi_closed);
    }
    f->multis = NULL;
}

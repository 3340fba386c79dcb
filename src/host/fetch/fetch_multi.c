/*
 * fetch_multi.c - libcurl's multi handles on the libuv loop.
 *
 * libcurl says which sockets it watches and when it wants to be called; each
 * socket gets a uv_poll, each multi handle a uv_timer. A connection's socket
 * keeps its uv_poll while the connection is idle: most are used again, and
 * watching it anew takes four system calls. The idle handle serves a wish to be
 * called at once: libcurl is never entered from its own callbacks.
 */
#include <assert.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/fetch/fetch_pool.h"

enum {
    MULTI_TRANSFERS_MAX = 1000, /* above, each costs more than before */
    SOCKS_FIRST = 64,
};

struct sock {
    struct sock *next; /* among the closed ones */
    struct net *fetch; /* which may outlive the multi */
    struct multi *multi;
    uv_poll_t poll;
    curl_socket_t fd;
    const struct exchange *opener; /* while it connects; may be gone */
    struct place place;            /* to which it leads, or shall */
    int wanted;                    /* events that libcurl waits for */
    int watched;                   /* events that the loop waits for */
    bool ours;                     /* opened and closed by us: a connection's */
};

void fetch_handle_closed(struct net *f)
{
    struct mem m = f->mem;

    assert(f->handles);
    if (--f->handles || !f->closed)
        return;
    while (f->socks) {
        struct sock *s = f->socks;

        f->socks = s->next;
        mem_free(&m, s);
    }
    mem_free(&m, f->sock_of);
    mem_free(&m, f->read_buf);
    mem_free(&m, f);
}

/* ---- Calling libcurl ----------------------------------------------------- */

static struct exchange *transfer_of(struct net *f, CURL *easy)
{
    char *t = NULL;

    f->curl->easy_getinfo(easy, CURLINFO_PRIVATE, &t);
    return (struct exchange *)(void *)t;
}

static void take_results(struct multi *m)
{
    const struct curl_api *curl = m->fetch->curl;
    CURLMsg *msg;
    int left;

    while ((msg = curl->multi_info_read(m->handle, &left))) {
        CURLcode code = msg->data.result;
        struct exchange *t = transfer_of(m->fetch, msg->easy_handle);

        if (t)
            transfer_finish(t, code);
    }
}

static void act(struct multi *m, curl_socket_t fd, int events)
{
    struct net *f = m->fetch;
    int running;
    CURLMcode code;

    f->inside++;
    errno = 0;
    code = f->curl->multi_socket_action(m->handle, fd, events, &running);
    f->error = errno;
    f->inside--;
    take_results(m);
    if (code == CURLM_OUT_OF_MEMORY)
        multi_break(m);
}

void multi_run_due(struct net *f)
{
    for (struct multi *m = f->multis; m; m = m->next)
        if (m->due) {
            m->due = false;
            act(m, CURL_SOCKET_TIMEOUT, 0);
        }
}

static void on_timer(uv_timer_t *timer);

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

/* The loop's clock is coarser than libcurl's and may run ahead of it. Then
 * nothing is due yet, and libcurl does not say the same time twice. */
static void on_timer(uv_timer_t *timer)
{
    struct multi *m = timer->data;
    long timeout_ms = -1;

    act(m, CURL_SOCKET_TIMEOUT, 0);
    if (!m->handle || m->due || uv_is_active((uv_handle_t *)timer))
        return;
    m->fetch->curl->multi_timeout(m->handle, &timeout_ms);
    on_timeout_wish(m->handle, timeout_ms, m);
}

/* ---- Sockets ------------------------------------------------------------- */

static void on_sock_closed(uv_handle_t *h)
{
    struct sock *s = h->data;
    struct net *f = s->fetch;

    s->next = f->socks;
    f->socks = s;
    fetch_handle_closed(f);
}

static struct sock *sock_find(const struct net *f, curl_socket_t fd)
{
    return (size_t)fd < f->sock_of_count ? f->sock_of[fd] : NULL;
}

static bool sock_room(struct net *f, curl_socket_t fd)
{
    size_t want = f->sock_of_count ? f->sock_of_count * 2 : SOCKS_FIRST;
    struct sock **more;

    if ((size_t)fd < f->sock_of_count)
        return true;
    while (want <= (size_t)fd)
        want *= 2;
    more = mem_realloc(&f->mem, f->sock_of, want * sizeof(struct sock *));
    if (!more)
        return false;
    memset(more + f->sock_of_count, 0,
           (want - f->sock_of_count) * sizeof(struct sock *));
    f->sock_of = more;
    f->sock_of_count = want;
    return true;
}

static struct sock *sock_new(struct net *f, curl_socket_t fd, bool ours)
{
    struct sock *s = f->socks;

    if (!sock_room(f, fd))
        return NULL;
    if (s)
        f->socks = s->next;
    else if (!(s = mem_alloc(&f->mem, sizeof *s)))
        return NULL;
    s->fetch = f;
    s->fd = fd;
    s->ours = ours;
    s->multi = NULL;
    s->opener = NULL;
    s->wanted = s->watched = 0;
    if (uv_poll_init_socket(f->uv, &s->poll, fd)) {
        s->next = f->socks;
        f->socks = s;
        return NULL;
    }
    s->poll.data = s;
    f->handles++;
    f->sock_of[fd] = s;
    return s;
}

static void sock_drop(struct sock *s)
{
    s->fetch->sock_of[s->fd] = NULL;
    uv_close((uv_handle_t *)&s->poll, on_sock_closed);
}

static void on_sock(uv_poll_t *p, int status, int events);

static bool sock_watch(struct sock *s, int events)
{
    if (s->watched == events)
        return true;
    s->watched = events;
    return !uv_poll_start(&s->poll, events, on_sock);
}

/* libuv ends the watch when a socket has an error; libcurl learns which one
 * by reading or writing, after what came before it. */
static void on_sock(uv_poll_t *p, int status, int events)
{
    struct sock *s = p->data;
    struct net *f = s->fetch;
    curl_socket_t fd = s->fd;
    size_t before = f->body_bytes;
    int bits = 0;

    if (status < 0) {
        events = s->wanted;
        s->watched = 0;
        sock_watch(s, s->wanted);
    }
    if (!s->wanted) { /* idle: the next transfer will see what it is */
        sock_watch(s, 0);
        return;
    }
    if (events & UV_READABLE)
        bits |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE)
        bits |= CURL_CSELECT_OUT;
    act(s->multi, fd, bits);
    fetch_note_read(f, fd, f->body_bytes - before);
}

/* libcurl closes unconnected sockets unseen, and must be called again then. */
static void sock_leave(struct sock *s, struct exchange *t)
{
    if (s->ours && t && t->phase != PHASE_CONNECT) {
        s->wanted = 0;
        return;
    }
    if (s->ours && t)
        transfer_wake(t);
    sock_drop(s);
}

static int on_socket_wish(CURL *easy, curl_socket_t fd, int what, void *ctx,
                          void *sockp)
{
    struct multi *m = ctx;
    struct net *f = m->fetch;
    struct exchange *t = transfer_of(f, easy);
    struct sock *s = sock_find(f, fd);

    (void)sockp;
    if (what == CURL_POLL_REMOVE) {
        if (s)
            sock_leave(s, t);
        return 0;
    }
    if (!s)
        s = sock_new(f, fd, false);
    if (s) {
        s->multi = m;
        s->wanted = 0;
        if (what & CURL_POLL_IN)
            s->wanted |= UV_READABLE;
        if (what & CURL_POLL_OUT)
            s->wanted |= UV_WRITABLE;
        if (sock_watch(s, s->wanted))
            return 0;
    }
    /* A refusal here would end every transfer of this handle. */
    if (t) {
        t->refused = CURLE_OUT_OF_MEMORY;
        fetch_enqueue(t);
    }
    return 0;
}

/* By the system: libcurl may not have noticed a connection yet. */
static bool is_connecting(curl_socket_t fd)
{
    struct sockaddr_storage to;
    socklen_t len = sizeof to;

    return getpeername(fd, (struct sockaddr *)&to, &len) && errno == ENOTCONN;
}

bool multi_give_up(struct exchange *t)
{
    struct net *f = t->fetch;
    bool any = false;

    for (size_t fd = 0; fd < f->sock_of_count; fd++) {
        struct sock *s = f->sock_of[fd];

        if (!s || s->opener != t || !s->wanted || !is_connecting(s->fd))
            continue;
        dial_note_dead(f, &s->place);
        any |= !shutdown(s->fd, SHUT_RDWR); /* it has failed, for libcurl */
    }
    return any;
}

curl_socket_t multi_open_socket(struct exchange *t,
                                const struct curl_sockaddr *a,
                                const struct place *to)
{
    /* Tools that are started meanwhile must not inherit it. */
    curl_socket_t fd =
        socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
    struct sock *before, *s;
    int wanted = 0;

    room_opened(t);
    if (fd < 0) {
        t->no_socket = errno == EMFILE || errno == ENFILE;
        return CURL_SOCKET_BAD;
    }
    before = sock_find(t->fetch, fd);
    if (before) { /* closed unseen */
        wanted = before->wanted;
        sock_drop(before);
    }
    s = sock_new(t->fetch, fd, true);
    /* If libcurl tries the next address within one call, the new socket has
     * the number of the old one, and libcurl does not repeat its wish. */
    if (s) {
        s->opener = t;
        s->place = *to;
        s->multi = t->multi;
        s->wanted = wanted;
    }
    if (s && (!wanted || sock_watch(s, wanted)))
        return fd;
    if (s)
        sock_drop(s);
    t->refused = CURLE_OUT_OF_MEMORY;
    close(fd);
    return CURL_SOCKET_BAD;
}

int multi_close_socket(void *fetch, curl_socket_t fd)
{
    struct sock *s = sock_find(fetch, fd);

    if (s)
        sock_drop(s);
    return close(fd);
}

/* ---- Multi handles ------------------------------------------------------- */

static struct multi *multi_new(struct net *f)
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
    f->curl->multi_setopt(m->handle, CURLMOPT_MAXCONNECTS, (long)f->idle_max);
    uv_timer_init(f->uv, &m->timer);
    m->timer.data = m;
    f->handles++;
    return m;
}

void multi_limit_idle(struct net *f)
{
    for (struct multi *m = f->multis; m; m = m->next)
        f->curl->multi_setopt(m->handle, CURLMOPT_MAXCONNECTS,
                              (long)f->idle_max);
}

/* The first with room, so that few connections are kept in many places. */
static struct multi *multi_with_room(struct net *f)
{
    struct multi **at = &f->multis;

    while (*at && (*at)->transfers >= MULTI_TRANSFERS_MAX)
        at = &(*at)->next;
    if (!*at)
        *at = multi_new(f);
    return *at;
}

bool multi_add(struct exchange *t)
{
    struct net *f = t->fetch;
    struct multi *m = multi_with_room(f);

    assert(!t->multi);
    if (!m || f->curl->multi_add_handle(m->handle, t->easy) != CURLM_OK)
        return false;
    t->multi = m;
    m->transfers++;
    room_take(t, true);
    return true;
}

void multi_remove(struct exchange *t)
{
    if (!t->multi)
        return;
    t->fetch->curl->multi_remove_handle(t->multi->handle, t->easy);
    t->multi->transfers--;
    room_opened(t);
    room_leave(t->fetch);
    t->multi = NULL;
}

static void on_multi_closed(uv_handle_t *h)
{
    struct multi *m = h->data;
    struct net *f = m->fetch;

    mem_free(&f->mem, m);
    fetch_handle_closed(f);
}

static void multi_free(struct multi *m)
{
    m->fetch->curl->multi_cleanup(m->handle);
    m->handle = NULL;
    uv_close((uv_handle_t *)&m->timer, on_multi_closed);
}

static struct exchange *any_of(const struct multi *m)
{
    struct ring *live = &m->fetch->live;

    for (struct ring *r = live->next; r != live; r = r->next)
        if (of_link(r)->multi == m)
            return of_link(r);
    return NULL;
}

/* Transfers that start meanwhile get another handle. */
void multi_break(struct multi *m)
{
    struct net *f = m->fetch;
    struct multi **at = &f->multis;
    struct exchange *t;

    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    while ((t = any_of(m))) {
        t->refused = CURLE_OUT_OF_MEMORY;
        transfer_finish(t, CURLE_OUT_OF_MEMORY);
    }
    multi_free(m);
    for (size_t fd = 0; fd < f->sock_of_count; fd++)
        if (f->sock_of[fd] && f->sock_of[fd]->multi == m)
            sock_drop(f->sock_of[fd]);
}

void multi_free_all(struct net *f)
{
    while (f->multis) {
        struct multi *m = f->multis;

        f->multis = m->next;
        multi_free(m);
    }
    for (size_t fd = 0; fd < f->sock_of_count; fd++)
        if (f->sock_of[fd])
            sock_drop(f->sock_of[fd]);
}

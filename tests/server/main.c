/*
 * main.c - the test server: options, sockets, one epoll loop.
 *
 *   wend-test-server [--port N] [--unix PATH] [--tls CERT KEY]
 *                    [--log FILE] [--until-eof] [--address A]
 *
 * Listens on 127.0.0.1, or on A, and prints one line: the port, then with
 * --tls the port for TLS. --until-eof ends it with its standard input. --log
 * keeps every request as it came. See README.md for what it answers.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

enum {
    EVENTS_MAX = 512,
    BACKLOG = 8192,
    KEYS_MAX = 4096, /* scenarios counted apart */
};

/* What an epoll event points to, if not to a connection. */
struct listener {
    int fd;
    bool tls;
};

int64_t server_now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void die(const char *what)
{
    fprintf(stderr, "wend-test-server: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---- Counters ------------------------------------------------------------ */

uint64_t server_count(struct server *s, wend_str key)
{
    struct key_count **at = &s->keys, *k;
    size_t n = 0;

    for (; *at; at = &(*at)->next, n++) {
        k = *at;
        if (k->len == key.len && !memcmp(k->key, key.ptr, key.len))
            return k->count++;
    }
    k = n < KEYS_MAX ? calloc(1, sizeof *k + key.len + 1) : NULL;
    if (!k)
        return 0;
    memcpy(k->key, key.ptr, key.len);
    k->len = key.len;
    k->count = 1;
    *at = k;
    return 0;
}

void server_stats(const struct server *s, struct buf *b)
{
    const char *comma = "";

    buf_fmt(b,
            "{\"connections\":%llu,\"open\":%llu,\"requests\":%llu,"
            "\"bytes\":%llu,\"scenarios\":{",
            (unsigned long long)s->connections, (unsigned long long)s->open,
            (unsigned long long)s->requests, (unsigned long long)s->bytes);
    for (const struct key_count *k = s->keys; k; k = k->next) {
        buf_cstr(b, comma);
        json_put_str(b, (wend_str){k->key, k->len});
        buf_fmt(b, ":%llu", (unsigned long long)k->count);
        comma = ",";
    }
    buf_cstr(b, "}}\n");
}

/* ---- Deadlines: a heap, the nearest first --------------------------------
 */

static void heap_set(struct server *s, size_t i, struct conn *c)
{
    s->heap[i] = c;
    c->heap_at = i;
}

static void heap_up(struct server *s, size_t i, struct conn *c)
{
    for (; i > 1 && s->heap[i / 2]->due_us > c->due_us; i /= 2)
        heap_set(s, i, s->heap[i / 2]);
    heap_set(s, i, c);
}

static void heap_down(struct server *s, size_t i, struct conn *c)
{
    for (size_t k; (k = i * 2) <= s->heap_len; i = k) {
        if (k < s->heap_len && s->heap[k + 1]->due_us < s->heap[k]->due_us)
            k++;
        if (s->heap[k]->due_us >= c->due_us)
            break;
        heap_set(s, i, s->heap[k]);
    }
    heap_set(s, i, c);
}

void server_due(struct conn *c, int64_t due_us)
{
    struct server *s = c->server;
    int64_t before = c->due_us;
    size_t i = c->heap_at;

    c->due_us = due_us;
    if (!due_us) {
        struct conn *last;

        if (!i)
            return;
        c->heap_at = 0;
        last = s->heap[s->heap_len--];
        if (last == c)
            return;
        heap_up(s, i, last);
        heap_down(s, last->heap_at, last);
    } else if (i) {
        if (due_us < before)
            heap_up(s, i, c);
        else
            heap_down(s, i, c);
    } else {
        if (s->heap_len + 2 > s->heap_cap) {
            s->heap_cap = s->heap_cap ? s->heap_cap * 2 : 1024;
            s->heap = realloc(s->heap, s->heap_cap * sizeof *s->heap);
            if (!s->heap)
                die("deadlines");
        }
        heap_up(s, ++s->heap_len, c);
    }
}

void server_watch(struct conn *c, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = c};

    if (events == c->events)
        return;
    if (epoll_ctl(c->server->epoll, c->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD,
                  c->fd, &e))
        die("epoll_ctl");
    c->events = events;
}

/* ---- Sockets ------------------------------------------------------------- */

static int listen_tcp(const char *address, uint16_t port, uint16_t *out)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int one = 1;

    if (inet_pton(AF_INET, address, &a.sin_addr) != 1)
        die(address);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    /* Inherited by what is accepted. */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) ||
        listen(fd, BACKLOG) || getsockname(fd, (struct sockaddr *)&a, &len))
        die("cannot listen");
    *out = ntohs(a.sin_port);
    return fd;
}

static int listen_unix(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (strlen(path) >= sizeof a.sun_path)
        die("the path is too long");
    memcpy(a.sun_path, path, strlen(path) + 1);
    unlink(path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) ||
        listen(fd, BACKLOG))
        die(path);
    return fd;
}

static SSL_CTX *tls_new(const char *cert, const char *key)
{
    SSL_CTX *t = SSL_CTX_new(TLS_server_method());

    if (!t || SSL_CTX_use_certificate_chain_file(t, cert) != 1 ||
        SSL_CTX_use_PrivateKey_file(t, key, SSL_FILETYPE_PEM) != 1) {
        fprintf(stderr, "wend-test-server: cannot use %s, %s\n", cert, key);
        exit(1);
    }
    SSL_CTX_set_mode(t, SSL_MODE_ENABLE_PARTIAL_WRITE |
                            SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_RELEASE_BUFFERS);
    return t;
}

static void take_all(struct server *s, const struct listener *l)
{
    int fd;

    while ((fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
        conn_new(s, fd, l->tls);
}

/* ---- The loop ------------------------------------------------------------ */

static bool is_listener(const void *p, const struct listener *l, size_t n)
{
    return (const char *)p >= (const char *)l &&
           (const char *)p < (const char *)(l + n);
}

static void run_due(struct server *s)
{
    int64_t now = server_now_us();

    while (s->heap_len && s->heap[1]->due_us <= now) {
        struct conn *c = s->heap[1];

        server_due(c, 0);
        conn_go(c);
    }
}

static void run(struct server *s, const struct listener *listeners, size_t n)
{
    struct epoll_event events[EVENTS_MAX];

    for (;;) {
        struct timespec t = {0}, *wait = NULL;
        int64_t left_us;
        int got;

        if (s->heap_len) {
            left_us = s->heap[1]->due_us - server_now_us();
            if (left_us > 0)
                t = (struct timespec){left_us / 1000000,
                                      left_us % 1000000 * 1000};
            wait = &t;
        }
        got = epoll_pwait2(s->epoll, events, EVENTS_MAX, wait, NULL);
        for (int i = 0; i < got; i++) {
            void *p = events[i].data.ptr;

            if (!p) /* standard input has ended */
                exit(0);
            if (is_listener(p, listeners, n))
                take_all(s, p);
            else
                conn_event(p, events[i].events);
        }
        run_due(s);
    }
}

static void watch_fd(struct server *s, int fd, void *p)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = p};

    if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e) && p)
        die("epoll_ctl");
}

static void raise_limit(void)
{
    struct rlimit r;

    getrlimit(RLIMIT_NOFILE, &r);
    r.rlim_cur = r.rlim_max;
    setrlimit(RLIMIT_NOFILE, &r);
}

static void usage(void)
{
    fputs("usage: wend-test-server [--port N] [--unix PATH] "
          "[--tls CERT KEY] [--log FILE] [--until-eof] [--address A]\n",
          stderr);
    exit(2);
}

int main(int argc, char **argv)
{
    struct server s = {0};
    struct listener listeners[3] = {{0}};
    const char *unix_path = NULL, *address = "127.0.0.1";
    uint16_t port = 0, tls_port = 0;
    size_t n = 0;
    bool until_eof = false;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--port") && i + 1 < argc)
            port = (uint16_t)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--unix") && i + 1 < argc)
            unix_path = argv[++i];
        else if (!strcmp(argv[i], "--address") && i + 1 < argc)
            address = argv[++i];
        else if (!strcmp(argv[i], "--tls") && i + 2 < argc) {
            s.tls = tls_new(argv[i + 1], argv[i + 2]);
            i += 2;
        } else if (!strcmp(argv[i], "--log") && i + 1 < argc) {
            if (!(s.log = fopen(argv[++i], "we")))
                die(argv[i]);
        } else if (!strcmp(argv[i], "--until-eof"))
            until_eof = true;
        else
            usage();
    }
    signal(SIGPIPE, SIG_IGN);
    raise_limit();
    s.epoll = epoll_create1(EPOLL_CLOEXEC);
    listeners[n++] = (struct listener){listen_tcp(address, port, &port), false};
    if (s.tls)
        listeners[n++] =
            (struct listener){listen_tcp(address, 0, &tls_port), true};
    if (unix_path)
        listeners[n++] = (struct listener){listen_unix(unix_path), false};
    for (size_t i = 0; i < n; i++)
        watch_fd(&s, listeners[i].fd, &listeners[i]);
    if (until_eof)
        watch_fd(&s, 0, NULL);
    printf(s.tls ? "%d %d\n" : "%d\n", port, tls_port);
    fflush(stdout);
    run(&s, listeners, n);
}

/*
 * test_fetch_dial.c - a host with several addresses, some of them dead.
 *
 * A dead address swallows what is sent to it, as behind a firewall that
 * drops: here a socket whose queue is full. The other addresses answer.
 */
#include <errno.h>
#include <fcntl.h>

#include "fetch_help.h"
#include "name_help.h"

#define DEAD "127.0.0.3"
#define DEAD_TOO "127.0.0.4"
#define SLOW "127.0.0.5"
#define REFUSES "127.0.0.6" /* no socket at all */

enum { DEADS = 2, WAITING = 4, CONNECT_MS = 20000 };

/* On the port of the two servers. */
struct dead {
    int listener, waiting[WAITING];
};

static bool dead_fill(struct dead *d, const struct sockaddr *a, socklen_t len)
{
    if (listen(d->listener, 0))
        return false;
    for (int i = 0; i < WAITING; i++) {
        d->waiting[i] =
            socket(a->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (connect(d->waiting[i], a, len) && errno != EINPROGRESS)
            return false;
    }
    return true;
}

static bool dead_open(struct dead *d, const char *address, int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)port)};

    inet_pton(AF_INET, address, &a.sin_addr);
    d->listener = two_listen(address, port);
    return d->listener >= 0 && dead_fill(d, (struct sockaddr *)&a, sizeof a);
}

static void dead_close(struct dead *d)
{
    for (int i = 0; i < WAITING; i++)
        close(d->waiting[i]);
    close(d->listener);
}

static const struct row {
    const char *why, *addresses;
    int64_t connect_ms;
    enum fetch_end how;
    const char *message;
    int percent; /* of connect_ms that it takes at most, on a calm machine 12 */
} rows[] = {
    {"the first is dead", DEAD " " GOOD, CONNECT_MS, FETCH_OK, "", 45},
    {"the first two are dead", DEAD " " DEAD_TOO " " GOOD, CONNECT_MS, FETCH_OK,
     "", 45},
    {"the last is dead", GOOD " " DEAD, CONNECT_MS, FETCH_OK, "", 45},
    {"one refuses, one is dead", REFUSES " " DEAD " " GOOD, CONNECT_MS,
     FETCH_OK, "", 45},
    {"all are dead", DEAD " " DEAD_TOO, 400, FETCH_TIMEOUT,
     "name.test: no connection within 400 ms", 10000},
    {"the only one is dead", DEAD, 400, FETCH_TIMEOUT,
     "name.test: no connection within 400 ms", 10000},
    {"the living one refuses", DEAD " " REFUSES, 400, FETCH_NETWORK,
     "name.test: connection refused", 10000},
};

/* A connection of its own, which is not kept. */
static bool any_address(void *ctx, const struct sockaddr *to, char *why,
                        size_t why_size)
{
    (void)ctx, (void)to, (void)why, (void)why_size;
    return true;
}

static void start(struct seen *s, int port, int64_t connect_ms)
{
    char url[64];
    struct fetch_request q = {.url = url,
                              .connect_ms = connect_ms,
                              .first_byte_ms = 20000,
                              .allow = any_address};

    snprintf(url, sizeof url, "http://name.test:%d/", port);
    seen_ask(s, &q, NULL);
}

static void world_new(struct world *w)
{
    *w = (struct world){.loop = NULL};
    loop_new(&fetch_mem_libc, &w->loop, NULL);
    fetch_new(&fetch_mem_libc, w->loop, &w->fetch, NULL);
}

static void world_end(struct world *w)
{
    fetch_free(w->fetch);
    loop_free(w->loop);
}

static void check_row(const struct row *row, int port)
{
    struct world w;
    struct seen s = {.w = &w};
    int64_t began_ms = clock_ms(), took_ms;

    world_new(&w);
    name_means(row->addresses, NULL);
    start(&s, port, row->connect_ms);
    seen_wait(&s);
    took_ms = clock_ms() - began_ms;
    tap_is_i64(s.how, row->how, "%s: ends so", row->why);
    tap_ok(strstr(s.message, row->message) == s.message, "%s: words (%s)",
           row->why, s.message);
    tap_ok(took_ms * 100 <= row->connect_ms * row->percent,
           "%s: in time (%lld ms)", row->why, (long long)took_ms);
    world_end(&w);
}

/* An address that was dead a short while ago is not tried first again. */
static void test_remembered(int port)
{
    struct world w;
    int64_t took_ms[2];

    world_new(&w);
    name_means(DEAD " " GOOD, NULL);
    for (int i = 0; i < 2; i++) {
        struct seen s = {.w = &w};

        took_ms[i] = -clock_ms();
        start(&s, port, CONNECT_MS);
        seen_wait(&s);
        took_ms[i] += clock_ms();
        tap_ok(s.how == FETCH_OK, "new connection %d (%s)", i + 1, s.message);
    }
    tap_ok(took_ms[1] * 2 < took_ms[0],
           "the second one does not wait for the dead address (%lld, %lld ms)",
           (long long)took_ms[0], (long long)took_ms[1]);
    world_end(&w);
}

/* The queue is emptied only after every address was given up once. */
static void test_slow(int port)
{
    static const char page[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
                               "Connection: close\r\n\r\n";
    struct world w;
    struct seen s = {.w = &w};
    struct dead slow;
    int64_t began_ms = clock_ms();

    if (!tap_ok(dead_open(&slow, SLOW, port), "a slow address"))
        return;
    fcntl(slow.listener, F_SETFL, O_NONBLOCK);
    world_new(&w);
    name_means(DEAD " " SLOW, NULL);
    start(&s, port, CONNECT_MS);
    while (!s.ends) {
        int fd = -1;

        loop_turn(w.loop, 10);
        if (clock_ms() > began_ms + 2500)
            fd = accept(slow.listener, NULL, NULL);
        if (fd >= 0 &&
            (write(fd, page, sizeof page - 1) < 0 || shutdown(fd, SHUT_WR)))
            perror("# write");
    }
    tap_ok(s.how == FETCH_OK && s.status == 200,
           "a slow address beside a dead one (%s)", s.message);
    world_end(&w);
    dead_close(&slow);
}

/* localhost has two addresses, and plain sockets are ours. */
static void test_plain(int port)
{
    struct sockaddr_in6 a = {.sin6_family = AF_INET6,
                             .sin6_port = htons((uint16_t)port),
                             .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct world w;
    struct seen s = {.w = &w};
    struct dead d;
    char url[64];
    struct fetch_request q = {.url = url, .connect_ms = CONNECT_MS};
    int64_t began_ms = clock_ms();

    d.listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(d.listener, (struct sockaddr *)&a, sizeof a)) {
        printf("# no [::1] here: not tested\n");
        close(d.listener);
        return;
    }
    tap_ok(dead_fill(&d, (struct sockaddr *)&a, sizeof a), "[::1] is dead");
    world_new(&w);
    snprintf(url, sizeof url, "http://localhost:%d/", port);
    seen_ask(&s, &q, NULL);
    seen_wait(&s);
    tap_ok(s.how == FETCH_OK && (clock_ms() - began_ms) * 2 < CONNECT_MS,
           "the second address of localhost (%s)", s.message);
    world_end(&w);
    dead_close(&d);
}

int main(void)
{
    struct two_servers two = {.port = 0};
    struct dead deads[DEADS];

    if (!two_start(&two) || !dead_open(&deads[0], DEAD, two.port) ||
        !dead_open(&deads[1], DEAD_TOO, two.port))
        return 1;
    for (size_t i = 0; i < tap_count(rows); i++)
        check_row(&rows[i], two.port);
    test_remembered(two.port);
    test_slow(two.port);
    test_plain(two.port);
    for (int i = 0; i < DEADS; i++)
        dead_close(&deads[i]);
    two_stop(&two);
    return tap_done();
}

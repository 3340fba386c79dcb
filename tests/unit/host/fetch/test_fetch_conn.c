/*
 * test_fetch_conn.c - which connections are used again, and servers that
 * close, hurry or dawdle; over plain sockets and by libcurl.
 *
 * The server is a socket of our own: it says what a row says, when it says.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "fetch_help.h"

#define ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define NO_BODY "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
#define CLOSED "the server closed the connection without an answer"

struct peer {
    struct world *w;
    int listener, fd, accepted;
    char url[64];
    char asked[4096]; /* the last request's beginning */
};

static bool peer_open(struct peer *p, struct world *w)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;

    *p = (struct peer){.w = w, .fd = -1};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    p->listener =
        socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(p->listener, (struct sockaddr *)&a, sizeof a) ||
        listen(p->listener, 8) ||
        getsockname(p->listener, (struct sockaddr *)&a, &len))
        return false;
    snprintf(p->url, sizeof p->url, "http://127.0.0.1:%d/", ntohs(a.sin_port));
    return true;
}

static void peer_hang_up(struct peer *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

static void peer_close(struct peer *p)
{
    peer_hang_up(p);
    close(p->listener);
}

static void peer_accept(struct peer *p)
{
    int fd = accept4(p->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd < 0)
        return;
    peer_hang_up(p);
    p->fd = fd;
    p->accepted++;
}

/* Turns the loop until a request's head has come, on whichever connection,
 * or s has ended. */
static bool peer_asked(struct peer *p, struct seen *s)
{
    size_t len = 0;

    for (int turns = 0; turns < 20000 && !s->ends; turns++) {
        ssize_t n;
        int before = p->accepted;

        loop_turn(p->w->loop, 2);
        peer_accept(p);
        if (p->accepted != before)
            len = 0;
        n = p->fd < 0 ? -1
                      : read(p->fd, p->asked + len, sizeof p->asked - 1 - len);
        len += n > 0 ? (size_t)n : 0;
        p->asked[len] = 0;
        if (strstr(p->asked, "\r\n\r\n"))
            return true;
    }
    return false;
}

static void peer_say(struct peer *p, const char *bytes)
{
    if (write(p->fd, bytes, strlen(bytes)) < 0)
        perror("# write");
}

/* ---- Used again ---------------------------------------------------------- */

/* The first request is answered so; what happens before the second; whether
 * the second comes on the same connection. */
static void test_reuse(struct world *w)
{
    static const struct {
        const char *why, *answer;
        bool hang_up, half, used_again;
    } rows[] = {
        {"an answer with a length", ANSWER, false, false, true},
        {"with chunks",
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
         "2\r\nok\r\n0\r\n\r\n",
         false, false, true},
        {"with trailers",
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
         "2\r\nok\r\n0\r\nA: b\r\n\r\n",
         false, false, true},
        {"after a 100", "HTTP/1.1 100 Continue\r\n\r\n" ANSWER, false, false,
         true},
        {"the server says close",
         "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
         false, false, false},
        {"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", false,
         false, false},
        {"HTTP/1.0 that keeps it",
         "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: "
         "2\r\n\r\n"
         "ok",
         false, false, true},
        {"garbage behind the body", ANSWER "garbage", false, false, false},
        {"another answer behind it", ANSWER ANSWER, false, false, false},
        {"it is closed meanwhile", ANSWER, true, false, false},
        {"half of it is closed meanwhile", ANSWER, false, true, false},
        {"until the end", "HTTP/1.1 200 OK\r\n\r\nok", true, false, false},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct peer p;
        struct seen a = {.w = w, .keep = true}, b = a;

        if (!peer_open(&p, w))
            return;
        seen_start(&a, p.url);
        peer_asked(&p, &a);
        peer_say(&p, rows[i].answer);
        if (rows[i].hang_up)
            peer_hang_up(&p);
        else if (rows[i].half)
            shutdown(p.fd, SHUT_WR);
        seen_wait(&a);
        seen_start(&b, p.url);
        peer_asked(&p, &b);
        peer_say(&p, ANSWER);
        seen_wait(&b);
        if (!tap_ok(a.how == FETCH_OK && b.how == FETCH_OK &&
                        str_is(buf_view(&a.body), "ok") &&
                        str_is(buf_view(&b.body), "ok") &&
                        p.accepted == 2 - rows[i].used_again,
                    "used again: %s", rows[i].why))
            printf("# %s, %s, %d connections\n", a.message, b.message,
                   p.accepted);
        buf_free(&a.body);
        buf_free(&b.body);
        peer_close(&p);
    }
}

enum kind { GET, HEAD, POST, PUT, HARMLESS, ONCE };

static const struct fetch_request kinds[] = {
    [GET] = {.method = NULL},
    [HEAD] = {.method = "HEAD"},
    [POST] = {.body = {"question", 8}},
    [PUT] = {.method = "PUT", .body = {"question", 8}},
    [HARMLESS] = {.body = {"question", 8}, .harmless = true},
    [ONCE] = {.once = true},
};

/* A request on a kept connection that ends without an answer is asked again
 * on a new one if it may be taken twice; once, and only then. The server
 * takes it each time. */
static void test_stale(struct world *w)
{
    static const struct {
        const char *why;
        bool kept;          /* there was an answer on the connection before */
        const char *first;  /* what the server says before it closes */
        bool again;         /* then it is asked again ... */
        const char *second; /* ... and answered so */
        enum fetch_end how;
        const char *words;
        enum kind kind;
    } rows[] = {
        {"closed in silence", true, "", true, ANSWER, FETCH_OK, "", GET},
        {"HEAD", true, "", true, NO_BODY, FETCH_OK, "", HEAD},
        {"a POST that is harmless", true, "", true, ANSWER, FETCH_OK, "",
         HARMLESS},
        {"twice", true, "", true, "", FETCH_NETWORK, CLOSED, GET},
        {"a harmless one twice", true, "", true, "", FETCH_NETWORK, CLOSED,
         HARMLESS},
        {"a new one is not asked again", false, "", false, NULL, FETCH_NETWORK,
         CLOSED, GET},
        {"after a line neither", true, "HTTP/1.1 200 OK\r\n", false, NULL,
         FETCH_NETWORK, CLOSED, GET},
        {"nor after a 100", true, "HTTP/1.1 100 Continue\r\n\r\n", false, NULL,
         FETCH_NETWORK, CLOSED, GET},
        {"nor a POST, which may have been taken", true, "", false, NULL,
         FETCH_NETWORK, CLOSED, POST},
        {"nor any other method", true, "", false, NULL, FETCH_NETWORK, CLOSED,
         PUT},
        {"nor what has an effect", true, "", false, NULL, FETCH_NETWORK, CLOSED,
         ONCE},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct peer p;
        struct seen a = {.w = w}, b = {.w = w};
        struct fetch_request q = kinds[rows[i].kind];
        bool again;

        if (!peer_open(&p, w))
            return;
        if (rows[i].kept) {
            seen_start(&a, p.url);
            peer_asked(&p, &a);
            peer_say(&p, ANSWER);
            seen_wait(&a);
        }
        q.url = p.url;
        seen_ask(&b, &q, NULL);
        peer_asked(&p, &b);
        peer_say(&p, rows[i].first);
        peer_hang_up(&p);
        p.asked[0] = 0;
        again = peer_asked(&p, &b);
        if (again && rows[i].second) {
            peer_say(&p, rows[i].second);
            shutdown(p.fd, SHUT_WR);
        } else {
            peer_hang_up(&p);
        }
        seen_wait(&b);
        if (!tap_ok(again == rows[i].again && b.how == rows[i].how &&
                        strstr(b.message, rows[i].words) &&
                        (!again || strstr(p.asked, " / HTTP/1.1\r\n")),
                    "stale: %s", rows[i].why))
            printf("# %d %d %s\n", again, b.how, b.message);
        peer_close(&p);
    }
}

/* Whether a request comes on the connection that an earlier one has left. */
static void test_anew(struct world *w)
{
    static const struct {
        const char *why;
        enum kind kind;
        int connections;
    } rows[] = {
        {"a request that may be taken twice: on the kept one", GET, 1},
        {"one that may not, which its caller may send again: too", POST, 1},
        {"one with an effect: on a new one", ONCE, 2},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct fetch_request q = kinds[rows[i].kind];
        struct seen a = {.w = w}, b = {.w = w};
        struct peer p;

        if (!peer_open(&p, w))
            return;
        seen_start(&a, p.url);
        peer_asked(&p, &a);
        peer_say(&p, ANSWER);
        seen_wait(&a);
        q.url = p.url;
        p.asked[0] = 0;
        seen_ask(&b, &q, NULL);
        peer_asked(&p, &b);
        peer_say(&p, ANSWER);
        seen_wait(&b);
        tap_ok(b.how == FETCH_OK && p.accepted == rows[i].connections,
               "anew: %s (%d)", rows[i].why, p.accepted);
        peer_close(&p);
    }
}

/* The request is larger than any buffer, and nobody reads it. */
static void test_answer_before_request(struct world *w)
{
    enum { BODY = 32 << 20 };
    char *big = calloc(1, BODY);
    struct fetch_request q = {.body = {big, BODY}};
    struct seen s = {.w = w, .keep = true};
    struct peer p;

    if (!peer_open(&p, w))
        return;
    q.url = p.url;
    seen_ask(&s, &q, NULL);
    peer_asked(&p, &s);
    peer_say(&p, "HTTP/1.1 413 Too Large\r\nConnection: close\r\n"
                 "Content-Length: 3\r\n\r\nbig");
    seen_wait(&s);
    tap_ok(s.status == 413 && s.how == FETCH_OK &&
               str_is(buf_view(&s.body), "big"),
           "an answer that does not wait for the request (%s)", s.message);
    buf_free(&s.body);
    peer_close(&p);
    free(big);
}

/* ---- No connection ------------------------------------------------------- */

/* A queue that is full lets nobody in, and refuses nobody. */
static void test_connect_timeout(struct world *w)
{
    enum { WAITING = 4 };
    struct peer p;
    struct sockaddr_in a;
    socklen_t len = sizeof a;
    struct seen s = {.w = w};
    struct fetch_request q = {.connect_ms = 100, .first_byte_ms = 5000};
    int fds[WAITING];

    if (!peer_open(&p, w))
        return;
    listen(p.listener, 0);
    getsockname(p.listener, (struct sockaddr *)&a, &len);
    for (int i = 0; i < WAITING; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (connect(fds[i], (struct sockaddr *)&a, len) && errno != EINPROGRESS)
            perror("# connect");
    }
    q.url = p.url;
    seen_ask(&s, &q, NULL);
    seen_wait(&s);
    tap_ok(s.how == FETCH_TIMEOUT &&
               !strcmp(s.message, "127.0.0.1: no connection within 100 ms"),
           "nobody takes the connection (%s)", s.message);
    for (int i = 0; i < WAITING; i++)
        close(fds[i]);
    peer_close(&p);
}

/* The libraries that libcurl needs are what it costs. */
static bool is_loaded(const char *name)
{
    FILE *f = fopen("/proc/self/maps", "re");
    char line[PATH_MAX + 128];
    bool found = false;

    while (f && fgets(line, sizeof line, f))
        found |= strstr(line, name) != NULL;
    if (f)
        fclose(f);
    return found;
}

/* ---- Slow and long heads ------------------------------------------------- */

static void test_slow_head(struct world *w)
{
    static const char answer[] =
        "HTTP/1.1 100 Continue\r\n\r\n"
        "HTTP/1.1 429 Wait\r\nRetry-After: 7\r\nTransfer-Encoding: chunked"
        "\r\n\r\n2\r\nok\r\n0\r\nA: b\r\n\r\n";
    struct seen s = {.w = w, .keep = true};
    struct peer p;

    if (!peer_open(&p, w))
        return;
    seen_start(&s, p.url);
    peer_asked(&p, &s);
    for (size_t i = 0; answer[i]; i++) {
        char byte[2] = {answer[i], 0};

        peer_say(&p, byte);
        loop_turn(w->loop, 1);
    }
    seen_wait(&s);
    tap_ok(s.how == FETCH_OK && s.status == 429 && s.heads == 1 &&
               !strcmp(s.retry_after, "7") && str_is(buf_view(&s.body), "ok"),
           "a head that comes byte by byte");
    buf_free(&s.body);
    peer_close(&p);
}

static void test_head_limit(struct world *w)
{
    enum { HEAD_MAX = 32 << 10 };
    static char head[HEAD_MAX + 64];

    for (int more = -1; more <= 1; more++) {
        struct seen s = {.w = w};
        struct peer p;
        size_t size = (size_t)(HEAD_MAX + more);
        int len = snprintf(head, sizeof head,
                           "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ");

        if (!peer_open(&p, w))
            return;
        memset(head + len, 'x', size - 2 - (size_t)len);
        snprintf(head + size - 2, 8, "\r\n\r\n");
        seen_start(&s, p.url);
        peer_asked(&p, &s);
        peer_say(&p, head);
        seen_wait(&s);
        if (!tap_ok((s.how == FETCH_OK) == (more <= 0) &&
                        (more <= 0 ||
                         (s.how == FETCH_HEADERS &&
                          strstr(s.message, "the headers are too long"))),
                    "a head of %+d bytes of 32 KiB", more))
            printf("# %d %s\n", s.how, s.message);
        peer_close(&p);
    }
}

/* ---- Requests ------------------------------------------------------------ */

static void test_methods(struct world *w)
{
    static const struct {
        const char *why, *method, *answer;
        int status;
    } rows[] = {
        {"HEAD: a length, no body", "HEAD",
         "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", 200},
        {"204: no length, no body", "GET", "HTTP/1.1 204 No\r\n\r\n", 204},
        {"304: a length, no body", "GET",
         "HTTP/1.1 304 Same\r\nContent-Length: 9\r\n\r\n", 304},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct seen s = {.w = w};
        struct peer p;
        struct fetch_request q = {.method = rows[i].method, .whole_ms = 5000};

        if (!peer_open(&p, w))
            return;
        q.url = p.url;
        seen_ask(&s, &q, NULL);
        peer_asked(&p, &s);
        peer_say(&p, rows[i].answer);
        seen_wait(&s);
        tap_ok(s.how == FETCH_OK && s.status == rows[i].status && !s.bytes,
               "%s (%s)", rows[i].why, s.message);
        peer_close(&p);
    }
}

/* Both ways send the same, in whichever order. */
static void test_head_sent(struct world *w)
{
    static const char *const lines[] = {"POST / HTTP/1.1\r\n",
                                        "\r\nHost: 127.0.0.1:",
                                        "\r\nAccept: */*\r\n",
                                        "\r\nX-Mine: a b\r\n",
                                        "\r\nContent-Length: 3\r\n",
                                        "\r\nAccept-Encoding: identity\r\n",
                                        "\r\n\r\n"};
    static const char *const headers[] = {"X-Mine: a b", NULL};
    struct fetch_request q = {.body = STR("abc"), .headers = headers};
    struct seen s = {.w = w};
    struct peer p;
    size_t missing = 0, line_ends = 0;

    if (!peer_open(&p, w))
        return;
    q.url = p.url;
    seen_ask(&s, &q, NULL);
    peer_asked(&p, &s);
    for (size_t i = 0; i < tap_count(lines); i++)
        missing += !strstr(p.asked, lines[i]);
    for (const char *at = p.asked; (at = strstr(at, "\r\n")); at += 2)
        line_ends++;
    if (!tap_ok(!missing && line_ends == tap_count(lines),
                "the request's head has these lines, and no other"))
        printf("# %s\n", p.asked);
    peer_say(&p, ANSWER);
    seen_wait(&s);
    peer_close(&p);
}

int main(void)
{
    struct world w;

    if (!tap_ok(world_open(&w, false), "a server"))
        return tap_done();
    for (int way = 0; way < 2; way++) {
        w.libcurl = way;
        printf("# %s\n", w.libcurl ? "by libcurl" : "over plain sockets");
        test_reuse(&w);
        test_anew(&w);
        test_stale(&w);
        test_answer_before_request(&w);
        test_connect_timeout(&w);
        test_slow_head(&w);
        test_head_limit(&w);
        test_methods(&w);
        test_head_sent(&w);
        tap_ok(is_loaded("libcurl.so") == w.libcurl,
               "libcurl is loaded only if it is needed");
    }
    world_close(&w);
    return tap_done();
}

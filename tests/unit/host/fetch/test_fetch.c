/*
 * test_fetch.c - transfers against the test server: bytes, ends, words.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "fetch_help.h"

/* ---- Bodies as sent ------------------------------------------------------ */

static void test_bodies(struct world *w)
{
    static const struct {
        const char *why, *path, *body;
        size_t chunks_min;
    } rows[] = {
        {"a few deltas", "/=text:3:4/", "000 001 002 ", 1},
        {"slowly, each is its own", "/=text:3:4,delay=20ms/", "000 001 002 ",
         3},
        {"byte by byte", "/=text:2:2,chunk=1,slow=5ms/", "0 1 ", 4},
        {"with a length", "/=text:3:4,length/", "000 001 002 ", 1},
        {"until the end of the connection", "/=text:3:4,eof/", "000 001 002 ",
         1},
        {"an error's body, too", "/=status:500/", "test error 500\n", 1},
        {"nothing", "/=text:0/", "", 0},
        {"nothing, with a length", "/=text:0,length/", "", 0},
        {"not decoded", "/=bytes:abc,encoding=gzip/", "abc,encoding=gzip", 1},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct seen s = {.w = w, .keep = true};

        seen_start(&s, rows[i].path);
        seen_wait(&s);
        tap_is_str(buf_view(&s.body), rows[i].body, "body: %s", rows[i].why);
        tap_ok(s.how == FETCH_OK && s.heads == 1 && s.ends == 1 &&
                   s.chunks >= rows[i].chunks_min && !s.message[0],
               "and its events: %s (%zu chunks)", rows[i].why, s.chunks);
        buf_free(&s.body);
    }
}

static void test_head(struct world *w)
{
    struct seen s = {.w = w};

    seen_start(&s, "/=status:429:retry-after=7/");
    seen_wait(&s);
    tap_is_i64(s.status, 429, "status");
    tap_is_str((const char *)s.retry_after, "7", "a header, in any case");
    s = (struct seen){.w = w};
    seen_start(&s, "/=status:302:location=%2Felsewhere/");
    seen_wait(&s);
    tap_is_i64(s.status, 302, "redirects are not followed");
    tap_is_str((const char *)s.retry_after, "", "no header of before");
}

static void test_requests(struct world *w)
{
    static const char *const headers[] = {
        "X-One: 1", "X-Empty: ", "content-type: a/b", NULL};
    static const struct {
        const char *why, *method, *body;
        const char *const *headers;
        const char *has, *has_not;
    } rows[] = {
        {"GET", NULL, NULL, NULL, "GET /=echo/p?q=1 HTTP/1.1\r\n",
         "Content-Type"},
        {"POST", NULL, "{}", NULL, "POST /=echo/p?q=1 HTTP/1.1\r\n",
         "x-www-form"},
        {"POST of nothing", NULL, "", NULL, "Content-Length: 0\r\n", "Expect"},
        {"a method", "PUT", "{}", NULL, "PUT /", "Expect"},
        {"a method without body", "DELETE", NULL, NULL, "DELETE /", "Expect"},
        {"headers", NULL, "{}", headers, "\r\nX-One: 1\r\n", "x-www-form"},
        {"one without a value", NULL, "{}", headers, "\r\nX-Empty:\r\n", "; "},
        {"their order, the body", NULL, "{}", headers,
         "\r\ncontent-type: a/b\r\n", "Content-Type:"},
        {"only as it is", NULL, "{}", NULL, "Accept-Encoding: identity\r\n",
         "gzip"},
    };
    char url[64];

    snprintf(url, sizeof url, "http://127.0.0.1:%d/=echo/p?q=1",
             w->server.port);
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct seen s = {.w = w, .keep = true};
        struct fetch_request q = {.url = url,
                                  .method = rows[i].method,
                                  .headers = rows[i].headers,
                                  .body = str_of(rows[i].body)};

        seen_ask(&s, &q, NULL);
        seen_wait(&s);
        tap_ok(s.body.ptr && strstr(s.body.ptr, rows[i].has) &&
                   !strstr(s.body.ptr, rows[i].has_not),
               "request: %s", rows[i].why);
        buf_free(&s.body);
    }
}

/* Over a megabyte, libcurl would like to ask first. */
static void test_large_request(struct world *w)
{
    size_t len = 3 << 20;
    char *big = malloc(len + 1), url[64];
    struct seen s = {.w = w, .keep = true};
    struct fetch_request q = {.url = url, .body = {big, len}};

    memset(big, 'x', len);
    big[len] = 0;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/=echo/", w->server.port);
    seen_ask(&s, &q, NULL);
    seen_wait(&s);
    tap_ok(s.how == FETCH_OK && s.body.len > len &&
               !memcmp(s.body.ptr + s.body.len - len, big, len),
           "a request of 3 MiB, and the same back");
    buf_free(&s.body);
    free(big);
}

static void test_refused_requests(struct world *w)
{
    static const char long_path[] =
        "/tmp/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    static const char *const line_end[] = {"A: b\r\nC: d", NULL};
    static const char *const no_name[] = {": b", NULL};
    static const char *const no_colon[] = {"A", NULL};
    static const struct {
        const char *why;
        struct fetch_request q;
    } rows[] = {
        {"no URL", {.url = NULL}},
        {"a file", {.url = "file:///etc/passwd"}},
        {"another protocol", {.url = "ftp://127.0.0.1/"}},
        {"no protocol", {.url = "127.0.0.1"}},
        {"a line end in the URL", {.url = "http://127.0.0.1/\r\nX: y"}},
        {"a space in the URL", {.url = "http://127.0.0.1/a b"}},
        {"a line end in a header",
         {.url = "http://127.0.0.1/", .headers = line_end}},
        {"a header without name",
         {.url = "http://127.0.0.1/", .headers = no_name}},
        {"no header at all", {.url = "http://127.0.0.1/", .headers = no_colon}},
        {"a method of two words",
         {.url = "http://127.0.0.1/", .method = "GET /x"}},
        {"a unix socket whose path is too long",
         {.url = "http://127.0.0.1/", .unix_socket = long_path}},
        {"an empty method", {.url = "http://127.0.0.1/", .method = ""}},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct seen s = {.w = w};
        struct fetch_request q = rows[i].q;
        wend_error err = {0};

        tap_ok(seen_ask(&s, &q, &err) == WEND_E_INVAL && err.message[0],
               "refused: %s (%s)", rows[i].why, err.message);
    }
}

/* ---- Ends ---------------------------------------------------------------- */

static int closed_port(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) ||
        getsockname(fd, (struct sockaddr *)&a, &len))
        return -1;
    return ntohs(a.sin_port); /* stays bound, nobody listens */
}

/* No label may be so long: it fails before anybody is asked. */
#define BAD_NAME                                                       \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
    ".invalid"

static void test_failures(struct world *w)
{
    char refused[64];
    const struct {
        const char *why, *url;
        enum fetch_end how;
        const char *words;
    } rows[] = {
        {"refused", refused, FETCH_NETWORK, "127.0.0.1: connection refused"},
        {"no such name", "http://" BAD_NAME "/", FETCH_NETWORK,
         BAD_NAME ": could not resolve the name"},
        {"no such name, for certain", "http://user:secret@" BAD_NAME ":80/",
         FETCH_NETWORK, BAD_NAME ": could not resolve the name"},
        {"reset in the body", "/=reset:100/", FETCH_NETWORK,
         "127.0.0.1: connection reset by the server"},
        {"reset after the head", "/=reset:0/", FETCH_NETWORK,
         "connection reset by the server"},
        {"closed within a chunk", "/=cut:100/", FETCH_NETWORK,
         "127.0.0.1: the connection was closed before the end of the body"},
        {"closed before its length", "/=text:50,length,cut=99/", FETCH_NETWORK,
         "closed before the end of the body"},
    };

    snprintf(refused, sizeof refused, "http://127.0.0.1:%d/", closed_port());
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct seen s = {.w = w};

        seen_start(&s, rows[i].url);
        seen_wait(&s);
        if (!tap_ok(s.how == rows[i].how && strstr(s.message, rows[i].words) &&
                        s.port_told && !strstr(s.message, "secret"),
                    "end: %s", rows[i].why))
            printf("# %d %s\n", s.how, s.message);
    }
}

static void test_timeouts(struct world *w)
{
    char url[128], tls[64];
    const struct {
        const char *why, *url;
        struct fetch_request q;
        const char *words;
    } rows[] = {
        {"connect: a handshake that nobody answers",
         tls,
         {.connect_ms = 100},
         "127.0.0.1: no connection within 100 ms"},
        {"first byte: no answer",
         "/=hang/",
         {.first_byte_ms = 100},
         "127.0.0.1: no answer within 100 ms"},
        {"first byte: a head without body",
         "/=hang:0/",
         {.first_byte_ms = 100},
         "127.0.0.1: no answer within 100 ms"},
        {"between bytes",
         "/=hang:20/",
         {.between_ms = 100},
         "127.0.0.1: no more bytes within 100 ms"},
        {"whole: though bytes come",
         "/=delay:10ms:1000/",
         {.whole_ms = 150, .between_ms = 5000},
         "127.0.0.1: not complete within 150 ms"},
        {"whole: nothing comes",
         "/=hang/",
         {.whole_ms = 100, .connect_ms = 5000, .first_byte_ms = 5000},
         "127.0.0.1: not complete within 100 ms"},
    };

    snprintf(tls, sizeof tls, "https://127.0.0.1:%d/", w->server.port);
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct seen s = {.w = w};
        struct fetch_request q = rows[i].q;
        int64_t began = clock_ms(), took;

        snprintf(url, sizeof url, "http://127.0.0.1:%d%s", w->server.port,
                 rows[i].url);
        q.url = rows[i].url[0] == '/' ? url : rows[i].url;
        seen_ask(&s, &q, NULL);
        seen_wait(&s);
        took = clock_ms() - began;
        if (!tap_ok(s.how == FETCH_TIMEOUT &&
                        !strcmp(s.message, rows[i].words) && took >= 99 &&
                        took < 20000,
                    "timeout: %s", rows[i].why))
            printf("# %d %s, %lld ms\n", s.how, s.message, (long long)took);
    }
}

static void test_no_timeouts(struct world *w)
{
    static const struct {
        const char *why, *path;
        bool held_up, paused;
    } rows[] = {
        {"bytes come in time", "/=delay:50ms:12/", false, false},
        {"the loop was held up, the bytes wait", "/=delay:100ms:8/", true,
         false},
        {"it is paused for longer than that", "/=delay:10ms:20/", false, true},
    };
    char url[128];

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct seen s = {.w = w, .pause_every = rows[i].paused ? 5 : 0};
        struct fetch_request q = {.url = url,
                                  .connect_ms = 30000,
                                  .first_byte_ms = 30000,
                                  .between_ms = 2000};

        snprintf(url, sizeof url, "http://127.0.0.1:%d%s", w->server.port,
                 rows[i].path);
        seen_ask(&s, &q, NULL);
        while (!s.ends) {
            loop_turn(w->loop, 1000);
            if (rows[i].held_up && s.chunks == 2)
                usleep(2500000);
            if (!s.paused)
                continue;
            world_run(w, 2500);
            s.paused = false;
            s.pause_every = 0;
            fetch_resume(s.t);
        }
        if (!tap_ok(s.how == FETCH_OK, "no timeout: %s", rows[i].why))
            printf("# %s\n", s.message);
    }
}

/* ---- Servers that speak no HTTP ------------------------------------------
 */

static void test_bad_heads(struct world *w)
{
    static char long_head[40000];
    static const struct {
        const char *why, *bytes;
        int status; /* 0: no head comes */
        const char *words;
    } rows[] = {
        {"not HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n", 0,
         "the answer is not HTTP"},
        {"nothing", "", 0,
         "the server closed the connection without an answer"},
        {"half a head", "HTTP/1.1 200 OK\r\nContent-", 0,
         "the server closed the connection without an answer"},
        {"headers without end", long_head, 0, "the headers are too long"},
        {"two heads, the first says to wait",
         "HTTP/1.1 103 Hints\r\nRetry-After: 1\r\n\r\n"
         "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
         200, ""},
        {"a chunk that is none",
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 200,
         "127.0.0.1: "},
    };
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;
    int l = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    char url[64];

    snprintf(long_head, sizeof long_head, "HTTP/1.1 200 OK\r\n");
    for (size_t n = strlen(long_head); n + 32 < sizeof long_head; n += 24)
        snprintf(long_head + n, 32, "X-Padding: %011zu\r\n", n);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    tap_ok(!bind(l, (struct sockaddr *)&a, sizeof a) && !listen(l, 8) &&
               !getsockname(l, (struct sockaddr *)&a, &len),
           "a server of our own");
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(a.sin_port));
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct seen s = {.w = w};
        int fd = -1;

        seen_start(&s, url);
        while (fd < 0) {
            loop_turn(w->loop, 1);
            fd = accept(l, NULL, NULL);
        }
        if (write(fd, rows[i].bytes, strlen(rows[i].bytes)) < 0)
            perror("# write");
        shutdown(fd, SHUT_WR);
        seen_wait(&s);
        if (!tap_ok(s.status == rows[i].status &&
                        (s.how == FETCH_OK) == !rows[i].words[0] &&
                        strstr(s.message, rows[i].words) && !s.retry_after[0],
                    "head: %s", rows[i].why))
            printf("# %d %d %s\n", s.status, s.how, s.message);
        close(fd);
    }
    close(l);
}

/* ---- Ways to the server -------------------------------------------------- */

/* The URL's host is not asked for; it stands in the request. */
static void test_unix(struct world *w)
{
    static const struct {
        const char *url, *has;
    } rows[] = {
        {"http://models.test/=text:2:4/", "000 001 "},
        {"http://models.test/=echo/", "\r\nHost: models.test\r\n"},
        {"http://models.test:80/=echo/", "\r\nHost: models.test\r\n"},
        {"http://models.test:81/=echo/", "\r\nHost: models.test:81\r\n"},
        {"http://[::1]:81/=echo/", "\r\nHost: [::1]:81\r\n"},
    };
    struct fetch_request q = {.unix_socket = w->server.unix_path};
    struct seen s;

    for (size_t i = 0; i < tap_count(rows); i++) {
        s = (struct seen){.w = w, .keep = true};
        q.url = rows[i].url;
        seen_ask(&s, &q, NULL);
        seen_wait(&s);
        tap_ok(s.body.ptr && strstr(s.body.ptr, rows[i].has),
               "over a unix socket: %s", rows[i].url);
        buf_free(&s.body);
    }
    s = (struct seen){.w = w};
    q.unix_socket = "/nonexistent/socket";
    seen_ask(&s, &q, NULL);
    seen_wait(&s);
    tap_ok(s.how == FETCH_NETWORK && strstr(s.message, "/nonexistent/socket: "),
           "no such unix socket (%s)", s.message);
}

/* The server, which is no proxy, refuses what only a proxy would get. */
static void test_proxy(struct world *w)
{
    static const struct {
        const char *why, *host;
        bool option, environment, no_proxy;
        int status;
    } rows[] = {
        {"from the option", "localhost", true, false, false, 400},
        {"from the environment", "192.0.2.1", false, true, false, 400},
        {"from the environment, for a name", "a.test", false, true, false, 400},
        {"from the environment, not for localhost", "localhost", false, true,
         false, 200},
        {"from the environment, not for 127.0.0.1", "127.0.0.1", false, true,
         false, 200},
        {"from the environment, not where no_proxy says so", "127.0.0.1", false,
         true, true, 200},
        {"none", "localhost", false, false, false, 200},
    };
    static const char *const variables[] = {"http_proxy", "ALL_PROXY"};
    char url[64], proxy[64];

    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", w->server.port);
    for (size_t i = 0; i < tap_count(rows) * 2; i++) {
        const char *variable = variables[i % 2];
        struct seen s = {.w = w};
        struct fetch_request q = {.url = url};

        snprintf(url, sizeof url, "http://%s:%d/", rows[i / 2].host,
                 w->server.port);
        if (rows[i / 2].environment)
            setenv(variable, proxy, 1);
        if (rows[i / 2].no_proxy)
            setenv("no_proxy", "127.0.0.1", 1);
        q.proxy = rows[i / 2].option ? proxy : NULL;
        q.libcurl = w->libcurl;
        fetch_start(w->fetch, &q, &seen_events, &s, &s.t, NULL);
        seen_wait(&s);
        tap_is_i64(s.status, rows[i / 2].status, "proxy: %s (%s)",
                   rows[i / 2].why, variable);
        unsetenv(variable);
        unsetenv("no_proxy");
    }
}

static void test_keep_alive(struct world *w)
{
    int64_t before = world_count(w, "connections"), after;
    int bad = 0;

    for (int i = 0; i < 20; i++) {
        struct seen s = {.w = w};

        seen_start(&s, i % 2 ? "/=text:3/" : "/=status:404/");
        seen_wait(&s);
        bad += s.how != FETCH_OK;
    }
    after = world_count(w, "connections");
    tap_is_i64(bad, 0, "twenty transfers");
    tap_is_i64(after - before, 0, "all on one connection");
}

/* A connection that the server has closed meanwhile is not an error. */
static void test_stale_connection(struct world *w)
{
    struct seen a = {.w = w}, b = {.w = w};

    seen_start(&a, "/=text:3,close/");
    seen_wait(&a);
    seen_start(&b, "/=text:3/");
    seen_wait(&b);
    tap_ok(a.how == FETCH_OK && b.how == FETCH_OK,
           "after a connection was closed, a new one");
}

/* Pieces that come faster than a millisecond do not wake us one by one. */
static void test_quick_stream(struct world *w)
{
    enum { PIECES = 600, PIECE_BYTES = 8 };
    struct seen s = {.w = w};
    int turns = 0;

    seen_start(&s, "/=delay:250us:600:8/");
    for (; !s.ends; turns++)
        loop_turn(w->loop, 1000);
    tap_ok(s.how == FETCH_OK && s.bytes == PIECES * PIECE_BYTES,
           "a quick stream: all of it (%zu bytes)", s.bytes);
    tap_ok(turns < PIECES * 3 / 4, "in fewer turns than pieces (%d)", turns);
}

static void test_all(struct world *w)
{
    test_bodies(w);
    test_head(w);
    test_requests(w);
    test_large_request(w);
    test_refused_requests(w);
    test_failures(w);
    test_timeouts(w);
    test_no_timeouts(w);
    test_bad_heads(w);
    test_unix(w);
    test_proxy(w);
    test_keep_alive(w);
    test_stale_connection(w);
    test_quick_stream(w);
}

int main(void)
{
    struct world w;

    /* Nobody's proxy is asked. */
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    unsetenv("ALL_PROXY");
    unsetenv("no_proxy");
    unsetenv("NO_PROXY");
    if (!tap_ok(world_open(&w, false), "a server"))
        return tap_done();
    for (int way = 0; way < 2; way++) {
        w.libcurl = way;
        printf("# %s\n", w.libcurl ? "by libcurl" : "over plain sockets");
        test_all(&w);
    }
    world_close(&w);
    return tap_done();
}

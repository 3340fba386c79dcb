/*
 * test_server.c - a server inside a program: odd orders, a runtime that goes
 * first, clients that leave, allocations that fail.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"
#include "tap.h"
#include "wend_server.h"

#define TOKEN "a-token-of-the-test"
#define SCRIPT                                                  \
    "script:{\"turns\":[{\"text\":\"one two three four five\"," \
    "\"chunk\":2,\"repeat\":\"forever\"}]}"

static const wend_server_options usual = {
    .size = sizeof usual, .listen = "127.0.0.1:0", .token = TOKEN};

struct bench {
    wend_runtime *rt;
    wend_agent *agent;
    wend_server *server;
    wend_error err;
};

static bool add(struct bench *b, const char *name)
{
    const wend_server_agent a = {
        .size = sizeof a, .name = name, .agent = b->agent};

    return wend_server_add_agent(b->server, &a, &b->err) == WEND_OK;
}

static bool bench_open(struct bench *b, struct fault *f)
{
    const wend_runtime_options o = {
        .size = sizeof o, .alloc = f ? fault_alloc : NULL, .alloc_ctx = f};
    const wend_agent_options ao = {.size = sizeof ao, .model = SCRIPT};

    *b = (struct bench){0};
    return wend_runtime_new(&o, &b->rt, &b->err) == WEND_OK &&
           wend_agent_new(b->rt, &ao, &b->agent, &b->err) == WEND_OK &&
           wend_server_new(b->rt, &usual, &b->server, &b->err) == WEND_OK &&
           add(b, "agent");
}

static void bench_close(struct bench *b)
{
    wend_server_free(b->server);
    wend_agent_free(b->agent);
    wend_runtime_free(b->rt);
}

/* ---- A client on the same thread ----------------------------------------- */

struct client {
    int fd;
    char text[65536]; /* all that came */
    size_t len;
    bool ended;
};

static bool client_open(struct client *c, const wend_server *server)
{
    struct sockaddr_in to = {.sin_family = AF_INET};

    c->len = 0;
    c->ended = false;
    c->text[0] = 0;
    to.sin_port =
        htons((uint16_t)atoi(strrchr(wend_server_url(server), ':') + 1));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&to, sizeof to))
        return false;
    fcntl(c->fd, F_SETFL, O_NONBLOCK);
    return true;
}

static void client_ask(const struct client *c, const wend_server *server,
                       const char *method, const char *path, const char *body)
{
    char text[1024];
    int n = snprintf(text, sizeof text,
                     "%s %s HTTP/1.1\r\nHost: %s\r\n"
                     "Authorization: Bearer " TOKEN "\r\n",
                     method, path, wend_server_url(server) + 7);

    n += snprintf(text + n, sizeof text - (size_t)n,
                  *body ? "Content-Type: application/json\r\n"
                          "Content-Length: %zu\r\n\r\n%s"
                        : "\r\n",
                  strlen(body), body);
    if (send(c->fd, text, (size_t)n, MSG_NOSIGNAL) != n)
        tap_ok(false, "a request of %d bytes is sent at once", n);
}

static void client_read(struct client *c)
{
    ssize_t n = recv(c->fd, c->text + c->len, sizeof c->text - 1 - c->len, 0);

    if (n > 0)
        c->len += (size_t)n;
    c->text[c->len] = 0;
    c->ended |= !n || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static int64_t patience_ms = 10000;

/* Pumps until the text has come; false: the connection ended, the request was
 * refused, or it takes too long. */
static bool client_wait(struct client *c, wend_runtime *rt, const char *text)
{
    int64_t until = now_ms() + patience_ms;

    while (!strstr(c->text, text) && !c->ended && now_ms() < until &&
           !strstr(c->text, "\"about:blank\"")) {
        struct pollfd fds[] = {{.fd = wend_runtime_fd(rt), .events = POLLIN},
                               {.fd = c->fd, .events = POLLIN}};
        int wait_ms = wend_runtime_timeout_ms(rt);

        poll(fds, 2, wait_ms < 0 || wait_ms > 50 ? 50 : wait_ms);
        if (wend_runtime_pump(rt) != WEND_OK)
            return false;
        client_read(c);
    }
    return strstr(c->text, text);
}

static bool start_run(struct client *c, struct bench *b, char id[37])
{
    const char *at;

    client_ask(c, b->server, "POST", "/v1/runs", "{\"prompt\":\"hi\"}");
    if (!client_wait(c, b->rt, "{\"run\":\"") || !client_wait(c, b->rt, "\"}"))
        return false;
    at = strstr(c->text, "{\"run\":\"") + 8;
    memcpy(id, at, 36);
    id[36] = 0;
    return true;
}

static void ask_events(struct client *c, struct bench *b, const char *id)
{
    char path[100];

    snprintf(path, sizeof path, "/v1/runs/%s/events", id);
    client_ask(c, b->server, "GET", path, "");
}

/* ---- Tests --------------------------------------------------------------- */

static void test_options(void)
{
    static const struct {
        const char *name;
        wend_server_options o;
        wend_status want;
    } rows[] = {
        {"the usual ones",
         {.size = sizeof usual, .listen = "127.0.0.1:0", .token = TOKEN},
         WEND_OK},
        {"no token", {.size = sizeof usual, .listen = "localhost:0"}, WEND_OK},
        {"size 0", {.listen = "127.0.0.1:0"}, WEND_E_INVAL},
        {"a short token",
         {.size = sizeof usual, .listen = "127.0.0.1:0", .token = "short"},
         WEND_E_INVAL},
        {"no address",
         {.size = sizeof usual, .listen = "nowhere", .token = TOKEN},
         WEND_E_INVAL},
        {"an address of others",
         {.size = sizeof usual, .listen = "192.0.2.1:80", .token = TOKEN},
         WEND_E_IO},
        {"no file of tokens",
         {.size = sizeof usual, .listen = "127.0.0.1:0", .tokens = "/nothing"},
         WEND_E_NOTFOUND},
        {"a public URL with a path",
         {.size = sizeof usual,
          .listen = "127.0.0.1:0",
          .public_url = "https://example.org/wend"},
         WEND_E_INVAL},
        {"a public URL that is none",
         {.size = sizeof usual, .listen = "127.0.0.1:0", .public_url = "x"},
         WEND_E_INVAL},
    };
    wend_runtime *rt;
    wend_error err;

    tap_is_i64(wend_runtime_new(NULL, &rt, &err), WEND_OK, "a runtime");
    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_server *server = NULL;

        tap_is_i64(wend_server_new(rt, &rows[i].o, &server, &err), rows[i].want,
                   "options: %s", rows[i].name);
        tap_ok(!server == (rows[i].want != WEND_OK), "a server or none: %s",
               rows[i].name);
        wend_server_free(server);
    }
    tap_is_i64(wend_server_new(rt, &usual, NULL, &err), WEND_E_INVAL,
               "out is NULL");
    wend_runtime_free(rt);
}

static void test_orders(void)
{
    struct bench b;
    wend_server *second = NULL;
    size_t count = 5;
    char name[16];

    wend_server_free(NULL);
    tap_is_str(wend_server_url(NULL), "", "url of NULL");
    tap_ok(wend_server_is_drained(NULL), "NULL is drained");
    tap_is_i64(wend_server_drain(NULL), WEND_E_INVAL, "drain NULL");
    tap_is_i64(wend_server_reload(NULL, NULL), WEND_E_INVAL, "reload NULL");
    tap_is_i64(wend_server_resume(NULL, NULL, NULL), WEND_E_INVAL,
               "resume NULL");
    tap_is_i64(wend_server_add_agent(NULL, NULL, NULL), WEND_E_INVAL,
               "add to NULL");
    tap_ok(bench_open(&b, NULL), "a server: %s", b.err.message);
    tap_ok(!add(&b, "agent"), "the same name twice");
    tap_is_i64(b.err.status, WEND_E_EXISTS, "exists");
    tap_ok(!add(&b, "a b") && !add(&b, "") && !add(&b, NULL) &&
               !add(&b, "../x"),
           "names that are none");
    for (int i = 0; i < 255; i++) {
        snprintf(name, sizeof name, "a%d", i);
        if (!add(&b, name))
            tap_ok(false, "agent %d: %s", i, b.err.message);
    }
    tap_ok(!add(&b, "more") && b.err.status == WEND_E_LIMIT, "too many");
    tap_is_i64(wend_server_resume(b.server, &count, NULL), WEND_OK, "resume");
    tap_is_i64((int64_t)count, 0, "nothing to resume");
    tap_is_i64(wend_server_reload(b.server, NULL), WEND_OK, "reload");
    tap_ok(!wend_server_is_drained(b.server), "it is not drained");
    tap_is_i64(wend_server_new(b.rt, &usual, &second, NULL), WEND_OK,
               "a second server");
    tap_is_i64(wend_server_drain(b.server), WEND_OK, "drain");
    tap_is_i64(wend_server_drain(b.server), WEND_OK, "drain twice");
    tap_ok(wend_server_is_drained(b.server), "drained: nothing was open");
    tap_is_i64(wend_server_reload(b.server, NULL), WEND_OK, "reload then");
    wend_runtime_pump(b.rt);
    wend_server_free(second);
    bench_close(&b);
}

static void test_runtime_first(void)
{
    struct bench b;

    tap_ok(bench_open(&b, NULL), "a server");
    wend_agent_free(b.agent);
    wend_runtime_free(b.rt);
    tap_ok(wend_server_is_drained(b.server), "without a runtime it is drained");
    tap_is_i64(wend_server_drain(b.server), WEND_E_INVAL, "drain");
    tap_is_i64(wend_server_reload(b.server, NULL), WEND_E_INVAL, "reload");
    tap_is_i64(wend_server_resume(b.server, NULL, NULL), WEND_E_INVAL,
               "resume");
    b.agent = NULL;
    tap_ok(!add(&b, "x"), "add");
    tap_ok(strstr(wend_server_url(b.server), "http://"),
           "its address is known");
    wend_server_free(b.server);
}

/* In the middle of a stream: what is freed first, and whether the client
 * leaves without a word. */
static void test_ends(void)
{
    static const char *const ends[] = {"server", "runtime", "client",
                                       "client, reset", "drain"};
    static struct client c;

    for (size_t i = 0; i < tap_count(ends); i++) {
        const struct linger at_once = {.l_onoff = 1};
        struct bench b;
        char id[37];

        if (!bench_open(&b, NULL) || !client_open(&c, b.server) ||
            !start_run(&c, &b, id)) {
            tap_ok(false, "%s: a run; got '%s'", ends[i], c.text);
            continue;
        }
        ask_events(&c, &b, id);
        tap_ok(client_wait(&c, b.rt, "run_start"), "%s: a stream", ends[i]);
        if (!strcmp(ends[i], "server")) {
            wend_server_free(b.server);
            b.server = NULL;
        } else if (!strcmp(ends[i], "runtime")) {
            wend_agent_free(b.agent);
            wend_runtime_free(b.rt);
            wend_server_free(b.server);
            b = (struct bench){0};
        } else if (!strcmp(ends[i], "drain")) {
            wend_server_drain(b.server);
            tap_ok(client_wait(&c, b.rt, "\"run_end\"") ||
                       strstr(c.text, "event: bye"),
                   "drain: the client is told");
        } else if (i == 3) {
            setsockopt(c.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        }
        close(c.fd);
        for (int k = 0; k < 50 && b.rt; k++) {
            wend_runtime_pump(b.rt);
            usleep(1000);
        }
        bench_close(&b);
        tap_ok(true, "%s: all is freed", ends[i]);
    }
}

/* POST, then the stream. True: it saw the end of the run. */
static bool exchange(struct bench *b, struct client *c)
{
    char id[37];
    bool got = client_open(c, b->server) && start_run(c, b, id);

    if (got) {
        ask_events(c, b, id);
        got = client_wait(c, b->rt, "\"run_end\"");
    }
    if (c->fd >= 0)
        close(c->fd);
    return got;
}

/* One allocation fails; the next client is served as ever. */
static void test_oom(void)
{
    static struct client c;
    struct fault f = {0};
    int rounds = 0, dumb = 0, leaks = 0, dead = 0;

    while (fault_next(&f)) {
        struct bench b;
        bool got;

        got = bench_open(&b, &f);
        if (got && !f.hit) {
            patience_ms = 150; /* a run without memory stops and stays open */
            got = exchange(&b, &c);
            patience_ms = 10000;
            dumb += !got && !f.hit && !exchange(&b, &c);
            if (f.hit && wend_runtime_pump(b.rt) == WEND_OK &&
                !exchange(&b, &c)) {
                printf("# allocation %d: got '%s'\n", rounds + 1, c.text);
                dead++;
            }
        }
        bench_close(&b);
        leaks += f.live != 0;
        rounds++;
    }
    tap_ok(rounds > 100, "allocations that failed: %d", rounds);
    tap_is_i64(dumb, 0, "nothing fails without a reason");
    tap_is_i64(dead, 0, "the next client is served");
    tap_is_i64(leaks, 0, "nothing leaks");
}

int main(void)
{
    test_options();
    test_orders();
    test_runtime_first();
    test_ends();
    test_oom();
    return tap_done();
}

/*
 * test_http_cancel.c - http_request is stopped at any moment and in any way:
 * one result for each call, no connection left behind.
 */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <time.h>

#include "run_help.h"
#include "server_help.h"

enum { ROUNDS = 300, LATEST_US = 12000, QUIET_MS_MAX = 20000 };

/* How a round ends. */
enum way { CANCEL, CANCEL_TWICE, LEAVE_RUN, LEAVE_RUNTIME, WAYS };

static uint32_t seed = 4711;

static uint32_t chance(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)seed * below >> 32);
}

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

struct seen {
    int starts, ends, run_ends;
};

static void note_all(wend_run *run, struct seen *s)
{
    const wend_event *ev;

    while (wend_run_poll(run, &ev) == WEND_OK) {
        s->starts += ev->type == WEND_CALL_START;
        s->ends += ev->type == WEND_CALL_END;
        s->run_ends += ev->type == WEND_RUN_END;
    }
}

static void put_script(struct buf *b, int port)
{
    static const char *const paths[] = {
        "/=text:20,delay=500us/",
        "/=hang/",
        "/=hang:100/",
        "/=text:100000:1000/",
        "/=redirect:302:%3Fagain/",
        "/=redirect:307:%2F=text:20,delay=500us%2F/",
        "/=text:3,head=2ms/",
    };

    buf_cstr(b, "script:{\"turns\":[{\"calls\":[");
    for (int i = 0; i < 3; i++)
        buf_fmt(b,
                "%s{\"name\":\"http_request\",\"args\":{\"method\":\"POST\","
                "\"body\":\"some text\",\"url\":\"http://127.0.0.1:%d%s\"}}",
                i ? "," : "", port, paths[chance(tap_count(paths))]);
    buf_cstr(b, "]},{\"text\":\"end\"}]}");
}

/* Pumps until then. */
static void go_on(struct rig *r, wend_run *run, struct seen *s, int64_t until)
{
    while (now_us() < until && !s->run_ends) {
        wend_runtime_pump(r->rt);
        note_all(run, s);
        usleep(100);
    }
}

/* Connections that the server has, ours among them. */
static int open_connections(int port)
{
    static const char request[] = "GET /stats HTTP/1.0\r\n\r\n";
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)port),
                            .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), open = -1;
    char answer[8192];
    size_t len = 0;
    ssize_t n = 0;
    char *at;

    if (!connect(fd, (struct sockaddr *)&a, sizeof a) &&
        write(fd, request, sizeof request - 1) > 0) {
        do {
            len += (size_t)n;
            answer[len] = 0;
            at = strstr(answer, "\"open\":");
            if (at)
                open = atoi(at + 7);
        } while (open < 0 && len < sizeof answer - 1 &&
                 (n = read(fd, answer + len, sizeof answer - 1 - len)) > 0);
    }
    close(fd);
    return open;
}

/* Whether none is left while the runtime lives. */
static bool is_quiet(struct rig *r, int port)
{
    for (int ms = 0; ms < QUIET_MS_MAX; ms++) {
        wend_runtime_pump(r->rt);
        if (open_connections(port) == 1)
            return true;
        usleep(1000);
    }
    return false;
}

struct sum {
    int canceled, ends_wrong, left_open;
};

static void play(int port, enum way way, struct sum *sum)
{
    static const char *const network[] = {"127.0.0.1"};
    struct buf script = {.mem = &rig_mem};
    struct rig r = {.err = {0}};
    struct seen s = {0};
    wend_run *run;

    put_script(&script, port);
    r.agent_options.approve = WEND_APPROVE_ALL;
    r.agent_options.network = network;
    r.agent_options.network_count = 1;
    rig_open(&r, NULL, script.ptr);
    wend_agent_add_builtin(r.agent, "http_request", &r.err);
    run = rig_start(&r, NULL);
    go_on(&r, run, &s, now_us() + chance(LATEST_US));
    if (way == CANCEL || way == CANCEL_TWICE) {
        wend_run_cancel(run);
        if (way == CANCEL_TWICE) {
            go_on(&r, run, &s, now_us() + 500);
            wend_run_cancel(run);
        }
        go_on(&r, run, &s, now_us() + 5000000);
        sum->canceled++;
        sum->ends_wrong += s.run_ends != 1 || s.starts != s.ends;
        sum->left_open += !is_quiet(&r, port);
    }
    if (way != LEAVE_RUNTIME)
        wend_run_free(run);
    rig_close(&r);
    if (way == LEAVE_RUNTIME)
        wend_run_free(run);
    buf_free(&script);
}

int main(void)
{
    struct test_server server;
    struct sum sum = {0};

    if (!server_start(&server, false))
        return 1;
    for (int i = 0; i < ROUNDS; i++)
        play(server.port, (enum way)(i % WAYS), &sum);
    tap_is_i64(sum.canceled, ROUNDS / 2, "half of them were canceled");
    tap_is_i64(sum.ends_wrong, 0, "and had one end for each call");
    tap_is_i64(sum.left_open, 0, "and left no connection behind");
    server_stop(&server);
    return tap_done();
}

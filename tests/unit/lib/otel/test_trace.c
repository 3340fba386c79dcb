/*
 * test_trace.c - spans on their way: a receiver that answers, refuses, hangs.
 *
 * The receiver is a thread with a socket: it takes one request after the other
 * and answers with the statuses of a list, the last one again and again.
 */
#include "run_help.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>

#include "otel_help.h"

enum { STATUSES_MAX = 4, HANGS = -1 };

struct receiver {
    int fd, port;
    pthread_t thread;
    atomic_bool stop;
    const char *answer; /* body of a 200 */
    int statuses[STATUSES_MAX];
    int requests;
    struct buf bodies; /* a line each */
    struct buf head;   /* of the first one */
};

static const char script[] =
    "script:{\"turns\":[{\"text\":\"hm\",\"calls\":[{\"name\":\"echo\","
    "\"args\":{}}],\"repeat\":\"forever\",\"when\":\"hello\"},{\"text\":"
    "\"done\",\"repeat\":\"forever\"}]}";
static const char hello[] =
    "script:{\"turns\":[{\"text\":\"hi\",\"repeat\":\"forever\"}]}";

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- The receiver -------------------------------------------------------- */

static bool readable(struct receiver *r, int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    while (!atomic_load(&r->stop))
        if (poll(&p, 1, 20) > 0)
            return true;
    return false;
}

/* A whole request: head, then Content-Length bytes. */
static bool take_request(struct receiver *r, int fd, struct buf *in,
                         wend_str *head, wend_str *body)
{
    const char *end, *field;
    char part[65536];
    ssize_t n;

    while (readable(r, fd) && (n = read(fd, part, sizeof part)) > 0) {
        size_t length;

        buf_add(in, part, (size_t)n);
        end = strstr(in->ptr, "\r\n\r\n");
        field = strcasestr(in->ptr, "content-length:");
        if (!end || !field)
            continue;
        length = strtoul(field + strlen("content-length:"), NULL, 10);
        *head = (wend_str){in->ptr, (size_t)(end - in->ptr)};
        *body = (wend_str){end + 4, length};
        if (in->len >= head->len + 4 + length)
            return true;
    }
    return false;
}

static void serve(struct receiver *r, int fd)
{
    struct buf in = {.mem = &rig_mem}, out = {.mem = &rig_mem};
    wend_str head, body;

    while (buf_clear(&in), take_request(r, fd, &in, &head, &body)) {
        int i = r->requests < STATUSES_MAX ? r->requests : STATUSES_MAX - 1;
        const char *said;

        while (i && !r->statuses[i])
            i--;
        said = r->statuses[i] == 200 && r->answer ? r->answer : "{}";
        if (!r->requests++)
            buf_str(&r->head, head);
        buf_str(&r->bodies, body);
        buf_char(&r->bodies, '\n');
        if (r->statuses[i] == HANGS) {
            while (!atomic_load(&r->stop))
                usleep(1000);
            break;
        }
        buf_clear(&out);
        buf_fmt(&out,
                "HTTP/1.1 %d x\r\nContent-Length: %zu\r\nRetry-After: 0\r\n"
                "\r\n%s",
                r->statuses[i], strlen(said), said);
        if (write(fd, out.ptr, out.len) < 0)
            break;
    }
    buf_free(&in);
    buf_free(&out);
}

static void *receive(void *ctx)
{
    struct receiver *r = ctx;

    while (readable(r, r->fd)) {
        int fd = accept(r->fd, NULL, NULL);

        serve(r, fd);
        close(fd);
    }
    return NULL;
}

static void receiver_open(struct receiver *r)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof to;

    r->bodies.mem = r->head.mem = &rig_mem;
    r->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(r->fd, (struct sockaddr *)&to, sizeof to) || listen(r->fd, 16) ||
        getsockname(r->fd, (struct sockaddr *)&to, &len))
        tap_ok(false, "no socket");
    r->port = ntohs(to.sin_port);
    pthread_create(&r->thread, NULL, receive, r);
}

/* What it has received stays. */
static void receiver_stop(struct receiver *r)
{
    atomic_store(&r->stop, true);
    pthread_join(r->thread, NULL);
    close(r->fd);
}

static void receiver_free(struct receiver *r)
{
    buf_free(&r->bodies);
    buf_free(&r->head);
}

/* ---- Helpers ------------------------------------------------------------- */

struct heard {
    int count, released;
    char text[512];
};

static void on_warn(void *ctx, const char *message)
{
    struct heard *h = ctx;

    h->count++;
    snprintf(h->text, sizeof h->text, "%s", message);
}

static void on_release(void *ctx)
{
    ((struct heard *)ctx)->released++;
}

static wend_status trace(struct rig *rig, int port, struct heard *h)
{
    static const char *const headers[] = {"X-Key: secret", NULL};
    char url[64];
    wend_trace_options o = {.size = sizeof o,
                            .url = url,
                            .headers = headers,
                            .resource = "{\"service.name\":\"test\"}",
                            .warn = on_warn,
                            .warn_ctx = h,
                            .warn_release = on_release};

    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1/traces", port);
    return wend_runtime_trace(rig->rt, &o, &rig->err);
}

static void run_one(struct rig *rig, const wend_run_options *o)
{
    wend_run *run = rig_start(rig, o);

    read_all(run, NULL, NULL);
    wend_run_free(run);
}

static wend_trace_counts counts(const struct rig *rig)
{
    wend_trace_counts c = {.size = sizeof c};

    if (wend_runtime_trace_counts(rig->rt, &c) != WEND_OK)
        tap_ok(false, "counts");
    return c;
}

/* How many spans are in the requests, or -1 if one is not as it must be. */
static int64_t spans_in(const struct receiver *r)
{
    struct arena a = {.mem = &rig_mem};
    wend_str rest = buf_view(&r->bodies), line;
    int64_t count = 0;

    while (count >= 0 && str_line(&rest, &line)) {
        const struct json *j = json_parse(line, &a, NULL);
        const struct json *scope = json_items(
            json_get(json_items(json_get(j, "resourceSpans")), "scopeSpans"));

        for (j = json_items(json_get(scope, "spans")); j && count >= 0;
             j = j->next)
            count = is_span(j) ? count + 1 : -1;
    }
    arena_free(&a);
    return count;
}

/* ---- Tests --------------------------------------------------------------- */

static void test_sent(void)
{
    struct receiver r = {.statuses = {200}};
    struct heard h = {0};
    struct rig rig = {0};

    receiver_open(&r);
    rig_open(&rig, NULL, script);
    tap_is_i64(trace(&rig, r.port, &h), WEND_OK, "a receiver is named");
    tap_is_i64(trace(&rig, r.port, &h), WEND_E_EXISTS, "but not twice");
    tap_is_i64(h.released, 1, "its second ctx is released");
    run_one(&rig, NULL);
    tap_is_i64(counts(&rig).waiting, 4, "spans wait for others");
    tap_is_i64(wend_runtime_trace_flush(rig.rt, 5000), WEND_OK, "sent");
    tap_is_i64(counts(&rig).sent, 4, "and counted");
    tap_is_i64(counts(&rig).waiting, 0, "none waits");
    rig_close(&rig);
    receiver_stop(&r);
    tap_is_i64(spans_in(&r), 4, "they arrive as OTLP has them");
    tap_is_i64(r.requests, 1, "in one request");
    tap_ok(
        str_has(buf_view(&r.head), STR("POST /v1/traces HTTP/1.1")) &&
            str_has(buf_view(&r.head), STR("X-Key: secret")) &&
            str_has(buf_view(&r.head), STR("Content-Type: application/json")),
        "with the headers of the host");
    tap_ok(str_has(buf_view(&r.bodies), STR("\"service.name\",\"value\":{"
                                            "\"stringValue\":\"test\"}")),
           "and its resource");
    tap_is_i64(h.count, 0, "nothing to warn about");
    tap_is_i64(h.released, 2, "the ctx is released with the runtime");
    receiver_free(&r);
}

/* Without a flush: the timer of the queue, while the runtime is pumped. */
static void test_pumped(void)
{
    struct receiver r = {.statuses = {503, 502, 200}};
    struct heard h = {0};
    struct rig rig = {0};
    int64_t until = now_ms() + 20000;

    receiver_open(&r);
    rig_open(&rig, NULL, hello);
    trace(&rig, r.port, &h);
    run_one(&rig, NULL);
    while (counts(&rig).waiting && now_ms() < until) {
        struct pollfd p = {.fd = wend_runtime_fd(rig.rt), .events = POLLIN};

        poll(&p, 1, wend_runtime_timeout_ms(rig.rt));
        wend_runtime_pump(rig.rt);
    }
    tap_is_i64(counts(&rig).sent, 2, "again: 503 and 502 are tried again");
    tap_is_i64(h.count, 0, "again: without a warning");
    rig_close(&rig);
    receiver_stop(&r);
    tap_is_i64(r.requests, 3, "again: three requests");
    receiver_free(&r);
}

static void test_refusals(void)
{
    static const struct {
        const char *why;
        int status;
        const char *answer;
        int64_t sent, dropped;
        const char *says;
    } rows[] = {
        {"bad request", 400, NULL, 0, 2, "status 400"},
        {"overload at the end", 503, NULL, 0, 2, "status 503"},
        {"part of it", 200,
         "{\"partialSuccess\":{\"rejectedSpans\":\"1\",\"errorMessage\":"
         "\"too old\"}}",
         1, 1, "too old"},
        {"more than there are", 200,
         "{\"partialSuccess\":{\"rejectedSpans\":\"100\"}}", 0, 2, "refused"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct receiver r = {.statuses = {rows[i].status},
                             .answer = rows[i].answer};
        struct heard h = {0};
        struct rig rig = {0};

        receiver_open(&r);
        rig_open(&rig, NULL, hello);
        trace(&rig, r.port, &h);
        run_one(&rig, NULL);
        wend_runtime_trace_flush(rig.rt, 5000);
        tap_is_i64(counts(&rig).sent, rows[i].sent, "%s: sent", rows[i].why);
        tap_is_i64(counts(&rig).dropped, rows[i].dropped, "%s: dropped",
                   rows[i].why);
        run_one(&rig, NULL);
        wend_runtime_trace_flush(rig.rt, 5000);
        tap_ok(h.count == 1 && strstr(h.text, rows[i].says),
               "%s: one warning: %s", rows[i].why, h.text);
        rig_close(&rig);
        receiver_stop(&r);
        receiver_free(&r);
    }
}

/* Of some runs, in milliseconds. */
static int64_t time_of(struct rig *rig, int runs)
{
    int64_t began = now_ms();

    for (int i = 0; i < runs; i++)
        run_one(rig, NULL);
    return now_ms() - began;
}

enum { RUNS = 1500, SPANS = 2 * RUNS, HELD_MAX = 2048 + 512 };

/* A receiver that hangs, and none at all: no run waits, the queue is bounded,
 * and a program can end. */
static void test_stuck(bool refused)
{
    const char *why = refused ? "no receiver" : "a receiver that hangs";
    struct receiver r = {.statuses = {HANGS}};
    struct heard h = {0};
    struct rig plain = {0}, rig = {0};
    int64_t quick, slow, began;
    wend_trace_counts c;

    receiver_open(&r);
    if (refused)
        receiver_stop(&r);
    rig_open(&plain, NULL, hello);
    rig_open(&rig, NULL, hello);
    trace(&rig, r.port, &h);
    time_of(&plain, RUNS / 10); /* to warm up */
    quick = time_of(&plain, RUNS);
    slow = time_of(&rig, RUNS);
    c = counts(&rig);
    printf("# %s: %lld ms for %d runs, %lld ms without\n", why, (long long)slow,
           RUNS, (long long)quick);
    tap_ok(slow < 3 * quick + 500, "%s: runs do not wait", why);
    tap_ok(c.waiting <= HELD_MAX && c.waiting > 0, "%s: the queue is bounded",
           why);
    tap_ok(!c.sent && c.waiting + c.dropped == SPANS,
           "%s: every span is counted", why);
    began = now_ms();
    wend_runtime_trace_flush(rig.rt, 300);
    tap_ok(now_ms() - began < 2000, "%s: an end in time", why);
    began = now_ms();
    rig_close(&rig);
    tap_ok(now_ms() - began < 2000, "%s: freeing does not wait", why);
    tap_is_i64(h.released, 1, "%s: the ctx is released", why);
    rig_close(&plain);
    if (!refused)
        receiver_stop(&r);
    receiver_free(&r);
}

/* Another process, in effect: its parts of the trace have the same root. */
static void test_resume(void)
{
    struct receiver r = {.statuses = {200}};
    struct heard h = {0};
    struct rig rig = {0};
    wend_run *run;
    const wend_event *ev;
    char id[40] = "";

    receiver_open(&r);
    rig_open(&rig, "memory:", script);
    trace(&rig, r.port, &h);
    run = rig_start(&rig, NULL);
    while (wend_run_next(run, &ev) == WEND_OK && ev->type != WEND_CALL_END)
        ;
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    wend_run_free(run);
    run = NULL;
    tap_is_i64(wend_run_resume(rig.agent, id, NULL, &run, &rig.err), WEND_OK,
               "resume: %s", rig.err.message);
    read_all(run, NULL, NULL);
    wend_run_free(run);
    wend_runtime_trace_flush(rig.rt, 5000);
    rig_close(&rig);
    receiver_stop(&r);
    tap_ok(spans_in(&r) >= 4, "resume: all spans");
    tap_is_i64((int64_t)(strstr(r.bodies.ptr, "invoke_agent ") != NULL), 1,
               "resume: the run has a span");
    tap_ok(str_has(buf_view(&r.bodies), STR("\"name\":\"wend.resume\"")),
           "resume: which says so");
    receiver_free(&r);
}

static void test_parent(void)
{
    struct receiver r = {.statuses = {200}};
    struct heard h = {0};
    struct rig rig = {0};

    receiver_open(&r);
    rig_open(&rig, NULL, hello);
    trace(&rig, r.port, &h);
    run_one(&rig,
            &(wend_run_options){.size = sizeof(wend_run_options),
                                .labels = "{\"traceparent\":\"" PARENT "\"}"});
    wend_runtime_trace_flush(rig.rt, 5000);
    rig_close(&rig);
    receiver_stop(&r);
    tap_ok(str_has(buf_view(&r.bodies),
                   STR("\"traceId\":\"0af7651916cd43dd8448eb211c80319c\"")) &&
               str_has(buf_view(&r.bodies),
                       STR("\"parentSpanId\":\"b7ad6b7169203331\"")),
           "a label names the caller's trace");
    receiver_free(&r);
}

static void test_options(void)
{
    static const char *const bad[] = {"no colon", NULL};
    static const char *const ours[] = {"Content-Length: 3", NULL};
    const struct {
        const char *why;
        wend_trace_options o;
    } rows[] = {
        {"no size", {.url = "http://127.0.0.1/"}},
        {"no URL", {.size = sizeof(wend_trace_options)}},
        {"no http", {.size = sizeof(wend_trace_options), .url = "ftp://a/"}},
        {"a header without a colon",
         {.size = sizeof(wend_trace_options),
          .url = "http://127.0.0.1/",
          .headers = bad}},
        {"a header of ours",
         {.size = sizeof(wend_trace_options),
          .url = "http://127.0.0.1/",
          .headers = ours}},
        {"a resource that is no object",
         {.size = sizeof(wend_trace_options),
          .url = "http://127.0.0.1/",
          .resource = "[\"a\"]"}},
        {"a resource with a number",
         {.size = sizeof(wend_trace_options),
          .url = "http://127.0.0.1/",
          .resource = "{\"a\":1}"}},
    };
    struct rig rig = {0};
    wend_trace_counts c = {0};

    rig_open(&rig, NULL, hello);
    for (size_t i = 0; i < tap_count(rows); i++) {
        rig.err = (wend_error){0};
        tap_ok(wend_runtime_trace(rig.rt, &rows[i].o, &rig.err) ==
                       WEND_E_INVAL &&
                   rig.err.message[0],
               "%s: %s", rows[i].why, rig.err.message);
    }
    tap_is_i64(wend_runtime_trace(rig.rt, NULL, NULL), WEND_E_INVAL, "none");
    tap_is_i64(wend_runtime_trace_counts(rig.rt, &c), WEND_E_INVAL,
               "counts without a size");
    tap_is_i64(wend_runtime_trace_flush(rig.rt, 1000), WEND_OK,
               "nothing to send");
    rig_close(&rig);
}

int main(void)
{
    test_options();
    test_sent();
    test_pumped();
    test_refusals();
    test_parent();
    test_resume();
    test_stuck(true);
    test_stuck(false);
    return tap_done();
}

/*
 * test_fetch_http2.c - HTTP/2 when asked for, against node's server.
 */
#include "fetch_help.h"

enum { STREAMS = 40, STREAM_BYTES = 100 * 3000 };

/* The server of tests/server/http2.js in place of our own. */
static bool open_http2(struct world *w)
{
    char cert[96], key[96];
    char *argv[] = {(char[]){"node"}, (char[]){"tests/server/http2.js"}, cert,
                    key, NULL};

    *w = (struct world){.server.dir = "/tmp/wend-server-XXXXXX"};
    if (!mkdtemp(w->server.dir))
        return false;
    snprintf(cert, sizeof cert, "%s/server.pem", w->server.dir);
    snprintf(key, sizeof key, "%s/server.key", w->server.dir);
    snprintf(w->server.ca, sizeof w->server.ca, "%s/ca.pem", w->server.dir);
    return server_certificates(w->server.dir) &&
           server_spawn(&w->server, argv) &&
           loop_new(&fetch_mem_libc, &w->loop, NULL) == WEND_OK &&
           fetch_new(&fetch_mem_libc, w->loop, &w->fetch, NULL) == WEND_OK;
}

static void ask(struct seen *s, const char *path, bool post)
{
    const struct test_server *at = &s->w->server;
    struct fetch_request q = {.ca_file = at->ca, .http2 = true};
    bool third = path[0] != '/';
    char url[64];

    snprintf(url, sizeof url, "https://localhost:%d%s",
             third ? at->third_port : at->port, third ? "/" : path);
    q.url = url;
    if (post)
        q.body = third ? str_of(path) : STR("question");
    seen_ask(s, &q, NULL);
}

/* ---- What libcurl does of itself -----------------------------------------
 */

#define ONE "data: {\"choices\":[{\"delta\":{\"content\":\"one \"}}]}\n\n"
#define TWO                                                               \
    "data: {\"choices\":[{\"delta\":{\"content\":\"two \"}}]}\n\n"        \
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n" \
    "data: [DONE]\n\n"
#define BROKEN "localhost: the server broke the answer off"
#define KEPT                                                        \
    "localhost: the server refused the request or closed the kept " \
    "connection, without an answer"
#define TWICE "localhost: the server refused the request twice"

/* The server counts what it was asked. */
static const struct row {
    const char *why;
    const char *path; /* without a slash: the body, for the third server */
    bool kept;        /* there was an answer on the connection before */
    bool post;
    enum fetch_end how;
    const char *body, *message;
    int64_t asked;
} rows[] = {
    {"refused streams", "/refused", false, true, FETCH_NETWORK, "", TWICE, 2},
    {"one refused stream", "/refused-once", false, true, FETCH_OK, TWO, "", 2},
    {"refused streams, and nothing is sent", "/refused", false, false,
     FETCH_NETWORK, "", TWICE, 2},
    {"HTTP/1.1 is wanted from the start", "/early", false, true, FETCH_OK, TWO,
     "", 2},
    {"a kept connection is closed with the request", "/cut", true, true,
     FETCH_NETWORK, "", NULL, 1},
    {"a request is refused on a kept connection", "/refused", true, true,
     FETCH_NETWORK, "", KEPT, 1},
    {"HTTP/1.1 is wanted after the head", "head", false, true, FETCH_NETWORK,
     "", BROKEN, 1},
    {"HTTP/1.1 is wanted in the middle", "late", false, true, FETCH_NETWORK,
     ONE, BROKEN, 1},
};

static int64_t asked(struct world *w, const char *path)
{
    struct seen s = {.w = w, .keep = true};
    char count[64];
    int64_t n;

    snprintf(count, sizeof count, "/count/%s", path + (path[0] == '/'));
    ask(&s, count, false);
    seen_wait(&s);
    n = s.body.ptr ? strtoll(s.body.ptr, NULL, 10) : -1;
    buf_free(&s.body);
    return n;
}

/* With a fetch of its own, which has no connection yet. */
static void check_row(struct world *w, const struct row *row)
{
    struct world own = *w;
    struct seen s = {.w = &own, .keep = true}, before = {.w = &own};
    int64_t so_far = asked(w, row->path);

    fetch_new(&fetch_mem_libc, own.loop, &own.fetch, NULL);
    if (row->kept) {
        ask(&before, "/other", true);
        seen_wait(&before);
    }
    ask(&s, row->path, row->post);
    seen_wait(&s);
    tap_is_i64(asked(w, row->path) - so_far, row->asked, "%s: requests",
               row->why);
    tap_is_str(buf_view(&s.body), row->body, "%s: body", row->why);
    tap_is_i64(s.how, row->how, "%s: ends so", row->why);
    if (row->message)
        tap_is_str((const char *)s.message, row->message, "%s: words",
                   row->why);
    buf_free(&s.body);
    fetch_free(own.fetch);
}

/* ---- Streams ------------------------------------------------------------- */

static void test_streams(struct world *w, size_t pause_every)
{
    static struct seen s[STREAMS];
    int bad = 0, done = 0;

    for (int i = 0; i < STREAMS; i++) {
        s[i] = (struct seen){.w = w, .pause_every = i % 2 ? pause_every : 0};
        ask(&s[i], "/", false);
    }
    while (done < STREAMS) {
        loop_turn(w->loop, 1000);
        done = 0;
        for (int i = 0; i < STREAMS; i++) {
            done += s[i].ends;
            if (s[i].paused && !s[i].ends)
                fetch_resume(s[i].t);
            s[i].paused = false;
        }
    }
    for (int i = 0; i < STREAMS; i++)
        bad += s[i].how != FETCH_OK || s[i].bytes != STREAM_BYTES ||
               strcmp(s[i].retry_after, "7") != 0;
    tap_is_i64(bad, 0, "%d streams, pause at chunk %zu (0: none)", STREAMS,
               pause_every);
}

static void test_sessions(struct world *w)
{
    struct seen s = {.w = w, .keep = true};

    ask(&s, "/stats", false);
    seen_wait(&s);
    tap_is_str(buf_view(&s.body), "{\"sessions\":1,\"streams\":80}",
               "all over one connection");
    buf_free(&s.body);
}

static void test_stop(struct world *w)
{
    struct seen a = {.w = w, .stop_in_body = true}, b = {.w = w};

    ask(&a, "/", false);
    ask(&b, "/", false);
    seen_wait(&b);
    tap_ok(!a.ends && !a.after_stop && b.how == FETCH_OK &&
               b.bytes == STREAM_BYTES,
           "one stream stops, its neighbour goes on");
}

/* A server that speaks HTTP/2 only, asked without and with it. */
static void test_only(struct world *w)
{
    static const char words[] =
        "localhost: the server does not speak HTTP/1.1 (";
    struct fetch_request q = {.ca_file = w->server.ca};
    struct seen s = {.w = w}, control = {.w = w};
    char url[64];

    snprintf(url, sizeof url, "https://localhost:%d/x", w->server.tls_port);
    q.url = url;
    seen_ask(&s, &q, NULL);
    seen_wait(&s);
    tap_ok(s.how == FETCH_HTTP2_ONLY &&
               !strncmp(s.message, words, strlen(words)),
           "a server that speaks HTTP/2 only (%s)", s.message);
    q.http2 = true;
    seen_ask(&control, &q, NULL);
    seen_wait(&control);
    tap_ok(control.how == FETCH_OK && control.status == 200,
           "asked so, it answers (%s)", control.message);
}

int main(void)
{
    struct world w;

    if (system("node --version >/dev/null 2>&1")) {
        printf("1..0 # SKIP no node\n");
        return 0;
    }
    if (!tap_ok(open_http2(&w), "a server"))
        return tap_done();
    test_streams(&w, 0);
    test_streams(&w, 3);
    test_sessions(&w);
    test_stop(&w);
    for (size_t i = 0; i < tap_count(rows); i++)
        check_row(&w, &rows[i]);
    test_only(&w);
    world_close(&w);
    return tap_done();
}

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

static void ask(struct seen *s, const char *path)
{
    struct fetch_request q = {.ca_file = s->w->server.ca, .http2 = true};
    char url[64];

    snprintf(url, sizeof url, "https://localhost:%d%s", s->w->server.port,
             path);
    q.url = url;
    seen_ask(s, &q, NULL);
}

static void test_streams(struct world *w, size_t pause_every)
{
    static struct seen s[STREAMS];
    int bad = 0, done = 0;

    for (int i = 0; i < STREAMS; i++) {
        s[i] = (struct seen){.w = w, .pause_every = i % 2 ? pause_every : 0};
        ask(&s[i], "/");
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

    ask(&s, "/stats");
    seen_wait(&s);
    tap_is_str(buf_view(&s.body), "{\"sessions\":1,\"streams\":80}",
               "all over one connection");
    buf_free(&s.body);
}

static void test_stop(struct world *w)
{
    struct seen a = {.w = w, .stop_in_body = true}, b = {.w = w};

    ask(&a, "/");
    ask(&b, "/");
    seen_wait(&b);
    tap_ok(!a.ends && !a.after_stop && b.how == FETCH_OK &&
               b.bytes == STREAM_BYTES,
           "one stream stops, its neighbour goes on");
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
    world_close(&w);
    return tap_done();
}

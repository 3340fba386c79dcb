/*
 * test_fetch_life.c - many transfers, pauses, stops at any time, no memory.
 */
#include <poll.h>
#include <sys/resource.h>

#include "fault.h"
#include "fetch_help.h"

/* ---- Pauses -------------------------------------------------------------- */

static long resident_kb(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    long all, resident = 0;

    if (f && fscanf(f, "%ld %ld", &all, &resident) != 2)
        resident = 0;
    if (f)
        fclose(f);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static bool in_order(const struct buf *b, size_t deltas)
{
    char want[24];

    if (b->len != deltas * 16)
        return false;
    for (size_t i = 0; i < deltas; i++) {
        snprintf(want, sizeof want, "%015zu ", i);
        if (memcmp(b->ptr + i * 16, want, 16) != 0)
            return false;
    }
    return true;
}

static void test_pause_exact(struct world *w)
{
    static const struct {
        const char *path;
        size_t deltas, pause_every;
    } rows[] = {
        {"/=text:20000:16/", 20000, 7},
        {"/=text:2000:16/", 2000, 2},
        {"/=text:20000:16,length/", 20000, 2},
        {"/=text:20000:16,eof/", 20000, 3},
        {"/=text:300:16,delay=1ms/", 300, 2},
        {"/=text:500:16,chunk=5/", 500, 3},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct seen s = {
            .w = w, .keep = true, .pause_every = rows[i].pause_every};

        seen_start(&s, rows[i].path);
        while (!s.ends) {
            if (s.paused) {
                s.paused = false;
                fetch_resume(s.t);
            }
            loop_turn(w->loop, 1000);
        }
        tap_ok(s.how == FETCH_OK && in_order(&s.body, rows[i].deltas),
               "paused at every %zu. chunk: %s", rows[i].pause_every,
               rows[i].path);
        buf_free(&s.body);
    }
}

static void test_pause_memory(struct world *w)
{
    struct seen s = {.w = w, .pause_every = 3};
    long before, grown;
    size_t bytes;

    seen_start(&s, "/=text:4000:65536/"); /* 250 MB */
    while (!s.paused)
        loop_turn(w->loop, 1000);
    before = resident_kb();
    bytes = s.bytes;
    world_run(w, 400);
    grown = resident_kb() - before;
    tap_ok(s.bytes == bytes && !s.ends, "while paused nothing comes");
    tap_ok(grown < 8192, "and memory stays (%ld KB more)", grown);
    s.pause_every = 0;
    fetch_resume(s.t);
    seen_wait(&s);
    tap_is_i64((int64_t)s.bytes, 4000LL * 65536, "then all of it comes");
    grown = resident_kb() - before;
    tap_ok(grown < 16384, "through bounded memory (%ld KB more)", grown);
}

/* From inside of the callback that pauses. */
static bool resume_at_once(void *ctx, const char *p, size_t len)
{
    struct seen *s = ctx;

    (void)p;
    if (++s->asked % 3 == 0) {
        fetch_resume(s->t);
        return false;
    }
    s->bytes += len;
    return true;
}

static void test_resume_inside(struct world *w)
{
    static const struct fetch_events events = {seen_head, resume_at_once,
                                               seen_end};
    struct seen s = {.w = w};
    char url[64];
    struct fetch_request q = {.url = url, .proxy = "", .libcurl = w->libcurl};

    snprintf(url, sizeof url, "http://127.0.0.1:%d/=text:2000:16/",
             w->server.port);
    fetch_start(w->fetch, &q, &events, &s, &s.t, NULL);
    seen_wait(&s);
    tap_is_i64((int64_t)s.bytes, 2000LL * 16, "resumed from inside");
}

/* ---- Many ---------------------------------------------------------------- */

enum { MANY = 500 };

static void test_many(struct world *w)
{
    static struct seen s[MANY];
    int64_t before = world_count(w, "connections"), began = clock_ms();
    int bad = 0;

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++) {
            s[i] = (struct seen){.w = w};
            seen_start(&s[i], "/=delay:20ms:20:16/");
        }
        for (int i = 0; i < MANY; i++) {
            seen_wait(&s[i]);
            bad += s[i].how != FETCH_OK || s[i].bytes != 320;
        }
    }
    tap_is_i64(bad, 0, "%d at once, twice, %lld ms", MANY,
               (long long)(clock_ms() - began));
    tap_ok(world_count(w, "connections") - before <= MANY,
           "the second time on the connections of the first");
}

/* One look-up for all; and all get its answer. */
static void test_many_names(struct world *w)
{
    static struct seen s[50];
    int bad = 0;
    char url[64];

    /* libcurl itself knows all names below localhost. */
    snprintf(url, sizeof url, "http://many.localhost:%d/=text:3/",
             w->server.port);
    for (size_t i = 0; i < tap_count(s); i++) {
        s[i] = (struct seen){.w = w};
        seen_start(&s[i], url);
    }
    for (size_t i = 0; i < tap_count(s); i++) {
        seen_wait(&s[i]);
        bad += s[i].how != FETCH_OK || s[i].bytes != 24;
    }
    tap_is_i64(bad, 0, "a name, for many");
    for (size_t i = 0; i < tap_count(s); i++) {
        s[i] = (struct seen){.w = w};
        seen_start(&s[i],
                   "http://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                   "aaaaaaaaaaaaaaaaaaaa.invalid/");
    }
    fetch_stop(s[0].t); /* which looks it up, or would */
    for (size_t i = 1; i < tap_count(s); i++) {
        seen_wait(&s[i]);
        bad += s[i].how != FETCH_NETWORK ||
               !strstr(s[i].message, "could not resolve");
    }
    tap_ok(!bad && !s[0].ends, "a name that nobody knows, for many");
}

/* ---- Stops --------------------------------------------------------------- */

static void test_stop_any_time(struct world *w)
{
    static const char *const paths[] = {
        "/=delay:1ms:50/",
        "/=text:2000:16/",
        "/=hang/",
        "/=text:3,close/",
        "http://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaa.invalid/",
    };
    int64_t open_before = world_count(w, "open");
    int late = 0;

    for (size_t i = 0; i < tap_count(paths); i++)
        for (int turns = 0; turns < 12; turns++) {
            struct seen s = {.w = w};

            seen_start(&s, paths[i]);
            for (int n = 0; n < turns && !s.ends; n++)
                loop_turn(w->loop, 2);
            if (!s.ends)
                seen_stop(&s);
            world_run(w, 5);
            late += s.after_stop;
        }
    tap_is_i64(late, 0, "stopped after any turn, silent from there on");
    tap_ok(world_count(w, "open") <= open_before,
           "and their connections are closed");
}

static void test_stop_inside(struct world *w)
{
    static const struct {
        const char *why;
        struct seen s;
        int ends;
    } rows[] = {
        {"head", {.stop_in_head = true}, 0},
        {"body", {.stop_in_body = true}, 0},
        {"end", {.stop_in_end = true}, 1},
        {"body, when it goes on", {.stop_in_body = true, .pause_every = 1}, 0},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct seen s = rows[i].s;

        s.w = w;
        seen_start(&s, "/=text:20/");
        for (int n = 0; n < 50 && !s.ends; n++) {
            loop_turn(w->loop, 2);
            if (s.paused) {
                s.paused = false;
                s.pause_every = 0;
                fetch_resume(s.t);
            }
        }
        tap_ok(s.ends == rows[i].ends && !s.after_stop, "stop inside: %s",
               rows[i].why);
    }
}

static void test_stop_other(struct world *w)
{
    struct seen a = {.w = w}, b = {.w = w}, c = {.w = w};

    a.stop_other = &b;
    b.stop_other = &a;
    seen_start(&a, "/=delay:5ms:20/");
    seen_start(&b, "/=delay:5ms:20/");
    while (!a.ends && !b.ends)
        loop_turn(w->loop, 1000);
    world_run(w, 20);
    tap_ok(a.ends + b.ends == 1 && !a.after_stop && !b.after_stop,
           "one stops the other from inside");
    a = (struct seen){.w = w, .start_other = &c};
    seen_start(&a, "/=text:3/");
    seen_wait(&a);
    seen_wait(&c);
    tap_ok(c.how == FETCH_OK && c.bytes == 24, "an end starts the next");
}

/* ---- Ends of the pool ---------------------------------------------------- */

static void test_free_under_way(struct world *w)
{
    static const char *const paths[] = {
        "/=hang/",
        "/=hang:20/",
        "/=text:20000:16/",
        "/=delay:5ms:100/",
        "http://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaa.invalid/",
    };
    int ends = 0, late = 0;

    for (int turns = 0; turns < 10; turns++) {
        struct seen s[tap_count(paths) * 4] = {{0}};
        struct world own = {.server = w->server, .libcurl = w->libcurl};

        loop_new(&fetch_mem_libc, &own.loop, NULL);
        fetch_new(&fetch_mem_libc, own.loop, &own.fetch, NULL);
        for (size_t i = 0; i < tap_count(s); i++) {
            s[i].w = &own;
            s[i].pause_every = i % 2;
            seen_start(&s[i], paths[i % tap_count(paths)]);
        }
        for (int n = 0; n < turns; n++)
            loop_turn(own.loop, 2);
        for (size_t i = 0; i < tap_count(s); i++)
            ends += s[i].ends;
        fetch_free(own.fetch);
        loop_free(own.loop);
        for (size_t i = 0; i < tap_count(s); i++)
            late += s[i].ends;
    }
    tap_is_i64(late, ends, "freed under way: no more events");
}

/* One transfer; what it holds while it is paused is memory, too. */
static wend_status try_one(struct world *w, const char *path,
                           size_t pause_every)
{
    struct seen s = {.w = w, .pause_every = pause_every};
    char url[64];
    struct fetch_request q = {.url = url};
    wend_status status;

    snprintf(url, sizeof url, "http://127.0.0.1:%d%s", w->server.port, path);
    status = seen_ask(&s, &q, NULL);
    while (status == WEND_OK && !s.ends) {
        loop_turn(w->loop, 1000);
        if (s.paused && !s.ends)
            fetch_resume(s.t);
        s.paused = false;
    }
    if (status == WEND_OK && s.how != FETCH_OK)
        status = s.how == FETCH_NOMEM ? WEND_E_NOMEM : WEND_E_IO;
    return status;
}

static void test_no_memory(struct world *w)
{
    static const struct {
        const char *why, *path;
        size_t pause_every;
    } rows[] = {
        {"an answer", "/=text:3/", 0},
        {"with pauses", "/=text:300:64/", 3},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct fault f = {0};
        int bad = 0, rounds = 0;

        while (fault_next(&f)) {
            struct mem m = fault_mem(&f);
            struct world own = {.server = w->server, .libcurl = w->libcurl};
            wend_status status;

            loop_new(&fetch_mem_libc, &own.loop, NULL);
            status = fetch_new(&m, own.loop, &own.fetch, NULL);
            if (status == WEND_OK)
                status = try_one(&own, rows[i].path, rows[i].pause_every);
            fetch_free(own.fetch);
            loop_free(own.loop);
            bad += f.live != 0 || status != (f.hit ? WEND_E_NOMEM : WEND_OK);
            rounds++;
        }
        tap_ok(!bad && rounds > 4, "without memory: %s (%d rounds)",
               rows[i].why, rounds);
    }
}

/* ---- A foreign loop ------------------------------------------------------ */

static void test_foreign_loop(struct world *w)
{
    struct seen s = {.w = w}, dead = {.w = w};
    struct pollfd p = {.fd = loop_fd(w->loop), .events = POLLIN};
    char url[64];
    struct fetch_request q = {.url = url, .first_byte_ms = 100};
    int turns = 0;

    snprintf(url, sizeof url, "http://127.0.0.1:%d/=hang/", w->server.port);
    seen_start(&s, "/=delay:20ms:10/");
    seen_ask(&dead, &q, NULL);
    for (; turns < 200 && !(s.ends && dead.ends); turns++) {
        poll(&p, 1, loop_timeout_ms(w->loop));
        loop_turn(w->loop, 0);
    }
    tap_ok(s.how == FETCH_OK && dead.how == FETCH_TIMEOUT,
           "a foreign loop with fd and timeout (%d turns)", turns);
}

/* Timers run before the loop looks at its sockets, and must not make it
 * wait once they have said something. */
static void test_no_wait_after_event(struct world *w)
{
    struct seen s = {.w = w};
    char url[64];
    struct fetch_request q = {.url = url, .first_byte_ms = 50};
    int64_t began = clock_ms();

    snprintf(url, sizeof url, "http://127.0.0.1:%d/=hang/", w->server.port);
    seen_ask(&s, &q, NULL);
    while (!s.ends)
        loop_turn(w->loop, 60000);
    tap_ok(clock_ms() - began < 30000, "a turn ends with its events");
}

static void test_all(struct world *w)
{
    test_pause_exact(w);
    test_pause_memory(w);
    test_resume_inside(w);
    test_many(w);
    test_many_names(w);
    test_stop_any_time(w);
    test_stop_inside(w);
    test_stop_other(w);
    test_free_under_way(w);
    test_no_memory(w);
    test_foreign_loop(w);
    test_no_wait_after_event(w);
}

int main(void)
{
    struct world w;
    struct rlimit r;

    getrlimit(RLIMIT_NOFILE, &r);
    r.rlim_cur = r.rlim_max;
    setrlimit(RLIMIT_NOFILE, &r);
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

/*
 * test_lease.c - runtimes that share a store handle do not take runs from each
 * other: a run that one of them has under way is busy for the others, as it is
 * for another process.
 */
#include "run_help.h"

#define SCRIPT \
    "script:{\"turns\":[{\"text\":\"hello\",\"delay\":\"1ms\",\"chunk\":1}]}"

enum { THREADS = 6 };

/* ---- What another user of the handle may try ----------------------------- */

struct attempt {
    wend_store *store;
    const char *id;
    wend_status (*try)(struct attempt *a);
    wend_status status;
    wend_error err;
};

/* With a runtime of its own, of the thread that tries. */
static wend_status try_resume(struct attempt *a)
{
    struct rig r = {
        .agent_options = {.size = sizeof(wend_agent_options), .model = SCRIPT}};
    wend_runtime_options o = {.size = sizeof o, .store = a->store};
    wend_run *run = NULL;
    wend_status s = wend_runtime_new(&o, &r.rt, &a->err);

    if (s == WEND_OK)
        s = wend_agent_new(r.rt, &r.agent_options, &r.agent, &a->err);
    if (s == WEND_OK)
        s = wend_run_resume(r.agent, a->id, NULL, &run, &a->err);
    wend_run_free(run);
    wend_agent_free(r.agent);
    wend_runtime_free(r.rt);
    return s;
}

static wend_status try_close(struct attempt *a)
{
    return wend_store_close(a->store, a->id, "test", &a->err);
}

static wend_status try_remove(struct attempt *a)
{
    return wend_store_remove(a->store, a->id, &a->err);
}

static void *in_thread(void *arg)
{
    struct attempt *a = arg;

    a->status = a->try(a);
    return NULL;
}

static void attempt(struct attempt *a, bool threaded)
{
    pthread_t thread;

    a->err = (wend_error){0};
    if (!threaded)
        in_thread(a);
    else if (!pthread_create(&thread, NULL, in_thread, a))
        pthread_join(thread, NULL);
}

static const struct {
    const char *what;
    wend_status (*try)(struct attempt *a);
    wend_status over; /* once the run has ended, in this order */
} attempts[] = {
    {"resume", try_resume, WEND_E_INVAL},
    {"close", try_close, WEND_E_INVAL},
    {"remove", try_remove, WEND_OK},
};

/* ---- One that is under way ----------------------------------------------- */

static wend_run *start_and_read(struct rig *r, bool paused)
{
    wend_run *run = rig_start(r, NULL);
    const wend_event *ev;

    while (wend_run_next(run, &ev) == WEND_OK && ev->type != WEND_TEXT_DELTA)
        continue;
    if (paused)
        wend_run_pause(run);
    return run;
}

static void try_all(struct attempt *a, bool threaded, bool over,
                    const char *when)
{
    for (size_t i = 0; i < tap_count(attempts); i++) {
        wend_status wanted = over ? attempts[i].over : WEND_E_BUSY;

        a->try = attempts[i].try;
        attempt(a, threaded);
        tap_ok(a->status == wanted && (wanted == WEND_OK || a->err.message[0]),
               "%s of a run that %s, %s thread: %s %s", attempts[i].what, when,
               threaded ? "another" : "the same", wend_status_name(a->status),
               a->err.message);
    }
}

static void test_under_way(const char *url, bool threaded, bool paused)
{
    struct rig r = {0};
    struct attempt a = {0};
    wend_str text = {0};
    wend_run *run;
    char id[40];

    if (!rig_open(&r, url, SCRIPT))
        return;
    run = start_and_read(&r, paused);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    a.store = r.store;
    a.id = id;
    try_all(&a, threaded, false, paused ? "is paused" : "is under way");
    if (paused)
        wend_run_continue(run);
    tap_ok(wend_run_wait(run, &text) == WEND_OK && text.len == 5,
           "%s: and its owner finishes it: %s", url,
           wend_run_error(run)->message);
    /* Its handle is still there, and stands in nobody's way. */
    try_all(&a, threaded, true, "is over");
    wend_run_free(run);
    rig_close(&r);
}

/* One that its owner has let go of is free at once. */
static void test_let_go(const char *url)
{
    struct rig r = {0};
    struct attempt a = {.try = try_resume};
    wend_run *run;
    char id[40];

    if (!rig_open(&r, url, SCRIPT))
        return;
    run = start_and_read(&r, false);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    wend_run_free(run);
    a.store = r.store;
    a.id = id;
    attempt(&a, true);
    tap_is_i64(a.status, WEND_OK, "%s: a run that was let go: %s", url,
               a.err.message);
    attempt(&a, false);
    tap_is_i64(a.status, WEND_OK, "%s: and once more: %s", url, a.err.message);
    rig_close(&r);
}

/* ---- Many at once -------------------------------------------------------- */

struct racer {
    pthread_t thread;
    pthread_barrier_t *line;
    wend_store *store;
    const char *id;
    wend_status status;
};

static void *race(void *arg)
{
    struct racer *c = arg;
    wend_agent_options ao = {.size = sizeof ao, .model = SCRIPT};
    wend_runtime_options o = {.size = sizeof o, .store = c->store};
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_run *run = NULL;

    wend_runtime_new(&o, &rt, NULL);
    wend_agent_new(rt, &ao, &agent, NULL);
    pthread_barrier_wait(c->line);
    c->status = wend_run_resume(agent, c->id, NULL, &run, NULL);
    pthread_barrier_wait(c->line); /* nobody lets go before all have asked */
    wend_run_free(run);
    wend_agent_free(agent);
    wend_runtime_free(rt);
    return NULL;
}

static void test_race(const char *url)
{
    struct racer racers[THREADS] = {0};
    struct rig r = {0};
    pthread_barrier_t line;
    int rounds = 10, bad = 0;
    wend_run *run;
    char id[40];

    if (!rig_open(&r, url, SCRIPT))
        return;
    run = start_and_read(&r, false);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    wend_run_free(run);
    pthread_barrier_init(&line, NULL, THREADS);
    for (int n = 0; n < rounds; n++) {
        int got = 0, busy = 0;

        for (int i = 0; i < THREADS; i++) {
            racers[i].line = &line;
            racers[i].store = r.store;
            racers[i].id = id;
            pthread_create(&racers[i].thread, NULL, race, &racers[i]);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(racers[i].thread, NULL);
            got += racers[i].status == WEND_OK;
            busy += racers[i].status == WEND_E_BUSY;
        }
        bad += got != 1 || busy != THREADS - 1;
    }
    tap_is_i64(bad, 0, "%s: of %d that resume a run at once one gets it", url,
               THREADS);
    pthread_barrier_destroy(&line);
    rig_close(&r);
}

int main(void)
{
    char path[64];
    const char *const urls[] = {"memory:", path};

    snprintf(path, sizeof path, "%s/lease.db", getenv("TMPDIR"));
    for (size_t i = 0; i < tap_count(urls); i++) {
        for (int how = 0; how < 4; how++)
            test_under_way(urls[i], how & 1, how & 2);
        test_let_go(urls[i]);
        test_race(urls[i]);
    }
    return tap_done();
}

/*
 * test_pool.c - the models of an agent: fallbacks, rest, places.
 */
#include "lib/model/pool.h"
#include "run_help.h"

#define GOOD                                                             \
    "script:{\"model\":\"good\",\"turns\":[{\"text\":\"hi\",\"repeat\":" \
    "\"forever\"}]}"
#define DOWN                                                               \
    "script:{\"model\":\"down\",\"turns\":[{\"error\":{\"code\":\"auth\"," \
    "\"message\":\"no\"},\"repeat\":\"forever\"}]}"
#define SLOW                                                  \
    "script:{\"model\":\"slow\",\"turns\":[{\"text\":\"hi\"," \
    "\"first_delay\":\"20ms\",\"repeat\":\"forever\"}]}"
#define NETWORK "{\"error\":{\"code\":\"network\",\"message\":\"gone\"}}"

/* A clock that can be moved. */
static int64_t ahead_us;

static int64_t moved_clock(void *ctx)
{
    return env_real.clock_us(ctx) + ahead_us;
}

static bool open_with(struct rig *r, const char *model, const char *const *more,
                      size_t count)
{
    static struct env moved;

    *r = (struct rig){
        .agent_options = {.fallbacks = more, .fallbacks_count = count}};
    if (!rig_open(r, NULL, model))
        return false;
    moved = env_real;
    moved.clock_us = moved_clock;
    ahead_us = 0;
    r->rt->env = &moved;
    return true;
}

/* ---- Fallbacks ----------------------------------------------------------- */

static void test_fallback(void)
{
    static const char *const more[] = {DOWN, GOOD};
    const char *first = "script:{\"turns\":[{\"error\":{\"code\":\"auth\","
                        "\"message\":\"no key\"}}]}";
    struct buf lines = {.mem = &rig_mem};
    struct rig r;
    wend_run *run;

    if (!open_with(&r, first, more, 2))
        return;
    run = rig_start(&r, NULL);
    read_all(run, NULL, &lines);
    tap_ok(strstr(lines.ptr, "\"model_retry\",\"turn\":0") &&
               strstr(lines.ptr,
                      "{\"attempt\":1,\"delay_ms\":0,"
                      "\"reason\":\"auth\",\"next_model\":\"down\"}"),
           "the second model is asked");
    tap_ok(strstr(lines.ptr, "{\"attempt\":2,\"delay_ms\":0,"
                             "\"reason\":\"auth\",\"next_model\":\"good\"}"),
           "then the third");
    tap_ok(strstr(lines.ptr, "\"outcome\":\"ok\",\"text\":\"hi\""),
           "which answers");
    tap_ok(strstr(lines.ptr, "\"fallback\":[{\"name\":\"down\","),
           "run_start knows them");
    wend_run_free(run);
    buf_free(&lines);
    rig_close(&r);
}

static void test_refused(void)
{
    static const struct {
        const char *why, *model, *spare, *message;
        size_t count;
    } rows[] = {
        {"one twice", GOOD, GOOD, "is there twice", 1},
        {"no provider", GOOD, "gpt", "has no driver", 1},
        {"none", GOOD, NULL, "fallback 1 is NULL", 1},
        {"too many", GOOD, DOWN, "over 8 fallback models", 9},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        const char *more[9];
        wend_agent_options o = {.size = sizeof o,
                                .model = rows[i].model,
                                .fallbacks = more,
                                .fallbacks_count = rows[i].count};
        wend_runtime *rt = NULL;
        wend_agent *a = NULL;
        wend_error err = {0};

        for (size_t n = 0; n < 9; n++)
            more[n] = rows[i].spare;
        wend_runtime_new(NULL, &rt, NULL);
        tap_ok(wend_agent_new(rt, &o, &a, &err) != WEND_OK && !a &&
                   strstr(err.message, rows[i].message),
               "refused: %s (%s)", rows[i].why, err.message);
        wend_runtime_free(rt);
    }
}

/* The same model at two places has two names. */
static void test_names(void)
{
    static const char *const more[] = {"ollama:m@http://127.0.0.1:2",
                                       "ollama:@cf/m"};
    wend_agent_options o = {.size = sizeof o,
                            .model = "ollama:m",
                            .base_url = "http://127.0.0.1:1",
                            .fallbacks = more,
                            .fallbacks_count = 2};
    wend_runtime *rt = NULL;
    wend_agent *a = NULL;
    wend_error err = {0};

    wend_runtime_new(NULL, &rt, NULL);
    if (tap_ok(wend_agent_new(rt, &o, &a, &err) == WEND_OK, "an agent (%s)",
               err.message)) {
        agent_config(a, false, NULL);
        tap_ok(strstr(a->configs[0]->json.ptr,
                      "\"fallback\":[{\"name\":\"ollama:m@http://127.0.0.1:2\","
                      "\"model\":\"ollama:m\","
                      "\"base_url\":\"http://127.0.0.1:2\"},"
                      "{\"name\":\"@cf/m\",\"model\":\"ollama:@cf/m\","
                      "\"base_url\":\"http://127.0.0.1:1\"}]"),
               "%s", a->configs[0]->json.ptr);
    }
    wend_agent_free(a);
    wend_runtime_free(rt);
}

/* ---- Rest ---------------------------------------------------------------- */

static void run_once(struct rig *r, struct buf *lines)
{
    wend_run *run = rig_start(r, NULL);
    const wend_event *ev;

    buf_clear(lines);
    while (wend_run_next(run, &ev) == WEND_OK) {
        put_line(lines, ev);
        if (ev->type == WEND_MODEL_RETRY) /* nobody waits for real */
            ahead_us += ev->u.model_retry.delay_ms * 1000;
    }
    wend_run_free(run);
}

static void test_rest(void)
{
    static const char *const more[] = {GOOD};
    /* Each run has its own script position: it always begins with these. */
    const char *model = "script:{\"model\":\"shaky\",\"turns\":[" NETWORK
                        "," NETWORK "," NETWORK ",{\"text\":\"back\"}]}";
    struct buf lines = {.mem = &rig_mem};
    struct rig r;
    int64_t waited_us;

    if (!open_with(&r, model, more, 1))
        return;
    run_once(&r, &lines);
    tap_ok(
        r.rt->health &&
            !strcmp(r.rt->health->next ? r.rt->health->next->key : "", model),
        "one record for each model");
    tap_is_i64(r.rt->health->next->failures, 3, "three failures so far");
    run_once(&r, &lines);
    tap_ok(r.rt->health->next->rests_until_us > 0, "after five it rests");
    tap_ok(strstr(lines.ptr, "\"reason\":\"service\",\"next_model\":\"good\""),
           "who asked for it goes on with the next at once");
    waited_us = ahead_us;
    run_once(&r, &lines);
    tap_ok(ahead_us == waited_us &&
               strstr(lines.ptr, "{\"attempt\":1,\"delay_ms\":0,"),
           "another run does not even try");
    ahead_us += (BREAKER_MS + 1000) * INT64_C(1000);
    run_once(&r, &lines);
    tap_ok(strstr(lines.ptr, "\"reason\":\"network\""), "later one tries it");
    tap_ok(r.rt->health->next->rests_until_us > moved_clock(NULL),
           "in vain: it rests again");
    buf_free(&lines);
    rig_close(&r);
}

static void test_back(void)
{
    struct buf lines = {.mem = &rig_mem};
    struct rig r;
    struct health *h;

    if (!open_with(&r, GOOD, NULL, 0))
        return;
    run_once(&r, &lines);
    h = r.rt->health;
    h->failures = BREAKER_FAILURES;
    h->rests_until_us = moved_clock(NULL) + 20 * 1000000;
    run_once(&r, &lines);
    tap_ok(strstr(lines.ptr, "failed 5 times in a row") == NULL &&
               strstr(lines.ptr, "\"reason\":\"service\",\"next_model\":"
                                 "\"good\""),
           "the only model is waited for");
    tap_ok(strstr(lines.ptr, "\"outcome\":\"ok\",\"text\":\"hi\""),
           "and answers when it is back");
    tap_ok(!h->failures && !h->rests_until_us && !h->busy && !h->trying,
           "all is well again");
    buf_free(&lines);
    rig_close(&r);
}

/* ---- Places -------------------------------------------------------------- */

enum { RUNS = 6 };

static uint32_t most_busy(struct rig *r, wend_run **runs, size_t cancel)
{
    uint32_t most = 0;
    size_t over = 0;

    if (cancel < RUNS)
        wend_run_cancel(runs[cancel]);
    while (over < RUNS) {
        const wend_event *ev;

        wend_runtime_pump(r->rt);
        if (r->rt->health->busy > most)
            most = r->rt->health->busy;
        over = 0;
        for (size_t i = 0; i < RUNS; i++) {
            while (wend_run_poll(runs[i], &ev) == WEND_OK)
                continue;
            over += wend_run_poll(runs[i], &ev) == WEND_END;
        }
    }
    return most;
}

static void test_places(const char *file, const char *text, uint32_t wanted,
                        size_t cancel)
{
    struct rig r = {.agent_options = {.models_file = file}};
    wend_run *runs[RUNS];
    size_t ok = 0;
    FILE *f = fopen(file, "w");

    if (!f || fputs(text, f) < 0 || fclose(f) || !rig_open(&r, NULL, SLOW)) {
        tap_ok(false, "cannot begin");
        return;
    }
    for (size_t i = 0; i < RUNS; i++)
        runs[i] = rig_start(&r, NULL);
    while (!r.rt->health)
        wend_runtime_pump(r.rt);
    tap_is_i64(most_busy(&r, runs, cancel), wanted, "at once, at most");
    for (size_t i = 0; i < RUNS; i++) {
        wend_outcome outcome;

        ok += wend_run_outcome(runs[i], &outcome) == WEND_OK &&
              outcome == WEND_OUTCOME_OK;
        wend_run_free(runs[i]);
    }
    tap_is_i64((int64_t)ok, cancel < RUNS ? RUNS - 1 : RUNS, "all are served");
    tap_ok(!r.rt->health->busy && !r.rt->health->first, "nothing is left over");
    rig_close(&r);
}

int main(void)
{
    char file[] = "/tmp/wend-pool-XXXXXX";
    int fd = mkstemp(file);

    close(fd);
    test_fallback();
    test_refused();
    test_names();
    test_rest();
    test_back();
    test_places(file,
                "wend: models/1\nmodels: [{name: 'script:*', concurrency: 2}]",
                2, RUNS);
    test_places(file,
                "wend: models/1\nmodels: [{name: 'script:*', concurrency: 1}]",
                1, 3); /* the fourth is canceled while it waits */
    test_places(file, "wend: models/1\nmodels: []", RUNS, RUNS);
    unlink(file);
    return tap_done();
}

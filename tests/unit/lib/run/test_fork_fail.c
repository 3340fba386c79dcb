/*
 * test_fork_fail.c - a fork that cannot be resumed is not left behind, nor a
 * run that follows another one: each allocation fails once. An event of a later
 * version can be the last that is shared.
 */
#include "fault.h"
#include "run_help.h"
#include "store_help.h"

#define SCRIPT                                                           \
    "script:{\"turns\":[{\"text\":\"hm\",\"calls\":[{\"name\":\"echo\"," \
    "\"args\":{}}]},{\"text\":\"hello\"}]}"

static int count_runs(wend_store *s)
{
    wend_list_options o = {.size = sizeof o, .limit = 10000};
    const wend_run_info *info;
    wend_runs *runs = NULL;
    int count = 0;

    wend_store_list(s, &o, &runs, NULL);
    while (runs && wend_runs_next(runs, &info) == WEND_OK)
        count++;
    wend_runs_free(runs);
    return count;
}

static void test_store(const char *url, bool follow)
{
    struct fault f = {0};
    struct rig r = {
        .agent_options = {.size = sizeof(wend_agent_options), .model = SCRIPT}};
    wend_runtime_options o = {
        .size = sizeof o, .alloc = fault_alloc, .alloc_ctx = &f};
    int failed = 0, left = 0;
    wend_run *run;
    wend_str text;
    char id[40];

    if (wend_store_open(url, &r.store, &r.err) != WEND_OK)
        exit(1);
    o.store = r.store;
    if (wend_runtime_new(&o, &r.rt, &r.err) != WEND_OK ||
        wend_agent_new(r.rt, &r.agent_options, &r.agent, &r.err) != WEND_OK)
        exit(1);
    run = rig_start(&r, NULL);
    wend_run_wait(run, &text);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    wend_run_free(run);
    for (int64_t n = 1; n < 2000; n++) {
        int before = count_runs(r.store);
        wend_status s;

        run = NULL;
        f.fail_at = f.count + n;
        s = follow ? wend_run_follow(r.agent, id, STR("x"), NULL, &run, &r.err)
                   : wend_run_fork(r.agent, id, NULL, NULL, &run, &r.err);
        f.fail_at = 0;
        if (s == WEND_OK) {
            wend_run_free(run);
            break;
        }
        failed++;
        left += run || count_runs(r.store) != before;
    }
    tap_ok(failed > 10 && !left, "%s: %d %s failed, %d were left behind", url,
           failed, follow ? "runs that follow" : "forks", left);
    wend_agent_free(r.agent);
    wend_runtime_free(r.rt);
    wend_store_free(r.store);
}

#define OLD "00000000-0000-7000-8000-000000000001"
#define HEAD "{\"run\":\"" OLD "\",\"seq\":"

static void test_unknown(void)
{
    wend_fork_options o = {.size = sizeof o, .at = 2};
    wend_error err = {0};
    wend_store *store = NULL;
    char fork[37] = "";

    if (wend_store_open("memory:", &store, NULL) != WEND_OK)
        exit(1);
    put_event(store, OLD, 1,
              HEAD "1,\"time\":1,\"type\":\"message\",\"data\":{\"role\":"
                   "\"user\",\"text\":\"x\"}}");
    put_event(store, OLD, 2,
              HEAD "2,\"time\":1,\"type\":\"from_later\",\"data\":{}}");
    tap_is_i64(wend_store_fork(store, OLD, &o, fork, &err), WEND_OK,
               "a fork at an event of a later version: %s", err.message);
    wend_store_free(store);
}

int main(void)
{
    char path[64];

    snprintf(path, sizeof path, "%s/fork_fail.db", getenv("TMPDIR"));
    test_unknown();
    test_store("memory:", false);
    test_store("memory:", true);
    test_store(path, false);
    test_store(path, true);
    return tap_done();
}

/*
 * test_forked.c - handles that went through fork(): the child is refused in
 * every function, harms nothing of its parent's, keeps no lock of it, and can
 * make handles of its own.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "api_help.h"
#include "run_help.h"
#include "store_help.h"

enum {
    CHILD_SECONDS = 30, /* one that hangs is killed */
    FORKS = 40,
/* The allocator of ASan has locks that do not survive a fork beside threads:
 * one child of 200 hangs in it. TSan starts no threads after such a fork. */
#if defined(__SANITIZE_ADDRESS__)
    FORKS_LOST_MAX = 2,
#else
    FORKS_LOST_MAX = 0,
#endif
#if defined(__SANITIZE_THREAD__)
    WITH_TSAN = 1,
#else
    WITH_TSAN = 0,
#endif
};

static const char script[] =
    "script:{\"turns\":[{\"calls\":[{\"name\":\"later\",\"args\":{}}]},"
    "{\"text\":\"done\"}]}";
static const char plan_text[] =
    "{\"wend\":\"plan/1\",\"actions\":[{\"id\":\"a\",\"type\":\"tool\","
    "\"target\":\"echo\"}]}";

static char folder[] = "/tmp/wend-forked-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* ---- Every handle there is ----------------------------------------------- */

static struct {
    struct rig rig;
    wend_call *calls[2];
    wend_run *run, *replay;
    wend_runs *list;
    wend_collector *collector;
    wend_dialect *dialect;
    wend_plan *plan;
    wend_laws *laws;
    const wend_event *event;
    wend_event *copy;
    char *json;
    char id[40];
} h;

static bool make_all(const char *url)
{
    memset(&h, 0, sizeof h);
    if (!rig_open(&h.rig, url, script))
        return false;
    rig_add(&h.rig, "later", tool_later, WEND_CLASS_READ, h.calls);
    h.run = rig_start(&h.rig, NULL);
    if (!h.run || wend_collector_new(&h.collector) || wend_laws_new(&h.laws) ||
        wend_dialect_new("loom", NULL, &h.dialect, NULL) ||
        wend_plan_parse(str_of(plan_text), NULL, &h.plan, &h.rig.err))
        return tap_ok(false, "handles: %s", h.rig.err.message);
    snprintf(h.id, sizeof h.id, "%s", wend_run_id(h.run));
    while (!h.calls[0] && wend_run_next(h.run, &h.event) == WEND_OK) {
        wend_event_free(h.copy);
        wend_event_clone(h.event, &h.copy);
    }
    return tap_ok(
        h.calls[0] && h.copy &&
            wend_store_list(h.rig.store, NULL, &h.list, NULL) == WEND_OK &&
            wend_store_replay(h.rig.rt, h.id, NULL, &h.replay, NULL) == WEND_OK,
        "all handles are there");
}

static void free_all(void)
{
    wend_event_free(h.copy);
    wend_laws_free(h.laws);
    wend_plan_free(h.plan);
    wend_collector_free(h.collector);
    wend_dialect_free(h.dialect);
    wend_runs_free(h.list);
    wend_run_free(h.replay);
    wend_run_free(h.run);
    rig_close(&h.rig);
}

/* ---- Every function there is --------------------------------------------- */

/* What each does with a handle of the parent; an error must speak of fork. */
#define REFUSED(call) ((call) == WEND_E_MISUSE)
#define SAYS_FORK(call) ((call) == WEND_E_MISUSE && says_fork(&err))
#define NOTHING(call) ((call), true)

static wend_error err;

static bool says_fork(const wend_error *e)
{
    return e && e->status == WEND_E_MISUSE && strstr(e->message, "fork()");
}

static wend_status knock(void *ctx, wend_runtime *rt, wend_agent **out,
                         wend_error *e)
{
    (void)ctx;
    return wend_agent_new(rt, &h.rig.agent_options, out, e);
}

static int64_t read_nothing(void *ctx, int64_t at, char *to, size_t size)
{
    (void)ctx, (void)at, (void)to, (void)size;
    return 0;
}

static bool write_none(void *ctx, wend_str bytes)
{
    (void)ctx, (void)bytes;
    return true;
}

static wend_run *run;
static wend_agent *agent;
static wend_runtime *rt;
static const wend_event *event;
static wend_manifest *manifest;
static const wend_part p = {.data = {"x", 1}};
static wend_str text;

static bool check_store(const char *f)
{
    wend_request tell = {.size = sizeof tell};
    wend_prune_options prune = {.size = sizeof prune};
    wend_store_origin origin = {.size = sizeof origin};
    wend_verdict verdict = {.size = sizeof verdict};
    wend_store *s = h.rig.store;
    const wend_run_info *info;
    wend_runs *list;
    wend_told told;
    char to[37];
    int64_t at;

#define ROW(name, holds)   \
    if (!strcmp(f, #name)) \
        return holds;
    ROW(wend_store_free, NOTHING(wend_store_free(s)))
    ROW(wend_store_list, SAYS_FORK(wend_store_list(s, NULL, &list, &err)))
    ROW(wend_runs_next, REFUSED(wend_runs_next(h.list, &info)))
    ROW(wend_runs_free, NOTHING(wend_runs_free(h.list)))
    ROW(wend_store_tell, SAYS_FORK(wend_store_tell(s, h.id, &tell, &err)))
    ROW(wend_store_tell_wait,
        SAYS_FORK(wend_store_tell_wait(s, h.id, &tell, 9, &told, &err)))
    ROW(wend_store_fork, SAYS_FORK(wend_store_fork(s, h.id, NULL, to, &err)))
    ROW(wend_store_fork_at, SAYS_FORK(wend_store_fork_at(s, h.id, &at, &err)))
    ROW(wend_store_context,
        SAYS_FORK(wend_store_context(s, h.id, 0, write_none, NULL, &err)))
    ROW(wend_store_verify,
        SAYS_FORK(wend_store_verify(s, h.id, NULL, &verdict, &err)))
    ROW(wend_store_check, SAYS_FORK(wend_store_check(s, &err)))
    ROW(wend_store_accept_loss,
        SAYS_FORK(wend_store_accept_loss(s, h.id, &err)))
    ROW(wend_store_export,
        SAYS_FORK(wend_store_export(s, h.id, 0, write_none, NULL, &err)))
    ROW(wend_store_blob, SAYS_FORK(wend_store_blob(s, h.id, "0123456789abcdef",
                                                   write_none, NULL, &err)))
    ROW(wend_store_import,
        SAYS_FORK(wend_store_import(s, STR("x"), NULL, NULL, &err)))
    ROW(wend_store_import_from, SAYS_FORK(wend_store_import_from(
                                    s, read_nothing, NULL, NULL, NULL, &err)))
    ROW(wend_store_origin_of, SAYS_FORK(wend_store_origin_of(s, &origin, &err)))
    ROW(wend_store_distrust, SAYS_FORK(wend_store_distrust(s, &err)))
    ROW(wend_store_prune, SAYS_FORK(wend_store_prune(s, &prune, NULL, &err)))
    ROW(wend_store_close, SAYS_FORK(wend_store_close(s, h.id, NULL, &err)))
    ROW(wend_store_remove, SAYS_FORK(wend_store_remove(s, h.id, &err)))
    ROW(wend_store_replay,
        SAYS_FORK(wend_store_replay(h.rig.rt, h.id, NULL, &run, &err)))
    ROW(wend_plan_learn, SAYS_FORK(wend_plan_learn(h.plan, s, NULL, &err)))
    ROW(wend_store_open,
        SAYS_FORK(wend_store_open(path_of("all.db"), &s, &err)))
    ROW(wend_store_open_read,
        SAYS_FORK(wend_store_open_read(path_of("all.db"), &s, &err)))
    return false;
}

static void hear_verdict(void *ctx, const wend_plan_verdict *v)
{
    (void)ctx, (void)v;
}

static bool check_agent(const char *f)
{
    wend_runtime_options ro = {.size = sizeof ro, .store = h.rig.store};
    wend_tool_options tool = {.size = sizeof tool, .name = "t"};
    wend_command_options c = {.size = sizeof c, .name = "c"};
    wend_mcp_options mcp = {.size = sizeof mcp, .name = "m"};
    const wend_mcp_options *const mcps[] = {&mcp};
    wend_child_options kid = {.size = sizeof kid, .name = "k"};
    wend_trace_options trace = {.size = sizeof trace, .url = "http://[::1]/"};
    wend_trace_counts traced = {.size = sizeof traced};
    wend_model_list *models = NULL;
    const wend_str relic = STR("x");
    wend_agent *a = h.rig.agent;

    ROW(wend_runtime_new, SAYS_FORK(wend_runtime_new(&ro, &rt, &err)))
    ROW(wend_runtime_free, NOTHING(wend_runtime_free(h.rig.rt)))
    ROW(wend_runtime_fd, wend_runtime_fd(h.rig.rt) == -1)
    ROW(wend_runtime_timeout_ms, wend_runtime_timeout_ms(h.rig.rt) == -1)
    ROW(wend_runtime_pump, REFUSED(wend_runtime_pump(h.rig.rt)))
    ROW(wend_runtime_wakeup, REFUSED(wend_runtime_wakeup(h.rig.rt)))
    ROW(wend_runtime_trace,
        SAYS_FORK(wend_runtime_trace(h.rig.rt, &trace, &err)))
    ROW(wend_runtime_trace_flush,
        REFUSED(wend_runtime_trace_flush(h.rig.rt, 1)))
    ROW(wend_runtime_trace_counts,
        REFUSED(wend_runtime_trace_counts(h.rig.rt, &traced)))
    ROW(wend_agent_new,
        SAYS_FORK(wend_agent_new(h.rig.rt, &h.rig.agent_options, &agent, &err)))
    ROW(wend_agent_free, NOTHING(wend_agent_free(a)))
    ROW(wend_agent_add_tool, SAYS_FORK(wend_agent_add_tool(a, &tool, &err)))
    ROW(wend_agent_add_builtin,
        SAYS_FORK(wend_agent_add_builtin(a, "glob", &err)))
    ROW(wend_agent_add_command, SAYS_FORK(wend_agent_add_command(a, &c, &err)))
    ROW(wend_agent_add_mcp, SAYS_FORK(wend_agent_add_mcp(a, &mcp, &err)))
    ROW(wend_agent_add_mcps, REFUSED(wend_agent_add_mcps(a, mcps, 1, NULL)))
    ROW(wend_agent_add_agent, SAYS_FORK(wend_agent_add_agent(a, &kid, &err)))
    ROW(wend_agent_add_kv, SAYS_FORK(wend_agent_add_kv(a, "kv", 0, &err)))
    ROW(wend_agent_add_relic,
        SAYS_FORK(wend_agent_add_relic(a, STR("x"), NULL, &err)))
    ROW(wend_agent_add_relics,
        REFUSED(wend_agent_add_relics(a, &relic, NULL, 1, NULL)))
    ROW(wend_models_ask, SAYS_FORK(wend_models_ask(
                             h.rig.rt, &h.rig.agent_options, &models, &err)))
    ROW(wend_models_free, NOTHING(wend_models_free(NULL)))
    ROW(wend_agent_load,
        SAYS_FORK(wend_agent_load(h.rig.rt, NULL, NULL, &agent, &err)))
    ROW(wend_agent_of_run,
        SAYS_FORK(wend_agent_of_run(h.rig.rt, h.id, NULL, &agent, &err)))
    ROW(wend_part_check, SAYS_FORK(wend_part_check(&p, a, NULL, &err)))
    ROW(wend_agent_tool, !wend_agent_tool(a, 0))
    ROW(wend_run_start,
        SAYS_FORK(wend_run_start(a, STR("x"), NULL, &run, &err)))
    ROW(wend_run_start_plan,
        SAYS_FORK(wend_run_start_plan(a, h.plan, NULL, NULL, &run, &err)))
    ROW(wend_run_follow,
        SAYS_FORK(wend_run_follow(a, h.id, STR("x"), NULL, &run, &err)))
    ROW(wend_run_resume, SAYS_FORK(wend_run_resume(a, h.id, NULL, &run, &err)))
    ROW(wend_run_fork,
        SAYS_FORK(wend_run_fork(a, h.id, NULL, NULL, &run, &err)))
    return false;
}

static bool check_run(const char *f)
{
    wend_outcome outcome;

    ROW(wend_run_next, REFUSED(wend_run_next(h.run, &event)) &&
                           REFUSED(wend_run_next(h.replay, &event)))
    ROW(wend_run_next_for, REFUSED(wend_run_next_for(h.run, 1, &event)))
    ROW(wend_run_poll, REFUSED(wend_run_poll(h.run, &event)))
    ROW(wend_run_listen, REFUSED(wend_run_listen(h.run, NULL, NULL)))
    ROW(wend_run_listen_release,
        REFUSED(wend_run_listen_release(h.run, NULL, NULL, NULL)))
    ROW(wend_run_wait, REFUSED(wend_run_wait(h.run, &text)))
    ROW(wend_run_say, REFUSED(wend_run_say(h.run, STR("x"))))
    ROW(wend_run_say_parts, REFUSED(wend_run_say_parts(h.run, STR(""), &p, 1)))
    ROW(wend_run_approve, REFUSED(wend_run_approve(h.run, STR("x"), 1, NULL)))
    ROW(wend_run_approve_changed,
        REFUSED(wend_run_approve_changed(h.run, STR("x"), STR("{}"), NULL)))
    ROW(wend_run_approve_always,
        REFUSED(wend_run_approve_always(h.run, STR("x"), true, NULL)))
    ROW(wend_run_pause, REFUSED(wend_run_pause(h.run)))
    ROW(wend_run_continue, REFUSED(wend_run_continue(h.run)))
    ROW(wend_run_compact, REFUSED(wend_run_compact(h.run, STR("x"))))
    ROW(wend_run_cancel, REFUSED(wend_run_cancel(h.run)))
    ROW(wend_run_cancel_by, REFUSED(wend_run_cancel_by(h.run, "x")))
    ROW(wend_run_child, !wend_run_child(h.run, 0))
    ROW(wend_run_id, !wend_run_id(h.run))
    ROW(wend_run_outcome, REFUSED(wend_run_outcome(h.run, &outcome)))
    ROW(wend_run_error, says_fork(wend_run_error(h.run)))
    ROW(wend_run_free, NOTHING(wend_run_free(h.run)))
    ROW(wend_call_id, !wend_call_id(h.calls[0]).ptr)
    ROW(wend_call_name, !wend_call_name(h.calls[0]).ptr)
    ROW(wend_call_args, !wend_call_args(h.calls[0]).ptr)
    ROW(wend_call_key, !wend_call_key(h.calls[0]).ptr)
    ROW(wend_call_canceled, wend_call_canceled(h.calls[0]))
    ROW(wend_call_attach, SAYS_FORK(wend_call_attach(h.calls[0], &p, &err)))
    ROW(wend_call_progress, REFUSED(wend_call_progress(h.calls[0], "x")))
    ROW(wend_call_return, REFUSED(wend_call_return(h.calls[0], STR("x"))))
    ROW(wend_call_fail, REFUSED(wend_call_fail(h.calls[0], "x")))
    return false;
}

static bool check_rest(const char *f)
{
    wend_sim_options sim = {
        .size = sizeof sim, .agent = knock, .plan = h.plan, .seeds = 1};
    wend_sim_report report = {.size = sizeof report};

    ROW(wend_collector_add, REFUSED(wend_collector_add(h.collector, h.copy)))
    ROW(wend_collector_text, !wend_collector_text(h.collector).ptr)
    ROW(wend_collector_answer, !wend_collector_answer(h.collector).ptr)
    ROW(wend_collector_get, !wend_collector_get(h.collector, WEND_RUN_START, 0))
    ROW(wend_collector_free, NOTHING(wend_collector_free(h.collector)))
    ROW(wend_dialect_feed, REFUSED(wend_dialect_feed(h.dialect, h.copy, &text)))
    ROW(wend_dialect_interrupt,
        REFUSED(wend_dialect_interrupt(h.dialect, &text)))
    ROW(wend_dialect_free, NOTHING(wend_dialect_free(h.dialect)))
    ROW(wend_plan_preview, SAYS_FORK(wend_plan_preview(
                               h.rig.agent, h.plan, hear_verdict, NULL, &err)))
    ROW(wend_plan_describe,
        SAYS_FORK(wend_plan_describe(h.plan, WEND_PLAN_JSON, &text, &err)))
    ROW(wend_plan_free, NOTHING(wend_plan_free(h.plan)))
    ROW(wend_laws_add, SAYS_FORK(wend_laws_add(h.laws, h.copy, &err)))
    ROW(wend_laws_end, SAYS_FORK(wend_laws_end(h.laws, &err)))
    ROW(wend_laws_free, NOTHING(wend_laws_free(h.laws)))
    ROW(wend_sim_run, SAYS_FORK(wend_sim_run(&sim, &report, &err)))
    /* Take no handle: plain data, or what a child makes itself. */
    ROW(wend_version, wend_version() != NULL)
    ROW(wend_status_name, wend_status_name(WEND_OK) != NULL)
    ROW(wend_event_name, wend_event_name(WEND_RUN_START) != NULL)
    ROW(wend_event_type_of, wend_event_type_of("run_end") == WEND_RUN_END)
    ROW(wend_event_is_delta, wend_event_is_delta(WEND_TEXT_DELTA))
    ROW(wend_outcome_name, wend_outcome_name(WEND_OUTCOME_OK) != NULL)
    ROW(wend_class_name, wend_class_name(WEND_CLASS_READ) != NULL)
    ROW(wend_category_name, wend_category_name(WEND_CATEGORY_GENERAL) != NULL)
    ROW(wend_risk_name, wend_risk_name((wend_risk)0) != NULL)
    ROW(wend_builtin, wend_builtin(0) != NULL)
    ROW(wend_manifest_open,
        wend_manifest_open("/none", NULL, &manifest, &err) == WEND_E_NOTFOUND)
    ROW(wend_manifest_check, wend_manifest_check(NULL, &err) == WEND_E_INVAL)
    ROW(wend_manifest_free, NOTHING(wend_manifest_free(NULL)))
    ROW(wend_event_to_json,
        wend_event_to_json(h.copy, &h.json, NULL) == WEND_OK)
    ROW(wend_string_free, NOTHING(wend_string_free(NULL)))
    ROW(wend_event_clone, wend_event_clone(h.event, &h.copy) == WEND_OK)
    ROW(wend_event_free, NOTHING(wend_event_free(NULL)))
    ROW(wend_collector_new, wend_collector_new(&h.collector) == WEND_OK)
    ROW(wend_dialect_name, wend_dialect_name(0) != NULL)
    ROW(wend_dialect_new,
        wend_dialect_new("agio", NULL, &h.dialect, &err) == WEND_OK)
    ROW(wend_laws_new, wend_laws_new(&h.laws) == WEND_OK)
    ROW(wend_plan_parse,
        wend_plan_parse(str_of(plan_text), NULL, &h.plan, &err) == WEND_OK)
    return false;
}

/* One answer for each function, each by a child of its own. */
static bool in_child(bool (*fn)(const char *), const char *arg)
{
    int status = 0;
    pid_t pid = fork();

    if (!pid) {
        alarm(CHILD_SECONDS);
        _exit(fn(arg) ? 0 : 1);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !status)
        return pid > 0 && !status;
    printf("# child: %s %d\n", WIFSIGNALED(status) ? "signal" : "exit",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return false;
}

static bool check_one(const char *f)
{
    return check_store(f) || check_agent(f) || check_run(f) || check_rest(f);
}

static void check_function(void *ctx, const char *name)
{
    (void)ctx;
    tap_ok(in_child(check_one, name), "in a child: %s", name);
}

static void test_functions(void)
{
    int count;

    if (!make_all(path_of("all.db")))
        return;
    count = api_each(check_function, NULL);
    tap_ok(count > 80, "%d functions of the headers", count);
    tap_ok(wend_call_return(h.calls[0], STR("late")) == WEND_OK &&
               wend_run_wait(h.run, &text) == WEND_OK,
           "the parent goes on");
    tap_is_str(text, "done", "... to the end");
    free_all();
}

/* ---- What a child makes itself ------------------------------------------- */

static bool runs_alone(const char *url)
{
    struct rig r = {.err = {0}};
    wend_run *own;
    bool good;

    if (!rig_open(&r, url, "script:{\"turns\":[{\"text\":\"mine\"}]}"))
        return false;
    own = rig_start(&r, NULL);
    good = own && wend_run_wait(own, &text) == WEND_OK &&
           str_eq(text, STR("mine"));
    wend_run_free(own);
    rig_close(&r);
    return good;
}

static bool makes_own(const char *url)
{
    return runs_alone(url) && runs_alone(url);
}

/* A child of a child: what the first one has made is not the second's. */
static bool makes_own_twice(const char *url)
{
    struct rig r = {.err = {0}};
    bool good = rig_open(&r, url, script) && in_child(makes_own, path_of("2"));
    pid_t pid = fork();
    int status = 1;

    if (!pid)
        _exit(!(wend_runtime_pump(r.rt) == WEND_E_MISUSE &&
                wend_runtime_pump(h.rig.rt) == WEND_E_MISUSE));
    waitpid(pid, &status, 0);
    good = good && !status && wend_runtime_pump(r.rt) == WEND_OK;
    rig_close(&r);
    return good;
}

static void test_own(void)
{
    if (WITH_TSAN) {
        tap_ok(true, "own handles in a child # SKIP with TSan");
        return;
    }
    if (!make_all(path_of("own.db")))
        return;
    tap_ok(in_child(makes_own, NULL), "a child runs in memory");
    tap_ok(in_child(makes_own, path_of("other.db")),
           "a child runs in a store that its parent has not open");
    tap_ok(in_child(makes_own_twice, path_of("third.db")),
           "a child of a child as well");
    free_all();
    tap_ok(in_child(makes_own, path_of("own.db")),
           "... and in one that its parent has closed");
}

/* ---- Forks while others are at work -------------------------------------- */

static atomic_bool busy;

static void *write_much(void *arg)
{
    struct rig r = {.err = {0}};
    wend_str answer;

    rig_open(&r, arg, "script:{\"turns\":[{\"text\":\"x\"}]}");
    while (atomic_load(&busy)) {
        wend_run *own = NULL;

        if (wend_run_start(r.agent, STR("x"), NULL, &own, NULL) == WEND_OK)
            wend_run_wait(own, &answer);
        wend_run_free(own);
    }
    rig_close(&r);
    return NULL;
}

/* SQLite has locks for all of the process: a thread that holds one at the
 * fork is not there to let it go. */
static void test_busy(void)
{
    char paths[2][128];
    pthread_t threads[2];
    int good = 0;

    if (WITH_TSAN) {
        tap_ok(true, "forks beside writers # SKIP with TSan");
        return;
    }
    atomic_store(&busy, true);
    for (int i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/busy%d.db", folder, i);
        pthread_create(&threads[i], NULL, write_much, paths[i]);
    }
    for (int i = 0; i < FORKS; i++)
        good += in_child(makes_own, path_of("beside.db"));
    atomic_store(&busy, false);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    tap_ok(good >= FORKS - FORKS_LOST_MAX,
           "%d of %d children of a process whose threads write", good, FORKS);
}

/* ---- Locks --------------------------------------------------------------- */

/* A host with a run under way, and a helper that it has forked. The helper
 * lives until `hold` is closed, the other end of `alive` as long as it. */
struct host {
    pid_t pid;
    char id[40]; /* of the run */
    int alive, hold;
};

static void be_host(const char *url, int alive, int hold)
{
    char byte;

    alarm(CHILD_SECONDS);
    if (!freopen("/dev/null", "w", stdout)) /* its checks are not ours */
        _exit(1);
    make_all(url);
    if (!fork()) /* one that knows nothing of wend */
        _exit(read(hold, &byte, 1) != 0);
    if (write(alive, h.id, sizeof h.id) != sizeof h.id)
        _exit(1);
    for (;;)
        pause();
}

static bool start_host(const char *url, struct host *out)
{
    int alive[2], hold[2];

    memset(out, 0, sizeof *out);
    if (pipe(alive) || pipe(hold) || (out->pid = fork()) < 0)
        return false;
    if (!out->pid) {
        close(alive[0]);
        close(hold[1]);
        be_host(url, alive[1], hold[0]);
    }
    close(alive[1]);
    close(hold[0]);
    out->alive = alive[0];
    out->hold = hold[1];
    return read(out->alive, out->id, sizeof out->id) == sizeof out->id;
}

static void test_lock(void)
{
    struct rig r = {.err = {0}};
    wend_run *again = NULL;
    struct host host;
    char byte;

    if (!tap_ok(start_host(path_of("lock.db"), &host), "a host with a helper"))
        return;
    rig_open(&r, path_of("lock.db"), script);
    rig_add(&r, "later", tool_echo, WEND_CLASS_READ, NULL);
    tap_ok(wend_run_resume(r.agent, host.id, NULL, &again, &r.err) ==
               WEND_E_BUSY,
           "its run is busy while it lives");
    kill(host.pid, SIGKILL);
    waitpid(host.pid, NULL, 0);
    tap_ok(!fcntl(host.alive, F_SETFL, O_NONBLOCK) &&
               read(host.alive, &byte, 1) < 0,
           "the helper outlives it");
    tap_ok(wend_run_resume(r.agent, host.id, NULL, &again, &r.err) == WEND_OK &&
               wend_run_wait(again, &text) == WEND_OK,
           "... and the run can be resumed at once: %s", r.err.message);
    close(host.hold);
    fcntl(host.alive, F_SETFL, 0);
    tap_ok(read(host.alive, &byte, 1) == 0, "the helper ends");
    close(host.alive);
    wend_run_free(again);
    rig_close(&r);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    test_lock();
    test_functions();
    test_own();
    test_busy();
    dir_remove(folder);
    return tap_done();
}

/*
 * test_resume.c - runs that were left in the middle are taken up again.
 *
 * A run that is freed before its end is as one whose process died, but that
 * its last deltas are kept; tests/crash kills real processes.
 */
#include "fault.h"
#include "lib/run/run.h"
#include "run_help.h"

#define TEXT(t) "{\"text\":\"" t "\"}"
#define CALL(tool) \
    "{\"text\":\"hm \",\"calls\":[{\"name\":\"" tool "\",\"args\":{}}]}"
#define SCRIPT(turns) "script:{\"turns\":[" turns "]}"
#define SLOW(t) "{\"text\":\"" t "\",\"delay\":\"5ms\",\"chunk\":1}"

/* Ends a run before its time: after the n-th event of that type. */
static void leave(struct rig *r, char id[40], wend_event_type type, int n)
{
    wend_run *run = rig_start(r, NULL);
    const wend_event *ev;
    wend_status s;

    snprintf(id, 40, "%s", wend_run_id(run));
    while ((s = wend_run_next(run, &ev)) == WEND_OK)
        if (ev->type == type && !--n)
            break;
    tap_is_i64(s, WEND_OK, "the run came to %s", wend_event_name(type));
    wend_run_free(run);
}

static wend_run *take_up(struct rig *r, const char *id)
{
    wend_run *run = NULL;
    wend_status s = wend_run_resume(r->agent, id, NULL, &run, &r->err);

    tap_ok(s == WEND_OK, "resumed: %s", s ? r->err.message : "ok");
    return run;
}

static void add_tools(struct rig *r, wend_call **kept)
{
    rig_add(r, "later", tool_later, WEND_CLASS_UNSAFE, kept);
    rig_add(r, "later_read", tool_later, WEND_CLASS_READ, kept);
}

/* What the resumed part looks like, for both stores. */
static const struct story {
    const char *why, *script;
    wend_event_type left; /* after the n-th event of this type */
    int n;
    const char *wanted, *answer;
    wend_unknown on_unknown;
} stories[] = {
    {"a text that was cut off is said again", SCRIPT(SLOW("hello")),
     WEND_TEXT_DELTA, 2,
     "run_resume model_end(superseded) model_start text_delta* model_end(ok) "
     "turn_end metrics run_end(ok)",
     "hello", 0},
    {"the second turn is the script's second",
     SCRIPT(CALL("echo") "," SLOW("two") "," TEXT("three")), WEND_MODEL_START,
     2,
     "run_resume model_end(superseded) model_start text_delta* model_end(ok) "
     "turn_end metrics run_end(ok)",
     "two", 0},
    {"attempts that failed count",
     SCRIPT("{\"error\":{\"code\":\"network\",\"message\":\"x\"}},"
            "{\"text\":\"a\",\"first_delay\":\"50ms\"},{\"text\":\"b\"}"),
     WEND_MODEL_RETRY, 1,
     "run_resume model_end(superseded) model_start text_delta* model_end(ok) "
     "turn_end metrics run_end(ok)",
     "a", 0},
    {"a call that reads runs again",
     SCRIPT("{\"calls\":[{\"name\":\"later_read\",\"args\":{}}],"
            "\"usage\":{\"input\":1}}," TEXT("done")),
     WEND_MODEL_END, 1,
     "run_resume call_end(superseded) call_start call_end(ok) turn_end metrics "
     "turn_start "
     "context_start context_end model_start text_delta* model_end(ok) "
     "turn_end metrics run_end(ok)",
     "done", 0},
    {"an unsafe one does not", SCRIPT(CALL("later") "," TEXT("done")),
     WEND_CALL_START, 1,
     "run_resume call_end(unknown) turn_end metrics turn_start "
     "context_start context_end model_start text_delta* model_end(ok) "
     "turn_end metrics run_end(ok)",
     "done", 0},
    {"unless it shall", SCRIPT(CALL("later") "," TEXT("done")), WEND_CALL_START,
     1,
     "run_resume call_end(superseded) call_start call_end(ok) turn_end metrics "
     "turn_start "
     "context_start context_end model_start text_delta* model_end(ok) "
     "turn_end metrics run_end(ok)",
     "done", WEND_UNKNOWN_RETRY},
    {"or the run ends", SCRIPT(CALL("later") "," TEXT("done")), WEND_CALL_START,
     1, "run_resume call_end(unknown) control turn_end metrics run_end(failed)",
     "hm ", WEND_UNKNOWN_STOP},
};

/* The whole log, and that it has every number once. */
static void check_log(struct rig *r, const char *id, const char *why,
                      const char *text)
{
    wend_collector *all = NULL;
    wend_run *run = NULL;
    const wend_event *ev;
    int64_t seq = 0, starts = 0, ends = 0;
    bool whole = true;
    wend_status s = wend_store_replay(r->rt, id, NULL, &run, &r->err);

    wend_collector_new(&all);
    while (s == WEND_OK && (s = wend_run_next(run, &ev)) == WEND_OK) {
        wend_collector_add(all, ev);
        if (!ev->n)
            whole &= ev->seq == ++seq;
        starts += ev->type == WEND_MODEL_START || ev->type == WEND_TURN_START;
        ends += ev->type == WEND_MODEL_END || ev->type == WEND_TURN_END;
    }
    tap_ok(s == WEND_END && whole && seq > 0, "%s: the log is whole", why);
    tap_is_i64(ends, starts, "%s: every start has its end", why);
    if (text)
        tap_is_str(wend_collector_text(all), str_of(text),
                   "%s: what was cut off is not part of the text", why);
    wend_collector_free(all);
    wend_run_free(run);
}

static void tell(const struct story *t, const char *url)
{
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ALL,
                                      .on_unknown = t->on_unknown}};
    struct buf names = {.mem = &rig_mem};
    wend_call *kept[8] = {NULL};
    const wend_event *ev;
    wend_run *run;
    wend_str answer = {0};
    char id[40];

    if (!rig_open(&r, url, t->script))
        return;
    add_tools(&r, kept);
    leave(&r, id, t->left, t->n);
    run = take_up(&r, id);
    while (run && wend_run_next(run, &ev) == WEND_OK) {
        note(&names, ev);
        if (ev->type == WEND_CALL_START) {
            tap_is_i64(ev->u.call_start.attempt, 2, "%s: attempt", t->why);
            while (!kept[1])
                wend_runtime_pump(r.rt);
            tap_ok(str_eq(wend_call_key(kept[0]), wend_call_key(kept[1])),
                   "%s: the same key", t->why);
            wend_call_return(kept[1], STR("late"));
        }
    }
    tap_is_str(buf_view(&names), str_of(t->wanted), "%s", t->why);
    if (run)
        wend_run_wait(run, &answer);
    tap_is_str(answer, str_of(t->answer), "%s: the answer", t->why);
    wend_run_free(run);
    check_log(&r, id, t->why, t == stories ? t->answer : NULL);
    if (kept[0])
        wend_call_return(kept[0], STR("nobody waits"));
    buf_free(&names);
    rig_close(&r);
}

/* Who may not. */
static void test_refused(const char *path)
{
    struct rig r = {0}, other = {0};
    wend_run *run, *none = NULL;
    const wend_event *ev;
    char id[40];

    if (!rig_open(&r, path, SCRIPT(SLOW("hello"))) ||
        !rig_open(&other, path, SCRIPT(SLOW("hello"))))
        return;
    run = rig_start(&r, NULL);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    while (wend_run_next(run, &ev) == WEND_OK && ev->type != WEND_TEXT_DELTA)
        continue;
    tap_is_i64(wend_run_resume(r.agent, id, NULL, &none, &r.err), WEND_E_BUSY,
               "a run that this runtime has under way");
    tap_is_i64(wend_run_resume(other.agent, id, NULL, &none, &other.err),
               WEND_E_BUSY, "a run that another owner has");
    tap_ok(strstr(other.err.message, id), "says which: %s", other.err.message);
    while (wend_run_next(run, &ev) == WEND_OK)
        continue;
    tap_is_i64(wend_run_resume(other.agent, id, NULL, &none, &other.err),
               WEND_E_INVAL, "a run that is over");
    wend_run_free(run);
    tap_is_i64(wend_run_resume(r.agent, "01900000-0000-7000-8000-0123456789ab",
                               NULL, &none, &r.err),
               WEND_E_NOTFOUND, "a run that is none");
    tap_is_i64(wend_run_resume(r.agent, "last", NULL, &none, &r.err),
               WEND_E_INVAL, "what is no id");
    tap_is_i64(wend_run_resume(NULL, id, NULL, &none, &r.err), WEND_E_INVAL,
               "no agent");
    tap_ok(!none, "none of them gives a run");
    rig_close(&r);
    rig_close(&other);
}

/* Another process, with other hands. */
static void test_other_hands(const char *path)
{
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ALL}};
    struct rig other = {.agent_options = {.approve = WEND_APPROVE_DENY,
                                          .limits = {.turns = 1}}};
    wend_call *kept[8] = {NULL};
    struct buf lines = {.mem = &rig_mem};
    wend_run *run;
    char id[40];

    if (!rig_open(&r, path,
                  SCRIPT(CALL("later_read") "," CALL("write") "," TEXT("end"))))
        return;
    add_tools(&r, kept);
    leave(&r, id, WEND_CALL_START, 1);
    rig_close(&r);
    if (!rig_open(&other, path,
                  SCRIPT(TEXT("1") "," CALL("write") "," TEXT("other"))))
        return;
    run = take_up(&other, id);
    if (run)
        read_all(run, NULL, &lines);
    tap_ok(strstr(lines.ptr, "\"code\":\"tool_missing\""),
           "a tool that is gone: its call fails");
    tap_ok(strstr(lines.ptr, "\"outcome\":\"ok\",\"text\":\"other\""),
           "policy and limits are the log's, the model is asked of the agent");
    wend_run_free(run);
    wend_call_return(kept[0], STR("nobody waits"));
    buf_free(&lines);
    rig_close(&other);
}

static void test_waiting(void)
{
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ASK}};
    struct buf names = {.mem = &rig_mem};
    const wend_event *ev;
    wend_run *run;
    char id[40];

    if (!rig_open(&r, NULL, SCRIPT(CALL("write") "," TEXT("done"))))
        return;
    leave(&r, id, WEND_APPROVAL_ASK, 1);
    run = take_up(&r, id);
    while (run && wend_run_next(run, &ev) == WEND_OK) {
        note(&names, ev);
        if (ev->type == WEND_APPROVAL_ASK)
            wend_run_approve(run, ev->u.approval_ask.call, true, "test");
    }
    tap_is_str(buf_view(&names),
               STR("run_resume approval_ask approval_answer call_start "
                   "call_end(ok) turn_end metrics turn_start context_start "
                   "context_end model_start text_delta* model_end(ok) "
                   "turn_end metrics run_end(ok)"),
               "a question is asked again");
    wend_run_free(run);
    buf_free(&names);
    rig_close(&r);
}

/* Left again and again, at every event of what is left of it. */
static void test_again(void)
{
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ALL}};
    const wend_event *ev;
    wend_run *run = NULL;
    wend_status s = WEND_OK;
    int left = 0;
    char id[40];

    if (!rig_open(&r, NULL,
                  SCRIPT(CALL("echo") "," CALL("write") "," TEXT("end"))))
        return;
    leave(&r, id, WEND_TURN_START, 1);
    for (int n = 0; s == WEND_OK && left < 100; left++) {
        s = wend_run_resume(r.agent, id, NULL, &run, &r.err);
        for (n = 0; s == WEND_OK && n <= left % 9; n++)
            s = wend_run_next(run, &ev);
        wend_run_free(run);
        run = NULL;
    }
    /* It may have ended before all of it was read. */
    tap_ok((s == WEND_END || s == WEND_E_INVAL) && left > 3,
           "left %d times, it ends", left);
    check_log(&r, id, "left again and again", NULL);
    rig_close(&r);
}

/* ---- Memory -------------------------------------------------------------- */

static void test_memory(void)
{
    struct rig first = {.agent_options = {.approve = WEND_APPROVE_ALL}};
    int64_t failed = 0;
    wend_status s = WEND_E_NOMEM;
    char id[40];

    if (!rig_open(&first, "memory:", SCRIPT(CALL("echo") "," SLOW("end"))))
        return;
    leave(&first, id, WEND_TEXT_DELTA, 3);
    while (s == WEND_E_NOMEM && failed < 3000) {
        struct fault f = {0};
        wend_runtime_options o = {.size = sizeof o,
                                  .store = first.store,
                                  .alloc = fault_alloc,
                                  .alloc_ctx = &f};
        struct rig r = {0};
        wend_run *run = NULL;

        wend_runtime_new(&o, &r.rt, NULL);
        wend_agent_new(r.rt, &first.agent_options, &r.agent, NULL);
        rig_add(&r, "echo", tool_echo, WEND_CLASS_READ, NULL);
        f.fail_at = f.count + ++failed;
        s = wend_run_resume(r.agent, id, NULL, &run, &r.err);
        f.fail_at = 0;
        wend_run_free(run);
        wend_agent_free(r.agent);
        wend_runtime_free(r.rt);
        if (f.live) {
            tap_ok(false, "allocation %lld: %lld blocks leak",
                   (long long)failed, (long long)f.live);
            break;
        }
    }
    tap_ok(s == WEND_OK && failed > 20,
           "%lld allocations fail, each leaves the run to the next one",
           (long long)failed);
    rig_close(&first);
}

/* ---- The store ----------------------------------------------------------- */

static void append_fails(wend_store *store, struct store_batch *b)
{
    (void)store;
    b->done(b, WEND_E_STORE);
}

static void next_process(const struct rig *first, struct rig *r)
{
    wend_runtime_options o = {.size = sizeof o, .store = first->store};

    wend_runtime_new(&o, &r->rt, NULL);
    wend_agent_new(r->rt, &first->agent_options, &r->agent, NULL);
    rig_add(r, "echo", tool_echo, WEND_CLASS_READ, NULL);
}

/* A run whose store fails cannot be resumed by this runtime, but by one whose
 * store works. */
static void test_store_fails(void)
{
    struct rig first = {.agent_options = {.approve = WEND_APPROVE_ALL}};
    struct rig failed = {0}, fresh = {0};
    const struct store_ops *real;
    struct store_ops broken;
    wend_run *run = NULL;
    const wend_event *ev;
    wend_status s;
    char id[40];

    if (!rig_open(&first, "memory:", SCRIPT(CALL("echo") "," SLOW("end"))))
        return;
    leave(&first, id, WEND_TEXT_DELTA, 3);
    real = first.store->ops;
    broken = *real;
    broken.append = append_fails;
    next_process(&first, &failed);
    first.store->ops = &broken;
    run = take_up(&failed, id);
    tap_is_i64(wend_run_next(run, &ev), WEND_E_STORE,
               "the store fails, the run says so and shows nothing");
    wend_run_free(run);
    run = NULL;
    first.store->ops = real;
    s = wend_run_resume(failed.agent, id, NULL, &run, NULL);
    tap_ok(s == WEND_E_STORE && !run, "this runtime stays failed");
    wend_run_free(run);
    wend_agent_free(failed.agent);
    wend_runtime_free(failed.rt);

    next_process(&first, &fresh);
    run = take_up(&fresh, id);
    while (run && (s = wend_run_next(run, &ev)) == WEND_OK)
        ;
    tap_is_i64(s, WEND_END, "a fresh runtime resumes the run to its end");
    wend_run_free(run);
    wend_agent_free(fresh.agent);
    wend_runtime_free(fresh.rt);
    check_log(&first, id, "the store failed in a resume", NULL);
    rig_close(&first);
}

/* Whoever takes a run up may let it go on for longer. */
static void test_limits(void)
{
    struct rig r = {
        .agent_options = {.approve = WEND_APPROVE_ALL, .limits.turns = 1}};
    wend_run_options o = {.size = sizeof o,
                          .limits = {.turns = 9, .cost_nano = 2500000000}};
    struct buf lines = {.mem = &rig_mem};
    wend_outcome how = WEND_OUTCOME_NONE;
    wend_call *kept[4] = {NULL};
    wend_run *run = NULL;
    char id[40];

    if (!rig_open(&r, NULL,
                  SCRIPT("{\"calls\":[{\"name\":\"later_read\",\"args\":{}}],"
                         "\"first_delay\":\"1ms\"}," TEXT("done"))))
        return;
    add_tools(&r, kept);
    leave(&r, id, WEND_CALL_START, 1);
    if (kept[0])
        wend_call_return(kept[0], STR("too late"));
    memset(kept, 0, sizeof kept);
    o.limits.time_ms = -1;
    tap_is_i64(wend_run_resume(r.agent, id, &o, &run, &r.err), WEND_E_INVAL,
               "a limit below 0: %s", r.err.message);
    o.limits.time_ms = 0;
    if (tap_ok(wend_run_resume(r.agent, id, &o, &run, &r.err) == WEND_OK,
               "resumed with other limits: %s", r.err.message)) {
        while (!kept[0])
            wend_runtime_pump(r.rt);
        wend_call_return(kept[0], STR("x"));
        read_all(run, NULL, &lines);
        wend_run_outcome(run, &how);
        tap_is_i64(how, WEND_OUTCOME_OK, "a second turn may begin");
        tap_ok(strstr(lines.ptr, "\"what\":\"limits\",\"by\":\"api\",\"value\":"
                                 "{\"turns\":9,\"cost\":2.5}"),
               "the log says so");
        tap_is_i64(run->turn.limits.cost_nano, 2500000000, "and what it costs");
        wend_run_free(run);
    }
    buf_free(&lines);
    rig_close(&r);
}

/* A program that the resume adds gets round a rule of the log. */
static void test_gap(void)
{
    static const char *const rules[] = {"!read_file(*.pem)"};
    static const struct {
        const char *why;
        uint32_t take;
        bool told;
    } rows[] = {{"the log's tools", 0, false},
                {"the agent's tools", WEND_FORK_TOOLS, true},
                {"the agent's all", WEND_FORK_CONFIG, true}};

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct rig r = {
            .agent_options = {.rules = rules, .rules_count = tap_count(rules)}};
        wend_run_options o = {.size = sizeof o, .take = rows[i].take};
        struct buf lines = {.mem = &rig_mem};
        wend_run *run = NULL;
        char id[40];

        if (!rig_open(&r, "memory:", SCRIPT(SLOW("1"))))
            return;
        leave(&r, id, WEND_TURN_START, 1);
        wend_agent_free(r.agent);
        wend_agent_new(r.rt, &r.agent_options, &r.agent, &r.err);
        wend_agent_add_builtin(r.agent, "shell", &r.err);
        if (tap_ok(wend_run_resume(r.agent, id, &o, &run, &r.err) == WEND_OK,
                   "gap, %s: %s", rows[i].why, r.err.message))
            read_all(run, NULL, &lines);
        tap_ok(lines.ptr && !strstr(lines.ptr, "rule_gap") == !rows[i].told,
               "gap, %s: told", rows[i].why);
        wend_run_free(run);
        buf_free(&lines);
        rig_close(&r);
    }
}

/* A log of another version, which knew a dialect that this one does not. */
static void test_schemas(void)
{
    static const char schema[] =
        "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\"}";
    static const struct {
        const char *why;
        bool known, of_tool;
        uint32_t take;
        wend_status status;
    } rows[] = {
        {"known", true, true, 0, WEND_OK},
        {"of a tool", false, true, 0, WEND_E_INVAL},
        {"of a tool, another policy", false, true, WEND_FORK_POLICY,
         WEND_E_INVAL},
        {"of a tool, other tools", false, true, WEND_FORK_TOOLS, WEND_OK},
        {"of a tool, another agent", false, true, WEND_FORK_CONFIG, WEND_OK},
        {"of the answer", false, false, 0, WEND_E_INVAL},
        {"of the answer, other tools", false, false, WEND_FORK_TOOLS,
         WEND_E_INVAL},
        {"of the answer, another agent", false, false, WEND_FORK_CONFIG,
         WEND_OK},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct rig r = {.agent_options.schema =
                            rows[i].of_tool ? NULL : schema};
        wend_tool_options t = {.size = sizeof t,
                               .name = "strict",
                               .schema = schema,
                               .fn = tool_echo};
        wend_run_options o = {.size = sizeof o, .take = rows[i].take};
        wend_run *run = NULL;
        char id[40], *year;
        wend_str json;

        if (!rig_open(&r, "memory:", SCRIPT(SLOW("1"))))
            return;
        if (rows[i].of_tool)
            wend_agent_add_tool(r.agent, &t, &r.err);
        agent_config(r.agent, 0, &r.err);
        json = r.agent->configs[0]->json;
        year = json.ptr ? strstr(json.ptr, "2020-12") : NULL;
        if (year && !rows[i].known)
            memcpy(year, "2099", 4);
        leave(&r, id, WEND_TURN_START, 1);
        if (year)
            memcpy(year, "2020", 4);
        tap_is_i64(wend_run_resume(r.agent, id, &o, &run, &r.err),
                   rows[i].status, "schema %s: %s", rows[i].why, r.err.message);
        tap_ok(rows[i].status == WEND_OK ||
                   (strstr(r.err.message, "2099") &&
                    strstr(r.err.message, "-a") &&
                    !strstr(r.err.message, "'strict'") == !rows[i].of_tool),
               "schema %s: says what and how to go on", rows[i].why);
        if (run)
            tap_is_i64(read_all(run, NULL, NULL), WEND_END, "it goes on");
        wend_run_free(run);
        rig_close(&r);
    }
}

int main(void)
{
    char dir[] = "/tmp/wend-resume-XXXXXX", path[64];

    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof path, "%s/wend.db", dir);
    for (size_t i = 0; i < tap_count(stories); i++) {
        tell(&stories[i], NULL);
        tell(&stories[i], path);
    }
    test_refused(path);
    test_other_hands(path);
    test_waiting();
    test_again();
    test_memory();
    test_store_fails();
    for (const char **end = (const char *[]){"", "-wal", "-shm", "-lock", NULL};
         *end; end++) {
        char name[80];

        snprintf(name, sizeof name, "%s%s", path, *end);
        unlink(name);
    }
    rmdir(dir);
    test_limits();
    test_gap();
    test_schemas();
    return tap_done();
}

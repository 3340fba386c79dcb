/*
 * test_misuse.c - hosts that err get a status, not a crash; and every
 * allocation of a whole run may fail.
 */
#include "fault.h"
#include "run_help.h"

static void test_nothing(void)
{
    const wend_event *ev;
    wend_outcome outcome;
    wend_run *run = NULL;
    wend_agent *agent = NULL;
    wend_str text;
    wend_error err;

    tap_ok(wend_runtime_new(NULL, NULL, &err) == WEND_E_INVAL, "no out");
    tap_ok(wend_agent_new(NULL, NULL, &agent, NULL) == WEND_E_INVAL,
           "no runtime");
    tap_ok(wend_agent_add_tool(NULL, NULL, NULL) == WEND_E_INVAL, "no agent");
    tap_ok(wend_agent_add_builtin(NULL, "calculator", NULL) == WEND_E_INVAL,
           "no agent for a builtin");
    tap_ok(wend_run_start(NULL, STR("x"), NULL, &run, &err) == WEND_E_INVAL,
           "no agent to run");
    tap_ok(wend_run_next(NULL, &ev) == WEND_E_INVAL &&
               wend_run_poll(NULL, &ev) == WEND_E_INVAL &&
               wend_run_wait(NULL, &text) == WEND_E_INVAL &&
               wend_run_cancel(NULL) == WEND_E_INVAL &&
               wend_run_cancel_by(NULL, "x") == WEND_E_INVAL &&
               wend_run_say(NULL, STR("x")) == WEND_E_INVAL &&
               wend_run_approve(NULL, STR("x"), true, NULL) == WEND_E_INVAL &&
               wend_run_listen(NULL, NULL, NULL) == WEND_E_INVAL &&
               wend_run_pause(NULL) == WEND_E_INVAL &&
               wend_run_outcome(NULL, &outcome) == WEND_E_INVAL,
           "no run");
    tap_ok(!wend_run_id(NULL) && !wend_run_error(NULL), "nothing about it");
    tap_ok(wend_runtime_pump(NULL) == WEND_E_INVAL &&
               wend_runtime_wakeup(NULL) == WEND_E_INVAL &&
               wend_runtime_fd(NULL) == -1,
           "no runtime to pump");
    tap_ok(wend_call_return(NULL, STR("x")) == WEND_E_INVAL &&
               wend_call_fail(NULL, "x") == WEND_E_INVAL &&
               wend_call_progress(NULL, "x") == WEND_E_INVAL &&
               wend_call_canceled(NULL),
           "no call");
    tap_ok(wend_event_to_json(NULL, NULL, NULL) == WEND_E_INVAL &&
               wend_event_clone(NULL, NULL) == WEND_E_INVAL &&
               !wend_event_name((wend_event_type)999),
           "no event");
    wend_run_free(NULL);
    wend_agent_free(NULL);
    wend_runtime_free(NULL);
    wend_store_free(NULL);
    wend_collector_free(NULL);
    wend_dialect_free(NULL);
    wend_event_free(NULL);
    wend_runs_free(NULL);
    tap_ok(true, "freeing nothing is fine");
}

static void test_options(void)
{
    static const struct {
        const char *why;
        wend_agent_options o;
        const char *says;
    } rows[] = {
        {"no size", {.size = 0, .model = "script:{\"turns\":[]}"}, "size"},
        {"no model", {.size = sizeof(wend_agent_options)}, "model"},
        {"unknown provider",
         {.size = sizeof(wend_agent_options), .model = "gpt"},
         "script:FILE"},
        {"no such file",
         {.size = sizeof(wend_agent_options), .model = "script:/nowhere"},
         "/nowhere"},
        {"broken script",
         {.size = sizeof(wend_agent_options), .model = "script:{\"turns\":1}"},
         "1:10"},
        {"too parallel",
         {.size = sizeof(wend_agent_options),
          .model = "script:{\"turns\":[]}",
          .limits = {.parallel = 65}},
         "64"},
        {"no such effort",
         {.size = sizeof(wend_agent_options),
          .model = "script:{\"turns\":[]}",
          .effort = (wend_effort)(WEND_EFFORT_HIGH + 1)},
         "effort or on_unknown is invalid"},
        {"rules that are not there",
         {.size = sizeof(wend_agent_options),
          .model = "script:{\"turns\":[]}",
          .rules_count = 1},
         "rule 0"},
        {"a network that is not there",
         {.size = sizeof(wend_agent_options),
          .model = "script:{\"turns\":[]}",
          .network_count = 1},
         "network: '' is not a host"},
        {"schema is no JSON",
         {.size = sizeof(wend_agent_options),
          .model = "script:{\"turns\":[]}",
          .schema = "{"},
         "agent: schema: "},
        {"schema is a list",
         {.size = sizeof(wend_agent_options),
          .model = "script:{\"turns\":[]}",
          .schema = "[]"},
         "agent: schema: a JSON object is needed"},
        {"schema does not compile",
         {.size = sizeof(wend_agent_options),
          .model = "script:{\"turns\":[]}",
          .schema = "{\"items\":{\"type\":1}}"},
         "agent: schema: #/items/type must be"},
    };
    struct rig r = {.err = {0}};

    rig_open(&r, NULL, "script:{\"turns\":[]}");
    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_agent *a = NULL;
        wend_error err = {0};

        tap_ok(wend_agent_new(r.rt, &rows[i].o, &a, &err) < 0 && !a &&
                   strstr(err.message, rows[i].says),
               "options: %s: %s", rows[i].why, err.message);
    }
    rig_close(&r);
}

/* Hosts built with other headers: shorter and longer structs. */
static void test_ages(void)
{
    struct {
        wend_run_options o;
        uint64_t later;
    } newer = {.o = {.size = sizeof newer, .user = "u"}};
    wend_run_options older = {.size = offsetof(wend_run_options, take),
                              .take = 1000}; /* which would be refused */
    struct rig r = {.err = {0}};
    struct buf names = {.mem = &rig_mem};
    wend_run *run = NULL;

    rig_open(&r, NULL,
             "script:{\"turns\":[{\"text\":\"a\"},{\"text\":\"b\"}]}");
    run = rig_start(&r, &older);
    read_all(run, &names, NULL);
    tap_ok(strstr(names.ptr, "run_start"),
           "an older host's struct ends where it says");
    wend_run_free(run);
    run = rig_start(&r, &newer.o);
    tap_ok(run != NULL, "a newer host's unused field is fine");
    wend_run_free(run);
    newer.later = 1;
    run = NULL;
    tap_ok(wend_run_start(r.agent, STR("x"), &newer.o, &run, NULL) ==
               WEND_E_INVAL,
           "a newer host's used field is refused");
    buf_free(&names);
    rig_close(&r);
}

/* ---- Sizes that cannot be -------------------------------------------------
 */

static struct rig sized; /* what the calls below work with */

static wend_status of_runtime(const void *o)
{
    wend_runtime *rt = NULL;

    return wend_runtime_new(o, &rt, NULL);
}

static wend_status of_agent(const void *o)
{
    wend_agent *a = NULL;

    return wend_agent_new(sized.rt, o, &a, NULL);
}

static wend_status of_tool(const void *o)
{
    return wend_agent_add_tool(sized.agent, o, NULL);
}

static wend_status of_command(const void *o)
{
    return wend_agent_add_command(sized.agent, o, NULL);
}

static wend_status of_mcp(const void *o)
{
    return wend_agent_add_mcp(sized.agent, o, NULL);
}

static wend_status of_run(const void *o)
{
    wend_run *run = NULL;

    return wend_run_start(sized.agent, STR("x"), o, &run, NULL);
}

static wend_status of_list(const void *o)
{
    wend_runs *runs = NULL;

    return wend_store_list(sized.store, o, &runs, NULL);
}

static const char id[] = "01890000-0000-7000-8000-000000000000";

static wend_status of_request(const void *o)
{
    return wend_store_tell(sized.store, id, o, NULL);
}

static wend_status of_replay(const void *o)
{
    wend_run *run = NULL;

    return wend_store_replay(sized.rt, id, o, &run, NULL);
}

static wend_status of_fork(const void *o)
{
    char fork[37];

    return wend_store_fork(sized.store, id, o, fork, NULL);
}

static wend_status of_prune(const void *o)
{
    return wend_store_prune(sized.store, o, NULL, NULL);
}

static wend_status of_verdict(const void *o)
{
    return wend_store_verify(sized.store, id, NULL,
                             (wend_verdict *)(uintptr_t)o, NULL);
}

static wend_status of_origin(const void *o)
{
    return wend_store_origin_of(sized.store, (wend_store_origin *)(uintptr_t)o,
                                NULL);
}

static wend_status of_plan(const void *o)
{
    wend_plan *p = NULL;

    return wend_plan_parse(STR("x"), o, &p, NULL);
}

static void test_sizes(void)
{
    static const struct {
        const char *what;
        wend_status (*call)(const void *o);
    } calls[] = {
        {"runtime", of_runtime}, {"agent", of_agent},
        {"tool", of_tool},       {"command", of_command},
        {"mcp", of_mcp},         {"run", of_run},
        {"list", of_list},       {"request", of_request},
        {"replay", of_replay},   {"fork", of_fork},
        {"prune", of_prune},     {"verdict", of_verdict},
        {"origin", of_origin},   {"plan", of_plan},
    };
    static const size_t sizes[] = {0, 1, 7, 8, (64 << 10) + 8, SIZE_MAX};
    static union {
        size_t size;
        unsigned char bytes[128 << 10];
    } o;

    memset(&sized, 0, sizeof sized);
    if (!rig_open(&sized, "memory:", "script:{\"turns\":[]}"))
        return;
    for (size_t c = 0; c < tap_count(calls); c++) {
        int refused = 0;

        for (size_t i = 0; i < tap_count(sizes); i++) {
            memset(&o, 0, sizeof o);
            o.size = sizes[i];
            refused += calls[c].call(&o) == WEND_E_INVAL;
        }
        tap_is_i64(refused, tap_count(sizes), "%s: sizes that cannot be",
                   calls[c].what);
    }
    rig_close(&sized);
}

/* An error says what is wrong with the last call alone. */
static void test_error(void)
{
    wend_list_options list = {.size = sizeof list};
    wend_runtime *rt = NULL;
    wend_agent *a = NULL;
    wend_run *run = NULL;
    wend_runs *runs = NULL;
    wend_store *store = NULL;
    wend_plan *p = NULL;
    struct rig r = {.err = {0}};
    const wend_error old = {WEND_E_IO, 1, 2, "old"};
    wend_error err[8];

    if (!rig_open(&r, "memory:", "script:{\"turns\":[{\"text\":\"x\"}]}"))
        return;
    for (size_t i = 0; i < tap_count(err); i++)
        err[i] = old;
    wend_runtime_new(NULL, &rt, &err[0]);
    wend_agent_new(rt, &r.agent_options, &a, &err[1]);
    wend_run_start(a, STR("x"), NULL, &run, &err[2]);
    wend_store_list(r.store, &list, &runs, &err[3]);
    wend_store_open("memory:", &store, &err[4]);
    wend_plan_parse(STR("{\"wend\":\"plan/1\",\"name\":\"p\",\"actions\":[{"
                        "\"id\":\"a\",\"type\":\"llm\",\"prompt\":\"x\"}]}"),
                    NULL, &p, &err[5]);
    wend_agent_add_builtin(a, "calculator", &err[6]);
    wend_store_check(r.store, &err[7]);
    for (size_t i = 0; i < tap_count(err); i++)
        tap_ok(err[i].status == WEND_OK && !err[i].line && !err[i].column &&
                   !err[i].message[0],
               "error %zu is empty after a success: %s", i, err[i].message);
    wend_plan_free(p);
    wend_runs_free(runs);
    wend_run_free(run);
    wend_agent_free(a);
    wend_runtime_free(rt);
    wend_store_free(store);
    rig_close(&r);
}

static void test_tools(void)
{
    wend_tool_options t = {.size = sizeof t, .fn = tool_echo};
    static const struct {
        const char *why, *name, *schema;
        wend_status status;
    } rows[] = {
        {"no name", NULL, NULL, WEND_E_INVAL},
        {"a space in the name", "a b", NULL, WEND_E_INVAL},
        {"taken", "echo", NULL, WEND_E_EXISTS},
        {"schema is no JSON", "new", "{", WEND_E_PARSE},
        {"schema is a list", "new", "[]", WEND_E_INVAL},
        {"schema does not compile", "new", "{\"type\":1}", WEND_E_INVAL},
        {"fine", "new", "{}", WEND_OK},
        {"now taken", "new", "{}", WEND_E_EXISTS},
    };
    struct rig r = {.err = {0}};

    rig_open(&r, NULL, "script:{\"turns\":[]}");
    for (size_t i = 0; i < tap_count(rows); i++) {
        t.name = rows[i].name;
        t.schema = rows[i].schema;
        tap_ok(wend_agent_add_tool(r.agent, &t, &r.err) == rows[i].status,
               "tool: %s", rows[i].why);
    }
    t.name = "bad";
    t.schema = "{\"items\":{\"pattern\":\"(\"}}";
    wend_agent_add_tool(r.agent, &t, &r.err);
    tap_is_str(r.err.message,
               "tool 'bad': schema: #/items/pattern has a bad pattern '(': "
               "missing closing parenthesis",
               "a bad schema: which tool, which place");
    t.schema = NULL;
    t.fn = NULL;
    t.name = "other";
    tap_ok(wend_agent_add_tool(r.agent, &t, &r.err) == WEND_E_INVAL,
           "tool: no function");
    tap_ok(wend_agent_add_builtin(r.agent, "nope", &r.err) == WEND_E_NOTFOUND,
           "tool: no such builtin");
    rig_close(&r);
}

/* ---- Threads ------------------------------------------------------------- */

struct visitor {
    struct rig *r;
    wend_run *run;
    int misuse;
};

static void *visit(void *arg)
{
    struct visitor *v = arg;
    const wend_event *ev;
    wend_agent *a = NULL;
    wend_run *run = NULL;

    v->misuse += wend_run_next(v->run, &ev) == WEND_E_MISUSE;
    v->misuse += wend_run_poll(v->run, &ev) == WEND_E_MISUSE;
    v->misuse += wend_run_say(v->run, STR("x")) == WEND_E_MISUSE;
    v->misuse += wend_runtime_pump(v->r->rt) == WEND_E_MISUSE;
    v->misuse += wend_agent_new(v->r->rt, &v->r->agent_options, &a, NULL) ==
                 WEND_E_MISUSE;
    v->misuse += wend_run_start(v->r->agent, STR("x"), NULL, &run, NULL) ==
                 WEND_E_MISUSE;
    v->misuse += wend_runtime_wakeup(v->r->rt) == WEND_OK;
    return NULL;
}

static void test_threads(void)
{
    struct rig r = {.err = {0}};
    struct visitor v = {.r = &r};
    pthread_t thread;
    wend_str text;

    rig_open(&r, NULL, "script:{\"turns\":[{\"text\":\"still here\"}]}");
    v.run = rig_start(&r, NULL);
    pthread_create(&thread, NULL, visit, &v);
    pthread_join(thread, NULL);
    tap_is_i64(v.misuse, 7, "another thread may only wake up");
    tap_ok(wend_run_wait(v.run, &text) == WEND_OK, "and did no harm");
    tap_is_str(text, "still here", "nor to the answer");
    wend_run_free(v.run);
    rig_close(&r);
}

/* ---- Order of freeing ------------------------------------------------------
 */

static void test_order(void)
{
    wend_call *calls[4] = {0};
    struct rig r = {.err = {0}};
    const wend_event *ev;
    wend_run *run, *running;
    wend_str text;

    rig_open(&r, NULL,
             "script:{\"turns\":[{\"calls\":[{\"name\":\"later\"}]}]}");
    rig_add(&r, "later", tool_later, WEND_CLASS_READ, calls);
    run = rig_start(&r, NULL);
    running = rig_start(&r, NULL);
    while (!calls[0] && wend_run_next(running, &ev) == WEND_OK)
        continue;
    wend_runtime_free(r.rt); /* first of all */
    r.rt = NULL;
    tap_ok(wend_run_next(run, &ev) == WEND_E_MISUSE &&
               wend_run_wait(run, &text) == WEND_E_MISUSE &&
               wend_run_cancel(run) == WEND_E_MISUSE,
           "order: a run without its runtime");
    tap_ok(wend_run_start(r.agent, STR("x"), NULL, &run, NULL) == WEND_E_MISUSE,
           "order: an agent without its runtime");
    tap_ok(wend_call_return(calls[0], STR("late")) == WEND_OK,
           "order: a tool answers nobody");
    if (calls[1])
        wend_call_fail(calls[1], "late too");
    wend_run_free(run);
    wend_run_free(running);
    rig_close(&r);
    tap_ok(true, "order: everything is freed");
}

/* ---- Memory ----------------------------------------------------------------
 */

/* A whole run with two calls and a repair; WEND_OK only if it reached its end.
 */
static wend_status whole_run(struct fault *f)
{
    wend_runtime_options ro = {
        .size = sizeof ro, .alloc = fault_alloc, .alloc_ctx = f};
    wend_agent_options ao = {
        .size = sizeof ao,
        .model = "script:{\"turns\":[{\"text\":\"a\",\"thinking\":\"b\","
                 "\"calls\":[{\"name\":\"echo\",\"args\":{\"x\":[1]}},"
                 "{\"name\":\"nope\"}]},{\"text\":\"end\"},"
                 "{\"purpose\":\"repair\",\"text\":\"{}\"}]}",
        .schema = "{\"type\":\"object\"}"};
    wend_tool_options t = {.size = sizeof t,
                           .name = "echo",
                           .schema = "{\"type\":\"object\"}",
                           .call_class = WEND_CLASS_READ,
                           .fn = tool_echo};
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_run *run = NULL;
    wend_str text;
    wend_status s = wend_runtime_new(&ro, &rt, NULL);

    if (s == WEND_OK)
        s = wend_agent_new(rt, &ao, &agent, NULL);
    if (s == WEND_OK)
        s = wend_agent_add_tool(agent, &t, NULL);
    if (s == WEND_OK)
        s = wend_run_start(agent, STR("go"), NULL, &run, NULL);
    if (s == WEND_OK)
        s = wend_run_wait(run, &text);
    if (s == WEND_OK && !str_eq(text, STR("{}")))
        s = WEND_E_CORRUPT;
    wend_run_free(run);
    wend_agent_free(agent);
    wend_runtime_free(rt);
    return s;
}

static void test_memory(void)
{
    struct fault f = {0};
    int bad = 0, rounds = 0;

    while (fault_next(&f)) {
        wend_status s = whole_run(&f);

        rounds++;
        if (f.live || (s != WEND_OK && s != WEND_E_NOMEM)) {
            bad++;
            printf("# allocation %lld: %s, %lld not freed\n",
                   (long long)f.fail_at, wend_status_name(s),
                   (long long)f.live);
        }
    }
    tap_is_i64(bad, 0, "each of %d allocations failed once: no leak", rounds);
}

int main(void)
{
    test_nothing();
    test_options();
    test_ages();
    test_sizes();
    test_error();
    test_tools();
    test_threads();
    test_order();
    test_memory();
    return tap_done();
}

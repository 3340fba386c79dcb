/*
 * test_client.c - client-side tools: declared, called, answered by the run that
 * follows.
 */
#include "base/json.h"
#include "base/limits.h"
#include "run_help.h"

#define SCRIPT(turns) "script:{\"turns\":[" turns "]}"
#define TEXT(t) "{\"text\":\"" t "\"}"
#define CALL(tool, args) "{\"name\":\"" tool "\",\"args\":" args "}"
#define CALLS(list) "{\"text\":\"hm\",\"calls\":[" list "]}"
#define PICK "{\"name\":\"pick\",\"description\":\"Asks.\"}"
#define NO_RESULT "[the caller gave no result for this call]"

/* What a run gives: its id, run_start and run_end as JSON. */
struct over {
    char id[40];
    struct buf first, last;
};

static void over_free(struct over *o)
{
    buf_free(&o->first);
    buf_free(&o->last);
}

static void read_over(wend_run *run, struct over *out)
{
    const wend_event *ev;

    *out = (struct over){.first.mem = &rig_mem, .last.mem = &rig_mem};
    snprintf(out->id, sizeof out->id, "%s", run ? wend_run_id(run) : "");
    while (run && wend_run_next(run, &ev) == WEND_OK)
        if (ev->type == WEND_RUN_START)
            put_line(&out->first, ev);
        else if (ev->type == WEND_RUN_END)
            put_line(&out->last, ev);
    wend_run_free(run);
}

static bool has(const struct buf *b, const char *text)
{
    return b->ptr && strstr(b->ptr, text);
}

static void is_in(const struct buf *b, const char *text, const char *why)
{
    if (!tap_ok(has(b, text), "%s", why))
        printf("# %s\n# lacks: %s\n", b->ptr ? b->ptr : "", text);
}

static wend_run *follow(struct rig *r, const char *id, wend_str prompt,
                        const wend_run_options *o)
{
    wend_run *run = NULL;

    if (wend_run_follow(r->agent, id, prompt, o, &run, &r->err) != WEND_OK)
        tap_ok(false, "follow: %s", r->err.message);
    return run;
}

static void add_client(struct rig *r, const char *name)
{
    const wend_tool_options t = {
        .size = sizeof t, .name = name, .client = true};

    tap_is_i64(wend_agent_add_tool(r->agent, &t, &r->err), WEND_OK,
               "a client-side tool %s", r->err.message);
}

/* ---- From the call to the answer ----------------------------------------- */

static void test_results(void)
{
    static const struct {
        const char *why, *messages, *prompt, *past;
    } rows[] = {
        {"results, no prompt",
         "[{\"role\":\"tool\",\"call\":\"call_1\",\"text\":\"red\"},"
         "{\"role\":\"tool\",\"call\":\"call_3\",\"text\":\"no\",\"failed\":"
         "true}]",
         NULL,
         "{\"prompt\":\"\",\"messages\":[{\"role\":\"user\",\"text\":"
         "\"hello\"},{\"role\":\"assistant\",\"text\":\"hm\",\"model\":"
         "\"script\",\"calls\":[{\"id\":\"call_1\",\"name\":\"pick\",\"args\":"
         "{\"a\":1}},{\"id\":\"call_2\",\"name\":\"echo\",\"args\":{\"b\":2}},"
         "{\"id\":\"call_3\",\"name\":\"ours\",\"args\":{}}]},{\"role\":"
         "\"tool\",\"call\":\"call_1\",\"name\":\"pick\",\"text\":\"red\"},"
         "{\"role\":\"tool\",\"call\":\"call_2\",\"name\":\"echo\",\"text\":"
         "\"{\\\"b\\\":2}\"},{\"role\":\"tool\",\"call\":\"call_3\",\"name\":"
         "\"ours\",\"text\":\"no\",\"failed\":true}],"},
        {"a result and a prompt",
         "[{\"role\":\"tool\",\"call\":\"call_3\",\"text\":\"x\"}]", "and?",
         "{\"role\":\"tool\",\"call\":\"call_1\",\"name\":\"pick\",\"text\":"
         "\"" NO_RESULT "\",\"failed\":true},{\"role\":\"tool\",\"call\":"
         "\"call_2\",\"name\":\"echo\",\"text\":\"{\\\"b\\\":2}\"},{\"role\":"
         "\"tool\",\"call\":\"call_3\",\"name\":\"ours\",\"text\":\"x\"}],"},
        {"nothing but a prompt", NULL, "and?",
         "\"name\":\"ours\",\"text\":\"" NO_RESULT "\",\"failed\":true}],"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct rig r = {0};
        wend_run_options o = {.size = sizeof o, .client_tools = "[" PICK "]"};
        struct over one, two;

        if (!rig_open(&r, NULL,
                      SCRIPT(CALLS(CALL("pick", "{\"a\":1}") "," CALL(
                          "echo", "{\"b\":2}") "," CALL("ours", "{}")))))
            return;
        add_client(&r, "ours");
        read_over(rig_start(&r, &o), &one);
        is_in(&one.last,
              "{\"outcome\":\"ok\",\"text\":\"hm\",\"metrics\":{\"turns\":1,",
              "the run ends ok");
        is_in(&one.last,
              "\"pending\":[{\"call\":\"call_1\",\"name\":\"pick\",\"args\":{"
              "\"a\":1}},{\"call\":\"call_3\",\"name\":\"ours\",\"args\":{}}]",
              "its calls are pending");
        is_in(&one.first,
              "{\"name\":\"pick\",\"description\":\"Asks.\",\"class\":"
              "\"unsafe\",\"category\":\"general\",\"source\":\"client\"",
              "the config has the tool of the run");
        o = (wend_run_options){.size = sizeof o, .messages = rows[i].messages};
        read_over(follow(&r, one.id, str_of(rows[i].prompt), &o), &two);
        is_in(&two.first, rows[i].past, rows[i].why);
        is_in(&two.first, "\"name\":\"pick\",\"description\"",
              "the tools of that run are offered");
        over_free(&one);
        over_free(&two);
        rig_close(&r);
    }
}

/* The model gets each call with its result, once. */
static void test_answer(void)
{
    wend_run_options o = {
        .size = sizeof o,
        .client_tools = "[" PICK "]",
        .messages =
            "[{\"role\":\"user\",\"text\":\"a\"},{\"role\":\"assistant\","
            "\"calls\":[{\"id\":\"1\",\"name\":\"pick\"}]},{\"role\":"
            "\"tool\",\"call\":\"1\",\"text\":\"red\"}]"};
    struct rig r = {0};
    wend_run *run = NULL;
    struct buf lines = {.mem = &rig_mem};
    wend_str none = {NULL, 0};

    if (!rig_open(&r, NULL, SCRIPT(TEXT("It is ${tool_result}."))))
        return;
    tap_is_i64(wend_run_start(r.agent, none, &o, &run, &r.err), WEND_OK,
               "a start with results and no prompt %s", r.err.message);
    if (run)
        read_all(run, NULL, &lines);
    is_in(&lines, "\"outcome\":\"ok\",\"text\":\"It is red.\"",
          "the model saw the result");
    is_in(&lines, "\"messages\":3,", "in three messages");
    wend_run_free(run);
    run = NULL;
    o.messages = "[{\"role\":\"user\",\"text\":\"a\"},{\"role\":\"assistant\","
                 "\"text\":\"b\"}]";
    tap_is_i64(wend_run_start(r.agent, none, &o, &run, &r.err), WEND_E_INVAL,
               "behind an answer a prompt is needed");
    buf_free(&lines);
    rig_close(&r);
}

/* A client-side call stays what it is while others of its message run. */
static void test_resume(void)
{
    wend_run_options o = {.size = sizeof o, .client_tools = "[" PICK "]"};
    wend_call *open[3] = {NULL};
    struct rig r = {0};
    wend_run *run, *again = NULL;
    const wend_event *ev;
    struct over over;
    char id[40];

    if (!rig_open(&r, NULL,
                  SCRIPT(CALLS(CALL("pick", "{}") "," CALL("late", "{}")))))
        return;
    rig_add(&r, "late", tool_later, WEND_CLASS_READ, open);
    run = rig_start(&r, &o);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    while (!open[0] && wend_run_next(run, &ev) == WEND_OK)
        continue;
    wend_run_free(run);
    wend_call_return(open[0], STR("too late"));
    open[0] = NULL;
    tap_is_i64(wend_run_resume(r.agent, id, NULL, &again, &r.err), WEND_OK,
               "resumed %s", r.err.message);
    while (again && !open[0] && wend_run_next(again, &ev) == WEND_OK)
        continue;
    wend_call_return(open[0], STR("now"));
    read_over(again, &over);
    is_in(&over.last, "\"pending\":[{\"call\":\"call_1\"",
          "the call is still pending");
    over_free(&over);
    rig_close(&r);
}

/* ---- Which tools a run has ----------------------------------------------- */

static void test_replaced(void)
{
    static const struct {
        const char *why, *tools, *has, *lacks;
    } rows[] = {
        {"none named: those of the run before", NULL, "\"name\":\"pick\"",
         "\"name\":\"other\""},
        {"an empty list", "[]", "\"name\":\"ours\"", "\"name\":\"pick\""},
        {"others", "[{\"name\":\"other\"}]", "\"name\":\"other\"",
         "\"name\":\"pick\""},
        {"one of the agent's own",
         "[{\"name\":\"ours\",\"description\":\"new\"}]",
         "\"name\":\"ours\",\"description\":\"new\"",
         "\"name\":\"ours\",\"description\":\"\""},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct rig r = {0};
        wend_run_options o = {.size = sizeof o, .client_tools = "[" PICK "]"};
        struct over one, two;

        if (!rig_open(&r, NULL, SCRIPT(TEXT("a"))))
            return;
        add_client(&r, "ours");
        read_over(rig_start(&r, &o), &one);
        o.client_tools = rows[i].tools;
        read_over(follow(&r, one.id, STR("x"), &o), &two);
        tap_ok(has(&two.first, rows[i].has) && !has(&two.first, rows[i].lacks),
               "%s", rows[i].why);
        over_free(&one);
        over_free(&two);
        rig_close(&r);
    }
}

static void test_refused(void)
{
    static const struct {
        const char *tools, *why;
        wend_status status;
        bool plan;
    } rows[] = {
        {"", "client_tools", WEND_E_INVAL, false},
        {"{}", "must be a list", WEND_E_INVAL, false},
        {"[1]", "[0]", WEND_E_INVAL, false},
        {"[{}]", "needs 'name'", WEND_E_INVAL, false},
        {"[{\"name\":\"a b\"}]", "client_tools[0].name", WEND_E_INVAL, false},
        {"[" PICK "," PICK "]",
         "client_tools[1]: the name 'pick' is used "
         "twice",
         WEND_E_EXISTS, false},
        {"[{\"name\":\"echo\"}]", "'echo' is a tool that the agent executes",
         WEND_E_EXISTS, false},
        {"[{\"name\":\"p\",\"schema\":{\"type\":\"x\"}}]", "tool 'p': schema",
         WEND_E_INVAL, false},
        {"[{\"name\":\"p\",\"schema\":1}]", "schema", WEND_E_INVAL, false},
        {"[{\"name\":\"p\",\"fn\":1}]", "'fn'", WEND_E_INVAL, false},
        {"[]", "writes plans", WEND_E_INVAL, true},
    };
    struct rig r = {0};
    struct buf many = {.mem = &rig_mem};

    if (!rig_open(&r, NULL, SCRIPT(TEXT("a"))))
        return;
    for (size_t i = 0; i < tap_count(rows); i++) {
        const wend_run_options o = {.size = sizeof o,
                                    .client_tools = rows[i].tools,
                                    .plan = rows[i].plan};
        wend_run *run = NULL;
        wend_status s = wend_run_start(r.agent, STR("x"), &o, &run, &r.err);

        if (!tap_ok(s == rows[i].status && !run &&
                        strstr(r.err.message, rows[i].why),
                    "refused: %s", r.err.message))
            printf("# %s: %d\n", rows[i].why, (int)s);
        wend_run_free(run);
    }
    for (int n = CLIENT_TOOLS_MAX; n <= CLIENT_TOOLS_MAX + 1; n++) {
        wend_run_options o = {.size = sizeof o};
        wend_run *run = NULL;

        buf_clear(&many);
        json_open(&many, NULL, '[');
        for (int i = 0; i < n; i++) {
            json_open(&many, NULL, '{');
            json_key(&many, "name");
            buf_fmt(&many, "\"t%d\"", i);
            json_close(&many, '}');
        }
        json_close(&many, ']');
        o.client_tools = many.ptr;
        tap_ok((wend_run_start(r.agent, STR("x"), &o, &run, &r.err) ==
                WEND_OK) == (n == CLIENT_TOOLS_MAX),
               "%d tools", n);
        wend_run_free(run);
    }
    buf_free(&many);
    rig_close(&r);
}

static void test_declared(void)
{
    static const struct {
        const char *why;
        wend_tool_options t;
        wend_status status;
    } rows[] = {
        {"it has no function", {.name = "a", .client = true}, WEND_OK},
        {"it must not have one",
         {.name = "b", .client = true, .fn = tool_echo},
         WEND_E_INVAL},
        {"another needs one", {.name = "c"}, WEND_E_INVAL},
        {"nothing is given again",
         {.name = "d",
          .client = true,
          .call_class = WEND_CLASS_READ,
          .cache_ms = 1},
         WEND_E_INVAL},
        {"the name of another tool",
         {.name = "echo", .client = true},
         WEND_E_EXISTS},
        {"the name of a client-side one",
         {.name = "a", .fn = tool_echo},
         WEND_E_EXISTS},
    };
    const char *const argv[] = {"true"};
    wend_command_options c = {.size = sizeof c,
                              .name = "page",
                              .client = true,
                              .argv = argv,
                              .argv_count = 1};
    struct rig r = {0};

    if (!rig_open(&r, NULL, SCRIPT(TEXT("a"))))
        return;
    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_tool_options t = rows[i].t;

        t.size = sizeof t;
        tap_is_i64(wend_agent_add_tool(r.agent, &t, &r.err), rows[i].status,
                   "%s", rows[i].why);
    }
    tap_is_i64(wend_agent_add_command(r.agent, &c, &r.err), WEND_E_INVAL,
               "no program");
    c.argv_count = 0;
    tap_is_i64(wend_agent_add_command(r.agent, &c, &r.err), WEND_OK,
               "described like one");
    tap_ok(has_tool(r.agent, "a") && has_tool(r.agent, "page"), "listed");
    rig_close(&r);
}

/* ---- Where they are not offered ------------------------------------------ */

static void test_plan(void)
{
    static const char text[] = "wend: plan/1\nname: p\nactions:\n- {name: a, "
                               "type: tool, target: ours}\n";
    wend_run_options o = {.size = sizeof o, .client_tools = "[]"};
    struct rig r = {0};
    wend_plan *plan = NULL;
    wend_run *run = NULL;

    if (!rig_open(&r, NULL, SCRIPT(TEXT("a"))))
        return;
    add_client(&r, "ours");
    tap_is_i64(wend_plan_parse(str_of(text), NULL, &plan, &r.err), WEND_OK,
               "a plan");
    tap_ok(wend_run_start_plan(r.agent, plan, NULL, NULL, &run, &r.err) ==
                   WEND_E_INVAL &&
               strstr(r.err.message, "client-side tool"),
           "an action: %s", r.err.message);
    tap_ok(wend_run_start_plan(r.agent, plan, NULL, &o, &run, &r.err) ==
                   WEND_E_INVAL &&
               strstr(r.err.message, "client_tools"),
           "tools of the run: %s", r.err.message);
    wend_plan_free(plan);
    rig_close(&r);
}

static void test_child(void)
{
    struct rig r = {0}, inner = {0};
    wend_agent_options o = {
        .size = sizeof o,
        .model = SCRIPT(CALLS(CALL("ours", "{}")) "," TEXT("${tool_result}"))};
    wend_child_options child = {.size = sizeof child, .name = "inner"};
    struct buf lines = {.mem = &rig_mem};
    wend_run *run;

    r.agent_options.approve = WEND_APPROVE_ALL;
    if (!rig_open(&r, NULL,
                  SCRIPT(CALLS(CALL("task", "{\"agent\":\"inner\",\"prompt\":"
                                            "\"do\"}")) "," TEXT("done"))) ||
        wend_agent_new(r.rt, &o, &inner.agent, &r.err) != WEND_OK)
        return;
    add_client(&inner, "ours");
    child.agent = inner.agent;
    wend_agent_add_agent(r.agent, &child, &r.err);
    tap_is_i64(wend_agent_add_builtin(r.agent, "task", &r.err), WEND_OK,
               "a parent %s", r.err.message);
    run = rig_start(&r, NULL);
    read_all(run, NULL, &lines);
    is_in(&lines, "there is no tool 'ours'", "a child has none");
    is_in(&lines, "\"text\":\"done\"", "the parent ends");
    wend_run_free(run);
    wend_agent_free(inner.agent);
    buf_free(&lines);
    rig_close(&r);
}

int main(void)
{
    test_results();
    test_answer();
    test_resume();
    test_replaced();
    test_refused();
    test_declared();
    test_plan();
    test_child();
    return tap_done();
}

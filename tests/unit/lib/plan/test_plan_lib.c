/*
 * test_plan_lib.c - plans through the library: tools, values, ends.
 */
#include "base/json.h"
#include "run_help.h"

#define PLAN(options, actions) \
    "wend: plan/1\nname: p\n" options "actions: [" actions "]\n"
#define ACT(name, target, rest) \
    "{name: " name ", type: tool, target: " target ", mode: async" rest "}"

static const char script[] =
    "script:{\"turns\":["
    "{\"when\":\"one\",\"text\":\"1\",\"first_delay\":\"500ms\"},"
    "{\"when\":\"two\",\"error\":{\"code\":\"service\"}},"
    "{\"when\":\"two\",\"text\":\"2\"},"
    "{\"when\":\"1 2\",\"text\":\"both\"},"
    "{\"when\":\"wait\",\"text\":\"x\",\"first_delay\":\"20ms\"},"
    "{\"when\":\"slow\",\"text\":\"x\",\"first_delay\":\"10s\"}]}";

static wend_call *unanswered[4];
static wend_status tool_talk(void *ctx, wend_call *call)
{
    (void)ctx;
    wend_call_progress(call, "half ");
    return wend_call_return(call, (wend_str){"[1, 2]", 6});
}

/* Whoever gave up on it does not hear the answer. */
static void answer_late(void)
{
    for (size_t i = 0; i < tap_count(unanswered) && unanswered[i]; i++) {
        wend_call_return(unanswered[i], (wend_str){"late", 4});
        unanswered[i] = NULL;
    }
}

static wend_run *start(struct rig *r, const char *text, const char *inputs)
{
    wend_plan *plan = NULL;
    wend_run *run = NULL;

    if (wend_plan_parse(str_of(text), NULL, &plan, &r->err) != WEND_OK)
        tap_ok(false, "plan: %s", r->err.message);
    else
        wend_run_start_plan(r->agent, plan, inputs, NULL, &run, &r->err);
    wend_plan_free(plan); /* a run does not need it */
    return run;
}

static bool open_rig(struct rig *r, const char *url, wend_approve approve)
{
    memset(r, 0, sizeof *r);
    r->agent_options.approve = approve;
    if (!rig_open(r, url, script))
        return false;
    if (wend_agent_add_kv(r->agent, "cache", 0, &r->err) != WEND_OK)
        tap_ok(false, "relic: %s", r->err.message);
    rig_add(r, "talk", tool_talk, WEND_CLASS_READ, NULL);
    rig_add(r, "never", tool_later, WEND_CLASS_READ, unanswered);
    return true;
}

static const struct {
    const char *why, *plan, *names, *text;
} rows[] = {
    {"values go from action to action",
     PLAN("inputs: {n: 3}\noutputs: {got: $b, deep: \"${b.x[1]}\"}\n",
          ACT("a", "talk", ", output_key: k") "," ACT(
              "b", "echo",
              ", depends_on: [a], params: {x: $k, y: \"n=$n\"}, "
              "output_key: b")),
     "run_start plan_start action_start action_output* action_end "
     "action_start action_end plan_end metrics run_end(ok)",
     "{\"got\":{\"x\":[1,2],\"y\":\"n=3\"},\"deep\":2}"},
    {"models are asked beside each other, each for its action",
     PLAN("outputs: {all: $z}\n",
          "{name: a, type: llm, target: default, mode: async, prompt: one, "
          "output_key: x},"
          "{name: b, type: llm, target: default, mode: async, prompt: two, "
          "output_key: y, retry: {max: 1, delay: 1ms}},"
          "{name: c, type: llm, target: default, depends_on: [a, b], "
          "prompt: \"$x $y\", output_key: z}"),
     "run_start plan_start action_start model_start action_start model_start "
     "model_end(failed) action_retry model_start text_delta* model_end(ok) "
     "action_end text_delta* model_end(ok) action_end action_start "
     "model_start text_delta* model_end(ok) action_end plan_end metrics "
     "run_end(ok)",
     "{\"all\":\"both\"}"},
    {"a model that answers too late",
     PLAN("", "{name: a, type: llm, target: default, prompt: slow, "
              "timeout: 20ms}"),
     "run_start plan_start action_start model_start model_end(failed) "
     "action_end plan_end metrics run_end(failed)",
     ""},
    {"a model that has no answer",
     PLAN("on_failure: continue\n",
          "{name: a, type: llm, target: default, prompt: nothing}"),
     "run_start plan_start action_start model_start model_end(failed) "
     "action_end plan_end metrics run_end(ok)",
     ""},
    {"a relic keeps values, each for a while",
     PLAN("outputs: {a: $a, b: $b, c: $c, d: $d}\n",
          "{name: p, type: relic, target: cache.put, params: {key: k, value: "
          "{x: [1]}}},"
          "{name: q, type: relic, target: cache.put, depends_on: [p], params: "
          "{key: m, value: 1, ttl: 1ms}},"
          "{name: w, type: llm, target: default, depends_on: [q], "
          "prompt: wait},"
          "{name: a, type: relic, target: cache.get, depends_on: [w], params: "
          "{key: k}, output_key: a},"
          "{name: b, type: relic, target: cache.get, depends_on: [a], params: "
          "{key: m}, output_key: b},"
          "{name: e, type: relic, target: cache.delete, depends_on: [b], "
          "params: {key: k}, output_key: c},"
          "{name: f, type: relic, target: cache.get, depends_on: [e], params: "
          "{key: k}, output_key: d}"),
     "run_start plan_start action_start action_end action_start action_end "
     "action_start model_start text_delta* model_end(ok) action_end "
     "action_start action_end action_start action_end action_start "
     "action_end action_start action_end plan_end metrics run_end(ok)",
     "{\"a\":{\"x\":[1]},\"b\":null,\"c\":true,\"d\":null}"},
    {"what was asked a while ago is not asked again",
     PLAN("outputs: {a: $a, b: $b, c: $c}\n",
          "{name: a, type: llm, target: default, prompt: wait, cache: {ttl: "
          "1h}, output_key: a},"
          "{name: b, type: llm, target: default, prompt: wait, cache: {ttl: "
          "1h}, depends_on: [a], output_key: b},"
          "{name: c, type: llm, target: default, prompt: one, cache: {ttl: "
          "1h}, depends_on: [b], output_key: c}"),
     "run_start plan_start action_start model_start text_delta* model_end(ok) "
     "action_end action_start model_start model_end(ok) action_end "
     "action_start model_start text_delta* model_end(ok) action_end plan_end "
     "metrics run_end(ok)",
     "{\"a\":\"x\",\"b\":\"x\",\"c\":1}"},
    {"a tool that fails fails its plan", PLAN("", ACT("a", "broken", "")),
     "run_start plan_start action_start action_end plan_end metrics "
     "run_end(failed)",
     ""},
    {"a tool that answers too late",
     PLAN("", ACT("a", "never", ", timeout: 20ms")),
     "run_start plan_start action_start action_end plan_end metrics "
     "run_end(failed)",
     ""},
    {"a tool is tried again",
     PLAN("", ACT("a", "broken", ", retry: {max: 2, delay: 1ms}")),
     "run_start plan_start action_start action_retry action_retry action_end "
     "plan_end metrics run_end(failed)",
     ""},
    {"what nobody may approve is denied",
     PLAN("on_failure: continue\n", ACT("a", "write", "")),
     "run_start plan_start action_start action_end plan_end metrics "
     "run_end(ok)",
     ""},
};

static void check_rows(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf names = {.mem = &rig_mem};
        struct rig r;
        wend_run *run;
        wend_str text;

        if (!open_rig(&r, NULL, WEND_APPROVE_DENY))
            return;
        run = start(&r, rows[i].plan, NULL);
        if (tap_ok(run != NULL, "%s: it starts (%s)", rows[i].why,
                   r.err.message)) {
            read_all(run, &names, NULL);
            tap_is_str(buf_view(&names), rows[i].names, "%s", rows[i].why);
            wend_run_wait(run, &text);
            tap_is_str(text, rows[i].text, "%s: what it gives", rows[i].why);
        }
        wend_run_free(run);
        answer_late();
        rig_close(&r);
        buf_free(&names);
    }
}

/* Nothing of a plan runs that cannot be done as a whole. */
static void check_refused(void)
{
    static const struct {
        const char *plan, *inputs, *wanted;
    } wrong[] = {
        {PLAN("", ACT("a", "ecko", "")), NULL,
         "action 'a': there is no tool 'ecko'; did you mean 'echo'?"},
        {PLAN("", "{name: a, type: agent, target: x.yaml, prompt: hi}"), NULL,
         "action 'a': there is no agent 'x.yaml'"},
        {PLAN("", "{name: a, type: relic, target: cash.get}"), NULL,
         "action 'a': there is no relic with the endpoint 'cash.get'; did you "
         "mean 'cache.get'?"},
        {PLAN("", "{name: a, type: llm, target: gpt, prompt: hi}"), NULL,
         "action 'a': its agent has no model 'gpt'"},
        {PLAN("inputs: {n: 1}\n", ACT("a", "echo", "")), "{\"m\":1}",
         "the plan has no input 'm'; did you mean 'n'?"},
        {PLAN("inputs: {n: 1}\n", ACT("a", "echo", "")), "[1]",
         "plan: inputs must be a JSON object"},
        {PLAN("inputs: {n: 1}\n", ACT("a", "echo", "")), "{\"n\":}",
         "plan: inputs, line 1, column 6: expected a value, found '}'"},
    };

    for (size_t i = 0; i < tap_count(wrong); i++) {
        struct rig r;
        wend_run *run;

        if (!open_rig(&r, NULL, WEND_APPROVE_ALL))
            return;
        run = start(&r, wrong[i].plan, wrong[i].inputs);
        tap_ok(run == NULL, "refused: %s", wrong[i].wanted);
        tap_is_str((const char *)r.err.message, wrong[i].wanted, "it says so");
        rig_close(&r);
    }
}

static void check_inputs(void)
{
    struct rig r;
    wend_run *run;
    wend_str text;

    if (!open_rig(&r, NULL, WEND_APPROVE_ALL))
        return;
    run = start(&r,
                PLAN("inputs: {n: 1, s: x}\noutputs: {n: $n, s: $s}\n",
                     ACT("a", "echo", "")),
                "{\"n\": 2.50, \"s\": \"y\"}");
    wend_run_wait(run, &text);
    tap_is_str(text, "{\"n\":2.50,\"s\":\"y\"}", "inputs of the host's");
    wend_run_free(run);
    rig_close(&r);
}

/* The files of actions, as a host gives them. */
static void check_files(void)
{
    static const char plan[] =
        PLAN("inputs: {f: a.txt}\noutputs: {x: $x}\n",
             "{name: a, type: llm, prompt: wait, files: [$f], output_key: x}");
    static const struct {
        const char *name, *data, *inputs, *wanted;
    } files[] = {
        {"a.txt", "text", NULL, ""},
        {"b.txt", "text", "{\"f\":\"b.txt\"}", ""},
        {NULL, NULL, NULL,
         "action 'a': files[0]: there is no part 'a.txt' among those of the "
         "run"},
        {"b.txt", "text", NULL,
         "action 'a': files[0]: there is no part 'a.txt' among those of the "
         "run"},
        {"a.txt", NULL, NULL, "action 'a': files[0]: it has no data"},
        {"a.txt", "\x89PNG\r\n\x1a\n", NULL,
         "action 'a': files[0]: 'a.txt' is not a valid PNG image: it is cut "
         "off"},
    };

    for (size_t i = 0; i < tap_count(files); i++) {
        const wend_part part = {.data = str_of(files[i].data),
                                .name = str_of(files[i].name)};
        const wend_run_options o = {.size = sizeof o,
                                    .parts = &part,
                                    .parts_count = files[i].name != NULL};
        wend_plan *p = NULL;
        wend_run *run = NULL;
        wend_str text = {"", 0};
        struct rig r;

        if (!open_rig(&r, NULL, WEND_APPROVE_ALL))
            return;
        wend_plan_parse(str_of(plan), NULL, &p, &r.err);
        wend_run_start_plan(r.agent, p, files[i].inputs, &o, &run, &r.err);
        tap_is_str((const char *)r.err.message, files[i].wanted, "file %zu", i);
        tap_ok(!run == !!*files[i].wanted, "file %zu: it runs, or not", i);
        if (run)
            wend_run_wait(run, &text);
        tap_is_str(text, run ? "{\"x\":\"x\"}" : "", "file %zu: answer", i);
        wend_run_free(run);
        wend_plan_free(p);
        rig_close(&r);
    }
}

static void check_cancel(void)
{
    struct buf names = {.mem = &rig_mem};
    struct rig r;
    wend_run *run;

    if (!open_rig(&r, NULL, WEND_APPROVE_ALL))
        return;
    run = start(&r,
                PLAN("", ACT("a", "never", "") "," ACT("b", "echo",
                                                       ", depends_on: [a]")),
                NULL);
    wend_runtime_pump(r.rt);
    wend_run_cancel(run);
    read_all(run, &names, NULL);
    tap_is_str(buf_view(&names),
               "run_start plan_start action_start control action_end "
               "action_end plan_end metrics run_end(canceled)",
               "a cancel ends every action");
    answer_late();
    wend_run_free(run);
    rig_close(&r);
    buf_free(&names);
}

/* The process that had it is gone; another one goes on. */
static void check_resume(void)
{
    static const char plan[] =
        PLAN("outputs: {all: \"$k $m\"}\n",
             ACT("a", "echo", ", params: {x: 1}, output_key: k") "," ACT(
                 "b", "later", ", depends_on: [a], output_key: m"));
    struct buf names = {.mem = &rig_mem};
    wend_call *slots[4] = {NULL};
    struct rig r;
    wend_run *run;
    char id[64];
    wend_str text = {"", 0};

    if (!open_rig(&r, NULL, WEND_APPROVE_ALL))
        return;
    rig_add(&r, "later", tool_later, WEND_CLASS_READ, slots);
    run = start(&r, plan, NULL);
    while (run && !slots[0])
        wend_runtime_pump(r.rt);
    snprintf(id, sizeof id, "%s", run ? wend_run_id(run) : "");
    wend_run_free(run);
    run = NULL;
    tap_is_i64(wend_run_resume(r.agent, id, NULL, &run, &r.err), WEND_OK,
               "it is resumed: %s", r.err.message);
    while (run && !slots[1])
        wend_runtime_pump(r.rt);
    wend_call_return(slots[0], (wend_str){"old", 3}); /* nobody waits */
    if (run) {
        tap_is_str(wend_call_key(slots[1]), wend_call_key(slots[0]),
                   "the key is the same");
        wend_call_return(slots[1], (wend_str){"new", 3});
        read_all(run, &names, NULL);
        tap_is_str(buf_view(&names),
                   "run_resume action_end action_start action_end plan_end "
                   "metrics run_end(ok)",
                   "it goes on after its last event");
        wend_run_wait(run, &text);
        tap_is_str(text, "{\"all\":\"{\\\"x\\\":1} new\"}",
                   "with what was known");
    }
    wend_run_free(run);
    rig_close(&r);
    buf_free(&names);
}

/* "id:runs " of each action that the store knows something about. */
static void learned_is(struct rig *r, const char *text, const char *model,
                       const char *wanted, const char *why)
{
    struct arena a = {.mem = &rig_mem};
    struct buf got = {.mem = &rig_mem};
    wend_plan *plan = NULL;
    wend_str shown = {"", 0};
    const struct json *j;

    if (wend_plan_parse(str_of(text), NULL, &plan, NULL) == WEND_OK &&
        wend_plan_learn(plan, r->store, model, NULL) == WEND_OK)
        wend_plan_describe(plan, WEND_PLAN_JSON, &shown, NULL);
    j = json_get(json_parse(shown, &a, NULL), "actions");
    for (j = j ? j->first : NULL; j; j = j->next) {
        const struct json *runs = json_get(json_get(j, "learned"), "runs");

        if (!runs)
            continue;
        buf_str(&got, json_str(json_get(j, "id")));
        buf_char(&got, ':');
        json_put(&got, runs);
        buf_char(&got, ' ');
    }
    tap_is_str(buf_view(&got), wanted, "%s", why);
    wend_plan_free(plan);
    buf_free(&got);
    arena_free(&a);
}

/* What was seen before a process died counts, once; what it cut in two does
 * not. */
static void check_learned(void)
{
    static const char plan[] =
        PLAN("", ACT("a", "echo", "") "," ACT("b", "echo", "") "," ACT(
                     "c", "later",
                     ", depends_on: [a, b]") "," ACT("d", "broken",
                                                     ", depends_on: [c]"));
    static const char other[] = "wend: plan/1\nname: other\nactions: [" ACT(
        "a", "echo", "") "," ACT("x", "echo", "") "]\n";
    wend_call *slots[4] = {NULL};
    struct rig r;
    wend_run *run, *next = NULL, *fork = NULL;
    wend_fork_options at_end = {.size = sizeof at_end};
    wend_str text;
    char id[64];

    if (!open_rig(&r, "memory:", WEND_APPROVE_ALL))
        return;
    rig_add(&r, "later", tool_later, WEND_CLASS_READ, slots);
    run = start(&r, plan, NULL);
    while (run && !slots[0])
        wend_runtime_pump(r.rt);
    learned_is(&r, plan, NULL, "", "of a run that goes on nothing is learned");
    snprintf(id, sizeof id, "%s", run ? wend_run_id(run) : "");
    wend_run_free(run);
    wend_run_resume(r.agent, id, NULL, &next, &r.err);
    while (next && !slots[1])
        wend_runtime_pump(r.rt);
    wend_call_return(slots[0], (wend_str){"old", 3});
    wend_call_return(slots[1], (wend_str){"new", 3});
    wend_run_wait(next, &text);
    learned_is(&r, plan, NULL, "a:1 b:1 d:1 ",
               "what ended before and after an interruption");
    tap_ok(!wend_run_fork(r.agent, id, &at_end, NULL, &fork, &r.err) &&
               !wend_run_wait(fork, &text),
           "a fork of it ends: %s", r.err.message);
    learned_is(&r, plan, NULL, "a:1 b:1 d:2 ",
               "what it shares is not its own; what failed ran again");
    learned_is(&r, other, NULL, "a:2 x:2 ",
               "another plan: what all with the target took");
    wend_run_free(fork);
    wend_run_free(next);
    rig_close(&r);
}

static void check_learned_model(void)
{
    static const char plan[] =
        PLAN("", "{name: a, type: llm, target: default, prompt: x}");
    static const char other[] =
        "script:{\"model\":\"other\",\"turns\":[{\"text\":\"x\"}]}";
    struct rig r = {0};
    wend_run *run;
    wend_str text;

    if (!rig_open(&r, "memory:", other))
        return;
    run = start(&r, plan, NULL);
    wend_run_wait(run, &text);
    learned_is(&r, plan, other, "a:1 ", "a script by the name it has");
    learned_is(&r, plan, "other", "a:1 ", "the name alone");
    learned_is(&r, plan, NULL, "a:1 ", "no model is named: any");
    learned_is(&r, plan, script, "", "another script");
    learned_is(&r, plan, "script:/no/such/file", "", "one that is not there");
    wend_run_free(run);
    rig_close(&r);
}

static void check_approval(void)
{
    struct buf names = {.mem = &rig_mem};
    struct rig r;
    wend_run *run;
    const wend_event *ev;

    if (!open_rig(&r, NULL, WEND_APPROVE_ASK))
        return;
    run = start(&r, PLAN("", ACT("a", "write", "")), NULL);
    while (wend_run_next(run, &ev) == WEND_OK) {
        note(&names, ev);
        if (ev->type == WEND_APPROVAL_ASK)
            tap_is_i64(
                wend_run_approve(run, ev->u.approval_ask.action, true, "test"),
                WEND_OK, "an action is approved by its id");
    }
    tap_is_str(buf_view(&names),
               "run_start plan_start approval_ask approval_answer "
               "action_start action_end plan_end metrics run_end(ok)",
               "and runs then");
    wend_run_free(run);
    rig_close(&r);
    buf_free(&names);
}

/* Whoever was asked is gone with the process: the next one is asked, too. */
static void check_approval_resumed(void)
{
    struct buf names = {.mem = &rig_mem};
    struct rig r;
    wend_run *run, *next = NULL;
    const wend_event *ev;
    char id[64];

    if (!open_rig(&r, NULL, WEND_APPROVE_ASK))
        return;
    run = start(&r, PLAN("", ACT("a", "write", "")), NULL);
    while (wend_run_next(run, &ev) == WEND_OK && ev->type != WEND_APPROVAL_ASK)
        ;
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    wend_run_free(run);
    wend_run_resume(r.agent, id, NULL, &next, NULL);
    for (int i = 0; next && i < 1000; i++) {
        wend_status s = wend_run_poll(next, &ev);

        if (s == WEND_END)
            break;
        if (s != WEND_OK) {
            wend_runtime_pump(r.rt);
            continue;
        }
        note(&names, ev);
        if (ev->type == WEND_APPROVAL_ASK)
            wend_run_approve(next, ev->u.approval_ask.action, true, "test");
    }
    tap_is_str(buf_view(&names),
               "run_resume approval_ask approval_answer action_start "
               "action_end plan_end metrics run_end(ok)",
               "a question that was open is asked again");
    wend_run_free(next);
    rig_close(&r);
    buf_free(&names);
}

static void check_relics(void)
{
    static const struct {
        const char *text;
        wend_status status;
        unsigned line, column;
        const char *message;
    } refused[] = {
        {"wend: relic/1\nname: cache\nkind: kv\n", WEND_E_EXISTS, 0, 0,
         "there is a 'cache' already"},
        {"wend: relic/1\nname: a\nkind: kv\ntime: 1\n", WEND_E_PARSE, 4, 1,
         "unknown key 'time'"},
        {"wend: relic/1\nname: a\nkind: http\nbase_url: http://h\n"
         "secrets: [WEND_TEST_NO_SUCH]\nendpoints: {b: {path: /}}\n",
         WEND_E_NOTFOUND, 5, 11, "has no 'WEND_TEST_NO_SUCH'"},
        {"{\"wend\":\"relic/1\",\"name\":\"a\",\"kind\":\"mcp\","
         "\"command\":[\"/no/such/program\"]}",
         WEND_E_IO, 0, 0, "mcp a: "},
    };
    struct rig r;

    if (!open_rig(&r, NULL, WEND_APPROVE_ALL))
        return;
    tap_is_i64(wend_agent_add_relic(NULL, STR(""), NULL, &r.err), WEND_E_INVAL,
               "no agent");
    tap_is_i64(wend_agent_add_relic(r.agent, STR_NONE, NULL, &r.err),
               WEND_E_INVAL, "no text");
    for (size_t i = 0; i < tap_count(refused); i++) {
        r.err = (wend_error){0};
        tap_is_i64(wend_agent_add_relic(r.agent, str_of(refused[i].text), NULL,
                                        &r.err),
                   refused[i].status, "row %zu is refused", i);
        tap_ok(r.err.line == refused[i].line &&
                   r.err.column == refused[i].column &&
                   strstr(r.err.message, refused[i].message),
               "row %zu: %u:%u: %s", i, r.err.line, r.err.column,
               r.err.message);
    }
    tap_ok(!start(&r, PLAN("", "{name: a, type: relic, target: a.b}"), NULL),
           "what was refused is not there");
    tap_is_i64(wend_agent_add_kv(r.agent, "a", 0, &r.err), WEND_OK,
               "and its name is free");
    rig_close(&r);
}

int main(void)
{
    check_rows();
    check_relics();
    check_refused();
    check_inputs();
    check_files();
    check_cancel();
    check_resume();
    check_learned();
    check_learned_model();
    check_approval();
    check_approval_resumed();
    return tap_done();
}

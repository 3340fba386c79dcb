/*
 * scenarios.c - what is played while memory fails.
 */
#include "bodies.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CALL(tool) "{\"name\":\"" tool "\",\"args\":{}}"
#define FIVE     \
    CALL("read") \
    "," CALL("thread") "," CALL("idem") "," CALL("read") "," CALL("unsafe")
#define DONE "{\"text\":\"done\"}"
#define ACT(name, target, after)                                    \
    "  - {name: " name ", type: tool, mode: async, target: " target \
    ", depends_on: [" after "]}\n"

#define TEN                                                                    \
    "wend: plan/1\nname: ten\ninputs: {n: 3}\nactions:\n" ACT("a", "read", "") \
        ACT("b", "idem", "") ACT("c", "idem", "") ACT("d", "unsafe", "a")      \
            ACT("e", "idem", "a, b") ACT(                                      \
                "f", "big", "c") "  - {name: g, type: llm, target: default, "  \
                                 "mode: async, prompt: \"n is "                \
                                 "$n\", output_key: x}\n"                      \
                                 "  - {name: h, type: decision, depends_on: "  \
                                 "[g], cases: [{when: \"$x > "                 \
                                 "6\", then: [i]}, {else: [j]}]}\n"            \
                                 "  - {name: i, type: relic, target: "         \
                                 "cache.put, params: {key: k, value: "         \
                                 "$x}}\n"                                      \
                                 "  - {name: j, type: tool, target: read}\n"   \
                                 "outputs: {x: $x}\n"

/* ---- Planted defects: the control ---------------------------------------- */

/* A tool that takes no memory for an empty answer. */
static wend_status careless(void *ctx, wend_call *call)
{
    char *answer = strdup("right");
    wend_status s;

    (void)ctx;
    s = wend_call_return(call, answer ? str_of(answer) : STR("wrong"));
    free(answer);
    return s;
}

static void play_careless(const struct scenario *sc, struct tale *t)
{
    struct stage st = {0};
    wend_tool_options o = {.size = sizeof o,
                           .name = "careless",
                           .call_class = WEND_CLASS_READ,
                           .fn = careless};
    wend_run *run = NULL;

    if (stage_open(&st, sc, t) &&
        step_ok(t, "add_tool", wend_agent_add_tool(st.agent, &o, &st.err),
                &st.err) &&
        stage_start(&st, sc, t, &run)) {
        t->count = 1;
        stage_watch(run, sc, t, &t->runs[0]);
    }
    wend_run_free(run);
    stage_close(&st);
}

static void play_leak(const struct scenario *sc, struct tale *t)
{
    char *one = malloc(10), *two = malloc(10);

    (void)sc;
    if (!one || !two) {
        if (one) /* and nobody frees it */
            step_ok(t, "leak", WEND_E_NOMEM, NULL);
        return;
    }
    free(one);
    free(two);
}

static void play_crash(const struct scenario *sc, struct tale *t)
{
    char *volatile p = malloc(10);

    (void)sc;
    *p = 'x';
    snprintf(t->said, sizeof t->said, "%c", *p);
    free(p);
}

static void play_hang(const struct scenario *sc, struct tale *t)
{
    char *p = malloc(10);

    (void)sc;
    (void)t;
    while (!p)
        pause();
    free(p);
}

/* ---- All ----------------------------------------------------------------- */

const struct scenario scenarios[] = {
    {.name = "text",
     .body = play_runs,
     .script = "{\"text\":\"a few words, in pieces\",\"chunk\":2}",
     .makes = true},
    {.name = "text, store in memory",
     .body = play_runs,
     .script = "{\"text\":\"a few words\",\"thinking\":\"hm\"}",
     .in_memory = true},
    {.name = "parallel calls",
     .body = play_runs,
     .script = "{\"text\":\"five\",\"calls\":[" FIVE "]}," DONE,
     .approve = WEND_APPROVE_ALL},
    {.name = "neighbours",
     .body = play_runs,
     .script = "{\"calls\":[" CALL("read") "]}," DONE,
     .approve = WEND_APPROVE_ALL,
     .runs = 2},
    {.name = "neighbours, store in memory",
     .body = play_runs,
     .script = "{\"calls\":[" CALL("thread") "]}," DONE,
     .approve = WEND_APPROVE_ALL,
     .in_memory = true,
     .runs = 2},
    {.name = "retry",
     .body = play_runs,
     .waits = true,
     .script = "{\"error\":{\"code\":\"rate_limit\",\"message\":\"slow "
               "down\"}}," DONE},
    {.name = "another model",
     .body = play_runs,
     .script = "{\"error\":{\"code\":\"auth\",\"message\":\"no\"}}",
     .fallback = "script:{\"model\":\"spare\",\"turns\":[" DONE "]}"},
    {.name = "cancel",
     .body = play_runs,
     .script = "{\"calls\":[" CALL("never") "]}," DONE,
     .approve = WEND_APPROVE_ALL,
     .cancels = true,
     .answers = {"done"}}, /* resumed: the call's outcome is not known */
    {.name = "approval",
     .body = play_runs,
     .script = "{\"calls\":[" CALL("unsafe") "," CALL("read") "]}," DONE},
    {.name = "blobs",
     .body = play_runs,
     .script = "{\"calls\":[" CALL("big") "]}," DONE,
     .approve = WEND_APPROVE_ALL},
    {.name = "calls in mid-stream",
     .body = play_runs,
     .script = "{\"text\":\"ab\",\"chunk\":1,\"calls\":[" CALL(
         "unsafe") "," CALL("read") "]}," DONE,
     .approve = WEND_APPROVE_ALL,
     .eager = WEND_EAGER_ALL},
    {.name = "said meanwhile",
     .body = play_runs,
     .script = "{\"calls\":[" CALL("idem") "]},{\"text\":\"a\"}," DONE,
     .approve = WEND_APPROVE_ALL,
     .says = true,
     .answers = {"a", "done"}}, /* it matters when it is said */
    {.name = "schema",
     .body = play_runs,
     .script = "{\"text\":\"no\"},{\"purpose\":\"repair\",\"text\":"
               "\"{\\\"n\\\":1}\"}",
     .schema = "{\"type\":\"object\",\"required\":[\"n\"],\"properties\":"
               "{\"n\":{\"type\":\"integer\"},\"s\":{\"type\":"
               "\"string\",\"pattern\":\"^[a-z]+$\"}}}"},
    {.name = "a plan of ten",
     .body = play_runs,
     .script = "{\"text\":\"7\"}",
     .plan = TEN,
     .approve = WEND_APPROVE_ALL,
     .unsafe = true,
     .uses = USES_KV},
    {.name = "a plan that the model writes",
     .body = play_runs,
     .script = "{\"purpose\":\"plan\",\"text\":\"so\",\"calls\":[{\"name\":"
               "\"plan\",\"args\":{\"actions\":[{\"name\":\"a\",\"type\":"
               "\"tool\",\"target\":\"read\",\"mode\":\"async\",\"output_key\":"
               "\"x\"},{\"name\":\"b\",\"type\":\"llm\",\"prompt\":\"say $x\","
               "\"depends_on\":[\"a\"],\"output_key\":\"y\"}]}}]},"
               "{\"text\":\"it is\"},{\"purpose\":\"plan\",\"text\":\"done\"}",
     .approve = WEND_APPROVE_ALL,
     .planner = true},
    {.name = "a program",
     .body = play_runs,
     .script = "{\"calls\":[" CALL("program") "]}," DONE,
     .approve = WEND_APPROVE_ALL,
     .uses = USES_COMMAND},
    {.name = "a server of tools",
     .body = play_runs,
     .script = "{\"calls\":[" CALL("srv.echo") "]}," DONE,
     .approve = WEND_APPROVE_ALL,
     .uses = USES_MCP},
    {.name = "a child",
     .body = play_runs,
     .script = "{\"calls\":[{\"name\":\"task\",\"args\":{\"agent\":"
               "\"kid\",\"prompt\":\"go\"}}]}," DONE,
     .approve = WEND_APPROVE_ALL,
     .uses = USES_AGENT},
    {.name = "a model over HTTP",
     .body = play_runs,
     .model = "openai:text:3:8"},
    {.name = "a model over TLS",
     .body = play_runs,
     .model = "openai:text:3:8",
     .tls = true},
    {.name = "resume",
     .body = play_resume,
     .script = "{\"calls\":[" CALL("read") "]}," DONE,
     .prepare = left_run},
    {.name = "the agent of a run",
     .body = play_of_run,
     .script = "{\"calls\":[" CALL("read") "]}," DONE,
     .prepare = left_run},
    {.name = "an agent of a file",
     .body = play_load,
     .script = DONE,
     .prepare = agent_files},
    {.name = "a plan of a file",
     .body = play_plan_file,
     .script = DONE,
     .in_memory = true, /* else it is resumed by an agent without files */
     .prepare = plan_files},
    {.name = "replay",
     .body = play_replay,
     .script = "{\"calls\":[" CALL("big") "]}," DONE,
     .approve = WEND_APPROVE_ALL,
     .prepare = ended_run},
    {.name = "fork",
     .body = play_fork,
     .script = DONE ",{\"text\":\"forked\"}",
     .prepare = ended_run},
    {.name = "client-side tools",
     .body = play_client,
     .script = "{\"when\":\"red\",\"text\":\"done\"},{\"text\":\"done\","
               "\"calls\":[" CALL("pick") "," CALL("read") "]}",
     .in_memory = true},
    {.name = "export",
     .body = play_export,
     .script = "{\"calls\":[" CALL("read") "]}," DONE,
     .prepare = ended_run},
    {.name = "import",
     .body = play_import,
     .script = "{\"calls\":[" CALL("read") "]}," DONE,
     .prepare = exported_run},
    {.name = "verify",
     .body = play_verify,
     .script = "{\"calls\":[" CALL("read") "]}," DONE,
     .prepare = ended_run},
    {.name = "prune", .body = play_prune, .script = DONE, .prepare = ended_run},
    {.name = "models of a provider",
     .body = play_models,
     .script = DONE,
     .in_memory = true},
    {.name = "files", .body = play_parse, .plan = TEN, .in_memory = true},
    {.name = "dialects", .body = play_dialects, .in_memory = true},
    {.name = "planted: a failure is ignored",
     .body = play_careless,
     .script =
         "{\"calls\":[" CALL("careless") "]},{\"text\":\"${tool_result}\"}",
     .in_memory = true,
     .planted = "a run ends as ok 'wrong'"},
    {.name = "planted: a leak",
     .body = play_leak,
     .in_memory = true,
     .planted = "a leak"},
    {.name = "planted: a crash",
     .body = play_crash,
     .in_memory = true,
     .planted = "it dies, exit status 1"},
    {.name = "planted: a hang",
     .body = play_hang,
     .in_memory = true,
     .planted = "it hangs",
     .seconds = 3},
};
const size_t scenarios_count = sizeof scenarios / sizeof *scenarios;

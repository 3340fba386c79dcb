/*
 * test_load.c - agents from files: what a manifest shows, what is refused, and
 * what becomes of an agent that is loaded.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "run_help.h"

static char folder[] = "/tmp/wend-load-XXXXXX";

static const char *path_of(const char *name)
{
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(path_of(name), "w");

    if (f) {
        fputs(text, f);
        fclose(f);
    }
    chmod(path_of(name), 0700);
}

static const char script[] =
    "wend: script/1\nturns:\n"
    "  - {text: '', calls: [{name: calculator, args: {expression: '6*7'}}]}\n"
    "  - {text: 'it is ${tool_result}'}\n";

static const char outer[] = "wend: agent/1\n"
                            "name: outer\n"
                            "description: adds\n"
                            "model: script:model.yaml\n"
                            "instructions: be brief\n"
                            "tools: [calculator, tool.yaml]\n"
                            "policy: [{tool: 'count(*)', do: deny}]\n"
                            "limits: {turns: 7}\n"
                            "agents: [inner.yaml]\n";

static void put_all(void)
{
    put("model.yaml", script);
    put("count.sh", "#!/bin/sh\necho 3\n");
    put("tool.yaml", "wend: tool/1\nname: count\ndescription: counts\n"
                     "command: [./count.sh]\n");
    put("inner.yaml", "wend: agent/1\ninstructions: I am inside\n"
                      "tools: [glob]\n");
    put("agent.yaml", outer);
    put("bad.yaml", "wend: agent/1\ntools: [no_such]\n");
    put("broken.yaml", "wend: agent/1\ntools: {\n");
}

/* ---- Manifests ----------------------------------------------------------- */

static void check_manifest(void)
{
    wend_manifest *m = NULL, *again = NULL;
    wend_error err = {0};
    const wend_manifest_options tool = {.size = sizeof tool, .tool = true};

    tap_is_i64(wend_manifest_open(path_of("agent.yaml"), NULL, &m, &err),
               WEND_OK, "a manifest: %s", err.message);
    if (!m)
        return;
    tap_is_str(m->name, "outer", "its name");
    tap_is_str(m->description, "adds", "its description");
    tap_is_str(m->options->instructions, "be brief", "its options");
    tap_ok(m->options->limits.turns == 7, "its limits");
    tap_ok(m->tools_count == 2 && !strcmp(m->tools[1], "count"),
           "its tools, by name");
    tap_ok(m->commands_count == 1 &&
               !strcmp(m->commands[0]->argv[0], path_of("count.sh")),
           "its program, where it is");
    tap_ok(m->agents_count == 1 && !strcmp(m->agents[0]->name, "inner"),
           "the agent inside is called as its file");
    tap_is_i64((int64_t)m->files_count, 5, "files that it covers");
    wend_manifest_free((wend_manifest *)(uintptr_t)m->agents[0]);
    tap_is_str(m->agents[0]->name, "inner", "one inside is not freed alone");

    put("count.sh", "#!/bin/sh\necho 4\n");
    tap_is_i64(wend_manifest_open(path_of("agent.yaml"), NULL, &again, &err),
               WEND_OK, "again");
    tap_ok(again && strcmp(again->sum, m->sum) != 0,
           "a changed program changes the sum");
    wend_manifest_free(again);
    wend_manifest_free(m);
    tap_is_i64(wend_manifest_open(path_of("tool.yaml"), &tool, &m, &err),
               WEND_OK, "a tool alone");
    tap_ok(m && m->commands_count == 1 && !strcmp(m->name, "count") &&
               wend_manifest_check(m, &err) == WEND_OK,
           "a tool alone: its program");
    wend_manifest_free(m);
}

static void check_refused_manifests(void)
{
    static const struct {
        const char *name, *says;
        wend_status s;
    } rows[] = {
        {"none.yaml", "file not found", WEND_E_NOTFOUND},
        {"broken.yaml", "broken.yaml:", WEND_E_PARSE},
        {"tool.yaml", "tool.yaml:", WEND_E_PARSE}, /* no agent */
    };
    const wend_manifest_options wrong = {.size = 1};
    wend_manifest *m = NULL;
    wend_error err = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tap_is_i64(wend_manifest_open(path_of(rows[i].name), NULL, &m, &err),
                   rows[i].s, "refused: %s", rows[i].name);
        tap_ok(!m && strstr(err.message, rows[i].says), "said: %s",
               err.message);
    }
    tap_is_i64(wend_manifest_open(NULL, NULL, &m, &err), WEND_E_INVAL,
               "no path");
    tap_is_i64(wend_manifest_open("x", NULL, NULL, &err), WEND_E_INVAL,
               "nowhere to put it");
    tap_is_i64(wend_manifest_open("x", &wrong, &m, &err), WEND_E_INVAL,
               "options of a size that cannot be");
    tap_is_i64(wend_manifest_check(NULL, &err), WEND_E_INVAL, "NULL checked");
    wend_manifest_free(NULL);
    tap_is_i64(wend_manifest_open(path_of("bad.yaml"), NULL, &m, &err), WEND_OK,
               "an unknown tool can be read");
    tap_is_i64(wend_manifest_check(m, &err), WEND_E_PARSE,
               "but does not pass: %s", err.message);
    wend_manifest_free(m);
}

/* ---- Agents -------------------------------------------------------------- */

static void check_trust(wend_runtime *rt)
{
    wend_load_options o = {.size = sizeof o};
    wend_manifest *m = NULL;
    wend_agent *a = NULL;
    wend_error err = {0};

    tap_is_i64(wend_agent_load(rt, path_of("agent.yaml"), &o, &a, &err),
               WEND_E_STALE, "nothing is accepted without a word");
    tap_ok(!a && strstr(err.message, "agent.yaml is not trusted") &&
               strstr(err.message, "options.trust"),
           "said what and what to do: %s", err.message);
    wend_manifest_open(path_of("agent.yaml"), NULL, &m, &err);
    if (!m)
        return;
    o.trust = m->sum;
    tap_is_i64(wend_agent_load(rt, path_of("agent.yaml"), &o, &a, &err),
               WEND_OK, "its sum is accepted: %s", err.message);
    wend_agent_free(a);
    put("count.sh", "#!/bin/sh\necho 5\n");
    tap_is_i64(wend_agent_load(rt, path_of("agent.yaml"), &o, &a, &err),
               WEND_E_STALE, "not after a program of it was changed");
    tap_ok(!a, "and there is no agent");
    wend_manifest_free(m);
}

static void check_agent(wend_runtime *rt)
{
    const char *const tools[] = {"glob", "count"};
    wend_load_options o = {.size = sizeof o, .trust = "any"};
    wend_error err = {0};
    wend_agent *a = NULL;
    wend_run *run = NULL;
    wend_str text = STR_NONE;

    tap_is_i64(wend_agent_load(rt, path_of("agent.yaml"), &o, &a, &err),
               WEND_OK, "loaded: %s", err.message);
    tap_ok(a && has_tool(a, "calculator") && has_tool(a, "count") &&
               has_tool(a, "task") && !has_tool(a, "glob"),
           "it has its tools, and one for tasks");
    if (a && wend_run_start(a, STR("x"), NULL, &run, &err) == WEND_OK)
        wend_run_wait(run, &text);
    tap_ok(str_is(text, "it is 42"), "and it runs: %.*s", (int)text.len,
           text.ptr ? text.ptr : "");
    wend_run_free(run);
    wend_agent_free(a);

    o.tools = tools;
    o.tools_count = 2;
    tap_is_i64(wend_agent_load(rt, path_of("agent.yaml"), &o, &a, &err),
               WEND_OK, "with other tools: %s", err.message);
    tap_ok(a && !has_tool(a, "calculator") && has_tool(a, "count") &&
               has_tool(a, "glob"),
           "they are those of the host");
    wend_agent_free(a);
}

static void check_without_file(wend_runtime *rt)
{
    wend_agent_options agent = {.size = sizeof agent,
                                .model = "script:{\"turns\":[]}"};
    wend_load_options o = {.size = sizeof o, .agent = &agent};
    wend_error err = {0};
    wend_agent *a = NULL;

    tap_is_i64(wend_agent_load(rt, NULL, &o, &a, &err), WEND_OK,
               "without a file: %s", err.message);
    tap_ok(a && has_tool(a, "grep") && !has_tool(a, "write_file"),
           "it has the tools that read");
    wend_agent_free(a);
}

static void check_refused(wend_runtime *rt)
{
    const char *const tools[] = {"no_such"};
    wend_load_options o = {.size = sizeof o, .trust = "any"};
    wend_error err = {0};
    wend_agent *a = NULL;

    tap_is_i64(wend_agent_load(NULL, "x", &o, &a, &err), WEND_E_INVAL,
               "no runtime");
    tap_is_i64(wend_agent_load(rt, path_of("agent.yaml"), &o, NULL, &err),
               WEND_E_INVAL, "nowhere to put it");
    o.size = 3;
    tap_is_i64(wend_agent_load(rt, path_of("agent.yaml"), &o, &a, &err),
               WEND_E_INVAL, "options of a size that cannot be");
    o.size = sizeof o;
    o.tools_count = 1;
    tap_is_i64(wend_agent_load(rt, path_of("agent.yaml"), &o, &a, &err),
               WEND_E_INVAL, "one tool, and no list");
    o.tools = tools;
    tap_is_i64(wend_agent_load(rt, path_of("agent.yaml"), &o, &a, &err),
               WEND_E_NOTFOUND, "a tool that nobody has: %s", err.message);
    tap_is_i64(wend_agent_load(rt, path_of("bad.yaml"), &o, &a, &err),
               WEND_E_PARSE, "a file that names one");
    tap_is_i64(wend_agent_load(rt, path_of("none.yaml"), &o, &a, &err),
               WEND_E_NOTFOUND, "a file that is not there");
    tap_ok(!a, "none of them is an agent");
}

/* The same rule as for calls: see tt_calls.c. */
static void check_concurrent(wend_runtime *rt)
{
    static const struct {
        const char *name;
        wend_class call_class;
        bool concurrent, says;
    } rows[] = {
        {"alone", WEND_CLASS_UNSAFE, false, false},
        {"beside", WEND_CLASS_UNSAFE, true, true},
        {"reads", WEND_CLASS_READ, false, true},
    };
    wend_agent_options o = {.size = sizeof o, .model = "script:{\"turns\":[]}"};
    wend_agent *a = NULL;

    wend_agent_new(rt, &o, &a, NULL);
    for (size_t i = 0; a && i < sizeof rows / sizeof *rows; i++) {
        wend_tool_options t = {.size = sizeof t,
                               .name = rows[i].name,
                               .call_class = rows[i].call_class,
                               .concurrent = rows[i].concurrent,
                               .fn = tool_echo};
        const wend_tool_info *seen;

        wend_agent_add_tool(a, &t, NULL);
        seen = wend_agent_tool(a, i); /* the rows are sorted */
        tap_ok(seen && seen->concurrent == rows[i].says,
               "wend_agent_tool says whether '%s' runs beside others",
               rows[i].name);
    }
    wend_agent_free(a);
}

struct in_tool {
    wend_runtime *rt;
    wend_status with_server, without;
};

static wend_status load_inside(void *ctx, wend_call *call)
{
    struct in_tool *in = ctx;
    const char *const command[] = {"true", NULL};
    const wend_mcp_options server = {
        .size = sizeof server, .name = "late", .command = command};
    const wend_mcp_options *const servers[] = {&server};
    wend_agent_options agent = {.size = sizeof agent,
                                .model = "script:{\"turns\":[]}"};
    wend_load_options o = {.size = sizeof o, .agent = &agent};
    wend_agent *a = NULL;

    in->without = wend_agent_load(in->rt, NULL, &o, &a, NULL);
    wend_agent_free(a);
    o.servers = servers;
    o.servers_count = 1;
    in->with_server = wend_agent_load(in->rt, NULL, &o, &a, NULL);
    wend_agent_free(a);
    return wend_call_return(call, STR("done"));
}

/* A callback cannot wait for servers: that is not a server that is away. */
static void check_inside(wend_runtime *rt)
{
    struct in_tool in = {.rt = rt, .with_server = WEND_OK};
    wend_agent_options o = {
        .size = sizeof o,
        .approve = WEND_APPROVE_ALL,
        .model = "script:{\"turns\":[{\"calls\":[{\"name\":\"load\"}]},"
                 "{\"text\":\"x\"}]}"};
    wend_tool_options t = {
        .size = sizeof t, .name = "load", .fn = load_inside, .ctx = &in};
    wend_agent *a = NULL;
    wend_run *run = NULL;
    wend_str text;

    if (wend_agent_new(rt, &o, &a, NULL) == WEND_OK &&
        wend_agent_add_tool(a, &t, NULL) == WEND_OK &&
        wend_run_start(a, STR("x"), NULL, &run, NULL) == WEND_OK)
        wend_run_wait(run, &text);
    tap_is_i64(in.without, WEND_OK, "an agent is loaded inside a callback");
    tap_is_i64(in.with_server, WEND_E_MISUSE, "but none with servers");
    wend_run_free(run);
    wend_agent_free(a);
}

int main(void)
{
    wend_runtime *rt = NULL;

    if (!mkdtemp(folder) || wend_runtime_new(NULL, &rt, NULL) != WEND_OK)
        return tap_ok(false, "no folder, or no runtime"), tap_done();
    put_all();
    check_manifest();
    check_refused_manifests();
    check_trust(rt);
    check_agent(rt);
    check_without_file(rt);
    check_refused(rt);
    check_concurrent(rt);
    check_inside(rt);
    wend_runtime_free(rt);
    for (size_t i = 0; i < 7; i++) {
        static const char *const names[] = {
            "model.yaml", "count.sh", "tool.yaml",  "inner.yaml",
            "agent.yaml", "bad.yaml", "broken.yaml"};

        unlink(path_of(names[i]));
    }
    rmdir(folder);
    return tap_done();
}

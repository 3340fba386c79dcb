/*
 * test_plan_load.c - plans from files: what a manifest shows, what is refused,
 * and what an agent that is loaded for a plan can do.
 */
#include <sys/stat.h>

#include "run_help.h"

static char folder[] = "/tmp/wend-plan-load-XXXXXX";

static const char *path_of(const char *name)
{
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static const struct {
    const char *name, *text; /* no text: a folder */
} files[] = {
    {"tools", NULL},
    {"relics", NULL},
    {"sub", NULL},
    {"sub/relics", NULL},
    {"plan.yaml",
     "wend: plan/1\nname: outer\ninputs: {n: 2}\nactions:\n"
     "  - {name: t, type: tool, target: count, output_key: c}\n"
     "  - {name: r, type: relic, target: notes.put, depends_on: [t],\n"
     "     params: {key: k, value: $c}}\n"
     "  - {name: w, type: workflow, target: sub/in.yaml, params: {n: $n},\n"
     "     output_key: x}\n"
     "  - {name: v, type: workflow, target: sub/in.yaml, depends_on: [w]}\n"
     "  - {name: a, type: agent, target: helper.yaml, prompt: hi,\n"
     "     output_key: y}\n"
     "outputs: {c: $c, x: $x, y: $y}\n"},
    {"tools/count.yaml", "wend: tool/1\nname: count\ndescription: counts\n"
                         "class: read\ncommand: [../count.sh]\n"
                         "sandbox: off\n"},
    {"count.sh", "#!/bin/sh\necho 3\n"},
    {"relics/notes.yaml", "wend: relic/1\nname: notes\nkind: kv\n"},
    {"helper.yaml", "wend: agent/1\nname: helper\nmodel: script:model.yaml\n"
                    "tools: [glob]\n"},
    {"model.yaml", "wend: script/1\nturns:\n  - {text: helped}\n"},
    {"sub/in.yaml",
     "wend: plan/1\nname: inner\ninputs: {n: 1}\nactions:\n"
     "  - {name: d, type: tool, target: calculator, output_key: d,\n"
     "     params: {expression: '$n * 10'}}\n"
     "  - {name: s, type: relic, target: other.put, depends_on: [d],\n"
     "     params: {key: k, value: $d}}\n"
     "outputs: {d: $d}\n"},
    {"sub/relics/other.yaml", "wend: relic/1\nname: other\nkind: kv\n"},
    {"asks.yaml", "wend: plan/1\nname: asks\nactions:\n"
                  "  - {name: q, type: llm, target: default, prompt: hi,\n"
                  "     output_key: q}\noutputs: {q: $q}\n"},
    {"replans.yaml", "wend: plan/1\nname: replans\non_failure: replan\n"
                     "actions:\n"
                     "  - {name: q, type: tool, target: calculator,\n"
                     "     params: {expression: '1'}}\n"},
    {"outer.yaml", "wend: plan/1\nname: o\nactions:\n"
                   "  - {name: w, type: workflow, target: asks.yaml}\n"},
    {"named.yaml",
     "wend: plan/1\nname: named\nactions:\n"
     "  - {name: q, type: llm, prompt: hi, output_key: q,\n"
     "     target: 'script:{\"turns\":[{\"text\":\"by name\"}]}'}\n"
     "outputs: {q: $q}\n"},
    {"round.yaml", "wend: plan/1\nname: r\nactions:\n"
                   "  - {name: w, type: workflow, target: ./round.yaml}\n"},
    {"lost.yaml", "wend: plan/1\nname: l\nactions:\n"
                  "  - {name: w, type: workflow, target: none.yaml}\n"},
    {"web.yaml", "wend: plan/1\nname: w\nactions:\n"
                 "  - {name: w, type: relic, target: web.get}\n"},
    {"relics/web.yaml", "wend: relic/1\nname: web\nkind: http\n"
                        "base_url: http://localhost:1\n"
                        "endpoints:\n  get: {path: /}\n"},
    {"relics/liar.yaml", "wend: relic/1\nname: lair\nkind: kv\n"},
    {"liar.yaml", "wend: plan/1\nname: l\nactions:\n"
                  "  - {name: w, type: relic, target: liar.get}\n"},
    {"agent.yaml", "wend: agent/1\nname: calm\nnetwork: off\n"
                   "model: 'script:{\"turns\":[{\"text\":\"calmly\"}]}'\n"
                   "limits: {turns: 9}\n"},
    {"asker.yaml", "wend: agent/1\nname: asker\n"},
    {"whom.yaml",
     "wend: plan/1\nname: w\nactions:\n"
     "  - {name: a, type: agent, target: asker.yaml, prompt: x}\n"},
    {"bad.yaml", "wend: agent/1\ntools: [no_such]\n"},
    {"unfit.yaml", "wend: plan/1\nname: u\nactions:\n"
                   "  - {name: a, type: agent, target: bad.yaml, prompt: x}\n"},
};
enum { FILES = sizeof files / sizeof *files };

static void put(const char *name, const char *text)
{
    FILE *f = fopen(path_of(name), "w");

    if (f) {
        fputs(text, f);
        fclose(f);
    }
    chmod(path_of(name), 0700);
}

static const wend_manifest_options as_plan = {.size = sizeof as_plan,
                                              .plan = true};

static wend_manifest *open_plan(const char *name)
{
    wend_manifest *m = NULL;
    wend_error err = {0};

    if (wend_manifest_open(path_of(name), &as_plan, &m, &err) != WEND_OK)
        tap_ok(false, "%s: %s", name, err.message);
    return m;
}

/* ---- Manifests ----------------------------------------------------------- */

static void check_manifest(void)
{
    wend_manifest *m = open_plan("plan.yaml");

    if (!m)
        return;
    tap_is_str(m->name, "outer", "a plan's name");
    tap_ok(m->plan && !m->target, "its plan, which nothing names");
    tap_ok(m->commands_count == 1 && !strcmp(m->commands[0]->name, "count") &&
               strstr(m->commands[0]->argv[0], "tools/../count.sh"),
           "the tool beside it, with its program");
    tap_ok(m->relics_count == 1 && !m->relics[0].network &&
               !strcmp(m->relics[0].path, path_of("relics/notes.yaml")),
           "the relic beside it");
    tap_is_i64((int64_t)m->agents_count, 2, "what actions name, once each");
    if (m->agents_count == 2) {
        tap_ok(m->agents[0]->plan && !m->agents[1]->plan,
               "a plan and an agent");
        tap_is_str(m->agents[0]->target, "sub/in.yaml", "as actions call it");
        tap_is_i64((int64_t)m->agents[0]->relics_count, 1,
                   "with the relic beside it");
        tap_is_str(m->agents[1]->name, "helper", "the agent's own name");
        wend_manifest_free((wend_manifest *)(uintptr_t)m->agents[0]);
        tap_is_str(m->agents[0]->name, "inner", "one is not freed alone");
    }
    tap_is_i64((int64_t)m->files_count, 8, "all files of all of them");
    wend_manifest_free(m);
}

/* Every file counts: what one file says decides what runs. */
static void check_sums(void)
{
    static const char *const parts[] = {
        "plan.yaml",         "tools/count.yaml",      "count.sh",
        "relics/notes.yaml", "helper.yaml",           "sub/in.yaml",
        "model.yaml",        "sub/relics/other.yaml",
    };
    wend_manifest *m = open_plan("plan.yaml");

    for (size_t i = 0; m && i < sizeof parts / sizeof *parts; i++) {
        size_t f = 0;
        char text[1000];
        wend_manifest *again;

        while (strcmp(files[f].name, parts[i]) != 0)
            f++;
        snprintf(text, sizeof text, "%s# more\n", files[f].text);
        put(parts[i], text);
        again = open_plan("plan.yaml");
        tap_ok(again && strcmp(again->sum, m->sum) != 0,
               "%s changes the sum of the plan", parts[i]);
        wend_manifest_free(again);
        put(parts[i], files[f].text);
    }
    wend_manifest_free(m);
}

static void check_refused_manifests(void)
{
    static const struct {
        const char *name, *says;
        wend_status s;
    } rows[] = {
        {"none.yaml", "none.yaml: file not found", WEND_E_NOTFOUND},
        {"agent.yaml", "agent.yaml:1:", WEND_E_PARSE}, /* no plan */
        {"lost.yaml", "lost.yaml:4:39: ", WEND_E_PARSE},
        {"round.yaml", "plans in a circle: ", WEND_E_LIMIT},
        {"liar.yaml", "relics/liar.yaml: the relic's name is 'lair', not",
         WEND_E_INVAL},
    };
    wend_manifest_options wrong = {.size = sizeof wrong, .plan = true};
    wend_manifest *m = NULL;
    wend_error err = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tap_is_i64(
            wend_manifest_open(path_of(rows[i].name), &as_plan, &m, &err),
            rows[i].s, "refused: %s", rows[i].name);
        tap_ok(!m && strstr(err.message, rows[i].says), "said: %s",
               err.message);
    }
    wrong.tools_count = 1;
    tap_is_i64(wend_manifest_open("x", &wrong, &m, &err), WEND_E_INVAL,
               "a tool, and no list");
    wrong.tools_count = 0;
    wrong.tool = true;
    tap_is_i64(wend_manifest_open("x", &wrong, &m, &err), WEND_E_INVAL,
               "a tool and a plan at once");
}

/* ---- Agents -------------------------------------------------------------- */

static wend_agent *load(wend_runtime *rt, const wend_manifest *plan,
                        const char *agent, const char *model, wend_error *err)
{
    const wend_agent_options o = {.size = sizeof o, .model = model};
    wend_manifest *m = NULL;
    wend_load_options lo = {.size = sizeof lo,
                            .agent = &o,
                            .trust = "any",
                            .plan = plan,
                            .plan_trust = plan ? plan->sum : NULL};
    wend_agent *a = NULL;

    if (agent && wend_manifest_open(path_of(agent), NULL, &m, err) != WEND_OK)
        return NULL;
    lo.manifest = m;
    *err = (wend_error){0};
    wend_agent_load(rt, NULL, &lo, &a, err);
    wend_manifest_free(m);
    return a;
}

static void check_trust(wend_runtime *rt)
{
    wend_manifest *m = open_plan("plan.yaml"), *other = open_plan("named.yaml");
    wend_load_options o = {.size = sizeof o, .plan = m};
    wend_error err = {0};
    wend_agent *a = NULL;

    if (m && other) {
        tap_is_i64(wend_agent_load(rt, NULL, &o, &a, &err), WEND_E_STALE,
                   "a plan is not trusted without a word");
        tap_ok(!a && strstr(err.message, "options.plan_trust"),
               "said what to do: %s", err.message);
        o.trust = "any"; /* is for an agent's file */
        o.plan_trust = other->sum;
        tap_is_i64(wend_agent_load(rt, NULL, &o, &a, &err), WEND_E_STALE,
                   "nor by the sum of another one");
        o.plan_trust = m->sum;
        tap_is_i64(wend_agent_load(rt, NULL, &o, &a, &err), WEND_OK,
                   "by its own: %s", err.message);
        wend_agent_free(a);
        o.manifest = other;
        tap_is_i64(wend_agent_load(rt, NULL, &o, &a, &err), WEND_E_INVAL,
                   "a plan is no agent");
        o.manifest = NULL;
        o.plan = m->agents[1];
        tap_is_i64(wend_agent_load(rt, NULL, &o, &a, &err), WEND_E_INVAL,
                   "an agent is no plan");
    }
    wend_manifest_free(m);
    wend_manifest_free(other);
}

static void check_outputs(wend_runtime *rt, const char *plan, const char *agent,
                          const char *model, const char *inputs,
                          const char *outputs)
{
    wend_manifest *m = open_plan(plan);
    wend_error err = {0};
    wend_agent *a = m ? load(rt, m, agent, model, &err) : NULL;
    wend_run *run = NULL;
    wend_str text = STR_NONE;

    if (a &&
        wend_run_start_plan(a, m->plan, inputs, NULL, &run, &err) == WEND_OK)
        wend_run_wait(run, &text);
    tap_ok(str_is(text, outputs), "%s runs: %.*s %s", plan, (int)text.len,
           text.ptr ? text.ptr : "", err.message);
    wend_run_free(run);
    wend_agent_free(a);
    wend_manifest_free(m);
}

static void check_refused(wend_runtime *rt)
{
    static const struct {
        const char *plan, *agent, *says;
    } rows[] = {
        {"asks.yaml", NULL, "asks.yaml:4:34: action 'q': it asks a model"},
        {"outer.yaml", NULL, "asks.yaml:4:34: action 'q': it asks a model"},
        {"whom.yaml", NULL, "whom.yaml:4:36: action 'a': its agent names no"},
        {"replans.yaml", NULL, "replans.yaml:3:13: on_failure: replan needs"},
        {"web.yaml", "agent.yaml", "relics/web.yaml: the relic uses the net"},
        {"unfit.yaml", "agent.yaml", "there is no tool 'no_such'"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wend_manifest *m = open_plan(rows[i].plan);
        wend_error err = {0};
        wend_agent *a = m ? load(rt, m, rows[i].agent, NULL, &err) : NULL;

        tap_ok(!a && strstr(err.message, rows[i].says), "refused: %s",
               err.message);
        wend_agent_free(a);
        wend_manifest_free(m);
    }
}

static void check_tools(wend_runtime *rt)
{
    const char *const only[] = {"glob"};
    wend_manifest *m = open_plan("plan.yaml");
    wend_load_options o = {.size = sizeof o, .plan = m, .plan_trust = "any"};
    wend_error err = {0};
    wend_agent *a = NULL;

    if (m && wend_agent_load(rt, NULL, &o, &a, &err) == WEND_OK)
        tap_ok(has_tool(a, "count") && has_tool(a, "shell"),
               "its own tools and all built-in ones");
    wend_agent_free(a);
    o.tools = only;
    o.tools_count = 1;
    if (m && wend_agent_load(rt, NULL, &o, &a, &err) == WEND_OK)
        tap_ok(has_tool(a, "count") && has_tool(a, "glob") &&
                   !has_tool(a, "shell"),
               "its own tools and those of the host");
    wend_agent_free(a);
    wend_manifest_free(m);
}

int main(void)
{
    wend_runtime *rt = NULL;

    if (!mkdtemp(folder) || wend_runtime_new(NULL, &rt, NULL) != WEND_OK)
        return tap_ok(false, "no folder, or no runtime"), tap_done();
    for (size_t i = 0; i < FILES; i++)
        if (files[i].text)
            put(files[i].name, files[i].text);
        else
            mkdir(path_of(files[i].name), 0700);
    check_manifest();
    check_sums();
    check_refused_manifests();
    check_trust(rt);
    check_outputs(rt, "plan.yaml", NULL, NULL, "{\"n\":4}",
                  "{\"c\":3,\"x\":{\"d\":40},\"y\":\"helped\"}");
    check_outputs(rt, "named.yaml", NULL, NULL, NULL, "{\"q\":\"by name\"}");
    check_outputs(rt, "asks.yaml", "agent.yaml", NULL, NULL,
                  "{\"q\":\"calmly\"}");
    check_outputs(rt, "asks.yaml", "agent.yaml",
                  "script:{\"turns\":[{\"text\":\"mine\"}]}", NULL,
                  "{\"q\":\"mine\"}");
    check_refused(rt);
    check_tools(rt);
    wend_runtime_free(rt);
    for (size_t i = FILES; i-- > 0;)
        remove(path_of(files[i].name));
    rmdir(folder);
    return tap_done();
}

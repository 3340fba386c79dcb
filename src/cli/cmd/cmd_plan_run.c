/*
 * cmd_plan_run.c - wend plan run: runs a plan.
 */
#include "base/json.h"
#include "cli/agent/agent_inner.h"
#include "cli/agent/agent_make.h"
#include "cli/agent/plan_files.h"
#include "cli/agent/plan_tools.h"
#include "cli/agent/relics.h"
#include "cli/cmd/plan_run.h"
#include "cli/config.h"
#include "cli/stream.h"
#include "wire/file/yaml.h"

/* Every known tool can be a target; the policy decides what may run. */
static int offer_all_tools(struct cli *cli)
{
    struct words *w = &cli->set.tools;
    const wend_tool_info *t;

    w->count = 0;
    w->origin = ORIGIN_OPTIONS;
    for (size_t i = 0; (t = wend_builtin(i)); i++)
        if (!words_add(w, t->name.ptr, &cli->arena))
            return complain(EXIT_FAILED, "out of memory");
    return EXIT_DONE;
}

/* ---- Agents and plans ---------------------------------------------------- */

static int plan_agent(struct cli *cli, const struct plan_file *f,
                      wend_agent **agent, bool *asks);

/* A nested plan runs with its own agent, because its relics are beside it. */
static int add_workflow(struct cli *cli, wend_agent *agent,
                        const struct plan_named *n)
{
    wend_child_options o = {
        .size = sizeof o, .name = n->target, .plan = n->plan->plan};
    wend_error err = {0};
    bool asks;
    int code = plan_agent(cli, n->plan, &o.agent, &asks);

    if (!code && wend_agent_add_agent(agent, &o, &err) != WEND_OK)
        code = complain(EXIT_USAGE, "%s: %s", n->plan->path, err.message);
    wend_agent_free(o.agent);
    return code;
}

/* Creates the agent that runs the plan, with everything the plan names. */
static int plan_agent(struct cli *cli, const struct plan_file *f,
                      wend_agent **agent, bool *asks)
{
    int code;

    cli->relics = f->relics;
    cli->plan_tools = f->tools;
    code = agent_make(cli, agent, asks);
    if (!code)
        code = relics_add(cli, *agent);
    if (!code)
        code = plan_tools_add(cli, *agent);
    for (size_t i = 0; !code && i < f->named_count; i++)
        code = f->named[i].plan ? add_workflow(cli, *agent, &f->named[i])
                                : agent_inner(cli, *agent, f->named[i].target,
                                              f->named[i].agent);
    return code;
}

/* ---- The run ------------------------------------------------------------- */

static int go(struct cli *cli, wend_agent *agent, const wend_plan *plan,
              bool asks, const char *path)
{
    struct view view;
    struct stream st = {.cli = cli, .view = &view, .live = true, .asks = asks};
    wend_error err = {0};
    wend_status s;
    int code;

    if (!view_open(&view, &cli->set, view_look(&cli->set)))
        return EXIT_USAGE;
    view.live = true;
    s = wend_run_start_plan(agent, plan, NULL, NULL, &st.run, &err);
    if (s != WEND_OK && err.line)
        code = complain(EXIT_USAGE, "%s:%u:%u: %s", path, err.line, err.column,
                        err.message);
    else
        code = s == WEND_OK ? stream_go(&st) : give_up(cli, s, &err);
    wend_run_free(st.run);
    view_free(&view);
    return code;
}

/* The plan may come from standard input: only a file has a position to
 * report. */
static int check_own_replan(struct cli *cli, const struct plan_file *f)
{
    static const char want[] =
        "on_failure: replan needs a model; set one with -m NAME";
    struct buf text = {.mem = cli->arena.mem};
    const struct json *at = NULL;
    wend_str shown;

    if (wend_plan_describe(f->plan, WEND_PLAN_JSON, &shown, NULL) != WEND_OK)
        return complain(EXIT_FAILED, "out of memory");
    if (!str_is(json_str(json_get(json_parse(shown, &cli->arena, NULL),
                                  "on_failure")),
                "replan"))
        return EXIT_DONE;
    if (config_read(f->path, &text, NULL) == WEND_OK)
        at = json_get(yaml_parse(buf_view(&text), &cli->arena, NULL),
                      "on_failure");
    buf_free(&text);
    return at ? complain(EXIT_USAGE, "%s:%u:%u: %s", f->path, at->line,
                         at->column, want)
              : complain(EXIT_USAGE, "%s: %s", f->path, want);
}

/* A replan needs a model. Recursion is bounded by CHILD_DEPTH_MAX. */
static int check_replan(struct cli *cli, const struct plan_file *f)
{
    int code = check_own_replan(cli, f);

    for (size_t i = 0; !code && i < f->named_count; i++)
        if (f->named[i].plan)
            code = check_replan(cli, f->named[i].plan);
    return code;
}

int plan_run(struct cli *cli, const char *path)
{
    struct plan_file *f = NULL;
    wend_agent *agent = NULL;
    bool asks = false;
    int code = plan_files_load(cli, path, &f);

    if (!code && (!cli->set.model || !*cli->set.model)) {
        code = plan_files_unasked(f);
        if (!code)
            code = check_replan(cli, f);
        cli->set.model = "script:{\"turns\":[]}"; /* never called */
    }
    if (!code && !plan_files_models(cli, f))
        code = complain(EXIT_FAILED, "out of memory");
    if (!code)
        code = offer_all_tools(cli);
    if (!code)
        code = open_runtime(cli);
    if (!code)
        code = plan_agent(cli, f, &agent, &asks);
    if (!code)
        code = go(cli, agent, f->plan, asks, path);
    wend_agent_free(agent);
    plan_files_free(f);
    return code;
}

/*
 * cmd_plan_run.c - wend plan run: a plan, and what becomes of it.
 */
#include "base/json.h"
#include "cli/agent_make.h"
#include "cli/plan_run.h"
#include "cli/relics.h"
#include "cli/stream.h"

/* Every known tool can be a target; what may run is another question. */
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

static const struct json *actions_of(struct cli *cli, wend_plan *plan)
{
    const struct json *list;
    wend_str text;

    if (wend_plan_describe(plan, WEND_PLAN_JSON, &text, NULL) != WEND_OK)
        return NULL;
    list = json_get(json_parse(text, &cli->arena, NULL), "actions");
    return list ? list->first : NULL;
}

static bool asks_model(const struct json *actions)
{
    for (const struct json *a = actions; a; a = a->next)
        if (str_is(json_str(json_get(a, "type")), "llm"))
            return true;
    return false;
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

int plan_run(struct cli *cli, const char *path)
{
    wend_plan *plan = NULL;
    wend_agent *agent = NULL;
    const struct json *actions;
    bool asks = false;
    int code = plan_load(cli, path, &plan);

    actions = code ? NULL : actions_of(cli, plan);
    if (!code && (!cli->set.model || !*cli->set.model)) {
        if (asks_model(actions))
            code = complain(EXIT_USAGE, "the plan asks a model, and none is "
                                        "set: name one with -m NAME");
        cli->set.model = "script:{\"turns\":[]}"; /* never asked */
    }
    if (!code)
        code = offer_all_tools(cli);
    if (!code)
        code = open_runtime(cli);
    if (!code)
        code = agent_make(cli, &agent, &asks);
    if (!code)
        code = relics_add(cli, agent);
    if (!code)
        code = go(cli, agent, plan, asks, path);
    wend_agent_free(agent);
    wend_plan_free(plan);
    return code;
}

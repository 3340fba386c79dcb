/*
 * cmd_plan_run.c - wend plan run: runs a plan.
 */
#include "cli/agent/agent.h"
#include "cli/cmd/plan_run.h"
#include "cli/stream.h"

static int run(struct cli *cli, wend_agent *agent, bool asks)
{
    struct view view;
    struct stream st = {.cli = cli, .view = &view, .live = true, .asks = asks};
    wend_error err = {0};
    wend_status s;
    int code;

    if (!view_open(&view, &cli->set, view_look(&cli->set)))
        return EXIT_USAGE;
    view.live = true;
    s = wend_run_start_plan(agent, cli->plan->plan, NULL, NULL, &st.run, &err);
    if (s != WEND_OK && err.line)
        code = complain(EXIT_USAGE, "%s:%u:%u: %s", cli->plan->path, err.line,
                        err.column, err.message);
    else
        code = s == WEND_OK ? stream_go(&st) : give_up(cli, s, &err);
    wend_run_free(st.run);
    view_free(&view);
    return code;
}

int plan_run(struct cli *cli)
{
    wend_agent *agent = NULL;
    bool asks = false;
    int code = open_runtime(cli);

    if (!code)
        code = agent_make(cli, &agent, &asks);
    if (!code)
        code = run(cli, agent, asks);
    wend_agent_free(agent);
    return code;
}

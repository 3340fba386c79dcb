/*
 * agent_inner.c - agents inside others: those that are given tasks.
 *
 * An inner agent is what its file says. Of the settings it has those about
 * where models are and what may be done; the tools, instructions and limits
 * of the command line are the outer one's alone. (What it uses counts there,
 * too.)
 */
#include "cli/agent/agent_inner.h"

#include "cli/agent/agent_make.h"
#include "cli/agent/agent_use.h"

static void forget_own(struct settings *set)
{
    static const struct words none;

    set->tools = set->tool_files = set->servers = none;
    set->instructions = set->schema = NULL;
    set->max_turns = set->timeout_ms = 0;
    set->budget_tokens = set->budget_cost = 0;
}

static int add(struct cli *cli, wend_agent *parent, const char *name,
               wend_agent *inner)
{
    const struct agent_manifest *m = cli->agent->manifest;
    wend_kid_options o = {.size = sizeof o,
                          .name = name,
                          .description = m->description.ptr,
                          .agent = inner};
    wend_error err = {0};
    wend_status s = wend_agent_add_agent(parent, &o, &err);

    return s == WEND_OK
               ? EXIT_DONE
               : complain(exit_of(s), "%s: %s", cli->agent->path, err.message);
}

int agent_inner(struct cli *cli, wend_agent *parent, const char *name,
                const struct agent_file *f)
{
    struct settings set = cli->set;
    const struct agent_file *agent = cli->agent;
    size_t files = cli->tool_files_count;
    bool inner = cli->inner, asks;
    wend_agent *made = NULL;
    int code;

    forget_own(&cli->set);
    cli->inner = true;
    code = agent_take(cli, f, set.quiet);
    if (!code)
        code = agent_make(cli, &made, &asks);
    if (!code)
        code = add(cli, parent, name, made);
    wend_agent_free(made);
    cli->set = set;
    cli->agent = agent;
    cli->tool_files_count = files;
    cli->inner = inner;
    return code;
}

int agents_add(struct cli *cli, wend_agent *agent)
{
    const struct agent_file *f = cli->agent;
    size_t count = f ? f->manifest->agents.count : 0;
    wend_error err = {0};
    wend_status s = WEND_OK;
    int code = EXIT_DONE;

    for (size_t i = 0; !code && i < count; i++)
        code = agent_inner(cli, agent, f->agents[i].name, &f->agents[i]);
    if (!code && count)
        s = wend_agent_add_builtin(agent, "task", &err);
    return s == WEND_OK || s == WEND_E_EXISTS ? code : give_up(cli, s, &err);
}

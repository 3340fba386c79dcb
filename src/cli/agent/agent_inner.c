/*
 * agent_inner.c - agents that a plan names.
 *
 * As with agents inside agents (wend_agent_load), they have of the settings
 * those about where models are and what may be done; the tools, instructions
 * and limits of the command line are the plan's alone.
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
    wend_child_options o = {.size = sizeof o,
                            .name = name,
                            .description = cli->agent->description,
                            .agent = inner};
    wend_error err = {0};
    wend_status s = wend_agent_add_agent(parent, &o, &err);

    return s == WEND_OK
               ? EXIT_DONE
               : complain(exit_of(s), "%s: %s", cli->agent->path, err.message);
}

int agent_inner(struct cli *cli, wend_agent *parent, const char *name,
                const wend_manifest *m)
{
    struct settings set = cli->set;
    const wend_manifest *agent = cli->agent;
    size_t files = cli->tool_files_count;
    bool inner = cli->inner, asks;
    wend_agent *made = NULL;
    int code;

    forget_own(&cli->set);
    cli->inner = true;
    code = agent_take(cli, m);
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

/*
 * plan_tools.c - the tools of a plan: files in the folder tools beside it.
 */
#include "cli/agent/plan_tools.h"

#include <string.h>
#include <unistd.h>

#include "cli/agent/agent_use.h"
#include "cli/agent/plan_files.h"

struct plan_tool {
    struct plan_tool *next;
    const wend_manifest *file;
};

static bool load(struct cli *cli, const char *path, wend_str name,
                 struct buf *wrong)
{
    struct plan_tool *t = arena_alloc(&cli->arena, sizeof *t);
    wend_error err = {0};

    if (!t) {
        buf_cstr(wrong, "out of memory");
    } else if (tool_open(cli, path, &t->file, &err) != WEND_OK) {
        buf_cstr(wrong, err.message);
    } else if (!str_is(name, t->file->name)) {
        buf_fmt(wrong, "%s: the tool's name is '%s', not '%.*s'", path,
                t->file->name, (int)name.len, name.ptr);
    } else {
        t->next = cli->plan_tools;
        cli->plan_tools = t;
    }
    return !wrong->len;
}

bool plan_tools_have(const struct cli *cli, wend_str name)
{
    for (const struct plan_tool *t = cli->plan_tools; t; t = t->next)
        if (str_is(name, t->file->name))
            return true;
    return false;
}

bool plan_tools_know(struct cli *cli, wend_str plan, wend_str name,
                     struct buf *wrong)
{
    const char *path;

    if (plan_tools_have(cli, name))
        return true;
    path = beside_plan(cli, plan, "tools", name);
    return path && !access(path, F_OK) && load(cli, path, name, wrong);
}

int plan_tools_add(struct cli *cli, wend_agent *agent)
{
    wend_error err = {0};
    wend_status s;

    for (const struct plan_tool *t = cli->plan_tools; t; t = t->next) {
        s = wend_agent_add_command(agent, t->file->commands[0], &err);
        if (s != WEND_OK)
            return complain(exit_of(s), "%s: %s", t->file->path, err.message);
    }
    return EXIT_DONE;
}

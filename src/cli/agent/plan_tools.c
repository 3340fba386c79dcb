/*
 * plan_tools.c - the tools of a plan: files in the folder tools beside it.
 */
#include "cli/agent/plan_tools.h"

#include <string.h>
#include <unistd.h>

#include "cli/agent/agent_tools.h"
#include "cli/agent/plan_files.h"

struct plan_tool {
    struct plan_tool *next;
    struct tool_file file;
};

static bool load(struct cli *cli, const char *path, wend_str name,
                 struct buf *wrong)
{
    struct plan_tool *t = arena_alloc(&cli->arena, sizeof *t);
    wend_error err = {0};

    if (!t) {
        buf_cstr(wrong, "out of memory");
    } else if (tool_file_load(path, &cli->arena, &t->file, &err) != WEND_OK) {
        buf_cstr(wrong, err.message);
    } else if (!str_eq(t->file.manifest->name, name)) {
        buf_fmt(wrong, "%s: the tool's name is '%s', not '%.*s'", path,
                t->file.manifest->name.ptr, (int)name.len, name.ptr);
    } else {
        t->next = cli->plan_tools;
        cli->plan_tools = t;
    }
    return !wrong->len;
}

bool plan_tools_have(const struct cli *cli, wend_str name)
{
    for (const struct plan_tool *t = cli->plan_tools; t; t = t->next)
        if (str_eq(t->file.manifest->name, name))
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
    int code = EXIT_DONE;

    for (const struct plan_tool *t = cli->plan_tools; t && !code; t = t->next)
        code = tools_add_file(cli, agent, &t->file);
    return code;
}

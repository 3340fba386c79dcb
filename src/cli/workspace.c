/*
 * workspace.c - warns about an unsuitable working directory.
 */
#include "cli/workspace.h"

#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool same_folder(const char *path)
{
    struct stat here, there;

    return path && path[0] == '/' && !stat(".", &here) && !stat(path, &there) &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

bool workspace_is_home(void)
{
    const struct passwd *user;

    return same_folder(getenv("HOME")) ||
           ((user = getpwuid(geteuid())) && same_folder(user->pw_dir));
}

static bool is_builtin(wend_str name)
{
    const wend_tool_info *t;

    for (size_t i = 0; (t = wend_builtin(i)); i++)
        if (str_eq(t->name, name))
            return !str_is(name, "shell") && !str_is(name, "exec");
    return false;
}

static bool runs_programs(wend_agent *agent)
{
    const wend_tool_info *t;

    for (size_t i = 0; (t = wend_agent_tool(agent, i)); i++)
        if (!is_builtin(t->name))
            return true;
    return false;
}

void workspace_look(const struct cli *cli, wend_agent *agent)
{
    if (!cli->set.quiet && cli->set.sandbox != 1 && runs_programs(agent) &&
        workspace_is_home())
        complain(0, "warning: the working directory is your home directory: "
                    "despite the sandbox, programs can read keys and change "
                    "startup files in it; work in a project directory");
}

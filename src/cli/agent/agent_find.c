/*
 * agent_find.c - where agents are: named files, the user's folder.
 */
#include "cli/agent/agent.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "cli/config.h"
#include "wire/file/manifest.h"

enum { AGENTS_MAX = 1000 }; /* files in the folder that are looked at */

static int order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void read_folder(DIR *dir, const char *folder, const char **paths,
                        size_t *count)
{
    const struct dirent *entry;

    while ((entry = readdir(dir)) && *count < AGENTS_MAX) {
        struct buf b = {.mem = &cli_mem};

        if (entry->d_name[0] == '.' || !manifest_is_file(str_of(entry->d_name)))
            continue;
        buf_fmt(&b, "%s/%s", folder, entry->d_name);
        paths[(*count)++] = b.ptr;
    }
    closedir(dir);
    qsort(paths, *count, sizeof *paths, order);
}

wend_status agents_list(struct cli *cli, const char ***paths, size_t *count)
{
    struct buf folder = {.mem = &cli_mem};
    DIR *dir;

    *count = 0;
    *paths = arena_alloc(&cli->arena, AGENTS_MAX * sizeof **paths);
    if (!config_folder(&folder))
        return WEND_OK;
    buf_cstr(&folder, "/agents");
    dir = opendir(folder.ptr);
    if (dir)
        read_folder(dir, folder.ptr, *paths, count);
    return dir || errno == ENOENT ? WEND_OK
                                  : fail(&cli->err, WEND_E_IO, "%s: %s",
                                         folder.ptr, strerror(errno));
}

static int no_agent(struct cli *cli, const char *name, const char **paths,
                    size_t count)
{
    const char *names[AGENTS_MAX + 1], *near;
    int n = 0;

    names[n++] = AGENT_BUILTIN;
    for (size_t i = 0; i < count; i++)
        names[n++] = arena_str(&cli->arena, manifest_stem(paths[i])).ptr;
    near = str_near(str_of(name), names, n);
    return complain(EXIT_USAGE, "there is no agent '%s'%s%s%s", name,
                    near ? "; did you mean '" : "",
                    near ? near
                         : "; 'wend agents' lists them, ./FILE names "
                           "a file",
                    near ? "'?" : "");
}

int agent_find(struct cli *cli, const char *name, const char **path)
{
    const char **paths;
    size_t count;
    int code;

    *path = name;
    if (manifest_is_file(str_of(name)))
        return EXIT_DONE;
    code = report(cli, agents_list(cli, &paths, &count));
    if (code)
        return code;
    *path = NULL;
    for (size_t i = 0; i < count && !*path; i++)
        if (str_is(manifest_stem(paths[i]), name))
            *path = paths[i];
    if (*path || !strcmp(name, AGENT_BUILTIN))
        return EXIT_DONE;
    return no_agent(cli, name, paths, count);
}

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

static wend_status read_folder(DIR *dir, const char *folder, struct arena *a,
                               const char **paths, size_t *count,
                               wend_error *err)
{
    const struct dirent *entry;

    while ((entry = readdir(dir)) && *count < AGENTS_MAX) {
        struct buf b = {.mem = a->mem};

        if (entry->d_name[0] == '.' || !manifest_is_file(str_of(entry->d_name)))
            continue;
        buf_fmt(&b, "%s/%s", folder, entry->d_name);
        paths[*count] = b.failed ? NULL : arena_str(a, buf_view(&b)).ptr;
        buf_free(&b);
        if (!paths[*count])
            return fail_nomem(err);
        ++*count;
    }
    return WEND_OK;
}

wend_status agents_list(struct arena *a, const char ***paths, size_t *count,
                        wend_error *err)
{
    struct buf folder = {.mem = a->mem};
    wend_status s = WEND_OK;
    DIR *dir = NULL;

    *count = 0;
    *paths = arena_alloc(a, AGENTS_MAX * sizeof **paths);
    if (!*paths)
        return fail_nomem(err);
    if (config_folder(&folder)) {
        buf_cstr(&folder, "/agents");
        dir = opendir(folder.ptr);
    }
    if (dir)
        s = read_folder(dir, folder.ptr, a, *paths, count, err);
    else if (folder.len && errno != ENOENT)
        s = fail(err, WEND_E_IO, "%s: %s", folder.ptr, strerror(errno));
    if (dir)
        closedir(dir);
    if (!s)
        qsort(*paths, *count, sizeof **paths, order);
    buf_free(&folder);
    return s;
}

static int no_agent(struct cli *cli, const char *name, const char **paths,
                    size_t count)
{
    const char *names[AGENTS_MAX + 1], *near;
    int n = 0;

    names[n++] = AGENT_BUILTIN;
    for (size_t i = 0; i < count; i++) {
        names[n] = arena_str(&cli->arena, manifest_stem(paths[i])).ptr;
        n += names[n] != NULL;
    }
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
    wend_error err = {0};
    wend_status s;
    size_t count;

    *path = name;
    if (manifest_is_file(str_of(name)))
        return EXIT_DONE;
    s = agents_list(&cli->arena, &paths, &count, &err);
    if (s)
        return give_up(cli, s, &err);
    *path = NULL;
    for (size_t i = 0; i < count && !*path; i++)
        if (str_is(manifest_stem(paths[i]), name))
            *path = paths[i];
    if (*path || !strcmp(name, AGENT_BUILTIN))
        return EXIT_DONE;
    return no_agent(cli, name, paths, count);
}

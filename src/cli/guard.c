/*
 * guard.c - finds the files that define the agent.
 */
#include "cli/guard.h"

#include <string.h>
#include <sys/stat.h>

#include "base/utf8.h"

/* Paths that no call can name need no guard. */
static bool guard(struct words *out, const char *path, struct arena *a)
{
    return !path || utf8_valid_len(str_of(path)) != strlen(path) ||
           words_add(out, path, a);
}

/* Words of a command that are files. */
static bool guard_words(struct words *out, const char *const *argv,
                        struct arena *a)
{
    struct stat st;

    for (size_t i = 0; argv && argv[i]; i++)
        if (!stat(argv[i], &st) && S_ISREG(st.st_mode) &&
            !guard(out, argv[i], a))
            return false;
    return true;
}

static bool guard_all(const struct cli *cli, struct words *out, struct arena *a)
{
    bool ok = true;

    for (size_t i = 0; ok && i < cli->tool_files_count; i++) {
        const wend_manifest *m = cli->tool_files[i];

        ok = guard(out, m->path, a) &&
             guard_words(out, m->commands[0]->argv, a) &&
             guard_words(out, m->commands[0]->verify, a);
    }
    return ok && guard(out, cli->set.store, a) &&
           guard(out, cli->set.models, a);
}

int agent_guard(struct cli *cli, wend_agent_options *o)
{
    struct words guarded = {0};

    if (!guard_all(cli, &guarded, &cli->arena))
        return complain(EXIT_FAILED, "out of memory");
    o->guarded = guarded.items;
    o->guarded_count = guarded.count;
    return EXIT_DONE;
}

/*
 * agent_use.c - which agent a command runs, and what its file changes.
 *
 * The file overrides the environment and the settings; options override the
 * file.
 */
#include "cli/agent/agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/config.h"
#include "cli/term.h"
#include "cli/trust.h"
#include "wire/file/manifest.h"

/* ---- Manifests ----------------------------------------------------------- */

struct manifest_node {
    struct manifest_node *next;
    wend_manifest *manifest;
};

wend_status manifest_open(struct cli *cli, const char *path,
                          const wend_manifest_options *o,
                          const wend_manifest **out)
{
    struct manifest_node *n = arena_alloc(&cli->arena, sizeof *n);
    wend_status s = wend_manifest_open(path, o, &n->manifest, &cli->err);

    n->next = cli->manifests;
    cli->manifests = n;
    *out = n->manifest;
    return s;
}

wend_status agent_open(struct cli *cli, const char *path, bool plain,
                       const wend_manifest **out)
{
    const wend_manifest_options o = {.size = sizeof o, .regular = plain};

    return manifest_open(cli, path, &o, out);
}

void manifests_free(struct cli *cli)
{
    for (; cli->manifests; cli->manifests = cli->manifests->next)
        wend_manifest_free(cli->manifests->manifest);
}

/* ---- Settings ------------------------------------------------------------ */

static void set_text(const char **at, const char *text)
{
    if (text)
        *at = text;
}

static void set_number(int64_t *at, int64_t n)
{
    if (n)
        *at = n;
}

static void apply(struct cli *cli)
{
    const wend_agent_options *o = cli->agent->options;
    struct settings *set = &cli->set;

    set_text(&set->model, o->model);
    set_text(&set->base_url, o->base_url);
    set_text(&set->instructions, o->instructions);
    set_number(&set->max_turns, o->limits.turns);
    set_number(&set->timeout_ms, o->limits.time_ms);
    set_number(&set->budget_tokens, o->limits.tokens);
    set_number(&set->budget_cost, o->limits.cost_nano);
    set_number(&set->parallel, o->limits.parallel);
    if (!o->fallbacks)
        return;
    set->fallback = (struct words){.origin = ORIGIN_AGENT};
    for (size_t i = 0; i < o->fallbacks_count; i++)
        words_add(&set->fallback, o->fallbacks[i], &cli->arena);
}

/* Uses a file that was opened. */
static int take(struct cli *cli, const wend_manifest *m)
{
    if (wend_manifest_check(m, &cli->err) != WEND_OK)
        return complain(EXIT_USAGE, "%s", cli->err.message);
    cli->agent = m;
    apply(cli);
    return EXIT_DONE;
}

/* ---- Named agents -------------------------------------------------------- */

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
    const char *names[AGENTS_MAX + 1];
    char hint[HINT_BYTES];
    int n = 0;

    names[n++] = AGENT_BUILTIN;
    for (size_t i = 0; i < count; i++)
        names[n++] = arena_str(&cli->arena, manifest_stem(paths[i])).ptr;
    did_you_mean(hint, name, names, n);
    return complain(EXIT_USAGE, "there is no agent '%s'%s", name,
                    hint[0] ? hint
                            : "; 'wend agents' lists them, ./FILE names a "
                              "file");
}

/* What -a NAME means: a path, or NULL for the built-in agent. */
static int agent_find(struct cli *cli, const char *name, const char **path)
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

/* ---- ./wend.yaml --------------------------------------------------------- */

wend_status agent_here(struct cli *cli, const wend_manifest **out,
                       bool *trusted)
{
    struct arena *a = &cli->arena;
    const char *real;
    wend_status s;

    *trusted = false;
    if (access(AGENT_FILE_DEFAULT, F_OK))
        return WEND_E_NOTFOUND;
    s = agent_open(cli, AGENT_FILE_DEFAULT, true, out);
    if (s)
        return s == WEND_E_NOTFOUND ? WEND_E_IO : s; /* one that it names */
    real = trust_real(AGENT_FILE_DEFAULT, a);
    if (!real)
        return fail(&cli->err, WEND_E_IO, "%s: %s", AGENT_FILE_DEFAULT,
                    strerror(errno));
    return trust_has(real, (*out)->sum, a, trusted, &cli->err);
}

bool says_yes(wend_str question)
{
    int tty = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    char line[64];
    ssize_t n;

    if (tty < 0)
        return false;
    /* Input that was typed before the question is not an answer. */
    tcflush(tty, TCIFLUSH);
    n = write(STDERR_FILENO, question.ptr, question.len);
    if (n > 0) {
        do
            n = read(tty, line, sizeof line);
        while (n < 0 && errno == EINTR);
    }
    close(tty);
    while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
        n--;
    return n > 0 && (str_is((wend_str){line, (size_t)n}, "y") ||
                     str_is((wend_str){line, (size_t)n}, "yes"));
}

int confirm(wend_str question)
{
    return says_yes(question) ? EXIT_DONE
                              : complain(EXIT_FAILED, "nothing was removed");
}

/* The changes since it was accepted; empty if they are not known. */
static void put_changes(struct cli *cli, struct buf *b, const wend_manifest *m)
{
    const char *real = trust_real(AGENT_FILE_DEFAULT, &cli->arena);

    if (real)
        trust_changes(real, m, &cli->arena, b, NULL);
}

static bool ask(struct cli *cli, const wend_manifest *m)
{
    struct buf b = {.mem = &cli_mem}, changes = b;

    put_changes(cli, &changes, m);
    buf_cstr(&b, "This folder has a " AGENT_FILE_DEFAULT
                 " that was not accepted yet, or was changed:\n");
    agent_show(&b, m);
    if (changes.len)
        buf_fmt(&b, "changed since it was accepted: %s\n", changes.ptr);
    buf_cstr(&b, "use it, now and as long as it stays as it is? [y]es [n]o ");
    return says_yes(buf_view(&b));
}

static void say_ignored(struct cli *cli, const wend_manifest *m)
{
    struct buf changes = {.mem = &cli_mem};

    put_changes(cli, &changes, m);
    if (changes.len)
        complain(0,
                 AGENT_FILE_DEFAULT
                 " is ignored: changed since it was accepted: %s; look at it, "
                 "then 'wend trust " AGENT_FILE_DEFAULT "'",
                 changes.ptr);
    else
        complain(0, AGENT_FILE_DEFAULT
                 " is ignored: it was not accepted yet, or was changed; look "
                 "at it, then 'wend trust " AGENT_FILE_DEFAULT "'");
}

static int accept_here(struct cli *cli, const wend_manifest *m)
{
    const char *real = trust_real(AGENT_FILE_DEFAULT, &cli->arena);

    if (!real)
        return complain(EXIT_USAGE, "%s: %s", AGENT_FILE_DEFAULT,
                        strerror(errno));
    if (trust_add(real, m, &cli->arena, &cli->err) != WEND_OK)
        complain(0, "%s; so it will be asked again", cli->err.message);
    return take(cli, m);
}

static int use_here(struct cli *cli, const struct settings *options)
{
    const wend_manifest *m = NULL;
    bool trusted;
    wend_status s = agent_here(cli, &m, &trusted);

    if (s == WEND_E_NOTFOUND)
        return EXIT_DONE;
    if (!s && trusted)
        return take(cli, m);
    if (!s && term_asks() && ask(cli, m))
        return accept_here(cli, m);
    if (s && !options->quiet)
        complain(0, AGENT_FILE_DEFAULT " is ignored: %s", cli->err.message);
    else if (!options->quiet)
        say_ignored(cli, m);
    return EXIT_DONE;
}

/* ---- Public -------------------------------------------------------------- */

int agent_use(struct cli *cli, const struct settings *options)
{
    const wend_manifest *m = NULL;
    const char *path;
    int code;

    if (!options->agent)
        return use_here(cli, options);
    code = agent_find(cli, options->agent, &path);
    if (code || !path)
        return code;
    if (agent_open(cli, path, false, &m) != WEND_OK)
        return complain(EXIT_USAGE, "%s", cli->err.message);
    return take(cli, m);
}

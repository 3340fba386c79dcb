/*
 * agent_use.c - which agent a command runs, and what its file changes.
 *
 * The file stands between the environment and the options: it says more
 * about this task than the user's defaults do, and less than the command
 * line.
 */
#include "cli/agent/agent_use.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/agent/agent_find.h"
#include "cli/agent/agent_tools.h"
#include "cli/trust.h"

/* ---- Settings ------------------------------------------------------------ */

static void set_text(const char **at, wend_str text)
{
    if (text.ptr)
        *at = text.ptr;
}

static void set_number(int64_t *at, int64_t n)
{
    if (n)
        *at = n;
}

static wend_status apply(struct cli *cli)
{
    const struct agent_file *f = cli->agent;
    const struct agent_manifest *m = f->manifest;
    struct settings *set = &cli->set;
    const char **fallbacks;

    if (f->model)
        set->model = f->model;
    set_text(&set->base_url, m->base_url);
    set_text(&set->instructions, m->instructions);
    set_number(&set->max_turns, m->limits.turns);
    set_number(&set->timeout_ms, m->limits.time_ms);
    set_number(&set->budget_tokens, m->limits.tokens);
    set_number(&set->budget_cost, m->limits.cost_nano);
    set_number(&set->parallel, m->limits.parallel);
    if (!m->fallbacks.given)
        return WEND_OK;
    fallbacks =
        arena_alloc(&cli->arena, (f->fallbacks_count + 1) * sizeof *fallbacks);
    if (!fallbacks)
        return WEND_E_NOMEM;
    memcpy(fallbacks, f->fallbacks, f->fallbacks_count * sizeof *fallbacks);
    set->fallback = (struct words){fallbacks, f->fallbacks_count,
                                   f->fallbacks_count, ORIGIN_AGENT};
    return WEND_OK;
}

static void warn_unserved(const struct agent_file *f)
{
    const char *key;

    for (size_t i = 0; (key = agent_manifest_unserved(f->manifest, i)); i++)
        complain(0, "%s: '%s' is not served by this version and has no effect",
                 f->path, key);
}

int agent_take(struct cli *cli, const struct agent_file *f, bool quiet)
{
    wend_error err = {0};

    if (agent_tools_check(f, &err) != WEND_OK)
        return complain(EXIT_USAGE, "%s", err.message);
    cli->agent = f;
    if (!quiet)
        warn_unserved(f);
    return apply(cli) ? complain(EXIT_FAILED, "out of memory") : EXIT_DONE;
}

/* ---- ./wend.yaml --------------------------------------------------------- */

wend_status agent_here(struct arena *a, struct agent_file **out, bool *trusted,
                       wend_error *err)
{
    const char *real;
    wend_status s;

    *trusted = false;
    if (access(AGENT_FILE_DEFAULT, F_OK))
        return WEND_E_NOTFOUND;
    s = agent_file_load(AGENT_FILE_DEFAULT, true, a, out, err);
    if (s)
        return s == WEND_E_NOTFOUND ? WEND_E_IO : s; /* one that it names */
    real = trust_real(AGENT_FILE_DEFAULT, a);
    if (!real)
        return fail(err, WEND_E_IO, "%s: %s", AGENT_FILE_DEFAULT,
                    strerror(errno));
    return trust_has(real, (*out)->sum, a, trusted, err);
}

bool says_yes(wend_str question)
{
    int tty = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    char line[64];
    ssize_t n;

    if (tty < 0)
        return false;
    /* What was typed before the question is no answer to it. */
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

/* What is different from what was accepted; empty if that is not known. */
static void put_changes(struct cli *cli, struct buf *b,
                        const struct agent_file *f)
{
    const char *real = trust_real(AGENT_FILE_DEFAULT, &cli->arena);

    if (real)
        trust_changes(real, f->parts, &cli->arena, b, NULL);
}

static bool ask(struct cli *cli, const struct agent_file *f)
{
    struct buf b = {.mem = cli->arena.mem}, changes = b;
    bool yes;

    put_changes(cli, &changes, f);
    buf_cstr(&b, "This folder has a " AGENT_FILE_DEFAULT
                 " that was not accepted yet, or was changed:\n");
    agent_show(&b, f);
    if (changes.len)
        buf_fmt(&b, "changed since it was accepted: %s\n", changes.ptr);
    buf_cstr(&b, "use it, now and as long as it stays as it is? [y]es [n]o ");
    yes = !b.failed && !changes.failed && says_yes(buf_view(&b));
    buf_free(&b);
    buf_free(&changes);
    return yes;
}

static void say_ignored(struct cli *cli, const struct agent_file *f)
{
    struct buf changes = {.mem = cli->arena.mem};

    put_changes(cli, &changes, f);
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
    buf_free(&changes);
}

static int accept_here(struct cli *cli, const struct agent_file *f,
                       const struct settings *options)
{
    const char *real = trust_real(AGENT_FILE_DEFAULT, &cli->arena);
    wend_error err = {0};

    if (!real)
        return complain(EXIT_USAGE, "%s: %s", AGENT_FILE_DEFAULT,
                        strerror(errno));
    if (trust_add(real, f->sum, f->parts, &cli->arena, &err) != WEND_OK)
        complain(0, "%s; so it will be asked again", err.message);
    return agent_take(cli, f, options->quiet);
}

static int use_here(struct cli *cli, const struct settings *options)
{
    bool terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
    struct agent_file *f = NULL;
    wend_error err = {0};
    bool trusted;
    wend_status s = agent_here(&cli->arena, &f, &trusted, &err);

    if (s == WEND_E_NOTFOUND)
        return EXIT_DONE;
    if (!s && trusted)
        return agent_take(cli, f, options->quiet);
    if (!s && terminal && ask(cli, f))
        return accept_here(cli, f, options);
    if (s && !options->quiet)
        complain(0, AGENT_FILE_DEFAULT " is ignored: %s", err.message);
    else if (!options->quiet)
        say_ignored(cli, f);
    return EXIT_DONE;
}

/* ---- Public -------------------------------------------------------------- */

int agent_use(struct cli *cli, const struct settings *options)
{
    struct agent_file *f = NULL;
    wend_error err = {0};
    const char *path;
    int code;

    if (!options->agent)
        return use_here(cli, options);
    code = agent_find(cli, options->agent, &path);
    if (code || !path)
        return code;
    if (agent_file_load(path, false, &cli->arena, &f, &err) != WEND_OK)
        return complain(EXIT_USAGE, "%s", err.message);
    return agent_take(cli, f, options->quiet);
}

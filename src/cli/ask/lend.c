/*
 * lend.c - lends the terminal to a program of the user: a pager, an editor.
 */
#include "cli/ask/lend.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "cli/config.h"

extern char **environ;

/* ---- Which program ------------------------------------------------------- */

static const char *setting(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

static bool is_installed(const char *program)
{
    wend_str path = str_of(setting("PATH")), folder;
    char file[512];

    while (path.len && str_take(&path, ':', &folder)) {
        int n = snprintf(file, sizeof file, "%.*s/%s", (int)folder.len,
                         folder.ptr, program);

        if (n > 0 && (size_t)n < sizeof file && !access(file, X_OK))
            return true;
    }
    return false;
}

const char *lend_pager(void)
{
    const char *pager = setting("PAGER");

    if (pager)
        return pager;
    return is_installed("less") ? "less" : is_installed("more") ? "more" : NULL;
}

const char *lend_editor(void)
{
    const char *editor = setting("VISUAL");

    return editor ? editor : setting("EDITOR");
}

/* less shows escapes as text unless an option says otherwise; -R lets only
 * colours through. */
bool lend_colour(const char *pager)
{
    const char *options = setting("LESS");

    return strstr(pager, "less") && (!options || strchr(options, 'R'));
}

/* ---- Starting it --------------------------------------------------------- */

/* A pager shows text of strangers: without commands that run programs or write
 * files. */
static char **pager_environment(struct arena *a)
{
    static char secure[] = "LESSSECURE=1", colours[] = "LESS=R";
    size_t count = 0, used = 0;
    char **list;

    while (environ[count])
        count++;
    list = arena_alloc(a, (count + 3) * sizeof *list);
    if (!list)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "LESSSECURE=", 11) != 0)
            list[used++] = environ[i];
    list[used++] = secure;
    if (!setting("LESS"))
        list[used++] = colours;
    return list;
}

/* Runs a command line of the user with `in` as standard input. */
static bool start(struct lend *l, char *const *argv, char **env, int in)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int error;

    sigemptyset(&none);
    sigemptyset(&all);
    sigaddset(&all, SIGINT);
    sigaddset(&all, SIGPIPE);
    sigaddset(&all, SIGTERM);
    if (posix_spawn_file_actions_init(&files))
        return false;
    if (posix_spawnattr_init(&attributes)) {
        posix_spawn_file_actions_destroy(&files);
        return false;
    }
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    error = posix_spawn(&l->pid, "/bin/sh", &files, &attributes, argv,
                        env ? env : environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    errno = error;
    if (error)
        l->pid = 0;
    return !error;
}

bool lend_page(struct lend *l, const char *pager, wend_str text)
{
    char sh[] = "sh", c[] = "-c";
    struct buf line = {.mem = &cli_mem};
    char *argv[] = {sh, c, NULL, NULL};
    struct arena a = {.mem = &cli_mem};
    int fd = memfd_create("wend", MFD_CLOEXEC);
    bool ok;

    /* less ignores Ctrl-Z now; the shell must not stop without it. */
    buf_fmt(&line, "trap '' TSTP\n%s", pager);
    argv[2] = line.ptr;
    ok = fd >= 0 && write_all(fd, text) && lseek(fd, 0, SEEK_SET) == 0 &&
         start(l, argv, pager_environment(&a), fd);
    if (fd >= 0)
        close(fd);
    buf_free(&line);
    arena_free(&a);
    return ok;
}

void lend_put_args(struct buf *out, wend_str args)
{
    struct arena a = {.mem = out->mem};
    const struct json *j = json_parse(args, &a, NULL);

    if (!j || j->kind != JSON_OBJECT || !j->first) {
        buf_str(out, args);
        buf_char(out, '\n');
        arena_free(&a);
        return;
    }
    for (const struct json *i = j->first; i; i = i->next) {
        buf_cstr(out, i == j->first ? "{\n  " : ",\n  ");
        json_put_str(out, i->key);
        buf_cstr(out, ": ");
        json_put(out, i);
    }
    buf_cstr(out, "\n}\n");
    arena_free(&a);
}

bool lend_edit(struct lend *l, const char *editor, wend_str text, int tty)
{
    const char *folder = setting("TMPDIR");
    struct buf line = {.mem = &cli_mem};
    char sh[] = "sh", c[] = "-c";
    char *argv[] = {sh, c, NULL, sh, l->file, NULL};
    bool ok;
    int fd;

    if ((size_t)snprintf(l->file, sizeof l->file, "%s/wend-XXXXXX.json",
                         folder ? folder : "/tmp") >= sizeof l->file)
        snprintf(l->file, sizeof l->file, "/tmp/wend-XXXXXX.json");
    fd = mkstemps(l->file, (int)strlen(".json"));
    if (fd < 0) {
        l->file[0] = '\0';
        return false;
    }
    ok = write_all(fd, text);
    close(fd);
    buf_fmt(&line, "%s \"$@\"", editor);
    argv[2] = line.ptr;
    return ok && start(l, argv, NULL, tty);
}

/* ---- Its end ------------------------------------------------------------- */

bool lend_over(struct lend *l, bool *ok)
{
    int status = 0;
    pid_t got = l->pid ? waitpid(l->pid, &status, WNOHANG | WUNTRACED) : -1;

    l->stopped = got > 0 && WIFSTOPPED(status);
    if (!got || l->stopped || (got < 0 && errno == EINTR))
        return false;
    *ok = got > 0 && WIFEXITED(status) && !WEXITSTATUS(status);
    l->pid = 0;
    return true;
}

bool lend_read(const struct lend *l, struct buf *out)
{
    char room[4096];
    ssize_t n = -1;
    int fd = open(l->file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0)
        return false;
    while (out->len <= ARGS_BYTES_MAX && (n = read(fd, room, sizeof room)) > 0)
        buf_add(out, room, (size_t)n);
    if (n > 0)
        errno = EFBIG;
    close(fd);
    return !n && !out->failed;
}

void lend_close(struct lend *l)
{
    if (l->pid)
        kill(l->pid, SIGTERM);
    l->pid = 0;
    if (l->file[0])
        unlink(l->file);
    l->file[0] = '\0';
}

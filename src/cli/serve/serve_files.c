/*
 * serve_files.c - files of wend serve: token, agents, log, the page that opens
 * the browser.
 */
#include "cli/serve/serve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/hash.h"
#include "cli/agent/agent.h"
#include "cli/config.h"
#include "wire/file/manifest.h"

enum { TOKEN_BYTES = 24 };

extern char **environ;

/* ---- The token ----------------------------------------------------------- */

static int bad_file(const char *path)
{
    return complain(EXIT_USAGE, "cannot open '%s': %s", path, strerror(errno));
}

/* All or nothing: another start may read it meanwhile. */
static int write_private(const char *path, wend_str text)
{
    struct buf part = {.mem = &cli_mem};
    int fd, code = EXIT_DONE;

    buf_fmt(&part, "%s.%ld", path, (long)getpid());
    unlink(part.ptr);
    fd = open(part.ptr, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
              0600);
    if (fd < 0)
        return bad_file(part.ptr);
    if (write(fd, text.ptr, text.len) != (ssize_t)text.len || fsync(fd))
        code = bad_file(part.ptr);
    close(fd);
    if (!code && rename(part.ptr, path))
        code = bad_file(path);
    return code;
}

static int make_token(const char *path, struct buf *token)
{
    unsigned char bytes[TOKEN_BYTES];
    char text[2 * TOKEN_BYTES + 1];

    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return complain(EXIT_FAILED, "no random bytes: %s", strerror(errno));
    hex_text(text, bytes, sizeof bytes);
    buf_cstr(token, text);
    return write_private(path, str_of(text));
}

/* Everyone who can read it can do what the server can. */
static int check_private(const char *path)
{
    struct stat st;

    if (stat(path, &st))
        return bad_file(path);
    if (st.st_mode & 077)
        return complain(EXIT_USAGE, "others can read '%s'; chmod 600 it", path);
    return EXIT_DONE;
}

static int read_token(struct cli *cli, const char *path, struct buf *token)
{
    struct buf text = {.mem = &cli_mem};
    wend_str t;

    if (data_file_check(path, &cli->err) != WEND_OK ||
        data_file_read(path, &text, &cli->err) != WEND_OK)
        return complain(EXIT_USAGE, "%s", cli->err.message);
    t = str_trim(buf_view(&text), is_space);
    if (!t.len)
        return complain(EXIT_USAGE, "'%s' has no token", path);
    buf_str(token, t);
    return EXIT_DONE;
}

int serve_token(struct cli *cli, struct buf *token, struct buf *path)
{
    const char *given = getenv("WEND_TOKEN");

    if (given && *given && !cli->set.token_file) {
        buf_cstr(token, given);
        return EXIT_DONE;
    }
    if (cli->set.token_file) {
        buf_cstr(path, cli->set.token_file);
    } else {
        if (!data_folder(path))
            return complain(EXIT_USAGE, "HOME is not set: there is no place "
                                        "for a token; set WEND_TOKEN");
        if (data_folder_make(path, &cli->err) != WEND_OK)
            return complain(EXIT_USAGE, "%s", cli->err.message);
        buf_cstr(path, "/server-token");
        if (access(path->ptr, F_OK))
            return make_token(path->ptr, token);
        if (check_private(path->ptr))
            return EXIT_USAGE;
    }
    if (access(path->ptr, R_OK))
        return bad_file(path->ptr);
    return read_token(cli, path->ptr, token);
}

const char *serve_user(void)
{
    const char *name = getenv("USER");

    return name && *name ? name : "admin";
}

/* ---- Agents -------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Files in it are used without a question, so others must not be able to add
 * one. */
static int check_folder(const char *folder)
{
    struct stat st;

    if (stat(folder, &st))
        return bad_file(folder);
    if (!S_ISDIR(st.st_mode))
        return complain(EXIT_USAGE, "'%s' is not a directory", folder);
    if (st.st_uid != geteuid())
        return complain(EXIT_USAGE,
                        "'%s' belongs to another user; its agents are not used",
                        folder);
    if (st.st_mode & 022)
        return complain(EXIT_USAGE, "others can write to '%s'; chmod go-w it",
                        folder);
    return EXIT_DONE;
}

int serve_agent_files(struct cli *cli, const char *folder, const char ***paths,
                      size_t *count)
{
    const struct dirent *entry;
    DIR *dir;
    int code = check_folder(folder);

    if (code)
        return code;
    dir = opendir(folder);
    if (!dir)
        return bad_file(folder);
    *count = 0;
    *paths = arena_alloc(&cli->arena, SERVED_AGENTS_MAX * sizeof **paths);
    while ((entry = readdir(dir)) && *count < SERVED_AGENTS_MAX) {
        struct buf b = {.mem = &cli_mem};

        if (entry->d_name[0] == '.' || !manifest_is_file(str_of(entry->d_name)))
            continue;
        buf_fmt(&b, "%s/%s", folder, entry->d_name);
        (*paths)[(*count)++] = b.ptr;
    }
    closedir(dir);
    qsort(*paths, *count, sizeof **paths, by_name);
    if (!*count)
        return complain(EXIT_USAGE, "there is no agent file in '%s'", folder);
    return EXIT_DONE;
}

/* ---- The rest ------------------------------------------------------------ */

int serve_log(const char *path, int *fd)
{
    *fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    return *fd < 0 ? bad_file(path) : EXIT_DONE;
}

void serve_open_page(struct cli *cli, const char *url, const char *token)
{
    struct buf path = {.mem = &cli_mem}, html = {.mem = &cli_mem};
    char *argv[] = {(char *)(uintptr_t) "xdg-open", NULL, NULL};
    pid_t pid;

    if (!token || !data_folder(&path) ||
        data_folder_make(&path, &cli->err) != WEND_OK)
        return;
    buf_cstr(&path, "/open.html");
    buf_fmt(&html,
            "<!doctype html><meta http-equiv=\"refresh\" "
            "content=\"0;url=%s/#token=%s\"><title>wend</title>\n",
            url, token);
    if (write_private(path.ptr, buf_view(&html)))
        return;
    argv[1] = path.ptr;
    if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ))
        complain(0, "xdg-open cannot be started; open '%s' in a browser",
                 path.ptr);
}

/*
 * file_out.c - a file that is written whole or not at all, or standard output.
 */
#include "cli/file_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/trust.h"

static int fails(const char *path, int code)
{
    return complain(code, "cannot write %s: %s", path, strerror(errno));
}

/* The folder of a path, with its links followed; NULL with errno. */
static const char *folder_of(const char *path, struct arena *a)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;

    return trust_real(len ? arena_str(a, (wend_str){path, len}).ptr : ".", a);
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* In the same folder, so that it can take the place of the old one; hidden, and
 * with a name of its own: that of the file may be as long as a name can be. */
static int open_fresh(struct file_out *f, mode_t mode, struct arena *a)
{
    const char *folder = folder_of(f->path, a);
    struct buf name = {.mem = &cli_mem};

    if (!folder)
        return -1;
    buf_fmt(&name, "%s/.wend-%ld-%lld", folder, (long)getpid(),
            (long long)wall_us());
    f->fresh = name.ptr;
    return open(name.ptr, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
}

int file_out_open(struct file_out *f, const char *path, mode_t mode)
{
    struct arena a = {.mem = &cli_mem};
    struct stat old;
    const char *real;

    *f = (struct file_out){.path = path, .fd = STDOUT_FILENO};
    if (!strcmp(path, "-"))
        return EXIT_DONE;
    real = trust_real(path, &a);
    if (real)
        f->path = real; /* of a link: what it names */
    if (stat(f->path, &old)) {
        f->fd = open_fresh(f, mode, &a);
    } else if (S_ISREG(old.st_mode)) {
        f->fd = access(f->path, W_OK) ? -1 : open_fresh(f, mode, &a);
        if (f->fd >= 0 && fchmod(f->fd, old.st_mode & 0777))
            errno = 0; /* of another owner: then it is ours now */
    } else
        f->fd = open(f->path, O_WRONLY | O_CLOEXEC);
    return f->fd >= 0 ? EXIT_DONE : fails(path, EXIT_USAGE);
}

bool file_out_write(void *ctx, wend_str bytes)
{
    struct file_out *f = ctx;

    if (f->fd == STDOUT_FILENO)
        f->code = print_all(bytes);
    else if (!write_all(f->fd, bytes))
        f->code = fails(f->path, EXIT_FAILED);
    return f->code == EXIT_DONE;
}

/* A crash of the machine finds the old file or the new one. */
static bool replace(struct file_out *f)
{
    struct arena a = {.mem = &cli_mem};
    const char *folder = folder_of(f->path, &a);
    int fd;

    if (rename(f->fresh, f->path))
        return false;
    fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    return true;
}

int file_out_close(struct file_out *f, int code)
{
    bool kept = true;

    if (f->fd == STDOUT_FILENO)
        return f->code != EXIT_DONE ? f->code : code;
    if (f->fresh && !f->code && !code && fsync(f->fd))
        f->code = fails(f->path, EXIT_FAILED);
    if (close(f->fd) && !f->code)
        f->code = fails(f->path, EXIT_FAILED);
    if (f->fresh && !f->code && !code)
        kept = replace(f);
    if (!kept)
        f->code = fails(f->path, EXIT_FAILED);
    if (f->fresh && (f->code || code))
        unlink(f->fresh);
    return f->code != EXIT_DONE ? f->code : code;
}

const char *file_out_place(struct cli *cli, const char *path)
{
    struct arena *a = &cli->arena;
    const char *real = trust_real(path, a);
    const char *folder = folder_of(real ? real : path, a);
    struct buf whole = {.mem = &cli_mem};
    struct stat old = {.st_mode = S_IFREG};
    bool may = folder && *name_of(path);

    if (real && stat(real, &old))
        may = false;
    else if (!*name_of(path) || S_ISDIR(old.st_mode)) {
        errno = EISDIR;
        may = false;
    } else if (may && S_ISREG(old.st_mode))
        may = !access(folder, W_OK | X_OK);
    if (may && real)
        may = !access(real, W_OK);
    if (!may) {
        fails(path, EXIT_USAGE);
        return NULL;
    }
    buf_fmt(&whole, "%s/%s", folder, name_of(real ? real : path));
    return whole.ptr;
}

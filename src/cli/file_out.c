/*
 * file_out.c - a file that is written whole or not at all, or standard output.
 */
#include "cli/file_out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/trust.h"

static int fails(const char *path, int code)
{
    return complain(code, "cannot write %s: %s", path, strerror(errno));
}

static bool has_name(const char *path)
{
    if (!*path)
        complain(0, "expected the name of a file, not ''; '-' is standard "
                    "output");
    return *path;
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

/* What a path names: the end of its links, which need not exist yet; NULL with
 * errno. */
static const char *target_of(const char *path, struct arena *a)
{
    enum { LINKS_MAX = 40 }; /* as many as the system follows */
    const char *real = trust_real(path, a);
    char link[PATH_MAX];
    ssize_t len;

    for (int i = 0; !real && errno == ENOENT && i < LINKS_MAX; i++) {
        struct buf next = {.mem = &cli_mem};

        len = readlink(path, link, sizeof link);
        if (len < 0 || (size_t)len == sizeof link)
            return path;
        if (link[0] != '/')
            buf_add(&next, path, (size_t)(name_of(path) - path));
        buf_add(&next, link, (size_t)len);
        buf_char(&next, '\0');
        path = next.ptr;
        real = trust_real(path, a);
    }
    return real;
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

    *f = (struct file_out){.path = path, .fd = STDOUT_FILENO};
    if (!strcmp(path, "-"))
        return EXIT_DONE;
    if (!has_name(path))
        return EXIT_USAGE;
    f->path = target_of(path, &a);
    if (!f->path) {
        f->fd = -1;
    } else if (stat(f->path, &old)) {
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

/* Some folders deny new files to all, whatever their mode says. */
static bool takes_files(const char *path, struct arena *a)
{
    struct file_out probe = {.path = path};
    int fd = open_fresh(&probe, FILE_OUT_PRIVATE, a);

    if (fd < 0)
        return false;
    close(fd);
    return !unlink(probe.fresh);
}

static bool may_write(const char *path, struct arena *a)
{
    struct stat old = {.st_mode = S_IFREG};
    bool is_new = stat(path, &old) != 0;

    if (!*name_of(path) || S_ISDIR(old.st_mode)) {
        errno = EISDIR;
        return false;
    }
    if (!is_new && access(path, W_OK))
        return false;
    return !S_ISREG(old.st_mode) || takes_files(path, a);
}

const char *file_out_place(struct cli *cli, const char *path)
{
    struct arena *a = &cli->arena;
    struct buf whole = {.mem = &cli_mem};
    const char *target;

    if (!has_name(path))
        return NULL;
    target = target_of(path, a);
    if (!target || !may_write(target, a)) {
        fails(path, EXIT_USAGE);
        return NULL;
    }
    buf_fmt(&whole, "%s/%s", folder_of(target, a), name_of(target));
    return whole.ptr;
}

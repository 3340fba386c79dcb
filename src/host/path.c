/*
 * path.c - the only way to a file: beneath a directory that is held open.
 *
 * Neither who picks the path is trusted nor what lies in the directory.
 * Every name from outside goes through openat2; the few calls without it
 * take one component, relative to a directory that openat2 gave, and follow
 * no link. No state: any thread may call.
 */
#include "host/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#endif
#if defined(SYS_openat2)
#include <linux/openat2.h>
#endif

#include "base/fail.h"
#include "base/str.h"
#include "base/utf8.h"

#if !defined(O_PATH)
#define O_PATH O_RDONLY
#endif

enum {
    SHOWN_MAX = 200, /* bytes of a path that a message repeats */
    /* Where `..` meets a rename the kernel says EAGAIN; so often in a row
     * only if somebody renames on purpose. */
    AGAIN_MAX = 1000,
    TEMP_NAMES_MAX = 1000, /* leftovers of crashes to step over */
    TEMP_NAME_SIZE = 64,
};

/* Made relative to the root, for the kernel to resolve. */
struct relative {
    char text[PATH_MAX];
};

/* ---- Words for what went wrong ------------------------------------------- */

static wend_status trouble(wend_error *err, int code, wend_str path)
{
    static const struct {
        int code;
        wend_status status;
        const char *before, *after; /* the path */
    } words[] = {
        {EXDEV, WEND_E_INVAL, "path ", " leaves the working directory"},
        {ENOENT, WEND_E_NOTFOUND,
         "no such file: ", " (beneath the working directory)"},
        {ENOTDIR, WEND_E_NOTFOUND, "",
         " is not a directory, or lies beneath a file"},
        {EISDIR, WEND_E_INVAL, "", " is a directory"},
        {ELOOP, WEND_E_INVAL, "",
         " is or goes through a symbolic link that is not followed"},
        {EACCES, WEND_E_IO, "permission denied: ", ""},
        {EPERM, WEND_E_IO, "operation not permitted: ", ""},
        {EEXIST, WEND_E_EXISTS, "", " exists already"},
        {ENXIO, WEND_E_INVAL, "", " is not a regular file"},
        {ENAMETOOLONG, WEND_E_LIMIT, "path ", " is too long"},
        {EROFS, WEND_E_IO, "", " is on a read-only file system"},
        {ENOSPC, WEND_E_IO, "no space left for ", ""},
        {EDQUOT, WEND_E_IO, "quota exceeded for ", ""},
        {EFBIG, WEND_E_LIMIT, "", " would be too large"},
        {EIO, WEND_E_IO, "input/output error on ", ""},
        {EMFILE, WEND_E_IO, "too many open files for ", ""},
        {ENFILE, WEND_E_IO, "too many open files for ", ""},
        {ENOMEM, WEND_E_NOMEM, "out of memory for ", ""},
        {EAGAIN, WEND_E_BUSY, "directories on ", " keep being renamed"},
        {ENOSYS, WEND_E_IO, "cannot open ",
         " safely: this system has no openat2 (Linux 5.6)"},
    };
    int len = (int)utf8_cut(path, SHOWN_MAX);

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].code == code)
            return fail(err, words[i].status, "%s'%.*s'%s", words[i].before,
                        len, path.ptr, words[i].after);
    return fail(err, WEND_E_IO, "cannot use '%.*s': error %d", len, path.ptr,
                code);
}

/* ---- Opening ------------------------------------------------------------- */

/* Returns a descriptor, or -errno. */
static int open_beneath(int root_fd, const char *path, int flags, mode_t mode)
{
#if defined(SYS_openat2)
    struct open_how how = {
        .flags = (unsigned)flags | O_CLOEXEC,
        .mode = flags & O_CREAT ? mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    long fd;

    if (!(flags & O_PATH)) /* a fifo must not block, a tty not become ours */
        how.flags |= O_NOCTTY | O_NONBLOCK;
    for (int i = 0; i < AGAIN_MAX; i++) {
        fd = syscall(SYS_openat2, root_fd, path, &how, sizeof how);
        if (fd >= 0)
            return (int)fd;
        if (errno != EAGAIN && errno != EINTR)
            break;
    }
    return -errno;
#else
    (void)root_fd;
    (void)path;
    (void)flags;
    (void)mode;
    return -ENOSYS;
#endif
}

/* Length of the root's own path if `path` lies beneath it, else 0. */
static size_t root_prefix(int root_fd, wend_str path)
{
    char link[32], root[PATH_MAX];
    ssize_t len;

    snprintf(link, sizeof link, "/proc/self/fd/%d", root_fd);
    len = readlink(link, root, sizeof root);
    if (len <= 0 || (size_t)len >= sizeof root || root[0] != '/')
        return 0;
    if (len == 1)
        return 1; /* the root is the file system's */
    if (path.len < (size_t)len || memcmp(path.ptr, root, (size_t)len))
        return 0;
    if (path.len > (size_t)len && path.ptr[len] != '/')
        return 0; /* /work is no parent of /workshop */
    return (size_t)len;
}

static wend_status make_relative(int root_fd, wend_str path,
                                 struct relative *out, wend_error *err)
{
    wend_str rest = path;

    if (!path.len)
        return fail(err, WEND_E_INVAL, "path is empty");
    if (memchr(path.ptr, 0, path.len))
        return fail(err, WEND_E_INVAL, "path contains a NUL byte");
    if (path.len >= sizeof out->text)
        return trouble(err, ENAMETOOLONG, path);
    if (path.ptr[0] == '/') {
        size_t skip = root_prefix(root_fd, path);

        if (!skip)
            return trouble(err, EXDEV, path);
        while (skip < path.len && path.ptr[skip] == '/')
            skip++;
        rest = (wend_str){path.ptr + skip, path.len - skip};
        if (!rest.len)
            rest = STR(".");
    }
    memcpy(out->text, rest.ptr, rest.len);
    out->text[rest.len] = 0;
    return WEND_OK;
}

/* ---- Writing ------------------------------------------------------------- */

static bool is_dots(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Opens the directory `path`, whose last component is `name` in `parent`,
 * and makes it if it is missing. */
static int enter(int root_fd, const char *path, int parent, const char *name)
{
    int fd = open_beneath(root_fd, path, O_PATH | O_DIRECTORY, 0);

    if (fd != -ENOENT || is_dots(name))
        return fd;
    if (mkdirat(parent, name, 0777) && errno != EEXIST)
        return -errno;
    return open_beneath(root_fd, path, O_PATH | O_DIRECTORY, 0);
}

/* Opens the directory of the last component, making what is missing above
 * it. Returns -errno on failure. */
static int enter_parents(int root_fd, struct relative *path)
{
    char *start = path->text, *slash;
    int dir = open_beneath(root_fd, ".", O_PATH | O_DIRECTORY, 0), next;

    while (dir >= 0 && (slash = strchr(start, '/'))) {
        if (slash > start) {
            *slash = 0;
            next = enter(root_fd, path->text, dir, start);
            *slash = '/';
            close(dir);
            dir = next;
        }
        start = slash + 1;
    }
    return dir;
}

/* What is there may be replaced: nothing, or a file that may be written.
 * Renaming would get round a file's own permissions, so they are asked. */
static int check_target(int dir, const char *name, mode_t *mode)
{
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? 0 : -errno;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    if (S_ISLNK(st.st_mode))
        return -ELOOP;
    if (!S_ISREG(st.st_mode))
        return -ENXIO;
    if (faccessat(dir, name, W_OK, AT_EACCESS))
        return -errno;
    *mode = st.st_mode & 0777;
    return 0;
}

static int open_temp(int dir, char name[TEMP_NAME_SIZE])
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd;

    for (int i = 0; i < TEMP_NAMES_MAX; i++) {
        snprintf(name, TEMP_NAME_SIZE, ".wend-%ld-%d.tmp", (long)getpid(), i);
        fd = openat(dir, name, flags, 0666);
        if (fd >= 0)
            return fd;
        if (errno != EEXIST && errno != EINTR)
            break;
    }
    return -errno;
}

static int write_all(int fd, wend_str s)
{
    while (s.len) {
        ssize_t n = write(fd, s.ptr, s.len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        s.ptr += n;
        s.len -= (size_t)n;
    }
    return fsync(fd) ? -errno : 0;
}

/* So that the new name survives a crash, where the file system can. */
static void sync_dir(int dir)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)fsync(fd);
    close(fd);
}

/* Returns 0 or -errno. */
static int replace(int dir, const char *name, wend_str content)
{
    char temp[TEMP_NAME_SIZE];
    mode_t mode = 0;
    int fd, code = check_target(dir, name, &mode);

    if (code)
        return code;
    fd = open_temp(dir, temp);
    if (fd < 0)
        return fd;
    code = write_all(fd, content);
    if (!code && mode && fchmod(fd, mode))
        code = -errno;
    if (close(fd) && !code)
        code = -errno;
    if (!code && renameat(dir, temp, dir, name))
        code = -errno;
    if (code)
        unlinkat(dir, temp, 0);
    else
        sync_dir(dir);
    return code;
}

/* ---- Public -------------------------------------------------------------- */

int path_root(const char *dir, wend_error *err)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0)
        return fd;
    if (errno == ENOENT || errno == ENOTDIR)
        fail(err, WEND_E_NOTFOUND, "%s: '%.*s'",
             errno == ENOENT ? "no such directory" : "not a directory",
             (int)utf8_cut(str_of(dir), SHOWN_MAX), dir);
    else
        trouble(err, errno, str_of(dir));
    return -1;
}

int path_open(int root_fd, wend_str path, int flags, mode_t mode,
              wend_error *err)
{
    struct relative r;
    int fd;

    if (make_relative(root_fd, path, &r, err))
        return -1;
    fd = open_beneath(root_fd, r.text, flags, mode);
    if (fd >= 0)
        return fd;
    trouble(err, -fd, path);
    return -1;
}

wend_status path_write(int root_fd, wend_str path, wend_str content,
                       wend_error *err)
{
    struct relative r;
    const char *slash, *name;
    int dir, code;
    wend_status s = make_relative(root_fd, path, &r, err);

    if (s)
        return s;
    slash = strrchr(r.text, '/');
    name = slash ? slash + 1 : r.text;
    if (!*name || is_dots(name))
        return trouble(err, EISDIR, path);
    dir = enter_parents(root_fd, &r);
    if (dir < 0)
        return trouble(err, -dir, path);
    code = replace(dir, name, content);
    close(dir);
    return code ? trouble(err, -code, path) : WEND_OK;
}

bool path_supported(void)
{
    int fd = open_beneath(AT_FDCWD, ".", O_PATH | O_DIRECTORY, 0);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

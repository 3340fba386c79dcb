/*
 * path.c - the only way to a file: beneath a directory that is held open.
 *
 * Neither the path nor the content of the directory is trusted. Every name
 * from outside goes through openat2; the few calls without it take one
 * component, relative to a directory that openat2 gave, and follow no link.
 * No state: any thread may call.
 */
#include "host/path_open.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#endif
#if defined(SYS_openat2)
#include <linux/openat2.h>
#endif

#include "base/fail.h"
#include "base/utf8.h"

enum {
    /* The kernel says EAGAIN where `..` meets a rename; often: an attack. */
    AGAIN_MAX = 1000,
    NEAR_ENTRIES_MAX = 10000, /* looked at for a name that was meant */
};

/* ---- Words for what went wrong ------------------------------------------- */

wend_status path_trouble(wend_error *err, int code, wend_str path)
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
        {ESTALE, WEND_E_BUSY, "",
         " was changed by another program meanwhile; read it again"},
        {ENOSYS, WEND_E_IO, "cannot open ",
         " safely: this system has no openat2 (Linux 5.6)"},
    };
    int len = (int)utf8_cut(path, PATH_SHOWN_MAX);

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].code == code)
            return fail(err, words[i].status, "%s'%.*s'%s", words[i].before,
                        len, path.ptr, words[i].after);
    return fail(err, WEND_E_IO, "cannot use '%.*s': error %d", len, path.ptr,
                code);
}

/* ---- Opening ------------------------------------------------------------- */

enum path_links { LINKS_BENEATH, LINKS_NONE };

/* Returns a descriptor, or -errno. */
static int open_with(int root_fd, const char *path, int flags, mode_t mode,
                     enum path_links links)
{
#if defined(SYS_openat2)
    struct open_how how = {
        .flags = (unsigned)flags | O_CLOEXEC,
        .mode = flags & O_CREAT ? mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    long fd;

    if (links == LINKS_NONE)
        how.resolve |= RESOLVE_NO_SYMLINKS;
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
    (void)links;
    return -ENOSYS;
#endif
}

/* Rules judge paths as written. So no link is followed, even inside the root:
 * the file that is opened is the one that they judged. */
int path_beneath(int root_fd, const char *path, int flags, mode_t mode)
{
    return open_with(root_fd, path, flags, mode, LINKS_NONE);
}

/* Where an open file is, as an absolute path; absent if that is not known. */
static wend_str place_of(int fd, char out[PATH_MAX])
{
    char link[32];
    ssize_t len;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    len = readlink(link, out, PATH_MAX);
    if (len <= 0 || len >= PATH_MAX || out[0] != '/')
        return STR_NONE;
    return (wend_str){out, (size_t)len};
}

/* Length of the root's own path if `path` lies beneath it, else 0. */
static size_t root_prefix(int root_fd, wend_str path)
{
    char room[PATH_MAX];
    wend_str root = place_of(root_fd, room);

    if (root.len <= 1)
        return root.len; /* the root is the file system's, or not known */
    if (path.len < root.len || memcmp(path.ptr, root.ptr, root.len))
        return 0;
    if (path.len > root.len && path.ptr[root.len] != '/')
        return 0; /* /work is no parent of /workshop */
    return root.len;
}

wend_status path_relative(int root_fd, wend_str path, struct relative *out,
                          wend_error *err)
{
    wend_str rest = path;

    if (!path.len)
        return fail(err, WEND_E_INVAL, "path is empty");
    if (memchr(path.ptr, 0, path.len))
        return fail(err, WEND_E_INVAL, "path contains a NUL byte");
    if (path.len >= sizeof out->text)
        return path_trouble(err, ENAMETOOLONG, path);
    if (path.ptr[0] == '/') {
        size_t skip = root_prefix(root_fd, path);

        if (!skip)
            return path_trouble(err, EXDEV, path);
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

static const char meant[] = "; did you mean '", leads[] = "; use the path that";

void path_unname(wend_error *err)
{
    char *at = strstr(err->message, meant);

    if (!at)
        at = strstr(err->message, leads);
    if (at)
        *at = 0;
}

/* ---- What was meant ------------------------------------------------------ */

/* The nearest name in a directory; false: none, or it is a dangling link. */
static bool near_entry(int root_fd, const char *dir, wend_str name,
                       char best[NAME_MAX + 1])
{
    int fd = path_beneath(root_fd, dir, O_RDONLY | O_DIRECTORY, 0);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *e;
    bool there = false, found = false;
    int nearest = 0;

    if (!d && fd >= 0)
        close(fd);
    for (int i = 0; d && i < NEAR_ENTRIES_MAX && (e = readdir(d)); i++) {
        there |= str_is(name, e->d_name);
        if (path_is_dots(e->d_name) ||
            !str_nearer(name, str_of(e->d_name), &nearest))
            continue;
        snprintf(best, NAME_MAX + 1, "%s", e->d_name);
        found = true;
    }
    if (d)
        closedir(d);
    return found && !there;
}

/* Says that the file is missing, and suggests a similar name. */
static wend_status missing(wend_error *err, int root_fd, struct relative *r,
                           wend_str path)
{
    char best[NAME_MAX + 1], *start = r->text, *slash;
    const char *dir = ".";
    bool found = false;
    int fd;

    for (;;) { /* up to the first component that is missing */
        slash = strchr(start, '/');
        if (slash)
            *slash = 0;
        fd = path_beneath(root_fd, r->text, O_PATH, 0);
        if (fd < 0)
            break;
        close(fd);
        if (!slash)
            break;
        *slash = '/';
        start = slash + 1;
    }
    if (start > r->text) {
        start[-1] = 0;
        dir = r->text;
    }
    if (fd == -ENOENT)
        found = near_entry(root_fd, dir, str_of(start), best);
    if (!found)
        return path_trouble(err, ENOENT, path);
    return fail(err, WEND_E_NOTFOUND,
                "no such file: '%.*s' (beneath the working directory)%s"
                "%.*s%s%s'?",
                (int)utf8_cut(path, PATH_SHOWN_MAX), path.ptr, meant,
                PATH_SHOWN_MAX / 2, start > r->text ? dir : "",
                start > r->text ? "/" : "", best);
}

/* ---- Links --------------------------------------------------------------- */

/* Where the path leads, from the root. 0 or -errno. */
static int follow(int root_fd, const char *path, char out[PATH_MAX])
{
    int fd = open_with(root_fd, path, O_PATH, 0, LINKS_BENEATH);
    wend_str place;
    size_t skip;

    if (fd < 0)
        return fd;
    place = place_of(fd, out);
    close(fd);
    skip = place.ptr ? root_prefix(root_fd, place) : 0;
    if (!skip)
        return -EXDEV; /* moved away meanwhile */
    while (skip < place.len && out[skip] == '/')
        skip++;
    memmove(out, out + skip, place.len - skip);
    out[place.len - skip] = 0;
    return 0;
}

static wend_status linked(wend_error *err, int root_fd, struct relative *r,
                          wend_str path)
{
    char place[PATH_MAX], *slash = strrchr(r->text, '/');
    int code = follow(root_fd, r->text, place);
    bool is_new = code == -ENOENT && slash;

    if (is_new) { /* then where it would be */
        *slash = 0;
        code = follow(root_fd, r->text, place);
    }
    if (code)
        return path_trouble(err, -code, path);
    return fail(err, WEND_E_INVAL,
                "'%.*s' is or goes through a symbolic link%s it leads to: "
                "'%.*s%s%s'",
                (int)utf8_cut(path, PATH_SHOWN_MAX), path.ptr, leads,
                PATH_SHOWN_MAX, *place ? place : ".", is_new ? "/" : "",
                is_new ? slash + 1 : "");
}

/* ---- Public -------------------------------------------------------------- */

wend_status path_explain(wend_error *err, int root_fd, struct relative *r,
                         wend_str path, int code)
{
    return code == ENOENT  ? missing(err, root_fd, r, path)
           : code == ELOOP ? linked(err, root_fd, r, path)
                           : path_trouble(err, code, path);
}

bool path_is_dots(const char *name)
{
    return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

int path_root(const char *dir, wend_error *err)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0)
        return fd;
    if (errno != ENOENT && errno != ENOTDIR)
        return path_trouble(err, errno, str_of(dir));
    return fail(err, WEND_E_NOTFOUND, "%s: '%.*s'",
                errno == ENOENT ? "no such directory" : "not a directory",
                (int)utf8_cut(str_of(dir), PATH_SHOWN_MAX), dir);
}

int path_open(int root_fd, wend_str path, int flags, mode_t mode,
              wend_error *err)
{
    struct relative r;
    int fd = path_relative(root_fd, path, &r, err);

    if (fd)
        return fd;
    fd = path_beneath(root_fd, r.text, flags, mode);
    return fd < 0 ? path_explain(err, root_fd, &r, path, -fd) : fd;
}

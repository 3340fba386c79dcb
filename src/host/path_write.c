/*
 * path_write.c - files beneath the root, replaced as a whole.
 *
 * The directory is opened once, beneath the root, and held: later calls name
 * one component in it and follow no link, so the path may change meanwhile.
 * Threads only share a list, under a mutex, of the files being written.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "host/file.h"
#include "host/path_open.h"

enum {
    TEMP_NAMES_MAX = 1000, /* leftovers of crashes to step over */
    TEMP_NAME_SIZE = 64,
};

/* ---- One writer at a time ------------------------------------------------ */

/* A file that is being written, by directory and name. Calls of one run wait
 * for each other by their order; those of other runs in this process wait
 * here. Other processes are noticed (ESTALE), not waited for: one that locks
 * a directory for a reason of its own must not stop us. */
struct writing {
    dev_t dev;
    ino_t ino; /* of the directory */
    const char *name;
    struct writing *next;
};

static pthread_mutex_t writing_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t writing_ended = PTHREAD_COND_INITIALIZER;
static struct writing *writing_first;

static pthread_once_t writing_once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    pthread_mutex_lock(&writing_mutex);
}

static void after_in_parent(void)
{
    pthread_mutex_unlock(&writing_mutex);
}

/* Those that write are threads of the parent. */
static void after_in_child(void)
{
    writing_first = NULL;
    writing_mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    writing_ended = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_in_parent, after_in_child);
}

static bool is_written(const struct writing *w)
{
    for (const struct writing *o = writing_first; o; o = o->next)
        if (o->ino == w->ino && o->dev == w->dev && !strcmp(o->name, w->name))
            return true;
    return false;
}

/* Returns 0, then writing_end must follow, or -errno. */
static int writing_begin(struct writing *w, int dir, const char *name)
{
    struct stat st;

    if (fstat(dir, &st))
        return -errno;
    *w = (struct writing){.dev = st.st_dev, .ino = st.st_ino, .name = name};
    pthread_once(&writing_once, watch_forks);
    pthread_mutex_lock(&writing_mutex);
    while (is_written(w))
        pthread_cond_wait(&writing_ended, &writing_mutex);
    w->next = writing_first;
    writing_first = w;
    pthread_mutex_unlock(&writing_mutex);
    return 0;
}

static void writing_end(struct writing *w)
{
    struct writing **link = &writing_first;

    pthread_mutex_lock(&writing_mutex);
    while (*link != w)
        link = &(*link)->next;
    *link = w->next;
    pthread_cond_broadcast(&writing_ended);
    pthread_mutex_unlock(&writing_mutex);
}

/* ---- Writing ------------------------------------------------------------- */

/* Opens the directory `path`; if missing, makes it as `name` in `parent`. */
static int enter(int root_fd, const char *path, int parent, const char *name)
{
    int fd = path_beneath(root_fd, path, O_PATH | O_DIRECTORY, 0);

    if (fd != -ENOENT || path_is_dots(name))
        return fd;
    if (mkdirat(parent, name, 0777) && errno != EEXIST)
        return -errno;
    return path_beneath(root_fd, path, O_PATH | O_DIRECTORY, 0);
}

/* Opens the parent directory, and makes missing ones; or -errno. */
static int enter_parents(int root_fd, struct relative *path)
{
    char *start = path->text, *slash;
    int dir = path_beneath(root_fd, ".", O_PATH | O_DIRECTORY, 0), next;

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

/* Whether the target may be replaced: it is missing (st->st_nlink is 0), or a
 * writable file. Renaming would bypass the permissions of the file. */
static int check_target(int dir, const char *name, struct stat *st)
{
    if (fstatat(dir, name, st, AT_SYMLINK_NOFOLLOW)) {
        *st = (struct stat){0};
        return errno == ENOENT ? 0 : -errno;
    }
    if (S_ISDIR(st->st_mode))
        return -EISDIR;
    if (S_ISLNK(st->st_mode))
        return -ELOOP;
    if (!S_ISREG(st->st_mode))
        return -ENXIO;
    if (faccessat(dir, name, W_OK, AT_EACCESS))
        return -errno;
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

/* So that the new name survives a crash, where the file system can. */
static void sync_dir(int dir)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)fsync(fd);
    close(fd);
}

/* A new file becomes what the old one was, as far as we may. */
static int take_after(int fd, const struct stat *old)
{
    if (!old->st_nlink)
        return 0;
    if ((old->st_uid != geteuid() || old->st_gid != getegid()) &&
        fchown(fd, old->st_uid, old->st_gid) && errno != EPERM)
        return -errno;
    return fchmod(fd, old->st_mode & 0777) ? -errno : 0;
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* Is it still the file that was read? */
static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_size == b->st_size && same_time(a->st_mtim, b->st_mtim) &&
           same_time(a->st_ctim, b->st_ctim);
}

/* `before`: the file that was read, or NULL. Returns 0 or -errno. */
static int replace(int dir, const char *name, wend_str content,
                   const struct stat *before)
{
    char temp[TEMP_NAME_SIZE];
    struct stat old, now;
    int fd, code = check_target(dir, name, &old);

    if (code)
        return code;
    fd = open_temp(dir, temp);
    if (fd < 0)
        return fd;
    code = file_write_all(fd, content);
    if (!code && fsync(fd))
        code = -errno;
    if (!code)
        code = take_after(fd, &old);
    if (close(fd) && !code)
        code = -errno;
    if (!code && before &&
        (fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) ||
         !is_same(before, &now)))
        code = -ESTALE;
    if (!code && renameat(dir, temp, dir, name))
        code = -errno;
    if (code)
        unlinkat(dir, temp, 0);
    else
        sync_dir(dir);
    return code;
}

struct change {
    int dir;
    const char *name;
    wend_str path;
    size_t max;
    path_change_fn fn;
    void *ctx;
};

static wend_status change_open(const struct change *c, int fd,
                               const struct mem *m, wend_error *err)
{
    struct buf old = {.mem = m}, new = {.mem = m};
    struct stat st;
    wend_status s = WEND_OK;
    int code = fstat(fd, &st) ? -errno : 0;

    if (!code && !S_ISREG(st.st_mode))
        code = S_ISDIR(st.st_mode) ? -EISDIR : -ENXIO;
    if (!code)
        code = file_read_all(fd, c->max, &old);
    if (code == -EFBIG)
        s = fail(err, WEND_E_LIMIT, "'%.*s' is over %zu bytes",
                 (int)utf8_cut(c->path, PATH_SHOWN_MAX), c->path.ptr, c->max);
    else if (code)
        s = path_trouble(err, -code, c->path);
    if (!s)
        s = c->fn(c->ctx, buf_view(&old), &new, err);
    if (!s && new.failed)
        s = fail_nomem(err);
    if (!s) {
        code = replace(c->dir, c->name, buf_view(&new), &st);
        s = code ? path_trouble(err, -code, c->path) : WEND_OK;
    }
    buf_free(&old);
    buf_free(&new);
    return s;
}

/* The directory of a file that must be there; -errno if it is not. */
static int open_parent(int root_fd, struct relative *r, const char *name)
{
    size_t len = (size_t)(name - r->text);
    char kept;
    int dir;

    if (!len)
        return path_beneath(root_fd, ".", O_PATH | O_DIRECTORY, 0);
    kept = r->text[len];
    r->text[len] = 0;
    dir = path_beneath(root_fd, r->text, O_PATH | O_DIRECTORY, 0);
    r->text[len] = kept;
    return dir;
}

/* The last component; NULL if it cannot be a file's. */
static const char *file_name(const struct relative *r)
{
    const char *slash = strrchr(r->text, '/');
    const char *name = slash ? slash + 1 : r->text;

    return *name && !path_is_dots(name) ? name : NULL;
}

/* ---- Public -------------------------------------------------------------- */

wend_status path_write(int root_fd, wend_str path, wend_str content,
                       wend_error *err)
{
    struct relative r;
    struct writing w;
    const char *name;
    int dir, code;
    wend_status s = path_relative(root_fd, path, &r, err);

    if (s)
        return s;
    name = file_name(&r);
    if (!name)
        return path_trouble(err, EISDIR, path);
    dir = code = enter_parents(root_fd, &r);
    if (dir >= 0) {
        code = writing_begin(&w, dir, name);
        if (!code) {
            code = replace(dir, name, content, NULL);
            writing_end(&w);
        }
        close(dir);
    }
    return code ? path_explain(err, root_fd, &r, path, -code) : WEND_OK;
}

wend_status path_change(int root_fd, wend_str path, size_t max,
                        path_change_fn fn, void *ctx, const struct mem *m,
                        wend_error *err)
{
    struct relative r;
    struct writing w;
    struct change c = {.path = path, .max = max, .fn = fn, .ctx = ctx};
    int fd;
    wend_status s = path_relative(root_fd, path, &r, err);

    if (s)
        return s;
    c.name = file_name(&r);
    if (!c.name)
        return path_trouble(err, EISDIR, path);
    c.dir = fd = open_parent(root_fd, &r, c.name);
    if (c.dir >= 0)
        fd = writing_begin(&w, c.dir, c.name);
    if (!fd) {
        fd = path_beneath(c.dir, c.name, O_RDONLY | O_NOFOLLOW, 0);
        if (fd >= 0) {
            s = change_open(&c, fd, m, err);
            close(fd);
        }
        writing_end(&w);
    }
    if (c.dir >= 0)
        close(c.dir);
    return fd < 0 ? path_explain(err, root_fd, &r, path, -fd) : s;
}

/*
 * git.c - what runs code when git next looks at a repository: its config and
 * its hooks, also those of submodules, worktrees and nested repositories.
 *
 * Their content is kept before the program starts, compared once the tree is
 * gone, and put back; new files are set aside under another name. In a large
 * workspace only files found in time are kept; of those found later, only files
 * changed since the start are set aside. Every step is beneath a folder that is
 * held open and follows no link, as another program may work there at the same
 * time. With mounts of its own (mounts.c) the program finds most of them
 * read-only; the comparison is for the rest, such as new names.
 */
#include "super/git.h"

#include <asm/statfs.h>
#include <linux/openat2.h>

enum {
    KEPT_MAX = 512,
    KEPT_BYTES = 1 << 20,
    KEEP_US = 600,          /* of processor time to look before the start */
    KEEP_WALL_US = 100000,  /* ... and what a slow disk may add */
    CHECK_WALL_US = 200000, /* to look after the end */
    CLOCK_SLACK_NS = 1000000,
    TOLD_MAX = 16,
    RANDOM_LETTERS = 12,
};

struct kept {
    int root;
    const char *rel;
    const char *bytes;
    size_t len;
    struct statx st;
    bool seen;
};

struct git_state git;
char git_bytes[GIT_FILE_BYTES + 1];
static struct kept kept[KEPT_MAX];
static size_t kept_count;
static char room[KEPT_BYTES];
static size_t room_len;
static git_tell *tell;
static int told;

/* ---- Names --------------------------------------------------------------- */

int64_t time_ns(int clock)
{
    int64_t t[2] = {0};

    sys2(__NR_clock_gettime, clock, t);
    return t[0] * 1000000000 + t[1];
}

bool path_push(struct path *p, const char *name, size_t *was)
{
    size_t n = text_len(name);

    *was = p->len;
    if (p->len + n + 2 > sizeof p->rel)
        return false;
    if (p->len)
        p->rel[p->len++] = '/';
    __builtin_memcpy(p->rel + p->len, name, n + 1);
    p->len += n;
    return true;
}

void path_pop(struct path *p, size_t was)
{
    p->len = was;
    p->rel[was] = 0;
}

static const char *path_last(const struct path *p)
{
    size_t at = p->len;

    while (at && p->rel[at - 1] != '/')
        at--;
    return p->rel + at;
}

/* ---- Files --------------------------------------------------------------- */

long git_open(int root, const char *rel, uint64_t flags)
{
    struct open_how how = {
        .flags = flags | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
    };

    return sys4(__NR_openat2, git.roots[root].fd, *rel ? rel : ".", &how,
                sizeof how);
}

long git_open_parent(struct path *p)
{
    const char *name = path_last(p);
    size_t at = (size_t)(name - p->rel);
    char slash = at ? p->rel[at - 1] : 0;
    long dir;

    if (!at)
        return git_open(p->root, "", O_PATH | O_DIRECTORY);
    p->rel[at - 1] = 0;
    dir = git_open(p->root, p->rel, O_PATH | O_DIRECTORY);
    p->rel[at - 1] = slash;
    return dir;
}

long git_read(long dir, const char *name, struct statx *st)
{
    long r = sys5(__NR_statx, dir, name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS,
                  st),
         fd, len = 0;

    if (r < 0)
        return r;
    if ((st->stx_mode & S_IFMT) == S_IFLNK)
        return sys4(__NR_readlinkat, dir, name, git_bytes, GIT_FILE_BYTES);
    if ((st->stx_mode & S_IFMT) != S_IFREG)
        return -EISDIR;
    fd = sys_open(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return fd;
    while (len <= GIT_FILE_BYTES) {
        r = sys3(__NR_read, fd, git_bytes + len,
                 (size_t)(GIT_FILE_BYTES + 1 - len));
        if (r <= 0)
            break;
        len += r;
    }
    sys_close(fd);
    return r < 0 ? r : len > GIT_FILE_BYTES ? -EFBIG : len;
}

static void keep(const struct path *p, const struct statx *st, size_t len)
{
    struct kept *k = &kept[kept_count];

    if (kept_count == KEPT_MAX || room_len + p->len + 1 + len > KEPT_BYTES) {
        git.all_is_kept = false;
        return;
    }
    *k = (struct kept){.root = p->root, .len = len, .st = *st};
    k->rel = room + room_len;
    __builtin_memcpy(room + room_len, p->rel, p->len + 1);
    room_len += p->len + 1;
    k->bytes = room + room_len;
    __builtin_memcpy(room + room_len, git_bytes, len);
    room_len += len;
    kept_count++;
}

static struct kept *find(const struct path *p)
{
    for (size_t i = 0; i < kept_count; i++)
        if (kept[i].root == p->root && text_is(kept[i].rel, p->rel))
            return &kept[i];
    return NULL;
}

static bool same(const struct kept *k, const struct statx *st, long len)
{
    if (len != (long)k->len || st->stx_mode != k->st.stx_mode)
        return false;
    for (size_t i = 0; i < k->len; i++)
        if (git_bytes[i] != k->bytes[i])
            return false;
    return true;
}

static void say(const struct path *p, enum super_git deed)
{
    if (told++ < TOLD_MAX)
        tell(p->rel, deed);
}

/* The program may have removed the user's right to write. */
static void make_writable(long dir)
{
    char link[PROC_PATH_MAX];
    struct statx st = {0};

    proc_fd_path(link, (int)dir);
    if (sys5(__NR_statx, dir, "", AT_EMPTY_PATH, STATX_MODE, &st) >= 0 &&
        (st.stx_mode & S_IRWXU) != S_IRWXU)
        sys3(__NR_fchmodat, AT_FDCWD, link, (st.stx_mode & 07777) | S_IRWXU);
}

/* Renames it to a name that git ignores, or, if that is taken, to one that the
 * program could not know. */
static bool set_aside(long dir, const char *name)
{
    static const char end[] = ".refused";
    char other[300];
    size_t len = text_len(name);

    if (len + sizeof end + 1 + RANDOM_LETTERS > sizeof other)
        return false;
    make_writable(dir);
    __builtin_memcpy(other, name, len);
    __builtin_memcpy(other + len, end, sizeof end);
    sys3(__NR_unlinkat, dir, other, 0);
    if (sys5(__NR_renameat2, dir, name, dir, other, 0) >= 0)
        return true;
    other[len + sizeof end - 1] = '-';
    put_random(other + len + sizeof end, RANDOM_LETTERS);
    return sys5(__NR_renameat2, dir, name, dir, other, 0) >= 0;
}

static bool put_back(long dir, const char *name, const struct kept *k)
{
    char temp[RANDOM_LETTERS + 1];
    uint32_t mode = k->st.stx_mode & 07777;
    size_t at = 0;
    long fd, r = 0;

    make_writable(dir);
    put_random(temp, RANDOM_LETTERS);
    if ((k->st.stx_mode & S_IFMT) == S_IFLNK) {
        __builtin_memcpy(git_bytes, k->bytes, k->len);
        git_bytes[k->len] = 0;
        r = sys3(__NR_symlinkat, git_bytes, dir, temp);
    } else {
        fd = sys4(__NR_openat, dir, temp,
                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        for (; fd >= 0 && r >= 0 && at < k->len; at += (size_t)r)
            r = sys3(__NR_write, fd, k->bytes + at, k->len - at);
        if (fd >= 0 && r >= 0) {
            sys3(__NR_fchown, fd, k->st.stx_uid, k->st.stx_gid);
            r = sys2(__NR_fchmod, fd, mode);
        }
        r = fd < 0 ? fd : r;
        sys_close(fd);
    }
    if (r >= 0)
        r = sys5(__NR_renameat2, dir, temp, dir, name, 0);
    if (r == -EISDIR && set_aside(dir, name))
        r = sys5(__NR_renameat2, dir, temp, dir, name, 0);
    if (r < 0)
        sys3(__NR_unlinkat, dir, temp, 0);
    return r >= 0;
}

/* ---- One guarded file ---------------------------------------------------- */

bool git_changed(const struct statx *st)
{
    return (int64_t)st->stx_ctime.tv_sec * 1000000000 + st->stx_ctime.tv_nsec >=
           git.start_ns;
}

static void check_file(struct path *p, long dir, long len,
                       const struct statx *st)
{
    const char *name = path_last(p);
    struct kept *k = find(p);

    if (k)
        k->seen = true;
    if (k && same(k, st, len))
        return;
    if (!k && (st->stx_mode & S_IFMT) == S_IFDIR)
        return; /* what is in it is looked at for itself */
    if (k)
        say(p, put_back(dir, name, k) ? SUPER_GIT_RESTORED : SUPER_GIT_FAILED);
    else if (git.all_is_kept || git_changed(st))
        say(p, set_aside(dir, name) ? SUPER_GIT_SET_ASIDE : SUPER_GIT_FAILED);
}

bool git_guard(struct path *p, const char *name)
{
    struct statx st = {0};
    size_t was;
    long dir, len;

    if (!path_push(p, name, &was))
        return false;
    dir = git_open_parent(p);
    if (dir >= 0) {
        len = git_read(dir, path_last(p), &st);
        if (!git.checks && len >= 0)
            keep(p, &st, (size_t)len);
        else if (!git.checks && st.stx_mode &&
                 (st.stx_mode & S_IFMT) != S_IFDIR)
            git.all_is_kept = false; /* too long, or not to be read */
        else if (git.checks && st.stx_mode)
            check_file(p, dir, len, &st);
        sys_close(dir);
    }
    path_pop(p, was);
    return (st.stx_mode & S_IFMT) == S_IFREG;
}

/* ---- Before and after ---------------------------------------------------- */

static bool links_tell(long fd)
{
    static const uint32_t types[] = {0xef53 /* ext */, 0x58465342 /* XFS */,
                                     0x01021994 /* tmpfs */,
                                     0xf2f52010 /* F2FS */};
    struct statfs fs = {0};

    if (sys2(__NR_fstatfs, fd, &fs) < 0)
        return false;
    for (size_t i = 0; i < COUNT(types); i++)
        if ((uint32_t)fs.f_type == types[i])
            return true;
    return false; /* others count otherwise, or not at all */
}

static int64_t clock_ahead_ns(void)
{
    return time_ns(0 /* CLOCK_REALTIME */) - time_ns(1 /* CLOCK_MONOTONIC */);
}

static void add_root(const char *name)
{
    struct git_root *r = &git.roots[git.roots_count];
    struct statx st = {0};
    long fd = sys_open(AT_FDCWD, name, O_PATH | O_DIRECTORY);

    if (fd < 0)
        return; /* a file, or absent */
    *r = (struct git_root){.fd = (int)fd, .name = name};
    r->links_tell = links_tell(fd) && sys5(__NR_statx, fd, "", AT_EMPTY_PATH,
                                           STATX_BASIC_STATS, &st) >= 0;
    r->dev_major = st.stx_dev_major;
    r->dev_minor = st.stx_dev_minor;
    git.roots_count++;
}

void git_keep(const struct job *j)
{
    char *const *list = j->lists[SUPER_WRITE];

    git.start_ns = time_ns(5 /* CLOCK_REALTIME_COARSE */);
    git.clock_ahead_ns = clock_ahead_ns();
    for (; *list && git.roots_count < GIT_ROOTS_MAX; list++)
        add_root(*list);
    git.all_is_kept = true;
    git_find(KEEP_US, KEEP_WALL_US);
}

/* The folder of a file; makes a missing folder of hooks again. */
static long open_parent_again(struct path *p)
{
    long dir = git_open_parent(p), above;
    size_t len = p->len, at = (size_t)(path_last(p) - p->rel);

    if (dir != -ENOENT || !at)
        return dir;
    path_pop(p, at - 1);
    if (text_is(path_last(p), "hooks") && (above = git_open_parent(p)) >= 0) {
        sys3(__NR_mkdirat, above, "hooks", 0755);
        sys_close(above);
    }
    p->rel[at - 1] = '/';
    p->len = len;
    return git_open_parent(p);
}

void git_check(git_tell *fn)
{
    static struct path p;

    git.checks = true;
    tell = fn;
    git.clock_went_back =
        clock_ahead_ns() < git.clock_ahead_ns - CLOCK_SLACK_NS;
    git_find(CHECK_WALL_US, CHECK_WALL_US);
    for (size_t i = 0; i < kept_count; i++) {
        struct kept *k = &kept[i];
        struct statx st = {0};
        long dir, len;

        p.root = k->root;
        p.len = text_len(k->rel);
        __builtin_memcpy(p.rel, k->rel, p.len + 1);
        if (k->seen || (dir = open_parent_again(&p)) < 0)
            continue; /* its folder is gone: no repository is left */
        len = git_read(dir, path_last(&p), &st);
        check_file(&p, dir, len, &st);
        sys_close(dir);
    }
}

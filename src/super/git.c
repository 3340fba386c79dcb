/*
 * git.c - what runs code when git next looks at a repository: its config and
 * its hooks, also those of submodules, worktrees and nested repositories.
 *
 * They are kept before the program starts, compared once the tree is gone,
 * and put back; what was made meanwhile is set aside under another name. Of
 * a large workspace only what is found in time is kept: of what is found
 * later only what was changed since the start is set aside. Every step is taken
 * beneath a folder that is held open and follows no link, for another
 * program may work there at the same time.
 */
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/stat.h>

#include "super/super.h"

enum {
    ROOTS_MAX = 8,
    KEPT_MAX = 512,
    KEPT_BYTES = 1 << 20,
    FILE_BYTES_MAX = 256 << 10, /* far above a config or a hook */
    QUEUE_BYTES = 256 << 10,    /* paths of folders still to be looked at */
    REL_MAX = 4096,
    MODULES_DEEP = 8,
    KEEP_US = 400,          /* of processor time to look before the start: a
                               busy machine must not make it see less */
    KEEP_WALL_US = 100000,  /* ... and what a slow disk may add */
    CHECK_WALL_US = 200000, /* to look after the end */
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

struct path {
    int root;
    size_t len;
    char rel[REL_MAX];
};

static struct {
    int fd[ROOTS_MAX];
    const char *name[ROOTS_MAX];
    int count;
    int64_t start_ns; /* by the clock of files */
} roots;
static struct kept kept[KEPT_MAX];
static size_t kept_count;
static char room[KEPT_BYTES];
static size_t room_len;
static char queue[QUEUE_BYTES];
static char now_bytes[FILE_BYTES_MAX + 1];
static bool checks;      /* after the end; before the start it keeps */
static bool all_is_kept; /* so that what is found later is new */
static int64_t until_ns, until_cpu_ns;
static git_tell *tell;
static int told;

/* ---- Names -----------------------------------------------------------------
 */

static int64_t time_ns(int clock)
{
    int64_t t[2] = {0};

    sys2(__NR_clock_gettime, clock, t);
    return t[0] * 1000000000 + t[1];
}

/* False if it does not fit; *was is for pop. */
static bool push(struct path *p, const char *name, size_t *was)
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

static void pop(struct path *p, size_t was)
{
    p->len = was;
    p->rel[was] = 0;
}

static const char *last_name(const struct path *p)
{
    size_t at = p->len;

    while (at && p->rel[at - 1] != '/')
        at--;
    return p->rel + at;
}

/* ---- Files -----------------------------------------------------------------
 */

static long open_beneath(int root, const char *rel, uint64_t flags)
{
    struct open_how how = {
        .flags = flags | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
    };

    return sys4(__NR_openat2, roots.fd[root], *rel ? rel : ".", &how,
                sizeof how);
}

static long open_parent(struct path *p)
{
    const char *name = last_name(p);
    size_t at = (size_t)(name - p->rel);
    char slash = at ? p->rel[at - 1] : 0;
    long dir;

    if (!at)
        return open_beneath(p->root, "", O_PATH | O_DIRECTORY);
    p->rel[at - 1] = 0;
    dir = open_beneath(p->root, p->rel, O_PATH | O_DIRECTORY);
    p->rel[at - 1] = slash;
    return dir;
}

/* The bytes of a file or a link; -errno if it is neither, or too long. */
static long read_now(long dir, const char *name, struct statx *st)
{
    long r = sys5(__NR_statx, dir, name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS,
                  st),
         fd, len = 0;

    if (r < 0)
        return r;
    if ((st->stx_mode & S_IFMT) == S_IFLNK)
        return sys4(__NR_readlinkat, dir, name, now_bytes, FILE_BYTES_MAX);
    if ((st->stx_mode & S_IFMT) != S_IFREG)
        return -EISDIR;
    fd = sys4(__NR_openat, dir, name,
              O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    while (len <= FILE_BYTES_MAX) {
        r = sys3(__NR_read, fd, now_bytes + len,
                 (size_t)(FILE_BYTES_MAX + 1 - len));
        if (r <= 0)
            break;
        len += r;
    }
    sys1(__NR_close, fd);
    return r < 0 ? r : len > FILE_BYTES_MAX ? -EFBIG : len;
}

static void keep(const struct path *p, const struct statx *st, size_t len)
{
    struct kept *k = &kept[kept_count];

    if (kept_count == KEPT_MAX || room_len + p->len + 1 + len > KEPT_BYTES) {
        all_is_kept = false;
        return;
    }
    *k = (struct kept){.root = p->root, .len = len, .st = *st};
    k->rel = room + room_len;
    __builtin_memcpy(room + room_len, p->rel, p->len + 1);
    room_len += p->len + 1;
    k->bytes = room + room_len;
    __builtin_memcpy(room + room_len, now_bytes, len);
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
        if (now_bytes[i] != k->bytes[i])
            return false;
    return true;
}

static void say(const struct path *p, enum super_git deed)
{
    if (told++ < TOLD_MAX)
        tell(p->rel, deed);
}

/* The program may have taken the right to write there from its user. */
static void make_writable(long dir)
{
    char link[40] = "/proc/self/fd/";
    struct statx st = {0};

    put_number(link + 14, (uint64_t)dir);
    if (sys5(__NR_statx, dir, "", AT_EMPTY_PATH, STATX_MODE, &st) >= 0 &&
        (st.stx_mode & S_IRWXU) != S_IRWXU)
        sys3(__NR_fchmodat, AT_FDCWD, link, (st.stx_mode & 07777) | S_IRWXU);
}

/* Under a name that git does not look for; if the program has put something
 * there, under one that it could not know. */
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
        __builtin_memcpy(now_bytes, k->bytes, k->len);
        now_bytes[k->len] = 0;
        r = sys3(__NR_symlinkat, now_bytes, dir, temp);
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
        if (fd >= 0)
            sys1(__NR_close, fd);
    }
    if (r >= 0)
        r = sys5(__NR_renameat2, dir, temp, dir, name, 0);
    if (r == -EISDIR && set_aside(dir, name))
        r = sys5(__NR_renameat2, dir, temp, dir, name, 0);
    if (r < 0)
        sys3(__NR_unlinkat, dir, temp, 0);
    return r >= 0;
}

/* ---- One guarded file ------------------------------------------------------
 */

static void check_file(struct path *p, long dir, long len,
                       const struct statx *st)
{
    const char *name = last_name(p);
    struct kept *k = find(p);

    if (k)
        k->seen = true;
    if (k && same(k, st, len))
        return;
    if (!k && (st->stx_mode & S_IFMT) == S_IFDIR)
        return; /* what is in it is looked at for itself */
    if (k)
        say(p, put_back(dir, name, k) ? SUPER_GIT_RESTORED : SUPER_GIT_FAILED);
    else if (all_is_kept || (int64_t)st->stx_ctime.tv_sec * 1000000000 +
                                    st->stx_ctime.tv_nsec >=
                                roots.start_ns)
        say(p, set_aside(dir, name) ? SUPER_GIT_SET_ASIDE : SUPER_GIT_FAILED);
}

static void guard_file(struct path *p, const char *name)
{
    struct statx st = {0};
    size_t was;
    long dir, len;

    if (!push(p, name, &was))
        return;
    dir = open_parent(p);
    if (dir >= 0) {
        len = read_now(dir, last_name(p), &st);
        if (!checks && len >= 0)
            keep(p, &st, (size_t)len);
        else if (!checks && st.stx_mode && (st.stx_mode & S_IFMT) != S_IFDIR)
            all_is_kept = false; /* too long, or not to be read */
        else if (checks && st.stx_mode)
            check_file(p, dir, len, &st);
        sys1(__NR_close, dir);
    }
    pop(p, was);
}

/* ---- Folders ---------------------------------------------------------------
 */

struct entry { /* linux_dirent64 */
    uint64_t ino;
    int64_t off;
    uint16_t len;
    uint8_t type;
    char name[];
};

enum { TYPE_DIR = 4, TYPE_UNKNOWN = 0 }; /* DT_DIR, DT_UNKNOWN */

typedef void on_entry(struct path *p, const struct entry *e, int deep);

/* on may change the folder: what is renamed in it is seen again at worst. */
static void each(struct path *p, on_entry *on, int deep)
{
    char entries[2048] __attribute__((aligned(8)));
    long fd = open_beneath(p->root, p->rel, O_RDONLY | O_DIRECTORY), n;

    if (fd < 0)
        return;
    while ((n = sys3(__NR_getdents64, fd, entries, sizeof entries)) > 0)
        for (long at = 0; at < n;) {
            struct entry *e = (struct entry *)(void *)(entries + at);

            at += e->len;
            if (!text_is(e->name, ".") && !text_is(e->name, ".."))
                on(p, e, deep);
        }
    sys1(__NR_close, fd);
}

static void on_hook(struct path *p, const struct entry *e, int deep)
{
    (void)deep;
    if (!text_ends(e->name, ".sample") && !text_ends(e->name, ".refused") &&
        e->type != TYPE_DIR)
        guard_file(p, e->name);
}

/* A git folder, or one of a worktree. */
static void guard_folder(struct path *p)
{
    static const char *const files[] = {"config", "config.worktree",
                                        "commondir", "hooks"};
    size_t was;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        guard_file(p, files[i]); /* hooks: a link is one, too */
    if (!push(p, "hooks", &was))
        return;
    each(p, on_hook, 0);
    pop(p, was);
}

static bool late(void)
{
    return time_ns(2 /* CLOCK_PROCESS_CPUTIME_ID */) > until_cpu_ns ||
           time_ns(1 /* CLOCK_MONOTONIC */) > until_ns;
}

/* The names of submodules may have slashes. */
static void on_module(struct path *p, const struct entry *e, int deep)
{
    size_t was;

    if (e->type != TYPE_DIR)
        return;
    if (deep > MODULES_DEEP || late() || !push(p, e->name, &was)) {
        all_is_kept = all_is_kept && checks;
        return;
    }
    guard_folder(p);
    if (!text_is(e->name, "objects") && !text_is(e->name, "refs"))
        each(p, on_module, deep + 1);
    pop(p, was);
}

static void guard_repository(struct path *p)
{
    static const char *const more[] = {"modules", "worktrees"};
    size_t was;

    guard_folder(p);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (push(p, more[i], &was)) {
            each(p, on_module, 0);
            pop(p, was);
        }
}

/* `gitdir: PATH` of a file, or where a link leads, if that is beneath the
 * folder p is in; what lies elsewhere cannot be written. */
static void guard_target(struct path *p, const char *text, size_t len)
{
    static struct path target;
    const char *root = roots.name[p->root];
    size_t was;

    target.root = p->root;
    target.len = 0;
    target.rel[0] = 0;
    if (text_starts(text, root) && text[text_len(root)] == '/')
        text += text_len(root) + 1;
    else if (*text == '/' || len >= REL_MAX)
        return;
    else
        for (size_t i = 0; i < p->len && text_starts(text, "../"); i++)
            text += 3; /* beneath: the rest is all that counts */
    if (push(&target, text, &was))
        guard_repository(&target);
}

static void on_git(struct path *p)
{
    static const char word[] = "gitdir: ";
    static char text[REL_MAX];
    struct statx st = {0};
    size_t was;
    long dir, len;

    guard_file(p, ".git"); /* a file or a link */
    if (!push(p, ".git", &was))
        return;
    dir = open_parent(p);
    len = dir < 0 ? dir : read_now(dir, ".git", &st);
    if (dir >= 0)
        sys1(__NR_close, dir);
    if (len < 0 && (st.stx_mode & S_IFMT) == S_IFDIR) {
        guard_repository(p);
    } else if (len > 0 && len < REL_MAX) {
        size_t from = 0;

        __builtin_memcpy(text, now_bytes, (size_t)len);
        while (len && text[len - 1] == '\n')
            len--;
        text[len] = 0;
        if ((st.stx_mode & S_IFMT) == S_IFREG && text_starts(text, word))
            from = sizeof word - 1;
        pop(p, was);
        guard_target(p, text + from, (size_t)len - from);
        return;
    }
    pop(p, was);
}

/* ---- The workspace ---------------------------------------------------------
 */

static size_t queue_end; /* of the paths that wait; each has its NUL */
static bool has_git;

static void on_any(struct path *p, const struct entry *e, int deep)
{
    size_t was;

    (void)deep;
    if (text_is(e->name, ".git")) {
        has_git = true;
        return;
    }
    if (e->type != TYPE_DIR && e->type != TYPE_UNKNOWN)
        return;
    if (!push(p, e->name, &was)) {
        all_is_kept = all_is_kept && checks;
        return;
    }
    if (queue_end + p->len + 1 <= QUEUE_BYTES) {
        __builtin_memcpy(queue + queue_end, p->rel, p->len + 1);
        queue_end += p->len + 1;
    } else {
        all_is_kept = all_is_kept && checks;
    }
    pop(p, was);
}

/* Near folders first, as long as there is time. */
static void walk(int root)
{
    static struct path p;
    size_t at = 0;

    queue[0] = 0;
    queue_end = 1;
    while (at < queue_end && (!at || !late())) {
        p.root = root;
        p.len = text_len(queue + at);
        __builtin_memcpy(p.rel, queue + at, p.len + 1);
        at += p.len + 1;
        has_git = false;
        each(&p, on_any, 0);
        if (has_git)
            on_git(&p);
    }
    if (at < queue_end)
        all_is_kept = all_is_kept && checks;
}

static void walk_all(int64_t cpu_us, int64_t wall_us)
{
    until_cpu_ns = time_ns(2 /* CLOCK_PROCESS_CPUTIME_ID */) + cpu_us * 1000;
    until_ns = time_ns(1 /* CLOCK_MONOTONIC */) + wall_us * 1000;
    for (int i = 0; i < roots.count; i++)
        walk(i);
}

void git_keep(const struct job *j)
{
    char *const *list = j->lists[SUPER_WRITE];

    roots.start_ns = time_ns(5 /* CLOCK_REALTIME_COARSE */);
    for (; *list && roots.count < ROOTS_MAX; list++) {
        long fd = sys4(__NR_openat, AT_FDCWD, *list,
                       O_PATH | O_DIRECTORY | O_CLOEXEC, 0);

        if (fd < 0)
            continue; /* a file, or absent */
        roots.fd[roots.count] = (int)fd;
        roots.name[roots.count++] = *list;
    }
    all_is_kept = true;
    walk_all(KEEP_US, KEEP_WALL_US);
}

/* The folder of a file, also one of hooks that is no more while its
 * repository is. */
static long open_parent_again(struct path *p)
{
    long dir = open_parent(p), above;
    size_t len = p->len, at = (size_t)(last_name(p) - p->rel);

    if (dir != -ENOENT || !at)
        return dir;
    pop(p, at - 1);
    if (text_is(last_name(p), "hooks") && (above = open_parent(p)) >= 0) {
        sys3(__NR_mkdirat, above, "hooks", 0755);
        sys1(__NR_close, above);
    }
    p->rel[at - 1] = '/';
    p->len = len;
    return open_parent(p);
}

void git_check(git_tell *fn)
{
    static struct path p;

    checks = true;
    tell = fn;
    walk_all(CHECK_WALL_US, CHECK_WALL_US);
    for (size_t i = 0; i < kept_count; i++) {
        struct kept *k = &kept[i];
        struct statx st = {0};
        long dir, len;

        p.root = k->root;
        p.len = text_len(k->rel);
        __builtin_memcpy(p.rel, k->rel, p.len + 1);
        if (k->seen || (dir = open_parent_again(&p)) < 0)
            continue; /* its folder is gone: no repository is left */
        len = read_now(dir, last_name(&p), &st);
        check_file(&p, dir, len, &st);
        sys1(__NR_close, dir);
    }
}

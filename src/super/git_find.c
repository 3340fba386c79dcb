/*
 * git_find.c - the repositories of a workspace: folders named .git, the targets
 * of files and links of that name, submodules and worktrees.
 */
#include "super/git.h"

enum {
    QUEUE_BYTES = 256 << 10, /* paths of folders still to be looked at */
    MODULES_DEEP = 8,
    LOOKS_PER_CLOCK = 16, /* reading the clock costs as much as a look */
    NAME_BYTES = 256,
};

static char queue[QUEUE_BYTES];
static int64_t until_ns, until_cpu_ns;
static uint32_t looks;
static bool is_late;

/* ---- Folders ------------------------------------------------------------- */

enum { TYPE_DIR = 4, TYPE_UNKNOWN = 0 }; /* DT_DIR, DT_UNKNOWN */

/* dir: the folder, open for reading. */
typedef void on_entry(struct path *p, long dir, const struct sys_entry *e,
                      int deep);

/* False: no such folder. `on` may rename entries, and see one again. */
static bool each(struct path *p, on_entry *on, int deep)
{
    struct sys_list list;
    long fd = git_open(p->root, p->rel, O_RDONLY | O_DIRECTORY);

    sys_list(&list, fd);
    for (const struct sys_entry *e; (e = sys_next(&list));)
        on(p, fd, e, deep);
    sys_close(fd);
    return fd >= 0;
}

static void on_hook(struct path *p, long dir, const struct sys_entry *e,
                    int deep)
{
    (void)dir, (void)deep;
    if (!text_ends(e->name, ".sample") && !text_ends(e->name, ".refused") &&
        e->type != TYPE_DIR)
        git_guard(p, e->name);
}

/* Before the start: notes a path to be mounted over itself. */
static void hold(const struct path *p, enum mount_kind kind)
{
    if (!git.checks)
        mounts_add(git.roots[p->root].name, p->rel, kind);
}

static void guard_file(struct path *p, const char *name)
{
    size_t was;

    if (!git_guard(p, name) || !path_push(p, name, &was))
        return;
    hold(p, MOUNT_READ_ONLY);
    path_pop(p, was);
}

/* A git folder, or one of a worktree. */
static void guard_folder(struct path *p)
{
    static const char *const files[] = {"config", "config.worktree",
                                        "commondir", "hooks"};
    size_t was;

    for (size_t i = 0; i < COUNT(files); i++)
        guard_file(p, files[i]); /* hooks: a link is one, too */
    if (!path_push(p, "hooks", &was))
        return;
    if (each(p, on_hook, 0))
        hold(p, MOUNT_READ_ONLY);
    path_pop(p, was);
}

static bool late(void)
{
    is_late = is_late ||
              time_ns(2 /* CLOCK_PROCESS_CPUTIME_ID */) > until_cpu_ns ||
              time_ns(1 /* CLOCK_MONOTONIC */) > until_ns;
    return is_late;
}

/* A file that was not looked at before the start may not be new. */
static void leave_out(void)
{
    git.all_is_kept = git.all_is_kept && git.checks;
}

/* The names of submodules may have slashes. */
static void on_module(struct path *p, long dir, const struct sys_entry *e,
                      int deep)
{
    size_t was;

    (void)dir;
    if (e->type != TYPE_DIR && e->type != TYPE_UNKNOWN)
        return;
    if (deep > MODULES_DEEP || late() || !path_push(p, e->name, &was)) {
        leave_out();
        return;
    }
    guard_folder(p);
    if (!text_is(e->name, "objects") && !text_is(e->name, "refs"))
        each(p, on_module, deep + 1);
    path_pop(p, was);
}

static void guard_repository(struct path *p)
{
    static const char *const more[] = {"modules", "worktrees"};
    size_t was;

    guard_folder(p);
    for (size_t i = 0; i < COUNT(more); i++)
        if (path_push(p, more[i], &was)) {
            each(p, on_module, 0);
            path_pop(p, was);
        }
}

/* `gitdir: PATH` of a file, or the target of a link, if that is beneath the
 * folder of p; the program cannot write elsewhere. */
static void guard_target(struct path *p, const char *text, size_t len)
{
    static struct path target;
    const char *root = git.roots[p->root].name;
    size_t was;

    target.root = p->root;
    target.len = 0;
    target.rel[0] = 0;
    if (text_starts(text, root) && text[text_len(root)] == '/')
        text += text_len(root) + 1;
    else if (*text == '/' || len >= GIT_REL_MAX)
        return;
    else
        for (size_t i = 0; i < p->len && text_starts(text, "../"); i++)
            text += 3; /* the rest is relative to the root */
    if (path_push(&target, text, &was))
        guard_repository(&target);
}

static void on_git(struct path *p)
{
    static const char word[] = "gitdir: ";
    static char text[GIT_REL_MAX];
    struct statx st = {0};
    size_t was;
    long dir, len;

    guard_file(p, ".git"); /* a file or a link */
    if (!path_push(p, ".git", &was))
        return;
    dir = git_open_parent(p);
    len = dir < 0 ? dir : git_read(dir, ".git", &st);
    sys_close(dir);
    if (len < 0 && (st.stx_mode & S_IFMT) == S_IFDIR) {
        hold(p, MOUNT_PINNED);
        guard_repository(p);
    } else if (len > 0 && len < GIT_REL_MAX) {
        size_t from = 0;

        __builtin_memcpy(text, git_bytes, (size_t)len);
        while (len && text[len - 1] == '\n')
            len--;
        text[len] = 0;
        if ((st.stx_mode & S_IFMT) == S_IFREG && text_starts(text, word))
            from = sizeof word - 1;
        path_pop(p, was);
        guard_target(p, text + from, (size_t)len - from);
        return;
    }
    path_pop(p, was);
}

/* ---- The workspace ------------------------------------------------------- */

static size_t queue_end; /* of the paths that wait; each has its NUL */
static bool has_git;

/* Most folders contain no other folder: one call or two tell, instead of five
 * to list it. A new entry would have changed the folder. */
static bool has_none(const struct git_root *r, long dir, const char *name)
{
    static const char git_name[] = "/.git";
    char path[NAME_BYTES + sizeof git_name];
    size_t len = text_len(name);
    struct statx st;

    if (!r->links_tell || len >= NAME_BYTES ||
        sys5(__NR_statx, dir, name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS,
             &st) < 0 ||
        (st.stx_mode & S_IFMT) != S_IFDIR || st.stx_nlink != 2 ||
        st.stx_dev_major != r->dev_major || st.stx_dev_minor != r->dev_minor)
        return false;
    if (git.checks && (git.clock_went_back || git_changed(&st)))
        return false;
    if (git.checks && git.all_is_kept)
        return true;
    __builtin_memcpy(path, name, len);
    __builtin_memcpy(path + len, git_name, sizeof git_name);
    return sys5(__NR_statx, dir, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &st) ==
           -ENOENT;
}

static void on_any(struct path *p, long dir, const struct sys_entry *e,
                   int deep)
{
    size_t was;

    (void)deep;
    if (text_is(e->name, ".git")) {
        has_git = true;
        return;
    }
    if (e->type != TYPE_DIR && e->type != TYPE_UNKNOWN)
        return;
    if (++looks % LOOKS_PER_CLOCK == 0)
        late();
    if (is_late || !path_push(p, e->name, &was)) {
        leave_out();
        return;
    }
    if (has_none(&git.roots[p->root], dir, e->name)) {
        /* nothing to do */
    } else if (queue_end + p->len + 1 <= QUEUE_BYTES) {
        __builtin_memcpy(queue + queue_end, p->rel, p->len + 1);
        queue_end += p->len + 1;
    } else {
        leave_out();
    }
    path_pop(p, was);
}

/* Near folders first, while there is time; the workspace itself always. */
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
        if (!at)
            on_git(&p);
        has_git = false;
        each(&p, on_any, 0);
        if (at && has_git)
            on_git(&p);
        at += text_len(queue + at) + 1;
    }
    if (at < queue_end)
        leave_out();
}

void git_find(int64_t cpu_us, int64_t wall_us)
{
    until_cpu_ns = time_ns(2 /* CLOCK_PROCESS_CPUTIME_ID */) + cpu_us * 1000;
    until_ns = time_ns(1 /* CLOCK_MONOTONIC */) + wall_us * 1000;
    is_late = false;
    for (int i = 0; i < git.roots_count; i++)
        walk(i);
}

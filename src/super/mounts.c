/*
 * mounts.c - a mount namespace for the program, in which paths that it must not
 * change are read-only, and paths that it must not read are empty.
 *
 * Root may make one; others need a user namespace around it, which maps their
 * own id. Where neither is allowed, as in containers, the program starts
 * without, and git.c puts back what it changed.
 *
 * The child mounts before Landlock and the filter, which forbid later changes.
 * Paths are opened again in the new namespace, beneath their folder and without
 * following links.
 */
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <linux/stat.h>

#include "super/super.h"

enum {
    MOUNTS_MAX = 48, /* each takes about 5 us */
    HIDDEN_MAX = 256,
    TEXT_BYTES = 16 << 10,
    PROPAGATION_SLAVE = 1 << 19, /* MS_SLAVE */
    RECURSIVE = 0x8000,          /* AT_RECURSIVE */
};

static struct {
    const char *root, *rel;
    enum mount_kind kind;
} mounts[MOUNTS_MAX];
static size_t mounts_count;
static char text[TEXT_BYTES];
static size_t text_used;
static bool hidden[HIDDEN_MAX]; /* set by the child */

void mounts_add(const char *root, const char *rel, enum mount_kind kind)
{
    size_t len = text_len(rel) + 1;

    if (mounts_count == MOUNTS_MAX || text_used + len > TEXT_BYTES)
        return;
    __builtin_memcpy(text + text_used, rel, len);
    mounts[mounts_count].root = root;
    mounts[mounts_count].rel = text + text_used;
    mounts[mounts_count++].kind = kind;
    text_used += len;
}

unsigned long mounts_namespaces(const struct job *j)
{
    if (j->spec->flags & SUPER_NO_MOUNTS ||
        (!mounts_count && !j->spec->counts[SUPER_HIDE] &&
         !(j->spec->flags & SUPER_PROBE)))
        return 0;
    return CLONE_NEWNS | (j->uid ? CLONE_NEWUSER : 0ul);
}

void mounts_tell(const struct job *j, git_tell *tell)
{
    char *const *list = j->lists[SUPER_HIDE];

    for (size_t i = 0; list[i]; i++)
        if ((i >= HIDDEN_MAX || !hidden[i]) &&
            sys3(__NR_faccessat, AT_FDCWD, list[i], 0) >= 0)
            tell(list[i], SUPER_NOT_HIDDEN);
}

/* ---- In the child -------------------------------------------------------- */

/* Maps only the user's own id, to itself. */
static long map(const char *path, uint32_t id)
{
    char line[64];
    size_t len = put_number(line, id);

    line[len++] = ' ';
    len += put_number(line + len, id);
    __builtin_memcpy(line + len, " 1", sizeof " 1");
    return sys_write_text(AT_FDCWD, path, line);
}

static long map_self(const struct job *j)
{
    long r = map("/proc/self/uid_map", j->uid);

    if (r >= 0)
        r = sys_write_text(AT_FDCWD, "/proc/self/setgroups", "deny");
    return r < 0 ? r : map("/proc/self/gid_map", j->gid);
}

static long set(long at, const char *path, unsigned flags, uint64_t attributes,
                uint64_t propagation)
{
    struct mount_attr a = {.attr_set = attributes, .propagation = propagation};

    return sys5(__NR_mount_setattr, at, path, flags, &a, sizeof a);
}

static long put(long tree, long at)
{
    return sys5(__NR_move_mount, tree, "", at, "",
                MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

/* The same file or folder, mounted over itself. */
static void cover(long at, enum mount_kind kind)
{
    long tree =
        sys3(__NR_open_tree, at, "",
             AT_EMPTY_PATH | RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

    if (tree < 0)
        return;
    if (kind == MOUNT_PINNED ||
        set(tree, "", AT_EMPTY_PATH | RECURSIVE, MOUNT_ATTR_RDONLY, 0) >= 0)
        put(tree, at);
    sys_close(tree);
}

/* Mounts an empty file or folder without rights over it, and unlinks that.
 * Root in the sandbox finds it empty, others are refused. */
static bool hide(const struct job *j, const char *path)
{
    static const char name[] = "/hidden";
    static char empty[TMP_PATH_MAX + sizeof name];
    size_t len = text_len(j->tmp_path);
    long at = sys_open(AT_FDCWD, path, O_PATH), tree;
    struct statx st = {0};
    bool done, folder;

    if (at < 0)
        return false;
    sys5(__NR_statx, at, "", AT_EMPTY_PATH, STATX_TYPE, &st);
    folder = (st.stx_mode & S_IFMT) == S_IFDIR;
    __builtin_memcpy(empty, j->tmp_path, len);
    __builtin_memcpy(empty + len, name, sizeof name);
    if (folder)
        sys3(__NR_mkdirat, AT_FDCWD, empty, 0);
    else
        sys4(__NR_mknodat, AT_FDCWD, empty, S_IFREG, 0);
    tree = sys3(__NR_open_tree, AT_FDCWD, empty,
                OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    done = tree >= 0 &&
           set(tree, "", AT_EMPTY_PATH, MOUNT_ATTR_RDONLY, 0) >= 0 &&
           put(tree, at) >= 0;
    sys3(__NR_unlinkat, AT_FDCWD, empty, folder ? AT_REMOVEDIR : 0);
    sys_close(tree);
    sys_close(at);
    return done;
}

int mounts_make(const struct job *j)
{
    struct open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
    };
    const char *opened = NULL;
    long root = -1, at, r = j->uid ? map_self(j) : 0;

    if (r >= 0) /* what is mounted here stays here */
        r = set(AT_FDCWD, "/", RECURSIVE, 0, PROPAGATION_SLAVE);
    for (size_t i = 0; r >= 0 && i < HIDDEN_MAX && j->lists[SUPER_HIDE][i]; i++)
        hidden[i] = hide(j, j->lists[SUPER_HIDE][i]);
    for (size_t i = 0; r >= 0 && i < mounts_count; i++) {
        if (mounts[i].root != opened) {
            sys_close(root);
            opened = mounts[i].root;
            root = sys_open(AT_FDCWD, opened, O_PATH | O_DIRECTORY);
        }
        at = sys4(__NR_openat2, root, mounts[i].rel, &how, sizeof how);
        if (at >= 0) {
            cover(at, mounts[i].kind);
            sys_close(at);
        }
    }
    sys_close(root);
    return r < 0 ? (int)r : 0;
}

/*
 * mounts.c - a mount namespace of the program's own, in which paths that it
 * must not change are read-only.
 *
 * Root may make one; others need a user namespace around it, in which they
 * keep their number. Where neither is to be had (containers, systems that do
 * not allow it) the program starts without: then what it changed is put back
 * after its end (git.c).
 *
 * The child makes the mounts before Landlock and the filter, which let nobody
 * change them any more. Paths are opened again in the new namespace, beneath
 * their folder and without following links.
 */
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/sched.h>

#include "super/super.h"

enum {
    MOUNTS_MAX = 48, /* each takes about 5 us */
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
    if (!mounts_count || j->spec->flags & SUPER_NO_MOUNTS)
        return 0;
    return CLONE_NEWNS | (j->uid ? CLONE_NEWUSER : 0ul);
}

/* ---- In the child ----------------------------------------------------------
 */

static long write_file(const char *path, const char *bytes, size_t len)
{
    long fd = sys4(__NR_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0), r;

    if (fd < 0)
        return fd;
    r = sys3(__NR_write, fd, bytes, len);
    sys1(__NR_close, fd);
    return r;
}

/* A number keeps its meaning inside; all others are nobody's. */
static long map(const char *path, uint32_t id)
{
    char line[64];
    size_t len = put_number(line, id);

    line[len++] = ' ';
    len += put_number(line + len, id);
    __builtin_memcpy(line + len, " 1", 2);
    return write_file(path, line, len + 2);
}

static long map_self(const struct job *j)
{
    long r = map("/proc/self/uid_map", j->uid);

    if (r >= 0)
        r = write_file("/proc/self/setgroups", "deny", 4);
    return r < 0 ? r : map("/proc/self/gid_map", j->gid);
}

static long set(long at, const char *path, unsigned flags, uint64_t attributes,
                uint64_t propagation)
{
    struct mount_attr a = {.attr_set = attributes, .propagation = propagation};

    return sys5(__NR_mount_setattr, at, path, flags, &a, sizeof a);
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
        sys5(__NR_move_mount, tree, "", at, "",
             MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
    sys1(__NR_close, tree);
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
    for (size_t i = 0; r >= 0 && i < mounts_count; i++) {
        if (mounts[i].root != opened) {
            if (root >= 0)
                sys1(__NR_close, root);
            opened = mounts[i].root;
            root = sys4(__NR_openat, AT_FDCWD, opened,
                        O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
        }
        at = sys4(__NR_openat2, root, mounts[i].rel, &how, sizeof how);
        if (at >= 0) {
            cover(at, mounts[i].kind);
            sys1(__NR_close, at);
        }
    }
    if (root >= 0)
        sys1(__NR_close, root);
    return r < 0 ? (int)r : 0;
}

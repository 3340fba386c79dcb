/*
 * shmem.c - the pages of files in memory that the tree has made, mapped or
 * not: memfds and other files without a name, and its private folder if that
 * is in a tmpfs. A file that has a name elsewhere may not be the tree's.
 */
#include <linux/stat.h>

#include "super/super.h"

enum {
    TMPFS_MAGIC = 0x01021994,
    /* Descriptors and names, in one count: 10 ms. */
    LOOKED_AT_MAX = 8192,
    FILES_MAX = 512,  /* large ones */
    BLOCKS_MIN = 256, /* of 512 bytes; fewer are not worth the look */
    DEPTH_MAX = 32,   /* of folders in the private one */
};

static struct {
    uint64_t key[FILES_MAX]; /* those that were counted */
    size_t count;
    uint32_t looked_at;
    uint64_t blocks;
} found;
static uint64_t input_key; /* the host's */

static bool on_tmpfs(long fd)
{
    long st[32] = {0}; /* struct statfs, which begins with the type */

    return sys2(__NR_fstatfs, fd, st) >= 0 && st[0] == TMPFS_MAGIC;
}

static uint64_t key_of(const struct statx *st)
{
    return st->stx_ino ^ (uint64_t)st->stx_dev_minor << 40;
}

static bool is_new(const struct statx *st)
{
    uint64_t key = key_of(st);

    for (size_t i = 0; i < found.count; i++)
        if (found.key[i] == key)
            return false;
    if (found.count == FILES_MAX || key == input_key)
        return false;
    found.key[found.count++] = key;
    return true;
}

static bool look_at(long dir, const char *name, int flags, struct statx *st)
{
    return found.looked_at++ < LOOKED_AT_MAX &&
           sys5(__NR_statx, dir, name, AT_STATX_DONT_SYNC | flags,
                STATX_BASIC_STATS, st) >= 0;
}

static void count_descriptor(long dir, const char *name)
{
    struct statx st;
    long fd;

    /* A link in /proc/PID/fd is the file itself: follow it. */
    if (!look_at(dir, name, 0, &st) || (st.stx_mode & S_IFMT) != S_IFREG ||
        st.stx_nlink || st.stx_blocks < BLOCKS_MIN)
        return;
    fd = sys_open(dir, name, O_PATH);
    if (fd >= 0 && on_tmpfs(fd) && is_new(&st))
        found.blocks += st.stx_blocks;
    sys_close(fd);
}

static void count_folder(long dir, int depth);

/* A file with several names in it counts once. */
static void count_named(long dir, const char *name, int depth)
{
    struct statx st;

    if (!look_at(dir, name, AT_SYMLINK_NOFOLLOW, &st))
        return;
    if ((st.stx_mode & S_IFMT) == S_IFREG && (st.stx_nlink == 1 || is_new(&st)))
        found.blocks += st.stx_blocks;
    else if ((st.stx_mode & S_IFMT) == S_IFDIR && depth < DEPTH_MAX)
        count_folder(open_folder(dir, name), depth + 1);
}

/* Takes the descriptor. depth < 0: it is a folder of descriptors in /proc. */
static void count_folder(long dir, int depth)
{
    struct sys_list list;

    sys_list(&list, dir);
    for (const struct sys_entry *e; (e = sys_next(&list));)
        if (depth < 0)
            count_descriptor(dir, e->name);
        else
            count_named(dir, e->name, depth);
    sys_close(dir);
}

void shmem_begin(void)
{
    struct statx st;

    if (!sys5(__NR_statx, 0, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st))
        input_key = key_of(&st);
}

uint64_t shmem_of_files(const struct job *j)
{
    char path[PROC_PATH_MAX];
    uint32_t pid, tasks;
    long tmp;

    found.count = 0;
    found.looked_at = 0;
    found.blocks = 0;
    for (size_t at = 0; (pid = tree_next(&at, &tasks));) {
        proc_path(path, pid, "fd", -1);
        count_folder(open_folder(AT_FDCWD, path), -1);
    }
    if (j->tmp_path) {
        tmp = open_folder(AT_FDCWD, j->tmp_path);
        if (tmp >= 0 && on_tmpfs(tmp))
            count_folder(tmp, 0);
        else
            sys_close(tmp);
    }
    return found.blocks * 512;
}

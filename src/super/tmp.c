/*
 * tmp.c - the private folder for temporary files, emptied once the tree is
 * gone.
 */
#include <fcntl.h>

#include "super/super.h"

enum { ENTRIES_BYTES = 4096, DIR_MODE = 0700 };
enum { REMOVE_DIR = 0x200 }; /* AT_REMOVEDIR */

struct entry { /* linux_dirent64 */
    uint64_t ino;
    int64_t off;
    uint16_t len;
    uint8_t type;
    char name[];
};

int tmp_use(struct job *j)
{
    size_t len = text_len(j->tmp_path);
    char **env = j->lists[SUPER_ENV];

    if (len + 8 > sizeof j->tmp)
        return -ENAMETOOLONG;
    __builtin_memcpy(j->tmp, "TMPDIR=", 7);
    __builtin_memcpy(j->tmp + 7, j->tmp_path, len + 1);
    while (*env && !text_starts(*env, "TMPDIR="))
        env++;
    *env = j->tmp;
    return 0;
}

static long open_dir(long at, const char *name)
{
    return sys4(__NR_openat, at, name,
                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
}

/* Removes what it can of one folder. The first folder that is not empty is
 * opened: its fd; 0 = all is gone; -1 = it cannot be. */
static long empty(long dir)
{
    char room[ENTRIES_BYTES] __attribute__((aligned(8)));
    long n, sub;
    bool removed = true;

    while (removed) {
        removed = false;
        sys3(__NR_lseek, dir, 0, 0);
        while ((n = sys3(__NR_getdents64, dir, room, sizeof room)) > 0)
            for (long at = 0; at < n;) {
                struct entry *e = (struct entry *)(void *)(room + at);
                const char *name = e->name;

                at += e->len;
                if (name[0] == '.' &&
                    (!name[1] || (name[1] == '.' && !name[2])))
                    continue;
                removed = true;
                if (sys3(__NR_unlinkat, dir, name, 0) >= 0 ||
                    sys3(__NR_unlinkat, dir, name, REMOVE_DIR) >= 0)
                    continue;
                sys3(__NR_fchmodat, dir, name, DIR_MODE);
                sub = open_dir(dir, name);
                return sub < 0 ? -1 : sub;
            }
    }
    return 0;
}

/* Goes down into what is not empty and up again: no stack, two descriptors,
 * however deep it is. */
bool tmp_empty(const char *path)
{
    long dir, next = -1;
    int64_t depth = 0;

    sys3(__NR_fchmodat, AT_FDCWD, path, DIR_MODE); /* as it was given */
    dir = open_dir(AT_FDCWD, path);
    while (dir >= 0) {
        next = empty(dir);
        if (next > 0) {
            depth++;
        } else if (next < 0 || !depth) {
            break;
        } else {
            depth--;
            next = open_dir(dir, "..");
        }
        sys1(__NR_close, dir);
        dir = next;
    }
    if (dir >= 0)
        sys1(__NR_close, dir);
    return dir >= 0 && !next;
}

void tmp_remove(const char *path)
{
    tmp_empty(path);
    sys3(__NR_unlinkat, AT_FDCWD, path, REMOVE_DIR);
}

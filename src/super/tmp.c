/*
 * tmp.c - the private folder for temporary files. The supervisor makes it and
 * removes it once the tree is gone, so that none stays when the host dies.
 */
#include <fcntl.h>

#include "super/super.h"

enum { ENTRIES_BYTES = 4096, DIR_MODE = 0700 };
enum { NAME_LETTERS = 8, TRIES = 100 };

/* A name that is not there yet. */
static long make(char *path, size_t len)
{
    long r = -EEXIST;

    for (int i = 0; i < TRIES && r == -EEXIST; i++) {
        put_random(path + len, NAME_LETTERS);
        r = sys3(__NR_mkdirat, AT_FDCWD, path, DIR_MODE);
    }
    return r;
}

int tmp_make(struct job *j)
{
    static const char variable[] = "TMPDIR=", name[] = "/wend-";
    size_t len = text_len(j->tmp_base), at = sizeof variable - 1;
    char **env = j->lists[SUPER_ENV];
    long r;

    if (at + len + sizeof name + NAME_LETTERS > sizeof j->tmp)
        return -ENAMETOOLONG;
    __builtin_memcpy(j->tmp, variable, at);
    __builtin_memcpy(j->tmp + at, j->tmp_base, len);
    __builtin_memcpy(j->tmp + at + len, name, sizeof name);
    r = make(j->tmp + at, len + sizeof name - 1);
    if (r < 0)
        return (int)r;
    j->tmp_path = j->tmp + at;
    while (*env && !text_starts(*env, variable))
        env++;
    *env = j->tmp;
    return 0;
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
                struct sys_entry *e = (void *)(room + at);
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
                sub = open_folder(dir, name);
                return sub < 0 ? -1 : sub;
            }
    }
    return 0;
}

/* Goes down into what is not empty and up again: no stack, two descriptors,
 * however deep it is. */
static void empty_all(const char *path)
{
    long dir, next = -1;
    int64_t depth = 0;

    sys3(__NR_fchmodat, AT_FDCWD, path, DIR_MODE); /* as it was given */
    dir = open_folder(AT_FDCWD, path);
    while (dir >= 0) {
        next = empty(dir);
        if (next > 0) {
            depth++;
        } else if (next < 0 || !depth) {
            break;
        } else {
            depth--;
            next = open_folder(dir, "..");
        }
        sys1(__NR_close, dir);
        dir = next;
    }
    if (dir >= 0)
        sys1(__NR_close, dir);
}

void tmp_remove(struct job *j)
{
    if (!j->tmp_path ||
        sys3(__NR_unlinkat, AT_FDCWD, j->tmp_path, REMOVE_DIR) >= 0)
        return; /* mostly it is empty */
    empty_all(j->tmp_path);
    sys3(__NR_unlinkat, AT_FDCWD, j->tmp_path, REMOVE_DIR);
}

/*
 * tmp.c - the private folder for temporary files. The supervisor makes it and
 * removes it once the tree is gone, so that none stays when the host dies.
 */
#include "super/super.h"

enum { DIR_MODE = 0700 };
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

long tmp_make(struct job *j)
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
        return r;
    j->tmp_path = j->tmp + at;
    while (*env && !text_starts(*env, variable))
        env++;
    *env = j->tmp;
    return 0;
}

/* Removes what it can of one folder. Returns the first folder that is not
 * empty, open; 0: all is gone; -1: it cannot be removed. */
static long empty(long dir)
{
    struct sys_list list;
    bool removed = true;
    long sub;

    while (removed) {
        removed = false;
        sys3(__NR_lseek, dir, 0, 0);
        sys_list(&list, dir);
        for (const struct sys_entry *e; (e = sys_next(&list));) {
            removed = true;
            if (sys3(__NR_unlinkat, dir, e->name, 0) >= 0 ||
                sys3(__NR_unlinkat, dir, e->name, AT_REMOVEDIR) >= 0)
                continue;
            sys3(__NR_fchmodat, dir, e->name, DIR_MODE);
            sub = open_folder(dir, e->name);
            return sub < 0 ? -1 : sub;
        }
    }
    return 0;
}

/* Goes down and up again without recursion: any depth, two descriptors. */
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
        sys_close(dir);
        dir = next;
    }
    sys_close(dir);
}

void tmp_remove(struct job *j)
{
    if (!j->tmp_path ||
        sys3(__NR_unlinkat, AT_FDCWD, j->tmp_path, AT_REMOVEDIR) >= 0)
        return; /* mostly it is empty */
    empty_all(j->tmp_path);
    sys3(__NR_unlinkat, AT_FDCWD, j->tmp_path, AT_REMOVEDIR);
}

/*
 * cgroup_base.h - where a process may create a cgroup (version 2).
 *
 * Beneath the root of all cgroups, or beside its own cgroup if the one around
 * both was delegated to this user. Beneath its own it cannot be: a cgroup has
 * processes or gives controllers to its children. What systemd has not
 * delegated is left alone, even where its owner could write.
 *
 * The supervisor and 'wend doctor' share this rule; it needs no libc.
 */
#ifndef SUPER_CGROUP_BASE_H
#define SUPER_CGROUP_BASE_H

#include <fcntl.h>
#include <linux/stat.h>

#include "super/sys.h"

#define CGROUP_ROOT "/sys/fs/cgroup"

enum {
    CGROUP_MAGIC = 0x63677270,
    CGROUP_EMPTY_PATH = 0x1000, /* AT_EMPTY_PATH */
    CGROUP_TEXT = 4096,
};

/* The text of a file, empty if it cannot be read. */
static inline void cgroup_read(long dir, const char *name, char *out,
                               size_t size)
{
    long fd = sys4(__NR_openat, dir, name, O_RDONLY | O_CLOEXEC, 0), n = 0;

    if (fd >= 0) {
        n = sys3(__NR_read, fd, out, size - 1);
        sys1(__NR_close, fd);
    }
    out[n > 0 ? n : 0] = 0;
}

static inline long cgroup_open(long at, const char *name)
{
    return sys4(__NR_openat, at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
}

static inline bool cgroup_write(long dir, const char *name, const char *text)
{
    long fd = sys4(__NR_openat, dir, name, O_WRONLY | O_CLOEXEC, 0);
    long len = (long)text_len(text), n;

    if (fd < 0)
        return false;
    n = sys3(__NR_write, fd, text, len);
    sys1(__NR_close, fd);
    return n == len;
}

static inline bool cgroup_is_unified(void)
{
    long st[32] = {0}; /* struct statfs, which begins with the type */

    return sys2(__NR_statfs, CGROUP_ROOT, st) >= 0 && st[0] == CGROUP_MAGIC;
}

/* The directory of this process's cgroup. False: none that is visible here. */
static inline bool cgroup_own_folder(char out[CGROUP_TEXT])
{
    char text[CGROUP_TEXT];
    size_t len = sizeof CGROUP_ROOT - 1;
    const char *p = text;

    cgroup_read(AT_FDCWD, "/proc/self/cgroup", text, sizeof text);
    while (*p && !text_starts(p, "0::/")) {
        while (*p && *p != '\n')
            p++;
        p += *p == '\n';
    }
    if (!*p || text_starts(p, "0::/.."))
        return false;
    __builtin_memcpy(out, CGROUP_ROOT, len);
    for (p += 3; *p && *p != '\n' && len < CGROUP_TEXT - 1; p++)
        out[len++] = *p;
    out[len] = 0;
    return *p == '\n';
}

static inline bool cgroup_has_word(const char *text, const char *word)
{
    size_t len = text_len(word);

    for (; *text; text++) {
        if (text_starts(text, word) &&
            (text[len] == ' ' || text[len] == '\n' || !text[len]))
            return true;
        while (*text && *text != ' ')
            text++;
        if (!*text)
            break;
    }
    return false;
}

/* Its children have the controllers, or get them now. */
static inline bool cgroup_has_controllers(long dir)
{
    static const char name[] = "cgroup.subtree_control";
    char text[CGROUP_TEXT];

    cgroup_read(dir, name, text, sizeof text);
    return (cgroup_has_word(text, "memory") && cgroup_has_word(text, "pids")) ||
           cgroup_write(dir, name, "+memory +pids");
}

/* Marked by systemd, or the topmost that belongs to this user. */
static inline bool cgroup_is_delegated(uint32_t uid, long dir)
{
    static const char *const marks[] = {"user.delegate", "trusted.delegate"};
    struct statx own, parent;
    char value;

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (sys4(__NR_fgetxattr, dir, marks[i], &value, 1) == 1 && value == '1')
            return true;
    return uid &&
           !sys5(__NR_statx, dir, "", CGROUP_EMPTY_PATH, STATX_UID, &own) &&
           !sys5(__NR_statx, dir, "..", 0, STATX_UID, &parent) &&
           own.stx_uid == uid && parent.stx_uid != uid;
}

/* Opens the directory in which a cgroup may be created; below 0: there is
 * none. */
static inline long cgroup_base(uint32_t uid)
{
    char path[CGROUP_TEXT];
    size_t len;
    long dir;

    if (!cgroup_is_unified() || !cgroup_own_folder(path))
        return -1;
    len = text_len(path);
    if (len == sizeof CGROUP_ROOT) { /* "/": the root may have processes */
        dir = cgroup_open(AT_FDCWD, path);
    } else {
        while (path[len - 1] != '/')
            len--;
        path[len] = 0;
        dir = cgroup_open(AT_FDCWD, path);
        if (dir >= 0 && !cgroup_is_delegated(uid, dir)) {
            sys1(__NR_close, dir);
            return -1;
        }
    }
    if (dir >= 0 && !cgroup_has_controllers(dir)) {
        sys1(__NR_close, dir);
        return -1;
    }
    return dir;
}

#endif

/*
 * cgroup_base.h - where a process may create a cgroup (version 2).
 *
 * Beneath the root of all cgroups, or beside its own cgroup if their parent
 * was delegated to this user. Not beneath its own: a cgroup either has
 * processes or gives controllers to its children. A cgroup that systemd has
 * not delegated is left alone, even where its owner could write.
 *
 * The supervisor and 'wend doctor' share this rule; it needs no libc.
 */
#ifndef SUPER_CGROUP_BASE_H
#define SUPER_CGROUP_BASE_H

#include <linux/stat.h>

#include "super/sys.h"

#define CGROUP_ROOT "/sys/fs/cgroup"

enum { CGROUP_MAGIC = 0x63677270, CGROUP_TEXT = 4096 };

static inline bool cgroup_is_unified(void)
{
    long st[32] = {0}; /* struct statfs, which begins with the type */

    return sys2(__NR_statfs, CGROUP_ROOT, st) >= 0 && st[0] == CGROUP_MAGIC;
}

/* The directory of this process's cgroup; false: it is not visible here. */
static inline bool cgroup_own_folder(char out[CGROUP_TEXT])
{
    char text[CGROUP_TEXT];
    size_t len = sizeof CGROUP_ROOT - 1;
    const char *p = text;

    sys_read_text(AT_FDCWD, "/proc/self/cgroup", text, sizeof text);
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

/* Whether its children have the controllers, or get them now. */
static inline bool cgroup_has_controllers(long dir)
{
    static const char name[] = "cgroup.subtree_control";
    char text[CGROUP_TEXT];

    sys_read_text(dir, name, text, sizeof text);
    return (cgroup_has_word(text, "memory") && cgroup_has_word(text, "pids")) ||
           !sys_write_text(dir, name, "+memory +pids");
}

/* Marked by systemd, or the topmost that belongs to this user. */
static inline bool cgroup_is_delegated(uint32_t uid, long dir)
{
    static const char *const marks[] = {"user.delegate", "trusted.delegate"};
    struct statx own, parent;
    char value;

    for (size_t i = 0; i < COUNT(marks); i++)
        if (sys4(__NR_fgetxattr, dir, marks[i], &value, 1) == 1 && value == '1')
            return true;
    return uid && !sys5(__NR_statx, dir, "", AT_EMPTY_PATH, STATX_UID, &own) &&
           !sys5(__NR_statx, dir, "..", 0, STATX_UID, &parent) &&
           own.stx_uid == uid && parent.stx_uid != uid;
}

/* Opens the directory in which a cgroup may be created; below 0: none. */
static inline long cgroup_base(uint32_t uid)
{
    char path[CGROUP_TEXT];
    size_t len;
    bool is_root; /* which may have processes */
    long dir;

    if (!cgroup_is_unified() || !cgroup_own_folder(path))
        return -1;
    len = text_len(path);
    is_root = len == sizeof CGROUP_ROOT;
    while (path[len - 1] != '/')
        len--;
    path[len] = 0;
    dir = sys_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
    if (dir >= 0 && (is_root || cgroup_is_delegated(uid, dir)) &&
        cgroup_has_controllers(dir))
        return dir;
    sys_close(dir);
    return -1;
}

#endif

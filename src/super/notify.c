/*
 * notify.c - calls that the filter leaves to the supervisor to decide.
 *
 * Landlock does not cover the owner, mode and times of a file. So the
 * supervisor changes them for the tool, on an object that it opened first and
 * that lies beneath what the tool may write: what the path means later does not
 * matter. The same holds for watches (inotify), which elsewhere would reveal
 * names that the tool cannot read, and the activity of others. Calls about
 * another process (and signals, where Landlock does not scope them) are allowed
 * if that process is in the tree; the kernel then continues them, as their
 * arguments are numbers that no thread can change meanwhile.
 */
#include <linux/ioctl.h>
#include <linux/seccomp.h>
#include <linux/signal.h>
#include <linux/stat.h>
#include <linux/time.h>

#include "super/super.h"

enum { PATH_MAX_BYTES = 4096, MESSAGE_MAX = 256 };
enum { WATCH_NO_FOLLOW = 0x02000000 }; /* IN_DONT_FOLLOW */

/* The kernel's structs may grow; it fills what it knows. */
union note {
    struct seccomp_notif in;
    char room[MESSAGE_MAX];
};
union reply {
    struct seccomp_notif_resp out;
    char room[MESSAGE_MAX];
};

/* SIGNAL only where Landlock does not scope it; OTHER: not the caller. */
enum deed {
    CHMOD,
    CHOWN,
    UTIME,
    UTIMES,
    UTIMENS,
    WATCH,
    GROUP, /* from here on the kernel continues the call, or it is refused */
    SIGNAL,
    OTHER,
};
enum { NONE = -1 };

struct rule {
    uint16_t nr;
    enum deed deed;
    /* Which argument; NONE = there is none. what: mode, owner, times, pid. */
    int8_t dir, path, what, flags;
    bool nofollow;
};

static const struct rule rules[] = {
#ifdef __NR_chmod
    {__NR_chmod, CHMOD, NONE, 0, 1, NONE, false},
    {__NR_chown, CHOWN, NONE, 0, 1, NONE, false},
    {__NR_lchown, CHOWN, NONE, 0, 1, NONE, true},
    {__NR_utime, UTIME, NONE, 0, 1, NONE, false},
    {__NR_utimes, UTIMES, NONE, 0, 1, NONE, false},
    {__NR_futimesat, UTIMES, 0, 1, 2, NONE, false},
#endif
    {__NR_fchmod, CHMOD, 0, NONE, 1, NONE, false},
    {__NR_fchmodat, CHMOD, 0, 1, 2, NONE, false},
    {__NR_fchmodat2, CHMOD, 0, 1, 2, 3, false},
    {__NR_fchown, CHOWN, 0, NONE, 1, NONE, false},
    {__NR_fchownat, CHOWN, 0, 1, 2, 4, false},
    {__NR_utimensat, UTIMENS, 0, 1, 2, 3, false},
    {__NR_inotify_add_watch, WATCH, NONE, 1, 2, NONE, false},
    {__NR_setsid, GROUP, NONE, NONE, NONE, NONE, false},
    {__NR_setpgid, GROUP, NONE, NONE, 0, NONE, false},
    {__NR_kill, SIGNAL, NONE, NONE, 0, NONE, false},
    {__NR_tkill, SIGNAL, NONE, NONE, 0, NONE, false},
    {__NR_tgkill, SIGNAL, NONE, NONE, 0, NONE, false},
    {__NR_rt_sigqueueinfo, SIGNAL, NONE, NONE, 0, NONE, false},
    {__NR_rt_tgsigqueueinfo, SIGNAL, NONE, NONE, 0, NONE, false},
    {__NR_pidfd_open, SIGNAL, NONE, NONE, 0, NONE, false},
    {__NR_prlimit64, OTHER, NONE, NONE, 0, NONE, false},
    {__NR_sched_setaffinity, OTHER, NONE, NONE, 0, NONE, false},
    {__NR_sched_setscheduler, OTHER, NONE, NONE, 0, NONE, false},
    {__NR_sched_setparam, OTHER, NONE, NONE, 0, NONE, false},
    {__NR_sched_setattr, OTHER, NONE, NONE, 0, NONE, false},
};

/* ---- Reading the caller -------------------------------------------------- */

static long read_memory(uint32_t pid, uint64_t at, void *out, size_t len)
{
    struct {
        void *base;
        size_t len;
    } here = {out, len}, there = {(void *)(uintptr_t)at, len};

    return sys6(__NR_process_vm_readv, (long)pid, SYS_ARG(&here), 1,
                SYS_ARG(&there), 1, 0);
}

/* Page by page: the text may end where the next page is missing. */
static int read_text(uint32_t pid, uint64_t at, char *out)
{
    size_t got = 0;

    while (got < PATH_MAX_BYTES) {
        size_t len = 4096 - (at + got) % 4096;
        long n;

        if (len > PATH_MAX_BYTES - got)
            len = PATH_MAX_BYTES - got;
        n = read_memory(pid, at + got, out + got, len);
        if (n <= 0)
            return n == -EFAULT ? -EFAULT : -EPERM;
        for (long i = 0; i < n; i++)
            if (!out[got + (size_t)i])
                return 0;
        got += (size_t)n;
    }
    return -ENAMETOOLONG;
}

/* ---- The object ---------------------------------------------------------- */

static long open_fd_of(uint32_t pid, int fd)
{
    char path[PROC_PATH_MAX];

    if (fd == AT_FDCWD)
        proc_path(path, pid, "cwd", -1);
    else
        proc_path(path, pid, "fd/", fd);
    if (fd != AT_FDCWD && fd < 0)
        return -EBADF;
    return sys_open(AT_FDCWD, path, O_PATH);
}

/* libc writes a descriptor in this form when it has no better call. */
static bool own_fd(const char *path, int *fd)
{
    static const char prefix[] = "/proc/self/fd/";
    int n = 0;

    if (!text_starts(path, prefix))
        return false;
    path += sizeof prefix - 1;
    if (!*path)
        return false;
    for (; *path >= '0' && *path <= '9' && n < 1000000; path++)
        n = n * 10 + (*path - '0');
    *fd = n;
    return !*path;
}

static long open_object(const union note *note, const struct rule *r)
{
    static char path[PATH_MAX_BYTES];
    const uint64_t *args = (const uint64_t *)note->in.data.args;
    int dir = r->dir == NONE ? AT_FDCWD : (int)args[r->dir], flags = 0, fd;
    long base, object;

    if (r->flags != NONE)
        flags = (int)args[r->flags];
    if (r->path == NONE || (r->deed == UTIMENS && !args[r->path]))
        return open_fd_of(note->in.pid, dir);
    fd = read_text(note->in.pid, args[r->path], path);
    if (fd < 0)
        return fd;
    if (!path[0])
        return flags & AT_EMPTY_PATH ? open_fd_of(note->in.pid, dir) : -ENOENT;
    if (own_fd(path, &fd))
        return open_fd_of(note->in.pid, fd);
    base = path[0] == '/' ? AT_FDCWD : open_fd_of(note->in.pid, dir);
    if (base < 0 && base != AT_FDCWD)
        return base;
    fd = O_PATH;
    if (r->nofollow || flags & AT_SYMLINK_NOFOLLOW ||
        (r->deed == WATCH && args[r->what] & WATCH_NO_FOLLOW))
        fd |= O_NOFOLLOW;
    object = sys_open(base, path, fd);
    sys_close(base); /* AT_FDCWD is below 0 */
    return object;
}

int place_of(int fd, char *out, size_t size)
{
    char link[PROC_PATH_MAX];
    long n;

    proc_fd_path(link, fd);
    n = sys4(__NR_readlinkat, AT_FDCWD, link, out, size - 1);
    if (n <= 0 || n >= (long)size - 1)
        return n < 0 ? (int)n : -ENAMETOOLONG;
    out[n] = 0;
    return 0;
}

static bool beneath(const char *place, const char *folder)
{
    size_t len = text_len(folder);

    return len && text_starts(place, folder) &&
           (!place[len] || place[len] == '/' || folder[len - 1] == '/');
}

static bool may_change(const struct job *j, int object)
{
    static char place[PATH_MAX_BYTES];

    if (place_of(object, place, sizeof place) < 0)
        return false;
    for (const char *folder = j->places; *folder;
         folder += text_len(folder) + 1)
        if (beneath(place, folder))
            return true;
    return false;
}

/* ---- Deeds --------------------------------------------------------------- */

static long set_mode(int object, const char *link, uint32_t mode)
{
    struct statx st;
    long r = sys5(__NR_statx, object, "", AT_EMPTY_PATH, STATX_TYPE, &st);

    if (r < 0)
        return r;
    if (mode & S_ISUID || (mode & S_ISGID && (st.stx_mode & S_IFMT) != S_IFDIR))
        return -EPERM;
    return sys3(__NR_fchmodat, AT_FDCWD, link, mode);
}

/* The old calls have times in other units. */
static long set_times(const union note *note, const struct rule *r,
                      const char *link)
{
    uint64_t at = note->in.data.args[r->what];
    struct __kernel_timespec t[2] = {{0}};
    int64_t raw[4] = {0};
    size_t len = r->deed == UTIME ? 16 : 32;

    if (!at)
        return sys4(__NR_utimensat, AT_FDCWD, link, NULL, 0);
    if (read_memory(note->in.pid, at, raw, len) != (long)len)
        return -EFAULT;
    for (int i = 0; i < 2; i++) {
        t[i].tv_sec = raw[r->deed == UTIME ? i : 2 * i];
        if (r->deed != UTIME)
            t[i].tv_nsec = raw[2 * i + 1] * (r->deed == UTIMES ? 1000 : 1);
    }
    return sys4(__NR_utimensat, AT_FDCWD, link, t, 0);
}

/* The process of a thread; 0 = not known. */
static int process_of(uint32_t thread)
{
    char text[512];

    proc_read_of(thread, "status", text, sizeof text);
    return (int)proc_field(text, "Tgid:");
}

/* The caller's own descriptor gets the watch. */
static long watch(const union note *note, const char *link)
{
    const uint64_t *args = (const uint64_t *)note->in.data.args;
    uint32_t mask = (uint32_t)args[2] & ~(uint32_t)WATCH_NO_FOLLOW;
    long pid_fd = sys2(__NR_pidfd_open, process_of(note->in.pid), 0), fd, r;

    if (pid_fd < 0)
        return -EACCES;
    fd = sys3(__NR_pidfd_getfd, pid_fd, (int)args[0], 0);
    sys_close(pid_fd);
    if (fd < 0)
        return fd;
    r = sys3(__NR_inotify_add_watch, fd, link, mask);
    sys_close(fd);
    return r;
}

static long change(const struct job *j, const union note *note,
                   const struct rule *r)
{
    const uint64_t *args = (const uint64_t *)note->in.data.args;
    long object = open_object(note, r), result = -EPERM;
    char link[PROC_PATH_MAX];

    if (object < 0)
        return object;
    proc_fd_path(link, (int)object);
    /* Only now is it certain that the caller was still alive. */
    if (sys3(__NR_ioctl, j->listener, SECCOMP_IOCTL_NOTIF_ID_VALID,
             &note->in.id) < 0 ||
        !may_change(j, (int)object))
        result = -EPERM;
    else if (r->deed == CHMOD)
        result = set_mode((int)object, link, (uint32_t)args[r->what] & 07777);
    else if (r->deed == WATCH)
        result = watch(note, link);
    else if (r->deed == CHOWN)
        result = sys5(__NR_fchownat, object, "", args[r->what],
                      args[r->what + 1], AT_EMPTY_PATH);
    else
        result = set_times(note, r, link);
    sys_close(object);
    return result;
}

/* 0 = the kernel continues it. */
static long may_signal(struct job *j, const union note *note)
{
    int pid = (int)note->in.data.args[0];

    if (pid > 0)
        return tree_has(pid) ? 0 : -EPERM;
    if (pid == 0)
        return 0; /* the caller's own group: no other tree can be in it */
    return pid == -1 || !tree_has_group(j, -pid) ? -EPERM : 0;
}

/* A new group escapes a signal to the old one. So the latest groups are
 * recorded, and while the tree is being killed the caller is killed instead. */
static bool may_group(struct job *j, const union note *note)
{
    const uint64_t *args = (const uint64_t *)note->in.data.args;
    int self = process_of(note->in.pid), group = self;

    if (j->ending) {
        sys2(__NR_kill, self ? self : (int)note->in.pid, SIGKILL);
        return false;
    }
    if (note->in.data.nr == __NR_setpgid && (args[0] || args[1]))
        group = (int)(args[1] ? args[1] : args[0]);
    j->groups[j->groups_at++ % GROUPS_KNOWN] = group;
    return true;
}

/* ---- The listener -------------------------------------------------------- */

size_t notify_calls(uint16_t out[NOTIFY_CALLS_MAX], bool signals)
{
    size_t n = 0;

    for (size_t i = 0; i < COUNT(rules); i++)
        if (rules[i].deed != OTHER && (rules[i].deed != SIGNAL || signals))
            out[n++] = rules[i].nr;
    return n;
}

void notify_answer(struct job *j)
{
    static union note note;
    static union reply reply;
    const struct rule *r = rules;
    long result = -EPERM;

    note = (union note){0};
    if (sys3(__NR_ioctl, j->listener, SECCOMP_IOCTL_NOTIF_RECV, &note) < 0)
        return; /* the caller has died */
    while (r < rules + COUNT(rules) && r->nr != note.in.data.nr)
        r++;
    reply = (union reply){.out = {.id = note.in.id}};
    if (r == rules + COUNT(rules))
        result = -ENOSYS;
    else if (r->deed == GROUP)
        result = may_group(j, &note) ? 0 : -EPERM;
    else if (r->deed >= SIGNAL)
        result = may_signal(j, &note);
    else
        result = change(j, &note, r);
    if (result >= 0 && r->deed == WATCH)
        reply.out.val = result;
    if (result < 0)
        reply.out.error = (int)result;
    else if (r->deed >= GROUP)
        reply.out.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    sys3(__NR_ioctl, j->listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

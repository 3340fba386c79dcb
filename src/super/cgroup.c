/*
 * cgroup.c - a cgroup of the tree's own (version 2): the kernel then holds
 * the bounds of memory and tasks itself, counts pages that no process maps,
 * and kills all of the tree at once. bounds.c counts as before.
 *
 * It is made where this process may have one: beneath the root of all
 * cgroups, or beside the supervisor's own if the cgroup around both was
 * delegated to this user. Beneath the supervisor's own it cannot be: a cgroup
 * has processes or gives controllers to its children. What systemd has not
 * delegated is left alone, also where its owner could write.
 */
#include <fcntl.h>
#include <linux/stat.h>
#include <linux/time.h>

#include "super/super.h"

#define ROOT "/sys/fs/cgroup"
#define PREFIX "wend-" /* and the number of the supervisor */

enum {
    CGROUP2_MAGIC = 0x63677270,
    EMPTY_PATH = 0x1000, /* AT_EMPTY_PATH */
    TEXT_BYTES = 4096,
    NAME_BYTES = sizeof PREFIX + 24,
    REMOVE_TRIES = 100, /* of 1 ms: the last process may still be leaving */
    /* Until its exec the child shares memory with the supervisor, which would
     * be killed with it. Smaller bounds are held by bounds.c. */
    MEMORY_LEAST = 4 << 20,
};

static long open_dir(long at, const char *name)
{
    return sys4(__NR_openat, at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
}

static bool write_at(long dir, const char *name, const char *text)
{
    long fd = sys4(__NR_openat, dir, name, O_WRONLY | O_CLOEXEC, 0);
    long len = (long)text_len(text), n;

    if (fd < 0)
        return false;
    n = sys3(__NR_write, fd, text, len);
    sys1(__NR_close, fd);
    return n == len;
}

static bool write_number(long dir, const char *name, uint64_t n)
{
    char text[24];

    put_number(text, n);
    return write_at(dir, name, text);
}

/* ---- Where it may be -------------------------------------------------------
 */

static bool is_unified(void)
{
    long st[32] = {0}; /* struct statfs, which begins with the type */

    return sys2(__NR_statfs, ROOT, st) >= 0 && st[0] == CGROUP2_MAGIC;
}

/* The folder of the supervisor's own cgroup. False = it has none that can be
 * seen from here. */
static bool own_folder(char out[TEXT_BYTES])
{
    char text[TEXT_BYTES];
    size_t len = sizeof ROOT - 1;
    const char *p = text;

    proc_read("/proc/self/cgroup", text, sizeof text);
    while (*p && !text_starts(p, "0::/")) {
        while (*p && *p != '\n')
            p++;
        p += *p == '\n';
    }
    if (!*p || text_starts(p, "0::/.."))
        return false;
    __builtin_memcpy(out, ROOT, len);
    for (p += 3; *p && *p != '\n' && len < TEXT_BYTES - 1; p++)
        out[len++] = *p;
    out[len] = 0;
    return *p == '\n';
}

static bool has_word(const char *text, const char *word)
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
static bool has_controllers(long dir)
{
    static const char name[] = "cgroup.subtree_control";
    char text[TEXT_BYTES];

    proc_read_at((int)dir, name, text, sizeof text);
    return (has_word(text, "memory") && has_word(text, "pids")) ||
           write_at(dir, name, "+memory +pids");
}

/* Marked so by systemd, or the first that belongs to this user. */
static bool is_delegated(const struct job *j, long dir)
{
    static const char *const marks[] = {"user.delegate", "trusted.delegate"};
    struct statx own, parent;
    char value;

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (sys4(__NR_fgetxattr, dir, marks[i], &value, 1) == 1 && value == '1')
            return true;
    return j->uid && !sys5(__NR_statx, dir, "", EMPTY_PATH, STATX_UID, &own) &&
           !sys5(__NR_statx, dir, "..", 0, STATX_UID, &parent) &&
           own.stx_uid == j->uid && parent.stx_uid != j->uid;
}

/* The folder in which it is made; below 0: there is none. */
static long open_base(const struct job *j)
{
    char path[TEXT_BYTES];
    size_t len;
    long dir;

    if (!is_unified() || !own_folder(path))
        return -1;
    len = text_len(path);
    if (len == sizeof ROOT) { /* "/": the root may have processes */
        dir = open_dir(AT_FDCWD, path);
    } else {
        while (path[len - 1] != '/')
            len--;
        path[len] = 0;
        dir = open_dir(AT_FDCWD, path);
        if (dir >= 0 && !is_delegated(j, dir)) {
            sys1(__NR_close, dir);
            return -1;
        }
    }
    if (dir >= 0 && !has_controllers(dir)) {
        sys1(__NR_close, dir);
        return -1;
    }
    return dir;
}

/* ---- Its life --------------------------------------------------------------
 */

static void put_name(char out[NAME_BYTES])
{
    __builtin_memcpy(out, PREFIX, sizeof PREFIX);
    put_number(out + sizeof PREFIX - 1, (uint64_t)sys0(__NR_getpid));
}

static bool set_bounds(const struct super_spec *s, long dir)
{
    uint64_t memory = s->tree_memory_bytes;

    if (memory && memory < MEMORY_LEAST)
        memory = MEMORY_LEAST;
    if ((memory && !write_number(dir, "memory.max", memory)) ||
        (s->tasks_max && !write_number(dir, "pids.max", s->tasks_max)))
        return false;
    if (memory) {
        write_at(dir, "memory.swap.max", "0"); /* absent: there is no swap */
        write_at(dir, "memory.oom.group", "1");
    }
    return true;
}

void cgroup_make(struct job *j)
{
    const struct super_spec *s = j->spec;
    char name[NAME_BYTES];
    long base, dir = -1;

    if (s->flags & SUPER_NO_CGROUP || (!s->tree_memory_bytes && !s->tasks_max))
        return;
    base = open_base(j);
    if (base < 0)
        return;
    put_name(name);
    sys3(__NR_unlinkat, base, name, REMOVE_DIR); /* of one with our number */
    if (sys3(__NR_mkdirat, base, name, 0755) >= 0)
        dir = open_dir(base, name);
    j->cgroup_base = (int)base;
    j->cgroup = dir < 0 ? 0 : (int)dir;
    if (dir < 0 || !set_bounds(s, dir))
        cgroup_remove(j);
}

/* Those in it whose names are PREFIX and the number of no process, or all.
 * What has processes stays. */
static void remove_in(long dir, bool all)
{
    char room[TEXT_BYTES] __attribute__((aligned(8)));
    long n;

    while ((n = sys3(__NR_getdents64, dir, room, sizeof room)) > 0)
        for (long at = 0; at < n;) {
            struct sys_entry *e = (void *)(room + at);
            const char *p = e->name + sizeof PREFIX - 1;

            at += e->len;
            if (all || (text_starts(e->name, PREFIX) &&
                        sys2(__NR_kill, take_number(&p), 0) == -ESRCH && !*p))
                sys3(__NR_unlinkat, dir, e->name, REMOVE_DIR);
        }
}

void cgroup_remove(struct job *j)
{
    struct __kernel_timespec pause = {0, 1000000};
    char name[NAME_BYTES];

    if (!j->cgroup_base)
        return;
    put_name(name);
    for (int i = 0; i < REMOVE_TRIES && sys3(__NR_unlinkat, j->cgroup_base,
                                             name, REMOVE_DIR) == -EBUSY;
         i++) {
        if (!i && j->cgroup)
            remove_in(j->cgroup, true); /* some that the program made */
        sys2(__NR_nanosleep, &pause, NULL);
    }
    remove_in(j->cgroup_base, false); /* what killed supervisors left */
    sys1(__NR_close, j->cgroup_base);
    if (j->cgroup)
        sys1(__NR_close, j->cgroup);
    j->cgroup_base = j->cgroup = 0;
}

/* Killed for want of memory by this bound, not by one further out. */
static bool out_of_memory(const struct job *j)
{
    char text[TEXT_BYTES];

    proc_read_at(j->cgroup, "memory.events", text, sizeof text);
    return proc_field(text, "oom ") && proc_field(text, "oom_kill ");
}

static bool out_of_tasks(const struct job *j)
{
    char text[TEXT_BYTES];

    proc_read_at(j->cgroup, "pids.events", text, sizeof text);
    return proc_field(text, "max ") != 0;
}

enum super_why cgroup_look(const struct job *j)
{
    const struct super_spec *s = j->spec;

    if (!j->cgroup)
        return SUPER_ENDED;
    if (s->tree_memory_bytes && out_of_memory(j))
        return SUPER_MEMORY;
    return s->tasks_max && out_of_tasks(j) ? SUPER_TASKS : SUPER_ENDED;
}

void cgroup_kill(const struct job *j)
{
    if (j->cgroup)
        write_at(j->cgroup, "cgroup.kill", "1"); /* since Linux 5.14 */
}

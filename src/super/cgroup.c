/*
 * cgroup.c - a cgroup for the tree (version 2): the kernel then enforces the
 * bounds of memory and tasks itself, counts pages that no process maps, and
 * kills the whole tree at once. bounds.c still counts.
 *
 * cgroup_base.h says where it may be.
 */
#include <linux/time.h>

#include "super/cgroup_base.h"
#include "super/super.h"

#define PREFIX "wend-" /* and the number of the supervisor */

enum {
    NAME_BYTES = sizeof PREFIX + 24,
    REMOVE_TRIES = 100, /* of 1 ms: the last process may still be leaving */
    /* Until its exec the child shares memory with the supervisor, which would
     * be killed with it. bounds.c enforces smaller bounds. */
    MEMORY_LEAST = 4 << 20,
};

static bool write_number(long dir, const char *name, uint64_t n)
{
    char text[24];

    put_number(text, n);
    return !sys_write_text(dir, name, text);
}

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
        sys_write_text(dir, "memory.swap.max", "0"); /* absent: no swap */
        sys_write_text(dir, "memory.oom.group", "1");
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
    base = cgroup_base(j->uid);
    if (base < 0)
        return;
    put_name(name);
    sys3(__NR_unlinkat, base, name, AT_REMOVEDIR); /* left by an old pid */
    if (sys3(__NR_mkdirat, base, name, 0755) >= 0)
        dir = sys_open(base, name, O_RDONLY | O_DIRECTORY);
    j->cgroup_base = (int)base;
    j->cgroup = dir < 0 ? 0 : (int)dir;
    if (dir < 0 || !set_bounds(s, dir))
        cgroup_remove(j);
}

/* Removes all cgroups in it, or those of supervisors that are gone: PREFIX and
 * the number of no process. The kernel keeps one that has processes. */
static void remove_in(long dir, bool all)
{
    struct sys_list list;

    sys_list(&list, dir);
    for (const struct sys_entry *e; (e = sys_next(&list));) {
        const char *p = e->name + sizeof PREFIX - 1;

        if (all || (text_starts(e->name, PREFIX) &&
                    sys2(__NR_kill, take_number(&p), 0) == -ESRCH && !*p))
            sys3(__NR_unlinkat, dir, e->name, AT_REMOVEDIR);
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
                                             name, AT_REMOVEDIR) == -EBUSY;
         i++) {
        if (!i && j->cgroup)
            remove_in(j->cgroup, true); /* those that the program made */
        sys2(__NR_nanosleep, &pause, NULL);
    }
    remove_in(j->cgroup_base, false); /* left by killed supervisors */
    sys_close(j->cgroup_base);
    if (j->cgroup)
        sys_close(j->cgroup);
    j->cgroup_base = j->cgroup = 0;
}

static bool counted(const struct job *j, const char *file, const char *event)
{
    char text[CGROUP_TEXT];

    sys_read_text(j->cgroup, file, text, sizeof text);
    return proc_field(text, event) != 0;
}

enum super_why cgroup_look(const struct job *j)
{
    const struct super_spec *s = j->spec;

    if (!j->cgroup)
        return SUPER_ENDED;
    /* oom: by this bound, not by one further out. */
    if (s->tree_memory_bytes && counted(j, "memory.events", "oom ") &&
        counted(j, "memory.events", "oom_kill "))
        return SUPER_MEMORY;
    return s->tasks_max && counted(j, "pids.events", "max ") ? SUPER_TASKS
                                                             : SUPER_ENDED;
}

void cgroup_kill(const struct job *j)
{
    if (j->cgroup)
        sys_write_text(j->cgroup, "cgroup.kill", "1"); /* since Linux 5.14 */
}

/*
 * cgroup.c - a cgroup of the tree's own (version 2): the kernel then holds
 * the bounds of memory and tasks itself, counts pages that no process maps,
 * and kills all of the tree at once. bounds.c counts as before.
 *
 * cgroup_base.h says where it may be.
 */
#include <fcntl.h>
#include <linux/time.h>

#include "super/cgroup_base.h"
#include "super/super.h"

#define PREFIX "wend-" /* and the number of the supervisor */

enum {
    NAME_BYTES = sizeof PREFIX + 24,
    REMOVE_TRIES = 100, /* of 1 ms: the last process may still be leaving */
    /* Until its exec the child shares memory with the supervisor, which would
     * be killed with it. Smaller bounds are held by bounds.c. */
    MEMORY_LEAST = 4 << 20,
};

static bool write_number(long dir, const char *name, uint64_t n)
{
    char text[24];

    put_number(text, n);
    return cgroup_write(dir, name, text);
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
        cgroup_write(dir, "memory.swap.max",
                     "0"); /* absent: there is no swap */
        cgroup_write(dir, "memory.oom.group", "1");
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
    sys3(__NR_unlinkat, base, name, REMOVE_DIR); /* of one with our number */
    if (sys3(__NR_mkdirat, base, name, 0755) >= 0)
        dir = cgroup_open(base, name);
    j->cgroup_base = (int)base;
    j->cgroup = dir < 0 ? 0 : (int)dir;
    if (dir < 0 || !set_bounds(s, dir))
        cgroup_remove(j);
}

/* Those in it whose names are PREFIX and the number of no process, or all.
 * What has processes stays. */
static void remove_in(long dir, bool all)
{
    char room[CGROUP_TEXT] __attribute__((aligned(8)));
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
    char text[CGROUP_TEXT];

    proc_read_at(j->cgroup, "memory.events", text, sizeof text);
    return proc_field(text, "oom ") && proc_field(text, "oom_kill ");
}

static bool out_of_tasks(const struct job *j)
{
    char text[CGROUP_TEXT];

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
        cgroup_write(j->cgroup, "cgroup.kill", "1"); /* since Linux 5.14 */
}

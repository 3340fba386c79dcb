/*
 * bounds.c - limits of the whole tree: tasks, memory, bytes written to disk.
 *
 * The kernel enforces them only with a cgroup of our own, which is not
 * available everywhere (cgroup.c). Counting takes time, so it is done now and
 * then, and when the machine's tasks or memory changed by as much as a bound
 * allows.
 */
#include <linux/signal.h>

#include "super/super.h"

enum {
    LOOK_MS = 100,
    COUNT_EVERY = 20,     /* looks: others may have ended meanwhile */
    COUNT_WITHIN_MS = 20, /* else the tree is stopped while it is counted */
    TEXT_BYTES = 4096,
};

struct use {
    uint32_t tasks;
    uint64_t memory, written;
};

struct sysinfo_now { /* struct sysinfo of the kernel */
    long up;
    unsigned long loads[3], total, free, shared, buffers, swap, swap_free;
    uint16_t tasks, pad;
    unsigned long high, high_free;
    uint32_t unit;
    char rest[64];
};

struct memory { /* in bytes */
    uint64_t own, shared;
};

/* Free memory of the machine, and what files in memory take. */
static void memory_of_machine(uint64_t *free, uint64_t *shared)
{
    struct sysinfo_now now = {0};
    uint64_t unit;

    sys1(__NR_sysinfo, &now);
    unit = now.unit ? now.unit : 1;
    *free = now.free * unit;
    *shared = now.shared * unit;
}

static uint64_t free_memory(void)
{
    uint64_t free, shared;

    memory_of_machine(&free, &shared);
    return free;
}

/* Counts shared pages for each process; exactly, and slowly, if told to. */
static void add_memory_of(uint32_t pid, bool exactly, struct memory *sum)
{
    char text[TEXT_BYTES];
    uint64_t own = 0, shared = 0;

    if (exactly && proc_read_of(pid, "smaps_rollup", text, sizeof text)) {
        shared = proc_field(text, "Pss_Shmem:");
        own = proc_field(text, "Pss_Anon:");
    }
    if (!(own | shared)) {
        proc_read_of(pid, "status", text, sizeof text);
        shared = proc_field(text, "RssShmem:");
        own = proc_field(text, "RssAnon:");
    }
    sum->own += own << 10;
    sum->shared += shared << 10;
}

static uint64_t written_by(uint32_t pid)
{
    char text[TEXT_BYTES];

    proc_read_of(pid, "io", text, sizeof text);
    return proc_field(text, "write_bytes:");
}

/* files (shmem_of_files) and shared pages overlap: the larger one counts. */
static uint64_t memory_of_all(uint64_t files, bool exactly)
{
    struct memory sum = {0};
    uint32_t pid, tasks;

    for (size_t at = 0; (pid = tree_next(&at, &tasks));)
        add_memory_of(pid, exactly, &sum);
    return sum.own + (sum.shared > files ? sum.shared : files);
}

/* Most trees have no such files: ask the machine's counter first. */
static uint64_t files_of_all(const struct bounds *b, const struct job *j)
{
    uint64_t free, shared;

    memory_of_machine(&free, &shared);
    return shared > b->shared_before + j->spec->tree_memory_bytes / 8
               ? shmem_of_files(j)
               : 0;
}

/* After tree_look. The kernel adds what a dead process wrote to its parent. */
static void sum_up(const struct bounds *b, const struct job *j, struct use *out)
{
    const struct super_spec *s = j->spec;
    uint32_t pid, tasks;
    uint64_t files;

    *out = (struct use){.written = written_by((uint32_t)sys0(__NR_getpid))};
    for (size_t at = 0; (pid = tree_next(&at, &tasks));) {
        out->tasks += tasks;
        if (s->disk_bytes)
            out->written += written_by(pid);
    }
    if (!s->tree_memory_bytes)
        return;
    files = files_of_all(b, j);
    out->memory = memory_of_all(files, false);
    if (out->memory > s->tree_memory_bytes)
        out->memory = memory_of_all(files, true);
}

static void signal_known(const struct job *j, int signal)
{
    sys2(__NR_kill, -j->child, signal);
    for (int i = 0; i < GROUPS_KNOWN; i++)
        if (j->groups[i] > 1)
            sys2(__NR_kill, -j->groups[i], signal);
}

static enum super_why judge(const struct super_spec *s, const struct use *u)
{
    if (s->tasks_max && u->tasks > s->tasks_max)
        return SUPER_TASKS;
    if (s->tree_memory_bytes && u->memory > s->tree_memory_bytes)
        return SUPER_MEMORY;
    if (s->disk_bytes && u->written > s->disk_bytes)
        return SUPER_DISK;
    return SUPER_ENDED;
}

/* From where on the next count is due. */
static void set_marks(struct bounds *b, const struct super_spec *s,
                      const struct use *u)
{
    uint32_t all = tree_tasks_of_all();
    uint64_t now = free_memory(), least = s->tree_memory_bytes;

    if (!least || (s->disk_bytes && s->disk_bytes < least))
        least = s->disk_bytes;
    b->tasks_near = b->tasks_over = UINT32_MAX;
    if (s->tasks_max) {
        b->tasks_near = all + (s->tasks_max - u->tasks) / 2;
        b->tasks_over = all + (s->tasks_max - u->tasks);
    }
    b->free_near = now > least / 8 ? now - least / 8 : 0;
    b->close = (s->tree_memory_bytes && u->memory > s->tree_memory_bytes / 4) ||
               (s->disk_bytes && u->written > s->disk_bytes / 4);
}

void bounds_begin(struct bounds *b, const struct job *j)
{
    const struct super_spec *s = j->spec;
    bool some = s->tasks_max || s->tree_memory_bytes || s->disk_bytes;
    uint64_t free;

    memory_of_machine(&free, &b->shared_before);
    b->next_ms = some ? clock_ms() + LOOK_MS : INT64_MAX;
    if (some)
        set_marks(b, s, &(struct use){0});
}

/* A fork bomb leaves little time to count: then it is stopped meanwhile. A
 * group number may have been reused, so SIGCONT follows in any case. */
enum super_why bounds_look(struct bounds *b, struct job *j, int64_t until_ms)
{
    int64_t soon_ms = clock_ms() + COUNT_WITHIN_MS;
    uint32_t all = tree_tasks_of_all();
    enum super_why why = cgroup_look(j);
    struct use use;
    bool stopped = false;

    b->next_ms = clock_ms() + LOOK_MS;
    if (why != SUPER_ENDED)
        return why;
    if (all < b->tasks_near && free_memory() > b->free_near && !b->close &&
        ++b->looks % COUNT_EVERY)
        return SUPER_ENDED;
    if (!tree_look(j, soon_ms < until_ms ? soon_ms : until_ms) &&
        all >= b->tasks_over) {
        stopped = true;
        signal_known(j, SIGSTOP);
        tree_look(j, INT64_MAX);
    }
    sum_up(b, j, &use);
    why = judge(j->spec, &use);
    if (why != SUPER_ENDED)
        tree_signal(j, SIGKILL, INT64_MAX);
    else
        set_marks(b, j->spec, &use);
    if (stopped)
        signal_known(j, SIGCONT);
    b->next_ms = clock_ms() + LOOK_MS;
    return why;
}

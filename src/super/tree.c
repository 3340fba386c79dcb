/*
 * tree.c - every process that descends from the supervisor, from /proc.
 *
 * The list is a moment's; who forks meanwhile is found the next time.
 */
#include <fcntl.h>

#include "super/super.h"

enum { PROCESSES_MAX = 65536, ENTRIES_BYTES = 32768 };

struct process {
    int pid, parent;
    bool ours;
};

struct entry { /* linux_dirent64 */
    uint64_t ino;
    int64_t off;
    uint16_t len;
    uint8_t type;
    char name[];
};

static struct process processes[PROCESSES_MAX];

static int number(const char **p)
{
    int n = 0;

    while (**p >= '0' && **p <= '9' && n < 100000000)
        n = n * 10 + (*(*p)++ - '0');
    return n;
}

/* `pid (name) state parent ...`; the name may hold anything. 0 = gone. */
static int parent_of(int proc_fd, const char *name)
{
    char path[32], text[512];
    size_t len = text_len(name);
    const char *p;
    long fd, n;

    if (len > 16)
        return 0;
    __builtin_memcpy(path, name, len);
    __builtin_memcpy(path + len, "/stat", 6);
    fd = sys4(__NR_openat, proc_fd, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    n = sys3(__NR_read, fd, text, sizeof text - 1);
    sys1(__NR_close, fd);
    if (n <= 0)
        return 0;
    text[n] = 0;
    for (p = text + n; p > text && *p != ')'; p--)
        ;
    if (p == text || p + 4 >= text + n)
        return 0;
    p += 4;
    return number(&p);
}

static size_t read_processes(void)
{
    static char room[ENTRIES_BYTES] __attribute__((aligned(8)));
    long fd, n;
    size_t count = 0;

    fd = sys4(__NR_openat, AT_FDCWD, "/proc",
              O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    while ((n = sys3(__NR_getdents64, fd, room, sizeof room)) > 0)
        for (long at = 0; at < n && count < PROCESSES_MAX;) {
            struct entry *e = (struct entry *)(void *)(room + at);
            const char *p = e->name;
            int pid = number(&p);

            at += e->len;
            if (pid && !*p)
                processes[count++] =
                    (struct process){pid, parent_of((int)fd, e->name), false};
        }
    sys1(__NR_close, fd);
    return count;
}

/* The kernel lists them by number. */
static bool is_ours(size_t count, int pid)
{
    size_t from = 0, to = count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (processes[middle].pid == pid)
            return processes[middle].ours;
        if (processes[middle].pid < pid)
            from = middle + 1;
        else
            to = middle;
    }
    return false;
}

/* Children have mostly higher numbers, so one pass finds nearly all. */
static void mark(size_t count)
{
    int self = (int)sys0(__NR_getpid);
    bool more = true;

    while (more) {
        more = false;
        for (size_t i = 0; i < count; i++) {
            struct process *p = &processes[i];

            if (p->ours || !p->parent)
                continue;
            p->ours = p->parent == self || is_ours(count, p->parent);
            more |= p->ours;
        }
    }
}

int tree_signal(int signal)
{
    size_t count = read_processes();
    int found = 0;

    mark(count);
    for (size_t i = 0; i < count; i++)
        if (processes[i].ours) {
            found++;
            sys2(__NR_kill, processes[i].pid, signal);
        }
    return found;
}

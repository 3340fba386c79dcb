/*
 * tree.c - every process that descends from the supervisor, from /proc.
 *
 * The list is a moment's; who forks meanwhile is found the next time.
 */
#include <fcntl.h>

#include "super/super.h"

enum { PROCESSES_MAX = 65536, ENTRIES_BYTES = 32768 };

struct process {
    int pid, parent, group;
    uint32_t threads;
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

/* `pid (name) state parent group ...`, the 20th word is the number of
 * threads; the name may hold anything. False = gone. */
static bool read_stat(int proc_fd, const char *name, struct process *out)
{
    char path[32], text[512];
    size_t len = text_len(name);
    const char *p;
    long fd, n;

    if (len > 16)
        return false;
    __builtin_memcpy(path, name, len);
    __builtin_memcpy(path + len, "/stat", 6);
    fd = sys4(__NR_openat, proc_fd, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    n = sys3(__NR_read, fd, text, sizeof text - 1);
    sys1(__NR_close, fd);
    if (n <= 0)
        return false;
    text[n] = 0;
    for (p = text + n; p > text && *p != ')'; p--)
        ;
    for (int word = 2; *p && word < 20; word++) {
        while (*p && *p != ' ')
            p++;
        p += *p == ' ';
        if (word + 1 == 4)
            out->parent = number(&p);
        else if (word + 1 == 5)
            out->group = number(&p);
        else if (word + 1 == 20)
            out->threads = (uint32_t)number(&p);
    }
    return true;
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
            if (!pid || *p)
                continue;
            processes[count] = (struct process){.pid = pid};
            count += read_stat((int)fd, e->name, &processes[count]);
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

static size_t look(void)
{
    size_t count = read_processes();

    mark(count);
    return count;
}

void tree_signal(int signal)
{
    size_t count = look();

    for (size_t i = 0; i < count; i++)
        if (processes[i].ours)
            sys2(__NR_kill, processes[i].pid, signal);
}

uint32_t tree_tasks(void)
{
    size_t count = look();
    uint32_t tasks = 0;

    for (size_t i = 0; i < count; i++)
        if (processes[i].ours)
            tasks += processes[i].threads;
    return tasks;
}

/* The fourth word of /proc/loadavg: running/all. */
uint32_t tree_tasks_of_all(void)
{
    char text[128];
    const char *p = text;
    long fd =
        sys4(__NR_openat, AT_FDCWD, "/proc/loadavg", O_RDONLY | O_CLOEXEC, 0);
    long n = sys3(__NR_read, fd, text, sizeof text - 1);

    sys1(__NR_close, fd);
    text[n > 0 ? n : 0] = 0;
    while (*p && *p != '/')
        p++;
    p += *p == '/';
    return (uint32_t)number(&p);
}

/* A thread is not in the list; its own folder in /proc is there. */
bool tree_has(int pid)
{
    int self = (int)sys0(__NR_getpid);
    long fd = sys4(__NR_openat, AT_FDCWD, "/proc",
                   O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    struct process p = {.parent = pid};

    for (int depth = 0; p.parent > 1 && p.parent != self; depth++) {
        char name[24];
        size_t len = 0;

        for (int n = p.parent; n; n /= 10)
            len++;
        name[len] = 0;
        for (int n = p.parent; n; n /= 10)
            name[--len] = (char)('0' + n % 10);
        p.parent = 0;
        if (depth > PROCESSES_MAX || !read_stat((int)fd, name, &p))
            break;
    }
    sys1(__NR_close, fd);
    return p.parent == self && pid != self;
}

bool tree_has_group(int group)
{
    size_t count = look();
    bool some = false;

    for (size_t i = 0; i < count; i++)
        if (processes[i].group == group) {
            if (!processes[i].ours)
                return false;
            some = true;
        }
    return some;
}

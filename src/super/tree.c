/*
 * tree.c - every process that descends from the supervisor, from /proc.
 *
 * The list is a snapshot; later forks are found the next time. Signals go to
 * whole groups: the kernel reaches all members at once, also those that are
 * forking. Groups contain no other process, as the child began a session.
 */
#include <linux/signal.h>
#include <linux/wait.h>

#include "super/super.h"

/* Few entries at a time: each is looked at before it can be gone. */
enum { PROCESSES_MAX = 65536, ENTRIES_BYTES = 1024, SIGNALED_MAX = 256 };
/* At a time: new ones may come as quickly as the old ones are gone. */
enum { REAPED_MAX = 256 };

struct process {
    int pid, parent, group;
    uint32_t threads; /* 0 = it has ended */
    bool ours;
};

static struct process processes[PROCESSES_MAX];
static size_t processes_count;

/* Groups that have got the signal that is being sent. */
static struct {
    int group[SIGNALED_MAX];
    size_t count;
} signaled;

/* `pid (name) state parent group ...`, the 20th word is the number of
 * threads; the name may hold anything. False = gone. */
static bool read_stat(uint32_t pid, struct process *out)
{
    char text[512], state = 0;
    size_t n = proc_read_of(pid, "stat", text, sizeof text);
    const char *p;

    for (p = text + n; p > text && *p != ')'; p--)
        ;
    for (int word = 2; *p && word < 20; word++) {
        while (*p && *p != ' ')
            p++;
        p += *p == ' ';
        if (word + 1 == 3)
            state = *p;
        else if (word + 1 == 4)
            out->parent = (int)take_number(&p);
        else if (word + 1 == 5)
            out->group = (int)take_number(&p);
        else if (word + 1 == 20)
            out->threads = (uint32_t)take_number(&p);
    }
    if (state == 'Z' || state == 'X')
        out->threads = 0;
    return n > 0;
}

/* ---- Signals ------------------------------------------------------------- */

static void send(const struct process *p, int signal)
{
    if (p->group <= 1 || signaled.count == SIGNALED_MAX) {
        sys2(__NR_kill, p->pid, signal);
        return;
    }
    for (size_t i = 0; i < signaled.count; i++)
        if (signaled.group[i] == p->group)
            return;
    signaled.group[signaled.count++] = p->group;
    sys2(__NR_kill, -p->group, signal);
}

/* ---- Ends ---------------------------------------------------------------- */

bool tree_reap(struct job *j)
{
    int status;

    for (int i = 0; i < REAPED_MAX; i++) {
        long pid = sys4(__NR_wait4, -1, &status, WNOHANG, 0);

        if (pid == -ECHILD)
            return false;
        if (pid == 0)
            return true;
        if (pid == j->child) {
            j->child_ended = true;
            j->status = status;
        }
    }
    sys2(__NR_kill, sys0(__NR_getpid), SIGCHLD); /* come back for the rest */
    return true;
}

/* ---- The list ------------------------------------------------------------ */

/* at_sight: a signal to send to orphans at once; 0 = none. False: too late. */
static bool read_processes(struct job *j, int at_sight, int64_t until_ms)
{
    static char room[ENTRIES_BYTES] __attribute__((aligned(8)));
    int self = (int)sys0(__NR_getpid);
    long fd, n;
    bool in_time = true;

    processes_count = 0;
    fd = sys_open(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return true;
    while (in_time && (n = sys3(__NR_getdents64, fd, room, sizeof room)) > 0) {
        for (long at = 0; at < n && processes_count < PROCESSES_MAX;) {
            struct sys_entry *e = (void *)(room + at);
            struct process *p = &processes[processes_count];
            const char *name = e->name;

            at += e->len;
            *p = (struct process){.pid = (int)take_number(&name)};
            if (!p->pid || *name || !read_stat((uint32_t)p->pid, p))
                continue;
            processes_count++;
            if (at_sight && p->parent == self && p->threads)
                send(p, at_sight);
        }
        tree_reap(j); /* the dead would soon be most of the list */
        in_time = until_ms == INT64_MAX || clock_ms() < until_ms;
    }
    sys_close(fd);
    return in_time;
}

/* The kernel lists them by number. */
static bool is_ours(int pid)
{
    size_t from = 0, to = processes_count;

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
static void mark(void)
{
    int self = (int)sys0(__NR_getpid);
    bool more = true;

    while (more) {
        more = false;
        for (size_t i = 0; i < processes_count; i++) {
            struct process *p = &processes[i];

            if (p->ours || !p->parent)
                continue;
            p->ours = p->parent == self || is_ours(p->parent);
            more |= p->ours;
        }
    }
}

static bool look(struct job *j, int at_sight, int64_t until_ms)
{
    bool in_time = read_processes(j, at_sight, until_ms);

    mark();
    return in_time;
}

void tree_signal(struct job *j, int signal, int64_t until_ms)
{
    signaled.count = 0;
    if (!j->child_ended) /* until then the number cannot be another's */
        send(&(struct process){.group = j->child}, signal);
    look(j, signal == SIGKILL ? signal : 0, until_ms);
    for (size_t i = 0; i < processes_count; i++)
        if (processes[i].ours && processes[i].threads)
            send(&processes[i], signal);
}

bool tree_look(struct job *j, int64_t until_ms)
{
    return look(j, 0, until_ms);
}

uint32_t tree_next(size_t *at, uint32_t *tasks)
{
    while (*at < processes_count) {
        const struct process *p = &processes[(*at)++];

        if (p->ours && p->threads) {
            *tasks = p->threads;
            return (uint32_t)p->pid;
        }
    }
    return 0;
}

/* The fourth word of /proc/loadavg: running/all. */
uint32_t tree_tasks_of_all(void)
{
    char text[128];
    const char *p = text;

    sys_read_text(AT_FDCWD, "/proc/loadavg", text, sizeof text);
    while (*p && *p != '/')
        p++;
    p += *p == '/';
    return (uint32_t)take_number(&p);
}

/* A thread is not in the list; its own folder in /proc is there. */
bool tree_has(int pid)
{
    int self = (int)sys0(__NR_getpid);
    struct process p = {.parent = pid};

    for (int depth = 0; p.parent > 1 && p.parent != self; depth++) {
        uint32_t next = (uint32_t)p.parent;

        p.parent = 0;
        if (depth > PROCESSES_MAX || !read_stat(next, &p))
            break;
    }
    return p.parent == self && pid != self;
}

bool tree_has_group(struct job *j, int group)
{
    bool some = false;

    look(j, 0, INT64_MAX);
    for (size_t i = 0; i < processes_count; i++)
        if (processes[i].group == group) {
            if (!processes[i].ours)
                return false;
            some = true;
        }
    return some;
}

/*
 * main.c - the supervisor's life: start one program, watch, end its tree.
 *
 *     running --stop, deadline, child ended--> term --grace--> kill --> gone
 *     any     --the host is gone-------------> kill
 *
 * It is the subreaper: a process that loses its parent becomes its child, so
 * that ECHILD from wait means that no process is left.
 */
#include <linux/prctl.h>
#include <linux/signal.h>
#include <linux/time.h>
#include <poll.h>

#include "super/super.h"

#define NEVER INT64_MAX

enum phase { RUNNING, TERM, KILL };
enum { KILL_AGAIN_MS = 5 }; /* a process may have forked in between */

struct watch {
    struct job job;
    enum phase phase;
    enum super_why why;
    bool host_gone;
    int signal_fd, host_fd;
    int64_t due_ms; /* deadline, end of the grace, or the next kill */
    struct bounds bounds;
};

static void send(const void *bytes, size_t len)
{
    sys6(__NR_sendto, SUPER_CONTROL_FD, SYS_ARG(bytes), (long)len,
         0x4000 /* MSG_NOSIGNAL */, 0, 0);
}

static void report(uint32_t kind, int a, int b)
{
    send(&(struct super_report){kind, a, b}, sizeof(struct super_report));
}

static void tell_git(const char *rel, enum super_git what)
{
    struct {
        struct super_report r;
        char rel[SUPER_TOLD_MAX];
    } m = {.r = {SUPER_TOLD, (int)what, 0}};
    size_t len = text_len(rel);

    if (len > sizeof m.rel)
        len = sizeof m.rel;
    __builtin_memcpy(m.rel, rel, len);
    send(&m, sizeof m.r + len);
}

/* To run at all beside a fork bomb; only root may have this. */
static void take_precedence(void)
{
    int priority = 1;

    sys3(__NR_sched_setscheduler, 0, 1 /* SCHED_FIFO */, &priority);
}

static __attribute__((noreturn)) void leave(int code)
{
    for (;;)
        sys1(__NR_exit_group, code);
}

/* ---- Phases -------------------------------------------------------------- */

static void begin_kill(struct watch *w)
{
    w->phase = KILL;
    w->bounds.next_ms = NEVER;
    w->job.ending = true;
    cgroup_kill(&w->job);
    tree_signal(&w->job, SIGKILL, NEVER);
    w->due_ms = clock_ms() + KILL_AGAIN_MS;
}

static void begin_term(struct watch *w, enum super_why why)
{
    if (w->phase != RUNNING)
        return;
    w->phase = TERM;
    w->why = why;
    w->due_ms = clock_ms() + w->job.spec->grace_ms;
    if (!w->job.child_ended) /* so that the end of the grace is seen in time */
        sys3(__NR_setpriority, 1 /* PRIO_PGRP */, w->job.child, 19);
    tree_signal(&w->job, SIGTERM, w->due_ms);
    tree_signal(&w->job, SIGCONT, w->due_ms); /* wakes stopped processes */
}

/* Also in the grace: a fork bomb ignores SIGTERM. */
static void look_at_bounds(struct watch *w)
{
    enum super_why why = bounds_look(&w->bounds, &w->job, w->due_ms);

    if (why == SUPER_ENDED)
        return;
    w->why = why;
    begin_kill(w);
}

static void on_due(struct watch *w)
{
    switch (w->phase) {
    case RUNNING: begin_term(w, SUPER_DEADLINE); break;
    case TERM:
    case KILL: begin_kill(w); break;
    }
}

/* ---- Watching ------------------------------------------------------------ */

static void read_control(struct watch *w)
{
    char c;
    long n = sys3(__NR_read, SUPER_CONTROL_FD, &c, 1);

    if (n == 1 && c == SUPER_STOP) {
        begin_term(w, SUPER_STOPPED);
    } else if (n == 1) {
        w->why = SUPER_STOPPED;
        begin_kill(w);
    } else if (n != -EINTR) {
        w->host_gone = true;
    }
}

static void look(struct watch *w)
{
    struct pollfd p[] = {
        {.fd = w->host_gone ? -1 : SUPER_CONTROL_FD, .events = POLLIN},
        {.fd = w->host_gone ? -1 : w->host_fd, .events = POLLIN},
        {.fd = w->signal_fd, .events = POLLIN},
        {.fd = w->job.listener ? w->job.listener : -1, .events = POLLIN},
    };
    struct __kernel_timespec t = {0};
    int64_t count_ms = w->bounds.next_ms;
    int64_t next_ms = w->due_ms < count_ms ? w->due_ms : count_ms;
    int64_t left = next_ms == NEVER ? 0 : next_ms - clock_ms();
    char drop[1024];

    if (left > 0)
        t = (struct __kernel_timespec){left / 1000, left % 1000 * 1000000};
    sys5(__NR_ppoll, p, 4, next_ms == NEVER ? NULL : &t, NULL, 0);
    if (p[2].revents)
        sys3(__NR_read, w->signal_fd, drop, sizeof drop);
    if (p[3].revents & POLLIN)
        notify_answer(&w->job);
    else if (p[3].revents)
        w->job.listener = 0; /* the last of them is gone */
    if (p[0].revents)
        read_control(w);
    if (p[1].revents)
        w->host_gone = true;
    if (w->host_gone && w->phase != KILL)
        begin_kill(w);
    else if (w->due_ms != NEVER && clock_ms() >= w->due_ms)
        on_due(w);
    else if (clock_ms() >= w->bounds.next_ms)
        look_at_bounds(w);
}

static void watch(struct watch *w)
{
    uint64_t deadline_ms = w->job.spec->deadline_ms;

    w->due_ms = deadline_ms ? clock_ms() + (int64_t)deadline_ms : NEVER;
    bounds_begin(&w->bounds, &w->job);
    while (tree_reap(&w->job)) {
        if (w->job.child_ended)
            begin_term(w, SUPER_ENDED);
        look(w);
    }
    /* The kernel killed the tree, or refused it a process and it gave up. */
    if (w->why == SUPER_ENDED && w->job.status)
        w->why = cgroup_look(&w->job);
}

/* ---- The beginning ------------------------------------------------------- */

static long get_ready(struct watch *w, int host_pid)
{
    sys_signals all = ~(sys_signals)0, child = 1ull << (SIGCHLD - 1);
    /* Without it the end of the program would not be seen. */
    long r = sys4(__NR_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof all);

    if (r >= 0)
        r = sys5(__NR_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (r >= 0)
        r = sys4(__NR_signalfd4, -1, &child, sizeof child, O_CLOEXEC);
    w->signal_fd = (int)r;
    if (r >= 0)
        r = sys2(__NR_pidfd_open, host_pid, 0);
    w->host_fd = (int)r;
    /* The host may have died, and another process have its number. */
    return r < 0 || sys0(__NR_getppid) == host_pid ? r : -ESRCH;
}

/* The lists point into the mapped file, their arrays follow it. */
static long unpack(struct job *j)
{
    struct super_spec head;
    size_t pointers = SUPER_LISTS + 1; /* the ends, and TMPDIR */
    char *at, **slot;
    long r;

    if (sys4(__NR_pread64, SUPER_SPEC_FD, &head, sizeof head, 0) !=
            (long)sizeof head ||
        head.magic != SUPER_MAGIC)
        return -EINVAL;
    for (int i = 0; i < SUPER_LISTS; i++)
        pointers += head.counts[i];
    r = sys6(__NR_mmap, 0, (long)(head.size + 8 + pointers * sizeof *slot), 3,
             0x22 /* MAP_PRIVATE | MAP_ANONYMOUS */, -1, 0);
    if (r < 0 && r > -4096)
        return r;
    at = (char *)r;
    for (size_t got = 0; got < head.size; got += (size_t)r) {
        r = sys4(__NR_pread64, SUPER_SPEC_FD, at + got, head.size - got, got);
        if (r <= 0)
            return -EINVAL;
    }
    j->spec = (const struct super_spec *)(void *)at;
    slot = (char **)(void *)(at + (head.size + 7) / 8 * 8);
    at += sizeof head;
    j->cwd = at;
    at += text_len(at) + 1;
    for (int i = 0; i < SUPER_LISTS; i++) {
        j->lists[i] = slot;
        for (uint32_t k = 0; k < head.counts[i]; k++) {
            *slot++ = at;
            at += text_len(at) + 1;
        }
        slot += i == SUPER_ENV; /* room for TMPDIR */
        *slot++ = NULL;
    }
    if (head.flags & SUPER_SANDBOX)
        j->tmp_base = at;
    return 0;
}

static int begin(struct watch *w, volatile struct super_failure *f)
{
    sys3(__NR_close_range, SUPER_SPEC_FD + 1, ~0u, 0);
    sys3(__NR_fcntl, SUPER_CONTROL_FD, F_SETFD, FD_CLOEXEC);
    sys3(__NR_fcntl, SUPER_SPEC_FD, F_SETFD, FD_CLOEXEC);
    if (stops(f, SUPER_STEP_SPEC, unpack(&w->job)))
        return -1;
    sys_close(SUPER_SPEC_FD);
    if (stops(f, SUPER_STEP_READY, get_ready(w, w->job.spec->host_pid)))
        return -1;
    if (w->job.spec->flags & SUPER_SANDBOX &&
        stops(f, SUPER_STEP_TMP, tmp_make(&w->job)))
        return -1;
    if (w->job.spec->flags & SUPER_GIT)
        git_keep(&w->job);
    w->job.child = start_child(&w->job, f);
    return w->job.child < 0 ? -1 : 0;
}

__attribute__((noreturn, used)) void super_main(void);
void super_main(void)
{
    static struct watch w;
    static volatile struct super_failure f;

    if (begin(&w, &f) < 0) {
        report(SUPER_FAILED, f.step, f.error);
    } else {
        report(SUPER_STARTED, w.job.child, 0);
        mounts_tell(&w.job, tell_git);
        shmem_begin();
        for (int fd = 0; fd <= 2; fd++)
            sys_close(fd);
        sys5(__NR_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
        take_precedence();
        watch(&w);
        if (w.job.spec->flags & SUPER_GIT)
            git_check(tell_git);
        report(SUPER_GONE, w.job.status, w.why);
    }
    sys_close(SUPER_CONTROL_FD);
    cgroup_remove(&w.job);
    tmp_remove(&w.job);
    leave(0);
}

#if defined(__x86_64__)
__asm__(".globl _start\n"
        "_start:\n"
        "    xor %ebp, %ebp\n"
        "    and $-16, %rsp\n"
        "    call super_main\n");
#else
__asm__(".globl _start\n"
        "_start:\n"
        "    mov x29, xzr\n"
        "    mov x30, xzr\n"
        "    b super_main\n");
#endif

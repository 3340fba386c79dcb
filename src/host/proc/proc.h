/*
 * proc.h - programs on the loop, each under a supervisor (src/super).
 *
 * The supervisor puts the program in its sandbox and ends its whole process
 * tree: at a stop, at the deadline, when the program itself has ended, and when
 * this process dies. The end event comes when no process is left. A simulation
 * (host/env.h) may have other programs.
 */
#ifndef HOST_PROC_H
#define HOST_PROC_H

#include "host/loop.h"

/* The programs of one loop, and one of them; first members of real structs. */
struct procs {
    const struct proc_ops *ops;
};
struct proc {
    const struct proc_ops *ops;
};

enum {
    PROC_GRACE_MS = 2000,           /* between SIGTERM and SIGKILL */
    PROC_RUNNING_MAX = 64,          /* at once; the rest waits in order */
    PROC_OUTPUT_MAX = 16 << 20,     /* bytes of a stream, then it is killed */
    PROC_INPUT_QUEUE_MAX = 8 << 20, /* bytes that were not taken yet */
    PROC_SPEC_MAX = 4 << 20,        /* bytes of arguments and environment */
    /* In the sandbox, unless the spec says otherwise. */
    PROC_MEMORY_MIB = 4096, /* of each process (reserved), of all (used) */
    PROC_DISK_MIB = 4096,   /* written by all of them */
    PROC_FILE_MIB = 1024,   /* the largest file it may write */
    PROC_FILES = 1024,      /* open at once, each process */
    PROC_TASKS = 512,       /* processes and threads of the tree */
};

struct proc_limits { /* 0 = the default; UINT64_MAX = none */
    uint64_t cpu_s;  /* of each process; no default */
    uint64_t memory_bytes, file_bytes, disk_bytes;
    uint32_t files, tasks;
};

/* Everything is copied. Lists end with NULL and may be NULL. */
struct proc_spec {
    const char *const *argv; /* without a slash: looked up in env's PATH */
    const char *cwd;         /* absolute */
    /* All that it gets: `NAME=value`. In the sandbox TMPDIR is added, a
     * folder of its own that goes with it. */
    const char *const *env;
    wend_str input;  /* its standard input; absent = nothing */
    bool input_open; /* instead: proc_write, proc_close_input */
    /* No sandbox: because the user said so, never because it failed. */
    bool sandbox_off;
    bool network;
    bool alone; /* the sandbox lets it start threads, but no other program */
    /* The sandbox lets it change config and hooks of git repositories: what
     * is written there runs when git does. */
    bool git_writable;
    const char *const *writable; /* files and folders, absolute */
    const char *const *readable; /* besides those of the system */
    /* Files and folders that the sandbox leaves empty, where it can: see
     * procs_hide. The program is told of others on its standard error. */
    const char *const *hidden;
    /* For tests: behave as with an older Landlock; -1: with none; 0: as is. */
    int landlock_abi_max;
    bool mounts_off; /* for tests, too: as where there are no namespaces */
    bool cgroup_off; /* the same: as where there is no cgroup */
    struct proc_limits limits;
    int64_t deadline_ms;     /* from its start; 0 = none */
    int64_t grace_ms;        /* 0 = PROC_GRACE_MS */
    size_t output_bytes_max; /* 0 = PROC_OUTPUT_MAX; SIZE_MAX = none */
};

enum proc_how {
    PROC_EXITED,      /* code: its exit code */
    PROC_SIGNALED,    /* code: the signal */
    PROC_STOPPED,     /* by proc_stop */
    PROC_DEADLINE,    /* by its deadline */
    PROC_OUTPUT,      /* it wrote too much */
    PROC_CROWD,       /* it started too many processes or threads */
    PROC_MEMORY,      /* all that it started used too much memory */
    PROC_DISK,        /* the same: wrote too much */
    PROC_NOT_STARTED, /* the message says why and what to do */
    PROC_LOST,        /* its supervisor was killed by someone */
};

struct proc_end {
    enum proc_how how;
    int code;
    const char *message; /* one line; empty if it exited with 0 */
};

/* All are called from the loop, never from inside a function of proc. */
struct proc_events {
    /* stream: 1 = standard output, 2 = standard error. */
    void (*out)(void *ctx, int stream, const char *p, size_t len);
    void (*end)(void *ctx, const struct proc_end *end); /* the last one */
};

struct proc_ops {
    /* Kills all without events, and waits for it; not inside an event. */
    void (*free_all)(struct procs *ps);
    wend_status (*start)(struct procs *ps, const struct proc_spec *spec,
                         const struct proc_events *events, void *ctx,
                         struct proc **out, wend_error *err);
    /* Queues bytes for its input. WEND_E_LIMIT: too many wait already;
     * WEND_E_IO: the input is closed, or it does not read any more. */
    wend_status (*write)(struct proc *p, const char *bytes, size_t len,
                         wend_error *err);
    void (*close_input)(struct proc *p); /* after what is queued */
    void (*stop)(struct proc *p); /* SIGTERM, the grace, SIGKILL; then end */
    void (*free)(struct proc *p); /* no more events; what runs is killed */
    /* Whether sandboxes can hide paths here. NULL: no. */
    bool (*hide)(struct procs *ps);
};

/* Real ones; the loop must be real, too. */
wend_status procs_new(const struct mem *m, struct loop *loop,
                      struct procs **out, wend_error *err);

static inline void procs_free(struct procs *ps)
{
    if (ps)
        ps->ops->free_all(ps);
}

/* The first time it takes as long as a start. */
static inline bool procs_hide(struct procs *ps)
{
    return ps->ops->hide && ps->ops->hide(ps);
}

static inline wend_status proc_start(struct procs *ps,
                                     const struct proc_spec *spec,
                                     const struct proc_events *events,
                                     void *ctx, struct proc **out,
                                     wend_error *err)
{
    return ps->ops->start(ps, spec, events, ctx, out, err);
}

static inline wend_status proc_write(struct proc *p, const char *bytes,
                                     size_t len, wend_error *err)
{
    return p->ops->write(p, bytes, len, err);
}

static inline void proc_close_input(struct proc *p)
{
    p->ops->close_input(p);
}

static inline void proc_stop(struct proc *p)
{
    p->ops->stop(p);
}

static inline void proc_free(struct proc *p)
{
    if (p)
        p->ops->free(p);
}

#endif

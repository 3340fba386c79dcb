/*
 * spec.h - the protocol between the library and the supervisor.
 *
 * The spec is an anonymous file (SUPER_SPEC_FD): the head below, then strings,
 * each with its NUL: cwd, the lists in the order of the counts, and in the
 * sandbox the parent of the private folder. The control socket carries one byte
 * for a stop (enum super_order), and reports back; it ends with the host.
 */
#ifndef SUPER_SPEC_H
#define SUPER_SPEC_H

#include <stdint.h>

enum { SUPER_CONTROL_FD = 3, SUPER_SPEC_FD = 4 };
enum { SUPER_MAGIC = 0x77656e64 };

enum {
    SUPER_SANDBOX = 1, /* flags */
    SUPER_NETWORK = 2,
    SUPER_GIT = 4,        /* protect config and hooks of repositories */
    SUPER_NO_MOUNTS = 8,  /* as where it cannot have a mount namespace */
    SUPER_PROBE = 16,     /* no program: SUPER_FAILED says whether it can */
    SUPER_NO_CGROUP = 32, /* as where it cannot have a cgroup */
    SUPER_ALONE = 64,     /* it starts no other process */
};

enum super_order {
    SUPER_STOP = 's', /* SIGTERM, the grace, SIGKILL */
    SUPER_KILL = 'k', /* SIGKILL */
};

enum super_list {
    SUPER_ARGV,
    SUPER_ENV,
    SUPER_READ,
    SUPER_WRITE,
    SUPER_HIDE, /* files and folders that it finds empty */
    SUPER_LISTS,
};

struct super_spec {
    uint32_t magic, size; /* of all of it */
    uint32_t flags, grace_ms;
    uint64_t deadline_ms; /* 0 = none */
    /* 0 = as the host has it. */
    uint64_t cpu_s, memory_bytes, file_bytes, files; /* of each process */
    /* for the whole tree; 0: no limit */
    uint64_t tree_memory_bytes, disk_bytes;
    uint32_t tasks_max; /* processes and threads */
    int32_t host_pid;
    int32_t landlock_abi_max; /* 0 = no cap, -1 = as if there were none */
    uint32_t counts[SUPER_LISTS];
};

enum super_report_kind {
    SUPER_STARTED = 1, /* a: pid */
    SUPER_FAILED,      /* a: enum super_step, b: errno */
    SUPER_GONE,        /* a: status as of wait, b: enum super_why */
    SUPER_TOLD,        /* a: enum super_git; a path follows, without NUL */
};

enum { SUPER_TOLD_MAX = 1024 }; /* bytes of that path */

/* The result for a file that the program had changed, or could read. */
enum super_git {
    SUPER_GIT_RESTORED,
    SUPER_GIT_SET_ASIDE, /* under the name NAME.refused */
    SUPER_GIT_FAILED,    /* it is as the program left it */
    SUPER_NOT_HIDDEN,    /* of the list of what is to be hidden */
};

enum super_why {
    SUPER_ENDED,
    SUPER_STOPPED,
    SUPER_DEADLINE,
    SUPER_TASKS, /* too many, and so on */
    SUPER_MEMORY,
    SUPER_DISK,
};

/* The step at which the supervisor stopped. */
enum super_step {
    SUPER_STEP_SPEC,
    SUPER_STEP_READY, /* signals, subreaper */
    SUPER_STEP_TMP,   /* the private folder */
    SUPER_STEP_FORK,
    SUPER_STEP_MOUNTS, /* of a probe: it starts without */
    SUPER_STEP_LIMITS,
    SUPER_STEP_CWD,
    SUPER_STEP_CAPS,
    SUPER_STEP_PRIVS,
    SUPER_STEP_LANDLOCK,
    SUPER_STEP_RULE, /* a folder of the lists */
    SUPER_STEP_SECCOMP,
    SUPER_STEP_EXEC,
    SUPER_STEPS,
};

struct super_report {
    uint32_t kind;
    int32_t a, b;
};

#endif

/*
 * calls.h - which system calls fail, and how.
 */
#ifndef FAULTS_CALLS_H
#define FAULTS_CALLS_H

/* What this call can really fail with, and what a program meets most. Not
 * here: close and munmap, which do their work even when they complain;
 * brk, which has no errors; epoll_ctl, without which libuv ends the process.
 * SHORT is half of what was asked for; EVERY does it each time. Both are made
 * by the library of short.c, as strace can only invent a result. */
struct call {
    const char *name, *errors;
};

static const struct call calls[] = {
    /* files */
    {"openat", "EIO EMFILE ENOSPC EINTR"},
    {"openat2", "EIO EMFILE EAGAIN"},
    {"read", "EIO EINTR ECONNRESET SHORT EVERY"},
    {"pread64", "EIO SHORT EVERY"},
    {"write", "EIO ENOSPC EPIPE EINTR SHORT EVERY"},
    {"writev", "EIO ENOSPC EPIPE EINTR SHORT EVERY"},
    {"pwrite64", "EIO ENOSPC SHORT EVERY"},
    {"fdatasync", "EIO ENOSPC"},
    {"fsync", "EIO ENOSPC"},
    {"ftruncate", "EIO ENOSPC"},
    {"fallocate", "EIO ENOSPC"},
    {"fcntl", "EMFILE ENOLCK"},
    {"flock", "EINTR ENOLCK"},
    {"newfstatat", "EIO ENOMEM"},
    {"fstat", "EIO"},
    {"statx", "EIO"},
    {"lseek", "EIO"},
    {"getdents64", "EIO"},
    {"unlink", "EIO"},
    {"unlinkat", "EIO"},
    {"mkdir", "EIO ENOSPC"},
    {"rmdir", "EIO"},
    {"rename", "EIO ENOSPC"},
    {"renameat2", "EIO ENOSPC"},
    {"fchmod", "EIO"},
    {"readlink", "EIO"},
    {"getcwd", "ENOMEM ENOENT"},
    /* memory */
    {"mmap", "ENOMEM"},
    {"mremap", "ENOMEM"},
    {"mprotect", "ENOMEM"},
    {"memfd_create", "EMFILE ENOMEM"},
    /* waiting */
    {"epoll_create1", "EMFILE ENOMEM"},
    {"epoll_wait", "EINTR"},
    {"epoll_pwait", "EINTR"},
    {"poll", "EINTR ENOMEM"},
    {"ppoll", "EINTR ENOMEM"},
    {"eventfd2", "EMFILE ENOMEM"},
    {"timerfd_create", "EMFILE"},
    {"signalfd4", "EMFILE"},
    {"pipe2", "EMFILE ENFILE"},
    {"socketpair", "EMFILE ENFILE"},
    /* network */
    {"socket", "EMFILE ENOMEM"},
    {"connect", "ECONNREFUSED ECONNRESET EINTR"},
    {"sendto", "EPIPE ECONNRESET EINTR EAGAIN SHORT EVERY"},
    {"sendmsg", "EPIPE ECONNRESET EINTR EAGAIN SHORT EVERY"},
    {"recvfrom", "ECONNRESET EINTR EAGAIN SHORT EVERY"},
    {"recvmsg", "ECONNRESET EINTR EAGAIN"},
    {"getsockopt", "EIO"},
    {"setsockopt", "ENOMEM"},
    /* processes and threads */
    {"clone", "EAGAIN ENOMEM"},
    {"clone3", "EAGAIN ENOMEM"},
    {"fork", "EAGAIN ENOMEM"},
    {"vfork", "EAGAIN ENOMEM"},
    {"wait4", "EINTR"},
    {"waitid", "EINTR"},
    {"kill", "EPERM"},
    {"setsid", "EPERM"},
    {"chdir", "EIO"},
    {"dup2", "EMFILE EINTR"},
    {"dup3", "EMFILE EINTR"},
    {"prctl", "EINVAL"},
    {"prlimit64", "EPERM"},
    {"setrlimit", "EPERM"},
    {"seccomp", "EINVAL ENOMEM"},
    {"landlock_create_ruleset", "ENOSYS ENOMEM"},
    {"landlock_add_rule", "EINVAL ENOMEM"},
    {"landlock_restrict_self", "EPERM ENOMEM"},
    {"close_range", "EMFILE"},
    {"pidfd_open", "EMFILE"},
    {"rt_sigaction", "EINVAL"},
    {"rt_sigprocmask", "EINVAL"},
    {"getrandom", "EINTR"},
    {"clock_nanosleep", "EINTR"},
    {"ioctl", "EIO"},
    {"sched_getaffinity", "EINVAL"},
};

#endif

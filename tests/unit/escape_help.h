/*
 * escape_help.h - attempts to get out of the sandbox, as a table.
 */
#ifndef TESTS_ESCAPE_HELP_H
#define TESTS_ESCAPE_HELP_H

#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "escape_files.h"

/* Other processes. */

static long signal_host(void)
{
    return kill(host, 0);
}

static long signal_supervisor(void)
{
    return kill(getppid(), 0);
}

static long signal_thread(void)
{
    return syscall(SYS_tgkill, host, host, 0);
}

static long signal_group(void)
{
    return kill(-getpgid(host), 0);
}

static long signal_by_queue(void)
{
    siginfo_t info = {.si_code = SI_QUEUE};

    return syscall(SYS_rt_sigqueueinfo, host, 0, &info);
}

static long signal_by_pidfd(void)
{
    long fd = syscall(SYS_pidfd_open, host, 0);

    return fd < 0 ? fd : syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0);
}

/* The descriptor says who gets its signals, and which one. The supervisor
 * blocks all of them, so that one that arrives can be seen waiting. */
static long signal_by(const int fd[2], int set)
{
    char path[64], line[200];
    unsigned long long waiting = 0;
    FILE *f;

    if (set || fcntl(fd[0], F_SETSIG, SIGURG) ||
        fcntl(fd[0], F_SETFL, O_ASYNC | O_NONBLOCK) || write(fd[1], "x", 1) < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/status", getppid());
    f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "ShdPnd: %llx", &waiting) == 1)
            break;
    if (f)
        fclose(f);
    errno = EPERM;
    return waiting >> (SIGURG - 1) & 1 ? 0 : -1;
}

static long signal_by_owner(void)
{
    int fd[2];

    return pipe(fd) ? -1 : signal_by(fd, fcntl(fd[0], F_SETOWN, getppid()));
}

static long signal_by_owner_ex(void)
{
    struct f_owner_ex owner = {F_OWNER_PID, getppid()};
    int fd[2];

    return pipe(fd) ? -1 : signal_by(fd, fcntl(fd[0], F_SETOWN_EX, &owner));
}

/* Of sockets an ioctl says it, by two names. */
static long signal_by_control(unsigned long name)
{
    int fd[2], owner = getppid();

    return socketpair(AF_UNIX, SOCK_STREAM, 0, fd)
               ? -1
               : signal_by(fd, ioctl(fd[0], name, &owner));
}

static long signal_by_fiosetown(void)
{
    return signal_by_control(FIOSETOWN);
}

static long signal_by_siocspgrp(void)
{
    return signal_by_control(SIOCSPGRP);
}

static long trace_host(void)
{
    return ptrace(PTRACE_SEIZE, host, 0, 0);
}

static long read_memory(void)
{
    char here[8];
    struct iovec a = {here, sizeof here}, b = {&host, sizeof here};

    return process_vm_readv(host, &a, 1, &b, 1, 0) >= 0 || errno == EFAULT ? 0
                                                                           : -1;
}

static long open_memory(void)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/mem", host);
    return open(path, O_RDWR);
}

static long open_environment(void)
{
    char path[64], byte;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/environ", host);
    fd = open(path, O_RDONLY);
    return fd < 0 ? fd : read(fd, &byte, 1);
}

static long take_descriptor(void)
{
    return syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, host, 0), 0, 0);
}

static long open_descriptor(void)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd/1", host);
    return open(path, O_WRONLY);
}

static long limit_host(void)
{
    struct rlimit same;

    getrlimit(RLIMIT_CORE, &same);
    return prlimit(host, RLIMIT_CORE, NULL, &same) ||
                   prlimit(host, RLIMIT_CORE, &same, NULL)
               ? -1
               : 0;
}

static long nice_host(void)
{
    return setpriority(PRIO_PROCESS, (id_t)host,
                       getpriority(PRIO_PROCESS, (id_t)host));
}

static long nice_user(void)
{
    return setpriority(PRIO_USER, 0, 19);
}

static long pin_host(void)
{
    cpu_set_t set;

    return sched_getaffinity(host, sizeof set, &set)
               ? -1
               : sched_setaffinity(host, sizeof set, &set);
}

static long shared_memory(void)
{
    return shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
}

static long message_queue(void)
{
    int id = msgget(IPC_PRIVATE, IPC_CREAT | 0600);

    return id < 0 ? id : msgctl(id, IPC_RMID, NULL);
}

static long semaphore(void)
{
    int id = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);

    return id < 0 ? id : semctl(id, 0, IPC_RMID);
}

static long fork_many(void)
{
    enum { MANY = PROC_TASKS + 50 };
    int made = 0;

    for (int i = 0; i < MANY; i++) {
        pid_t pid = fork();

        if (!pid)
            for (;;)
                pause();
        made += pid > 0;
    }
    sleep(2); /* enough to be noticed */
    return made == MANY ? 0 : -1;
}

/* Sockets. */

static long any_socket(void)
{
    static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW,
                                SOCK_SEQPACKET};

    for (int family = 0; family < 64; family++)
        for (int i = 0; i < 4; i++)
            if (socket(family, types[i], 0) >= 0)
                return 0;
    return -1;
}

static long socket_high_bits(void)
{
    return syscall(SYS_socket, AF_INET | 1ll << 32, SOCK_STREAM, 0);
}

static long datagram_pair(void)
{
    int fd[2];

    return socketpair(AF_UNIX, SOCK_DGRAM, 0, fd);
}

static long unix_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM, 0);
}

/* The kernel. */

static long new_user(void)
{
    return unshare(CLONE_NEWUSER);
}

static long new_mounts(void)
{
    return unshare(CLONE_NEWNS);
}

static long clone_user(void)
{
    long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

    if (!pid)
        _exit(0);
    return pid;
}

static long clone3_user(void)
{
    struct {
        uint64_t flags, pidfd, child, parent, signal, stack, size, tls;
    } a = {.flags = CLONE_NEWUSER, .signal = SIGCHLD};
    long pid = syscall(SYS_clone3, &a, sizeof a);

    if (!pid)
        _exit(0);
    return pid;
}

static long enter_namespace(void)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/ns/uts", host);
    return setns(open(path, O_RDONLY), CLONE_NEWUTS);
}

static long mount_here(void)
{
    mkdir("mnt", 0700);
    return mount("none", "mnt", "tmpfs", 0, NULL) || umount("mnt") ? -1 : 0;
}

static long change_root(void)
{
    return chroot(".");
}

static long io_uring(void)
{
    char params[120] = {0};

    return syscall(SYS_io_uring_setup, 1, params);
}

static long bpf_map(void)
{
    uint32_t attr[32] = {1, 4, 4, 1};

    return syscall(SYS_bpf, 0, attr, sizeof attr);
}

static long keyring(void)
{
    return syscall(SYS_keyctl, 0, -3, 1);
}

static long file_handle(void)
{
    struct {
        unsigned bytes;
        int type;
        char handle[128];
    } h = {.bytes = 128};
    int mount_id;

    return syscall(SYS_name_to_handle_at, AT_FDCWD, "/", &h, &mount_id, 0);
}

/* It got to the terminal's driver if that says that this is none. */
static long type_ahead(void)
{
    return ioctl(0, TIOCSTI, "x") && errno == EPERM ? -1 : 0;
}

static long type_ahead_high_bits(void)
{
    return syscall(SYS_ioctl, 0, TIOCSTI | 1ll << 32, "x") && errno == EPERM
               ? -1
               : 0;
}

static long terminal(void)
{
    return posix_openpt(O_RDWR | O_NOCTTY);
}

#ifdef __x86_64__
static long other_calls(void) /* those of x32; without a filter: ENOSYS */
{
    int status = 0;
    pid_t pid = fork();

    if (!pid) {
        syscall(0x40000000 | SYS_getpid);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    return status ? -1 : 0;
}
#endif

/* Who can do it without the sandbox. */
enum control { ANYONE, ROOT, USER, NOT_SURE };

static const struct {
    const char *name;
    long (*fn)(void);
    enum control control;
} attempts[] = {
    {"read a file", read_secret, ANYONE},
    {"read it by a link", read_by_link, ANYONE},
    {"read it by the host's root", read_by_proc, ANYONE},
    {"read it by its own root", read_by_self_root, ANYONE},
    {"list a folder", list_outside, ANYONE},
    {"read /etc/shadow", read_shadow, ROOT},
    {"create a file", create, ANYONE},
    {"overwrite a file", overwrite, ANYONE},
    {"overwrite what it may read", overwrite_shown, ANYONE},
    {"overwrite by a hard link", overwrite_by_hard_link, ANYONE},
    {"overwrite a program", overwrite_system, ROOT},
    {"move a file in", move_in, ANYONE},
    {"move a file out", move_out, ANYONE},
    {"make a folder", make_folder, ANYONE},
    {"remove a file", remove_file, ANYONE},
    {"remove a folder", remove_folder, ANYONE},
    {"make a link", make_link, ANYONE},
    {"make a fifo", make_fifo, ANYONE},
    {"make a device", make_device, ROOT},
    {"truncate", truncate_path, ANYONE},
    {"truncate what it may read", truncate_shown, ANYONE},
    {"truncate by opening", truncate_by_open, ANYONE},
    {"truncate by opening for nothing", truncate_by_open_3, ANYONE},
    {"change a mode", mode, ANYONE},
    {"change a mode at a folder", mode_at, ANYONE},
    {"change a mode by a link", mode_by_link, ANYONE},
    {"change a mode by dots", mode_by_dots, ANYONE},
    {"change the mode of what it may read", mode_of_read_only, ANYONE},
    {"change the mode by /proc", mode_by_proc, ANYONE},
    {"change the root's mode", mode_of_root, ROOT},
    {"make a setuid program", mode_setuid, ANYONE},
    {"a file born setuid", born_setuid, ANYONE},
    {"a file born setgid", born_setgid, ANYONE},
    {"the same at a folder", born_setuid_at, ANYONE},
    {"the same by openat2", born_setuid_openat2, ANYONE},
    {"the same without a name", born_setuid_unnamed, ANYONE},
    {"the same by mknodat", born_setuid_node, ANYONE},
#ifdef SYS_creat
    {"the same by creat", born_setuid_creat, ANYONE},
    {"the same by open", born_setuid_open, ANYONE},
    {"the same by mknod", born_setuid_mknod, ANYONE},
#endif
    {"a folder made setuid", folder_setuid, ANYONE},
    {"write what is setuid", write_setuid, ROOT},
    {"change the flags of what it may read", flags_of_read_only, ANYONE},
    {"change its extended flags", attributes_of_read_only, ANYONE},
    {"change the flags of a program", flags_of_system, ROOT},
    {"change a file's version", version_of_read_only, NOT_SURE},
    {"watch a folder", watch_outside, ANYONE},
    {"watch a file", watch_file, ANYONE},
    {"watch by a link", watch_by_link, ANYONE},
    {"watch by dots", watch_by_dots, ANYONE},
    {"watch by a descriptor", watch_by_descriptor, ANYONE},
    {"watch the root", watch_root, ANYONE},
    {"hold up others by a lease", lease_of_read_only, ANYONE},
    {"notices of a folder", notice_of_system, ANYONE},
    {"read /etc/environment", read_environment, NOT_SURE},
    {"list /etc/profile.d", list_profiles, ANYONE},
    {"change an owner", owner, ANYONE},
    {"change an owner, not by link", owner_of_link, ANYONE},
    {"change the owner of what it may read", owner_of_read_only, ANYONE},
    {"change times", times, ANYONE},
    {"change times, the old way", times_old, ANYONE},
    {"change the times of what it may read", times_of_read_only, ANYONE},
    {"set an attribute", attribute, NOT_SURE},
    {"run a program", run_outside, ANYONE},
    {"gain rights by setuid", gain_rights, USER},
    {"signal the host", signal_host, ANYONE},
    {"signal the supervisor", signal_supervisor, ANYONE},
    {"signal a thread", signal_thread, ANYONE},
    {"signal a group", signal_group, NOT_SURE},
    {"signal by queue", signal_by_queue, ANYONE},
    {"signal by pidfd", signal_by_pidfd, ANYONE},
    {"signal by a descriptor's owner", signal_by_owner, ANYONE},
    {"the same by F_SETOWN_EX", signal_by_owner_ex, ANYONE},
    {"the same by FIOSETOWN", signal_by_fiosetown, ANYONE},
    {"the same by SIOCSPGRP", signal_by_siocspgrp, ANYONE},
    {"trace the host", trace_host, NOT_SURE},
    {"read the host's memory", read_memory, NOT_SURE},
    {"open the host's memory", open_memory, NOT_SURE},
    {"read the host's environment", open_environment, NOT_SURE},
    {"take a descriptor of the host", take_descriptor, NOT_SURE},
    {"open a descriptor of the host", open_descriptor, NOT_SURE},
    {"limit the host", limit_host, ANYONE},
    {"slow down the host", nice_host, ANYONE},
    {"slow down all of the user", nice_user, NOT_SURE},
    {"pin the host", pin_host, ANYONE},
    {"shared memory", shared_memory, ANYONE},
    {"a message queue", message_queue, ANYONE},
    {"a semaphore", semaphore, ANYONE},
    {"more processes than it may", fork_many, ANYONE},
    {"any socket", any_socket, ANYONE},
    {"a socket with high bits", socket_high_bits, ANYONE},
    {"a pair of datagram sockets", datagram_pair, ANYONE},
    {"a unix socket", unix_socket, ANYONE},
    {"a user namespace", new_user, NOT_SURE},
    {"a mount namespace", new_mounts, NOT_SURE},
    {"a clone in a namespace", clone_user, NOT_SURE},
    {"the same by clone3", clone3_user, NOT_SURE},
    {"enter a namespace", enter_namespace, NOT_SURE},
    {"mount", mount_here, NOT_SURE},
    {"change the root", change_root, ROOT},
    {"io_uring", io_uring, NOT_SURE},
    {"a BPF map", bpf_map, NOT_SURE},
    {"a keyring", keyring, NOT_SURE},
    {"a file handle", file_handle, NOT_SURE},
    {"type ahead", type_ahead, ANYONE},
    {"type ahead with high bits", type_ahead_high_bits, ANYONE},
    {"a terminal", terminal, NOT_SURE},
#ifdef __x86_64__
    {"calls of x32", other_calls, ANYONE},
#endif
};

#endif

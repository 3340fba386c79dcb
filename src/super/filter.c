/*
 * filter.c - which system calls the tool may make, as a BPF program.
 *
 * It covers what Landlock does not: sockets, other processes, namespaces, the
 * kernel itself. Tables and a page of code build it at each start: it depends
 * on the kernel's Landlock and on whether the tool may use the network. A call
 * that no table names is allowed if it existed when they were written; newer
 * calls are refused, as if the kernel did not have them.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/stat.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "super/super.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif

enum {
    INSTRUCTIONS_MAX = 1024,
    LAST_KNOWN = 462,       /* mseal */
    X32_BIT = 0x40000000,   /* x86-64: calls of its small twin */
    IOCTL_TIOCSTI = 0x5412, /* types into a terminal */
    IOCTL_TIOCLINUX = 0x541c,
    IOCTL_FIOSETOWN = 0x8901, /* who gets the signals of a descriptor */
    IOCTL_SIOCSPGRP = 0x8902,
    SOCKET_TYPE = 0xf, /* the rest are flags */
    RANGES_MAX = 160,
    LEAF_RANGES = 2, /* below, the search ends with a list */
};

#define ALLOW SECCOMP_RET_ALLOW
#define NOTIFY SECCOMP_RET_USER_NOTIF
#define REFUSE(error) (SECCOMP_RET_ERRNO | (error))
/* All flags of clone and unshare that begin with CLONE_NEW. */
#define NEW_NAMESPACES 0x7e020080u
#define SET_ID (S_ISUID | S_ISGID)
#define WAIT_KILLABLE (1 << 5) /* SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV */
#define LOW(i) (offsetof(struct seccomp_data, args) + 8 * (i))
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the low half of an argument comes first"
#endif

struct program {
    struct sock_filter code[INSTRUCTIONS_MAX];
    uint16_t len;
};

/* ---- Refused whatever the arguments -------------------------------------- */

static const uint16_t of_processes[] = {
    __NR_ptrace,        __NR_process_vm_readv, __NR_process_vm_writev,
    __NR_kcmp,          __NR_pidfd_getfd,      __NR_process_madvise,
    __NR_migrate_pages, __NR_move_pages,
};

/* Memory and queues that other programs see. */
static const uint16_t of_shared_memory[] = {
    __NR_shmget, __NR_shmat,   __NR_shmctl,    __NR_msgget, __NR_msgsnd,
    __NR_msgrcv, __NR_msgctl,  __NR_semget,    __NR_semop,  __NR_semtimedop,
    __NR_semctl, __NR_mq_open, __NR_mq_unlink,
};

/* Ways around a filter, and into the kernel. */
static const uint16_t of_kernel[] = {
    __NR_io_uring_setup,
    __NR_io_uring_enter,
    __NR_io_uring_register,
    __NR_bpf,
    __NR_perf_event_open,
    __NR_userfaultfd,
    __NR_keyctl,
    __NR_add_key,
    __NR_request_key,
    __NR_kexec_load,
    __NR_init_module,
    __NR_finit_module,
    __NR_delete_module,
    __NR_lookup_dcookie,
    __NR_fanotify_init,
    __NR_open_by_handle_at,
    __NR_name_to_handle_at,
#ifdef __NR_kexec_file_load
    __NR_kexec_file_load,
#endif
#ifdef __NR_iopl
    __NR_iopl,
    __NR_ioperm,
    __NR_modify_ldt,
#endif
};

/* Mounts, namespaces, roots. */
static const uint16_t of_mounts[] = {
    __NR_mount,    __NR_umount2,    __NR_pivot_root, __NR_chroot,
    __NR_setns,    __NR_move_mount, __NR_open_tree,  __NR_fsopen,
    __NR_fsconfig, __NR_fsmount,    __NR_fspick,     __NR_mount_setattr,
};

static const uint16_t of_machine[] = {
    __NR_reboot,        __NR_swapon,        __NR_swapoff,     __NR_acct,
    __NR_syslog,        __NR_quotactl,      __NR_quotactl_fd, __NR_settimeofday,
    __NR_clock_settime, __NR_clock_adjtime, __NR_adjtimex,    __NR_sethostname,
    __NR_setdomainname, __NR_vhangup,       __NR_nfsservctl,
};

/* ---- Refused or asked about ---------------------------------------------- */

/* Calls that one argument decides. */
static const struct {
    uint16_t nr, arg;
    uint16_t test; /* of the argument against k */
    uint32_t k, yes, no;
} by_argument[] = {
    {__NR_clone, 0, BPF_JSET, NEW_NAMESPACES & ~0xffu, REFUSE(EPERM), ALLOW},
    {__NR_unshare, 0, BPF_JSET, NEW_NAMESPACES, REFUSE(EPERM), ALLOW},
    /* The mode of what the call makes. */
    {__NR_mkdirat, 2, BPF_JSET, SET_ID, REFUSE(EPERM), ALLOW},
    {__NR_mknodat, 2, BPF_JSET, SET_ID, REFUSE(EPERM), ALLOW},
#ifdef __NR_creat
    {__NR_creat, 1, BPF_JSET, SET_ID, REFUSE(EPERM), ALLOW},
    {__NR_mkdir, 1, BPF_JSET, SET_ID, REFUSE(EPERM), ALLOW},
    {__NR_mknod, 1, BPF_JSET, SET_ID, REFUSE(EPERM), ALLOW},
#endif
    /* The process: 0 is the caller; the supervisor judges another one. */
    {__NR_prlimit64, 0, BPF_JEQ, 0, ALLOW, NOTIFY},
    {__NR_sched_setaffinity, 0, BPF_JEQ, 0, ALLOW, NOTIFY},
    {__NR_sched_setscheduler, 0, BPF_JEQ, 0, ALLOW, NOTIFY},
    {__NR_sched_setparam, 0, BPF_JEQ, 0, ALLOW, NOTIFY},
    {__NR_sched_setattr, 0, BPF_JEQ, 0, ALLOW, NOTIFY},
};

/* The first argument must be `kind`, a process, and the second the caller. */
static const struct {
    uint16_t nr, kind;
} of_kind[] = {
    {__NR_setpriority, PRIO_PROCESS},
    {__NR_ioprio_set, 1 /* process */},
};

/* Kinds of ioctl that belong to file systems, and those allowed of each:
 * reading, and clones, which need a descriptor for writing. 0: none. */
static const struct {
    uint32_t kind, allowed;
} file_controls[] = {
    {'f', 0x80086601},  /* FS_IOC_GETFLAGS */
    {'f', 0xc020660b},  /* FS_IOC_FIEMAP */
    {'v', 0x80087601},  /* FS_IOC_GETVERSION */
    {'X', 0x801c581f},  /* FS_IOC_FSGETXATTR */
    {'r', 0x80047210},  /* FAT_IOCTL_GET_ATTRIBUTES */
    {0x94, 0x40049409}, /* FICLONE */
    {0x94, 0x4020940d}, /* FICLONERANGE */
    {0xf5, 0},          /* F2FS */
    {0xbc, 0},          /* bcachefs */
};

/* Calls on existing sockets; a socketpair needs none of them. */
static const uint16_t refused_without_network[] = {
    __NR_connect, __NR_bind, __NR_listen, __NR_accept, __NR_accept4,
};

/* Programs take the refusal for a file system without attributes. */
static const uint16_t attributes[] = {
    __NR_setxattr,    __NR_lsetxattr,    __NR_fsetxattr,
    __NR_removexattr, __NR_lremovexattr, __NR_fremovexattr,
};

/* Calls that the number alone decides, in order; neighbours are joined. */
struct range {
    uint16_t first, last;
    uint32_t action;
};

struct ranges {
    struct range at[RANGES_MAX];
    size_t count;
};

/* ---- Writing the program ------------------------------------------------- */

static void put(struct program *p, uint16_t code, uint32_t k, uint8_t yes,
                uint8_t no)
{
    if (p->len < INSTRUCTIONS_MAX)
        p->code[p->len] = (struct sock_filter){code, yes, no, k};
    p->len++;
}

static void load(struct program *p, size_t at)
{
    put(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)at, 0, 0);
}

static void answer(struct program *p, uint32_t action)
{
    put(p, BPF_RET | BPF_K, action, 0, 0);
}

/* If the loaded word is k: that action, else continue. */
static void when(struct program *p, uint32_t k, uint32_t action)
{
    put(p, BPF_JMP | BPF_JEQ | BPF_K, k, 0, 1);
    answer(p, action);
}

/* The instructions up to call_end are for this call alone, and must answer. */
static uint16_t call_begin(struct program *p, uint32_t nr)
{
    put(p, BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 0);
    return (uint16_t)(p->len - 1);
}

static void call_end(struct program *p, uint16_t begun)
{
    if (p->len <= INSTRUCTIONS_MAX)
        p->code[begun].jf = (uint8_t)(p->len - begun - 1);
}

/* ---- Calls with arguments ------------------------------------------------ */

static void put_sockets(struct program *p, bool network)
{
    uint16_t at = call_begin(p, __NR_socket);

    if (network) {
        load(p, LOW(0));
        when(p, AF_INET, ALLOW);
        when(p, AF_INET6, ALLOW);
        put(p, BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 1, 0);
        answer(p, REFUSE(EACCES));
        load(p, LOW(2));
        when(p, NETLINK_ROUTE, ALLOW);
    }
    answer(p, REFUSE(EACCES));
    call_end(p, at);

    /* A pair of datagram sockets could still be connected elsewhere. */
    at = call_begin(p, __NR_socketpair);
    load(p, LOW(0));
    put(p, BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0);
    answer(p, REFUSE(EACCES));
    load(p, LOW(1));
    put(p, BPF_ALU | BPF_AND | BPF_K, SOCKET_TYPE, 0, 0);
    when(p, SOCK_STREAM, ALLOW);
    when(p, SOCK_SEQPACKET, ALLOW);
    answer(p, REFUSE(EACCES));
    call_end(p, at);
}

/* Threads only; clone3 is refused to everybody. */
static void put_alone(struct program *p)
{
    uint16_t at = call_begin(p, __NR_clone);

    load(p, LOW(0));
    put(p, BPF_JMP | BPF_JSET | BPF_K, NEW_NAMESPACES & ~0xffu, 1, 0);
    put(p, BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0);
    answer(p, REFUSE(EPERM));
    answer(p, ALLOW);
    call_end(p, at);
#ifdef __NR_fork
    when(p, __NR_fork, REFUSE(EPERM));
    when(p, __NR_vfork, REFUSE(EPERM));
#endif
}

static void put_by_argument(struct program *p)
{
    for (size_t i = 0; i < COUNT(by_argument); i++) {
        uint16_t at = call_begin(p, by_argument[i].nr);

        load(p, LOW(by_argument[i].arg));
        put(p, BPF_JMP | by_argument[i].test | BPF_K, by_argument[i].k, 0, 1);
        answer(p, by_argument[i].yes);
        answer(p, by_argument[i].no);
        call_end(p, at);
    }
}

/* File systems change flags, versions, keys and even folders through a
 * descriptor that was opened for reading; Landlock does not see it. */
static void put_file_controls(struct program *p)
{
    uint32_t last = 0;

    for (size_t i = 0; i < COUNT(file_controls); i++)
        if (file_controls[i].allowed)
            when(p, file_controls[i].allowed, ALLOW);
    put(p, BPF_ALU | BPF_RSH | BPF_K, 8, 0, 0);
    put(p, BPF_ALU | BPF_AND | BPF_K, 0xff, 0, 0);
    for (size_t i = 0; i < COUNT(file_controls); i++)
        if (file_controls[i].kind != last) {
            last = file_controls[i].kind;
            when(p, last, REFUSE(ENOTTY));
        }
}

static void put_controls(struct program *p, bool signals)
{
    uint16_t at = call_begin(p, __NR_ioctl);

    load(p, LOW(1));
    when(p, IOCTL_TIOCSTI, REFUSE(EPERM));
    when(p, IOCTL_TIOCLINUX, REFUSE(EPERM));
    if (signals) {
        when(p, IOCTL_FIOSETOWN, REFUSE(EPERM));
        when(p, IOCTL_SIOCSPGRP, REFUSE(EPERM));
    }
    put_file_controls(p);
    answer(p, ALLOW);
    call_end(p, at);

    /* A lease delays every process that opens the file, a notice reveals
     * them; an owner gets signals that Landlock before ABI 6 lets pass. */
    at = call_begin(p, __NR_fcntl);
    load(p, LOW(1));
    when(p, F_SETLEASE, REFUSE(EACCES));
    when(p, F_NOTIFY, REFUSE(EACCES));
    if (signals) {
        when(p, F_SETOWN, REFUSE(EPERM));
        when(p, F_SETOWN_EX, REFUSE(EPERM));
    }
    answer(p, ALLOW);
    call_end(p, at);
}

/* A file that is setuid from its birth needs no chmod, which is guarded; the
 * mode counts only if the call may make a file. Landlock before ABI 3 requires
 * no right to truncate a file that is opened for reading, or for nothing. */
static void put_open(struct program *p, uint16_t nr, size_t flags,
                     bool truncates)
{
    uint16_t at = call_begin(p, nr);

    load(p, LOW(flags));
    if (truncates) {
        put(p, BPF_ALU | BPF_AND | BPF_K, O_ACCMODE | O_TRUNC, 0, 0);
        when(p, O_TRUNC | O_RDONLY, REFUSE(EACCES));
        when(p, O_TRUNC | O_ACCMODE, REFUSE(EACCES));
        load(p, LOW(flags));
    }
    put(p, BPF_JMP | BPF_JSET | BPF_K, O_CREAT | (O_TMPFILE & ~O_DIRECTORY), 1,
        0);
    answer(p, ALLOW);
    load(p, LOW(flags + 1));
    put(p, BPF_JMP | BPF_JSET | BPF_K, SET_ID, 0, 1);
    answer(p, REFUSE(EPERM));
    answer(p, ALLOW);
    call_end(p, at);
}

static void put_own_only(struct program *p)
{
    for (size_t i = 0; i < COUNT(of_kind); i++) {
        uint16_t at = call_begin(p, of_kind[i].nr);

        load(p, LOW(0));
        put(p, BPF_JMP | BPF_JEQ | BPF_K, of_kind[i].kind, 1, 0);
        answer(p, REFUSE(EPERM));
        load(p, LOW(1));
        when(p, 0, ALLOW);
        answer(p, REFUSE(EPERM));
        call_end(p, at);
    }
}

/* ---- Calls by number alone ----------------------------------------------- */

static void range_add(struct ranges *r, uint16_t nr, uint32_t action)
{
    size_t i = r->count;

    if (r->count == RANGES_MAX)
        return; /* filter_apply sees it */
    for (; i > 0 && r->at[i - 1].first > nr; i--)
        r->at[i] = r->at[i - 1];
    r->at[i] = (struct range){nr, nr, action};
    r->count++;
}

static void add_all(struct ranges *r, const uint16_t *calls, size_t count,
                    uint32_t action)
{
    for (size_t i = 0; i < count; i++)
        range_add(r, calls[i], action);
}

static void join_neighbours(struct ranges *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->count; i++)
        if (n && r->at[n - 1].last + 1 == r->at[i].first &&
            r->at[n - 1].action == r->at[i].action)
            r->at[n - 1].last = r->at[i].last;
        else
            r->at[n++] = r->at[i];
    r->count = n;
}

static void put_range(struct program *p, const struct range *r)
{
    if (r->first == r->last) {
        when(p, r->first, r->action);
        return;
    }
    put(p, BPF_JMP | BPF_JGE | BPF_K, r->first, 0, 2);
    put(p, BPF_JMP | BPF_JGT | BPF_K, r->last, 1, 0);
    answer(p, r->action);
}

/* A search tree: when the filter is set the kernel runs it for each call
 * number, so short paths through it make a start fast. */
static void put_ranges(struct program *p, const struct range *r, size_t count)
{
    size_t half = count / 2;
    uint16_t at = p->len;

    if (count <= LEAF_RANGES) {
        for (size_t i = 0; i < count; i++)
            put_range(p, &r[i]);
        answer(p, ALLOW);
        return;
    }
    put(p, BPF_JMP | BPF_JGE | BPF_K, r[half].first, 0, 0);
    put_ranges(p, r, half);
    if (p->len - at - 1 > 255)
        p->len = INSTRUCTIONS_MAX + 1; /* the jump is too far: refused */
    if (at < INSTRUCTIONS_MAX)
        p->code[at].jt = (uint8_t)(p->len - at - 1);
    put_ranges(p, r + half, count - half);
}

static bool fill_ranges(struct ranges *r, const struct job *j)
{
    uint16_t calls[NOTIFY_CALLS_MAX];
    size_t count = notify_calls(calls, j->landlock_abi < ABI_SIGNALS);

    add_all(r, of_processes, COUNT(of_processes), REFUSE(EPERM));
    add_all(r, of_shared_memory, COUNT(of_shared_memory), REFUSE(EPERM));
    add_all(r, of_kernel, COUNT(of_kernel), REFUSE(EPERM));
    add_all(r, of_mounts, COUNT(of_mounts), REFUSE(EPERM));
    add_all(r, of_machine, COUNT(of_machine), REFUSE(EPERM));
    add_all(r, attributes, COUNT(attributes), REFUSE(EOPNOTSUPP));
    add_all(r, calls, count, NOTIFY);
    if (!(j->spec->flags & SUPER_NETWORK))
        add_all(r, refused_without_network, COUNT(refused_without_network),
                REFUSE(EACCES));
    /* Their flags and modes are in memory, where they can change after the
     * check; callers fall back to the older call. */
    range_add(r, __NR_clone3, REFUSE(ENOSYS));
    range_add(r, __NR_openat2, REFUSE(ENOSYS));
    if (j->landlock_abi < ABI_TRUNCATE)
        range_add(r, __NR_truncate, REFUSE(EACCES));
    join_neighbours(r);
    return r->count < RANGES_MAX;
}

/* ---- The filter ---------------------------------------------------------- */

static void put_head(struct program *p)
{
    load(p, offsetof(struct seccomp_data, arch));
    put(p, BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
    answer(p, SECCOMP_RET_KILL_PROCESS);
    load(p, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
    put(p, BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
    answer(p, SECCOMP_RET_KILL_PROCESS);
#endif
    put(p, BPF_JMP | BPF_JGT | BPF_K, LAST_KNOWN, 0, 1);
    answer(p, REFUSE(ENOSYS));
}

static long set(struct program *p)
{
    struct sock_fprog fprog = {p->len, p->code};
    long r = sys3(__NR_seccomp, SECCOMP_SET_MODE_FILTER,
                  SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE, &fprog);

    if (r == -EINVAL) /* Linux before 5.19 */
        r = sys3(__NR_seccomp, SECCOMP_SET_MODE_FILTER,
                 SECCOMP_FILTER_FLAG_NEW_LISTENER, &fprog);
    return r;
}

void filter_apply(struct job *j, volatile struct super_failure *f)
{
    static struct program p;
    static struct ranges ranges;
    long r = -E2BIG;

    put_head(&p);
    put_sockets(&p, j->spec->flags & SUPER_NETWORK);
    if (j->spec->flags & SUPER_ALONE) /* before the other rule for clone */
        put_alone(&p);
    put_by_argument(&p);
    put_controls(&p, j->landlock_abi < ABI_SIGNALS);
    put_own_only(&p);
    put_open(&p, __NR_openat, 2, j->landlock_abi < ABI_TRUNCATE);
#ifdef __NR_open
    put_open(&p, __NR_open, 1, j->landlock_abi < ABI_TRUNCATE);
#endif
    if (fill_ranges(&ranges, j))
        put_ranges(&p, ranges.at, ranges.count);
    else
        p.len = INSTRUCTIONS_MAX + 1;
    if (p.len <= INSTRUCTIONS_MAX)
        r = set(&p);
    if (!stops(f, SUPER_STEP_SECCOMP, r))
        j->listener = (int)r;
}

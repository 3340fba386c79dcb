/*
 * proc_launch.c - starting a supervisor: descriptors, the spec, the spawn.
 */
#include "host/proc/proc_launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "host/file.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x10u /* since Linux 6.3; before, the default */
#endif
#define MIB ((uint64_t)1 << 20)

enum { PROBE_MS = 5000 };
enum { FD_MIN = 16 }; /* above those that the supervisor's are put on */

/* The supervisor's program, as bytes. */
extern const char proc_image[], proc_image_end[];
__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        ".globl proc_image, proc_image_end\n"
        ".hidden proc_image, proc_image_end\n"
        "proc_image:\n"
        ".incbin \"" SUPER_PROGRAM "\"\n"
        "proc_image_end:\n"
        ".popsection\n");

static void shut(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* A file without a name that holds these bytes, at its beginning. */
static int file_of(const char *name, wend_str bytes, unsigned flags)
{
    int fd = memfd_create(name, MFD_CLOEXEC | flags), saved;

    if (fd < 0)
        return -1;
    saved = -file_write_all(fd, bytes);
    if (!saved && !lseek(fd, 0, SEEK_SET))
        return fd;
    saved = saved ? saved : errno;
    close(fd);
    errno = saved;
    return -1;
}

wend_status launch_image(int *fd, wend_error *err)
{
    wend_str image = {proc_image, (size_t)(proc_image_end - proc_image)};

    *fd = file_of("wend-super", image, MFD_ALLOW_SEALING | MFD_EXEC);
    if (*fd < 0 && errno == EINVAL)
        *fd = file_of("wend-super", image, MFD_ALLOW_SEALING);
    if (*fd < 0)
        return fail(err, WEND_E_IO, "a program's supervisor in memory: %s",
                    strerror(errno));
    if (fcntl(*fd, F_ADD_SEALS,
              F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)) {
        fail(err, WEND_E_IO, "a program's supervisor in memory: seal: %s",
             strerror(errno));
        shut(fd);
        return WEND_E_IO;
    }
    return WEND_OK;
}

/* ---- The spec ------------------------------------------------------------ */

static void add_text(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s) + 1);
}

static uint32_t add_list(struct buf *b, const char *const *list)
{
    uint32_t n = 0;

    for (; list && list[n]; n++)
        add_text(b, list[n]);
    return n;
}

static uint64_t limit_of(uint64_t said, uint64_t usual, bool sandbox)
{
    return said || !sandbox ? said : usual;
}

/* A limit of the tree: the supervisor counts only what has a bound. */
static uint64_t bound_of(uint64_t said, uint64_t usual, bool sandbox)
{
    uint64_t limit = limit_of(said, usual, sandbox);

    return limit == UINT64_MAX ? 0 : limit;
}

wend_status launch_pack(const struct proc_spec *spec, struct buf *out,
                        wend_error *err)
{
    const struct proc_limits *l = &spec->limits;
    bool on = !spec->sandbox_off;
    const char *tmp = getenv("TMPDIR");
    struct super_spec s = {
        .magic = SUPER_MAGIC,
        .flags = (on ? SUPER_SANDBOX : 0u) |
                 (spec->network ? SUPER_NETWORK : 0u) |
                 (on && !spec->git_writable ? SUPER_GIT : 0u) |
                 (spec->alone ? SUPER_ALONE : 0u) |
                 (spec->mounts_off ? SUPER_NO_MOUNTS : 0u) |
                 (spec->cgroup_off ? SUPER_NO_CGROUP : 0u),
        .grace_ms =
            (uint32_t)(spec->grace_ms > 0 ? spec->grace_ms : PROC_GRACE_MS),
        .deadline_ms =
            (uint64_t)(spec->deadline_ms > 0 ? spec->deadline_ms : 0),
        .cpu_s = l->cpu_s,
        .memory_bytes = limit_of(l->memory_bytes, PROC_MEMORY_MIB * MIB, on),
        .file_bytes = limit_of(l->file_bytes, PROC_FILE_MIB * MIB, on),
        .files = limit_of(l->files, PROC_FILES, on),
        .tree_memory_bytes =
            bound_of(l->memory_bytes, PROC_MEMORY_MIB * MIB, on),
        .disk_bytes = bound_of(l->disk_bytes, PROC_DISK_MIB * MIB, on),
        .tasks_max = (uint32_t)limit_of(l->tasks, PROC_TASKS, on),
        .host_pid = getpid(),
        .landlock_abi_max = spec->landlock_abi_max,
    };

    if (!spec->argv || !spec->argv[0] || !spec->argv[0][0])
        return fail(err, WEND_E_INVAL, "a program needs a name");
    if (!spec->cwd || spec->cwd[0] != '/')
        return fail(err, WEND_E_INVAL,
                    "%s: its working directory must be an absolute path",
                    spec->argv[0]);
    buf_add(out, (const char *)&s, sizeof s);
    add_text(out, spec->cwd);
    s.counts[SUPER_ARGV] = add_list(out, spec->argv);
    s.counts[SUPER_ENV] = add_list(out, spec->env);
    s.counts[SUPER_READ] = add_list(out, spec->readable);
    s.counts[SUPER_WRITE] = add_list(out, spec->writable);
    s.counts[SUPER_HIDE] = add_list(out, on ? spec->hidden : NULL);
    if (on)
        add_text(out, tmp && tmp[0] == '/' ? tmp : "/tmp");
    if (out->failed)
        return fail_nomem(err);
    if (out->len > PROC_SPEC_MAX)
        return fail(err, WEND_E_LIMIT,
                    "%s: arguments and environment have %zu bytes, at most %d",
                    spec->argv[0], out->len, PROC_SPEC_MAX);
    s.size = (uint32_t)out->len;
    memcpy(out->ptr, &s, sizeof s);
    return WEND_OK;
}

/* ---- Descriptors --------------------------------------------------------- */

enum { OF_IN, OF_OUT, OF_ERR, OF_CONTROL, OF_SPEC, OF_COUNT };

/* Those of the child's side must not lie where another is put. */
static bool lift(int *fd)
{
    int high = fcntl(*fd, F_DUPFD_CLOEXEC, FD_MIN);

    if (high < 0)
        return false;
    close(*fd);
    *fd = high;
    return true;
}

/* ours: the end that the host keeps. */
static bool open_pipe(int *ours, int *theirs, bool host_writes)
{
    int fd[2];

    if (pipe2(fd, O_CLOEXEC))
        return false;
    *ours = fd[host_writes];
    *theirs = fd[!host_writes];
    return !fcntl(*ours, F_SETFL, O_NONBLOCK);
}

static bool open_control(int *ours, int *theirs)
{
    int fd[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd))
        return false;
    *ours = fd[0];
    *theirs = fd[1];
    return !fcntl(*ours, F_SETFL, O_NONBLOCK);
}

static bool open_input(wend_str input, bool input_open, int *ours, int *theirs)
{
    if (input_open)
        return open_pipe(ours, theirs, true);
    *theirs = input.len ? file_of("wend-input", input, 0)
                        : open("/dev/null", O_RDONLY | O_CLOEXEC);
    return *theirs >= 0;
}

static bool open_all(wend_str packed, wend_str input, bool input_open,
                     struct launched *l, int theirs[OF_COUNT])
{
    if (!open_input(input, input_open, &l->in, &theirs[OF_IN]) ||
        !open_pipe(&l->out, &theirs[OF_OUT], false) ||
        !open_pipe(&l->err, &theirs[OF_ERR], false) ||
        !open_control(&l->control, &theirs[OF_CONTROL]))
        return false;
    theirs[OF_SPEC] = file_of("wend-spec", packed, 0);
    if (theirs[OF_SPEC] < 0)
        return false;
    for (int i = 0; i < OF_COUNT; i++)
        if (theirs[i] < FD_MIN && !lift(&theirs[i]))
            return false;
    return true;
}

/* ---- The spawn ----------------------------------------------------------- */

static int spawn_with(int image_fd, const int theirs[OF_COUNT],
                      posix_spawn_file_actions_t *files,
                      posix_spawnattr_t *attr, pid_t *pid)
{
    char path[40], name[] = "wend-super", *argv[] = {name, NULL};
    char *env[] = {NULL};
    sigset_t none, all;
    int rc = 0;

    sigemptyset(&none);
    sigfillset(&all);
    for (int i = 0; !rc && i < OF_COUNT; i++)
        rc = posix_spawn_file_actions_adddup2(files, theirs[i], i);
    if (!rc)
        rc = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSID |
                                                POSIX_SPAWN_SETSIGMASK |
                                                POSIX_SPAWN_SETSIGDEF);
    if (!rc)
        rc = posix_spawnattr_setsigmask(attr, &none);
    if (!rc)
        rc = posix_spawnattr_setsigdefault(attr, &all);
    snprintf(path, sizeof path, "/proc/self/fd/%d", image_fd);
    return rc ? rc : posix_spawn(pid, path, files, attr, argv, env);
}

static int spawn(int image_fd, const int theirs[OF_COUNT], pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    int rc = posix_spawn_file_actions_init(&files);

    if (rc)
        return rc;
    rc = posix_spawnattr_init(&attr);
    if (!rc) {
        rc = spawn_with(image_fd, theirs, &files, &attr, pid);
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

wend_status launch(int image_fd, wend_str packed, wend_str input,
                   bool input_open, struct launched *out, wend_error *err)
{
    int theirs[OF_COUNT] = {-1, -1, -1, -1, -1}, rc = 0;
    struct launched l = {-1, -1, -1, -1, -1, -1};
    wend_status s = WEND_OK;

    if (!open_all(packed, input, input_open, &l, theirs))
        s = fail(err, WEND_E_IO, "pipes of a program: %s%s", strerror(errno),
                 errno == EMFILE ? "; raise the limit (ulimit -n)" : "");
    else if ((rc = spawn(image_fd, theirs, &l.pid)) == ENOMEM)
        s = fail_nomem(err);
    else if (rc)
        s = fail(err, WEND_E_IO,
                 "a program's supervisor cannot be run from memory: %s; "
                 "see vm.memfd_noexec, and that /proc is there",
                 strerror(rc));
    else if ((l.pid_fd = (int)syscall(SYS_pidfd_open, l.pid, 0)) < 0 &&
             errno != ESRCH) /* over, and the host has reaped it: its report
                                is in the control socket */
        s = fail(err, WEND_E_IO, "pidfd_open: %s; use Linux 5.3 or newer",
                 strerror(errno));
    for (int i = 0; i < OF_COUNT; i++)
        shut(&theirs[i]);
    if (s != WEND_OK) { /* a supervisor without a host ends at once */
        shut(&l.in);
        shut(&l.out);
        shut(&l.err);
        shut(&l.control);
        if (l.pid > 0)
            waitpid(l.pid, NULL, 0);
    } else {
        *out = l;
    }
    return s;
}

bool launch_can_hide(int image_fd)
{
    struct super_spec s = {.magic = SUPER_MAGIC,
                           .size = sizeof s + 1, /* no strings but the cwd */
                           .flags = SUPER_PROBE,
                           .host_pid = getpid()};
    char packed[sizeof s + 1] = {0};
    struct super_report r = {0};
    struct launched l;
    struct pollfd p = {.events = POLLIN};
    bool can;

    memcpy(packed, &s, sizeof s);
    if (launch(image_fd, (wend_str){packed, sizeof packed}, STR_NONE, false, &l,
               NULL) != WEND_OK)
        return false;
    p.fd = l.control;
    can = poll(&p, 1, PROBE_MS) == 1 &&
          recv(l.control, &r, sizeof r, 0) == (ssize_t)sizeof r &&
          r.kind == SUPER_FAILED && r.a == SUPER_STEP_MOUNTS && !r.b;
    shut(&l.out);
    shut(&l.err);
    shut(&l.control);
    shut(&l.pid_fd);
    waitpid(l.pid, NULL, 0);
    return can;
}

/* ---- What went wrong ----------------------------------------------------- */

#define OR_OFF "; or let it run without a sandbox (--sandbox off)"

void launch_say(const struct super_report *r, const char *program,
                const char *cwd, char *out, size_t size)
{
    static const char *const rows[SUPER_STEPS] = {
        [SUPER_STEP_SPEC] = "its supervisor did not get the spec",
        [SUPER_STEP_READY] = "its supervisor cannot watch over it",
        [SUPER_STEP_TMP] = "its private folder cannot be used; see TMPDIR",
        [SUPER_STEP_FORK] = "no new process",
        [SUPER_STEP_LIMITS] = "limits cannot be set",
        [SUPER_STEP_CAPS] = "the sandbox cannot drop capabilities; run as an "
                            "ordinary user" OR_OFF,
        [SUPER_STEP_PRIVS] = "the sandbox needs no_new_privs" OR_OFF,
        [SUPER_STEP_LANDLOCK] =
            "the sandbox needs Landlock, which this kernel does not offer; "
            "boot with lsm=landlock,... (Linux 5.13 or newer)" OR_OFF,
        [SUPER_STEP_RULE] = "a folder of the sandbox cannot be opened",
        [SUPER_STEP_SECCOMP] =
            "the sandbox needs seccomp filters, which this kernel does not "
            "offer; use one with CONFIG_SECCOMP_FILTER" OR_OFF,
    };
    unsigned step = (unsigned)r->a;

    if (step == SUPER_STEP_CWD)
        utf8_fmt(out, size, "%s: its working directory %s: %s", program, cwd,
                 strerror(r->b));
    else if (step == SUPER_STEP_EXEC && r->b == ENOENT)
        utf8_fmt(out, size,
                 strchr(program, '/')
                     ? "%s: there is no such program, or what runs it is "
                       "missing"
                     : "%s: there is no such program in PATH",
                 program);
    else if (step == SUPER_STEP_EXEC && r->b == EACCES)
        utf8_fmt(out, size,
                 "%s: cannot be run: %s; it must be executable and, in the "
                 "sandbox, lie where programs may read",
                 program, strerror(r->b));
    else if (step >= SUPER_STEPS || !rows[step])
        utf8_fmt(out, size, "%s: cannot be run: %s", program, strerror(r->b));
    else
        utf8_fmt(out, size, "%s: %s (%s)", program, rows[step], strerror(r->b));
}

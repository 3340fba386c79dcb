/*
 * start.c - the child: session, limits, folder, capabilities, sandbox, exec.
 *
 * The child shares memory and descriptors with the supervisor until its exec,
 * as after vfork: it reports where it stops in the failure.
 */
#include <linux/capability.h>
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/securebits.h>
#include <linux/signal.h>

#include "super/super.h"

#define PATH_DEFAULT "/usr/local/bin:/usr/bin:/bin"

enum { PROGRAM_PATH_MAX = 4096 };

/* Root keeps only what concerns owner and mode of files; not CAP_FSETID, with
 * which a setuid file stays setuid when it is written. */
#define CAPS_KEPT \
    (1ull << CAP_CHOWN | 1ull << CAP_DAC_OVERRIDE | 1ull << CAP_FOWNER)

static long limit(int what, uint64_t value)
{
    struct rlimit64 now;
    long r = sys4(__NR_prlimit64, 0, what, NULL, &now);

    if (r < 0)
        return r;
    if (value > now.rlim_max)
        value = now.rlim_max;
    now.rlim_cur = now.rlim_max = value;
    return sys4(__NR_prlimit64, 0, what, &now, NULL);
}

/* A last bound until bounds.c has counted: the kernel counts all tasks of a
 * user, and none of root, so it is far above the present number. */
static uint64_t tasks_of_user(const struct super_spec *s)
{
    return s->tasks_max ? tree_tasks_of_all() + 2ull * s->tasks_max : 0;
}

static long set_limits(const struct super_spec *s)
{
    const struct {
        int what;
        uint64_t value;
    } rows[] = {
        {RLIMIT_CPU, s->cpu_s},           {RLIMIT_DATA, s->memory_bytes},
        {RLIMIT_FSIZE, s->file_bytes},    {RLIMIT_NOFILE, s->files},
        {RLIMIT_NPROC, tasks_of_user(s)},
    };
    long r = limit(RLIMIT_CORE, 0);

    for (size_t i = 0; r >= 0 && i < COUNT(rows); i++)
        if (rows[i].value)
            r = limit(rows[i].what, rows[i].value);
    return r;
}

/* Capabilities come back with an exec by root, up to the bounding set. */
static long drop_capabilities(const struct job *j)
{
    uint64_t kept = j->uid ? 0 : CAPS_KEPT;
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct now[2] = {{0}};
    long r = sys2(__NR_capget, &head, now);

    if (r < 0)
        return r;
    if (!(now[0].permitted | now[1].permitted) && j->uid)
        return 0;
    for (int cap = 0; cap < 64; cap++) {
        if (kept >> cap & 1)
            continue;
        r = sys5(__NR_prctl, PR_CAPBSET_DROP, cap, 0, 0, 0);
        if (r == -EINVAL)
            break; /* beyond the last one */
        if (r < 0)
            return r;
    }
    sys5(__NR_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    now[0].permitted &= (uint32_t)kept;
    now[0].effective = now[0].permitted;
    now[1].permitted = now[1].effective = 0;
    now[0].inheritable = now[1].inheritable = 0;
    return sys2(__NR_capset, &head, now);
}

/* ---- Finding the program ------------------------------------------------- */

static const char *path_of(char *const *env)
{
    for (; *env; env++)
        if (text_starts(*env, "PATH="))
            return *env + 5;
    return PATH_DEFAULT;
}

/* Tries the folders of PATH; skips relative ones. Returns only on failure. */
static long exec_in_path(const struct job *j, const char *name)
{
    const char *path = path_of(j->lists[SUPER_ENV]);
    long said = -ENOENT;

    while (*path) {
        char full[PROGRAM_PATH_MAX];
        size_t dir = 0, len = text_len(name);

        while (path[dir] && path[dir] != ':')
            dir++;
        if (path[0] == '/' && dir + 1 + len < sizeof full) {
            long r;

            __builtin_memcpy(full, path, dir);
            full[dir] = '/';
            __builtin_memcpy(full + dir + 1, name, len + 1);
            r = sys3(__NR_execve, full, j->lists[SUPER_ARGV],
                     j->lists[SUPER_ENV]);
            if (r != -ENOENT && r != -ENOTDIR)
                said = r;
            if (r != -ENOENT && r != -ENOTDIR && r != -EACCES)
                return r;
        }
        path += dir + (path[dir] == ':');
    }
    return said;
}

static long exec(const struct job *j)
{
    const char *name = j->lists[SUPER_ARGV][0];

    for (const char *p = name; *p; p++)
        if (*p == '/')
            return sys3(__NR_execve, name, j->lists[SUPER_ARGV],
                        j->lists[SUPER_ENV]);
    return exec_in_path(j, name);
}

/* ---- The child ----------------------------------------------------------- */

static void in_child(struct job *j, bool mounts,
                     volatile struct super_failure *f)
{
    const struct super_spec *s = j->spec;
    sys_signals none = 0;

    sys0(__NR_setsid);
    /* Goes with the exec of a setuid program, which needs the sandbox off. */
    sys5(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (mounts && stops(f, SUPER_STEP_MOUNTS, mounts_make(j)))
        return;
    if (s->flags & SUPER_PROBE)
        return;
    if (stops(f, SUPER_STEP_LIMITS, set_limits(s)) ||
        stops(f, SUPER_STEP_CWD, sys1(__NR_chdir, j->cwd)))
        return;
    if (s->flags & SUPER_SANDBOX) {
        if (stops(f, SUPER_STEP_CAPS, drop_capabilities(j)) ||
            stops(f, SUPER_STEP_PRIVS,
                  sys5(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)))
            return;
        landlock_apply(j, f);
        if (!f->error)
            filter_apply(j, f);
        if (f->error)
            return;
    }
    sys4(__NR_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
    stops(f, SUPER_STEP_EXEC, exec(j));
}

static long clone_child(struct job *j, unsigned long namespaces,
                        volatile struct super_failure *f)
{
    struct clone_args how = {
        .flags = CLONE_VM | CLONE_VFORK | CLONE_FILES | namespaces,
        .exit_signal = SIGCHLD,
    };
    long pid;

    f->error = 0;
    if (j->cgroup) {
        how.flags |= CLONE_INTO_CGROUP;
        how.cgroup = (uint64_t)j->cgroup;
        pid = sys2(__NR_clone3, &how, sizeof how);
    } else { /* known to older kernels, and to filters of containers */
        pid = sys5(__NR_clone, how.flags | SIGCHLD, 0, 0, 0, 0);
    }
    if (pid == 0) {
        in_child(j, namespaces != 0, f);
        for (;;)
            sys1(__NR_exit, 127);
    }
    return pid;
}

/* With its own mounts if possible. */
static long clone_either(struct job *j, volatile struct super_failure *f)
{
    unsigned long namespaces = mounts_namespaces(j);
    long pid = -EPERM;

    if (namespaces)
        pid = clone_child(j, namespaces, f);
    if (j->spec->flags & SUPER_PROBE)
        return pid;
    if (pid > 0 && f->error && f->step == SUPER_STEP_MOUNTS) {
        sys4(__NR_wait4, pid, NULL, 0, 0);
        pid = -EPERM;
    }
    return pid < 0 ? clone_child(j, 0, f) : pid;
}

int start_child(struct job *j, volatile struct super_failure *f)
{
    int max = j->spec->landlock_abi_max;
    long pid;

    if (j->spec->flags & SUPER_SANDBOX)
        j->landlock_abi = landlock_abi();
    if (max && j->landlock_abi > max)
        j->landlock_abi = max < 0 ? -EOPNOTSUPP : max;
    j->uid = (uint32_t)sys0(__NR_geteuid);
    j->gid = (uint32_t)sys0(__NR_getegid);
    cgroup_make(j);
    pid = clone_either(j, f);
    if (j->spec->flags & SUPER_PROBE) {
        f->step = SUPER_STEP_MOUNTS;
        f->error = pid < 0 ? (int)-pid : f->error;
        return -1;
    }
    if (pid < 0 && j->cgroup) { /* it cannot be started there */
        cgroup_remove(j);
        pid = clone_either(j, f);
    }
    if (stops(f, SUPER_STEP_FORK, pid))
        return -1;
    return f->error ? -1 : (int)pid;
}

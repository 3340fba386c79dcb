/*
 * cmd_doctor.c - wend doctor: checks what works on this machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/agent/agent.h"
#include "cli/cmd/cmd.h"
#include "cli/cmd/doctor.h"
#include "cli/rows.h"
#include "cli/config.h"
#include "cli/keys.h"
#include "cli/term.h"
#include "super/cgroup_base.h"

/* Constants and structs that older headers lack. */
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
enum {
    RESOLVE_BENEATH_FLAG = 0x08,
    LANDLOCK_VERSION_FLAG = 1,
    SECCOMP_ACTION_AVAIL = 2,
    LANDLOCK_ABI_TRUNCATE = 3,
    LANDLOCK_ABI_SIGNALS = 6,
    MFD_EXEC_FLAG = 0x10,
};
#define CLOCK_OFF_US INT64_C(60000000) /* keys and certificates may expire */
#define CLOCK_EARLIEST 1735689600      /* 2025-01-01: before wend existed */

/* Those of `run` that decide what works. */
static const struct opt opts[] = {
    ROW_JSON("print one JSON object per check"),
    ROW_FLAG(offline, "offline", "ask no provider and no MCP server"),
    ROW_AGENT("agent to check, a file or name (default ./wend.yaml)"),
    ROW_MODEL("model to check (default $WEND_MODEL)"),
    ROWS_PROVIDER,
    ROW_FLAG(http2, "http2", "use HTTP/2 if the provider supports it"),
    ROW_MODELS,
    ROW_TOOL("tool to offer; may be repeated"),
    ROW_TOOLS("file that defines a tool; may be repeated"),
    ROW_MCP("MCP server NAME=COMMAND or NAME=URL; may be repeated"),
    ROW_STORE_ANY,
    ROW_MONEY(budget_cost, "budget-cost", LIMIT_COST),
    ROW_APPROVE(APPROVE_HELP),
    ROW_SANDBOX(SANDBOX_HELP),
    ROWS_END,
};

static const char *const mark_names[] = {
    [MARK_OK] = "ok", [MARK_NOTE] = "note", [MARK_FAIL] = "FAIL"};

void found(struct finding *f, enum mark mark, const char *fix)
{
    f->mark = mark;
    f->fix = fix;
}

/* What works, or what does not, errno and the fix. */
static void judge(struct finding *f, bool ok, const char *good, const char *bad,
                  enum mark mark, const char *fix)
{
    if (ok) {
        buf_cstr(&f->what, good);
        return;
    }
    buf_fmt(&f->what, "%s: %s", bad, strerror(errno));
    found(f, mark, fix);
}

/* ---- The checks ---------------------------------------------------------- */

static void check_version(struct finding *f)
{
    buf_fmt(&f->what, "wend %s", wend_version());
}

static void check_config(struct finding *f)
{
    struct cli *cli = f->cli;
    bool named;

    if (!config_path(&f->what, &named)) {
        buf_cstr(&f->what, "no config path: HOME is not set");
        found(f, MARK_NOTE, "set HOME, or WEND_CONFIG");
        return;
    }
    if (access(f->what.ptr, F_OK) && !named) {
        buf_cstr(&f->what, " (not found; it is optional)");
        return;
    }
    if (!cli->config_error)
        return;
    buf_clear(&f->what);
    buf_cstr(&f->what, cli->config_error);
    found(f, MARK_FAIL, "fix that line, or remove the file");
}

#define ANOTHER_STORE ", or choose another with --store"

/* `before PATH after` for a shell. */
static const char *command(const char *before, const char *path,
                           const char *after)
{
    struct buf b = {.mem = &cli_mem};

    buf_cstr(&b, before);
    if (strpbrk(path, " \t\n'\"\\$`*?[](){}<>|&;#!~"))
        buf_quoted(&b, str_of(path));
    else
        buf_cstr(&b, path);
    buf_cstr(&b, after);
    return b.failed ? "free some memory" : b.ptr;
}

/* Cuts the path of a file. */
static const char *folder_of(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash)
        slash[slash == path] = 0;
    return slash ? path : ".";
}

/* What repairs a store that does not open. */
static const char *fix_store(struct cli *cli)
{
    struct buf path = {.mem = &cli_mem};
    const char *folder;
    struct stat st;

    if (!store_file(cli, &path))
        return "give a path with --store";
    if (strstr(cli->err.message, "is not a wend store"))
        return "choose another path with --store";
    if (!stat(path.ptr, &st)) {
        if (S_ISDIR(st.st_mode))
            return command("give a file in it: --store ", path.ptr, "/wend.db");
        if (access(path.ptr, R_OK | W_OK))
            return st.st_uid == geteuid()
                       ? command("chmod u+rw ", path.ptr, ANOTHER_STORE)
                       : "choose another path with --store";
        return command("wend verify --store ", path.ptr, ANOTHER_STORE);
    }
    folder = folder_of(path.ptr);
    if (access(folder, F_OK))
        return command("mkdir -p ", folder, ANOTHER_STORE);
    return access(folder, W_OK | X_OK)
               ? command("chmod u+wx ", folder, ANOTHER_STORE)
               : "choose another path with --store";
}

/* Also root, who has all permissions, cannot write into some file systems. */
static bool can_hold_files(const char *folder)
{
    struct buf path = {.mem = &cli_mem};
    int fd = -1;

    buf_fmt(&path, "%s/.wend-doctor-XXXXXX", folder);
    if (!path.failed)
        fd = mkostemp(path.ptr, O_CLOEXEC);
    if (fd >= 0) {
        unlink(path.ptr);
        close(fd);
    }
    buf_free(&path);
    return fd >= 0;
}

/* No store is made: only whether a run could. */
static bool check_absent(struct finding *f)
{
    struct buf path = {.mem = &cli_mem};
    const char *folder;

    if (!store_absent(f->cli, &path))
        return false;
    buf_str(&f->what, buf_view(&path));
    folder = folder_of(path.ptr);
    if ((access(folder, F_OK) && errno == ENOENT) || can_hold_files(folder)) {
        buf_cstr(&f->what, ": not there yet; the first run makes it");
    } else {
        buf_fmt(&f->what, ": cannot be made: %s", strerror(errno));
        found(f, MARK_FAIL, fix_store(f->cli));
    }
    return true;
}

/* Opening locks the store, and verifies that it is durable: write-ahead log,
 * synchronous=FULL. */
static void check_store(struct finding *f)
{
    struct cli *cli = f->cli;

    if (check_absent(f))
        return;
    if (wend_store_open(cli->set.store, &cli->store, &cli->err) != WEND_OK) {
        buf_cstr(&f->what, cli->err.message);
        found(f, MARK_FAIL, fix_store(cli));
    } else if (store_file(cli, &f->what)) {
        buf_cstr(&f->what, ": opens; commits are durable");
    } else {
        buf_cstr(&f->what, "in memory: lost when the command exits");
        found(f, MARK_NOTE, "give a path to keep runs");
    }
}

static void check_mode(struct finding *f)
{
    struct buf path = {.mem = f->what.mem};
    struct stat st;

    if (!store_file(f->cli, &path) || stat(path.ptr, &st) ||
        !S_ISREG(st.st_mode)) {
        buf_cstr(&f->what, "no file to check");
        return;
    }
    if (!f->cli->store) { /* it may be a file of something else */
        buf_cstr(&f->what, "not checked: the store does not open");
        return;
    }
    buf_fmt(&f->what, "%s: %s can read it (mode %o)", path.ptr,
            st.st_mode & 077 ? "other users" : "only the owner",
            st.st_mode & 0777);
    if (st.st_mode & 077)
        found(f, MARK_FAIL, command("chmod 600 ", path.ptr, ""));
}

enum {
    DISK_FAIL_MIB = 64,   /* a run and its deltas may not fit any more */
    DISK_NOTE_MIB = 1024, /* a few days of work */
};

/* Where the store is. */
static void check_disk(struct finding *f)
{
    struct buf path = {.mem = f->what.mem};
    struct statvfs st;
    uint64_t mib;

    if (!store_file(f->cli, &path)) {
        buf_cstr(&f->what, "nothing is kept");
        return;
    }
    if (statvfs(path.ptr, &st)) { /* not created: its folder */
        const char *folder = folder_of(path.ptr);

        if (statvfs(folder, &st)) {
            judge(f, false, "", folder, MARK_FAIL,
                  command("mkdir -p ", folder, ANOTHER_STORE));
            return;
        }
    }
    mib = (uint64_t)st.f_bavail * st.f_frsize >> 20;
    buf_fmt(&f->what, "%llu MiB are free where the store is",
            (unsigned long long)mib);
    if (mib < DISK_NOTE_MIB)
        found(f, mib < DISK_FAIL_MIB ? MARK_FAIL : MARK_NOTE,
              "wend prune --older-than 30d, or choose another disk with "
              "--store");
}

static void check_openat2(struct finding *f)
{
    struct {
        uint64_t flags, mode, resolve;
    } how = {O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, RESOLVE_BENEATH_FLAG};
    long fd = syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof how);

    judge(f, fd >= 0, "paths are confined to the working directory", "openat2",
          MARK_FAIL,
          "file tools do not work; use Linux 5.6 or newer, and allow openat2 "
          "in the container's seccomp filter");
    if (fd >= 0)
        close((int)fd);
}

#define NO_SANDBOX "; until then tools that run programs need --sandbox off"

static void check_landlock(struct finding *f)
{
    long abi =
        syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION_FLAG);

    if (abi <= 0) {
        buf_fmt(&f->what, "not available: %s", strerror(errno));
        found(f, MARK_NOTE,
              "use Linux 5.13 or newer and boot it with "
              "lsm=landlock,..." NO_SANDBOX);
        return;
    }
    buf_fmt(&f->what, "version %ld", abi);
    if (abi < LANDLOCK_ABI_TRUNCATE)
        buf_cstr(&f->what, "; tools cannot truncate by path");
    if (abi < LANDLOCK_ABI_SIGNALS)
        buf_cstr(&f->what, "; the supervisor checks their signals");
}

static void check_seccomp(struct finding *f)
{
    uint32_t action = SECCOMP_RET_USER_NOTIF;

    judge(f, !syscall(SYS_seccomp, SECCOMP_ACTION_AVAIL, 0, &action),
          "filters with user notification work",
          "no filters with user notification", MARK_NOTE,
          "use Linux 5.5 or newer with CONFIG_SECCOMP_FILTER" NO_SANDBOX);
}

/* The supervisor of programs runs from memory. */
static void check_memfd(struct finding *f)
{
    char path[40];
    int fd = memfd_create("wend-doctor", MFD_CLOEXEC | MFD_EXEC_FLAG);

    if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
        fd = memfd_create("wend-doctor", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    judge(f, fd >= 0 && !access(path, X_OK), "programs can run from memory",
          "programs cannot run from memory", MARK_NOTE,
          "tools that run programs do not work; set vm.memfd_noexec=0, and "
          "mount /proc");
    if (fd >= 0)
        close(fd);
}

static void check_pidfd(struct finding *f)
{
    long fd = syscall(SYS_pidfd_open, getpid(), 0);

    judge(f, fd >= 0, "pidfd works", "pidfd_open", MARK_NOTE,
          "tools that run programs do not work; use Linux 5.3 or newer, and "
          "allow pidfd_open in the container's seccomp filter");
    if (fd >= 0)
        close((int)fd);
}

/* As the supervisor does it (super/mounts.c), in a process of its own. */
static void check_mounts(struct finding *f)
{
    int status = 1;
    pid_t pid = fork();

    if (!pid)
        _exit(unshare(CLONE_NEWNS | (geteuid() ? CLONE_NEWUSER : 0)) ||
              mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL));
    if (pid > 0 && waitpid(pid, &status, 0) == pid && !status) {
        buf_cstr(&f->what, "programs get their own mounts: git config and "
                           "hooks are read-only, denied paths are hidden");
        return;
    }
    buf_cstr(&f->what, "programs cannot get their own mounts");
    found(f, MARK_NOTE,
          "git config and hooks are restored after each program, and programs "
          "can read paths that rules deny; allow user namespaces "
          "(user.max_user_namespaces, AppArmor), or give the container "
          "CAP_SYS_ADMIN");
}

/* ---- Bounds ---- */

/* Creates a cgroup where the supervisor would, and checks it. */
static bool makes_cgroups(void)
{
    int base = (int)cgroup_base(geteuid()), dir = -1;
    char name[40];
    bool good = false;

    if (base < 0)
        return false;
    snprintf(name, sizeof name, "wend-%d", (int)getpid());
    if (!mkdirat(base, name, 0755)) {
        dir = openat(base, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        good = dir >= 0 && !sys_write_text(dir, "memory.max", "max") &&
               !sys_write_text(dir, "pids.max", "max");
        unlinkat(base, name, AT_REMOVEDIR);
    }
    if (dir >= 0)
        close(dir);
    close(base);
    return good;
}

/* The supervisor reads the usage of a process tree from /proc. */
static void check_bounds(struct finding *f)
{
    bool shares = !access("/proc/self/smaps_rollup", R_OK);
    bool written = !access("/proc/self/io", R_OK);

    buf_cstr(&f->what,
             makes_cgroups()
                 ? "a cgroup limits tasks and memory of programs; the "
                   "supervisor counts both and the bytes written"
                 : "the supervisor counts tasks, memory and bytes written of "
                   "programs; no cgroup is delegated to this process");
    if (shares && written)
        return;
    buf_fmt(&f->what, "; %s",
            shares    ? "bytes written are not counted"
            : written ? "shared memory is counted several times"
                      : "bytes written are not counted, and shared memory is "
                        "counted several times");
    found(f, MARK_NOTE,
          "use Linux 4.14 or newer with CONFIG_TASK_IO_ACCOUNTING");
}

static void check_workspace(struct finding *f)
{
    bool home = workspace_is_home();

    buf_fmt(&f->what, "the working directory is %syour home directory",
            home ? "" : "not ");
    if (home)
        found(f, MARK_NOTE,
              "despite the sandbox, programs can read keys and change startup "
              "files in it; work in a project directory");
}

static void check_clock(struct finding *f)
{
    struct timespec wall, steady, later;
    int64_t off_us = 0;
    char text[40];

    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_MONOTONIC, &steady);
    clock_gettime(CLOCK_MONOTONIC, &later);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", gmtime(&wall.tv_sec));
    buf_cstr(&f->what, text);
    if (f->d->list && f->d->list->server_us)
        off_us = f->d->list->local_us - f->d->list->server_us;
    if (f->d->list && f->d->list->server_us)
        buf_fmt(&f->what, ", %lld s %s the provider's clock",
                llabs(off_us / 1000000), off_us < 0 ? "behind" : "ahead of");
    if (llabs(off_us) > CLOCK_OFF_US)
        found(f, MARK_FAIL, "timedatectl set-ntp true, or set the clock");
    if (wall.tv_sec < CLOCK_EARLIEST)
        found(f, MARK_FAIL, "set the clock: ids and times depend on it");
    else if (later.tv_sec < steady.tv_sec)
        found(f, MARK_FAIL, "the monotonic clock goes backwards");
}

static void check_terminal(struct finding *f)
{
    if (isatty(STDOUT_FILENO))
        buf_fmt(&f->what, "%zu columns%s", term_width(STDOUT_FILENO),
                term_colour(STDOUT_FILENO) ? ", with colour" : "");
    else
        buf_cstr(&f->what, "standard output is not a terminal");
    buf_cstr(&f->what, keys_present() ? "; calls can be approved here"
                                      : "; calls cannot be approved here");
}

static const struct {
    const char *name;
    void (*fn)(struct finding *f);
} checks[] = {
    {"version", check_version},   {"config", check_config},
    {"store", check_store},       {"file mode", check_mode},
    {"disk", check_disk},         {"model", check_model},
    {"provider", check_provider}, {"mcp", check_servers},
    {"openat2", check_openat2},   {"landlock", check_landlock},
    {"seccomp", check_seccomp},   {"memfd", check_memfd},
    {"pidfd", check_pidfd},       {"mounts", check_mounts},
    {"bounds", check_bounds},     {"workspace", check_workspace},
    {"clock", check_clock},       {"terminal", check_terminal},
};

/* ---- Saying it ----------------------------------------------------------- */

static void put_json(struct buf *out, const char *name, const struct finding *f)
{
    struct buf clean = {.mem = out->mem};

    term_text(&clean, buf_view(&f->what)); /* valid UTF-8, too */
    json_open(out, NULL, '{');
    json_add_str(out, "check", str_of(name));
    json_add_str(out, "result",
                 str_of(f->mark == MARK_FAIL ? "fail" : mark_names[f->mark]));
    json_add_str(out, "what", buf_view(&clean));
    json_add_nullable(out, "fix", str_of(f->fix));
    buf_cstr(out, "}\n");
}

static void put_line(struct buf *out, const char *name, const struct finding *f)
{
    enum { TEXT = 16, FIX = TEXT + 3 }; /* columns */
    size_t width = term_wraps_at(STDOUT_FILENO);

    buf_fmt(out, "%-4s %-10s ", mark_names[f->mark], name);
    term_words(out, buf_view(&f->what), TEXT, TEXT, width);
    buf_char(out, '\n');
    if (!f->fix)
        return;
    buf_fmt(out, "%*s-> ", TEXT, "");
    term_words(out, str_of(f->fix), FIX, FIX, width);
    buf_char(out, '\n');
}

static int run(struct cli *cli)
{
    struct buf out = {.mem = &cli_mem};
    struct doctor d = {.cli = cli, .load.size = sizeof d.load};
    int code = agent_fill(cli, &d.load, &d.agent), failed = 0;

    if (!code) /* the store is checked on its own */
        code = report(cli, wend_runtime_new(NULL, &cli->rt, &cli->err));
    if (code)
        return code;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        struct finding f = {.d = &d, .cli = cli, .what = {.mem = &cli_mem}};

        checks[i].fn(&f);
        failed += f.mark == MARK_FAIL;
        (cli->set.json ? put_json : put_line)(&out, checks[i].name, &f);
    }
    wend_agent_free(d.probe);
    wend_models_free(d.list);
    code = print_buf(&out);
    return !code && failed ? EXIT_FAILED : code;
}

const struct command command_doctor = {
    .name = "doctor",
    .args = "[OPTIONS]",
    .summary = "check what works on this machine, and how to fix the rest",
    .more = "The settings are those of 'wend run' with the same options. The "
            "provider is\n"
            "asked for its models, or with the smallest request if it has no "
            "list. The exit\n"
            "status is 1 if an essential check fails.\n",
    .opts = opts,
    .no_config = true,
    .takes_agent = true,
    .run = run,
};

/*
 * test_proc_cgroup.c - what a whole tree may use, held by a cgroup of its own
 * or by the supervisor's count: the outcomes and the words are the same.
 *
 * Few machines let a test make cgroups. With WEND_CGROUP set
 * (tests/vm/cgroup.sh boots a kernel where root can) they must be used, and are
 * looked at.
 */
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "nobody_help.h"
#include "proc_help.h"

#define ROOT "/sys/fs/cgroup"
#define WORDS_MEMORY                                                         \
    "sh: it used too much memory, with all that it started, and was killed " \
    "(its limit: memory)"
#define WORDS_TASKS                                                \
    "sh: it started too many processes or threads and was killed " \
    "(its limit: tasks)"

enum { SLACK_MS = 20000 };

/* ---- The same outcome, whoever counts ---------------------------------------
 */

/* Makes a memfd and writes megabytes; $MEMFD is the number of the call. */
#define MEMFD(megabytes, then)                                 \
    "perl -e '$n = \"m\"; $fd = syscall($ENV{MEMFD}, $n, 0); " \
    "open($f, \">&=\", $fd) or exit 9; $x = \"x\" x 1000000; " \
    "for (1.." megabytes ") { syswrite $f, $x } " then "'"

static const struct {
    const char *why, *text;
    struct proc_limits limits;
    enum proc_how how;
    const char *message;
} rows[] = {
    {"memory of several processes",
     "for i in 1 2 3; do perl -e '$x = \"x\" x 30000000; sleep 20' & done; "
     "wait",
     {.memory_bytes = 64 << 20},
     PROC_MEMORY,
     WORDS_MEMORY},
    {"a memfd that no process maps",
     MEMFD("100", "sleep 20"),
     {.memory_bytes = 64 << 20},
     PROC_MEMORY,
     WORDS_MEMORY},
    {"a memfd that several hold counts once",
     MEMFD("24", "for (1..4) { fork or do { sleep 1; exit 0 } } "
                 "1 while wait > 0"),
     {.memory_bytes = 64 << 20},
     PROC_EXITED,
     ""},
    {"a shell fork bomb",
     "b() { b | b & }; b; sleep 20",
     {.tasks = 40},
     PROC_CROWD,
     WORDS_TASKS},
    {"a fork bomb that ends at the first failure",
     "i=0; while [ $i -lt 60 ]; do sleep 20 & i=$((i + 1)); done; sleep 20",
     {.tasks = 40},
     PROC_CROWD,
     WORDS_TASKS},
    {"within its bounds",
     "for i in 1 2 3; do perl -e '$x = \"x\" x 10000000' & done; wait",
     {.memory_bytes = 64 << 20, .tasks = 40},
     PROC_EXITED,
     ""},
};

static void start(struct proc_world *w, struct proc_seen *s, const char *text,
                  struct proc_spec spec)
{
    static char memfd[40];
    const char *env[] = {"PATH=/usr/bin:/bin", memfd, NULL};

    snprintf(memfd, sizeof memfd, "MEMFD=%d", SYS_memfd_create);
    spec.env = env;
    proc_sh(w, s, text, &spec);
}

static void test_outcomes(struct proc_world *w, bool off)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct proc_spec spec = {.limits = rows[i].limits, .cgroup_off = off};
        struct proc_seen s;

        start(w, &s, rows[i].text, spec);
        proc_seen_wait(w, &s);
        tap_ok(s.ends == 1 && s.how == rows[i].how, "%s%s (%d)",
               off ? "no cgroup: " : "", rows[i].why, s.how);
        tap_is_str((const char *)s.message, rows[i].message, "its message");
        proc_seen_free(&s);
    }
}

/* Less than a process needs to start: the supervisor stays alive. */
static void test_tiny(struct proc_world *w)
{
    struct proc_spec spec = {.limits.memory_bytes = 1 << 16};
    struct proc_seen s;

    start(w, &s, "true", spec);
    proc_seen_wait(w, &s);
    tap_ok(s.ends == 1 && s.how != PROC_LOST, "64 KiB: %s", s.message);
    proc_seen_free(&s);
}

/* ---- With files in a tmpfs --------------------------------------------------
 */

/* The last row has a bound only in a cgroup: such a file may be another's. */
static const struct {
    const char *why, *text;
    enum proc_how counted, held;
} files[] = {
    {"files in the private folder",
     "cd $TMPDIR && mkdir -p a/b && for i in 1 2 3 4 5; do "
     "dd if=/dev/zero of=a/b/$i bs=1000000 count=20 2>/dev/null || exit 9; "
     "done; "
     "sleep 20",
     PROC_MEMORY, PROC_MEMORY},
    {"a file without a name",
     "exec 3>f && rm f && dd if=/dev/zero bs=1000000 count=100 >&3 "
     "2>/dev/null; "
     "sleep 20",
     PROC_MEMORY, PROC_MEMORY},
    {"a file in the workspace",
     "dd if=/dev/zero of=f bs=1000000 count=100 2>/dev/null; rm f; exit 0",
     PROC_EXITED, PROC_MEMORY},
};

static void test_files(struct proc_world *w, bool off, bool real)
{
    for (size_t i = 0; i < tap_count(files); i++) {
        struct proc_spec spec = {.limits.memory_bytes = 64 << 20,
                                 .cgroup_off = off};
        enum proc_how how = off ? files[i].counted : files[i].held;
        struct proc_seen s;

        if (!off && !real)
            continue;
        start(w, &s, files[i].text, spec);
        proc_seen_wait(w, &s);
        tap_ok(s.ends == 1 && s.how == how, "tmpfs: %s%s (%d: %s)",
               off ? "no cgroup: " : "", files[i].why, s.how, s.message);
        proc_seen_free(&s);
    }
}

/* The last test: from here on this process has mounts of its own. */
static void test_tmpfs(bool real)
{
    bool alone = !unshare(CLONE_NEWNS) &&
                 !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
    struct proc_world w;

    proc_world_begin(&w);
    if (!alone || mount("none", w.dir, "tmpfs", 0, "size=300m")) {
        tap_ok(true, "tmpfs # SKIP none can be mounted");
    } else {
        setenv("TMPDIR", w.dir, 1);
        test_files(&w, true, real);
        test_files(&w, false, real);
        unsetenv("TMPDIR");
        umount2(w.dir, MNT_DETACH);
    }
    proc_world_end(&w);
}

/* ---- The cgroup itself ------------------------------------------------------
 */

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    bool good = f && fputs(text, f) >= 0;

    good = f && !fclose(f) && good;
    if (!good)
        tap_ok(false, "%s > %s", text, path);
}

/* Where a program runs: its line of /proc/self/cgroup. */
static void place_of(struct proc_world *w, bool off, char *out, size_t size)
{
    struct proc_spec spec = {.cgroup_off = off};
    struct proc_seen s;

    start(w, &s, "grep ^0:: /proc/self/cgroup", spec);
    proc_seen_wait(w, &s);
    buf_add(&s.out[1], "", 1);
    snprintf(out, size, "%s", s.out[1].ptr);
    out[strcspn(out, "\n")] = 0;
    proc_seen_free(&s);
}

static int count_left(const char *base)
{
    DIR *d = opendir(base);
    struct dirent *e;
    int n = 0;

    while (d && (e = readdir(d)))
        n += !strncmp(e->d_name, "wend-", 5);
    if (d)
        closedir(d);
    return n;
}

static int await_left(struct proc_world *w, const char *base, int wanted)
{
    int64_t until_ms = proc_now_ms() + SLACK_MS;
    int n;

    while ((n = count_left(base)) != wanted && proc_now_ms() < until_ms)
        loop_turn(w->loop, 5);
    return n;
}

static void test_inside(struct proc_world *w)
{
    struct proc_spec spec = {.limits = {.memory_bytes = 64 << 20, .tasks = 40}};
    struct proc_seen s;
    char place[200];

    place_of(w, false, place, sizeof place);
    tap_ok(!strncmp(place, "0::/wend-", 9), "a cgroup of its own: %s", place);
    place_of(w, true, place, sizeof place);
    tap_is_str(place, "0::/", "and without it that of the host");
    start(w, &s,
          "cd " ROOT "$(grep ^0:: /proc/self/cgroup | cut -c4-) && "
          "cat memory.max memory.oom.group pids.max && "
          "if echo 0 > ../cgroup.procs; then echo out; fi 2>&-",
          spec);
    proc_seen_wait(w, &s);
    tap_is_str(buf_view(&s.out[1]), "67108864\n1\n40\n",
               "it has the bounds, and the program cannot leave it");
    proc_seen_free(&s);
    tap_is_i64(await_left(w, ROOT, 0), 0, "none is left");
}

/* Children that a program without a sandbox makes go with it. */
static void test_children(struct proc_world *w)
{
    struct proc_spec spec = {.sandbox_off = true,
                             .limits.memory_bytes = 64 << 20};
    struct proc_seen s;

    start(w, &s,
          "mkdir " ROOT "$(grep ^0:: /proc/self/cgroup | cut -c4-)/sub "
          "&& echo made",
          spec);
    proc_seen_wait(w, &s);
    tap_is_str(buf_view(&s.out[1]), "made\n", "a cgroup in it");
    proc_seen_free(&s);
    tap_is_i64(await_left(w, ROOT, 0), 0, "goes with it");
}

/* The number of a process that is gone. */
static int dead_pid(void)
{
    pid_t pid = fork();

    if (!pid)
        _exit(0);
    waitpid(pid, NULL, 0);
    return pid;
}

static void test_left_over(struct proc_world *w)
{
    char dead[80], live[80], place[200];

    snprintf(dead, sizeof dead, ROOT "/wend-%d", dead_pid());
    snprintf(live, sizeof live, ROOT "/wend-%d", getpid());
    tap_ok(!mkdir(dead, 0755) && !mkdir(live, 0755), "two are there");
    place_of(w, false, place, sizeof place);
    tap_is_i64(await_left(w, ROOT, 1), 1, "the next program removes one");
    tap_ok(access(dead, F_OK) && !rmdir(live), "that of a dead process");
}

/* killed: the host, or its supervisor. */
static void test_killed(struct proc_world *w, bool super)
{
    int fd[2], status;
    char place[200];
    pid_t pid, victim = 0;

    if (pipe(fd))
        return;
    pid = fork();
    if (!pid) {
        struct proc_world own;
        struct proc_seen s;

        proc_world_open(&own);
        snprintf(own.dir, sizeof own.dir, "%s", w->dir);
        start(&own, &s, "echo $PPID; sleep 1000", (struct proc_spec){0});
        while (!s.bytes)
            loop_turn(own.loop, 10);
        buf_add(&s.out[1], "", 1);
        victim = super ? (pid_t)atoi(s.out[1].ptr) : getpid();
        if (write(fd[1], &victim, sizeof victim) > 0)
            for (;;)
                loop_turn(own.loop, 10);
        _exit(1);
    }
    close(fd[1]);
    if (read(fd[0], &victim, sizeof victim) != (ssize_t)sizeof victim)
        tap_ok(false, "a number");
    tap_is_i64(count_left(ROOT), 1, "one runs");
    if (victim > 1)
        kill(victim, SIGKILL);
    if (super) { /* its host lives; the next program cleans up */
        int64_t until_ms = proc_now_ms() + SLACK_MS;

        while (!kill(victim, 0) && proc_now_ms() < until_ms)
            loop_turn(w->loop, 10);
        tap_is_i64(count_left(ROOT), 1, "a killed supervisor leaves its own");
        place_of(w, false, place, sizeof place);
        kill(pid, SIGKILL);
    }
    waitpid(pid, &status, 0);
    close(fd[0]);
    tap_is_i64(await_left(w, ROOT, 0), 0, "%s is killed: none is left",
               super ? "the supervisor" : "the host");
}

/* ---- Where it may be --------------------------------------------------------
 */

/* Runs a program as this user from the cgroup at path; where it came to be. */
static void place_from(struct proc_world *w, const char *path, uid_t uid,
                       char *out, size_t size)
{
    char procs[200];
    int fd[2];
    ssize_t n;
    pid_t pid;

    out[0] = 0;
    if (pipe(fd))
        return;
    snprintf(procs, sizeof procs, "%s/cgroup.procs", path);
    pid = fork();
    if (!pid) {
        struct proc_world own;
        char place[200];

        put(procs, "0");
        if (uid && (setgroups(0, NULL) || setgid(uid) || setuid(uid)))
            _exit(1);
        proc_world_open(&own);
        snprintf(own.dir, sizeof own.dir, "%s", w->dir);
        place_of(&own, false, place, sizeof place);
        procs_free(own.procs);
        _exit(write(fd[1], place, strlen(place)) < 0);
    }
    close(fd[1]);
    n = read(fd[0], out, size - 1);
    out[n > 0 ? n : 0] = 0;
    close(fd[0]);
    waitpid(pid, NULL, 0);
}

static bool give(const char *path, uid_t uid)
{
    static const char *const names[] = {"", "/cgroup.procs",
                                        "/cgroup.subtree_control"};
    char file[200];
    bool good = true;

    for (size_t i = 0; i < tap_count(names); i++) {
        snprintf(file, sizeof file, "%s%s", path, names[i]);
        good &= !chown(file, uid, uid);
    }
    return good;
}

#define D ROOT "/d"

static void test_delegated(struct proc_world *w)
{
    static const struct {
        const char *why;
        uid_t owner, uid;
        const char *mark, *place;
    } places[] = {
        {"not delegated, root", 0, 0, NULL, "0::/d/leaf"},
        {"not delegated, nobody", 0, NOBODY, NULL, "0::/d/leaf"},
        {"marked by systemd, root", 0, 0, "1", "0::/d/wend-"},
        {"marked, but of another user", 0, NOBODY, "1", "0::/d/leaf"},
        {"of the user", NOBODY, NOBODY, NULL, "0::/d/wend-"},
        {"marked, of the user", NOBODY, NOBODY, "1", "0::/d/wend-"},
    };

    tap_ok(!chmod(w->dir, 0777), "a workspace for all");
    for (size_t i = 0; i < tap_count(places); i++) {
        char place[200];

        put(ROOT "/cgroup.subtree_control", "+memory +pids");
        tap_ok(!mkdir(D, 0755) && !mkdir(D "/leaf", 0755) &&
                   give(D, places[i].owner) &&
                   give(D "/leaf", places[i].owner) &&
                   (!places[i].mark ||
                    !setxattr(D, "user.delegate", places[i].mark, 1, 0)),
               "two cgroups");
        place_from(w, D "/leaf", places[i].uid, place, sizeof place);
        tap_ok(!strncmp(place, places[i].place, strlen(places[i].place)),
               "%s: %s", places[i].why, place);
        tap_is_i64(await_left(w, D, 0), 0, "none is left");
        for (int k = 0; k < 1000 && rmdir(D "/leaf"); k++)
            loop_turn(w->loop, 1);
        tap_ok(!rmdir(D), "both are gone");
    }
}

/* Inside one that has processes and no controllers for children. */
static void test_full(struct proc_world *w)
{
    char place[200];

    tap_ok(!mkdir(D, 0755), "a cgroup");
    place_from(w, D, 0, place, sizeof place);
    tap_is_str(place, "0::/d", "beneath its own cgroup there is none");
    for (int k = 0; k < 1000 && rmdir(D); k++)
        loop_turn(w->loop, 1);
    tap_ok(access(D, F_OK), "it is gone");
}

int main(void)
{
    struct proc_world w;
    bool real = getenv("WEND_CGROUP") != NULL;

    proc_world_begin(&w);
    test_outcomes(&w, false);
    test_tiny(&w);
    if (real) {
        test_outcomes(&w, true);
        test_inside(&w);
        test_children(&w);
        test_left_over(&w);
        test_killed(&w, false);
        test_killed(&w, true);
        test_delegated(&w);
        test_full(&w);
    }
    proc_world_end(&w);
    test_tmpfs(real);
    return tap_done();
}

/*
 * test_proc.c - programs on the loop: input, output, ends, bounds.
 */
#include <linux/magic.h>
#include <sys/vfs.h>

#include "fault.h"
#include "proc_help.h"

static void test_ends(struct proc_world *w)
{
    static const struct {
        const char *why, *text, *out, *err;
        enum proc_how how;
        int code;
        const char *message;
    } rows[] = {
        {"nothing", ":", "", "", PROC_EXITED, 0, ""},
        {"output", "echo a; echo b >&2", "a\n", "b\n", PROC_EXITED, 0, ""},
        {"a code", "exit 3", "", "", PROC_EXITED, 3, "sh: exit code 3"},
        {"the last code", "exit 255", "", "", PROC_EXITED, 255,
         "sh: exit code 255"},
        {"a signal", "kill -USR1 $$", "", "", PROC_SIGNALED, SIGUSR1,
         "sh: ended by signal 10 (User defined signal 1)"},
        {"killed", "kill -9 $$", "", "", PROC_SIGNALED, SIGKILL,
         "sh: ended by signal 9 (Killed)"},
        {"only the given environment", "env -u PWD -u TMPDIR -u _ -u SHLVL",
         "PATH=/usr/bin:/bin\nLC_ALL=C\n", "", PROC_EXITED, 0, ""},
        {"its place", "test \"$PWD\" = \"$(pwd)\" && echo > f && cat f", "\n",
         "", PROC_EXITED, 0, ""},
        {"three descriptors", "ls /proc/self/fd | wc -l", "4\n", "",
         PROC_EXITED, 0, ""}, /* and the one that ls reads */
        {"no input", "cat", "", "", PROC_EXITED, 0, ""},
        {"a folder of its own",
         "test -w \"$TMPDIR\" && cd \"$TMPDIR\" && "
         "mkdir -p a/b/c && touch a/b/c/d a/e && chmod 0 a/b/c && ls -a | wc "
         "-l",
         "3\n", "", PROC_EXITED, 0, ""},
        {"children of its own", "echo a | cat | cat & wait", "a\n", "",
         PROC_EXITED, 0, ""},
        {"a session of its own",
         "read -r p n s pp g sid rest </proc/$$/stat; test $$ = $sid && "
         "echo yes",
         "yes\n", "", PROC_EXITED, 0, ""},
    };

    for (int off = 0; off < 2; off++)
        for (size_t i = 0; i < tap_count(rows); i++) {
            struct proc_spec spec = {.sandbox_off = off};
            struct proc_seen s;

            if (off && strstr(rows[i].text, "TMPDIR\" &&"))
                continue;
            proc_sh(w, &s, rows[i].text, &spec);
            proc_seen_wait(w, &s);
            tap_ok(s.ends == 1 && s.how == rows[i].how &&
                       s.code == rows[i].code,
                   "%s%s: how (%d, %d)", rows[i].why, off ? ", no sandbox" : "",
                   s.how, s.code);
            tap_is_str((const char *)s.message, rows[i].message, "its message");
            tap_is_str(buf_view(&s.out[1]), rows[i].out, "its output");
            tap_is_str(buf_view(&s.out[2]), rows[i].err, "its errors");
            proc_seen_free(&s);
        }
}

static void test_not_started(struct proc_world *w)
{
    static const struct {
        const char *why, *program, *cwd, *writable, *message;
    } rows[] = {
        {"no program", "no-such-program", NULL, NULL,
         "no-such-program: there is no such program in PATH"},
        {"no file", "/no/such/program", NULL, NULL,
         "/no/such/program: there is no such program, or what runs it is "
         "missing"},
        {"no folder", "true", "/no/such/folder", NULL,
         "true: its working directory /no/such/folder: No such file or "
         "directory"},
        {"a folder is no program", "/usr", NULL, NULL,
         "/usr: cannot be run: Permission denied; it must be executable and, "
         "in "
         "the sandbox, lie where programs may read"},
        {"a folder to write that is absent", "true", NULL, "/no/such",
         "true: a folder of the sandbox cannot be opened (No such file or "
         "directory)"},
        {"no name", "", NULL, NULL, "a program needs a name"},
        {"a place that is not absolute", "true", "x", NULL,
         "true: its working directory must be an absolute path"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        const char *argv[] = {rows[i].program, NULL};
        const char *dirs[] = {rows[i].writable, NULL};
        struct proc_spec spec = {.argv = argv,
                                 .cwd = rows[i].cwd ? rows[i].cwd : w->dir,
                                 .env = proc_env,
                                 .writable = dirs};
        struct proc_seen s;
        wend_error err = {0};

        if (proc_seen_start(w, &s, &spec, &err) == WEND_OK) {
            proc_seen_wait(w, &s);
            tap_ok(s.ends == 1 && s.how == PROC_NOT_STARTED, "%s: not started",
                   rows[i].why);
            tap_is_str((const char *)s.message, rows[i].message, "and why");
        } else {
            tap_is_str((const char *)err.message, rows[i].message, "%s",
                       rows[i].why);
        }
        proc_seen_free(&s);
    }
}

/* Exit codes of sh: 2 if it cannot fork. */
static void test_alone(struct proc_world *w)
{
    static const struct {
        const char *why, *text;
        int code, alone;
    } rows[] = {
        {"itself", "echo a >f", 0, 0},
        {"another program in its place", "exec true", 0, 0},
        {"a child", "(exit 0)", 0, 2},
        {"a program", "/bin/true; exit 0", 0, 2},
        {"by vfork", "exec env -i /usr/bin/env nice true", 0, 0},
        {"by a program that starts others", "exec timeout 9 true", 0, 125},
        {"threads",
         "exec awk 'BEGIN { for (i = 0; i < 300000; i++) print i >\"big\" }'",
         0, 0},
        {"threads, of a large sort", "exec sort --parallel=4 -n -o out big", 0,
         0},
    };

    for (size_t i = 0; i < tap_count(rows); i++)
        for (int alone = 0; alone < 2; alone++) {
            struct proc_spec spec = {.alone = alone};
            struct proc_seen s;

            proc_sh(w, &s, rows[i].text, &spec);
            proc_seen_wait(w, &s);
            tap_is_i64(s.how == PROC_EXITED ? s.code : -1,
                       alone ? rows[i].alone : rows[i].code, "%s%s",
                       alone ? "alone: " : "", rows[i].why);
            proc_seen_free(&s);
        }
}

static void test_input(struct proc_world *w)
{
    struct proc_spec spec = {.input = STR("some\nlines\n")};
    struct proc_seen s;
    wend_error err = {0};
    char *big = calloc(1, PROC_INPUT_QUEUE_MAX + 1);

    proc_sh(w, &s, "cat", &spec);
    proc_seen_wait(w, &s);
    tap_is_str(buf_view(&s.out[1]), "some\nlines\n", "input as bytes");
    proc_seen_free(&s);

    spec = (struct proc_spec){.input_open = true};
    proc_sh(w, &s, "while read x; do echo \"<$x>\"; done", &spec);
    for (int i = 0; i < 3; i++) {
        char line[20];
        size_t want = (size_t)(i + 1) * 4;

        snprintf(line, sizeof line, "%d\n", i);
        tap_ok(proc_write(s.proc, line, strlen(line), NULL) == WEND_OK,
               "a line is written");
        while (s.out[1].len < want && !s.ends)
            loop_turn(w->loop, 1000);
        tap_is_i64((int64_t)s.out[1].len, (int64_t)want, "and answered");
    }
    proc_close_input(s.proc);
    tap_ok(proc_write(s.proc, "x", 1, &err) == WEND_E_IO, "closed is closed");
    proc_seen_wait(w, &s);
    tap_ok(s.how == PROC_EXITED && s.code == 0, "and it ends");
    proc_seen_free(&s);

    proc_sh(w, &s, "wc -c", &spec);
    tap_ok(proc_write(s.proc, big, PROC_INPUT_QUEUE_MAX + 1, &err) ==
               WEND_E_LIMIT,
           "over the queue: %s", err.message);
    tap_ok(proc_write(s.proc, big, PROC_INPUT_QUEUE_MAX, &err) == WEND_OK &&
               proc_write(s.proc, big, 1, &err) == WEND_E_LIMIT,
           "the queue, and no byte more");
    proc_close_input(s.proc);
    proc_seen_wait(w, &s);
    tap_is_str(buf_view(&s.out[1]), "8388608\n", "all of it arrives");
    proc_seen_free(&s);

    proc_sh(w, &s, "exec 0<&-; sleep 0.1; echo x", &spec);
    tap_ok(proc_write(s.proc, big, PROC_INPUT_QUEUE_MAX, &err) == WEND_OK,
           "bytes for one that does not read");
    proc_seen_wait(w, &s);
    tap_ok(s.how == PROC_EXITED, "do no harm");
    proc_seen_free(&s);
    free(big);
}

static void test_output_bound(struct proc_world *w)
{
    static const struct {
        const char *why, *text;
        size_t bytes, got;
        enum proc_how how;
    } rows[] = {
        {"below", "head -c 99999 /dev/zero", 100000, 99999, PROC_EXITED},
        {"at", "head -c 100000 /dev/zero", 100000, 100000, PROC_EXITED},
        {"over", "head -c 100001 /dev/zero", 100000, 100000, PROC_OUTPUT},
        {"over on the other", "head -c 100001 /dev/zero >&2", 100000, 100000,
         PROC_OUTPUT},
        {"without end", "trap '' TERM PIPE; exec 2>&-; cat /dev/zero & yes", 0,
         PROC_OUTPUT_MAX, PROC_OUTPUT},
        {"none", "head -c 20000000 /dev/zero", SIZE_MAX, 20000000, PROC_EXITED},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct proc_spec spec = {.output_bytes_max = rows[i].bytes};
        struct proc_seen s;

        proc_sh(w, &s, rows[i].text, &spec);
        s.keep = false;
        proc_seen_wait(w, &s);
        tap_ok(s.ends == 1 && s.how == rows[i].how, "output %s: %s",
               rows[i].why, s.message);
        tap_is_i64((int64_t)s.bytes, (int64_t)rows[i].got, "its bytes");
        proc_seen_free(&s);
    }
}

/* What is written to a file system in memory is no writing to the kernel. */
static bool on_disk(const char *dir)
{
    struct statfs st;

    return !statfs(dir, &st) && st.f_type != TMPFS_MAGIC;
}

static const struct {
    const char *why, *text;
    struct proc_limits limits;
    enum proc_how how;
    int code;
} limits[] = {
    {"time of the processor",
     "while :; do :; done",
     {.cpu_s = 1},
     PROC_SIGNALED,
     SIGKILL},
    {"memory",
     "perl -e '$x = \"x\" x 100000000' 2>/dev/null || exit 7",
     {.memory_bytes = 50 << 20},
     PROC_EXITED,
     7},
    {"enough memory",
     "perl -e '$x = \"x\" x 100000000'",
     {.memory_bytes = 500 << 20},
     PROC_EXITED,
     0},
    {"a file",
     "trap '' XFSZ; head -c 2000 /dev/zero > f 2>&- || exit 7",
     {.file_bytes = 1000},
     PROC_EXITED,
     7},
    {"a file that fits",
     "head -c 1000 /dev/zero > f",
     {.file_bytes = 1000},
     PROC_EXITED,
     0},
    {"descriptors", "test $(ulimit -n) = 20", {.files = 20}, PROC_EXITED, 0},
    {"no core", "test $(ulimit -c) = 0", {0}, PROC_EXITED, 0},
    {"processes",
     "for i in 1 2 3 4 5 6 7 8 9; do sleep 1000 & done; wait",
     {.tasks = 8},
     PROC_CROWD,
     0},
    {"memory of all",
     "for i in 1 2 3; do perl -e '$x = \"x\" x 30000000; sleep 20' & "
     "done; wait",
     {.memory_bytes = 80 << 20},
     PROC_MEMORY,
     0},
    {"memory of all that is shared counts once",
     "perl -e '$x = \"x\" x 30000000; for (1..6) { fork or do { sleep 1; "
     "exit 0 } } 1 while wait > 0; sleep 1'",
     {.memory_bytes = 80 << 20},
     PROC_EXITED,
     0},
    {"written by all",
     "for i in 1 2 3 4 5; do head -c 4000000 /dev/zero > f$i; done; "
     "sleep 20",
     {.disk_bytes = 16 << 20},
     PROC_DISK,
     0},
    {"written by those that have ended, and by one that has not",
     "(for i in 1 2; do head -c 6000000 /dev/zero > f$i; done) & wait; "
     "exec perl -e 'print \"x\" x 6000000; $|=1; sleep 20' > f3",
     {.disk_bytes = 16 << 20},
     PROC_DISK,
     0},
    {"written, but not too much",
     "head -c 8000000 /dev/zero > f1; sleep 0.5",
     {.disk_bytes = 16 << 20},
     PROC_EXITED,
     0},
    {"fewer",
     "for i in 1 2 3 4 5 6 7; do sleep 0.5 & done; wait",
     {.tasks = 8},
     PROC_EXITED,
     0},
};

static void test_limits(struct proc_world *w)
{
    for (size_t i = 0; i < tap_count(limits); i++) {
        struct proc_spec spec = {.limits = limits[i].limits};
        struct proc_seen s;

        if (limits[i].how == PROC_DISK && !on_disk(w->dir)) {
            tap_ok(true, "limits: %s # SKIP %s is no disk", limits[i].why,
                   w->dir);
            continue;
        }
        proc_sh(w, &s, limits[i].text, &spec);
        proc_seen_wait(w, &s);
        tap_ok(
            s.ends == 1 && s.how == limits[i].how && s.code == limits[i].code,
            "limits: %s (%d, %d: %s)", limits[i].why, s.how, s.code, s.message);
        proc_seen_free(&s);
    }
}

static void test_memory(struct proc_world *w)
{
    const char *argv[] = {"cat", NULL}, *dirs[] = {w->dir, NULL};
    struct proc_spec spec = {.argv = argv,
                             .cwd = w->dir,
                             .env = proc_env,
                             .input = STR("some"),
                             .writable = dirs};
    struct fault f = {0};
    int bad = 0, rounds = 0;

    while (fault_next(&f)) {
        struct proc_world own = {.mem = fault_mem(&f)};
        struct proc_seen s = {0};
        wend_status st = loop_new(&own.mem, &own.loop, NULL);

        if (st == WEND_OK)
            st = procs_new(&own.mem, own.loop, &own.procs, NULL);
        if (st == WEND_OK) {
            st = proc_start(own.procs, &spec, &proc_seen_events, &s, &s.proc,
                            NULL);
            if (st == WEND_OK)
                proc_seen_wait(&own, &s);
            bad += st == WEND_OK && (s.how != PROC_EXITED || s.bytes != 4);
            proc_free(s.proc);
        }
        procs_free(own.procs);
        loop_free(own.loop);
        bad += f.live != 0 || (st == WEND_OK) == f.hit;
        rounds++;
    }
    tap_ok(!bad && rounds > 4, "no memory, at each of %d moments", rounds);
}

/* More than may run at once: the rest waits, in order. */
static void test_many(struct proc_world *w)
{
    enum { MANY = 1000 };
    static struct proc_seen seen[MANY];
    const char *argv[] = {"true", NULL}, *dirs[] = {w->dir, NULL};
    struct proc_spec spec = {
        .argv = argv, .cwd = w->dir, .env = proc_env, .writable = dirs};
    int good = 0, started = 0;

    for (int i = 0; i < MANY; i++)
        started += proc_seen_start(w, &seen[i], &spec, NULL) == WEND_OK;
    tap_is_i64(started, MANY, "a thousand at once");
    for (int i = 0; i < MANY; i++) {
        proc_seen_wait(w, &seen[i]);
        good += seen[i].ends == 1 && seen[i].how == PROC_EXITED &&
                seen[i].code == 0;
        proc_seen_free(&seen[i]);
    }
    tap_is_i64(good, MANY, "and all are well");
}

int main(void)
{
    struct proc_world w;

    proc_world_begin(&w);
    dup2(1, 50); /* one that stays open over exec */
    test_ends(&w);
    test_not_started(&w);
    test_alone(&w);
    test_input(&w);
    test_output_bound(&w);
    test_limits(&w);
    test_memory(&w);
    test_many(&w);
    proc_world_end(&w);
    return tap_done();
}

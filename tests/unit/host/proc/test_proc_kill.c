/*
 * test_proc_kill.c - nothing survives: not a stop, not a deadline, not the
 * end of the program, not the death of the host.
 */
#include "nobody_help.h"
#include "proc_help.h"

#include <limits.h>
#include <poll.h>
#include <sys/wait.h>

/* This program is also a tool: with the word hop it is many that fork and end
 * without end, so that a list of processes does not find them. */

/* What is late by less is only slow; what stays would stay for 1000 s. */
enum { GRACE_MS = 300, SLACK_MS = 20000, SEED = 4711 };

/* A word that only the processes of one row have. */
static void make_mark(char *out, size_t size)
{
    static int next;

    snprintf(out, size, "wend-mark-%d-%d", getpid(), ++next);
}

/* Each is run as `sh -c TEXT MARK`, so all have the mark in MARK=... Those for
 * whom SIGTERM is not enough say so, once they mind it no more. */
static const struct {
    const char *why, *text;
    bool mild; /* SIGTERM is enough */
} trees[] = {
    {"one", "sleep 1000", true},
    {"one that ignores TERM", "trap '' TERM; echo; sleep 1000; sleep 1000",
     false},
    {"a pipe", "sleep 1000 | sleep 1000", true},
    {"another session", "setsid -f sh -c 'sleep 1000'; sleep 1000", true},
    {"another session that ignores TERM",
     "setsid -f sh -c 'trap \"\" TERM HUP INT; echo; sleep 1000; "
     "sleep 1000'; sleep 1000",
     false},
    {"twice forked",
     "(setsid sh -c 'sleep 1000 & sleep 1000 &' &) ; sleep 1000", true},
    {"a chain of sessions",
     "setsid -f sh -c \"trap '' TERM; setsid -f sh -c \\\"trap '' TERM; "
     "echo; sleep 1000; sleep 1000\\\"; sleep 1000; sleep 1000\"; sleep 1000",
     false},
    {"a stopped one", "sh -c 'kill -STOP $$'; sleep 1000", true},
    {"one that starts others when it ends",
     "trap 'setsid -f sleep 1000; setsid -f sleep 1000; exit' TERM; "
     "echo; sleep 1000 & wait",
     false},
    {"one that always starts others",
     "trap '' TERM; echo; (while :; do setsid -f sleep 0.2; sleep 0.01; done) "
     "& "
     "while :; do setsid -f sleep 0.2; sleep 0.01; done",
     false},
    {"many",
     "for i in 1 2 3 4 5 6 7 8 9 10; do setsid -f sleep 1000; "
     "sleep 1000 & done; wait",
     true},
};

static void spin(struct proc_world *w, int64_t ms)
{
    int64_t until_ms = proc_now_ms() + ms, left_ms;

    while ((left_ms = until_ms - proc_now_ms()) > 0)
        loop_turn(w->loop, (int)left_ms); /* below 0 it would wait forever */
}

static void start_marked(struct proc_world *w, struct proc_seen *s,
                         const char *text, const char *mark,
                         struct proc_spec spec)
{
    char word[80];
    const char *env[] = {"PATH=/usr/bin:/bin", word, NULL};

    snprintf(word, sizeof word, "MARK=%s", mark);
    spec.env = env;
    spec.grace_ms = GRACE_MS;
    proc_sh(w, s, text, &spec);
}

/* Until they are there; a failure is seen by the checks that follow. */
static void await_marked(struct proc_world *w, const char *mark)
{
    int64_t until_ms = proc_now_ms() + SLACK_MS;

    while (!proc_count_marked(mark) && proc_now_ms() < until_ms)
        spin(w, 10);
    spin(w, 150);
}

static int await_none(struct proc_world *w, const char *mark)
{
    int64_t until_ms = proc_now_ms() + SLACK_MS;
    int left;

    while ((left = proc_count_marked(mark)) && proc_now_ms() < until_ms)
        spin(w, 5);
    return left;
}

static void test_stop(struct proc_world *w, bool off)
{
    for (size_t i = 0; i < tap_count(trees); i++) {
        struct proc_spec spec = {.sandbox_off = off};
        struct proc_seen s;
        char mark[64];
        int64_t took_ms;
        int before;

        make_mark(mark, sizeof mark);
        start_marked(w, &s, trees[i].text, mark, spec);
        await_marked(w, mark);
        took_ms = proc_now_ms();
        while (!trees[i].mild && !s.bytes && proc_now_ms() < took_ms + SLACK_MS)
            spin(w, 10);
        before = proc_count_marked(mark);
        took_ms = proc_now_ms();
        proc_stop(s.proc);
        proc_seen_wait(w, &s);
        took_ms = proc_now_ms() - took_ms;
        tap_ok(before > 0 && !proc_count_marked(mark),
               "stopped%s: %s: none of %d is left", off ? ", no sandbox" : "",
               trees[i].why, before);
        tap_ok(s.ends == 1 && s.how == PROC_STOPPED, "and is told so: %s",
               s.message);
        tap_ok(trees[i].mild
                   ? took_ms < GRACE_MS + SLACK_MS
                   : took_ms >= GRACE_MS - 5 && took_ms < GRACE_MS + SLACK_MS,
               "in time (%d ms)", (int)took_ms);
        proc_seen_free(&s);
    }
}

static void test_deadline(struct proc_world *w)
{
    for (size_t i = 0; i < tap_count(trees); i++) {
        struct proc_spec spec = {.deadline_ms = 200};
        struct proc_seen s;
        char mark[64];

        make_mark(mark, sizeof mark);
        start_marked(w, &s, trees[i].text, mark, spec);
        proc_seen_wait(w, &s);
        tap_ok(s.ends == 1 && s.how == PROC_DEADLINE &&
                   !proc_count_marked(mark),
               "deadline: %s: %s", trees[i].why, s.message);
        proc_seen_free(&s);
    }
}

static int hop(bool sessions)
{
    enum { HOPPERS = 64 };

    signal(SIGTERM, SIG_IGN);
    for (int i = 0; i < HOPPERS; i++)
        if (!fork())
            for (;;) {
                if (sessions)
                    setsid();
                if (fork() > 0)
                    _exit(0);
            }
    for (;;)
        pause();
}

/* Those that a list of processes misses, or that leave no time to make one.
 * On a quiet machine all are gone 250 ms after the grace; here only that they
 * are gone in the time of SLACK_MS, which forking without end would exceed. */
static void test_quick(struct proc_world *w, bool off)
{
    static const struct {
        const char *why, *text;
    } rows[] = {
        {"hoppers", "exec ./hop hop"},
        {"hoppers, each in a session of its own", "exec ./hop hop sessions"},
        {"hoppers in another session", "setsid -f ./hop hop; sleep 1000"},
        {"a fork bomb", "b() { b | b & }; b; sleep 1000"},
        {"a fork bomb whose first has ended", "b() { b | b & }; b"},
        {"a fork bomb that ignores TERM",
         "trap '' TERM; b() { b | b & }; b; sleep 1000"},
    };
    char command[200];

    snprintf(command, sizeof command, "cp /proc/%d/exe %s/hop", getpid(),
             w->dir);
    tap_ok(!system(command), "a hopper");
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct proc_spec spec = {.deadline_ms = 500,
                                 .sandbox_off = off,
                                 .limits.memory_bytes = UINT64_MAX,
                                 .limits.tasks = PROC_TASKS};
        struct proc_seen s;
        char mark[64];
        int64_t took_ms = proc_now_ms();

        make_mark(mark, sizeof mark);
        start_marked(w, &s, rows[i].text, mark, spec);
        proc_seen_wait(w, &s);
        took_ms = proc_now_ms() - took_ms;
        tap_ok(s.ends == 1 && took_ms < SLACK_MS && !proc_count_marked(mark),
               "quick%s: %s: %d ms (%s)", off ? ", no sandbox" : "",
               rows[i].why, (int)took_ms, s.message);
        proc_seen_free(&s);
    }
}

/* The program ends and leaves others. */
static void test_left_over(struct proc_world *w)
{
    static const char *const rows[] = {
        "sleep 1000 & exit 5",
        "setsid -f sleep 1000; exit 5",
        "setsid -f sh -c 'trap \"\" TERM; sleep 1000; sleep 1000'; exit 5",
        "(sleep 1000 >/dev/null 2>&1 &) ; exit 5",
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct proc_spec spec = {0};
        struct proc_seen s;
        char mark[64];

        make_mark(mark, sizeof mark);
        start_marked(w, &s, rows[i], mark, spec);
        proc_seen_wait(w, &s);
        tap_ok(s.how == PROC_EXITED && s.code == 5 && !proc_count_marked(mark),
               "left over: %s", rows[i]);
        proc_seen_free(&s);
    }
}

/* A host of its own, which is killed; freed: it ends in good order. */
static void test_host_dies(struct proc_world *w, bool freed, bool off)
{
    for (size_t i = 0; i < tap_count(trees); i++) {
        char mark[64];
        int before, left, until[2];
        pid_t pid;

        make_mark(mark, sizeof mark);
        if (pipe2(until, O_CLOEXEC)) {
            tap_ok(false, "a pipe");
            return;
        }
        pid = fork();
        if (!pid) {
            struct pollfd closed = {.fd = until[0], .events = POLLIN};
            struct proc_world own;
            struct proc_seen s;
            struct proc_spec spec = {.sandbox_off = off, .cwd = w->dir};

            close(until[1]);
            proc_world_open(&own);
            snprintf(own.dir, sizeof own.dir, "%s", w->dir);
            start_marked(&own, &s, trees[i].text, mark, spec);
            while (!poll(&closed, 1, 0))
                spin(&own, 10);
            procs_free(own.procs);
            _exit(0);
        }
        close(until[0]);
        await_marked(w, mark);
        before = proc_count_marked(mark);
        if (!freed)
            kill(pid, SIGKILL);
        close(until[1]);
        waitpid(pid, NULL, 0);
        left = await_none(w, mark);
        tap_ok(before > 0 && !left, "the host %s%s: %s: %d of %d left",
               freed ? "frees all" : "dies", off ? ", no sandbox" : "",
               trees[i].why, left, before);
    }
}

/* Private folders go with their programs: none is kept for the next one. */
static void test_folders(struct proc_world *w)
{
    static const char *const rows[] = {"true", "touch $TMPDIR/f",
                                       "touch $TMPDIR/f; sleep 1000"};
    char tmp[80], mark[64];
    char usual[PATH_MAX];

    snprintf(usual, sizeof usual, "%s",
             getenv("TMPDIR") ? getenv("TMPDIR") : "");
    snprintf(tmp, sizeof tmp, "%s/tmp", w->dir);
    setenv("TMPDIR", tmp, 1);
    for (size_t i = 0; i < tap_count(rows); i++) {
        int64_t until_ms = proc_now_ms() + SLACK_MS;
        pid_t pid;

        make_mark(mark, sizeof mark);
        tap_ok(!mkdir(tmp, 0755), "an empty folder");
        pid = fork();
        if (!pid) {
            struct proc_world own;
            struct proc_seen s;

            proc_world_open(&own);
            snprintf(own.dir, sizeof own.dir, "%s", w->dir);
            start_marked(&own, &s, rows[i], mark, (struct proc_spec){0});
            for (int k = 0; k < 50; k++)
                loop_turn(own.loop, 10);
            kill(getpid(), SIGKILL);
        }
        waitpid(pid, NULL, 0);
        while (rmdir(tmp) && proc_now_ms() < until_ms)
            spin(w, 5);
        tap_ok(access(tmp, F_OK), "the host dies: no folder of '%s' is left",
               rows[i]);
    }
    if (usual[0])
        setenv("TMPDIR", usual, 1);
    else
        unsetenv("TMPDIR");
}

/* Stopped or freed at any moment, also while it starts or waits. */
static void test_any_moment(struct proc_world *w)
{
    enum { ROUNDS = 200 };
    unsigned seed = SEED;
    int good = 0;
    char mark[64];

    make_mark(mark, sizeof mark);
    for (int i = 0; i < ROUNDS; i++) {
        struct proc_spec spec = {.sandbox_off = i & 1};
        struct proc_seen s;
        struct timespec pause = {0};

        seed = seed * 1103515245 + 12345;
        pause.tv_nsec = (seed >> 8) % 4000000;
        start_marked(w, &s, trees[seed >> 16 & 3].text, mark, spec);
        nanosleep(&pause, NULL);
        if (seed >> 20 & 1)
            loop_turn(w->loop, 0);
        if (seed >> 21 & 1) {
            proc_free(s.proc);
            s.proc = NULL;
            good++;
        } else {
            proc_stop(s.proc);
            proc_seen_wait(w, &s);
            good += s.ends == 1 && s.how == PROC_STOPPED;
        }
        proc_seen_free(&s);
    }
    tap_is_i64(good, ROUNDS, "each has one end");
    tap_is_i64(await_none(w, mark), 0, "and nobody is left");
}

static void test_waiting(struct proc_world *w)
{
    enum { MANY = PROC_RUNNING_MAX + 20 };
    static struct proc_seen seen[MANY];
    int stopped = 0;
    char mark[64];

    make_mark(mark, sizeof mark);
    for (int i = 0; i < MANY; i++)
        start_marked(w, &seen[i], "sleep 1000", mark, (struct proc_spec){0});
    for (int i = MANY - 1; i >= 0; i--) {
        proc_stop(seen[i].proc);
        tap_ok(!seen[i].ends, "no event from inside");
    }
    for (int i = 0; i < MANY; i++) {
        proc_seen_wait(w, &seen[i]);
        stopped += seen[i].ends == 1 && seen[i].how == PROC_STOPPED;
        proc_seen_free(&seen[i]);
    }
    tap_is_i64(stopped, MANY, "those that wait are stopped, too");
    tap_is_i64(proc_count_marked(mark), 0, "and none is left");
}

int main(int argc, char **argv)
{
    struct proc_world w;

    if (argc > 1 && !strcmp(argv[1], "hop"))
        return hop(argc > 2);
    proc_world_begin(&w);
    test_quick(&w, false);
    test_quick(&w, true);
    if (getenv("WEND_SETUID")) { /* as nobody: what root's rights help with */
        proc_world_end(&w);
        return tap_done();
    }
    test_stop(&w, false);
    test_stop(&w, true);
    test_deadline(&w);
    test_left_over(&w);
    test_host_dies(&w, false, false);
    test_host_dies(&w, false, true);
    test_host_dies(&w, true, false);
    test_folders(&w);
    test_any_moment(&w);
    test_waiting(&w);
    proc_world_end(&w);
    if (!geteuid())
        as_nobody();
    return tap_done();
}

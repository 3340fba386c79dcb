/*
 * proc_bench.c - what a sandboxed start costs beside a plain one, and how
 * long a thousand at once take; with a FOLDER, what it costs there to guard
 * its repositories. One JSON line.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/proc/proc.h"

enum { STARTS = 1000, MANY = 1000 };

static const char *const true_argv[] = {"/bin/true", NULL};
static const char *const true_env[] = {"PATH=/usr/bin:/bin", NULL};
static const char *true_dirs[2]; /* an empty folder: the guard walks it */

static struct proc_spec true_spec = {
    .argv = true_argv, .env = true_env, .cwd = "/", .writable = true_dirs};

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void plain(void)
{
    char name[] = "/bin/true", *argv[] = {name, NULL}, *env[] = {NULL};
    int status = 0;
    pid_t pid;

    if (posix_spawn(&pid, name, NULL, NULL, argv, env) ||
        waitpid(pid, &status, 0) != pid || status)
        exit(1);
}

static double heard_us; /* when a program last wrote something */

static void on_out(void *ctx, int stream, const char *p, size_t len)
{
    (void)ctx, (void)stream, (void)p;
    if (len)
        heard_us = now_us();
}

static void on_end(void *ctx, const struct proc_end *e)
{
    int *left = ctx;

    --*left;
    if (e->how != PROC_EXITED || e->code) {
        fprintf(stderr, "proc_bench: %s\n", e->message);
        exit(1);
    }
}

static const struct proc_events events = {on_out, on_end};

static void sandboxed(struct procs *ps, struct loop *loop, int count)
{
    static struct proc *procs[MANY];
    int left = count;
    wend_error err;

    for (int i = 0; i < count; i++)
        if (proc_start(ps, &true_spec, &events, &left, &procs[i], &err)) {
            fprintf(stderr, "proc_bench: %s\n", err.message);
            exit(1);
        }
    while (left)
        loop_turn(loop, 1000);
    for (int i = 0; i < count; i++)
        proc_free(procs[i]);
}

static void fewer(double *least, double value)
{
    if (value < *least)
        *least = value;
}

/* In turn, the best of each: both see the same noise. Until the first line of
 * a program is heard, and until its end. */
static void in_folder(struct procs *ps, struct loop *loop, const char *folder)
{
    static const char *const echo_argv[] = {"/bin/echo", "x", NULL};
    double start_us[2] = {1e9, 1e9}, whole_us[2] = {1e9, 1e9};

    true_dirs[0] = true_spec.cwd = folder;
    true_spec.argv = echo_argv;
    for (int i = 0; i < STARTS; i++) {
        double us = now_us();

        true_spec.git_writable = i % 2 == 0;
        sandboxed(ps, loop, 1);
        fewer(&start_us[i % 2], heard_us - us);
        fewer(&whole_us[i % 2], now_us() - us);
    }
    printf("{\"start_us\":%.0f,\"whole_us\":%.0f,"
           "\"start_more_us\":%.0f,\"whole_more_us\":%.0f}\n",
           start_us[0], whole_us[0], start_us[1] - start_us[0],
           whole_us[1] - whole_us[0]);
}

int main(int argc, char **argv)
{
    double plain_us = 1e9, sandboxed_us = 1e9; /* the best of each */
    char empty[] = "/tmp/wend-proc-bench-XXXXXX";
    struct mem m = {0};
    struct loop *loop;
    struct procs *ps;
    double many_us;

    if (loop_new(&m, &loop, NULL) || procs_new(&m, loop, &ps, NULL))
        return 1;
    if (argc > 1) {
        in_folder(ps, loop, argv[1]);
        procs_free(ps);
        loop_free(loop);
        return 0;
    }
    true_dirs[0] = mkdtemp(empty);
    if (!true_dirs[0])
        return 1;
    for (int i = 0; i < STARTS; i++) { /* in turn: both see the same noise */
        double a = now_us(), b, c;

        plain();
        b = now_us();
        sandboxed(ps, loop, 1);
        c = now_us();
        fewer(&plain_us, b - a);
        fewer(&sandboxed_us, c - b);
    }
    many_us = now_us();
    sandboxed(ps, loop, MANY);
    many_us = now_us() - many_us;
    printf("{\"plain_us\":%.0f,\"sandboxed_us\":%.0f,\"many_us\":%.0f}\n",
           plain_us, sandboxed_us, many_us / MANY);
    rmdir(empty);
    procs_free(ps);
    loop_free(loop);
    return 0;
}

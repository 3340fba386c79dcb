/*
 * proc_help.h - programs on a loop of their own, for tests.
 */
#ifndef TESTS_PROC_HELP_H
#define TESTS_PROC_HELP_H

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "host/proc/proc.h"
#include "tap.h"

enum { WAIT_MAX_MS = 30000 };

struct proc_world {
    struct mem mem;
    struct loop *loop;
    struct procs *procs;
    char dir[64]; /* the workspace */
};

struct proc_seen {
    struct proc *proc;
    struct buf out[3];
    bool keep; /* the output, else only its length */
    size_t bytes;
    int ends;
    enum proc_how how;
    int code;
    char message[600];
};

static inline int64_t proc_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static inline void on_proc_out(void *ctx, int stream, const char *p, size_t len)
{
    struct proc_seen *s = ctx;

    s->bytes += len;
    if (s->keep)
        buf_add(&s->out[stream], p, len);
}

static inline void on_proc_end(void *ctx, const struct proc_end *e)
{
    struct proc_seen *s = ctx;

    s->ends++;
    s->how = e->how;
    s->code = e->code;
    snprintf(s->message, sizeof s->message, "%s", e->message);
}

static const struct proc_events proc_seen_events = {on_proc_out, on_proc_end};
static const char *const proc_env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};

/* Without a workspace. */
static inline void proc_world_open(struct proc_world *w)
{
    *w = (struct proc_world){0};
    if (loop_new(&w->mem, &w->loop, NULL) != WEND_OK ||
        procs_new(&w->mem, w->loop, &w->procs, NULL) != WEND_OK) {
        tap_ok(false, "a loop");
        exit(1);
    }
}

static inline void proc_world_begin(struct proc_world *w)
{
    proc_world_open(w);
    snprintf(w->dir, sizeof w->dir, "/tmp/wend-test-XXXXXX");
    if (!mkdtemp(w->dir) || chmod(w->dir, 0755)) {
        tap_ok(false, "a workspace");
        exit(1);
    }
}

static inline void proc_world_end(struct proc_world *w)
{
    char command[100];

    procs_free(w->procs);
    loop_free(w->loop);
    snprintf(command, sizeof command, "rm -rf '%s'", w->dir);
    tap_ok(!system(command), "the workspace can be removed");
}

static inline wend_status proc_seen_start(struct proc_world *w,
                                          struct proc_seen *s,
                                          const struct proc_spec *spec,
                                          wend_error *err)
{
    *s = (struct proc_seen){.keep = true};
    for (int i = 0; i < 3; i++)
        s->out[i].mem = &w->mem;
    return proc_start(w->procs, spec, &proc_seen_events, s, &s->proc, err);
}

static inline void proc_seen_wait(struct proc_world *w, struct proc_seen *s)
{
    int64_t until_ms = proc_now_ms() + WAIT_MAX_MS;

    while (!s->ends && proc_now_ms() < until_ms)
        loop_turn(w->loop, 100);
}

static inline void proc_seen_free(struct proc_seen *s)
{
    proc_free(s->proc);
    for (int i = 0; i < 3; i++)
        buf_free(&s->out[i]);
}

/* Runs sh -c text in the workspace; the spec may say more. */
static inline void proc_sh(struct proc_world *w, struct proc_seen *s,
                           const char *text, const struct proc_spec *more)
{
    const char *argv[] = {"sh", "-c", text, NULL};
    const char *dirs[] = {w->dir, NULL};
    struct proc_spec spec = more ? *more : (struct proc_spec){0};
    wend_error err = {0};

    spec.argv = argv;
    if (!spec.cwd)
        spec.cwd = w->dir;
    if (!spec.env)
        spec.env = proc_env;
    if (!spec.writable)
        spec.writable = dirs;
    if (proc_seen_start(w, s, &spec, &err) != WEND_OK) {
        s->ends = 1;
        s->how = PROC_NOT_STARTED;
        snprintf(s->message, sizeof s->message, "%s", err.message);
    }
}

/* How many processes have this word in their arguments or environment. */
static inline int proc_count_marked(const char *word)
{
    DIR *d = opendir("/proc");
    struct dirent *e;
    int found = 0;

    while (d && (e = readdir(d))) {
        static const char *const files[] = {"cmdline", "environ"};
        bool has = false;

        if (e->d_name[0] < '0' || e->d_name[0] > '9' ||
            atoi(e->d_name) == getpid())
            continue;
        for (int i = 0; i < 2; i++) {
            char path[300], text[16384];
            ssize_t n;
            int fd;

            snprintf(path, sizeof path, "/proc/%s/%s", e->d_name, files[i]);
            fd = open(path, O_RDONLY);
            n = fd < 0 ? 0 : read(fd, text, sizeof text);
            has |= n > 0 && memmem(text, (size_t)n, word, strlen(word));
            if (fd >= 0)
                close(fd);
        }
        found += has;
    }
    if (d)
        closedir(d);
    return found;
}

#endif

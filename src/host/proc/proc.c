/*
 * proc.c - programs on the loop: the queue, their streams, their ends.
 *
 *     waiting --a place is free--> running --report--> ended --> reaped
 *
 * A program is over when its supervisor reports that the tree is gone, and the
 * pipes then hold all its output; the supervisor itself may stay a little
 * longer to remove the private folder.
 */
#include "host/proc/proc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "host/proc/proc_pool.h"

enum {
    FREE_WAIT_MS = 5000,       /* for what is killed when all is freed */
    DRAIN_BYTES_MAX = 1 << 20, /* the most that a pipe can hold */
};

/* ---- Ends ---------------------------------------------------------------- */

static void kick(struct programs *ps)
{
    if (!ps->closing)
        uv_timer_start(&ps->kick, ps->on_kick, 0, 0);
}

static void say(struct program *p, enum proc_how how, int code,
                const char *text)
{
    p->end.how = how;
    p->end.code = code;
    utf8_fmt(p->message, sizeof p->message, "%s: %s", p->program, text);
}

static void say_status(struct program *p, int status)
{
    char text[80];

    if (WIFEXITED(status)) {
        snprintf(text, sizeof text, "exit code %d", WEXITSTATUS(status));
        say(p, PROC_EXITED, WEXITSTATUS(status), text);
        if (!WEXITSTATUS(status))
            p->message[0] = 0;
    } else {
        utf8_fmt(text, sizeof text, "ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
        say(p, PROC_SIGNALED, WTERMSIG(status), text);
    }
}

static void on_gone(struct program *p, const struct super_report *r)
{
    static const struct {
        enum proc_how how;
        const char *text;
    } ends[] = {
        [SUPER_STOPPED] = {PROC_STOPPED, "stopped"},
        [SUPER_DEADLINE] = {PROC_DEADLINE,
                            "it ran until its deadline and was stopped"},
        [SUPER_TASKS] = {PROC_CROWD,
                         "it started too many processes or threads and was "
                         "killed (its limit: tasks)"},
        [SUPER_MEMORY] = {PROC_MEMORY,
                          "it used too much memory, with all that it started, "
                          "and was killed (its limit: memory)"},
        [SUPER_DISK] = {PROC_DISK,
                        "it wrote too much to disk, with all that it started, "
                        "and was killed (its limit: disk)"},
    };
    unsigned why = (unsigned)r->b;
    char text[120];

    if (p->over) {
        utf8_fmt(text, sizeof text,
                 "it wrote more than %zu bytes to standard %s and was killed",
                 p->bytes_max, p->over == 1 ? "output" : "error");
        say(p, PROC_OUTPUT, 0, text);
    } else if (why < sizeof ends / sizeof *ends && ends[why].text) {
        say(p, ends[why].how, 0, ends[why].text);
    } else {
        say_status(p, r->a);
    }
}

static void on_failed(struct program *p, const struct super_report *r)
{
    p->end.how = PROC_NOT_STARTED;
    launch_say(r, p->program, p->cwd, p->message, sizeof p->message);
}

/* No word of the tree: what is known of it is killed from here. */
static void on_lost(struct program *p)
{
    if (p->child > 0)
        kill(-p->child, SIGKILL);
    say(p, PROC_LOST, 0,
        "its supervisor was killed from outside; some of what it started may "
        "still run");
}

static void tell_end(struct program *p)
{
    struct programs *ps = p->ps;

    if (p->told)
        return;
    p->told = true;
    for (int i = IN; i <= CONTROL; i++)
        line_close(&p->lines[i]);
    if (p->counted)
        ps->running--;
    p->counted = false;
    if (ps->queue)
        kick(ps);
    p->end.message = p->message;
    if (p->freed)
        return;
    uv_stop(ps->uv);
    p->events.end(p->ctx, &p->end);
}

/* ---- Reports ------------------------------------------------------------- */

static void drain(struct program *p)
{
    for (int i = OUT; i <= ERR; i++) {
        size_t before = p->got[i];

        while (p->got[i] - before < DRAIN_BYTES_MAX && line_read(p, i))
            ;
    }
}

static void finish(struct program *p, const struct super_report *r)
{
    if (p->state == ENDED)
        return;
    p->state = ENDED;
    drain(p);
    if (!r)
        on_lost(p);
    else if (r->kind == SUPER_GONE)
        on_gone(p, r);
    else
        on_failed(p, r);
    tell_end(p);
}

/* As if the program had said it: its user sees it where its errors are. */
static void on_told(struct program *p, const struct super_report *r,
                    wend_str path)
{
    static const char *const rows[] = {
        [SUPER_GIT_RESTORED] = "was changed by the program and put back",
        [SUPER_GIT_SET_ASIDE] = "was made by the program and set aside "
                                "(NAME.refused)",
        [SUPER_GIT_FAILED] = "was changed by the program and could not be "
                             "put back: look at it before git runs",
        [SUPER_NOT_HIDDEN] = "is kept from reading by a rule, but can be read "
                             "by programs",
    };
    static const char allows[] =
        "a rule that names it, such as write_file(.git/*), allows this";
    char text[SUPER_TOLD_MAX + 300];
    int len;

    drain(p); /* what it said itself comes first */
    if (p->freed || (unsigned)r->a >= sizeof rows / sizeof *rows)
        return;
    len = snprintf(text, sizeof text, "wend: %.*s %s; %s\n", (int)path.len,
                   path.ptr, rows[r->a],
                   r->a == SUPER_NOT_HIDDEN
                       ? "no mount namespace can be made here"
                       : allows);
    p->events.out(p->ctx, 2, text, (size_t)len);
}

static void on_control(uv_poll_t *poll, int status, int events)
{
    struct proc_line *l = poll->data;
    struct program *p = l->proc;
    struct {
        struct super_report r;
        char path[SUPER_TOLD_MAX];
    } m;

    (void)status, (void)events;
    while (l->fd >= 0) {
        ssize_t n = recv(l->fd, &m, sizeof m, 0);

        /* Reset: it left an order unread, and its report comes next. */
        if (n < 0 && (errno == EINTR || errno == ECONNRESET))
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < (ssize_t)sizeof m.r)
            finish(p, NULL);
        else if (m.r.kind == SUPER_STARTED)
            p->child = m.r.a;
        else if (m.r.kind == SUPER_TOLD)
            on_told(p, &m.r, (wend_str){m.path, (size_t)n - sizeof m.r});
        else
            finish(p, &m.r);
    }
}

/* By its descriptor: where the host reaps all children (waitpid(-1), or it
 * ignores SIGCHLD), the number may be that of another child by now. How the
 * program ended is in the supervisor's report. */
static void reap(struct program *p)
{
    siginfo_t how;

    if (p->lines[PID].fd < 0)
        return;
    if (waitid(P_PIDFD, (id_t)p->lines[PID].fd, &how, WEXITED | WNOHANG) &&
        errno == EINVAL)
        waitpid(p->pid, NULL, WNOHANG); /* Linux 5.3 */
    line_close(&p->lines[PID]);
}

/* The supervisor has ended, and has said before what there was to say. */
static void on_exit_seen(uv_poll_t *poll, int status, int events)
{
    struct proc_line *l = poll->data;
    struct program *p = l->proc;

    if (p->lines[CONTROL].fd >= 0)
        on_control(&p->lines[CONTROL].poll, status, events);
    reap(p);
}

/* ---- The queue ----------------------------------------------------------- */

static wend_status run(struct program *p, wend_error *err)
{
    struct launched l;
    wend_status s = WEND_OK, bad;

    s = launch(p->ps->image_fd, buf_view(&p->packed), buf_view(&p->input),
               p->input_open, &l, err);
    buf_free(&p->packed);
    if (s != WEND_OK) {
        return s;
    }
    if (!p->input_open)
        buf_free(&p->input);
    p->state = RUNNING;
    p->pid = l.pid;
    bad = l.pid_fd < 0 ? WEND_OK
                       : line_open(p, PID, l.pid_fd, UV_READABLE, on_exit_seen);
    bad |= line_open(p, CONTROL, l.control, UV_READABLE, on_control);
    bad |= line_open(p, OUT, l.out, UV_READABLE, on_line_output);
    bad |= line_open(p, ERR, l.err, UV_READABLE, on_line_output);
    bad |=
        line_open(p, IN, l.in, p->input.len || p->input_ends ? UV_WRITABLE : 0,
                  on_line_input);
    if (!bad)
        return WEND_OK;
    for (int i = 0; i < LINES; i++) /* the supervisor kills what it began */
        line_close(&p->lines[i]);
    waitpid(p->pid, NULL, 0);
    p->state = ENDED;
    return fail(err, WEND_E_IO, "%s: it cannot be watched", p->program);
}

static void queue_put(struct programs *ps, struct program *p)
{
    p->queue_next = NULL;
    *ps->queue_end = p;
    ps->queue_end = &p->queue_next;
}

static struct program **list_out(struct program **at, struct program *p)
{
    while (*at != p)
        at = &(*at)->queue_next;
    *at = p->queue_next;
    return at;
}

static void queue_out(struct program *p)
{
    struct program **at = list_out(&p->ps->queue, p);

    if (!*at)
        p->ps->queue_end = at;
}

static void start_next(struct programs *ps)
{
    struct program *p = ps->queue;
    wend_error err = {0};

    queue_out(p);
    ps->running++;
    p->counted = true;
    if (run(p, &err) == WEND_OK)
        return;
    p->state = ENDED;
    p->end = (struct proc_end){.how = PROC_NOT_STARTED};
    utf8_fmt(p->message, sizeof p->message, "%s", err.message);
    tell_end(p);
}

static void on_kick(uv_timer_t *t)
{
    struct programs *ps = t->data;
    struct program *p;

    while ((p = ps->stopped)) {
        ps->stopped = p->queue_next;
        p->state = ENDED;
        say(p, PROC_STOPPED, 0, "stopped before it started");
        tell_end(p);
    }
    while (ps->queue && ps->running < PROC_RUNNING_MAX)
        start_next(ps);
}

/* ---- Public -------------------------------------------------------------- */

static void on_kick_closed(uv_handle_t *h)
{
    struct programs *ps = h->data;

    ps->kick_open = false;
    procs_release(ps);
}

static void let_go(struct proc *base)
{
    struct program *p = (struct program *)(void *)base;

    if (p->freed)
        return;
    p->freed = true;
    if (p->state == WAITING && p->stopped)
        list_out(&p->ps->stopped, p);
    else if (p->state == WAITING)
        queue_out(p);
    p->state = ENDED;
    tell_end(p); /* without a listener; closes the control socket */
    proc_release(p);
}

/* All are being killed; each is waited for until the time is up. */
static void wait_all(struct programs *ps)
{
    struct timespec now;
    int64_t until_ms, now_ms;

    clock_gettime(CLOCK_MONOTONIC, &now);
    until_ms = now.tv_sec * 1000 + now.tv_nsec / 1000000 + FREE_WAIT_MS;
    for (struct program *p = ps->all; p; p = p->next) {
        struct pollfd fd = {.fd = p->lines[PID].fd, .events = POLLIN};

        clock_gettime(CLOCK_MONOTONIC, &now);
        now_ms = now.tv_sec * 1000 + now.tv_nsec / 1000000;
        if (fd.fd >= 0)
            poll(&fd, 1, until_ms > now_ms ? (int)(until_ms - now_ms) : 0);
        reap(p);
    }
}

static void free_all(struct procs *base)
{
    struct programs *ps = (struct programs *)(void *)base;

    ps->closing = true;
    for (struct program *p = ps->all, *next; p; p = next) {
        next = p->next;
        let_go(&p->base);
    }
    wait_all(ps);
    uv_close((uv_handle_t *)&ps->kick, on_kick_closed);
}

static wend_status fill(struct program *p, const struct proc_spec *spec,
                        wend_error *err)
{
    struct programs *ps = p->ps;
    wend_status s;

    p->packed.mem = p->input.mem = &ps->mem;
    s = launch_pack(spec, &p->packed, err);
    if (s != WEND_OK)
        return s;
    buf_str(&p->input, spec->input_open ? STR_NONE : spec->input);
    if (p->input.failed)
        return fail_nomem(err);
    p->input_open = spec->input_open;
    p->bytes_max =
        spec->output_bytes_max ? spec->output_bytes_max : PROC_OUTPUT_MAX;
    utf8_fmt(p->program, sizeof p->program, "%s", spec->argv[0]);
    utf8_fmt(p->cwd, sizeof p->cwd, "%s", spec->cwd);
    for (int i = 0; i < LINES; i++)
        p->lines[i].fd = -1;
    return WEND_OK;
}

/* A program with open input may live long: it takes no place of others. */
static wend_status start(struct procs *base, const struct proc_spec *spec,
                         const struct proc_events *events, void *ctx,
                         struct proc **out, wend_error *err)
{
    struct programs *ps = (struct programs *)(void *)base;
    struct program *p = mem_zalloc(&ps->mem, sizeof *p);
    wend_status s;

    if (!p)
        return fail_nomem(err);
    p->base.ops = ps->base.ops;
    p->ps = ps;
    p->events = *events;
    p->ctx = ctx;
    s = fill(p, spec, err);
    if (s == WEND_OK && ps->image_fd < 0)
        s = launch_image(&ps->image_fd, err);
    p->next = ps->all;
    if (p->next)
        p->next->prev = p;
    ps->all = p;
    ps->count++;
    if (s == WEND_OK && !p->input_open &&
        (ps->queue || ps->running >= PROC_RUNNING_MAX)) {
        queue_put(ps, p);
    } else if (s == WEND_OK && (s = run(p, err)) == WEND_OK) {
        p->counted = !p->input_open;
        ps->running += p->counted;
    }
    if (s == WEND_OK) {
        *out = &p->base;
        return s;
    }
    p->state = ENDED;
    p->told = true;
    let_go(&p->base);
    return s;
}

static wend_status write_input(struct proc *base, const char *bytes, size_t len,
                               wend_error *err)
{
    struct program *p = (struct program *)(void *)base;

    if (p->input_ends || p->lines[IN].fd < 0)
        return fail(err, WEND_E_IO, "%s: it does not read any more",
                    p->program);
    if (len > PROC_INPUT_QUEUE_MAX ||
        p->input.len - p->input_at > PROC_INPUT_QUEUE_MAX - len)
        return fail(err, WEND_E_LIMIT,
                    "%s: %zu bytes wait to be read by it, at most %d",
                    p->program, p->input.len - p->input_at + len,
                    PROC_INPUT_QUEUE_MAX);
    if (p->input_at > p->input.len / 2) { /* what was taken makes room */
        memmove(p->input.ptr, p->input.ptr + p->input_at,
                p->input.len - p->input_at);
        p->input.len -= p->input_at;
        p->input_at = 0;
    }
    buf_add(&p->input, bytes, len);
    if (p->input.failed)
        return fail_nomem(err);
    uv_poll_start(&p->lines[IN].poll, UV_WRITABLE, on_line_input);
    return WEND_OK;
}

static void close_input(struct proc *base)
{
    struct program *p = (struct program *)(void *)base;

    p->input_ends = true;
    if (p->lines[IN].fd < 0)
        return;
    if (p->input_at < p->input.len)
        return; /* on_line_input closes it */
    line_close(&p->lines[IN]);
}

static void stop(struct proc *base)
{
    struct program *p = (struct program *)(void *)base;

    if (p->stopped || p->state == ENDED)
        return;
    p->stopped = true;
    if (p->state == RUNNING) {
        line_order(p, SUPER_STOP);
        return;
    }
    queue_out(p);
    p->queue_next = p->ps->stopped;
    p->ps->stopped = p;
    kick(p->ps);
}

static bool hide(struct procs *base)
{
    struct programs *ps = (struct programs *)base;

    if (!ps->hide_asked)
        ps->hides = (ps->image_fd >= 0 ||
                     launch_image(&ps->image_fd, NULL) == WEND_OK) &&
                    launch_can_hide(ps->image_fd);
    ps->hide_asked = true;
    return ps->hides;
}

static const struct proc_ops ops = {free_all, start,  write_input, close_input,
                                    stop,     let_go, hide};

wend_status procs_new(const struct mem *m, struct loop *loop,
                      struct procs **out, wend_error *err)
{
    struct programs *ps = mem_zalloc(m, sizeof *ps);

    if (!ps)
        return fail_nomem(err);
    ps->base.ops = &ops;
    ps->mem = *m;
    ps->uv = loop_uv(loop);
    ps->image_fd = -1; /* with the first program */
    ps->queue_end = &ps->queue;
    ps->room = mem_alloc(m, READ_BYTES);
    if (!ps->room) {
        mem_free(m, ps);
        return fail_nomem(err);
    }
    uv_timer_init(ps->uv, &ps->kick);
    ps->kick.data = ps;
    ps->on_kick = on_kick;
    ps->kick_open = true;
    *out = &ps->base;
    return WEND_OK;
}

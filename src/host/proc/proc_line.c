/*
 * proc_line.c - a program's descriptors on the loop, and its memory.
 *
 * A callback may free the program: its memory stays until the last of its
 * handles is closed, which is never from inside one.
 */
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "host/proc/proc_pool.h"

enum { READS_A_TURN = 16 }; /* of a stream, then others have their turn */

/* ---- Memory -------------------------------------------------------------- */

void procs_release(struct programs *ps)
{
    struct mem m = ps->mem;

    if (!ps->closing || ps->count || ps->kick_open)
        return;
    if (ps->image_fd >= 0)
        close(ps->image_fd);
    mem_free(&m, ps->room);
    mem_free(&m, ps);
}

void proc_release(struct program *p)
{
    struct programs *ps = p->ps;

    if (!p->freed || p->handles || p->state == WAITING)
        return;
    if (p->prev)
        p->prev->next = p->next;
    else
        ps->all = p->next;
    if (p->next)
        p->next->prev = p->prev;
    buf_free(&p->packed);
    buf_free(&p->input);
    mem_free(&ps->mem, p);
    ps->count--;
    procs_release(ps);
}

static void on_line_closed(uv_handle_t *h)
{
    struct proc_line *l = h->data;

    l->proc->handles--;
    proc_release(l->proc);
}

void line_close(struct proc_line *l)
{
    if (l->fd < 0)
        return;
    uv_close((uv_handle_t *)&l->poll, on_line_closed);
    close(l->fd);
    l->fd = -1;
}

wend_status line_open(struct program *p, int i, int fd, int events,
                      uv_poll_cb fn)
{
    struct proc_line *l = &p->lines[i];

    if (fd < 0)
        return WEND_OK;
    if (uv_poll_init(p->ps->uv, &l->poll, fd)) {
        close(fd);
        return WEND_E_IO;
    }
    l->proc = p;
    l->fd = fd;
    l->poll.data = l;
    p->handles++;
    if (events && uv_poll_start(&l->poll, events, fn))
        return WEND_E_IO;
    return WEND_OK;
}

void line_order(struct program *p, enum super_order what)
{
    char c = (char)what;

    if (p->lines[CONTROL].fd >= 0)
        send(p->lines[CONTROL].fd, &c, 1, MSG_NOSIGNAL);
}

/* ---- Streams ------------------------------------------------------------- */

bool line_read(struct program *p, int i)
{
    struct proc_line *l = &p->lines[i];
    size_t room;
    ssize_t n;

    if (l->fd < 0)
        return false;
    n = read(l->fd, p->ps->room, READ_BYTES);
    if (n < 0)
        return errno == EINTR;
    if (n == 0) {
        line_close(l);
        return false;
    }
    room = p->bytes_max - p->got[i];
    if ((size_t)n > room) {
        p->over = i;
        n = (ssize_t)room;
        line_close(l);
        line_order(p, SUPER_KILL);
    }
    p->got[i] += (size_t)n;
    if (!p->freed && n)
        p->events.out(p->ctx, i, p->ps->room, (size_t)n);
    return true;
}

void on_line_output(uv_poll_t *poll, int status, int events)
{
    struct proc_line *l = poll->data;
    struct program *p = l->proc;
    int i = (int)(l - p->lines);

    (void)status, (void)events;
    for (int k = 0; k < READS_A_TURN && line_read(p, i); k++)
        ;
    if (l->fd >= 0 && status < 0)
        line_close(l);
}

/* SIGPIPE of a reader that is gone must not end this process. */
static ssize_t write_quietly(int fd, const char *bytes, size_t len)
{
    struct timespec at_once = {0};
    sigset_t broken, pending, before;
    bool was_pending;
    ssize_t n;
    int saved;

    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    sigpending(&pending);
    was_pending = sigismember(&pending, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    n = write(fd, bytes, len);
    saved = errno;
    if (n < 0 && saved == EPIPE && !was_pending)
        sigtimedwait(&broken, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return n;
}

void on_line_input(uv_poll_t *poll, int status, int events)
{
    struct proc_line *l = poll->data;
    struct program *p = l->proc;
    ssize_t n = 0;

    (void)status, (void)events;
    if (p->input_at < p->input.len)
        n = write_quietly(l->fd, p->input.ptr + p->input_at,
                          p->input.len - p->input_at);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        line_close(l); /* it does not read any more */
        return;
    }
    if (n > 0)
        p->input_at += (size_t)n;
    if (p->input_at < p->input.len)
        return;
    buf_clear(&p->input);
    p->input_at = 0;
    if (p->input_ends)
        line_close(l);
    else
        uv_poll_stop(poll);
}

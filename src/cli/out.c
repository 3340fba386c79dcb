/*
 * out.c - buffered output that never blocks.
 */
#include "cli/out.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

bool out_full(const struct out *o)
{
    return !o->error && o->text.len - o->at >= OUT_PENDING_MAX;
}

bool out_pending(const struct out *o)
{
    return !o->error && o->text.len > o->at;
}

void out_close(struct out *o, int error)
{
    if (!o->error)
        o->error = error;
}

/* Drop written text when it is everything, or most of the buffer. */
static void shrink(struct out *o)
{
    if (o->at < o->text.len && o->at < OUT_PENDING_MAX)
        return;
    memmove(o->text.ptr, o->text.ptr + o->at, o->text.len - o->at);
    o->text.len -= o->at;
    o->at = 0;
}

void out_write(struct out *o)
{
    size_t piece = o->text.len - o->at;
    ssize_t n;

    if (!out_pending(o))
        return;
    if (piece > PIPE_BUF)
        piece = PIPE_BUF; /* a pipe that polls writable accepts this much */
    n = write(o->fd, o->text.ptr + o->at, piece);
    if (n < 0 && errno != EINTR && errno != EAGAIN) {
        out_close(o, errno);
        return;
    }
    if (n > 0)
        o->at += (size_t)n;
    shrink(o);
}

/*
 * sock.h - stream sockets of a server on the loop: one that listens, and the
 * connections that it accepts.
 *
 * A connection has no queue of its own: what the system does not take at once
 * is copied, and until `room` nothing more is written. So a slow reader holds
 * as much memory as its owner gave it in one write.
 */
#ifndef HOST_SOCK_H
#define HOST_SOCK_H

#include "base/str.h"
#include "host/loop.h"

struct sock;

/* Called from a turn of the loop. Each may close the socket. */
struct sock_events {
    void (*read)(void *ctx, wend_str bytes); /* lent during the call */
    void (*ended)(void *ctx); /* the peer sends nothing more, or is gone */
    void (*room)(void *ctx);  /* what was written is with the system */
};

/* Writes the pieces, one after another. True: all of them are with the system.
 * False: the rest is copied, sock_is_busy holds until `room`; or the socket is
 * broken, which `ended` will say. Not while it is busy. */
bool sock_write(struct sock *s, const wend_str *pieces, size_t count);
bool sock_is_busy(const struct sock *s);
size_t sock_left(const struct sock *s); /* bytes that are not with the system */
/* Whether bytes are read; at first they are. */
void sock_reads(struct sock *s, bool on);
/* Ends the writing side, so that the peer sees the end and can still be read.
 * Not while it is busy. */
void sock_shut(struct sock *s);
/* Closes at once: what is not with the system is dropped. The events are not
 * called any more. */
void sock_close(struct sock *s);

struct listener;

/* A new connection. Returns its context, and fills the events; NULL refuses
 * it. */
typedef void *(*sock_accept_fn)(void *ctx, struct sock *s,
                                const struct sock_events **events);

/* `address`: HOST:PORT with an address or "localhost", port 0 for any free one,
 * or unix:PATH, which only the user may open. */
wend_status listener_new(const struct mem *m, struct loop *loop,
                         const char *address, sock_accept_fn fn, void *ctx,
                         struct listener **out, wend_error *err);
/* Where it listens: 127.0.0.1:8791, [::1]:8791 or unix:PATH. */
const char *listener_name(const struct listener *l);
void listener_free(struct listener *l); /* NULL: nothing */

#endif

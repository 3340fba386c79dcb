/*
 * fetch_name.c - a thousand transfers to one host look its name up once.
 *
 * libcurl starts a thread for every look-up that its cache cannot answer. So
 * the first transfer goes ahead, and the others wait until it opens a socket.
 */
#include "host/fetch/fetch_pool.h"

#include <assert.h>

enum { NAME_FRESH_MS = 50000 }; /* libcurl's cache forgets after 60 s */

/* Numbers and the loopback's name need no look-up. */
static bool needs_none(const char *host)
{
    size_t len = strlen(host);

    return len >= NAME_BYTES_MAX || strspn(host, "0123456789.") == len ||
           host[0] == '[' || host[0] == '/' || !strcmp(host, "localhost");
}

/* NULL: all rows are taken by names that are being looked up. */
static struct name *row_of(struct net *f, const char *host)
{
    struct name *oldest = NULL;

    for (size_t i = 0; i < NAMES_MAX; i++) {
        struct name *n = &f->names[i];

        if (!strcmp(n->host, host))
            return n;
        if (!n->asking &&
            (!oldest || n->fresh_until_ms < oldest->fresh_until_ms))
            oldest = n;
    }
    if (oldest) {
        memcpy(oldest->host, host, strlen(host) + 1);
        oldest->fresh_until_ms = 0;
    }
    return oldest;
}

void name_init(struct net *f)
{
    for (size_t i = 0; i < NAMES_MAX; i++)
        ring_init(&f->names[i].waiting);
}

bool name_wait(struct exchange *t)
{
    struct net *f = t->fetch;
    struct name *n = needs_none(t->host) ? NULL : row_of(f, t->host);

    if (!n || n->fresh_until_ms > (int64_t)uv_now(f->uv))
        return false;
    if (n->asking) {
        ring_put(&n->waiting, &t->queue_link);
        return true;
    }
    assert(!t->asks);
    n->asking = true;
    t->asks = n;
    return false;
}

void name_done(struct exchange *t, bool known)
{
    struct net *f = t->fetch;
    struct name *n = t->asks;

    if (!n)
        return;
    t->asks = NULL;
    n->asking = false;
    if (known)
        n->fresh_until_ms = (int64_t)uv_now(f->uv) + NAME_FRESH_MS;
    if (ring_empty(&n->waiting))
        return;
    ring_move(&f->queue, &n->waiting);
    fetch_kick(f);
}

/*
 * fetch_route.h - which requests go over plain sockets, and where to.
 *
 * Only for src/host.
 */
#ifndef HOST_FETCH_ROUTE_H
#define HOST_FETCH_ROUTE_H

#include <netinet/in.h>
#include <sys/un.h>

#include "base/url.h"
#include "host/fetch/fetch.h"

struct place {
    socklen_t len;
    union {
        struct sockaddr_un local;
        struct sockaddr_in6 v6;
        struct sockaddr_in v4;
        struct sockaddr any;
    } at;
};

static inline bool place_is(const struct place *a, const struct place *b)
{
    return a->len == b->len && !memcmp(&a->at, &b->at, a->len);
}

enum { PLACES_MAX = 2 }; /* localhost has two addresses */

/* In the order in which they are tried. */
struct route {
    struct url url;
    const struct place *places;
    int count, next;
};

/* Takes the URL apart; WEND_E_NOMEM is noted in the arena, too. */
wend_status route_url(const struct fetch_request *q, struct arena *a,
                      struct url *out);
/* Whether the request has a header of that name. */
bool route_named(const struct fetch_request *q, const char *name);
/* Whether what is sent to the address stays on this machine. */
bool route_is_own(const struct address *a);
/* Whether the URL names this machine. A proxy of the environment is not asked
 * for it: it could not get there, and would see the request. */
bool route_is_here(const struct url *u);

/* How a request is treated whose secret may not leave this machine. */
enum guard {
    GUARD_NONE,   /* it has none, or cannot be read on its way */
    GUARD_LOOK,   /* a name: the address decides, and no proxy is asked */
    GUARD_REFUSE, /* it would go elsewhere */
};
enum guard route_guard(const struct fetch_request *q, struct arena *a);

/* False: it needs libcurl, for TLS, a proxy, a look-up, `allow`, or headers
 * about the connection. The arena may have failed. */
bool route_find(const struct fetch_request *q, struct arena *a,
                struct route *out);
/* The request's head, up to the empty line. */
void route_put_head(const struct route *r, const struct fetch_request *q,
                    struct buf *b);

#endif

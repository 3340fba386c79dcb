/*
 * fetch.h - HTTP on the loop.
 *
 * Connections are kept alive; HTTP/1.1 unless asked otherwise; TLS is
 * checked against the system's authorities. Plain HTTP to an address or a
 * unix socket goes over sockets of our own, all else by libcurl, which is
 * loaded with the first transfer that needs it. A pool may be another one
 * (host/env.h) that goes nowhere.
 */
#ifndef HOST_FETCH_H
#define HOST_FETCH_H

#include "base/address.h"
#include "host/loop.h"

struct sockaddr;
/* The transfers of one loop, and one of them; first members of real structs. */
struct fetch {
    const struct fetch_ops *ops;
};
struct transfer {
    const struct fetch_ops *ops;
};

enum fetch_end {
    FETCH_OK,      /* the body is complete */
    FETCH_NETWORK, /* resolve, connect, TLS, reset */
    FETCH_TIMEOUT,
    FETCH_NOMEM,
    FETCH_REFUSED, /* no address was allowed; or a tape has no answer */
    /* The same request would fail again. */
    FETCH_HTTP2_ONLY,  /* the server speaks no HTTP/1.1 */
    FETCH_CERTIFICATE, /* of the server: not trusted, or another host's */
    FETCH_CA_FILE,     /* no certificates to trust could be read */
    FETCH_PROXY,       /* the proxy refuses, or its variable names none */
    FETCH_HEADERS,     /* of the answer: too long */
    FETCH_DESCRIPTORS, /* none was free within connect_ms */
    FETCH_INSECURE,    /* `secret` would have left this machine in clear */
    FETCH_ENDS
};

/* The code of an error that ended so. */
extern const char *const fetch_codes[FETCH_ENDS];

/* Another attempt may succeed. */
static inline bool fetch_may_pass(enum fetch_end how)
{
    return how == FETCH_NETWORK || how == FETCH_TIMEOUT;
}

struct fetch_request {
    const char *url;
    const char *method;         /* NULL: POST with a body, else GET */
    const char *const *headers; /* `Name: value`, NULL at the end */
    wend_str body;              /* lent until the transfer ends ... */
    bool copy_body;             /* ... or copied now */
    const char *unix_socket;    /* NULL: TCP */
    const char *proxy;          /* NULL: the environment's; "": none */
    const char *ca_file;        /* NULL: the environment's, the system's */
    /* A header carries one: plain http must go to this machine, by the very
     * address, else the transfer ends as FETCH_INSECURE. */
    bool secret;
    bool http2;
    bool libcurl; /* even where a plain socket would do; for tests */
    /* Asked before each connect, with fetch_start's ctx and the very address:
     * a name cannot mean another one by then. False: not that one, *why says
     * the reason. The transfer gets a connection of its own. NULL: any
     * address. Set `proxy` to "" with it: a proxy would resolve for us. */
    bool (*allow)(void *ctx, const struct sockaddr *to, char *why,
                  size_t why_size);
    /* Milliseconds; 0 = none. connect: from the start until the request
     * leaves; first_byte: from there to the body's first byte; between: two
     * reads of the body, not counted while paused; whole: all. */
    int64_t connect_ms, first_byte_ms, between_ms, whole_ms;
    /* The server may take it twice, as GET and HEAD: it is sent again when a
     * kept connection, perhaps closed long ago, ends without an answer. Any
     * other request fails then. */
    bool harmless;
    /* It has an effect, and no caller sends it again: it gets a new connection
     * and is not sent twice, whatever the method. */
    bool once;
};

/* All are called from the loop, never from inside start. */
struct fetch_events {
    /* Status and headers are known; header() gives a value by name. */
    void (*head)(void *ctx, struct transfer *t, int status);
    /* A piece of the body. False pauses: it comes again after resume. */
    bool (*body)(void *ctx, const char *p, size_t len);
    /* message: `host:port[ through the proxy host:port]: reason`; lent. */
    void (*end)(void *ctx, enum fetch_end how, const char *message);
};

struct fetch_ops {
    /* Stops what is under way, without events; not from inside an event. */
    void (*free)(struct fetch *f);
    wend_status (*start)(struct fetch *f, const struct fetch_request *q,
                         const struct fetch_events *events, void *ctx,
                         struct transfer **out, wend_error *err);
    /* A response header by name, lent until the end event is over; absent. */
    wend_str (*header)(const struct transfer *t, const char *name);
    void (*resume)(struct transfer *t);
    /* No more events; closes at once, from inside an event in the next turn. */
    void (*stop)(struct transfer *t);
};

/* What `allow` is asked about; false: neither IPv4 nor IPv6. */
bool address_of(const struct sockaddr *from, struct address *out,
                uint16_t *port);

/* The real one; the loop must be real, too. */
wend_status fetch_new(const struct mem *m, struct loop *loop,
                      struct fetch **out, wend_error *err);

static inline void fetch_free(struct fetch *f)
{
    if (f)
        f->ops->free(f);
}

static inline wend_status fetch_start(struct fetch *f,
                                      const struct fetch_request *q,
                                      const struct fetch_events *events,
                                      void *ctx, struct transfer **out,
                                      wend_error *err)
{
    return f->ops->start(f, q, events, ctx, out, err);
}

static inline wend_str fetch_header(const struct transfer *t, const char *name)
{
    return t->ops->header(t, name);
}

static inline void fetch_resume(struct transfer *t)
{
    t->ops->resume(t);
}

static inline void fetch_stop(struct transfer *t)
{
    t->ops->stop(t);
}

#endif

/*
 * fetch_route.c - which requests go over plain sockets, and where to.
 *
 * Names are looked up by libcurl: its threads can be abandoned at the end, a
 * worker of libuv cannot.
 */
#include "host/fetch/fetch_route.h"

#include <strings.h>

#include "base/header.h"
#include "host/fetch/fetch_vars.h"

bool address_of(const struct sockaddr *from, struct address *out,
                uint16_t *port)
{
    *out = (struct address){.v6 = from->sa_family == AF_INET6};
    if (from->sa_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, from, sizeof in);
        memcpy(out->bytes, &in.sin_addr, 4);
        *port = ntohs(in.sin_port);
    } else if (from->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;

        memcpy(&in6, from, sizeof in6);
        memcpy(out->bytes, &in6.sin6_addr, 16);
        *port = ntohs(in6.sin6_port);
    } else {
        return false;
    }
    return true;
}

wend_status route_url(const struct fetch_request *q, struct arena *a,
                      struct url *out)
{
    wend_status s = url_parse(str_of(q->url), a, out, NULL);

    a->failed |= s == WEND_E_NOMEM;
    return s;
}

bool route_named(const struct fetch_request *q, const char *name)
{
    for (size_t i = 0; q->headers && q->headers[i]; i++)
        if (header_is(str_of(q->headers[i]), str_of(name)))
            return true;
    return false;
}

/* These say how the message is cut or what becomes of the connection. */
static bool has_own_framing(const struct fetch_request *q)
{
    static const char *const names[] = {
        "Connection", "Content-Length",    "Expect",  "TE",
        "Trailer",    "Transfer-Encoding", "Upgrade", NULL};

    for (size_t i = 0; q->headers && q->headers[i]; i++)
        if (header_is_among(str_of(q->headers[i]), names))
            return true;
    return false;
}

/* RFC 6761: every name below it means this machine. */
static bool is_localhost(wend_str host)
{
    static const char suffix[] = ".localhost";
    size_t len = sizeof suffix - 1;

    return str_is(host, "localhost") ||
           (host.len > len && !memcmp(host.ptr + host.len - len, suffix, len));
}

bool route_is_own(const struct address *a)
{
    static const struct {
        struct address net;
        unsigned bits;
    } own[] = {
        {{true, {[15] = 1}}, 128},
        {{false, {127}}, 8},
        {{true, {[10] = 0xff, [11] = 0xff, [12] = 127}}, 104},
        {{false, {0}}, 32}, /* to connect there is to connect to loopback */
        {{true, {0}}, 128},
    };

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (address_under(a, &own[i].net, own[i].bits))
            return true;
    return false;
}

bool route_is_here(const struct url *u)
{
    return u->kind == URL_ADDRESS ? route_is_own(&u->address)
                                  : is_localhost(u->host);
}

enum guard route_guard(const struct fetch_request *q, struct arena *a)
{
    struct url u;

    if (!q->secret || q->unix_socket || strncasecmp(q->url, "http:", 5) != 0)
        return GUARD_NONE;
    if (route_url(q, a, &u) != WEND_OK)
        return GUARD_LOOK;
    if (route_is_here(&u))
        return GUARD_NONE;
    return u.kind == URL_ADDRESS ? GUARD_REFUSE : GUARD_LOOK;
}

/* ---- Places -------------------------------------------------------------- */

static void put_local(struct place *p, const char *path)
{
    size_t len = strlen(path);

    p->at.local.sun_family = AF_UNIX;
    memcpy(p->at.local.sun_path, path, len); /* zeroed, and checked to fit */
    p->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + 1);
}

static void put_address(struct place *p, const struct address *a, uint16_t port)
{
    if (a->v6) {
        p->at.v6.sin6_family = AF_INET6;
        p->at.v6.sin6_port = htons(port);
        memcpy(&p->at.v6.sin6_addr, a->bytes, 16);
        p->len = sizeof p->at.v6;
    } else {
        p->at.v4.sin_family = AF_INET;
        p->at.v4.sin_port = htons(port);
        memcpy(&p->at.v4.sin_addr, a->bytes, 4);
        p->len = sizeof p->at.v4;
    }
}

static int put_places(const struct fetch_request *q, const struct url *u,
                      struct place *p)
{
    static const struct address v6 = {true, {[15] = 1}};
    static const struct address v4 = {false, {127, 0, 0, 1}};

    if (q->unix_socket) {
        put_local(p, q->unix_socket);
        return 1;
    }
    if (u->kind == URL_ADDRESS) {
        put_address(p, &u->address, u->port);
        return 1;
    }
    if (!is_localhost(u->host))
        return 0;
    put_address(&p[0], &v6, u->port);
    put_address(&p[1], &v4, u->port);
    return 2;
}

static bool is_plain(const struct fetch_request *q, struct arena *a,
                     struct url *out)
{
    struct proxy proxy;

    if (q->libcurl || q->allow || q->http2 || has_own_framing(q))
        return false;
    return route_url(q, a, out) == WEND_OK && !out->https && out->plain &&
           proxy_find(q, a, &proxy) && !proxy.from && !*proxy.url;
}

bool route_find(const struct fetch_request *q, struct arena *a,
                struct route *out)
{
    struct place *p = NULL;

    *out = (struct route){0};
    if (is_plain(q, a, &out->url))
        p = arena_alloc(a, PLACES_MAX * sizeof *p);
    out->places = p;
    out->count = p ? put_places(q, &out->url, p) : 0;
    return out->count;
}

/* ---- The head ------------------------------------------------------------ */

static void put_host(struct buf *b, const struct url *u)
{
    bool v6 = u->kind == URL_ADDRESS && u->address.v6;

    buf_cstr(b, v6 ? "Host: [" : "Host: ");
    buf_str(b, u->host);
    buf_cstr(b, v6 ? "]" : "");
    if (u->port != 80) {
        buf_char(b, ':');
        buf_i64(b, u->port);
    }
    buf_cstr(b, "\r\n");
}

void route_put_head(const struct route *r, const struct fetch_request *q,
                    struct buf *b)
{
    buf_cstr(b, q->method ? q->method : q->body.ptr ? "POST" : "GET");
    buf_char(b, ' ');
    buf_str(b, r->url.target);
    buf_cstr(b, " HTTP/1.1\r\n");
    if (!route_named(q, "Host"))
        put_host(b, &r->url);
    if (!route_named(q, "Accept"))
        buf_cstr(b, "Accept: */*\r\n");
    if (!route_named(q, "Accept-Encoding"))
        buf_cstr(b, "Accept-Encoding: identity\r\n");
    for (size_t i = 0; q->headers && q->headers[i]; i++) {
        wend_str line = str_of(q->headers[i]);

        while (line.ptr[line.len - 1] == ' ')
            line.len--;
        buf_str(b, line);
        buf_cstr(b, "\r\n");
    }
    if (q->body.ptr) {
        buf_cstr(b, "Content-Length: ");
        buf_i64(b, (int64_t)q->body.len);
        buf_cstr(b, "\r\n");
    }
    buf_cstr(b, "\r\n");
}

/*
 * network.c - which addresses a tool may connect to: the public ones, and
 * what the user has added.
 */
#include "base/network.h"

#include "base/fail.h"
#include "base/url.h"

/* A name, or an address with a port: as in a URL. */
static wend_status read_host(wend_str text, struct arena *a,
                             struct network_entry *e, wend_error *err)
{
    struct buf b = {.mem = a->mem};
    struct url u;
    wend_status s;

    buf_cstr(&b, "http://");
    buf_str(&b, text);
    s = b.failed ? fail_nomem(err) : url_parse(buf_view(&b), a, &u, err);
    buf_free(&b);
    if (s != WEND_OK)
        return s;
    if (u.kind == URL_NAME)
        e->name = u.host;
    e->net = u.address;
    e->bits = u.address.v6 ? 128 : 32;
    /* A port that is not written cannot be told from port 80. */
    if (text.ptr[text.len - 1] != ']' && memchr(text.ptr, ':', text.len))
        e->port = u.port;
    return WEND_OK;
}

wend_status network_add(struct network *n, wend_str text, struct arena *a,
                        wend_error *err)
{
    struct network_entry *e = arena_alloc(a, sizeof *e);
    int shown = text.len < 80 ? (int)text.len : 80;
    wend_error why = {0};

    if (!e)
        return fail_nomem(err);
    if (!address_read_net(text, &e->net, &e->bits)) {
        if (text.len && memchr(text.ptr, '/', text.len))
            return fail(err, WEND_E_INVAL,
                        "network: '%.*s' is not a range like 10.0.0.0/8", shown,
                        text.ptr);
        if (!text.len || memchr(text.ptr, '?', text.len) ||
            memchr(text.ptr, '#', text.len))
            return fail(err, WEND_E_INVAL, "network: '%.*s' is not a host",
                        shown, text.ptr ? text.ptr : "");
        if (read_host(text, a, e, &why) != WEND_OK)
            return fail(err, why.status, "network: '%.*s': %s", shown, text.ptr,
                        why.message);
    }
    e->next = n->first;
    n->first = e;
    return WEND_OK;
}

bool network_allows(const struct network *n, wend_str host,
                    const struct address *to, uint16_t port, const char **why)
{
    *why = address_special(to);
    if (!*why)
        return true;
    for (const struct network_entry *e = n->first; e; e = e->next)
        if ((!e->port || e->port == port) &&
            (e->name.ptr ? str_eq(e->name, host)
                         : address_under(to, &e->net, e->bits)))
            return true;
    return false;
}

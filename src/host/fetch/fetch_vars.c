/*
 * fetch_vars.c - the variables of the environment that transfers obey.
 *
 * libcurl reads none of them but SSLKEYLOGFILE: proxy and authorities are
 * chosen here and given to it, so that messages can name them and wend(1) can
 * list them.
 */
#include "host/fetch/fetch_vars.h"

#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "base/ascii.h"
#include "host/fetch/fetch_route.h"

enum use {
    USE_HTTP_PROXY = 1,
    USE_HTTPS_PROXY = 2,
    USE_NO_PROXY = 4,
    USE_CA_FILE = 8,
    USE_CA_FOLDER = 16,
};

/* The first that is set counts. HTTP_PROXY is left out on purpose: a web
 * server sets it from the header `Proxy` of any client. */
static const struct {
    const char *name;
    unsigned uses;
} variables[] = {
    {"http_proxy", USE_HTTP_PROXY},
    {"https_proxy", USE_HTTPS_PROXY},
    {"HTTPS_PROXY", USE_HTTPS_PROXY},
    {"all_proxy", USE_HTTP_PROXY | USE_HTTPS_PROXY},
    {"ALL_PROXY", USE_HTTP_PROXY | USE_HTTPS_PROXY},
    {"no_proxy", USE_NO_PROXY},
    {"NO_PROXY", USE_NO_PROXY},
    {"SSL_CERT_FILE", USE_CA_FILE},
    {"CURL_CA_BUNDLE", USE_CA_FILE},
    {"SSL_CERT_DIR", USE_CA_FOLDER},
};

/* NULL: none is set. An empty value is the same as none. */
static const char *value_of(enum use use, const char **name)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = variables[i].uses & (unsigned)use
                                ? getenv(variables[i].name)
                                : NULL;

        if (!value || !*value)
            continue;
        if (name)
            *name = variables[i].name;
        return value;
    }
    return NULL;
}

/* ---- A proxy's URL ------------------------------------------------------- */

enum { PROXY_PORT = 1080, PROXY_TLS_PORT = 443 }; /* libcurl's */

static const struct {
    const char *begin;
    int port;
} schemes[] = {
    {"http://", PROXY_PORT},   {"https://", PROXY_TLS_PORT},
    {"socks4://", PROXY_PORT}, {"socks4a://", PROXY_PORT},
    {"socks5://", PROXY_PORT}, {"socks5h://", PROXY_PORT},
    {"", PROXY_PORT},
};

static bool is_host(wend_str s)
{
    struct address v6;

    if (s.len > 2 && s.ptr[0] == '[')
        return s.ptr[s.len - 1] == ']' &&
               address_read((wend_str){s.ptr + 1, s.len - 2}, &v6) && v6.v6;
    for (size_t i = 0; i < s.len; i++)
        if (!is_letter(s.ptr[i]) && !is_digit(s.ptr[i]) &&
            !strchr("-._", s.ptr[i]))
            return false;
    return s.len;
}

/* host[:port] */
static bool read_place(wend_str text, int port, struct arena *a,
                       struct proxy *out)
{
    const char *colon = memrchr(text.ptr, ':', text.len);
    wend_str host = text;
    int64_t number = port;
    struct buf b = {.mem = a->mem};

    if (colon && !memchr(colon, ']', text.len - (size_t)(colon - text.ptr))) {
        host.len = (size_t)(colon - text.ptr);
        if (!str_to_i64((wend_str){colon + 1, text.len - host.len - 1},
                        &number) ||
            number < 1 || number > UINT16_MAX)
            return false;
    }
    if (!is_host(host))
        return false;
    buf_str(&b, host);
    buf_char(&b, ':');
    buf_i64(&b, number);
    out->name = buf_keep(&b, a);
    return true;
}

/* [scheme://][user[:password]@]host[:port][/] */
static bool read_proxy(const char *value, struct arena *a, struct proxy *out)
{
    wend_str rest = str_of(value);
    const char *at;
    size_t i = 0;

    for (size_t k = 0; k < rest.len; k++)
        if ((unsigned char)value[k] <= ' ' || value[k] == 0x7f)
            return false;
    while (strncasecmp(value, schemes[i].begin, strlen(schemes[i].begin)) != 0)
        i++;
    if (!*schemes[i].begin && strstr(value, "://"))
        return false; /* of a kind that we do not know */
    rest = str_skip(rest, strlen(schemes[i].begin));
    at = memrchr(rest.ptr, '@', rest.len);
    if (at) {
        out->user = (wend_str){rest.ptr, (size_t)(at - rest.ptr)};
        rest = (wend_str){at + 1, rest.len - out->user.len - 1};
        out->user = arena_str(a, out->user);
    }
    if (rest.len && rest.ptr[rest.len - 1] == '/')
        rest.len--;
    return read_place(rest, schemes[i].port, a, out);
}

/* ---- Hosts without one --------------------------------------------------- */

/* A whole name or a domain above it. */
static bool is_below(wend_str host, wend_str domain)
{
    size_t above;

    if (domain.len && domain.ptr[0] == '.')
        domain = str_skip(domain, 1);
    if (domain.len && domain.ptr[domain.len - 1] == '.')
        domain.len--;
    if (!domain.len || domain.len > host.len)
        return false;
    above = host.len - domain.len;
    return !strncasecmp(host.ptr + above, domain.ptr, domain.len) &&
           (!above || host.ptr[above - 1] == '.');
}

/* An address or a range, such as 10.0.0.0/8. */
static bool is_in_range(const struct address *a, wend_str range)
{
    struct address net;
    unsigned bits;

    if (range.len > 2 && range.ptr[0] == '[' && range.ptr[range.len - 1] == ']')
        range = (wend_str){range.ptr + 1, range.len - 2};
    return address_read_net(range, &net, &bits) && address_under(a, &net, bits);
}

/* Names, addresses and ranges with commas or spaces between them; `*`. */
static bool is_spared(const struct url *u)
{
    const char *list = value_of(USE_NO_PROXY, NULL);

    while (list && *list) {
        wend_str item = {list, strcspn(list, ", \t")};

        list += item.len + strspn(list + item.len, ", \t");
        if (!item.len)
            continue;
        if (str_is(item, "*") ||
            (u->kind == URL_ADDRESS ? is_in_range(&u->address, item)
                                    : is_below(u->host, item)))
            return true;
    }
    return false;
}

/* ---- The choice ---------------------------------------------------------- */

bool proxy_find(const struct fetch_request *q, struct arena *a,
                struct proxy *out)
{
    struct url u = {0};
    const char *value = q->proxy;

    *out = (struct proxy){.url = ""};
    if (q->unix_socket || (value && !*value))
        return true;
    if (!value) {
        /* libcurl may understand what we do not read. */
        wend_status s = route_url(q, a, &u);

        if (s != WEND_OK)
            u.https = !strncasecmp(q->url, "https:", 6);
        if ((s != WEND_OK || !route_is_here(&u)) && !is_spared(&u))
            value = value_of(u.https ? USE_HTTPS_PROXY : USE_HTTP_PROXY,
                             &out->from);
    }
    if (!value)
        return !a->failed;
    out->bad = !read_proxy(value, a, out);
    if (!out->bad)
        out->url = arena_str(a, str_of(value)).ptr;
    return !a->failed;
}

void authorities_find(const char *ca_file, struct authorities *out)
{
    /* Debian; Fedora; SUSE; Alpine and the BSDs */
    static const char *const places[] = {
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    };

    *out = (struct authorities){.file = ca_file,
                                .from = ca_file ? "--ca-file" : NULL};
    if (!out->file)
        out->file = value_of(USE_CA_FILE, &out->from);
    if (!out->file)
        out->folder = value_of(USE_CA_FOLDER, &out->from);
    for (size_t i = 0; !out->from && i < sizeof places / sizeof *places; i++)
        if (!access(places[i], R_OK)) {
            out->file = places[i];
            return;
        }
}

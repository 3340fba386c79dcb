/*
 * url.c - http and https URLs: read strictly, written in one way.
 */
#include "base/url.h"

#include "base/ascii.h"
#include "base/fail.h"
#include "base/limits.h"

enum {
    HOST_BYTES_MAX = 253, /* of a name, as the name system has it */
    LABEL_BYTES_MAX = 63, /* of a part of it */
    PORT_MAX = 65535,
    SHOWN_MAX = 80, /* of a host, in words */
};

/* The byte that the escape %XX at i stands for; -1: there is no escape. */
static int escaped(wend_str s, size_t i)
{
    int high = -1, low = -1;

    if (s.ptr[i] == '%' && s.len - i >= 3) {
        high = hex_value(s.ptr[i + 1]);
        low = hex_value(s.ptr[i + 2]);
    }
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

static bool is_unreserved(char c)
{
    return is_letter(c) || is_digit(c) || (c && strchr("-._~", c));
}

static size_t find_any(wend_str s, const char *any)
{
    size_t i = 0;

    while (i < s.len && !strchr(any, s.ptr[i]))
        i++;
    return i;
}

/* ---- Bytes --------------------------------------------------------------- */

static wend_status check_bytes(wend_str text, wend_error *err)
{
    if (!text.len)
        return fail(err, WEND_E_INVAL, "the URL is empty");
    if (text.len > URL_BYTES_MAX)
        return fail(err, WEND_E_LIMIT, "the URL is over %d bytes",
                    URL_BYTES_MAX);
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (c < ' ' || c == 0x7f)
            return fail(err, WEND_E_INVAL,
                        "the URL has a control character (%d) at byte %zu", c,
                        i + 1);
        if (c == ' ')
            return fail(err, WEND_E_INVAL,
                        "the URL has a space at byte %zu; write %%20", i + 1);
        if (c == '\\')
            return fail(err, WEND_E_INVAL,
                        "the URL has a backslash at byte %zu; write %%5C",
                        i + 1);
    }
    return WEND_OK;
}

/* ---- Host and port ------------------------------------------------------- */

/* Other readers then take it for an IPv4 address. */
static bool ends_in_number(wend_str host)
{
    size_t i = host.len, digits;

    while (i && host.ptr[i - 1] != '.')
        i--;
    host = str_skip(host, i);
    digits = i = 0;
    if (host.len >= 2 && host.ptr[0] == '0' && host.ptr[1] == 'x')
        for (i = 2; i < host.len && hex_value(host.ptr[i]) >= 0;)
            i++;
    else
        while (digits < host.len && is_digit(host.ptr[digits]))
            i = ++digits;
    return host.len && i == host.len;
}

static wend_status check_name(wend_str host, wend_error *err)
{
    int shown = host.len < SHOWN_MAX ? (int)host.len : SHOWN_MAX;
    size_t label = 0;

    if (!host.len)
        return fail(err, WEND_E_INVAL, "the URL has no host");
    if (host.len > HOST_BYTES_MAX)
        return fail(err, WEND_E_INVAL, "the host's name is over %d bytes",
                    HOST_BYTES_MAX);
    for (size_t i = 0; i <= host.len; i++) {
        char c = i < host.len ? host.ptr[i] : '.';

        if (c == '.' && (i == label || i - label > LABEL_BYTES_MAX))
            return fail(err, WEND_E_INVAL,
                        "host '%.*s': a part is empty or over %d bytes", shown,
                        host.ptr, LABEL_BYTES_MAX);
        if (c == '.')
            label = i + 1;
        else if ((unsigned char)c >= 0x80)
            return fail(err, WEND_E_INVAL,
                        "host '%.*s' is not ASCII; write its name in the form "
                        "xn--...",
                        shown, host.ptr);
        else if (!is_letter(c) && !is_digit(c) && c != '_' &&
                 (c != '-' || i == label))
            return fail(err, WEND_E_INVAL,
                        "host '%.*s': '%c' cannot stand there", shown, host.ptr,
                        c);
    }
    if (ends_in_number(host))
        return fail(err, WEND_E_INVAL,
                    "host '%.*s' is a number in an unusual spelling; write an "
                    "IPv4 address as four decimal numbers",
                    shown, host.ptr);
    return WEND_OK;
}

/* A name or an IPv4 address, and not yet in lower case. */
static wend_status read_host(wend_str host, struct arena *a, struct url *u,
                             wend_error *err)
{
    char *name;

    if (host.len > 1 && host.ptr[host.len - 1] == '.')
        host.len--; /* it only says that the name is whole */
    name = arena_chars(a, host.len);
    if (!name)
        return fail_nomem(err);
    for (size_t i = 0; i < host.len; i++)
        name[i] = lower(host.ptr[i]);
    name[host.len] = 0;
    u->host = (wend_str){name, host.len};
    u->kind = URL_NAME;
    if (!memchr(name, ':', host.len) && address_read(u->host, &u->address)) {
        u->kind = URL_ADDRESS;
        return WEND_OK;
    }
    return check_name(u->host, err);
}

static wend_status read_v6_host(wend_str text, struct arena *a, struct url *u,
                                wend_error *err)
{
    struct buf b = {.mem = a->mem};
    int shown = text.len < SHOWN_MAX ? (int)text.len : SHOWN_MAX;

    if (!address_read(text, &u->address) || !u->address.v6)
        return fail(err, WEND_E_INVAL,
                    "host '[%.*s]' is no IPv6 address (one with a zone is "
                    "refused, too)",
                    shown, text.ptr);
    u->kind = URL_ADDRESS;
    address_put(&b, &u->address);
    u->host = buf_keep(&b, a);
    return a->failed ? fail_nomem(err) : WEND_OK;
}

static wend_status read_port(wend_str text, struct url *u, wend_error *err)
{
    int64_t port = 0;

    u->port = u->https ? 443 : 80;
    if (!text.len)
        return WEND_OK;
    if (text.ptr[0] != ':')
        return fail(err, WEND_E_INVAL,
                    "the URL has something else than a port after its host");
    text = str_skip(text, 1);
    if (text.len > 5 || !str_to_i64(text, &port) || port < 1 || port > PORT_MAX)
        return fail(err, WEND_E_INVAL, "the URL's port is not 1 to %d",
                    PORT_MAX);
    u->port = (uint16_t)port;
    return WEND_OK;
}

static wend_status read_authority(wend_str text, struct arena *a, struct url *u,
                                  wend_error *err)
{
    bool v6 = text.len && text.ptr[0] == '[';
    size_t end;
    wend_status s;

    if (memchr(text.ptr, '@', text.len))
        return fail(err, WEND_E_INVAL,
                    "the URL has a user or a password before its host; they "
                    "are refused");
    if (memchr(text.ptr, '%', text.len))
        return fail(err, WEND_E_INVAL, "the URL's host has a '%%'");
    end = find_any(text, v6 ? "]" : ":");
    if (v6 && end == text.len)
        return fail(err, WEND_E_INVAL, "the URL's host has a '[' without ']'");
    if (!v6 && memchr(text.ptr + end, ':', text.len - end) &&
        memchr(text.ptr + end + 1, ':', text.len - end - 1))
        return fail(err, WEND_E_INVAL,
                    "an IPv6 address as host needs brackets: [::1]");
    if (v6)
        s = read_v6_host((wend_str){text.ptr + 1, end - 1}, a, u, err);
    else
        s = read_host((wend_str){text.ptr, end}, a, u, err);
    return s == WEND_OK ? read_port(str_skip(text, end + v6), u, err) : s;
}

/* ---- Path and query ------------------------------------------------------ */

/* How many dots a segment of a path is, in whatever spelling; 0: none. */
static int dots(wend_str segment)
{
    int n = 0;

    for (size_t i = 0; i < segment.len; n++) {
        if (segment.ptr[i] != '.' && escaped(segment, i) != '.')
            return 0;
        i += segment.ptr[i] == '.' ? 1 : 3;
    }
    return n <= 2 ? n : 0;
}

static wend_status put_escaped(struct buf *b, wend_str s, wend_error *err)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];

        if (c == '%' && escaped(s, i) < 0)
            return fail(err, WEND_E_INVAL,
                        "the URL has a '%%' without two hexadecimal digits; "
                        "write %%25");
        if (is_unreserved(c) || strchr(":/?[]@!$&'()*+,;=%", c))
            buf_char(b, c);
        else
            buf_fmt(b, "%%%02X", (unsigned)(unsigned char)c);
    }
    return WEND_OK;
}

/* Takes the last segment off again, and the slash before it. */
static void step_back(struct buf *b)
{
    while (b->len && b->ptr[--b->len] != '/')
        continue;
}

/* Segment by segment, each with the slash before it. */
static wend_status put_path(struct buf *b, wend_str path, bool *plain,
                            wend_error *err)
{
    wend_status s = WEND_OK;

    while (path.len && s == WEND_OK) {
        wend_str rest = str_skip(path, 1), segment = {rest.ptr, 0};
        int n;

        segment.len = find_any(rest, "/");
        path = str_skip(rest, segment.len);
        n = dots(segment);
        if (n)
            *plain = false;
        if (n == 2)
            step_back(b);
        if (!n || !path.len) {
            buf_char(b, '/');
            if (!n)
                s = put_escaped(b, segment, err);
        }
    }
    return s;
}

static wend_status read_target(wend_str text, struct arena *a, struct url *u,
                               wend_error *err)
{
    struct buf b = {.mem = a->mem};
    wend_str path = {text.ptr, find_any(text, "?#")}, query;
    wend_status s;

    query = str_skip(text, path.len);
    query.len = find_any(query, "#");
    s = put_path(&b, path.len ? path : STR("/"), &u->plain, err);
    if (s == WEND_OK)
        s = put_escaped(&b, query, err);
    u->target = buf_keep(&b, a);
    return s == WEND_OK && a->failed ? fail_nomem(err) : s;
}

/* ---- One spelling -------------------------------------------------------- */

void url_decode(struct buf *out, wend_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        int byte = escaped(text, i);

        buf_char(out, byte < 0 ? text.ptr[i] : (char)byte);
        i += byte < 0 ? 0 : 2;
    }
}

static void put_normal(struct buf *b, wend_str s, enum url_form form,
                       bool is_path)
{
    for (size_t i = 0; i < s.len; i++) {
        int byte = escaped(s, i);
        char c = byte < 0 ? s.ptr[i] : (char)byte;

        if (byte >= 0) {
            i += 2;
            if (is_path && form == URL_OPEN && (c == '/' || c == '\\')) {
                c = '/';
            } else if (!is_unreserved(c)) {
                buf_fmt(b, "%%%02X", (unsigned)byte);
                continue;
            }
        }
        if (c != '/' || !is_path || form == URL_PLAIN || !b->len ||
            b->ptr[b->len - 1] != '/')
            buf_char(b, c);
    }
}

wend_str url_normal(wend_str target, enum url_form form, struct arena *a)
{
    size_t path = find_any(target, "?#");
    wend_str query = str_skip(target, path);
    struct buf spelled = {.mem = a->mem}, out = {.mem = a->mem};
    bool plain;
    wend_status s;

    query.len = find_any(query, "#");
    put_normal(&spelled, path ? (wend_str){target.ptr, path} : STR("/"), form,
               true);
    s = put_path(&out, buf_view(&spelled), &plain, NULL);
    buf_clear(&spelled);
    put_normal(&spelled, query, form, false);
    if (s == WEND_OK && query.len)
        s = put_escaped(&out, buf_view(&spelled), NULL);
    a->failed |= spelled.failed || out.failed;
    buf_free(&spelled);
    if (s == WEND_OK && !a->failed)
        return buf_keep(&out, a);
    buf_free(&out);
    return STR_NONE;
}

/* ---- Public -------------------------------------------------------------- */

/* The length of `http://` or `https://` in front, in any case; or 0. */
static size_t read_scheme(wend_str text, bool *https)
{
    *https = str_starts_nocase(text, "https://");
    return *https                               ? strlen("https://")
           : str_starts_nocase(text, "http://") ? strlen("http://")
                                                : 0;
}

wend_status url_parse(wend_str text, struct arena *a, struct url *out,
                      wend_error *err)
{
    struct url u = {.plain = true};
    wend_status s = check_bytes(text, err);
    size_t scheme = s == WEND_OK ? read_scheme(text, &u.https) : 0;
    struct buf origin = {.mem = a->mem};
    wend_str authority, rest;

    if (s != WEND_OK)
        return s;
    if (!scheme)
        return fail(err, WEND_E_INVAL,
                    "the URL does not begin with http:// or https://");
    rest = str_skip(text, scheme);
    authority = (wend_str){rest.ptr, find_any(rest, "/?#")};
    s = read_authority(authority, a, &u, err);
    if (s == WEND_OK)
        s = read_target(str_skip(rest, authority.len), a, &u, err);
    if (s != WEND_OK)
        return s;
    url_put_origin(&origin, &u);
    u.plain = u.plain && origin.len == scheme + authority.len &&
              !memcmp(origin.ptr, text.ptr, origin.len);
    if (origin.failed)
        s = fail_nomem(err);
    buf_free(&origin);
    *out = u;
    return s;
}

static bool has_scheme(wend_str s)
{
    size_t i = 0;

    while (i < s.len && (is_letter(s.ptr[i]) ||
                         (i && (is_digit(s.ptr[i]) || s.ptr[i] == '+' ||
                                s.ptr[i] == '-' || s.ptr[i] == '.'))))
        i++;
    return i && i < s.len && s.ptr[i] == ':';
}

/* What of the base's target stands before the reference. */
static size_t kept_of(wend_str target, wend_str reference)
{
    size_t path = find_any(target, "?");

    switch (reference.len ? reference.ptr[0] : '#') {
    case '#': return target.len;
    case '?': return path;
    case '/': return 0;
    }
    while (target.ptr[path - 1] != '/')
        path--;
    return path;
}

wend_status url_join(const struct url *base, wend_str reference,
                     struct arena *a, struct url *out, wend_error *err)
{
    struct buf b = {.mem = a->mem};
    wend_status s;

    if (has_scheme(reference))
        return url_parse(reference, a, out, err);
    if (str_starts(reference, "//")) {
        buf_cstr(&b, base->https ? "https:" : "http:");
    } else {
        url_put_origin(&b, base);
        buf_add(&b, base->target.ptr, kept_of(base->target, reference));
    }
    buf_str(&b, reference);
    s = b.failed ? fail_nomem(err) : url_parse(buf_view(&b), a, out, err);
    buf_free(&b);
    return s;
}

void url_put_origin(struct buf *b, const struct url *u)
{
    bool v6 = u->kind == URL_ADDRESS && u->address.v6;

    buf_cstr(b, u->https ? "https://" : "http://");
    buf_cstr(b, v6 ? "[" : "");
    buf_str(b, u->host);
    buf_cstr(b, v6 ? "]" : "");
    if (u->port != (u->https ? 443 : 80))
        buf_fmt(b, ":%d", u->port);
}

void url_put(struct buf *b, const struct url *u)
{
    url_put_origin(b, u);
    buf_str(b, u->target);
}

bool url_same_origin(const struct url *a, const struct url *b)
{
    return a->https == b->https && a->port == b->port &&
           str_eq(a->host, b->host);
}

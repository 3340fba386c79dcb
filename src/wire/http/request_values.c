/*
 * request_values.c - values of a request's headers.
 */
#include "wire/http/request.h"

#include "base/ascii.h"

/* ---- Content-Type -------------------------------------------------------- */

static bool is_utf8_charset(wend_str parameter)
{
    wend_str name = STR_NONE;

    parameter = str_trim(parameter, is_blank);
    return str_take(&parameter, '=', &name) && str_same(name, STR("charset")) &&
           (str_same(parameter, STR("utf-8")) ||
            str_same(parameter, STR("\"utf-8\"")));
}

bool http_media_is(wend_str value, const char *type)
{
    wend_str piece;

    if (!str_take(&value, ';', &piece) ||
        !str_same(str_trim(piece, is_blank), str_of(type)))
        return false;
    while (str_take(&value, ';', &piece))
        if (!is_utf8_charset(piece))
            return false;
    return true;
}

/* ---- Range --------------------------------------------------------------- */

enum http_range http_range_read(wend_str value, uint64_t size, uint64_t *from,
                                uint64_t *len)
{
    int64_t first = 0, last = 0;
    wend_str rest = value, a;
    bool has_last;

    *from = 0;
    *len = size;
    if (!str_starts_nocase(value, "bytes="))
        return HTTP_RANGE_ALL;
    rest = str_skip(value, strlen("bytes="));
    if (!rest.len || !str_has(rest, STR("-")))
        return HTTP_RANGE_ALL;
    str_take(&rest, '-', &a);
    has_last = rest.len;
    if ((has_last && !str_to_i64(rest, &last)) ||
        (a.len && !str_to_i64(a, &first)) || (!a.len && !has_last) ||
        (a.len && has_last && last < first))
        return HTTP_RANGE_ALL;
    if (!a.len) { /* the last bytes */
        *from = size > (uint64_t)last ? size - (uint64_t)last : 0;
        *len = last ? size - *from : 0;
    } else {
        *from = (uint64_t)first;
        *len = size > *from ? size - *from : 0;
        if (has_last && *len > (uint64_t)(last - first))
            *len = (uint64_t)(last - first) + 1;
    }
    if (!*len)
        *from = 0;
    return *len ? HTTP_RANGE_PART : HTTP_RANGE_BEYOND;
}

/* ---- Authorization ------------------------------------------------------- */

static bool is_token68(char c)
{
    return is_letter(c) || is_digit(c) || (c && strchr("-._~+/", c));
}

wend_str http_bearer(wend_str value)
{
    size_t i = 0;

    if (!str_starts_nocase(value, "bearer "))
        return STR_NONE;
    value = str_trim(str_skip(value, strlen("bearer ")), is_blank);
    while (i < value.len && is_token68(value.ptr[i]))
        i++;
    if (!i)
        return STR_NONE;
    while (i < value.len && value.ptr[i] == '=')
        i++;
    return i == value.len ? value : STR_NONE;
}

/* ---- If-None-Match ------------------------------------------------------- */

/* Takes the next tag of a list, with its quotes and without W/. */
static bool take_etag(wend_str *rest, wend_str *tag)
{
    wend_str s = str_trim(*rest, is_blank);
    size_t n = 1;

    if (str_starts(s, "W/"))
        s = str_skip(s, 2);
    if (!s.len || s.ptr[0] != '"')
        return false;
    while (n < s.len && s.ptr[n] != '"' && !is_blank(s.ptr[n]) &&
           http_is_text(s.ptr[n]))
        n++;
    if (n == s.len || s.ptr[n] != '"')
        return false;
    *tag = (wend_str){s.ptr, n + 1};
    *rest = str_trim(str_skip(s, n + 1), is_blank);
    return true;
}

bool http_etag_among(wend_str value, wend_str etag)
{
    wend_str wanted, tag;

    if (str_is(value, "*"))
        return true;
    if (!take_etag(&etag, &wanted))
        return false;
    while (take_etag(&value, &tag)) {
        if (value.len && value.ptr[0] != ',')
            return false;
        if (str_eq(tag, wanted))
            return true;
        if (value.len)
            value = str_skip(value, 1);
    }
    return false;
}

/* ---- Host, Origin -------------------------------------------------------- */

enum { NAME_BYTES_MAX = 253, PORT_MAX = 65535 };

static bool read_port(wend_str text, int *port)
{
    int64_t n;

    *port = 0;
    if (!text.len)
        return true;
    if (text.ptr[0] != ':' || text.len > 6 ||
        !str_to_i64(str_skip(text, 1), &n) || n < 1 || n > PORT_MAX)
        return false;
    *port = (int)n;
    return true;
}

static bool read_v6(wend_str text, struct http_host *h, size_t *taken)
{
    const char *end = memchr(text.ptr, ']', text.len);

    if (!end)
        return false;
    h->v6 = true;
    h->name = (wend_str){text.ptr + 1, (size_t)(end - text.ptr) - 1};
    *taken = h->name.len + 2;
    return address_read(h->name, &h->address) && h->address.v6;
}

bool http_host_read(wend_str text, struct http_host *out)
{
    struct http_host h = {0};
    size_t n = 0;

    if (!text.len)
        return false;
    if (text.ptr[0] == '[') {
        if (!read_v6(text, &h, &n))
            return false;
    } else {
        while (n < text.len && (is_word(text.ptr[n]) || text.ptr[n] == '-' ||
                                text.ptr[n] == '.'))
            n++;
        h.name = (wend_str){text.ptr, n};
        if (!n || n > NAME_BYTES_MAX)
            return false;
    }
    *out = h;
    return read_port(str_skip(text, n), &out->port);
}

bool http_host_is(wend_str host, wend_str allowed, int port_default)
{
    struct http_host a, b;

    if (!http_host_read(host, &a) || !http_host_read(allowed, &b) ||
        a.v6 != b.v6 ||
        (a.port ? a.port : port_default) != (b.port ? b.port : port_default))
        return false;
    return a.v6 ? address_under(&a.address, &b.address, 128)
                : str_same(a.name, b.name);
}

/* The scheme's port, and the host behind it; 0: neither http nor https. */
static int read_origin(wend_str text, wend_str *host)
{
    bool https = str_starts_nocase(text, "https://");

    if (!https && !str_starts_nocase(text, "http://"))
        return 0;
    *host = str_skip(text, https ? strlen("https://") : strlen("http://"));
    return https ? 443 : 80;
}

bool http_origin_is(wend_str origin, wend_str allowed)
{
    wend_str a = STR_NONE, b = STR_NONE;
    int port = read_origin(origin, &a);

    return port && port == read_origin(allowed, &b) && http_host_is(a, b, port);
}

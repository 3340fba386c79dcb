/*
 * http_open.c - a provider's driver: its key, its address, its headers.
 *
 * Keys come from a file or the environment and stay here: they are in no
 * event, no log and no message.
 */
#include "lib/model/http.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/header.h"
#include "base/utf8.h"
#include "host/file.h"
#include "wire/model/local.h"

enum { SOCKET_PATH_MAX = 108 }; /* of struct sockaddr_un */

static void driver_free(struct driver *base)
{
    struct http_driver *d = (struct http_driver *)(void *)base;
    struct mem m = d->mem;

    /* The key leaves memory with the driver. */
    if (d->base.key.ptr)
        memset((char *)(uintptr_t)d->base.key.ptr, 0, d->base.key.len);
    for (size_t i = 0; i < d->base.secrets_count; i++)
        if (d->secrets[i].ptr)
            memset((char *)(uintptr_t)d->secrets[i].ptr, 0, d->secrets[i].len);
    arena_free(&d->arena);
    mem_free(&m, d);
}

static const struct driver_ops http_ops = {
    .open = http_session_open,
    .ask = http_session_ask,
    .stop = http_session_stop,
    .close = http_session_close,
    .free = driver_free,
};

/* Within the header that carries it, so that it is in memory once. */
static void keep_key(struct http_driver *d, wend_str key)
{
    const char *form = d->codec->key_header ? d->codec->key_header : "%s";
    size_t before = (size_t)(strstr(form, "%s") - form);
    struct buf b = {.mem = &d->mem};

    buf_room(&b, before + key.len + 1);
    buf_add(&b, form, before);
    buf_str(&b, key);
    d->key_line = arena_str(&d->arena, buf_view(&b)).ptr;
    if (d->key_line)
        d->base.key = (wend_str){d->key_line + before, key.len};
    if (b.ptr)
        memset(b.ptr, 0, b.len);
    d->arena.failed |= b.failed;
    buf_free(&b);
}

/* From the named file, else from the provider's variable. A private server (a
 * base URL was given) may need no key, a tape needs none. */
static wend_status find_key(struct http_driver *d,
                            const struct driver_options *o, wend_error *err)
{
    const char *env = d->codec->key_env ? getenv(d->codec->key_env) : NULL;
    struct buf text = {.mem = &d->mem};
    wend_str key = str_of(env);
    wend_status s = WEND_OK;

    if (o->key_file) {
        s = file_private(o->key_file, err);
        if (s == WEND_OK)
            s = file_read(o->key_file, KEY_BYTES_MAX, &text, err);
        key = buf_view(&text);
    }
    while (key.len && is_space(key.ptr[key.len - 1]))
        key.len--;
    if (s == WEND_OK && key.len) {
        keep_key(d, key);
        for (size_t i = 0; i < key.len; i++)
            if (key.ptr[i] <= ' ' || key.ptr[i] > '~')
                s = fail(err, WEND_E_INVAL,
                         "the key for %s contains a space or a character "
                         "that is not ASCII",
                         d->codec->name);
    } else if (s == WEND_OK && o->key_file) {
        s = fail(err, WEND_E_INVAL, "there is no key in %s", o->key_file);
    } else if (s == WEND_OK && d->codec->key_header && !o->base_url &&
               !o->playback_dir) {
        s = fail(err, WEND_E_INVAL,
                 "no key for %s: set %s, or name a file with --key-file",
                 d->codec->name, d->codec->key_env);
    }
    if (text.ptr)
        memset(text.ptr, 0, text.len);
    buf_free(&text);
    return s;
}

/* scheme://host[:port]. Refuses what must not get into the log, and what
 * libcurl would refuse with the first request. */
static const char *wrong_with(wend_str url)
{
    const char *host = strstr(url.ptr, "://") + 3, *port;
    size_t len = strcspn(host, "/?");
    int64_t number;

    for (size_t i = 0; i < url.len; i++)
        if ((unsigned char)url.ptr[i] <= ' ' || url.ptr[i] == 0x7f ||
            url.ptr[i] == '\\')
            return "a space or a character that no URL may contain";
    if (memchr(url.ptr, '#', url.len))
        return "a '#', after which nothing is sent";
    if (memchr(host, '@', len))
        return "a user or password, which would stand in the log: use "
               "--key-file";
    port = memrchr(host, ':', len);
    if (port && memchr(port, ']', len - (size_t)(port - host)))
        port = NULL; /* a colon of an address */
    if (!len || port == host)
        return "no host";
    if (port &&
        (!str_to_i64((wend_str){port + 1, len - (size_t)(port + 1 - host)},
                     &number) ||
         number < 1 || number > 65535))
        return "a port that is not a number up to 65535";
    return NULL;
}

/* Cuts the query off; no slash stays at the end of what is before it. */
static wend_status keep_url(struct http_driver *d, wend_str url,
                            wend_error *err)
{
    const char *wrong = wrong_with(url);
    const char *query = memchr(url.ptr, '?', url.len);

    if (wrong)
        return fail(err, WEND_E_INVAL, "the base URL has %s", wrong);
    if (query) {
        wend_str rest = {query + 1, (size_t)(url.ptr + url.len - query - 1)};

        url.len = (size_t)(query - url.ptr);
        d->query = rest.len ? arena_str(&d->arena, rest).ptr : NULL;
    }
    while (url.len && url.ptr[url.len - 1] == '/')
        url.len--;
    d->base_url = arena_str(&d->arena, url).ptr;
    return d->arena.failed ? fail_nomem(err) : WEND_OK;
}

/* unix:/path/to.sock[:/v1] */
static wend_status keep_socket(struct http_driver *d, wend_str socket,
                               wend_error *err)
{
    const char *colon = memchr(socket.ptr, ':', socket.len);
    struct buf b = {.mem = &d->mem};
    wend_status s;

    buf_cstr(&b, "http://localhost");
    if (colon) {
        buf_cstr(&b, colon + 1);
        socket.len = (size_t)(colon - socket.ptr);
    }
    d->unix_socket = arena_str(&d->arena, socket).ptr;
    if (colon && colon[1] && colon[1] != '/')
        s = fail(err, WEND_E_INVAL,
                 "what follows a unix socket's colon must begin with a '/'");
    else if (!socket.len || socket.len >= SOCKET_PATH_MAX)
        s = fail(err, WEND_E_INVAL, "a unix socket's path has 1 to %d bytes",
                 SOCKET_PATH_MAX - 1);
    else
        s = b.failed ? fail_nomem(err) : keep_url(d, buf_view(&b), err);
    buf_free(&b);
    return s;
}

static wend_status find_url(struct http_driver *d,
                            const struct driver_options *o, wend_error *err)
{
    wend_str url = str_of(o->base_url ? o->base_url : d->codec->base_url);

    if (str_starts(url, "unix:"))
        return keep_socket(d, (wend_str){url.ptr + 5, url.len - 5}, err);
    if (str_starts(url, "http://") || str_starts(url, "https://"))
        return keep_url(d, url, err);
    return fail(err, WEND_E_INVAL,
                "base URL '%.200s' must begin with http://, https:// or unix:",
                url.ptr);
}

/* Whether wend sends it anyway. Without a key, its header is free. */
static bool is_sent(const struct http_driver *d, wend_str name)
{
    for (const char *const *h = d->headers; *h; h++)
        if (header_is(str_of(*h), name))
            return true;
    return false;
}

/* Notes the value; it stays in the header's line, which is wiped. */
static wend_status add_variable(struct http_driver *d, struct buf *line,
                                wend_str name, wend_error *err)
{
    char variable[128];
    const char *value;

    utf8_fmt(variable, sizeof variable, "%.*s", STR_ARGS(name));
    value = getenv(variable);
    if (!value || !*value)
        return fail(err, WEND_E_NOTFOUND,
                    "the header %.*s needs the environment variable '%.80s', "
                    "which is not set",
                    (int)strcspn(line->ptr, ":"), line->ptr, variable);
    if (!header_value_ok(str_of(value)))
        return fail(err, WEND_E_INVAL,
                    "the value of '%.80s' cannot stand in a header: it has a "
                    "control character or a space around it",
                    variable);
    if (d->base.secrets_count == KEYS_MAX)
        return fail(err, WEND_E_LIMIT, "over %d secrets in headers", KEYS_MAX);
    d->secrets[d->base.secrets_count++] =
        (wend_str){(const char *)(uintptr_t)line->len, strlen(value)};
    buf_cstr(line, value);
    return WEND_OK;
}

/* With the values of its variables. */
static wend_status add_header(struct http_driver *d, size_t at, wend_str header,
                              wend_error *err)
{
    size_t before = d->base.secrets_count;
    struct buf b = {.mem = &d->mem};
    wend_str name, value, text, variable;
    wend_status s = WEND_OK;

    if (!header_split(header, &name, &value))
        return WEND_OK; /* it was checked */
    if (is_sent(d, name))
        return fail(err, WEND_E_INVAL,
                    "wend sends the header %.*s itself; remove it",
                    UTF8_ARGS(name, 80));
    buf_str(&b, name);
    buf_cstr(&b, ": ");
    while (s == WEND_OK && header_piece(&value, &text, &variable)) {
        buf_str(&b, text);
        if (variable.ptr)
            s = add_variable(d, &b, variable, err);
    }
    d->headers[at] = arena_str(&d->arena, buf_view(&b)).ptr;
    for (size_t i = before; i < d->base.secrets_count; i++) {
        size_t offset = (size_t)(uintptr_t)d->secrets[i].ptr;

        d->secrets[i].ptr = d->headers[at] ? d->headers[at] + offset : NULL;
    }
    if (b.ptr)
        memset(b.ptr, 0, b.len);
    d->arena.failed |= b.failed;
    buf_free(&b);
    return s;
}

static wend_status make_headers(struct http_driver *d,
                                const struct driver_options *o, wend_error *err)
{
    wend_status s = WEND_OK;
    size_t n = 0;

    d->headers[n++] = "Content-Type: application/json";
    d->headers[n++] = d->codec->framing == SSE_LINES
                          ? "Accept: application/x-ndjson"
                          : "Accept: text/event-stream";
    for (size_t i = 0; d->codec->headers && d->codec->headers[i]; i++)
        d->headers[n++] = d->codec->headers[i];
    if (d->codec->key_header && d->key_line)
        d->headers[n++] = d->key_line;
    for (size_t i = 0; s == WEND_OK && o->headers && o->headers[i]; i++)
        if (!o->playback_dir || !strstr(o->headers[i], "${"))
            s = add_header(d, n++, str_of(o->headers[i]), err);
    return s == WEND_OK && d->arena.failed ? fail_nomem(err) : s;
}

wend_str http_refused(struct buf *room, const char *message, wend_str url)
{
    const struct local_server *l = strstr(message, "connection refused")
                                       ? local_find(url, room->mem)
                                       : NULL;

    buf_clear(room);
    buf_cstr(room, message);
    if (l)
        buf_fmt(room, "; if this is %s, start it: %s", l->title, l->start);
    return buf_view(room);
}

wend_status http_driver_open(const struct codec *codec,
                             const struct driver_options *o,
                             const struct mem *m, struct driver **out,
                             wend_error *err)
{
    struct http_driver *d = mem_zalloc(m, sizeof *d);
    wend_status s;

    if (!d)
        return fail_nomem(err);
    d->base.ops = &http_ops;
    d->mem = *m;
    d->arena.mem = &d->mem;
    d->codec = codec;
    d->model = d->base.model = arena_str(&d->arena, o->spec);
    d->output_tokens = d->base.output_tokens = o->output_tokens;
    if (!o->output_tokens && codec->output_tokens)
        d->base.output_tokens = codec->output_tokens(o->spec, o->effort);
    d->whole_ms = o->whole_ms;
    d->base.secrets = d->secrets;
    d->http2 = o->http2;
    d->insecure_http = o->insecure_http;
    d->ca_file = arena_str(&d->arena, str_of(o->ca_file)).ptr;
    s = find_key(d, o, err);
    if (s == WEND_OK)
        s = find_url(d, o, err);
    if (s == WEND_OK)
        s = make_headers(d, o, err);
    if (s == WEND_OK)
        s = tape_open(&d->tape, o, &d->arena, err);
    d->tape.key = d->base.key;
    d->tape.secrets = d->secrets;
    d->tape.secrets_count = d->base.secrets_count;
    if (s != WEND_OK) {
        driver_free(&d->base);
        return s;
    }
    *out = &d->base;
    return WEND_OK;
}

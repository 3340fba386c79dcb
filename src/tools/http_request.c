/*
 * http_request.c - a request over HTTP for the model, on the runtime's loop.
 *
 * base/url reads the URL, base/network says which addresses are allowed, and
 * fetch asks that for the very address it is about to connect to. Redirects
 * are followed here, each like a request of its own. No proxy is used: it
 * would look names up for us, behind the check.
 */
#include <stdio.h>
#include <strings.h>

#include "base/fail.h"
#include "base/limits.h"
#include "base/network.h"
#include "base/url.h"
#include "base/utf8.h"
#include "host/address.h"
#include "host/fetch.h"
#include "tools/tools.h"

enum {
    HOPS_MAX = 5,
    HEADERS_MAX = 64,
    HEADERS_BYTES_MAX = 32 << 10,
    VALUE_SHOWN_MAX = 1000, /* of a response's header */
    NOTE_BYTES = 16 << 10,  /* room for headers and notes in the answer */
    BODY_BYTES_MAX = OUTPUT_BYTES_MAX - NOTE_BYTES,
};

struct request {
    struct tool_job job;
    wend_call *call;
    const struct network *network;
    struct fetch *fetch;
    struct transfer *transfer; /* NULL: none is under way */
    struct url url;
    const char *method;
    const char *headers[HEADERS_MAX + 3]; /* ours, and the NULL at the end */
    size_t headers_count;
    wend_str body;
    int64_t bytes_max;
    struct buf text; /* what came of the body */
    int status, hops;
    bool is_text, is_encoded, is_cut;
};

/* ---- The end ------------------------------------------------------------- */

/* Answers the call and frees the request. */
static void finish(struct request *r, wend_status s)
{
    struct mem m = r->job.mem;
    wend_call *call = r->call;

    if (r->transfer)
        fetch_stop(r->transfer);
    buf_free(&r->text);
    (void)tool_end(&r->job, call, s);
    mem_free(&m, r);
}

static void put_body(struct request *r)
{
    struct buf *out = &r->job.out;
    wend_str t = buf_view(&r->text);
    bool binary;

    if (r->is_cut)
        t.len = utf8_whole(t.ptr, t.len);
    binary = r->is_encoded || (t.len && memchr(t.ptr, 0, t.len)) ||
             (!r->is_text && utf8_valid_len(t) != t.len);
    buf_char(out, '\n');
    if (binary)
        buf_fmt(out, "(%s%zu bytes that are no text; not shown)\n",
                r->is_cut ? "more than " : "", r->text.len);
    else
        utf8_repair(out, t);
    if (r->is_cut && !binary)
        buf_fmt(out, "\n(cut here, after %zu bytes; there is more)\n", t.len);
}

static void on_stop(void *ctx, enum stop_reason why)
{
    struct request *r = ctx;

    finish(r, fail(&r->job.err, WEND_E_IO,
                   "%s after %zu bytes of the body from %.*s; the request may "
                   "have had an effect",
                   why == CALL_STOP_DEADLINE ? "out of time" : "stopped",
                   r->text.len, (int)r->url.host.len, r->url.host.ptr));
}

/* ---- Headers ------------------------------------------------------------- */

static bool is_named(const char *line, const char *name)
{
    size_t len = strlen(name);

    return !strncasecmp(line, name, len) &&
           (line[len] == ':' || name[len - 1] == '-');
}

/* Names that end in `-` stand for all that begin so. */
static bool is_among(const char *line, const char *const *names)
{
    for (; *names; names++)
        if (is_named(line, *names))
            return true;
    return false;
}

static bool name_ok(wend_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] <= ' ' || s.ptr[i] >= 0x7f ||
            strchr("()<>@,;:\\\"/[]?={}", s.ptr[i]))
            return false;
    return s.len > 0;
}

static bool value_ok(wend_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] < ' ' || s.ptr[i] == 0x7f)
            return false;
    return s.len && s.ptr[0] != ' ' && s.ptr[s.len - 1] != ' ';
}

static void add_header(struct request *r, const char *name, wend_str value)
{
    struct buf b = {.mem = &r->job.mem};

    buf_fmt(&b, "%s: ", name);
    buf_str(&b, value);
    r->headers[r->headers_count++] = arena_str(&r->job.arena, buf_view(&b)).ptr;
    r->job.arena.failed |= b.failed;
    buf_free(&b);
}

/* They frame the message, choose the server, or are ours to set. */
static const char *const refused_headers[] = {
    "Host",
    "Content-Length",
    "Transfer-Encoding",
    "Connection",
    "TE",
    "Trailer",
    "Upgrade",
    "Keep-Alive",
    "Expect",
    "Proxy-",
    "Accept-Encoding",
    "Idempotency-Key",
    "HTTP2-",
    NULL,
};

/* What may go to another origin: no other header is known to carry no
 * secret. */
static const char *const harmless_headers[] = {
    "Accept",     "Accept-Language", "Content-Type", "Content-Language",
    "User-Agent", "Idempotency-Key", NULL,
};

static const char *const body_headers[] = {"Content-", "Idempotency-Key", NULL};

static void keep_headers(struct request *r, const char *const *names, bool keep)
{
    size_t n = 0;

    for (size_t i = 0; i < r->headers_count; i++)
        if (is_among(r->headers[i], names) == keep)
            r->headers[n++] = r->headers[i];
    r->headers_count = n;
    r->headers[n] = NULL;
}

static wend_status read_header(struct request *r, const struct json *h,
                               size_t *bytes)
{
    wend_error *err = &r->job.err;
    int shown = h->key.len < 80 ? (int)h->key.len : 80;
    wend_str name = arena_str(&r->job.arena, h->key);

    if (!name_ok(h->key))
        return fail(err, WEND_E_INVAL, "header '%.*s' is no name of a header",
                    shown, h->key.ptr);
    if (h->kind != JSON_STRING || !value_ok(h->text))
        return fail(err, WEND_E_INVAL,
                    "header '%.*s' must be a string that is not empty, "
                    "without line breaks or other control characters",
                    shown, h->key.ptr);
    *bytes += h->key.len + h->text.len + 4;
    if (*bytes > HEADERS_BYTES_MAX || r->headers_count == HEADERS_MAX)
        return fail(err, WEND_E_LIMIT,
                    "there are over %d headers, or they are over %d bytes",
                    HEADERS_MAX, HEADERS_BYTES_MAX);
    if (!name.ptr)
        return fail_nomem(err);
    add_header(r, name.ptr, h->text);
    if (r->job.arena.failed)
        return fail_nomem(err);
    if (is_among(r->headers[r->headers_count - 1], refused_headers))
        return fail(err, WEND_E_INVAL, "header '%.*s' cannot be set", shown,
                    h->key.ptr);
    return WEND_OK;
}

static wend_status read_headers(struct request *r)
{
    static const char *const agent[] = {"User-Agent", NULL};
    const struct json *j = json_get(r->job.args, "headers");
    wend_status s = WEND_OK;
    size_t bytes = 0;
    bool named = false;

    if (j && j->kind != JSON_OBJECT)
        return fail(&r->job.err, WEND_E_INVAL,
                    "argument 'headers' must be an object, not %s",
                    json_kind_name(j->kind));
    for (const struct json *h = j ? j->first : NULL; h && !s; h = h->next)
        s = read_header(r, h, &bytes);
    for (size_t i = 0; i < r->headers_count && !s; i++)
        named |= is_among(r->headers[i], agent);
    if (!s && !named)
        add_header(r, "User-Agent", STR("wend/" WEND_VERSION));
    return s;
}

/* ---- Arguments ----------------------------------------------------------- */

static wend_status read_method(struct request *r)
{
    static const char *const names[] = {"GET", "HEAD",  "POST",
                                        "PUT", "PATCH", "DELETE"};
    enum { SAFE = 2, NAMES = sizeof names / sizeof *names };
    wend_str method = STR("GET"), body = STR("");
    bool has_body = json_get(r->job.args, "body");
    wend_status s = tool_str(&r->job, "method", &method);
    int i;

    if (!s)
        s = tool_str(&r->job, "body", &body);
    if (s)
        return s;
    i = str_index(method, names, NAMES);
    if (i < 0)
        return fail(&r->job.err, WEND_E_INVAL,
                    "method '%.*s' is not GET, HEAD, POST, PUT, PATCH or "
                    "DELETE",
                    method.len < 40 ? (int)method.len : 40, method.ptr);
    if (i < SAFE && has_body)
        return fail(&r->job.err, WEND_E_INVAL, "%s has no body", names[i]);
    r->method = names[i];
    if (has_body || (i >= SAFE && strcmp(r->method, "DELETE") != 0))
        r->body = body;
    if (i >= SAFE)
        add_header(r, "Idempotency-Key", wend_call_key(r->call));
    return WEND_OK;
}

/* A rule of the user's was matched against the text as it is. */
static wend_status read_url(struct request *r)
{
    struct buf b = {.mem = &r->job.mem};
    wend_str text = STR_NONE;
    wend_status s = tool_str(&r->job, "url", &text);

    if (!s)
        s = url_parse(text, &r->job.arena, &r->url, &r->job.err);
    if (s)
        return s;
    url_put_origin(&b, &r->url);
    buf_char(&b, '/');
    if (b.failed)
        s = fail_nomem(&r->job.err);
    else if (!r->url.plain || !str_starts(text, b.ptr)) {
        buf_clear(&b);
        url_put(&b, &r->url);
        s = b.failed ? fail_nomem(&r->job.err)
                     : fail(&r->job.err, WEND_E_INVAL,
                            "write the URL as %.300s", b.ptr);
    }
    buf_free(&b);
    return s;
}

static wend_status read_args(struct request *r)
{
    wend_status s = read_url(r);

    if (!s)
        s = read_headers(r);
    if (!s)
        s = read_method(r);
    r->bytes_max = BODY_BYTES_MAX;
    if (!s)
        s = tool_i64(&r->job, "max_bytes", 1, &r->bytes_max);
    if (r->bytes_max > BODY_BYTES_MAX)
        r->bytes_max = BODY_BYTES_MAX;
    if (!s && r->job.arena.failed)
        s = fail_nomem(&r->job.err);
    return s;
}

/* ---- Transfers ----------------------------------------------------------- */

static bool on_allow(void *ctx, const struct sockaddr *to, char *why,
                     size_t why_size)
{
    struct request *r = ctx;
    struct buf b = {.mem = &r->job.mem};
    const char *what = "no internet address";
    struct address a;
    uint16_t port;

    if (address_of(to, &a, &port)) {
        if (network_allows(r->network, r->url.host, &a, port, &what))
            return true;
        address_put(&b, &a);
    }
    snprintf(why, why_size,
             "its address %s is %s; only public ones are allowed, and what "
             "the user adds to `network`",
             b.ptr ? b.ptr : "", what);
    buf_free(&b);
    return false;
}

static wend_status start(struct request *r);

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 ||
           status == 308;
}

static wend_status follow(struct request *r, wend_str location)
{
    wend_error why = {0}, *err = &r->job.err;
    int shown = location.len < 200 ? (int)location.len : 200;
    struct url next;

    if (++r->hops > HOPS_MAX)
        return fail(err, WEND_E_LIMIT, "over %d redirects, the last to '%.*s'",
                    HOPS_MAX, shown, location.ptr);
    if (url_join(&r->url, location, &r->job.arena, &next, &why) != WEND_OK)
        return fail(err, why.status, "a redirect to '%.*s': %.200s", shown,
                    location.ptr, why.message);
    if (r->url.https && !next.https)
        return fail(err, WEND_E_INVAL,
                    "a redirect from https to http ('%.*s') is not followed",
                    shown, location.ptr);
    if (!url_same_origin(&r->url, &next))
        keep_headers(r, harmless_headers, true);
    if (r->status < 307 && strcmp(r->method, "HEAD") != 0) {
        r->method = "GET";
        r->body = STR_NONE;
        keep_headers(r, body_headers, false);
    }
    r->url = next;
    fetch_stop(r->transfer);
    return start(r);
}

static void put_head(struct request *r, const struct transfer *t)
{
    static const char *const shown[] = {
        "Content-Type",
        "Content-Length",
        "Content-Encoding",
        "Content-Language",
        "Content-Disposition",
        "Last-Modified",
        "ETag",
        "Location",
        "Link",
        "Allow",
        "Retry-After",
        "WWW-Authenticate",
    };
    struct buf *out = &r->job.out;

    buf_fmt(out, "status: %d\n", r->status);
    if (r->hops) {
        buf_cstr(out, "url: ");
        url_put(out, &r->url);
        buf_char(out, '\n');
    }
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        wend_str v = fetch_header(t, shown[i]);

        if (!v.ptr)
            continue;
        if (v.len > VALUE_SHOWN_MAX)
            v.len = VALUE_SHOWN_MAX;
        buf_fmt(out, "%s: ", shown[i]);
        buf_str(out, v);
        buf_char(out, '\n');
    }
}

static void note_kind(struct request *r, const struct transfer *t)
{
    static const char *const words[] = {"text/*", "*json*", "*xml*",
                                        "*javascript*", "*charset=*"};
    wend_str type = fetch_header(t, "Content-Type");
    wend_str encoding = fetch_header(t, "Content-Encoding");

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        r->is_text |= type.ptr && str_glob(str_of(words[i]), type);
    r->is_encoded = encoding.len && !str_is(encoding, "identity");
}

static void on_head(void *ctx, struct transfer *t, int status)
{
    struct request *r = ctx;
    wend_str location = fetch_header(t, "Location");
    wend_status s;

    r->status = status;
    if (is_redirect(status) && location.len) {
        s = follow(r, location);
        if (s)
            finish(r, s);
        return;
    }
    put_head(r, t);
    note_kind(r, t);
}

static bool on_body(void *ctx, const char *p, size_t len)
{
    struct request *r = ctx;
    size_t room = (size_t)r->bytes_max - r->text.len;

    r->is_cut = len > room;
    buf_add(&r->text, p, r->is_cut ? room : len);
    if (r->text.failed) {
        finish(r, fail_nomem(&r->job.err));
    } else if (r->is_cut) {
        put_body(r);
        finish(r, WEND_OK);
    }
    return true;
}

static void on_end(void *ctx, enum fetch_end how, const char *message)
{
    struct request *r = ctx;

    r->transfer = NULL;
    if (how != FETCH_OK) {
        finish(r, fail(&r->job.err, WEND_E_IO, "%s", message));
        return;
    }
    put_body(r);
    finish(r, WEND_OK);
}

static wend_status start(struct request *r)
{
    static const struct fetch_events events = {on_head, on_body, on_end};
    struct buf url = {.mem = &r->job.mem};
    struct fetch_request q = {.method = r->method,
                              .headers = r->headers,
                              .body = r->body,
                              .copy_body = true,
                              .proxy = "",
                              .allow = on_allow,
                              .connect_ms = CONNECT_MS};
    wend_status s;

    r->transfer = NULL;
    url_put(&url, &r->url);
    q.url = url.ptr;
    s = url.failed
            ? fail_nomem(&r->job.err)
            : fetch_start(r->fetch, &q, &events, r, &r->transfer, &r->job.err);
    buf_free(&url);
    return s;
}

wend_status tool_http_request(void *ctx, wend_call *call)
{
    const struct tool_env *env = ctx;
    struct request *r = mem_zalloc(&(struct mem){0}, sizeof *r);
    wend_status s;

    if (!r)
        return WEND_E_NOMEM;
    r->call = call;
    r->network = env->network;
    r->text.mem = &r->job.mem;
    s = tool_begin(&r->job, call);
    if (!s)
        s = read_args(r);
    if (!s)
        s = call_fetch(call, &r->fetch, &r->job.err);
    if (!s)
        s = start(r);
    if (s)
        finish(r, s);
    else
        call_set_stop(call, on_stop, r);
    return WEND_OK;
}

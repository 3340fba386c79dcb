/*
 * web.c - a request over HTTP within bounds, on the runtime's loop.
 */
#include "tools/web.h"

#include <stdio.h>

#include "base/fail.h"
#include "base/header.h"
#include "base/limits.h"
#include "base/network.h"
#include "base/redact.h"
#include "base/utf8.h"
#include "host/fetch/fetch.h"

enum { HOPS_MAX = 5 };

/* ---- The end ------------------------------------------------------------- */

static void blank(const struct web *w, char *text, size_t len)
{
    redact_list(w->secrets, w->secrets_count, text, len);
}

/* Answers the call and frees the request. */
static void finish(struct web *w, wend_status s)
{
    struct mem m = w->job.mem;
    wend_call *call = w->call;

    if (w->transfer)
        fetch_stop(w->transfer);
    buf_free(&w->text);
    blank(w, w->job.out.ptr, w->job.out.len);
    blank(w, w->job.err.message, strlen(w->job.err.message));
    (void)tool_end(&w->job, call, s);
    mem_free(&m, w);
}

/* It ended before the request could leave. */
static bool is_unsent(enum fetch_end how)
{
    return how == FETCH_REFUSED || how == FETCH_INSECURE ||
           how == FETCH_HTTP2_ONLY || how == FETCH_CERTIFICATE ||
           how == FETCH_CA_FILE || how == FETCH_PROXY;
}

/* The code of an error, and whether it had an effect. A server that was not
 * reached did nothing; nor did one that blames the request, unless it was slow
 * or another server redirected us there. */
static void blame(struct web *w, enum fetch_end how)
{
    char code[32] = "network";
    bool no_effect = is_unsent(how) && !w->hops;
    bool again = fetch_may_pass(how);

    if (!w->tells)
        return;
    if (how != FETCH_OK && how != FETCH_TIMEOUT)
        snprintf(code, sizeof code, "%s", fetch_codes[how]);
    if (how == FETCH_OK && w->status >= 400) {
        again = w->status == 408 || w->status == 429 || w->status >= 500;
        no_effect = w->status < 500 && w->status != 408 && !w->hops;
        snprintf(code, sizeof code, "http_%d", w->status);
    } else if (how == FETCH_OK) {
        snprintf(code, sizeof code, "bad_answer");
    }
    call_blame(w->call, w->status == 429 ? "rate_limit" : code, no_effect,
               again);
}

static void give_up(struct web *w, wend_status s)
{
    blame(w, FETCH_OK);
    finish(w, s);
}

static void finish_done(struct web *w)
{
    wend_status s;

    blank(w, w->text.ptr, w->text.len);
    s = w->done(w);
    (s ? give_up : finish)(w, s);
}

static void on_stop(void *ctx, enum stop_reason why)
{
    struct web *w = ctx;

    finish(w, fail(&w->job.err, WEND_E_IO,
                   "%s after %zu bytes of the body from %.*s; the request may "
                   "have had an effect",
                   why == CALL_STOP_DEADLINE ? "out of time" : "stopped",
                   w->text.len, (int)w->url.host.len, w->url.host.ptr));
}

/* ---- Headers ------------------------------------------------------------- */

void web_add_header(struct web *w, const char *name, wend_str value)
{
    struct buf b = {.mem = &w->job.mem};

    buf_fmt(&b, "%s: ", name);
    buf_str(&b, value);
    w->headers[w->headers_count++] = buf_keep(&b, &w->job.arena).ptr;
}

wend_status web_take_header(struct web *w, wend_str name, wend_str value)
{
    wend_error *err = &w->job.err;
    int shown = name.len < 80 ? (int)name.len : 80;
    size_t bytes = name.len + value.len + 4;

    if (!header_name_ok(name))
        return fail(err, WEND_E_INVAL, "header '%.*s' is no name of a header",
                    shown, name.ptr);
    if (!header_value_ok(value))
        return fail(err, WEND_E_INVAL,
                    "header '%.*s' must be a string that is not empty, "
                    "without line breaks or other control characters",
                    shown, name.ptr);
    for (size_t i = 0; i < w->headers_count; i++)
        bytes += strlen(w->headers[i]) + 2;
    if (bytes > WEB_HEADERS_BYTES_MAX || w->headers_count == WEB_HEADERS_MAX)
        return fail(err, WEND_E_LIMIT,
                    "there are over %d headers, or they are over %d bytes",
                    WEB_HEADERS_MAX, WEB_HEADERS_BYTES_MAX);
    if (header_is_ours(name))
        return fail(err, WEND_E_INVAL, "header '%.*s' cannot be set", shown,
                    name.ptr);
    name = arena_str(&w->job.arena, name);
    if (name.ptr)
        web_add_header(w, name.ptr, value);
    return w->job.arena.failed ? fail_nomem(err) : WEND_OK;
}

/* Headers that may go to another origin: any other may carry a secret. */
static const char *const harmless_headers[] = {
    "Accept",     "Accept-Language", "Content-Type", "Content-Language",
    "User-Agent", "Idempotency-Key", NULL,
};

static const char *const body_headers[] = {"Content-", "Idempotency-Key", NULL};

static void keep_headers(struct web *w, const char *const *names, bool keep)
{
    size_t n = 0;

    for (size_t i = 0; i < w->headers_count; i++)
        if (header_is_among(str_of(w->headers[i]), names) == keep)
            w->headers[n++] = w->headers[i];
    w->headers_count = n;
    w->headers[n] = NULL;
}

static void name_agent(struct web *w)
{
    static const char *const agent[] = {"User-Agent", NULL};
    bool named = false;

    for (size_t i = 0; i < w->headers_count; i++)
        named |= header_is_among(str_of(w->headers[i]), agent);
    if (!named)
        web_add_header(w, "User-Agent", STR("wend/" WEND_VERSION));
}

/* ---- Transfers ----------------------------------------------------------- */

static bool on_allow(void *ctx, const struct sockaddr *to, char *why,
                     size_t why_size)
{
    struct web *w = ctx;
    struct buf b = {.mem = &w->job.mem};
    const char *what = "no internet address";
    struct address a;
    uint16_t port;

    if (address_of(to, &a, &port)) {
        if (network_allows(w->env->network, w->url.host, &a, port, &what))
            return true;
        address_put(&b, &a);
    }
    utf8_fmt(why, why_size,
             "its address %s is %s; only public ones are allowed, and what "
             "the user adds to `network`",
             b.ptr ? b.ptr : "", what);
    buf_free(&b);
    return false;
}

static wend_status start(struct web *w);

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 ||
           status == 308;
}

/* The rules of the user have judged only the first URL. */
static wend_status may_follow(struct web *w, const struct url *next,
                              const char *method, bool body)
{
    struct buf from = {.mem = &w->job.mem}, to = {.mem = &w->job.mem};
    bool may = false;
    wend_status s = WEND_OK;

    url_put(&from, &w->url);
    url_put(&to, next);
    if (!from.failed && !to.failed)
        may = call_may_follow(
            w->call,
            &(struct call_request){w->method, buf_view(&from), w->body.ptr},
            &(struct call_request){method, buf_view(&to), body},
            str_eq(w->url.host, next->host));
    else
        s = fail_nomem(&w->job.err);
    if (!s && !may)
        s = fail(&w->job.err, WEND_E_INVAL,
                 "a redirect to %s %.300s is not followed: no rule allows it; "
                 "call the tool with that URL to be asked",
                 method, to.ptr);
    buf_free(&from);
    buf_free(&to);
    return s;
}

static wend_status follow(struct web *w, wend_str location)
{
    wend_error why = {0}, *err = &w->job.err;
    int shown = location.len < 200 ? (int)location.len : 200;
    bool again = w->status >= 307 || !strcmp(w->method, "HEAD");
    struct url next;
    wend_status s;

    if (++w->hops > HOPS_MAX)
        return fail(err, WEND_E_LIMIT, "over %d redirects, the last to '%.*s'",
                    HOPS_MAX, shown, location.ptr);
    if (url_join(&w->url, location, &w->job.arena, &next, &why) != WEND_OK)
        return fail(err, why.status, "a redirect to '%.*s': %.200s", shown,
                    location.ptr, why.message);
    if (w->url.https && !next.https)
        return fail(err, WEND_E_INVAL,
                    "a redirect from https to http ('%.*s') is not followed",
                    shown, location.ptr);
    s = may_follow(w, &next, again ? w->method : "GET", again && w->body.ptr);
    if (s)
        return s;
    if (!url_same_origin(&w->url, &next))
        keep_headers(w, harmless_headers, true);
    if (!again) {
        w->method = "GET";
        w->body = STR_NONE;
        keep_headers(w, body_headers, false);
    }
    w->url = next;
    fetch_stop(w->transfer);
    return start(w);
}

static void note_kind(struct web *w, const struct transfer *t)
{
    static const char *const words[] = {"text/*", "*json*", "*xml*",
                                        "*javascript*", "*charset=*"};
    wend_str type = fetch_header(t, "Content-Type");
    wend_str encoding = fetch_header(t, "Content-Encoding");

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        w->is_text |= type.ptr && str_glob(str_of(words[i]), type);
    w->is_encoded = encoding.len && !str_is(encoding, "identity");
}

static void on_head(void *ctx, struct transfer *t, int status)
{
    struct web *w = ctx;
    wend_str location = fetch_header(t, "Location");
    wend_status s;

    w->status = status;
    if (is_redirect(status) && location.len) {
        s = follow(w, location);
        if (s)
            give_up(w, s);
        return;
    }
    if (w->head)
        w->head(w, t);
    note_kind(w, t);
}

static bool on_body(void *ctx, const char *p, size_t len)
{
    struct web *w = ctx;
    size_t room = (size_t)w->bytes_max - w->text.len;

    w->is_cut = len > room;
    buf_add(&w->text, p, w->is_cut ? room : len);
    if (w->text.failed)
        finish(w, fail_nomem(&w->job.err));
    else if (w->is_cut)
        finish_done(w);
    return true;
}

static void on_end(void *ctx, enum fetch_end how, const char *message)
{
    struct web *w = ctx;

    w->transfer = NULL;
    if (how == FETCH_OK) {
        finish_done(w);
        return;
    }
    blame(w, how);
    finish(w, fail(&w->job.err, WEND_E_IO, "%s", message));
}

static bool holds_one(wend_str text, const wend_str *secrets, size_t count)
{
    for (size_t i = 0; text.len && i < count; i++)
        if (secrets[i].len &&
            memmem(text.ptr, text.len, secrets[i].ptr, secrets[i].len))
            return true;
    return false;
}

static bool holds_secret(const struct web *w, wend_str text)
{
    const struct web_env *e = w->env;

    return holds_one(text, w->secrets, w->secrets_count) ||
           (e->secrets && holds_one(text, e->secrets, *e->secrets_count));
}

/* As it is, or percent-encoded as in queries and forms. */
static bool carries_secret(const struct web *w, wend_str text)
{
    struct buf plain = {.mem = &w->job.mem};
    bool found;

    url_decode(&plain, text);
    found = plain.failed || holds_secret(w, text) ||
            holds_secret(w, buf_view(&plain));
    buf_free(&plain);
    return found;
}

/* In the URL, the body or a header; some headers always carry one. */
static bool has_secret(const struct web *w, wend_str url)
{
    static const char *const names[] = {"Authorization", "Cookie", "X-Api-Key",
                                        NULL};

    for (size_t i = 0; i < w->headers_count; i++)
        if (header_is_among(str_of(w->headers[i]), names) ||
            holds_secret(w, str_of(w->headers[i])))
            return true;
    return carries_secret(w, url) || carries_secret(w, w->body);
}

static wend_status start(struct web *w)
{
    static const struct fetch_events events = {on_head, on_body, on_end};
    struct buf url = {.mem = &w->job.mem};
    struct fetch_request q = {.method = w->method,
                              .headers = w->headers,
                              .body = w->body,
                              .copy_body = true,
                              .proxy = "",
                              .ca_file = w->env->ca_file,
                              .allow = on_allow,
                              .connect_ms = CONNECT_MS};
    wend_status s;

    w->transfer = NULL;
    url_put(&url, &w->url);
    q.url = url.ptr;
    q.secret =
        !url.failed && !w->env->insecure_http && has_secret(w, buf_view(&url));
    s = url.failed
            ? fail_nomem(&w->job.err)
            : fetch_start(w->fetch, &q, &events, w, &w->transfer, &w->job.err);
    buf_free(&url);
    return s;
}

struct web *web_new(wend_call *call, const struct tool_arg *args,
                    wend_status *s)
{
    struct web *w = mem_zalloc(&(struct mem){0}, sizeof *w);

    if (!w)
        return NULL;
    w->call = call;
    w->text.mem = &w->job.mem;
    *s = tool_begin(&w->job, call, args);
    return w;
}

void web_start(struct web *w, wend_status s)
{
    if (!s)
        name_agent(w);
    if (!s && w->job.arena.failed)
        s = fail_nomem(&w->job.err);
    if (!s)
        s = call_fetch(w->call, &w->fetch, &w->job.err);
    if (!s)
        s = start(w);
    if (s && w->tells)
        call_blame(w->call, "invalid_arguments", true, false);
    if (s)
        finish(w, s);
    else
        call_set_stop(w->call, on_stop, w);
}

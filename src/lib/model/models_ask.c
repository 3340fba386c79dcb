/*
 * models_ask.c - which models a provider has: one or more GET requests, with
 * the key, the address and the headers that a run would use.
 */
#include "lib/model/http.h"

#include <string.h>

#include "base/fail.h"
#include "base/redact.h"
#include "base/utf8.h"
#include "wire/model/failure.h"
#include "wire/model/listing.h"

enum {
    LISTING_MS = 10000,
    PAGES_MAX = 20, /* of a thousand models each; a server that loops ends */
    MODELS_COUNT_MAX = 10000,
    LISTING_BYTES_MAX = 16 << 20, /* far above the longest list of a gateway */
};

struct asking {
    wend_runtime *rt;
    struct mem mem; /* outlives the runtime: the list is the host's */
    const struct http_driver *driver;
    struct arena arena;
    wend_model_list list; /* what the host gets; the rest is behind it */
    wend_model_info *rows;
    size_t cap;
    struct buf url, body, failure;
    struct transfer *transfer;
    int status;
    enum fetch_end how;
    bool over, too_long;
};

static void on_head(void *ctx, struct transfer *t, int status)
{
    struct asking *q = ctx;
    int64_t seconds;

    q->status = status;
    if (q->list.server_us || !failure_date(fetch_header(t, "date"), &seconds))
        return;
    q->list.server_us = seconds * 1000000;
    q->list.local_us = rt_wall(q->rt);
}

static bool on_body(void *ctx, const char *p, size_t len)
{
    struct asking *q = ctx;

    q->too_long |= q->body.len + len > LISTING_BYTES_MAX;
    if (!q->too_long)
        buf_add(&q->body, p, len);
    return true;
}

static void on_end(void *ctx, enum fetch_end how, const char *message)
{
    struct asking *q = ctx;

    q->transfer = NULL;
    q->how = how;
    q->over = true;
    if (how != FETCH_OK)
        http_refused(&q->failure, message, buf_view(&q->url));
}

static const struct fetch_events list_events = {on_head, on_body, on_end};

static bool on_row(void *ctx, const wend_model_info *row)
{
    struct asking *q = ctx;
    wend_model_info *at;

    if (q->list.count == MODELS_COUNT_MAX)
        return false;
    at = mem_add(&q->mem, &q->rows, &q->list.count, &q->cap, sizeof *q->rows);
    if (!at) {
        q->arena.failed = true;
        return false;
    }
    *at = *row;
    at->name = utf8_keep(row->name, &q->arena);
    return !q->arena.failed;
}

/* ---- What came back ------------------------------------------------------ */

/* The server may quote the key. */
static wend_status fail_with(struct asking *q, wend_status s, wend_str why,
                             wend_error *err)
{
    struct redact r = {.secret = q->driver->base.key};
    struct buf text = {.mem = &q->mem};

    buf_str(&text, why);
    if (text.len)
        redact(&r, text.ptr, text.len);
    fail(err, s, "%s: %.400s", q->driver->codec->name, buf_view(&text).ptr);
    buf_free(&text);
    return s;
}

static wend_status fail_status(struct asking *q, wend_error *err)
{
    struct failure_headers h = {
        .url = buf_view(&q->url),
        .usual_base = str_of(q->driver->codec->base_url),
    };
    struct arena a = {.mem = &q->mem};
    struct failure f = {.retry = false};
    wend_status s = q->status == 401 || q->status == 403   ? WEND_E_STALE
                    : q->status == 404 || q->status == 405 ? WEND_E_NOTFOUND
                                                           : WEND_E_IO;

    failure_of(q->status, buf_view(&q->body), &h, rt_wall(q->rt), &a, &f);
    s = fail_with(q, s, f.message, err);
    arena_free(&a);
    return s;
}

static wend_status read_page(struct asking *q, struct buf *page,
                             wend_error *err)
{
    struct arena a = {.mem = &q->mem};
    const struct json *body = json_parse(buf_view(&q->body), &a, NULL);
    wend_str next;
    wend_status s = WEND_OK;

    if (!listing_read(q->driver->codec, body, on_row, q, &next))
        s = fail_with(q, a.failed ? WEND_E_NOMEM : WEND_E_NOTFOUND,
                      STR("the answer is not a list of models; check the "
                          "base URL"),
                      err);
    buf_clear(page);
    if (s == WEND_OK && next.len)
        buf_str(page, next);
    arena_free(&a);
    return s == WEND_OK && (q->arena.failed || page->failed) ? fail_nomem(err)
                                                             : s;
}

/* ---- Asking -------------------------------------------------------------- */

/* Those of a question, but for what it sends and expects. */
static void take_headers(const struct http_driver *d, const char **out)
{
    *out++ = "Accept: application/json";
    for (const char *const *h = d->headers; *h; h++)
        if (!str_starts(str_of(*h), "Accept:") &&
            !str_starts(str_of(*h), "Content-Type:"))
            *out++ = *h;
    *out = NULL;
}

static wend_status ask_page(struct asking *q, struct buf *page, int64_t left_ms,
                            wend_error *err)
{
    const struct http_driver *d = q->driver;
    const char *headers[HTTP_HEADERS_MAX + 1];
    struct fetch_request request = {
        .headers = headers,
        .unix_socket = d->unix_socket,
        .ca_file = d->ca_file,
        .http2 = d->http2,
        .secret = d->key_line && d->codec->key_header && !d->insecure_http,
        .connect_ms = left_ms,
        .whole_ms = left_ms,
        .harmless = true,
    };
    struct fetch *fetch;
    wend_status s = rt_fetch(q->rt, &fetch, err);

    take_headers(d, headers);
    buf_clear(&q->url);
    buf_clear(&q->body);
    buf_cstr(&q->url, d->base_url);
    listing_path(d->codec, page->len ? buf_view(page) : STR_NONE, &q->url);
    if (d->query)
        buf_fmt(&q->url, "%c%s", strchr(q->url.ptr, '?') ? '&' : '?', d->query);
    if (!q->list.url.ptr)
        q->list.url = arena_str(&q->arena, buf_view(&q->url));
    if (s == WEND_OK && (q->url.failed || q->arena.failed))
        s = fail_nomem(err);
    if (s != WEND_OK)
        return s;
    request.url = q->url.ptr;
    q->over = false;
    s = fetch_start(fetch, &request, &list_events, q, &q->transfer, err);
    while (s == WEND_OK && !q->over)
        rt_pump(q->rt, -1); /* whole_ms ends it */
    if (s != WEND_OK)
        return s;
    if (q->how == FETCH_NOMEM || q->body.failed || q->failure.failed)
        return fail_nomem(err);
    if (q->how != FETCH_OK)
        return fail_with(q, WEND_E_IO, buf_view(&q->failure), err);
    if (q->status < 200 || q->status > 299)
        return fail_status(q, err);
    return q->too_long
               ? fail_with(q, WEND_E_LIMIT, STR("the list is over 16 MiB"), err)
               : read_page(q, page, err);
}

static wend_status ask_all(struct asking *q, int64_t whole_ms, wend_error *err)
{
    int64_t end_us = rt_after(q->rt, whole_ms);
    struct buf page = {.mem = &q->mem};
    wend_status s = WEND_OK;

    for (int i = 0; s == WEND_OK && i < PAGES_MAX && (!i || page.len); i++) {
        int64_t left_ms = (end_us - rt_clock(q->rt)) / 1000;

        s = ask_page(q, &page, left_ms > 1 ? left_ms : 1, err);
    }
    buf_free(&page);
    q->list.models = q->rows;
    return s;
}

void wend_models_free(wend_model_list *list)
{
    struct asking *q = container_of(list, struct asking, list);
    struct mem m;

    if (!list)
        return;
    m = q->mem;
    q->arena.mem = q->url.mem = q->body.mem = q->failure.mem = &m;
    buf_free(&q->url);
    buf_free(&q->body);
    buf_free(&q->failure);
    mem_free(&m, q->rows);
    arena_free(&q->arena);
    mem_free(&m, q);
}

static wend_status ask(wend_runtime *rt, const wend_agent_options *o,
                       wend_model_list **out, wend_error *err)
{
    struct asking *q = mem_zalloc(&rt->mem, sizeof *q);
    int64_t whole_ms = o->model_timeout_ms ? o->model_timeout_ms : LISTING_MS;
    struct driver_options d = {.base_url = o->base_url,
                               .key_file = o->key_file,
                               .ca_file = o->ca_file,
                               .http2 = o->http2,
                               .insecure_http = o->insecure_http,
                               .spec = STR("*")};
    struct driver *driver = NULL;
    wend_status s;

    if (!q)
        return fail_nomem(err);
    q->rt = rt;
    q->mem = rt->mem;
    q->arena.mem = q->url.mem = q->body.mem = q->failure.mem = &q->mem;
    s = http_driver_for(o->model, &d, &q->mem, &driver, err);
    if (s == WEND_OK) {
        q->driver = (struct http_driver *)(void *)driver;
        s = ask_all(q, whole_ms, err);
        driver->ops->free(driver);
    }
    if (s == WEND_OK)
        *out = &q->list;
    else
        wend_models_free(&q->list);
    return s;
}

wend_status wend_models_ask(wend_runtime *rt, const wend_agent_options *options,
                            wend_model_list **out, wend_error *err)
{
    wend_model_list *list = NULL;
    wend_agent_options o;
    wend_status s = rt_enter_for(rt, "models", err);

    if (s != WEND_OK)
        return s;
    if (!out || !options ||
        !OPTIONS_TAKE(&o, wend_agent_options, cwd, options) || !o.model ||
        o.model_timeout_ms < 0)
        return fail(err, WEND_E_INVAL,
                    "models: out, options or options.model is NULL, or an "
                    "option is wrong");
    s = rt_begin(rt);
    if (s != WEND_OK)
        return fail(err, s, "models: called from inside a callback");
    s = ask(rt, &o, &list, err);
    *out = list;
    if (rt_end_of(rt, true, s, err) == s)
        return s;
    wend_models_free(list);
    *out = NULL;
    return WEND_E_MISUSE;
}

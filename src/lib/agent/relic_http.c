/*
 * relic_http.c - endpoints of a service over HTTP, for the actions of plans.
 *
 * The user wrote where a request goes, but values come from anywhere, so they
 * cannot leave their place. A service may be reached at the same addresses as
 * by the tool http_request (tools/web.h).
 */
#include <stdlib.h>

#include "base/fail.h"
#include "base/header.h"
#include "base/utf8.h"
#include "lib/agent/relics.h"
#include "tools/web.h"

enum { BODY_SHOWN_MAX = 300 }; /* bytes of one that says what went wrong */

/* In the agent's arena. */
struct service {
    const struct relic_manifest *manifest;
    const struct web_env *web;
    wend_str *secrets; /* the values, as the manifest has the names */
};

struct service_end {
    const struct service *service;
    const struct relic_endpoint *endpoint;
};

/* ---- Values in their places ---------------------------------------------- */

static wend_str secret_of(const struct service *v, wend_str name)
{
    const struct manifest_words *w = &v->manifest->server.secrets;

    for (size_t i = 0; i < w->count; i++)
        if (str_eq(w->list[i].text, name))
            return v->secrets[i];
    return STR_NONE;
}

/* The value of a parameter as text. */
static wend_status text_of(struct web *w, wend_str name, wend_str *out)
{
    const struct json *v = json_member(w->job.args, name);

    if (v && (v->kind == JSON_STRING || v->kind == JSON_NUMBER)) {
        *out = v->text;
        return WEND_OK;
    }
    if (v && (v->kind == JSON_TRUE || v->kind == JSON_FALSE)) {
        *out = v->kind == JSON_TRUE ? STR("true") : STR("false");
        return WEND_OK;
    }
    return fail(&w->job.err, WEND_E_INVAL,
                v ? "parameter '%.*s' must be a string, a number, true or "
                    "false"
                  : "parameter '%.*s' is missing",
                (int)name.len, name.ptr);
}

static void put_escaped(struct buf *b, wend_str s)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";

    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (c && strchr(plain, c))
            buf_char(b, (char)c);
        else
            buf_fmt(b, "%%%02X", c);
    }
}

/* Whether a part of the path is . or .. */
static bool has_dots(wend_str path)
{
    const char *query = path.len ? memchr(path.ptr, '?', path.len) : NULL;
    wend_str part;

    if (query)
        path.len = (size_t)(query - path.ptr);
    while (str_take(&path, '/', &part))
        if (str_is(part, ".") || str_is(part, ".."))
            return true;
    return false;
}

static wend_status put_path(struct web *w, const struct relic_text *t,
                            struct buf *b)
{
    size_t from = b->len;
    wend_str value = STR_NONE;

    for (size_t i = 0; i < t->count; i++) {
        const struct relic_part *p = &t->parts[i];
        wend_status s = WEND_OK;

        buf_str(b, p->before);
        if (!p->place.ptr)
            continue;
        s = text_of(w, p->place, &value);
        if (!s && !value.len && b->ptr && !memchr(b->ptr, '?', b->len))
            s = fail(&w->job.err, WEND_E_INVAL,
                     "parameter '%.*s' is empty: the path would be another one",
                     (int)p->place.len, p->place.ptr);
        if (s)
            return s;
        put_escaped(b, value);
    }
    if (!b->failed && has_dots((wend_str){b->ptr + from, b->len - from}))
        return fail(&w->job.err, WEND_E_INVAL,
                    "a value of . or .. would lead to another path");
    return WEND_OK;
}

static wend_status put_url(struct web *w, const struct service *v,
                           const struct relic_endpoint *e)
{
    struct buf b = {.mem = &w->job.mem};
    wend_status s;

    buf_str(&b, v->manifest->base_url);
    s = put_path(w, &e->path, &b);
    if (!s && b.failed)
        s = fail_nomem(&w->job.err);
    if (!s)
        s = url_parse(buf_view(&b), &w->job.arena, &w->url, &w->job.err);
    buf_free(&b);
    return s;
}

/* ---- Headers ------------------------------------------------------------- */

static bool is_set(const struct web *w, wend_str name)
{
    for (size_t i = 0; i < w->headers_count; i++)
        if (header_is(str_of(w->headers[i]), name))
            return true;
    return false;
}

static wend_status put_headers(struct web *w, const struct service *v,
                               const struct relic_headers *h)
{
    struct buf b = {.mem = &w->job.mem};
    wend_status s = WEND_OK;

    for (size_t i = 0; !s && i < h->count; i++) {
        const struct relic_text *t = &h->list[i].value;

        if (is_set(w, h->list[i].name))
            continue;
        buf_clear(&b);
        for (size_t k = 0; !s && k < t->count; k++) {
            const struct relic_part *p = &t->parts[k];
            wend_str value = STR("");

            if (p->secret)
                value = secret_of(v, p->place);
            else if (p->place.ptr)
                s = text_of(w, p->place, &value);
            buf_str(&b, p->before);
            buf_str(&b, value);
        }
        if (!s && b.failed)
            s = fail_nomem(&w->job.err);
        if (!s)
            s = web_take_header(w, h->list[i].name, buf_view(&b));
    }
    buf_free(&b);
    return s;
}

/* ---- The body ------------------------------------------------------------ */

static bool takes(const struct relic_text *t, wend_str name)
{
    for (size_t i = 0; i < t->count; i++)
        if (!t->parts[i].secret && str_eq(t->parts[i].place, name))
            return true;
    return false;
}

static bool has_place(const struct service *v, const struct relic_endpoint *e,
                      wend_str name)
{
    const struct relic_headers *h[] = {&e->headers, &v->manifest->headers};
    bool found = takes(&e->path, name);

    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < h[k]->count; i++)
            found |= takes(&h[k]->list[i].value, name);
    return found;
}

/* Parameters without a place, as one object. */
static wend_status put_rest(struct web *w, const struct service *v,
                            const struct relic_endpoint *e)
{
    struct buf b = {.mem = &w->job.mem};

    buf_char(&b, '{');
    for (const struct json *m = w->job.args->first; m; m = m->next) {
        if (has_place(v, e, m->key))
            continue;
        if (!e->body) {
            buf_free(&b);
            return fail(&w->job.err, WEND_E_INVAL,
                        "the endpoint has no place for the parameter '%.*s'",
                        (int)utf8_cut(m->key, 64), m->key.ptr);
        }
        json_add_pair(&b, m->key, m);
    }
    json_close(&b, '}');
    if (e->body) {
        w->body = arena_str(&w->job.arena, buf_view(&b));
        if (!is_set(w, STR("Content-Type")))
            web_add_header(w, "Content-Type", STR("application/json"));
    }
    w->job.arena.failed |= b.failed;
    buf_free(&b);
    return w->job.arena.failed ? fail_nomem(&w->job.err) : WEND_OK;
}

/* ---- The answer ---------------------------------------------------------- */

static wend_status refused(struct web *w)
{
    struct buf b = {.mem = &w->job.mem};
    wend_str text = buf_view(&w->text);

    if (text.len > BODY_SHOWN_MAX)
        text.len = utf8_whole(text.ptr, BODY_SHOWN_MAX);
    utf8_repair(&b, text);
    fail(&w->job.err, WEND_E_IO, "%.*s answered with the status %d%s%s",
         w->url.host.len < 100 ? (int)w->url.host.len : 100, w->url.host.ptr,
         w->status, b.len ? ": " : "", b.len ? b.ptr : "");
    buf_free(&b);
    return WEND_E_IO;
}

static wend_status put_json(struct web *w)
{
    wend_error why = {0};
    const struct json *j;

    if (!w->text.len) {
        buf_cstr(&w->job.out, "null");
        return WEND_OK;
    }
    j = json_parse(buf_view(&w->text), &w->job.arena, &why);
    if (why.status == WEND_E_NOMEM)
        return fail_nomem(&w->job.err);
    if (!j)
        return fail(&w->job.err, WEND_E_PARSE,
                    "the answer is no JSON (line %u, column %u: %.200s)",
                    why.line, why.column, why.message);
    json_put(&w->job.out, j);
    return WEND_OK;
}

static wend_status put_text(struct web *w)
{
    struct buf b = {.mem = &w->job.mem};
    wend_str text = buf_view(&w->text);

    if (text.len && memchr(text.ptr, 0, text.len))
        return fail(&w->job.err, WEND_E_PARSE,
                    "the answer has %zu bytes that are no text", text.len);
    utf8_repair(&b, text);
    json_put_str(&w->job.out, buf_view(&b));
    w->job.out.failed |= b.failed;
    buf_free(&b);
    return WEND_OK;
}

static wend_status on_done(struct web *w)
{
    const struct service_end *end = w->ctx;

    if (w->status < 200 || w->status > 299)
        return refused(w);
    if (w->is_cut)
        return fail(&w->job.err, WEND_E_LIMIT, "the answer is over %d bytes",
                    RELIC_BODY_MAX);
    if (w->is_encoded)
        return fail(&w->job.err, WEND_E_PARSE,
                    "the answer is encoded, which was not asked for");
    return end->endpoint->output_json ? put_json(w) : put_text(w);
}

static wend_status read_args(struct web *w, const struct service_end *end)
{
    const struct relic_endpoint *e = end->endpoint;
    const struct service *v = end->service;
    wend_status s = put_url(w, v, e);

    if (!s)
        s = put_headers(w, v, &e->headers);
    if (!s)
        s = put_headers(w, v, &v->manifest->headers);
    if (!s)
        s = put_rest(w, v, e);
    if (!s && e->output_json && !is_set(w, STR("Accept")))
        web_add_header(w, "Accept", STR("application/json"));
    if (!s && e->method != RELIC_GET && e->method != RELIC_HEAD)
        web_add_header(w, "Idempotency-Key", wend_call_key(w->call));
    return s;
}

static wend_status run_end(void *ctx, wend_call *call)
{
    const struct service_end *end = ctx;
    const struct service *v = end->service;
    wend_status s = WEND_OK;
    struct web *w = web_new(call, TOOL_ARGS({.key = NULL}), &s);

    if (!w)
        return WEND_E_NOMEM;
    w->env = v->web;
    w->done = on_done;
    w->ctx = end;
    w->secrets = v->secrets;
    w->secrets_count = v->manifest->server.secrets.count;
    w->method = relic_methods[end->endpoint->method];
    w->bytes_max = RELIC_BODY_MAX;
    w->tells = true;
    web_start(w, s ? s : read_args(w, end));
    return WEND_OK;
}

/* ---- The relic ----------------------------------------------------------- */

static wend_status take_secrets(wend_agent *a, struct service *v,
                                wend_error *err)
{
    const struct manifest_words *w = &v->manifest->server.secrets;
    wend_status s = WEND_OK;

    if (w->count > SECRETS_MAX)
        return fail_at(err, WEND_E_LIMIT, w->list[0].line, w->list[0].column,
                       "relic '%s': over %d secrets", v->manifest->name.ptr,
                       SECRETS_MAX);
    v->secrets = arena_alloc(&a->arena, (w->count + 1) * sizeof *v->secrets);
    if (!v->secrets)
        return fail_nomem(err);
    for (size_t i = 0; s == WEND_OK && i < w->count; i++) {
        const char *value = getenv(w->list[i].text.ptr);

        if (!value || !*value)
            return fail_at(err, WEND_E_NOTFOUND, w->list[i].line,
                           w->list[i].column,
                           "relic '%s': the environment has no '%.80s', which "
                           "it shall get",
                           v->manifest->name.ptr, w->list[i].text.ptr);
        v->secrets[i] = arena_str(&a->arena, str_of(value));
        if (!v->secrets[i].ptr)
            return fail_nomem(err);
        s = agent_hide(a, v->secrets[i], err);
    }
    return s;
}

static wend_status add_end(wend_agent *a, const struct service *v,
                           const struct relic_endpoint *e, wend_error *err)
{
    static const struct tool_kind kind = {.source = "relic"};
    struct service_end *end = arena_alloc(&a->arena, sizeof *end);
    int64_t timeout_ms =
        e->timeout_ms ? e->timeout_ms : v->manifest->server.timeout_ms;
    wend_tool_options t = {
        .schema = e->schema.ptr,
        .call_class = (wend_class)e->call_class,
        .category = WEND_CATEGORY_NETWORK,
        .labels = relic_labels(&e->labels, WEND_LABEL_UNTRUSTED_SOURCE |
                                               WEND_LABEL_EXTERNAL_EFFECT),
        .timeout_ms = (uint32_t)timeout_ms,
        .subject = e->path.parts[0].place.ptr,
        .fn = run_end,
        .ctx = end,
    };

    if (!end)
        return fail_nomem(err);
    *end = (struct service_end){.service = v, .endpoint = e};
    return relic_add_end(a, v->manifest->name, e->name, &t, &kind, err);
}

wend_status relic_add_http(wend_agent *a, const struct relic_manifest *m,
                           wend_error *err)
{
    struct service *v = arena_alloc(&a->arena, sizeof *v);
    wend_status s;

    if (!v)
        return fail_nomem(err);
    *v = (struct service){.manifest = m, .web = &a->web};
    s = take_secrets(a, v, err);
    for (size_t i = 0; s == WEND_OK && i < m->endpoints_count; i++)
        s = add_end(a, v, &m->endpoints[i], err);
    return s;
}

/*
 * http_request.c - a request over HTTP for the model.
 *
 * base/url reads the URL strictly; web.c says whom it may reach, and how.
 */
#include "base/fail.h"
#include "base/limits.h"
#include "base/network.h"
#include "base/utf8.h"
#include "host/fetch/fetch.h"
#include "tools/web.h"

enum {
    VALUE_SHOWN_MAX = 1000, /* of a response's header */
    NOTE_BYTES = 16 << 10,  /* room for headers and notes in the answer */
    BODY_BYTES_MAX = OUTPUT_BYTES_MAX - NOTE_BYTES,
};

/* ---- The answer ---------------------------------------------------------- */

static void put_head(struct web *w, const struct transfer *t)
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
    struct buf *out = &w->job.out;

    buf_fmt(out, "status: %d\n", w->status);
    if (w->hops) {
        buf_cstr(out, "url: ");
        url_put(out, &w->url);
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

static wend_status put_body(struct web *w)
{
    struct buf *out = &w->job.out;
    wend_str t = buf_view(&w->text);
    bool binary;

    if (w->is_cut)
        t.len = utf8_whole(t.ptr, t.len);
    binary = w->is_encoded || (t.len && memchr(t.ptr, 0, t.len)) ||
             (!w->is_text && utf8_valid_len(t) != t.len);
    buf_char(out, '\n');
    if (binary)
        buf_fmt(out, "(%s%zu bytes that are no text; not shown)\n",
                w->is_cut ? "more than " : "", w->text.len);
    else
        utf8_repair(out, t);
    if (w->is_cut && !binary)
        buf_fmt(out, "\n(cut here, after %zu bytes; there is more)\n", t.len);
    return WEND_OK;
}

/* ---- Arguments ----------------------------------------------------------- */

static wend_status read_headers(struct web *w)
{
    const struct json *j = json_get(w->job.args, "headers");
    wend_status s = WEND_OK;

    if (j && j->kind != JSON_OBJECT)
        return fail(&w->job.err, WEND_E_INVAL,
                    "argument 'headers' must be an object, not %s",
                    json_kind_name(j->kind));
    for (const struct json *h = j ? j->first : NULL; h && !s; h = h->next)
        s = web_take_header(w, h->key, json_str(h));
    return s;
}

static wend_status read_method(struct web *w, wend_str method, wend_str body)
{
    static const char *const names[] = {"GET", "HEAD",  "POST",
                                        "PUT", "PATCH", "DELETE"};
    enum { SAFE = 2, NAMES = sizeof names / sizeof *names };
    int i = str_index(method, names, NAMES);

    if (i < 0)
        return fail(&w->job.err, WEND_E_INVAL,
                    "method '%.*s' is not GET, HEAD, POST, PUT, PATCH or "
                    "DELETE",
                    method.len < 40 ? (int)method.len : 40, method.ptr);
    if (i < SAFE && body.ptr)
        return fail(&w->job.err, WEND_E_INVAL, "%s has no body", names[i]);
    w->method = names[i];
    w->body = body;
    if (!body.ptr && i >= SAFE && strcmp(w->method, "DELETE") != 0)
        w->body = STR("");
    if (i >= SAFE)
        web_add_header(w, "Idempotency-Key", wend_call_key(w->call));
    return WEND_OK;
}

/* A rule of the user's was matched against the text as it is. */
static wend_status read_url(struct web *w, wend_str text)
{
    struct buf b = {.mem = &w->job.mem};
    wend_status s = url_parse(text, &w->job.arena, &w->url, &w->job.err);

    if (s)
        return s;
    url_put_origin(&b, &w->url);
    buf_char(&b, '/');
    if (b.failed)
        s = fail_nomem(&w->job.err);
    else if (!w->url.plain || !str_starts(text, b.ptr)) {
        buf_clear(&b);
        url_put(&b, &w->url);
        s = b.failed ? fail_nomem(&w->job.err)
                     : fail(&w->job.err, WEND_E_INVAL,
                            "write the URL as %.300s", b.ptr);
    }
    buf_free(&b);
    return s;
}

wend_status tool_http_request(void *ctx, wend_call *call)
{
    const struct tool_env *env = ctx;
    wend_str url = STR_NONE, method = STR("GET"), body = STR_NONE;
    int64_t bytes_max = BODY_BYTES_MAX;
    wend_status s = WEND_OK;
    struct web *w =
        web_new(call,
                TOOL_ARGS({"url", .str = &url}, {"method", .str = &method},
                          {"body", .str = &body, .optional = true},
                          {"max_bytes", .number = &bytes_max, .min = 1}),
                &s);

    if (!w)
        return WEND_E_NOMEM;
    w->env = env->web;
    w->head = put_head;
    w->done = put_body;
    w->bytes_max = bytes_max < BODY_BYTES_MAX ? bytes_max : BODY_BYTES_MAX;
    if (!s)
        s = read_url(w, url);
    if (!s)
        s = read_headers(w);
    if (!s)
        s = read_method(w, method, body);
    web_start(w, s);
    return WEND_OK;
}

/*
 * trace.c - spans of runs: from their events into the queue.
 */
#include "lib/otel/otel.h"

#include <limits.h>

#include "base/fail.h"
#include "base/header.h"
#include "base/url.h"
#include "lib/run/child.h"
#include "lib/run/run.h"

/* What a run has while it is traced. */
struct run_trace {
    struct otel_stream stream;
    struct buf spans; /* of one event */
    struct buf end;   /* run_end's, until the store has it */
};

/* ---- Runs ---------------------------------------------------------------- */

/* A child continues the call or the action that waits for it. */
static bool parent_of(const struct wend_run *r, struct otel_context *out)
{
    const struct child *c = r->child;
    const struct run_trace *p = c ? c->parent->trace : NULL;

    return p && (otel_stream_context(&p->stream,
                                     c->fx.call ? OTEL_CALL : OTEL_ACTION,
                                     c->call, out) ||
                 otel_stream_context(&p->stream, OTEL_RUN, STR_NONE, out));
}

static void begin(struct wend_run *r)
{
    const struct mem *m = &r->rt->mem;
    struct run_trace *t = mem_zalloc(m, sizeof *t);
    struct otel_context parent;
    struct otel_options o = {.run = str_of(r->id),
                             .content = r->rt->tracer->content};

    if (!t)
        return;
    if (parent_of(r, &parent)) {
        o.parent = &parent;
        o.state = trace_state(r->child->parent);
    }
    otel_stream_open(&t->stream, m, &o);
    t->spans.mem = t->end.mem = m;
    r->trace = t;
}

void trace_event(struct wend_run *r, const wend_event *ev, bool past)
{
    struct tracer *tracer = r->rt->tracer;
    struct run_trace *t;
    struct buf *out;
    uint64_t lost;

    if (!tracer)
        return;
    if (!r->trace && ev->type == WEND_RUN_START)
        begin(r);
    t = r->trace;
    if (!t)
        return;
    out = ev->type == WEND_RUN_END ? &t->end : &t->spans;
    lost = t->stream.lost;
    buf_clear(out);
    otel_stream_event(&t->stream, ev, out, past);
    sender_lost(tracer, t->stream.lost - lost);
    if (out->failed)
        buf_free(out);
    else if (out == &t->spans && out->len)
        sender_add(tracer, buf_view(out));
}

void trace_kept(struct wend_run *r)
{
    if (!r->trace || !r->trace->end.len)
        return;
    sender_add(r->rt->tracer, buf_view(&r->trace->end));
    buf_free(&r->trace->end);
}

void trace_unend(struct wend_run *r)
{
    if (r->trace)
        buf_free(&r->trace->end);
}

void trace_drop(struct wend_run *r)
{
    if (!r->trace)
        return;
    otel_stream_close(&r->trace->stream);
    buf_free(&r->trace->spans);
    buf_free(&r->trace->end);
    mem_free(&r->rt->mem, r->trace);
    r->trace = NULL;
}

bool trace_parent(const struct wend_run *r, enum otel_kind kind, wend_str id,
                  char out[OTEL_PARENT_LEN + 1])
{
    struct otel_context c;

    if (!r->trace || !otel_stream_context(&r->trace->stream, kind, id, &c))
        return false;
    otel_parent_text(&c, out);
    return true;
}

wend_str trace_state(const struct wend_run *r)
{
    return r->trace ? buf_view(&r->trace->stream.state) : STR("");
}

/* ---- The host's side ----------------------------------------------------- */

static wend_status take_headers(struct tracer *t, const char *const *headers,
                                wend_error *err)
{
    size_t n = 0;

    t->headers[n++] = "Content-Type: application/json";
    for (size_t i = 0; headers && headers[i]; i++) {
        wend_str name, value;

        if (i >= TRACE_HEADERS_MAX)
            return fail(err, WEND_E_INVAL, "trace: more than %d headers",
                        TRACE_HEADERS_MAX);
        if (!header_split(str_of(headers[i]), &name, &value) ||
            !header_name_ok(name) || !header_value_ok(value) ||
            header_is_ours(name))
            return fail(err, WEND_E_INVAL,
                        "trace: header %zu is invalid; expected a name, a "
                        "colon and a value, and no header that wend sets",
                        i + 1);
        t->headers[n++] = arena_str(&t->arena, str_of(headers[i])).ptr;
        t->secret = true;
    }
    return WEND_OK;
}

static wend_status take_resource(struct tracer *t, const char *text,
                                 wend_error *err)
{
    const struct json *j;
    bool ok;

    if (!text)
        return WEND_OK;
    j = json_parse(arena_str(&t->arena, str_of(text)), &t->arena, err);
    if (!j)
        return WEND_E_INVAL;
    ok = j->kind == JSON_OBJECT;
    for (const struct json *m = j->first; m; m = m->next)
        ok = ok && m->kind == JSON_STRING;
    if (!ok)
        return fail(err, WEND_E_INVAL,
                    "trace: resource must be an object of texts");
    t->resource = j;
    return WEND_OK;
}

static wend_status take_options(struct tracer *t, const wend_trace_options *o,
                                wend_error *err)
{
    struct buf url = {.mem = t->arena.mem};
    struct url read;
    wend_status s;

    if (!o->url || url_parse(str_of(o->url), &t->arena, &read, err) != WEND_OK)
        return fail(err, WEND_E_INVAL,
                    "trace: '%.200s' is not an http or https URL",
                    o->url ? o->url : "");
    url_put(&url, &read);
    t->url = buf_keep(&url, &t->arena).ptr;
    t->content = o->content;
    t->timeout_ms = o->timeout_ms ? o->timeout_ms : TRACE_TIMEOUT_MS;
    t->warn = o->warn;
    t->warn_ctx = o->warn_ctx;
    s = take_headers(t, o->headers, err);
    if (s == WEND_OK)
        s = take_resource(t, o->resource, err);
    return t->arena.failed ? fail_nomem(err) : s;
}

static wend_status trace(wend_runtime *rt, const wend_trace_options *o,
                         struct kept *warn_kept, wend_error *err)
{
    struct tracer *t;
    wend_status s = rt_enter_for(rt, "trace", err);

    if (s == WEND_OK && rt->tracer)
        s = fail(err, WEND_E_EXISTS, "the runtime is traced already");
    t = s == WEND_OK ? mem_zalloc(&rt->mem, sizeof *t) : NULL;
    if (!t) {
        kept_unref(warn_kept);
        return s == WEND_OK ? fail_nomem(err) : s;
    }
    t->rt = rt;
    t->arena.mem = &rt->mem;
    t->warn_kept = warn_kept;
    sender_open(t);
    s = take_options(t, o, err);
    if (s == WEND_OK)
        rt->tracer = t;
    else
        tracer_free(t);
    return s;
}

wend_status wend_runtime_trace(wend_runtime *rt,
                               const wend_trace_options *options,
                               wend_error *err)
{
    wend_trace_options o;
    struct kept *kept;
    wend_status s;

    if (!options ||
        !OPTIONS_TAKE(&o, wend_trace_options, warn_release, options))
        return fail(err, WEND_E_INVAL,
                    "trace: options are NULL, or options.size is wrong");
    s = kept_new(o.warn_release, o.warn_ctx, &kept, err);
    return s == WEND_OK ? trace(rt, &o, kept, err) : s;
}

wend_status wend_runtime_trace_flush(wend_runtime *rt, uint32_t timeout_ms)
{
    wend_status s = rt_begin(rt);
    int64_t until_us, left_ms = timeout_ms;

    if (s != WEND_OK)
        return s;
    until_us = rt_after(rt, timeout_ms);
    if (rt->tracer)
        sender_hurry(rt->tracer, true);
    while (rt->tracer && !sender_idle(rt->tracer) && left_ms > 0) {
        rt_pump(rt, left_ms < INT_MAX ? (int)left_ms : INT_MAX);
        left_ms = (until_us - rt_clock(rt) + 999) / 1000;
    }
    if (rt->tracer)
        sender_hurry(rt->tracer, false);
    s = rt->tracer && !sender_idle(rt->tracer) ? WEND_AGAIN : WEND_OK;
    return rt_end(rt) ? s : WEND_E_MISUSE;
}

wend_status wend_runtime_trace_counts(const wend_runtime *rt,
                                      wend_trace_counts *out)
{
    wend_trace_counts c = {0};
    wend_status s = rt_enter(rt);
    const struct tracer *t;

    if (s != WEND_OK)
        return s;
    if (!out ||
        !options_size(out->size, OPTIONS_FIRST(wend_trace_counts, waiting)))
        return WEND_E_INVAL;
    t = rt->tracer;
    c.size = out->size;
    if (t) {
        c.sent = t->sent;
        c.dropped = t->dropped;
        c.waiting = (int64_t)(t->waiting + t->body_spans);
    }
    memcpy(out, &c, out->size < sizeof c ? out->size : sizeof c);
    return WEND_OK;
}

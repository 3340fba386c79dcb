/*
 * http_driver.c - models of providers, asked over HTTP.
 *
 * Joins a transfer (bytes) to a codec (meaning) and the codec to the shell
 * (inputs). wire/model/failure.c says what a failure means, the core whether to
 * try again.
 */
#include "lib/model/http.h"
#include "lib/run/shell.h"

#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/redact.h"
#include "base/utf8.h"
#include "wire/model/failure.h"

enum {
    STALL_MS = 1,     /* look again when the log's writer is behind */
    LINGER_MS = 1000, /* after the end mark, so that a connection can be kept */
};

/* Buffers whose memory a session keeps from ask to ask. */
enum {
    URL,
    REQUEST,
    COLLECTED, /* a body that does not stream */
    FAIL_MESSAGE,
    BUFS,
};

/* How the body of this answer is read. */
enum body_kind { BODY_STREAM, BODY_WHOLE, BODY_FAILURE };

struct http_session {
    struct session base;
    struct http_driver *driver;
    struct wend_run *run;
    struct transfer *transfer; /* of the answer; NULL: none is under way */
    int64_t ask;
    uint32_t asked;  /* what the request asks for, core/config/params.h */
    uint32_t warned; /* the run knows that it is asked without these */
    struct buf bufs[BUFS];
    /* The part of the last request that the next one can extend. */
    const struct config *sent_config;
    const struct msg *sent_last;
    size_t sent_end;  /* bytes up to that message, with it; 0: nothing */
    bool sent_reader; /* its tools had read_result */
    bool sent_free;   /* no schema was asked for */
    bool sent_media;  /* the request has parts: it is not kept */
    struct sse sse;
    struct decoder decoder;
    struct wire_sink sink;
    bool decoding; /* sse and decoder are in use */
    bool reading;  /* ... and being called just now */
    enum body_kind kind;
    int status;
    size_t body_bytes;
    bool looked; /* at the first byte of the body */
    wend_ev_usage usage;
    wend_str finish; /* static, or the decoder's; absent: not said */
    wend_str fail_code;
    bool has_failed;
    struct redact text, thinking, args;
    struct timer_node stall; /* while paused, or after the end mark */
};

/* A server may quote the key that it was sent: it is blanked. The text of a
 * codec is in our memory, so it may be written. */
static wend_str cleaned(struct redact *r, wend_str piece)
{
    redact(r, (char *)(uintptr_t)piece.ptr, piece.len);
    return piece;
}

static wend_str redacted(const struct http_session *s, wend_str text)
{
    struct redact r = {.secret = s->driver->base.key};

    return cleaned(&r, text);
}

/* ---- What the codec finds ------------------------------------------------ */

static void on_text(void *ctx, wend_str piece)
{
    struct http_session *s = ctx;

    shell_text(s->run, s->ask, cleaned(&s->text, piece));
}

static void on_thinking(void *ctx, wend_str piece)
{
    struct http_session *s = ctx;

    shell_thinking(s->run, s->ask, cleaned(&s->thinking, piece));
}

static int on_call(void *ctx, wend_str id, wend_str name)
{
    struct http_session *s = ctx;

    name = name_meant(s->run->turn.config, name);
    s->args.matched = 0;
    return shell_call(s->run, s->ask, redacted(s, id), redacted(s, name));
}

static void on_args(void *ctx, int call, wend_str piece)
{
    struct http_session *s = ctx;

    shell_args(s->run, s->ask, call, cleaned(&s->args, piece));
}

static void on_seal(void *ctx, int call)
{
    struct http_session *s = ctx;

    shell_seal(s->run, s->ask, call);
}

static void on_opaque(void *ctx, wend_str json)
{
    struct http_session *s = ctx;

    shell_opaque(s->run, s->ask, redacted(s, json));
}

static void on_usage(void *ctx, const wend_ev_usage *usage)
{
    struct http_session *s = ctx;

    s->usage = *usage;
    shell_usage(s->run, s->ask, usage);
}

static void on_finish(void *ctx, wend_str reason)
{
    struct http_session *s = ctx;

    s->finish = reason;
}

static void on_fail(void *ctx, wend_str code, wend_str message)
{
    struct http_session *s = ctx;

    if (s->has_failed)
        return; /* the first reason is the reason */
    s->has_failed = true;
    s->fail_code = code;
    buf_clear(&s->bufs[FAIL_MESSAGE]);
    buf_str(&s->bufs[FAIL_MESSAGE], message);
}

static void on_restart(void *ctx)
{
    struct http_session *s = ctx;

    /* A call that has started keeps its message. */
    if (!shell_restart(s->run, s->ask))
        on_fail(s, STR("service"),
                STR("the server began another message in the middle"));
    s->finish = STR_NONE;
}

static const struct wire_sink sink_ops = {
    .text = on_text,
    .thinking = on_thinking,
    .call = on_call,
    .args = on_args,
    .seal = on_seal,
    .opaque = on_opaque,
    .usage = on_usage,
    .finish = on_finish,
    .fail = on_fail,
    .restart = on_restart,
};

/* ---- Ends ---------------------------------------------------------------- */

/* Later if the run was stopped from inside the decoder. */
static void stop_decoding(struct http_session *s)
{
    if (!s->decoding || s->reading)
        return;
    s->decoding = false;
    decoder_free(&s->decoder);
    sse_free(&s->sse);
}

static void stop_transfer(struct http_session *s)
{
    struct transfer *transfer = s->transfer;

    if (s->run->rt)
        timer_clear(&s->run->rt->timers, &s->stall);
    s->transfer = NULL;
    if (transfer)
        fetch_stop(transfer);
}

void http_session_stop(struct session *base)
{
    struct http_session *s = (struct http_session *)(void *)base;

    stop_transfer(s);
    stop_decoding(s);
    if (s->sent_media)
        buf_free(&s->bufs[REQUEST]);
    s->sent_media = false;
}

static void fail_model(struct http_session *s, const struct model_error *e)
{
    struct model_error told = *e;

    http_session_stop(&s->base);
    told.message = redacted(s, told.message);
    shell_model_fail(s->run, s->ask, &told);
}

static void fail_said(struct http_session *s)
{
    struct model_error e = {.code = s->fail_code,
                            .message = buf_view(&s->bufs[FAIL_MESSAGE])};

    if (str_is(e.code, "invalid"))
        e.refused = http_learn(s->driver, s->asked, NULL, e.message);
    fail_model(s, &e);
}

static void fail_status(struct http_session *s)
{
    struct failure_headers h = {
        .should_retry = fetch_header(s->transfer, "x-should-retry"),
        .retry_after_ms = fetch_header(s->transfer, "retry-after-ms"),
        .retry_after = fetch_header(s->transfer, "retry-after"),
        .request_id = fetch_header(s->transfer, "x-request-id"),
        .location = fetch_header(s->transfer, "location"),
        .url = buf_view(&s->bufs[URL]),
        .usual_base = str_of(s->driver->codec->base_url),
    };
    struct arena a = {.mem = &s->run->rt->mem};
    struct failure f = {.retry = false};
    struct model_error e;

    if (!h.request_id.len)
        h.request_id = fetch_header(s->transfer, "request-id");
    failure_of(s->status, buf_view(&s->bufs[COLLECTED]), &h,
               rt_wall(s->run->rt), &a, &f);
    e = (struct model_error){.code = f.code,
                             .message = f.message,
                             .retry_never = !f.retry,
                             .retry_after_ms = f.retry_after_ms};
    if (str_is(f.code, "invalid"))
        e.refused = http_learn(s->driver, s->asked, &f, f.message);
    fail_model(s, &e);
    arena_free(&a);
}

/* Out of memory: the answer is incomplete by our fault, not the server's. */
static bool no_memory(const struct http_session *s)
{
    bool failed = s->decoder.nomem || s->sse.status == WEND_E_NOMEM;

    for (int i = 0; i < BUFS; i++)
        failed |= s->bufs[i].failed;
    return failed;
}

static void finish(struct http_session *s)
{
    if (s->kind == BODY_FAILURE) {
        fail_status(s);
        return;
    }
    s->reading = true;
    if (s->kind == BODY_WHOLE)
        decoder_whole(&s->decoder, buf_view(&s->bufs[COLLECTED]));
    else
        decoder_last(&s->decoder, &s->sse);
    decoder_end(&s->decoder); /* tells the reason, or that there is none */
    s->reading = false;
    if (!s->transfer) {
        stop_decoding(s);
    } else if (no_memory(s)) {
        shell_fail(s->run, WEND_E_NOMEM, "out of memory");
    } else if (s->has_failed) {
        fail_said(s);
    } else {
        http_session_stop(&s->base);
        shell_done(s->run, s->ask, str_or(s->finish, "stop"), &s->usage);
    }
}

/* ---- What the network brings --------------------------------------------- */

/* In memory that redacted() may write. */
static wend_str in_words(struct http_session *s, const char *what,
                         const char *hint)
{
    buf_clear(&s->bufs[FAIL_MESSAGE]);
    buf_cstr(&s->bufs[FAIL_MESSAGE], what);
    buf_cstr(&s->bufs[FAIL_MESSAGE], hint);
    return buf_view(&s->bufs[FAIL_MESSAGE]);
}

static void refuse(struct http_session *s, const char *what)
{
    struct model_error e = {.code = STR("invalid"),
                            .message = in_words(s, what, ""),
                            .retry_never = true};

    fail_model(s, &e);
}

static void on_head(void *ctx, struct transfer *t, int status)
{
    struct http_session *s = ctx;
    wend_str type = fetch_header(t, "content-type");
    wend_str coding = fetch_header(t, "content-encoding");

    s->status = status;
    if (status < 200 || status > 299)
        s->kind = BODY_FAILURE;
    else if (coding.len && !str_starts_nocase(coding, "identity"))
        refuse(s, "the answer is compressed though plain text was asked for; "
                  "check the proxies between here and the server");
    else if (s->driver->codec->framing == SSE_EVENTS &&
             str_starts_nocase(type, "application/json"))
        s->kind = BODY_WHOLE; /* it did not stream though asked to */
    else if (str_starts_nocase(type, "text/html"))
        s->kind = BODY_FAILURE; /* a proxy's page, whatever its status */
    else
        s->kind = BODY_STREAM;
}

/* The type of a body may be missing or wrong; how it begins is not. */
static void look(struct http_session *s, const char *p, size_t len)
{
    size_t i = 0;

    while (i < len && (p[i] == ' ' || (p[i] >= '\t' && p[i] <= '\r')))
        i++;
    if (i == len)
        return;
    s->looked = true;
    if (p[i] == '<')
        s->kind = BODY_FAILURE;
    else if (s->driver->codec->framing == SSE_EVENTS &&
             (p[i] == '{' || p[i] == '['))
        s->kind = BODY_WHOLE;
}

static void on_stall(struct timer_node *t)
{
    struct http_session *s = container_of(t, struct http_session, stall);

    if (s->transfer)
        fetch_resume(s->transfer);
}

static void wake_in(struct http_session *s, int64_t ms,
                    void (*fire)(struct timer_node *t))
{
    wend_runtime *rt = s->run->rt;

    s->stall.fire = fire;
    if (!timer_set(&rt->timers, &s->stall, rt_clock(rt) + ms * 1000))
        shell_fail(s->run, WEND_E_NOMEM, "out of memory");
}

/* The answer is complete, but the body does not end. */
static void on_linger(struct timer_node *t)
{
    finish(container_of(t, struct http_session, stall));
}

static bool read_stream(struct http_session *s, const char *p, size_t len)
{
    wend_status st;

    s->reading = true;
    st = sse_feed(&s->sse, p, len, decoder_event, &s->decoder);
    s->reading = false;
    if (!s->transfer)
        stop_decoding(s);
    else if (st == WEND_E_LIMIT)
        refuse(s, "a line of the answer is over 16 MiB");
    else if (no_memory(s))
        shell_fail(s->run, WEND_E_NOMEM, "out of memory");
    else if (s->has_failed)
        fail_said(s);
    else if (s->decoder.done)
        wake_in(s, LINGER_MS, on_linger);
    return true;
}

static bool on_body(void *ctx, const char *p, size_t len)
{
    struct http_session *s = ctx;
    struct buf *body = &s->bufs[COLLECTED];
    size_t room = FAILURE_BYTES_MAX - body->len;

    if (s->kind == BODY_STREAM && s->decoder.done)
        return true; /* not of this answer */
    if (s->kind == BODY_STREAM && !shell_may_read(s->run)) {
        wake_in(s, STALL_MS, on_stall);
        return false;
    }
    if (s->kind != BODY_FAILURE && !s->looked)
        look(s, p, len);
    s->body_bytes += len;
    if (s->kind == BODY_FAILURE) { /* the beginning says enough */
        buf_add(body, p, len < room ? len : room);
        if (len >= room)
            fail_status(s);
    } else if (s->body_bytes > RESPONSE_BYTES_MAX) {
        refuse(s, "the answer is over 64 MiB");
    } else if (s->kind == BODY_WHOLE) {
        buf_add(body, p, len);
    } else {
        return read_stream(s, p, len);
    }
    return true;
}

static void on_end(void *ctx, enum fetch_end how, const char *message)
{
    struct http_session *s = ctx;
    const char *code = how == FETCH_REFUSED ? "invalid" : fetch_codes[how];
    struct model_error e = {.code = str_of(code),
                            .message = str_of(message),
                            .retry_never = !fetch_may_pass(how)};

    /* The answer is complete: a failure after its end mark is harmless. */
    if (how == FETCH_OK || (s->decoding && s->decoder.done &&
                            how != FETCH_NOMEM && how != FETCH_REFUSED)) {
        finish(s);
        s->transfer = NULL;
        return;
    }
    s->transfer = NULL; /* it is over: nothing to stop */
    if (how == FETCH_NOMEM) {
        shell_fail(s->run, WEND_E_NOMEM, "out of memory");
        return;
    }
    if (how == FETCH_HTTP2_ONLY)
        e.message = in_words(s, message, "; try --http2");
    else if (how == FETCH_NETWORK)
        e.message = http_refused(&s->bufs[FAIL_MESSAGE], message,
                                 buf_view(&s->bufs[URL]));
    fail_model(s, &e);
}

static const struct fetch_events fetch_ops = {on_head, on_body, on_end};

/* ---- Asking -------------------------------------------------------------- */

static void reset(struct http_session *s, int64_t ask)
{
    s->ask = ask;
    s->status = 0;
    s->kind = BODY_STREAM;
    s->body_bytes = 0;
    s->has_failed = s->looked = false;
    s->text = s->thinking = s->args =
        (struct redact){.secret = s->driver->base.key};
    s->usage = (wend_ev_usage){.cost_nano = -1};
    buf_clear(&s->bufs[URL]);
    buf_clear(&s->bufs[COLLECTED]);
    s->finish = STR_NONE;
}

/* A conversation mostly has grown at its end: then so does the request. */
static void encode(struct http_session *s, struct wire_ask *q)
{
    struct buf *b = &s->bufs[REQUEST];
    bool grown = s->sent_end && s->sent_config == q->turn->config &&
                 s->sent_reader == q->turn->results_cut &&
                 s->sent_free == !q->schema.ptr && s->sent_last &&
                 msg_is_in(q->turn->history, s->sent_last);

    if (grown)
        b->len = s->sent_end;
    else
        buf_clear(b);
    q->after = grown ? s->sent_last : NULL;
    q->messages_end = &s->sent_end;
    s->sent_end = 0;
    s->sent_config = q->turn->config;
    s->sent_reader = q->turn->results_cut;
    s->sent_free = !q->schema.ptr;
    s->sent_last = q->turn->history;
    codec_request(s->driver->codec, q, b);
    s->sent_media = q->media_count;
    if (b->failed || s->sent_media)
        s->sent_end = 0;
}

static wend_status begin(struct http_session *s, const struct turn *t,
                         wend_error *err)
{
    struct http_driver *d = s->driver;
    struct wire_ask q = {.turn = t,
                         .model = d->model,
                         .max_tokens = turn_answer_tokens(t, d->output_tokens),
                         .schema = turn_schema(t)};
    struct http_headers headers;
    struct fetch_request request = {
        .headers = headers.list,
        .unix_socket = d->unix_socket,
        .ca_file = d->ca_file,
        .http2 = d->http2,
        .secret = !d->insecure_http && (d->base.secrets_count ||
                                        (d->key_line && d->codec->key_header)),
        .connect_ms = CONNECT_MS,
        .first_byte_ms = FIRST_BYTE_MS,
        .between_ms = BETWEEN_BYTES_MS,
        .whole_ms = d->whole_ms,
    };
    struct arena media = {.mem = &s->run->rt->mem};
    wend_status st;

    http_fill_headers(d, s->run, s->ask, &headers);
    buf_cstr(&s->bufs[URL], d->base_url);
    codec_path(d->codec, d->model, &s->bufs[URL]);
    if (d->query) /* of the base URL; the path may have one, too */
        buf_fmt(&s->bufs[URL], "%c%s", strchr(d->codec->path, '?') ? '&' : '?',
                d->query);
    s->asked = http_asked(d, t, &q.without);
    st = run_media(s->run, t, &media, &q, err);
    if (st == WEND_OK)
        encode(s, &q);
    arena_free(&media);
    if (st != WEND_OK)
        return st;
    if (s->bufs[URL].failed || s->bufs[REQUEST].failed ||
        !decoder_init(&s->decoder, d->codec, &s->run->rt->mem, &s->sink))
        return fail_nomem(err);
    sse_init(&s->sse, &s->run->rt->mem, d->codec->framing, LINE_BYTES_MAX);
    s->decoding = true;
    request.url = s->bufs[URL].ptr;
    request.body = buf_view(&s->bufs[REQUEST]);
    return tape_start(&d->tape, s->run->rt, &request, &fetch_ops, s,
                      &s->transfer, err);
}

void http_session_ask(struct session *base, const struct turn *t, int64_t ask)
{
    struct http_session *s = (struct http_session *)(void *)base;
    wend_error err = {0};
    wend_status st;

    http_session_stop(base);
    reset(s, ask);
    st = begin(s, t, &err);
    if (st == WEND_OK)
        http_tell_left(s->driver, s->run, t, &s->warned);
    if (st == WEND_E_NOMEM) {
        shell_fail(s->run, st, "out of memory");
    } else if (st == WEND_E_IO) {
        refuse(s, err.message);
    } else if (st != WEND_OK) {
        on_fail(s, STR("network"), str_of(err.message));
        fail_said(s);
    }
}

void http_session_close(struct session *base)
{
    struct http_session *s = (struct http_session *)(void *)base;
    struct mem m = s->run->rt->mem;

    http_session_stop(base);
    for (int i = 0; i < BUFS; i++)
        buf_free(&s->bufs[i]);
    mem_free(&m, s);
}

struct session *http_session_open(struct driver *d, struct wend_run *run)
{
    struct http_session *s = mem_zalloc(&run->rt->mem, sizeof *s);

    if (!s)
        return NULL;
    s->base.ops = d->ops;
    s->driver = (struct http_driver *)(void *)d;
    s->run = run;
    s->sink = sink_ops;
    s->sink.ctx = s;
    for (int i = 0; i < BUFS; i++)
        s->bufs[i].mem = &run->rt->mem;
    return &s->base;
}

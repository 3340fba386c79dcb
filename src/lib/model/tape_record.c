/*
 * tape_record.c - an answer from the network, written down as it comes.
 *
 * The recorder sits between a transfer and its reader. Bytes are on the tape
 * before they are read, so a recording explains what happened. A failing disk
 * ends the call: a recording with a hole would be worse than none.
 */
#include "base/fail.h"
#include "base/redact.h"
#include "host/file.h"
#include "lib/model/tape.h"

struct tape_recorder {
    struct tape_flow base;
    const struct tape *tape;
    struct transfer *transfer; /* NULL: it is over */
    int fd;
    struct buf line;
    struct buf tail; /* the beginning of a key, perhaps: not written yet */
    size_t offered;  /* bytes that are written but were not taken */
    bool has_head;
};

static void recorder_free(struct tape_flow *f)
{
    struct tape_recorder *r = container_of(f, struct tape_recorder, base);

    file_close(r->fd);
    buf_free(&r->line);
    buf_free(&r->tail);
}

/* ---- Writing ------------------------------------------------------------- */

static int64_t elapsed_us(const struct tape_recorder *r)
{
    return rt_clock(r->base.rt) - r->base.start_us;
}

static wend_status write_line(struct tape_recorder *r, wend_error *err)
{
    wend_status s = r->line.failed ? fail_nomem(err)
                                   : file_append(r->fd, r->base.path.ptr,
                                                 buf_view(&r->line), err);

    buf_clear(&r->line);
    return s;
}

static void put_head(struct tape_recorder *r, int status)
{
    buf_fmt(&r->line, "status %d\n", status);
    for (int i = 0; status && i < TAPE_HEADERS; i++) {
        wend_str value = fetch_header(r->transfer, tape_headers[i]);

        if (!value.ptr)
            continue;
        buf_fmt(&r->line, "%s: ", tape_headers[i]);
        tape_put_redacted(&r->line, value, r->tape->key);
        buf_char(&r->line, '\n');
    }
    buf_char(&r->line, '\n');
    r->has_head = true;
}

/* A key may come in two parts: what could be its beginning waits for what
 * follows it. */
static void put_body(struct tape_recorder *r, wend_str bytes, bool last)
{
    struct buf clean = {.mem = &r->base.mem};
    wend_str all;
    size_t held;

    buf_str(&r->tail, bytes);
    all = buf_view(&r->tail);
    held = last ? 0 : redact_begins(r->tape->key, all);
    tape_put_redacted(&clean, (wend_str){all.ptr, all.len - held},
                      r->tape->key);
    if (clean.len)
        tape_put_chunk(&r->line, elapsed_us(r), buf_view(&clean));
    r->line.failed |= clean.failed || r->tail.failed;
    buf_free(&clean);
    if (r->tail.failed)
        return;
    memmove(r->tail.ptr, r->tail.ptr + all.len - held, held);
    r->tail.len = held;
}

/* ---- What the network brings --------------------------------------------- */

static void give_up(struct tape_recorder *r, const wend_error *err)
{
    struct transfer *t = r->transfer;
    wend_error why = {0};

    r->transfer = NULL;
    if (t)
        fetch_stop(t);
    fail(&why, err->status, "record: %.480s", err->message);
    tape_flow_end(&r->base,
                  err->status == WEND_E_NOMEM ? FETCH_NOMEM : FETCH_REFUSED,
                  why.message);
}

static void on_head(void *ctx, struct transfer *t, int status)
{
    struct tape_recorder *r = ctx;
    wend_error err = {0};

    (void)t; /* the reader gets ours */
    put_head(r, status);
    if (write_line(r, &err) != WEND_OK) {
        give_up(r, &err);
        return;
    }
    r->base.in_event = true;
    r->base.events->head(r->base.ctx, &r->base.transfer, status);
    tape_flow_lasts(&r->base);
}

static bool on_body(void *ctx, const char *p, size_t len)
{
    struct tape_recorder *r = ctx;
    wend_error err = {0};
    bool taken;

    if (len > r->offered) { /* not what comes again after a pause */
        put_body(r, (wend_str){p + r->offered, len - r->offered}, false);
        r->offered = len;
        if (write_line(r, &err) != WEND_OK) {
            give_up(r, &err);
            return true;
        }
    }
    r->base.in_event = true;
    taken = r->base.events->body(r->base.ctx, p, len);
    if (tape_flow_lasts(&r->base) && taken)
        r->offered -= len;
    return taken;
}

static void on_end(void *ctx, enum fetch_end how, const char *message)
{
    struct tape_recorder *r = ctx;
    struct buf clean = {.mem = &r->base.mem};
    wend_error err = {0};

    if (how != FETCH_NOMEM) { /* the server has no part in that */
        if (!r->has_head)
            put_head(r, 0);
        put_body(r, STR(""), true);
        tape_put_redacted(&clean, str_of(message), r->tape->key);
        tape_put_end(&r->line, elapsed_us(r), how, buf_view(&clean));
        r->line.failed |= clean.failed;
        buf_free(&clean);
        if (write_line(r, &err) != WEND_OK) {
            r->transfer = NULL; /* it is over: nothing to stop */
            give_up(r, &err);
            return;
        }
    }
    tape_flow_end(&r->base, how, message);
}

static const struct fetch_events record_events = {on_head, on_body, on_end};

/* ---- The transfer -------------------------------------------------------- */

static struct tape_recorder *recorder_of(const struct transfer *t)
{
    return container_of(t, struct tape_recorder, base.transfer);
}

static wend_str header(const struct transfer *t, const char *name)
{
    return fetch_header(recorder_of(t)->transfer, name);
}

static void resume(struct transfer *t)
{
    fetch_resume(recorder_of(t)->transfer);
}

static void stop(struct transfer *t)
{
    struct tape_recorder *r = recorder_of(t);

    if (r->transfer)
        fetch_stop(r->transfer);
    r->transfer = NULL;
    tape_flow_stop(&r->base);
}

static const struct fetch_ops record_ops = {
    .header = header,
    .resume = resume,
    .stop = stop,
};

static wend_status write_request(struct tape_recorder *r,
                                 const struct fetch_request *q, wend_error *err)
{
    wend_status s;

    tape_path(&r->base.path, r->tape, "request");
    tape_put_request(&r->line, q, r->tape->key);
    if (r->base.path.failed || r->line.failed)
        return fail_nomem(err);
    s = file_create(r->base.path.ptr, &r->fd, err);
    if (s == WEND_OK)
        s = write_line(r, err);
    file_close(r->fd);
    r->fd = -1;
    buf_clear(&r->base.path);
    tape_path(&r->base.path, r->tape, "response");
    if (s == WEND_OK && r->base.path.failed)
        s = fail_nomem(err);
    return s != WEND_OK ? s : file_create(r->base.path.ptr, &r->fd, err);
}

wend_status tape_record(struct tape *t, wend_runtime *rt, struct fetch *fetch,
                        const struct fetch_request *q,
                        const struct fetch_events *events, void *ctx,
                        struct transfer **out, wend_error *err)
{
    struct tape_recorder *r = tape_flow_new(sizeof *r, rt, events, ctx);
    wend_error why = {0};
    wend_status s;

    if (!r)
        return fail_nomem(err);
    r->base.transfer.ops = &record_ops;
    r->base.free = recorder_free;
    r->tape = t;
    r->line.mem = r->tail.mem = &r->base.mem;
    r->fd = -1;
    t->number++;
    s = write_request(r, q, &why);
    if (s == WEND_OK)
        s = fetch_start(fetch, q, &record_events, r, &r->transfer, err);
    else if (s == WEND_E_NOMEM)
        fail_nomem(err);
    else /* never tried again: see http_session_ask */
        s = fail(err, WEND_E_IO, "record: %.480s", why.message);
    if (s != WEND_OK) {
        tape_flow_free(&r->base);
        return s;
    }
    *out = &r->base.transfer;
    return WEND_OK;
}

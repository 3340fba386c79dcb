/*
 * tape.c - a directory of recorded requests and answers, written and played.
 *
 * A flow is an answer under way. One that records sits between a transfer and
 * its reader: bytes are on the tape before they are read, so a recording
 * explains what happened. A failing disk ends the call: a recording with a
 * hole would be worse than none. One that plays reads the whole response when
 * it is asked for, and the runtime's timers give it out. A request that
 * differs from the recorded one gets no answer: what follows would belong to
 * another conversation.
 */
#include "lib/model/tape.h"

#include <assert.h>

#include "base/fail.h"
#include "base/header.h"
#include "base/redact.h"
#include "host/file.h"

enum { BURST = 64 }; /* chunks that are due before others get a turn */

struct tape_flow {
    struct transfer base; /* the reader's */
    const struct tape *tape;
    wend_runtime *rt;
    struct mem mem;
    const struct fetch_events *events;
    void *ctx;
    int64_t start_us;
    struct buf path; /* of the file in use */
    bool has_head;   /* was written or given out */
    bool in_event;   /* the reader is being called ... */
    bool gone;       /* ... and has stopped it meanwhile */
    /* To record. */
    struct transfer *transfer; /* NULL: it is over */
    int fd;
    struct buf line;
    struct buf tail; /* may be the beginning of a key: not written yet */
    size_t offered;  /* bytes that are written but were not taken */
    /* To play. */
    struct timer_node timer;
    struct buf response, message;
    wend_str rest, headers;
    int status;
    struct tape_item item;
    enum tape_got got; /* what the item is */
    bool refused;      /* the message says why */
};

static void flow_free(struct tape_flow *f)
{
    struct mem m = f->mem;

    timer_clear(&f->rt->timers, &f->timer);
    file_close(f->fd);
    buf_free(&f->path);
    buf_free(&f->line);
    buf_free(&f->tail);
    buf_free(&f->response);
    buf_free(&f->message);
    mem_free(&m, f);
}

/* After an event. False: the reader stopped it from inside, it is freed. */
static bool flow_lasts(struct tape_flow *f)
{
    bool lasts = !f->gone;

    f->in_event = false;
    if (!lasts)
        flow_free(f);
    return lasts;
}

/* The last event; frees it. */
static void flow_end(struct tape_flow *f, enum fetch_end how,
                     const char *message)
{
    assert(!f->gone);
    f->in_event = true;
    f->events->end(f->ctx, how, message);
    flow_free(f);
}

/* ---- Recording ----------------------------------------------------------- */

static int64_t elapsed_us(const struct tape_flow *f)
{
    return rt_clock(f->rt) - f->start_us;
}

static wend_status write_line(struct tape_flow *f, wend_error *err)
{
    wend_status s = f->line.failed ? fail_nomem(err)
                                   : file_append(f->fd, f->path.ptr,
                                                 buf_view(&f->line), err);

    buf_clear(&f->line);
    return s;
}

static void put_head(struct tape_flow *f, int status)
{
    buf_fmt(&f->line, "status %d\n", status);
    for (int i = 0; status && i < TAPE_HEADERS; i++) {
        wend_str value = fetch_header(f->transfer, tape_headers[i]);

        if (!value.ptr)
            continue;
        buf_fmt(&f->line, "%s: ", tape_headers[i]);
        tape_put_redacted(&f->line, value, f->tape->key);
        buf_char(&f->line, '\n');
    }
    buf_char(&f->line, '\n');
    f->has_head = true;
}

/* A key may come in two parts: what could be its beginning waits for what
 * follows it. */
static void put_body(struct tape_flow *f, wend_str bytes, bool last)
{
    struct buf clean = {.mem = &f->mem};
    wend_str all;
    size_t held;

    buf_str(&f->tail, bytes);
    all = buf_view(&f->tail);
    held = last ? 0 : redact_begins(f->tape->key, all);
    tape_put_redacted(&clean, (wend_str){all.ptr, all.len - held},
                      f->tape->key);
    if (clean.len)
        tape_put_chunk(&f->line, elapsed_us(f), buf_view(&clean));
    f->line.failed |= clean.failed || f->tail.failed;
    buf_free(&clean);
    if (f->tail.failed)
        return;
    memmove(f->tail.ptr, f->tail.ptr + all.len - held, held);
    f->tail.len = held;
}

static void give_up(struct tape_flow *f, const wend_error *err)
{
    struct transfer *t = f->transfer;
    wend_error why = {0};

    f->transfer = NULL;
    if (t)
        fetch_stop(t);
    fail(&why, err->status, "record: %.480s", err->message);
    flow_end(f, err->status == WEND_E_NOMEM ? FETCH_NOMEM : FETCH_REFUSED,
             why.message);
}

static void on_head(void *ctx, struct transfer *t, int status)
{
    struct tape_flow *f = ctx;
    wend_error err = {0};

    (void)t; /* the reader gets ours */
    put_head(f, status);
    if (write_line(f, &err) != WEND_OK) {
        give_up(f, &err);
        return;
    }
    f->in_event = true;
    f->events->head(f->ctx, &f->base, status);
    flow_lasts(f);
}

static bool on_body(void *ctx, const char *p, size_t len)
{
    struct tape_flow *f = ctx;
    wend_error err = {0};
    bool taken;

    if (len > f->offered) { /* not what comes again after a pause */
        put_body(f, (wend_str){p + f->offered, len - f->offered}, false);
        f->offered = len;
        if (write_line(f, &err) != WEND_OK) {
            give_up(f, &err);
            return true;
        }
    }
    f->in_event = true;
    taken = f->events->body(f->ctx, p, len);
    if (flow_lasts(f) && taken)
        f->offered -= len;
    return taken;
}

static void on_end(void *ctx, enum fetch_end how, const char *message)
{
    struct tape_flow *f = ctx;
    struct buf clean = {.mem = &f->mem};
    wend_error err = {0};

    if (how != FETCH_NOMEM) { /* the server has no part in that */
        if (!f->has_head)
            put_head(f, 0);
        put_body(f, STR(""), true);
        tape_put_redacted(&clean, str_of(message), f->tape->key);
        tape_put_end(&f->line, elapsed_us(f), how, buf_view(&clean));
        f->line.failed |= clean.failed;
        buf_free(&clean);
        if (write_line(f, &err) != WEND_OK) {
            f->transfer = NULL; /* it is over: nothing to stop */
            give_up(f, &err);
            return;
        }
    }
    flow_end(f, how, message);
}

static const struct fetch_events record_events = {on_head, on_body, on_end};

/* DIR/0001.KIND */
static wend_status set_path(struct tape_flow *f, const char *kind,
                            wend_error *err)
{
    buf_clear(&f->path);
    tape_path(&f->path, f->tape, kind);
    return f->path.failed ? fail_nomem(err) : WEND_OK;
}

static wend_status write_request(struct tape_flow *f,
                                 const struct fetch_request *q, wend_error *err)
{
    wend_status s = set_path(f, "request", err);

    tape_put_request(&f->line, q, f->tape);
    if (s == WEND_OK)
        s = file_create(f->path.ptr, &f->fd, err);
    if (s == WEND_OK)
        s = write_line(f, err);
    file_close(f->fd);
    f->fd = -1;
    if (s == WEND_OK)
        s = set_path(f, "response", err);
    return s != WEND_OK ? s : file_create(f->path.ptr, &f->fd, err);
}

/* ---- Playing ------------------------------------------------------------- */

static void wait_until(struct tape_flow *f, int64_t due_us)
{
    if (!timer_set(&f->rt->timers, &f->timer, due_us))
        flow_end(f, FETCH_NOMEM, "out of memory");
}

/* The last event. The player is gone after it. */
static void end(struct tape_flow *f)
{
    enum fetch_end how = f->item.how;

    if (f->refused) {
        how = FETCH_REFUSED;
    } else if (f->got == TAPE_CUT) {
        how = FETCH_NETWORK;
        buf_fmt(&f->message, "playback: %s was cut off", f->path.ptr);
    } else if (f->got == TAPE_BAD) {
        how = FETCH_REFUSED;
        buf_fmt(&f->message, "playback: %s is not a recording", f->path.ptr);
    } else {
        buf_str(&f->message, f->item.bytes);
    }
    if (f->message.failed)
        how = FETCH_NOMEM;
    flow_end(f, how, buf_view(&f->message).ptr);
}

/* Gives out the item; false if the player waits, is stopped or is over. */
static bool give(struct tape_flow *f)
{
    bool taken;

    f->in_event = true;
    if (!f->has_head && f->status && !f->refused) {
        f->has_head = true;
        f->events->head(f->ctx, &f->base, f->status);
        if (!flow_lasts(f))
            return false;
        f->in_event = true;
    }
    if (f->got != TAPE_CHUNK) {
        end(f);
        return false;
    }
    taken = f->events->body(f->ctx, f->item.bytes.ptr, f->item.bytes.len);
    if (!flow_lasts(f) || !taken) /* not taken: resume sets the timer */
        return false;
    f->got = tape_take(&f->rest, &f->item);
    return true;
}

static void on_timer(struct timer_node *t)
{
    struct tape_flow *f = container_of(t, struct tape_flow, timer);
    int64_t now_us = rt_clock(f->rt);

    for (int i = 0; i < BURST; i++) {
        bool timed = f->got == TAPE_CHUNK || f->got == TAPE_END;
        int64_t due_us = f->start_us + f->item.at_us;

        if (timed && due_us > now_us) {
            wait_until(f, due_us);
            return;
        }
        if (!give(f))
            return;
    }
    wait_until(f, now_us);
}

/* The message says why if the request differs from the recorded one. */
static wend_status compare(struct tape_flow *f, const struct fetch_request *q,
                           wend_error *err)
{
    struct buf recorded = {.mem = &f->mem}, now = {.mem = &f->mem};
    long long number = (long long)f->tape->number;
    wend_status s = set_path(f, "request", err);
    bool exists = s == WEND_OK && file_exists(f->path.ptr);

    tape_put_request(&now, q, f->tape);
    if (exists)
        s = file_read(f->path.ptr, TAPE_BYTES_MAX, &recorded, err);
    if (s == WEND_OK && exists) {
        buf_fmt(&f->message,
                "playback: request %lld differs from the recording", number);
        f->refused =
            tape_diff(&f->message, buf_view(&recorded), buf_view(&now));
        if (!f->refused)
            buf_clear(&f->message);
    } else if (s == WEND_OK) {
        f->refused = true;
        buf_fmt(&f->message, "playback: there is no request %lld in %s", number,
                f->tape->dir);
    }
    if (f->message.failed || now.failed || recorded.failed)
        s = fail_nomem(err);
    buf_free(&recorded);
    buf_free(&now);
    return s;
}

static wend_status begin_playing(struct tape_flow *f,
                                 const struct fetch_request *q, wend_error *err)
{
    wend_status s = compare(f, q, err);

    if (s == WEND_OK && !f->refused)
        s = set_path(f, "response", err);
    if (s == WEND_OK && !f->refused)
        s = file_read(f->path.ptr, TAPE_BYTES_MAX, &f->response, err);
    if (s == WEND_E_NOTFOUND) /* a crash came between the two files */
        s = WEND_OK;
    f->rest = buf_view(&f->response);
    if (s == WEND_OK && !f->refused &&
        tape_take_head(&f->rest, &f->status, &f->headers, &f->got))
        f->got = tape_take(&f->rest, &f->item);
    return s != WEND_OK || timer_set(&f->rt->timers, &f->timer, f->start_us)
               ? s
               : WEND_E_NOMEM;
}

/* ---- The transfer -------------------------------------------------------- */

static struct tape_flow *flow_of(const struct transfer *t)
{
    return container_of(t, struct tape_flow, base);
}

static wend_str header(const struct transfer *t, const char *name)
{
    const struct tape_flow *f = flow_of(t);

    return f->tape->plays ? header_value(f->headers, name)
                          : fetch_header(f->transfer, name);
}

static void resume(struct transfer *t)
{
    struct tape_flow *f = flow_of(t);

    if (!f->tape->plays)
        fetch_resume(f->transfer);
    else if (!f->in_event)
        wait_until(f, rt_clock(f->rt));
}

static void stop(struct transfer *t)
{
    struct tape_flow *f = flow_of(t);

    if (f->transfer)
        fetch_stop(f->transfer);
    f->transfer = NULL;
    f->gone = true;
    if (!f->in_event)
        flow_free(f);
}

static const struct fetch_ops flow_ops = {
    .header = header,
    .resume = resume,
    .stop = stop,
};

static struct tape_flow *flow_new(const struct tape *t, wend_runtime *rt,
                                  const struct fetch_events *events, void *ctx)
{
    struct tape_flow *f = mem_zalloc(&rt->mem, sizeof *f);

    if (!f)
        return NULL;
    f->base.ops = &flow_ops;
    f->tape = t;
    f->rt = rt;
    f->mem = rt->mem;
    f->path.mem = f->line.mem = f->tail.mem = &f->mem;
    f->response.mem = f->message.mem = &f->mem;
    f->events = events;
    f->ctx = ctx;
    f->start_us = rt_clock(rt);
    f->timer.fire = on_timer;
    f->fd = -1;
    f->got = TAPE_CUT;
    return f;
}

wend_status tape_start(struct tape *t, wend_runtime *rt,
                       const struct fetch_request *q,
                       const struct fetch_events *events, void *ctx,
                       struct transfer **out, wend_error *err)
{
    struct fetch *fetch = NULL;
    wend_status s = t->plays ? WEND_OK : rt_fetch(rt, &fetch, err);
    wend_error why = {0};
    struct tape_flow *f;

    if (s != WEND_OK)
        return s;
    if (!t->dir)
        return fetch_start(fetch, q, events, ctx, out, err);
    f = flow_new(t, rt, events, ctx);
    if (!f)
        return fail_nomem(err);
    t->number++;
    s = t->plays ? begin_playing(f, q, &why) : write_request(f, q, &why);
    if (s == WEND_E_NOMEM)
        fail_nomem(err);
    else if (s != WEND_OK) /* never tried again: see http_session_ask */
        s = fail(err, WEND_E_IO, "%s: %.480s", t->plays ? "playback" : "record",
                 why.message);
    else if (!t->plays)
        s = fetch_start(fetch, q, &record_events, f, &f->transfer, err);
    if (s != WEND_OK)
        flow_free(f);
    else
        *out = &f->base;
    return s;
}

wend_status tape_open(struct tape *t, const struct driver_options *o,
                      struct arena *a, wend_error *err)
{
    const char *dir = o->record_dir ? o->record_dir : o->playback_dir;
    struct buf path = {.mem = a->mem};
    wend_status s = WEND_OK;

    *t = (struct tape){.dir = arena_str(a, str_of(dir)).ptr,
                       .number = 1,
                       .plays = o->playback_dir != NULL};
    if (!dir)
        return WEND_OK;
    tape_path(&path, t, "request");
    t->number = 0;
    if (a->failed || path.failed)
        s = fail_nomem(err);
    else if (!t->plays)
        s = file_dir_new(dir, err);
    else if (!o->tape_may_be_empty && !file_exists(path.ptr))
        s = fail(err, WEND_E_NOTFOUND,
                 "playback: there is no recording in %.200s", dir);
    buf_free(&path);
    return s;
}

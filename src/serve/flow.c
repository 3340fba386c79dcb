/*
 * flow.c - the events of a run, as they happen or from the log.
 *
 *     store --(replay)--> LOG --.      the log has no more, and the ring has
 *       ^                       |      what follows
 *       |  fell behind          v
 *       `------------------- RING <-- hub.c
 *
 * A stream takes events only while its client takes bytes. (seq, n) says what
 * the client has had; so nothing is left out or sent twice where the source
 * changes.
 */
#include "serve/serve.h"

#include <assert.h>
#include <stdio.h>

#include "lib/run/run.h"

enum { PIECES_MAX = 64 };

/* ---- Sources ------------------------------------------------------------- */

static void wait_for_log(struct serve_flow *s, bool on)
{
    struct wend_server *server = s->server;

    if (on == (s->reader_prev != NULL))
        return;
    if (on) {
        s->reader_next = server->readers;
        s->reader_prev = &server->readers;
        if (s->reader_next)
            s->reader_next->reader_prev = &s->reader_next;
        server->readers = s;
        server_look_on(server);
        return;
    }
    *s->reader_prev = s->reader_next;
    if (s->reader_next)
        s->reader_next->reader_prev = s->reader_prev;
    s->reader_prev = NULL;
    s->reader_next = NULL;
}

static void close_log(struct serve_flow *s)
{
    wait_for_log(s, false);
    wend_run_free(s->log);
    s->log = NULL;
}

/* From the kept event that the reader had last: deltas behind it may be
 * missing, too, and what it had is skipped. */
static wend_status open_log(struct serve_flow *s, wend_error *err)
{
    const wend_replay_options o = {
        .size = sizeof o, .seq_from = s->seq > 0 ? s->seq : 1, .follow = true};

    return wend_store_replay(s->server->rt, s->id, &o, &s->log, err);
}

static bool join_ring(struct serve_flow *s)
{
    uint64_t at = s->run ? hub_after(s->run, s->seq, s->n) : 0;

    if (!at)
        return false;
    s->at = at;
    close_log(s);
    return true;
}

static void put_event(struct serve_flow *s, const wend_event *ev)
{
    s->seq = ev->seq;
    s->n = ev->n;
    s->over |= ev->type == WEND_RUN_END;
    if (s->voice)
        s->voice->event(s, ev,
                        ev->seq < s->past_seq ||
                            (ev->seq == s->past_seq && ev->n <= s->past_n),
                        &s->text);
    else
        frame_put(&s->text, ev);
}

static void flush_text(struct serve_flow *s)
{
    wend_str text = buf_view(&s->text);

    s->said_us = server_now(s->server);
    if (text.len)
        conn_send(s->conn, &text, 1);
    buf_reuse(&s->text, 4 << 10);
    buf_clear(&s->text);
}

/* Events of the log until it has no more or a write is full. False: it has no
 * more for now. */
static bool read_log(struct serve_flow *s)
{
    const wend_event *ev;
    wend_status st = WEND_OK;

    while (!s->over && s->text.len < SERVE_OUT_MAX &&
           (st = run_poll(s->log, &ev)) == WEND_OK)
        if (ev->seq > s->seq || (ev->seq == s->seq && ev->n > s->n))
            put_event(s, ev);
    if (st < 0 || st == WEND_END)
        s->over = true; /* damaged, or its owner is gone: that is all */
    return st != WEND_AGAIN;
}

/* All that the ring has, or as much as one write takes. */
static void read_ring(struct serve_flow *s)
{
    const struct serve_run *r = s->run;
    uint64_t end = r->first + r->count;
    wend_str pieces[PIECES_MAX];
    size_t count = 0, bytes = 0;

    while (s->at < end && count < PIECES_MAX && bytes < SERVE_OUT_MAX) {
        const struct serve_frame *f = hub_frame(r, s->at++);

        if (s->voice) {
            put_event(s, f->event);
            bytes = s->text.len;
            continue;
        }
        s->seq = f->event->seq;
        s->n = f->event->n;
        s->over |= f->event->type == WEND_RUN_END;
        pieces[count] = buf_view(&f->native);
        bytes += pieces[count++].len;
    }
    s->said_us = server_now(s->server);
    if (count)
        conn_send(s->conn, pieces, count);
    else
        flush_text(s);
}

/* ---- Sending ------------------------------------------------------------- */

static void fall_behind(struct serve_flow *s)
{
    if (open_log(s, NULL) != WEND_OK) {
        s->over = true;
        return;
    }
    if (!s->voice)
        buf_fmt(&s->text, "event: lagged\ndata: {\"from\":%lld}\n\n",
                (long long)s->seq);
}

/* One write. False: there is nothing to send for now. */
static bool step(struct serve_flow *s)
{
    if (s->rows && !s->text.len)
        return false;
    if (!s->log && s->run && s->at < s->run->first)
        fall_behind(s);
    if (!s->log && s->run && !s->over && !s->text.len) {
        if (s->at == s->run->first + s->run->count)
            return false;
        read_ring(s);
        return true;
    }
    if (s->log && !s->over && !read_log(s) && !s->text.len) {
        if (join_ring(s))
            return true;
        wait_for_log(s, true);
        return false;
    }
    flush_text(s);
    return true;
}

void flow_pump(struct serve_flow *s)
{
    struct serve_conn *c = s->conn;

    wait_for_log(s, false);
    for (int writes = 0; conn_ready(c); writes++) {
        if (writes == SERVE_WRITES_MAX) { /* a fast reader of a long log */
            wait_for_log(s, true);
            server_look_soon(s->server);
            return;
        }
        if (s->text.failed) {
            conn_free(c);
            return;
        }
        if (s->over && !s->ended) {
            s->ended = true;
            if (s->voice && s->voice->end)
                s->voice->end(s, &s->text);
        }
        if (s->ended && !s->text.len) {
            flow_free(s);
            conn_stream_end(c);
            return;
        }
        if (!step(s))
            return;
    }
}

/* A client, or a proxy in between, takes silence for the end. */
void flow_tick(struct serve_flow *s, int64_t now_us)
{
    static const wend_str comment = {":\n\n", 3};

    if (now_us - s->said_us < SERVE_COMMENT_MS * 1000LL || !conn_ready(s->conn))
        return;
    s->said_us = now_us;
    conn_send(s->conn, &comment, 1);
}

void flow_last(struct serve_flow *s, const char *event, const char *json)
{
    if (!s->voice)
        buf_fmt(&s->text, "event: %s\ndata: %s\n\n", event, json);
    s->over = true;
    if (conn_ready(s->conn))
        flow_pump(s);
}

void flow_bye(struct serve_flow *s)
{
    flow_last(s, "bye", "{\"reason\":\"draining\",\"retry_ms\":1000}");
}

/* ---- Life ---------------------------------------------------------------- */

static void join_run(struct serve_flow *s, struct serve_run *r)
{
    s->run = r;
    s->next = r->streams;
    s->prev = &r->streams;
    if (s->next)
        s->next->prev = &s->next;
    r->streams = s;
}

void flow_unlink(struct serve_flow *s)
{
    if (!s->prev)
        return;
    *s->prev = s->next;
    if (s->next)
        s->next->prev = s->prev;
    s->run = NULL;
    s->next = NULL;
    s->prev = NULL;
}

void flow_leave(struct serve_flow *s)
{
    if (!s->over && !s->log && s->at < s->run->first)
        fall_behind(s);
    else if (!s->over && !s->log && open_log(s, NULL) != WEND_OK)
        s->over = true;
    flow_unlink(s);
    if (conn_ready(s->conn))
        flow_pump(s);
}

void flow_free(struct serve_flow *s)
{
    struct serve_run *r = s->run;

    if (s->voice && s->voice->cancels && !s->over && r && r->run)
        wend_run_cancel_by(r->run, "client");
    flow_unlink(s);
    close_log(s);
    if (s->voice && s->voice->free)
        s->voice->free(s->ctx);
    buf_free(&s->text);
    mem_free(&s->server->mem, s);
}

static struct serve_flow *flow_new(struct serve_ask *q,
                                   const struct serve_flow_options *o)
{
    struct wend_server *server = q->server;
    struct serve_flow *s = mem_zalloc(&server->mem, sizeof *s);

    if (!s) {
        if (o->voice && o->voice->free)
            o->voice->free(o->ctx);
        return NULL;
    }
    s->server = server;
    s->conn = q->conn;
    s->voice = o->voice;
    s->ctx = o->ctx;
    s->text.mem = &server->mem;
    if (o->voice) { /* it needs to hear all of it */
        s->past_seq = o->seq;
        s->past_n = o->n;
    } else {
        s->seq = o->seq;
        s->n = o->n;
    }
    s->said_us = server_now(server);
    memcpy(s->token, q->token, sizeof s->token);
    snprintf(s->id, sizeof s->id, "%s", o->id);
    return s;
}

static const struct http_field flow_fields[] = {
    {{"Content-Type", 12}, {"text/event-stream", 17}},
    {{"Cache-Control", 13}, {"no-cache", 8}},
    {{"X-Accel-Buffering", 17}, {"no", 2}},
    {{"X-Content-Type-Options", 22}, {"nosniff", 7}},
};
enum { OWN_FIELDS = sizeof flow_fields / sizeof *flow_fields, MORE = 4 };

/* HEAD: the answer is complete without a stream. */
static bool is_head_only(struct serve_ask *q)
{
    const struct http_answer head = {
        .status = 200,
        .length = q->req->old ? HTTP_TO_CLOSE : HTTP_CHUNKED,
        .fields = flow_fields,
        .fields_count = OWN_FIELDS,
    };

    if (!q->req->is_head)
        return false;
    conn_answer(q->conn, &head, STR_NONE);
    return true;
}

struct serve_flow *flow_rows(struct serve_ask *q)
{
    static const struct serve_flow_options none = {.id = ""};
    struct serve_flow *s;

    if (is_head_only(q))
        return NULL;
    s = flow_new(q, &none);
    if (s && conn_stream(q->conn, s, flow_fields, OWN_FIELDS)) {
        s->rows = true;
        return s;
    }
    if (s)
        flow_free(s);
    respond_nomem(q);
    return NULL;
}

void flow_open(struct serve_ask *q, const struct serve_flow_options *o)
{
    struct http_field all[OWN_FIELDS + MORE];
    struct serve_flow *s = flow_new(q, o);
    struct serve_run *r = s ? hub_find(s->server, s->id) : NULL;
    wend_error err;

    if (!s) {
        respond_nomem(q);
        return;
    }
    if (is_head_only(q)) {
        flow_free(s);
        return;
    }
    memcpy(all, flow_fields, sizeof flow_fields);
    assert(o->fields_count <= MORE);
    if (o->fields_count)
        memcpy(all + OWN_FIELDS, o->fields, o->fields_count * sizeof *all);
    if (r)
        join_run(s, r);
    if (!join_ring(s) && open_log(s, &err) != WEND_OK) {
        flow_free(s);
        respond_failed(q, &err);
        return;
    }
    if (!conn_stream(q->conn, s, all, OWN_FIELDS + o->fields_count)) {
        flow_free(s);
        respond_nomem(q);
        return;
    }
    if (s->server->draining)
        flow_bye(s);
    else
        flow_pump(s);
}

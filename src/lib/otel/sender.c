/*
 * sender.c - a bounded queue of spans, and the requests that empty it.
 *
 *     idle --span--> waits TRACE_BATCH_DELAY_MS --> request under way
 *                      ^                        | ok, refused: next batch
 *                      +--- later attempt <-----+ 429, 502-504, network
 *
 * One request is under way at a time. A batch that fails too often is dropped
 * like spans that find the queue full; the first time the host is told.
 */
#include "lib/otel/otel.h"

#include <assert.h>

#include "base/utf8.h"

enum { WARNING_BYTES = 400 };

struct sender_span {
    struct sender_span *next;
    size_t len;
    char text[];
};

/* ---- Trouble ------------------------------------------------------------- */

void sender_lost(struct tracer *t, uint64_t count)
{
    t->dropped += (int64_t)count;
}

static void __attribute__((format(printf, 2, 3)))
warn_once(struct tracer *t, const char *fmt, ...)
{
    char text[WARNING_BYTES];
    va_list ap;

    if (t->warned)
        return;
    t->warned = true;
    if (!t->warn)
        return;
    va_start(ap, fmt);
    utf8_vfmt(text, sizeof text, fmt, ap);
    va_end(ap);
    t->rt->callbacks++;
    t->warn(t->warn_ctx, text);
    t->rt->callbacks--;
}

/* ---- One batch ----------------------------------------------------------- */

static void drop_batch(struct tracer *t)
{
    t->body_spans = 0;
    t->attempts = 0;
    buf_free(&t->body);
    buf_free(&t->answer);
}

static void wake_in(struct tracer *t, int64_t ms)
{
    /* Without memory for the timer the next span tries again. */
    timer_set(&t->rt->timers, &t->timer, rt_after(t->rt, ms));
}

/* What follows a batch, however it went. */
static void next_batch(struct tracer *t)
{
    drop_batch(t);
    if (t->waiting)
        wake_in(t, t->hurries || t->waiting >= TRACE_BATCH_SPANS_MAX
                       ? 0
                       : TRACE_BATCH_DELAY_MS);
}

static void give_up(struct tracer *t, const char *why)
{
    sender_lost(t, t->body_spans);
    warn_once(t, "spans are not sent: %s: %s", t->url, why);
    next_batch(t);
}

static void try_again(struct tracer *t, const char *why)
{
    int64_t wait_ms = (int64_t)TRACE_BACKOFF_MS << (t->attempts - 1);

    if (t->attempts >= TRACE_ATTEMPTS_MAX || t->hurries) {
        give_up(t, why);
        return;
    }
    if (wait_ms < t->wait_ms)
        wait_ms = t->wait_ms;
    wake_in(t, wait_ms < TRACE_WAIT_MAX_MS ? wait_ms : TRACE_WAIT_MAX_MS);
}

static void accepted(struct tracer *t)
{
    struct arena a = {.mem = &t->rt->mem};
    wend_str why;
    int64_t refused = otel_rejected(buf_view(&t->answer), &a, &why);
    int64_t all = (int64_t)t->body_spans;

    refused = refused < all ? refused : all;
    t->sent += all - refused;
    sender_lost(t, (uint64_t)refused);
    if (refused)
        warn_once(t, "%s refused %lld spans: %.*s", t->url, (long long)refused,
                  UTF8_ARGS(why, WARNING_BYTES / 2));
    arena_free(&a);
    next_batch(t);
}

static void answered(struct tracer *t)
{
    char why[64];

    utf8_fmt(why, sizeof why, "the receiver answered with status %d",
             t->status);
    if (t->status >= 200 && t->status < 300)
        accepted(t);
    else if (t->status == 429 || (t->status >= 502 && t->status <= 504))
        try_again(t, why);
    else
        give_up(t, why);
}

static void on_head(void *ctx, struct transfer *transfer, int status)
{
    struct tracer *t = ctx;
    int64_t seconds;

    t->status = status;
    if (str_to_i64(fetch_header(transfer, "retry-after"), &seconds))
        t->wait_ms =
            seconds < TRACE_WAIT_MAX_MS ? seconds * 1000 : TRACE_WAIT_MAX_MS;
}

static bool on_body(void *ctx, const char *p, size_t len)
{
    struct tracer *t = ctx;
    size_t room = TRACE_ANSWER_MAX - t->answer.len;

    buf_add(&t->answer, p, len < room ? len : room);
    return true;
}

static void on_end(void *ctx, enum fetch_end how, const char *message)
{
    struct tracer *t = ctx;

    t->transfer = NULL;
    if (how == FETCH_OK)
        answered(t);
    else if (fetch_may_pass(how))
        try_again(t, message);
    else
        give_up(t, message);
}

static const struct fetch_events events = {on_head, on_body, on_end};

static void send_batch(struct tracer *t)
{
    const struct fetch_request q = {.url = t->url,
                                    .headers = t->headers,
                                    .body = buf_view(&t->body),
                                    .secret = t->secret,
                                    .whole_ms = t->timeout_ms,
                                    .harmless = true};
    struct fetch *f;
    wend_error err = {0};
    wend_status s = rt_fetch(t->rt, &f, &err);

    t->attempts++;
    t->status = 0;
    t->wait_ms = 0;
    buf_clear(&t->answer);
    if (s == WEND_OK)
        s = fetch_start(f, &q, &events, t, &t->transfer, &err);
    if (s != WEND_OK) {
        t->transfer = NULL;
        give_up(t, err.message);
    }
}

/* ---- The queue ----------------------------------------------------------- */

static struct sender_span *take(struct tracer *t)
{
    struct sender_span *s = t->first;

    assert(t->waiting && t->bytes >= s->len);
    t->first = s->next;
    if (!t->first)
        t->tail = &t->first;
    t->waiting--;
    t->bytes -= s->len;
    return s;
}

static void fill_batch(struct tracer *t)
{
    otel_request_begin(&t->body, t->resource);
    while (t->first && t->body_spans < TRACE_BATCH_SPANS_MAX &&
           (!t->body_spans ||
            t->body.len + t->first->len < TRACE_BATCH_BYTES_MAX)) {
        struct sender_span *s = take(t);

        if (t->body_spans++)
            buf_char(&t->body, ',');
        buf_add(&t->body, s->text, s->len);
        mem_free(&t->rt->mem, s);
    }
    otel_request_end(&t->body);
}

static void on_timer(struct timer_node *n)
{
    struct tracer *t = container_of(n, struct tracer, timer);

    if (t->transfer)
        return;
    if (!t->body_spans && t->waiting)
        fill_batch(t);
    if (!t->body_spans)
        return;
    if (t->body.failed)
        give_up(t, "out of memory");
    else
        send_batch(t);
}

static void add_span(struct tracer *t, wend_str line)
{
    struct sender_span *s;

    if (t->waiting >= TRACE_SPANS_MAX ||
        line.len > TRACE_BYTES_MAX - t->bytes ||
        !(s = mem_alloc(&t->rt->mem, sizeof *s + line.len))) {
        sender_lost(t, 1);
        return;
    }
    s->next = NULL;
    s->len = line.len;
    memcpy(s->text, line.ptr, line.len);
    *t->tail = s;
    t->tail = &s->next;
    t->waiting++;
    t->bytes += s->len;
}

void sender_add(struct tracer *t, wend_str lines)
{
    wend_str line;

    while (str_line(&lines, &line))
        add_span(t, line);
    if (!t->waiting || t->body_spans) /* the end of that batch wakes us */
        return;
    if (t->waiting >= TRACE_BATCH_SPANS_MAX)
        wake_in(t, 0);
    else if (!t->timer.place)
        wake_in(t, TRACE_BATCH_DELAY_MS);
}

bool sender_idle(const struct tracer *t)
{
    return !t->waiting && !t->body_spans;
}

void sender_hurry(struct tracer *t, bool yes)
{
    t->hurries = yes;
    if (yes && !sender_idle(t) && !t->transfer)
        wake_in(t, 0);
}

void sender_open(struct tracer *t)
{
    t->tail = &t->first;
    t->body.mem = t->answer.mem = &t->rt->mem;
    t->timer.fire = on_timer;
}

void tracer_free(struct tracer *t)
{
    const struct mem *m = t ? &t->rt->mem : NULL;

    if (!t)
        return;
    timer_clear(&t->rt->timers, &t->timer);
    if (t->transfer)
        fetch_stop(t->transfer);
    while (t->first)
        mem_free(m, take(t));
    buf_free(&t->body);
    buf_free(&t->answer);
    arena_free(&t->arena);
    kept_unref(t->warn_kept);
    mem_free(m, t);
}

/*
 * tape_play.c - an answer from a recording, at its own pace.
 *
 * The whole response is read when it is asked for; the runtime's timers give
 * it out. A request that is not the recorded one gets no answer at all: what
 * follows would belong to another conversation.
 */
#include <stddef.h>

#include "base/fail.h"
#include "host/file.h"
#include "lib/model/tape.h"

enum { BURST = 64 }; /* chunks that are due before others get a turn */

struct player {
    struct flow flow;
    wend_runtime *rt;
    struct mem mem;
    const struct fetch_events *events;
    void *ctx;
    struct timer_node timer;
    int64_t start_us;
    struct buf path, response, message;
    wend_str rest, headers;
    int status;
    struct tape_item item;
    enum tape_got got; /* what the item is */
    bool refused;      /* the message says why */
    bool has_head;     /* was given out */
    bool in_event, gone;
};

static void player_free(struct player *p)
{
    struct mem m = p->mem;

    timer_clear(&p->rt->timers, &p->timer);
    buf_free(&p->path);
    buf_free(&p->response);
    buf_free(&p->message);
    mem_free(&m, p);
}

/* ---- Giving out ---------------------------------------------------------- */

static void wait_until(struct player *p, int64_t due_us)
{
    if (!timer_set(&p->rt->timers, &p->timer, due_us)) {
        p->in_event = true;
        p->events->end(p->ctx, FETCH_NOMEM, "out of memory");
        player_free(p);
    }
}

/* False: the reader stopped it from inside the event. */
static bool event_over(struct player *p)
{
    p->in_event = false;
    if (!p->gone)
        return true;
    player_free(p);
    return false;
}

/* The last event. The player is gone after it. */
static void end(struct player *p)
{
    enum fetch_end how = p->item.how;

    if (p->refused) {
        how = FETCH_REFUSED;
    } else if (p->got == TAPE_CUT) {
        how = FETCH_NETWORK;
        buf_fmt(&p->message, "playback: %s was cut off", p->path.ptr);
    } else if (p->got == TAPE_BAD) {
        how = FETCH_REFUSED;
        buf_fmt(&p->message, "playback: %s is no recording", p->path.ptr);
    } else {
        buf_str(&p->message, p->item.bytes);
    }
    if (p->message.failed)
        how = FETCH_NOMEM;
    p->in_event = true;
    p->events->end(p->ctx, how, buf_view(&p->message).ptr);
    player_free(p);
}

/* Gives out the item; false if the player waits, is stopped or is over. */
static bool give(struct player *p)
{
    bool taken;

    p->in_event = true;
    if (!p->has_head && p->status && !p->refused) {
        p->has_head = true;
        p->events->head(p->ctx, NULL, p->status);
        if (!event_over(p))
            return false;
        p->in_event = true;
    }
    if (p->got != TAPE_CHUNK) {
        end(p);
        return false;
    }
    taken = p->events->body(p->ctx, p->item.bytes.ptr, p->item.bytes.len);
    if (!event_over(p) || !taken) /* not taken: resume sets the timer */
        return false;
    p->got = tape_take(&p->rest, &p->item);
    return true;
}

static void on_timer(struct timer_node *t)
{
    struct player *p = container_of(t, struct player, timer);
    int64_t now_us = rt_clock(p->rt);

    for (int i = 0; i < BURST; i++) {
        bool timed = p->got == TAPE_CHUNK || p->got == TAPE_END;

        if (timed && p->start_us + p->item.at_us > now_us) {
            wait_until(p, p->start_us + p->item.at_us);
            return;
        }
        if (!give(p))
            return;
    }
    wait_until(p, now_us);
}

/* ---- The flow ------------------------------------------------------------ */

static wend_str flow_header(const struct flow *f, const char *name)
{
    const struct player *p = (const struct player *)(const void *)f;

    return tape_header(p->headers, name);
}

static void flow_resume(struct flow *f)
{
    struct player *p = (struct player *)(void *)f;

    if (!p->in_event)
        wait_until(p, rt_clock(p->rt));
}

static void flow_stop(struct flow *f)
{
    struct player *p = (struct player *)(void *)f;

    p->gone = true;
    if (!p->in_event)
        player_free(p);
}

static const struct flow_ops play_ops = {flow_header, flow_resume, flow_stop};

/* ---- Starting ------------------------------------------------------------ */

/* Says why in the player's message if the request is not the recorded one. */
static wend_status compare(struct player *p, const struct tape *t,
                           const struct fetch_request *q, wend_error *err)
{
    struct buf recorded = {.mem = &p->mem}, now = {.mem = &p->mem};
    wend_status s = WEND_OK;

    tape_path(&p->path, t, "request");
    tape_put_request(&now, q, t->key);
    if (!p->path.failed && !file_exists(p->path.ptr)) {
        p->refused = true;
        buf_fmt(&p->message, "playback: there is no request %lld in %s",
                (long long)t->number, t->dir);
        goto done;
    }
    if (!p->path.failed)
        s = file_read(p->path.ptr, TAPE_BYTES_MAX, &recorded, err);
    if (s != WEND_OK)
        goto done;
    buf_fmt(&p->message, "playback: request %lld differs from the recording",
            (long long)t->number);
    p->refused = tape_diff(&p->message, buf_view(&recorded), buf_view(&now));
    if (!p->refused)
        buf_clear(&p->message);
done:
    if (p->path.failed || p->message.failed || now.failed || recorded.failed)
        s = fail_nomem(err);
    buf_free(&recorded);
    buf_free(&now);
    return s;
}

static wend_status load(struct player *p, const struct tape *t, wend_error *err)
{
    wend_status s;

    buf_clear(&p->path);
    tape_path(&p->path, t, "response");
    if (p->path.failed)
        return fail_nomem(err);
    s = file_read(p->path.ptr, TAPE_BYTES_MAX, &p->response, err);
    if (s == WEND_E_NOTFOUND) { /* the crash came between the two files */
        p->got = TAPE_CUT;
        return WEND_OK;
    }
    p->rest = buf_view(&p->response);
    if (s == WEND_OK &&
        tape_take_head(&p->rest, &p->status, &p->headers, &p->got))
        p->got = tape_take(&p->rest, &p->item);
    return s;
}

wend_status tape_play(struct tape *t, wend_runtime *rt,
                      const struct fetch_request *q,
                      const struct fetch_events *events, void *ctx,
                      struct flow **out, wend_error *err)
{
    struct player *p = mem_zalloc(&rt->mem, sizeof *p);
    wend_error why = {0};
    wend_status s;

    if (!p)
        return fail_nomem(err);
    p->flow.ops = &play_ops;
    p->rt = rt;
    p->mem = rt->mem;
    p->path.mem = p->response.mem = p->message.mem = &p->mem;
    p->events = events;
    p->ctx = ctx;
    p->timer.fire = on_timer;
    p->start_us = rt_clock(rt);
    p->got = TAPE_CUT;
    t->number++;
    s = compare(p, t, q, &why);
    if (s == WEND_OK && !p->refused)
        s = load(p, t, &why);
    if (s == WEND_OK && !timer_set(&rt->timers, &p->timer, p->start_us))
        s = WEND_E_NOMEM;
    if (s != WEND_OK) {
        player_free(p);
        return s == WEND_E_NOMEM
                   ? fail_nomem(err)
                   : fail(err, WEND_E_IO, "playback: %.480s", why.message);
    }
    *out = &p->flow;
    return WEND_OK;
}

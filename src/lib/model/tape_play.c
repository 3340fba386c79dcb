/*
 * tape_play.c - an answer from a recording, at its own pace.
 *
 * The whole response is read when it is asked for; the runtime's timers give
 * it out. A request that is not the recorded one gets no answer at all: what
 * follows would belong to another conversation.
 */
#include <stddef.h>

#include "base/fail.h"
#include "base/header.h"
#include "host/file.h"
#include "lib/model/tape.h"

enum { BURST = 64 }; /* chunks that are due before others get a turn */

struct tape_player {
    struct tape_flow base;
    struct timer_node timer;
    struct buf response, message;
    wend_str rest, headers;
    int status;
    struct tape_item item;
    enum tape_got got; /* what the item is */
    bool refused;      /* the message says why */
    bool has_head;     /* was given out */
};

static void player_free(struct tape_flow *f)
{
    struct tape_player *p = container_of(f, struct tape_player, base);

    timer_clear(&f->rt->timers, &p->timer);
    buf_free(&p->response);
    buf_free(&p->message);
}

/* ---- Giving out ---------------------------------------------------------- */

static void wait_until(struct tape_player *p, int64_t due_us)
{
    if (!timer_set(&p->base.rt->timers, &p->timer, due_us))
        tape_flow_end(&p->base, FETCH_NOMEM, "out of memory");
}

/* The last event. The player is gone after it. */
static void end(struct tape_player *p)
{
    enum fetch_end how = p->item.how;

    if (p->refused) {
        how = FETCH_REFUSED;
    } else if (p->got == TAPE_CUT) {
        how = FETCH_NETWORK;
        buf_fmt(&p->message, "playback: %s was cut off", p->base.path.ptr);
    } else if (p->got == TAPE_BAD) {
        how = FETCH_REFUSED;
        buf_fmt(&p->message, "playback: %s is no recording", p->base.path.ptr);
    } else {
        buf_str(&p->message, p->item.bytes);
    }
    if (p->message.failed)
        how = FETCH_NOMEM;
    tape_flow_end(&p->base, how, buf_view(&p->message).ptr);
}

/* Gives out the item; false if the player waits, is stopped or is over. */
static bool give(struct tape_player *p)
{
    struct tape_flow *f = &p->base;
    bool taken;

    f->in_event = true;
    if (!p->has_head && p->status && !p->refused) {
        p->has_head = true;
        f->events->head(f->ctx, &f->transfer, p->status);
        if (!tape_flow_lasts(f))
            return false;
        f->in_event = true;
    }
    if (p->got != TAPE_CHUNK) {
        end(p);
        return false;
    }
    taken = f->events->body(f->ctx, p->item.bytes.ptr, p->item.bytes.len);
    if (!tape_flow_lasts(f) || !taken) /* not taken: resume sets the timer */
        return false;
    p->got = tape_take(&p->rest, &p->item);
    return true;
}

static void on_timer(struct timer_node *t)
{
    struct tape_player *p = container_of(t, struct tape_player, timer);
    int64_t now_us = rt_clock(p->base.rt);

    for (int i = 0; i < BURST; i++) {
        bool timed = p->got == TAPE_CHUNK || p->got == TAPE_END;
        int64_t due_us = p->base.start_us + p->item.at_us;

        if (timed && due_us > now_us) {
            wait_until(p, due_us);
            return;
        }
        if (!give(p))
            return;
    }
    wait_until(p, now_us);
}

/* ---- The transfer -------------------------------------------------------- */

static struct tape_player *player_of(const struct transfer *t)
{
    return container_of(t, struct tape_player, base.transfer);
}

static wend_str header(const struct transfer *t, const char *name)
{
    return header_value(player_of(t)->headers, name);
}

static void resume(struct transfer *t)
{
    struct tape_player *p = player_of(t);

    if (!p->base.in_event)
        wait_until(p, rt_clock(p->base.rt));
}

static void stop(struct transfer *t)
{
    tape_flow_stop(&player_of(t)->base);
}

static const struct fetch_ops play_ops = {
    .header = header,
    .resume = resume,
    .stop = stop,
};

/* ---- Starting ------------------------------------------------------------ */

/* Says why in the player's message if the request is not the recorded one. */
static wend_status compare(struct tape_player *p, const struct tape *t,
                           const struct fetch_request *q, wend_error *err)
{
    struct buf recorded = {.mem = &p->base.mem}, now = {.mem = &p->base.mem};
    struct buf *path = &p->base.path;
    wend_status s = WEND_OK;

    tape_path(path, t, "request");
    tape_put_request(&now, q, t->key);
    if (!path->failed && !file_exists(path->ptr)) {
        p->refused = true;
        buf_fmt(&p->message, "playback: there is no request %lld in %s",
                (long long)t->number, t->dir);
        goto done;
    }
    if (!path->failed)
        s = file_read(path->ptr, TAPE_BYTES_MAX, &recorded, err);
    if (s != WEND_OK)
        goto done;
    buf_fmt(&p->message, "playback: request %lld differs from the recording",
            (long long)t->number);
    p->refused = tape_diff(&p->message, buf_view(&recorded), buf_view(&now));
    if (!p->refused)
        buf_clear(&p->message);
done:
    if (path->failed || p->message.failed || now.failed || recorded.failed)
        s = fail_nomem(err);
    buf_free(&recorded);
    buf_free(&now);
    return s;
}

static wend_status load(struct tape_player *p, const struct tape *t,
                        wend_error *err)
{
    struct buf *path = &p->base.path;
    wend_status s;

    buf_clear(path);
    tape_path(path, t, "response");
    if (path->failed)
        return fail_nomem(err);
    s = file_read(path->ptr, TAPE_BYTES_MAX, &p->response, err);
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
                      struct transfer **out, wend_error *err)
{
    struct tape_player *p = tape_flow_new(sizeof *p, rt, events, ctx);
    wend_error why = {0};
    wend_status s;

    if (!p)
        return fail_nomem(err);
    p->base.transfer.ops = &play_ops;
    p->base.free = player_free;
    p->response.mem = p->message.mem = &p->base.mem;
    p->timer.fire = on_timer;
    p->got = TAPE_CUT;
    t->number++;
    s = compare(p, t, q, &why);
    if (s == WEND_OK && !p->refused)
        s = load(p, t, &why);
    if (s == WEND_OK && !timer_set(&rt->timers, &p->timer, p->base.start_us))
        s = WEND_E_NOMEM;
    if (s != WEND_OK) {
        tape_flow_free(&p->base);
        return s == WEND_E_NOMEM
                   ? fail_nomem(err)
                   : fail(err, WEND_E_IO, "playback: %.480s", why.message);
    }
    *out = &p->base.transfer;
    return WEND_OK;
}

/*
 * close.c - runs that no process will resume: ended by force, removed.
 *
 * Nothing of the log is read: it may be what is damaged.
 */
#include <string.h>

#include "base/fail.h"
#include "base/id.h"
#include "lib/log/log.h"
#include "lib/run/run.h"

/* The two last events of a run, and what the list says about it then. */
struct closing {
    struct arena arena;
    struct buf bytes;
    struct store_event events[2];
    struct store_request *waiting;
    struct store_heard *heard;
    size_t waiting_count;
    wend_run_info *info;
    struct lease lease;
};

static void put_event(struct closing *c, size_t i, wend_event *ev)
{
    struct event_blobs blobs = {.arena = &c->arena};
    size_t at = c->bytes.len;

    event_write(&c->bytes, ev, &blobs);
    c->events[i] = (struct store_event){
        ev->seq, ev->type, ev->time_us, {(const char *)at, c->bytes.len - at}};
}

static void put_events(struct closing *c, const char *id, const char *by,
                       int64_t seq)
{
    static const wend_ev_error error = {
        .code = {"closed", 6},
        .message = {"the run was closed by force", 27},
        .component = {"store", 5},
    };
    wend_event control = {.type = WEND_CONTROL, .run = str_of(id)};
    wend_event end = {.type = WEND_RUN_END, .run = str_of(id)};

    control.seq = seq + 1;
    end.seq = seq + 2;
    control.time_us = end.time_us = env_real.wall_us(NULL);
    control.u.control.what = STR("cancel");
    control.u.control.by = str_of(by);
    end.u.run_end.outcome = WEND_OUTCOME_CANCELED;
    end.u.run_end.text = STR("");
    end.u.run_end.error = &error;
    end.u.run_end.metrics.turns = c->info->turns;
    end.u.run_end.metrics.tokens_in = c->info->tokens_in;
    end.u.run_end.metrics.tokens_out = c->info->tokens_out;
    end.u.run_end.metrics.cost_nano = c->info->cost_nano;
    put_event(c, 0, &control);
    put_event(c, 1, &end);
    for (size_t i = 0; i < 2 && !c->bytes.failed; i++)
        c->events[i].body.ptr = c->bytes.ptr + (size_t)c->events[i].body.ptr;
}

bool close_wrote(const wend_event *ev)
{
    const wend_ev_error *e =
        ev->type == WEND_RUN_END ? ev->u.run_end.error : NULL;

    return e ? str_is(e->code, "closed")
             : ev->type == WEND_CONTROL && str_is(ev->u.control.what, "cancel");
}

/* Only a cancel is heard; other requests came too late. */
static bool hear(struct closing *c)
{
    c->heard =
        arena_alloc(&c->arena, (c->waiting_count + 1) * sizeof *c->heard);
    for (size_t i = 0; c->heard && i < c->waiting_count; i++)
        c->heard[i] = (struct store_heard){
            c->waiting[i].id, !str_is(c->waiting[i].what, "cancel")};
    return c->heard != NULL;
}

/* A run that cannot be closed is left without an owner, as it was. */
static wend_status write_end(wend_store *store, struct closing *c,
                             const char *id, int64_t epoch, wend_error *err)
{
    struct store_batch b = {.run = str_of(id),
                            .epoch = epoch,
                            .events = c->events,
                            .events_count = 2,
                            .heard = c->heard,
                            .heard_count = c->waiting_count};
    struct store_batch left = {
        .run = b.run, .epoch = epoch, .summary = store_left(c->info)};
    wend_status s;

    b.summary = left.summary;
    b.summary.status = "canceled";
    b.summary.ended_us = c->events[1].time_us;
    s = store_append_wait(store, &b);
    if (s == WEND_OK)
        return s;
    store_append_wait(store, &left);
    return fail(err, s, "run %s could not be closed: %s", id,
                wend_status_name(s));
}

/* All that needs memory comes before the run is claimed. */
static wend_status claim(wend_store *store, struct closing *c, const char *id,
                         int64_t *epoch, wend_error *err)
{
    int64_t seq;
    wend_status s = lease_claim(&c->lease, store, c, str_of(id), c->info->seq,
                                epoch, &seq, err);

    return s == WEND_AGAIN
               ? fail(err, WEND_E_BUSY, "run %s has just been changed", id)
               : s;
}

wend_status wend_store_close(wend_store *store, const char *id, const char *by,
                             wend_error *err)
{
    struct closing c = {0};
    int64_t epoch;
    wend_status s = store_enter_run(store, id, err);

    if (s != WEND_OK)
        return s;
    c.arena.mem = c.bytes.mem = &store->mem;
    s = store_info(store, id, &c.arena, &c.info, err);
    if (s == WEND_OK && c.info->ended_us)
        s = fail(err, WEND_E_INVAL, "run %s is over", id);
    if (s == WEND_OK)
        s = store->ops->waiting(store, str_of(id), &c.arena, &c.waiting,
                                &c.waiting_count, err);
    if (s == WEND_OK) {
        put_events(&c, id, by ? by : "api", c.info->seq);
        s = !hear(&c) || c.bytes.failed ? fail_nomem(err)
                                        : claim(store, &c, id, &epoch, err);
    }
    if (s == WEND_OK)
        s = write_end(store, &c, id, epoch, err);
    lease_end(&c.lease);
    arena_free(&c.arena);
    buf_free(&c.bytes);
    return s;
}

wend_status wend_store_remove(wend_store *store, const char *id,
                              wend_error *err)
{
    wend_status s = wend_store_close(store, id, "remove", err);

    /* One that is over needs no end. */
    if (s == WEND_OK ||
        (s == WEND_E_INVAL && store_enter_run(store, id, NULL) == WEND_OK)) {
        fail_clear(err);
        s = store_forget_run(store, id, err);
    }
    return s;
}

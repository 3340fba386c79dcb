/*
 * store_wrap.h - a store around the real one: a point before and after each
 * thing that is asked of it, and a control that breaks the promise.
 *
 * The control says that a batch is safe before it is: it keeps the batch to
 * itself until the next one comes. So what follows from a batch happens
 * before the batch is saved.
 */
#ifndef CRASH_STORE_WRAP_H
#define CRASH_STORE_WRAP_H

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "points.h"
#include "store/store.h"

struct wrap {
    struct wend_store base;
    wend_store *real;
    bool lies;
    struct store_batch *held; /* said to be safe, and not even sent */
    struct store_ops ops;
};

/* What takes the place of the caller's `done`. */
struct told {
    store_done_fn done;
    void *ctx;
};

static wend_store *real_of(wend_store *s)
{
    return ((struct wrap *)(void *)s)->real;
}

static void on_wrap_done(struct store_batch *b, wend_status s)
{
    struct told t = *(struct told *)b->ctx;

    point();
    free(b->ctx);
    b->done = t.done;
    b->ctx = t.ctx;
    t.done(b, s);
}

/* ---- The control --------------------------------------------------------- */

static wend_str copy_of(wend_str s)
{
    char *p = s.ptr ? malloc(s.len + 1) : NULL;

    if (p)
        memcpy(p, s.ptr, s.len);
    return (wend_str){p, p ? s.len : 0};
}

static void *copy_list(const void *list, size_t count, size_t size)
{
    void *p = malloc(count * size + 1);

    if (count)
        memcpy(p, list, count * size);
    return p;
}

/* Never freed: the process lives for one run. */
static struct store_batch *copy_batch(const struct store_batch *b)
{
    struct store_batch *c = copy_list(b, 1, sizeof *b);
    struct store_event *events =
        copy_list(b->events, b->events_count, sizeof *events);
    struct store_pack *packs =
        copy_list(b->packs, b->packs_count, sizeof *packs);
    struct store_blob *blobs =
        copy_list(b->blobs, b->blobs_count, sizeof *blobs);
    struct store_birth *birth = NULL;

    for (size_t i = 0; i < b->events_count; i++)
        events[i].body = copy_of(events[i].body);
    for (size_t i = 0; i < b->packs_count; i++)
        packs[i].body = copy_of(packs[i].body);
    for (size_t i = 0; i < b->blobs_count; i++)
        blobs[i].body = copy_of(blobs[i].body);
    if (b->birth) {
        birth = copy_list(b->birth, 1, sizeof *birth);
        birth->agent = copy_of(birth->agent);
        birth->model = copy_of(birth->model);
        birth->prompt = copy_of(birth->prompt);
        birth->user = copy_of(birth->user);
        birth->session = copy_of(birth->session);
        birth->parent = copy_of(birth->parent);
    }
    c->run = copy_of(b->run);
    c->events = events;
    c->packs = packs;
    c->blobs = blobs;
    c->birth = birth;
    c->heard_count = 0; /* nobody asks anything of these runs */
    c->next = NULL;
    return c;
}

static void on_late_done(struct store_batch *b, wend_status s)
{
    (void)b;
    (void)s;
}

static void send_held(struct wrap *w)
{
    struct store_batch *b = w->held;

    w->held = NULL;
    if (!b)
        return;
    b->done = on_late_done;
    w->real->ops->append(w->real, b);
}

/* ---- The vtable ---------------------------------------------------------- */

static void wrap_append(wend_store *s, struct store_batch *b)
{
    struct wrap *w = (struct wrap *)(void *)s;
    struct told *t;

    point();
    if (w->lies) {
        send_held(w);
        w->held = copy_batch(b);
        b->done(b, WEND_OK);
        point();
        return;
    }
    t = malloc(sizeof *t);
    *t = (struct told){b->done, b->ctx};
    b->done = on_wrap_done;
    b->ctx = t;
    w->real->ops->append(w->real, b);
    point();
}

static wend_status wrap_claim(wend_store *s, wend_str run, int64_t known,
                              int64_t *epoch, int64_t *seq, wend_error *err)
{
    wend_status st;

    point();
    st = real_of(s)->ops->claim(real_of(s), run, known, epoch, seq, err);
    point();
    return st;
}

static wend_status wrap_read(wend_store *s, wend_str run,
                             struct store_place from, uint32_t max,
                             store_item_fn fn, void *ctx, wend_error *err)
{
    wend_status st;

    point();
    st = real_of(s)->ops->read(real_of(s), run, from, max, fn, ctx, err);
    point();
    return st;
}

static wend_status wrap_list(wend_store *s, const wend_list_options *o,
                             struct arena *a, wend_run_info **rows,
                             size_t *count, wend_error *err)
{
    return real_of(s)->ops->list(real_of(s), o, a, rows, count, err);
}

static wend_status wrap_blob(wend_store *s, wend_str hash, struct buf *out,
                             wend_error *err)
{
    return real_of(s)->ops->blob(real_of(s), hash, out, err);
}

static void wrap_keep(wend_store *s, const struct store_fact *fact,
                      store_kept_fn done, void *ctx)
{
    real_of(s)->ops->keep(real_of(s), fact, done, ctx);
}

static wend_status wrap_facts(wend_store *s, wend_str space, wend_str key,
                              int64_t now_us, store_fact_fn fn, void *ctx,
                              wend_error *err)
{
    return real_of(s)->ops->facts(real_of(s), space, key, now_us, fn, ctx, err);
}

static wend_status wrap_take(wend_store *s, store_request_fn fn, void *ctx,
                             wend_error *err)
{
    return real_of(s)->ops->take(real_of(s), fn, ctx, err);
}

static wend_status wrap_waiting(wend_store *s, wend_str run, struct arena *a,
                                struct store_request **out, size_t *count,
                                wend_error *err)
{
    return real_of(s)->ops->waiting(real_of(s), run, a, out, count, err);
}

static wend_status wrap_state(wend_store *s, wend_str run,
                              struct store_state *out, wend_error *err)
{
    return real_of(s)->ops->state(real_of(s), run, out, err);
}

static wend_status wrap_failure(wend_store *s, wend_error *err)
{
    return real_of(s)->ops->failure(real_of(s), err);
}

static void wrap_free(wend_store *s)
{
    struct wrap *w = (struct wrap *)(void *)s;

    send_held(w);
    point();
    w->real->ops->free(w->real);
    point();
    free(w);
}

static wend_store *wrap_open(const char *path, bool lies)
{
    struct wrap *w = calloc(1, sizeof *w);

    w->lies = lies;
    store_init(&w->base, &w->ops);
    if (wend_store_open(path, &w->real, NULL) != WEND_OK) {
        free(w);
        return NULL;
    }
    w->base.mem = w->real->mem;
    w->ops.append = wrap_append;
    w->ops.claim = wrap_claim;
    w->ops.read = wrap_read;
    w->ops.list = wrap_list;
    w->ops.blob = wrap_blob;
    w->ops.state = wrap_state;
    w->ops.take = wrap_take;
    w->ops.waiting = wrap_waiting;
    w->ops.keep = wrap_keep;
    w->ops.facts = wrap_facts;
    w->ops.failure = wrap_failure;
    w->ops.free = wrap_free;
    return &w->base;
}

#endif

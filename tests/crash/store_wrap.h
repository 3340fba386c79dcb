/*
 * store_wrap.h - a store with a point before and after each append, claim and
 * read, and a control that breaks the promise.
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
    struct store_ops ops; /* first: those of the store lead here */
    const struct store_ops *real;
    wend_store *store;
    bool lies;
    struct store_batch *held; /* said to be safe, and not even sent */
};

/* What takes the place of the caller's `done`. */
struct told {
    store_done_fn done;
    void *ctx;
};

static struct wrap *wrap_of(const wend_store *s)
{
    return (struct wrap *)(uintptr_t)s->ops;
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
    c->heard_count = 0; /* these runs get no requests */
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
    w->real->append(w->store, b);
}

/* ---- The vtable ---------------------------------------------------------- */

static void wrap_append(wend_store *s, struct store_batch *b)
{
    struct wrap *w = wrap_of(s);
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
    w->real->append(w->store, b);
    point();
}

static wend_status wrap_claim(wend_store *s, wend_str run, int64_t known,
                              int64_t *epoch, int64_t *seq, wend_error *err)
{
    wend_status st;

    point();
    st = wrap_of(s)->real->claim(s, run, known, epoch, seq, err);
    point();
    return st;
}

static wend_status wrap_read(wend_store *s, wend_str run,
                             struct store_place from, uint32_t max,
                             store_item_fn fn, void *ctx, wend_error *err)
{
    wend_status st;

    point();
    st = wrap_of(s)->real->read(s, run, from, max, fn, ctx, err);
    point();
    return st;
}

static void wrap_free(wend_store *s)
{
    struct wrap *w = wrap_of(s);

    send_held(w);
    point();
    w->real->free(s);
    point();
    free(w);
}

static wend_store *wrap_open(const char *path, bool lies)
{
    struct wrap *w = calloc(1, sizeof *w);

    if (wend_store_open(path, &w->store, NULL) != WEND_OK) {
        free(w);
        return NULL;
    }
    w->lies = lies;
    w->real = w->store->ops;
    w->ops = *w->real;
    w->ops.append = wrap_append;
    w->ops.claim = wrap_claim;
    w->ops.read = wrap_read;
    w->ops.free = wrap_free;
    w->store->ops = &w->ops;
    return w->store;
}

#endif

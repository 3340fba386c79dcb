/*
 * tape.c - a directory of recorded requests, and an answer under way.
 */
#include "lib/model/tape.h"

#include <assert.h>

#include "base/fail.h"
#include "host/file.h"

static wend_status tape_new(const char *dir, const struct mem *m,
                            struct tape **out, wend_error *err)
{
    size_t size = strlen(dir) + 1;
    struct tape *t = mem_zalloc(m, sizeof *t);

    if (t) {
        t->mem = *m;
        t->dir = mem_alloc(m, size);
    }
    if (!t || !t->dir) {
        tape_free(t);
        return fail_nomem(err);
    }
    memcpy(t->dir, dir, size);
    *out = t;
    return WEND_OK;
}

wend_status tape_open_record(const char *dir, const struct mem *m,
                             struct tape **out, wend_error *err)
{
    wend_status s = file_dir_new(dir, err);

    return s == WEND_OK ? tape_new(dir, m, out, err) : s;
}

wend_status tape_open_play(const char *dir, bool may_be_empty,
                           const struct mem *m, struct tape **out,
                           wend_error *err)
{
    wend_status s = tape_new(dir, m, out, err);
    struct buf path = {.mem = m};

    if (s != WEND_OK)
        return s;
    (*out)->plays = true;
    (*out)->number = 1;
    tape_path(&path, *out, "request");
    (*out)->number = 0;
    if (path.failed)
        s = fail_nomem(err);
    else if (!may_be_empty && !file_exists(path.ptr))
        s = fail(err, WEND_E_NOTFOUND,
                 "playback: there is no recording in %.200s", dir);
    buf_free(&path);
    if (s != WEND_OK) {
        tape_free(*out);
        *out = NULL;
    }
    return s;
}

void tape_free(struct tape *t)
{
    struct mem m;

    if (!t)
        return;
    m = t->mem;
    mem_free(&m, t->dir);
    mem_free(&m, t);
}

wend_status tape_start(struct tape *t, wend_runtime *rt,
                       const struct fetch_request *q,
                       const struct fetch_events *events, void *ctx,
                       struct transfer **out, wend_error *err)
{
    struct fetch *fetch;
    wend_status s;

    if (t && t->plays)
        return tape_play(t, rt, q, events, ctx, out, err);
    s = rt_fetch(rt, &fetch, err);
    if (s != WEND_OK)
        return s;
    if (t)
        return tape_record(t, rt, fetch, q, events, ctx, out, err);
    return fetch_start(fetch, q, events, ctx, out, err);
}

/* ---- An answer under way ------------------------------------------------- */

void *tape_flow_new(size_t size, wend_runtime *rt,
                    const struct fetch_events *events, void *ctx)
{
    struct tape_flow *f = mem_zalloc(&rt->mem, size);

    if (!f)
        return NULL;
    f->rt = rt;
    f->mem = rt->mem;
    f->path.mem = &f->mem;
    f->events = events;
    f->ctx = ctx;
    f->start_us = rt_clock(rt);
    return f;
}

void tape_flow_free(struct tape_flow *f)
{
    struct mem m = f->mem;

    f->free(f);
    buf_free(&f->path);
    mem_free(&m, f);
}

bool tape_flow_lasts(struct tape_flow *f)
{
    bool lasts = !f->gone;

    f->in_event = false;
    if (!lasts)
        tape_flow_free(f);
    return lasts;
}

void tape_flow_stop(struct tape_flow *f)
{
    f->gone = true;
    if (!f->in_event)
        tape_flow_free(f);
}

void tape_flow_end(struct tape_flow *f, enum fetch_end how, const char *message)
{
    assert(!f->gone);
    f->in_event = true;
    f->events->end(f->ctx, how, message);
    tape_flow_free(f);
}

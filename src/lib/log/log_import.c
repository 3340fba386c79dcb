/*
 * log_import.c - exported runs into a store.
 *
 * The file is read line by line, and never held: first to see that all of it
 * is right and fits what is in the store, then run by run, once more to know
 * what lists will say and once into the store, where a run grows in small
 * transactions. What a crash leaves of one is its beginning, and the same
 * import continues from there. A file that changes meanwhile is noticed, since
 * each time all of it is checked.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/limits.h"
#include "lib/log/log_import.h"

/* ---- Into the store ------------------------------------------------------ */

static wend_status append(struct import *m, bool last)
{
    struct import_chunk *c = m->chunk;
    bool birth = !m->epoch;
    wend_status s;

    assert(m->lease.store); /* the run is ours */
    c->b.run = str_of(m->run);
    c->b.epoch = birth ? 1 : m->epoch;
    m->birth.b.imported = true;
    c->b.birth = birth ? &m->birth.b : NULL;
    c->b.events = c->events;
    c->b.packs = c->packs;
    c->b.blobs = (const struct store_blob *)(const void *)c->blobs.ptr;
    c->b.blobs_count = c->blobs.len / sizeof *c->b.blobs;
    c->b.summary = m->summary;
    if (!last) { /* it stays ours until all is there */
        c->b.summary.status = "running";
        c->b.summary.ended_us = 0;
    }
    s = c->arena.failed ? fail_nomem(m->err)
                        : store_append_wait(m->store, &c->b);
    if (s == WEND_E_STALE)
        fail(m->err, s, "run %s was changed by another process meanwhile",
             m->run);
    else if (s != WEND_OK && s != WEND_E_NOMEM &&
             m->store->ops->failure(m->store, m->err) == WEND_OK)
        fail(m->err, s, "run %s cannot be stored: %s", m->run,
             wend_status_name(s));
    m->epoch = c->b.epoch;
    m->was = m->summary;
    m->events_new += (int64_t)c->b.events_count;
    c->b.events_count = c->b.packs_count = 0;
    c->bytes = 0;
    buf_clear(&c->blobs);
    arena_reset(&c->arena);
    return s;
}

static wend_status make_room(struct import *m)
{
    const struct import_chunk *c = m->chunk;
    size_t items = c->b.events_count + c->b.packs_count;

    return items && (items == BATCH_ITEMS || c->bytes >= BATCH_BYTES)
               ? append(m, false)
               : WEND_OK;
}

wend_status import_blob(struct import *m, wend_str hash, wend_str text)
{
    struct import_chunk *c = m->chunk;
    struct store_blob b = {.hash = ""};
    wend_status s = make_room(m);

    if (s != WEND_OK)
        return s;
    memcpy(b.hash, hash.ptr, SHA256_HEX);
    b.body = arena_str(&c->arena, text);
    buf_add(&c->blobs, (const char *)&b, sizeof b);
    c->bytes += text.len;
    return c->arena.failed || c->blobs.failed ? fail_nomem(m->err) : WEND_OK;
}

static wend_status put_item(struct import *m)
{
    struct import_chunk *c = m->chunk;
    const struct store_item *i = &m->item.item;
    wend_status s = make_room(m);
    wend_str body;

    if (s != WEND_OK)
        return s;
    assert(c->b.events_count + c->b.packs_count < BATCH_ITEMS);
    body = arena_str(&c->arena, i->body);
    c->bytes += body.len;
    if (i->is_pack)
        c->packs[c->b.packs_count++] =
            (struct store_pack){i->seq, i->n, i->count, body};
    else
        c->events[c->b.events_count++] = (struct store_event){
            .seq = i->seq, .type = WEND_EVENT_NONE, .body = body};
    return c->arena.failed ? fail_nomem(m->err) : WEND_OK;
}

/* A file may name any run as the parent of its own; then that one would stay as
 * long as the new one does. Only a run that came in the same file counts. */
static wend_status check_parent(struct import *m)
{
    wend_str *parent = &m->birth.b.parent;
    wend_run_info *info = NULL;
    wend_status s = WEND_E_NOTFOUND;
    char id[RUN_ID_LEN + 1];

    if (!parent->ptr)
        return WEND_OK;
    if (name_set_get(&m->members, *parent)) {
        snprintf(id, sizeof id, "%.*s", (int)parent->len, parent->ptr);
        s = store_info(m->store, id, &m->arena, &info, m->err);
    }
    if (s != WEND_OK || !info->imported)
        *parent = STR_NONE;
    return s == WEND_E_NOTFOUND ? WEND_OK : s;
}

static wend_status claim(struct import *m)
{
    wend_run_info *info = NULL;
    int64_t seq;
    wend_status s = store_info(m->store, m->run, &m->arena, &info, m->err);

    if (s != WEND_OK)
        return s;
    m->was = store_left(info);
    return lease_claim(&m->lease, m->store, m, str_of(m->leased), STORE_SEQ_ANY,
                       &m->epoch, &seq, m->err);
}

/* A run whose rest cannot be stored is left without an owner. */
static void release(struct import *m)
{
    struct store_batch b = {
        .run = str_of(m->run), .epoch = m->epoch, .summary = m->was};

    b.summary.status = "interrupted";
    b.summary.ended_us = 0;
    if (m->epoch)
        store_append_wait(m->store, &b);
}

static wend_status begin_again(struct import *m)
{
    wend_status s = import_begin(m);

    if (s == WEND_OK && strcmp(m->leased, m->run) != 0)
        s = import_bad(m, "the file has changed while it was read");
    memcpy(m->run, m->leased, sizeof m->run);
    return s;
}

/* The items behind those that are known; the source stands before the run. */
static wend_status put_run(struct import *m)
{
    wend_status s;

    memcpy(m->leased, m->run, sizeof m->leased);
    s = m->there ? claim(m) : check_parent(m);
    if (s == WEND_OK && !m->there)
        lease_begin(&m->lease, m->store, m, str_of(m->leased));
    if (s == WEND_OK)
        s = begin_again(m);
    while (s == WEND_OK && !m->over) {
        s = import_next(m);
        if (s == WEND_OK && !m->over && m->count > m->known)
            s = put_item(m);
    }
    if (s == WEND_OK)
        s = append(m, true);
    if (s != WEND_OK)
        release(m);
    lease_end(&m->lease);
    return s;
}

static wend_status store_run(struct import *m)
{
    int64_t at = log_source_place(&m->source);
    uint32_t line = m->line;
    wend_status s = import_look(m);

    m->epoch = m->events_new = 0;
    if (s == WEND_OK && m->known < m->count) {
        m->chunk = mem_zalloc(m->mem, sizeof *m->chunk);
        if (!m->chunk)
            return fail_nomem(m->err);
        m->chunk->arena.mem = m->chunk->blobs.mem = m->mem;
        log_source_seek(&m->source, at);
        m->line = line;
        s = put_run(m);
        arena_free(&m->chunk->arena);
        buf_free(&m->chunk->blobs);
        mem_free(m->mem, m->chunk);
        m->chunk = NULL;
    }
    if (s == WEND_OK && m->fn)
        m->fn(m->ctx, m->run, m->events_new);
    return s;
}

/* ---- The file ------------------------------------------------------------ */

static wend_status look_first(struct import *m)
{
    wend_status s = import_look(m);

    return s == WEND_OK && !name_set_put(&m->members, str_of(m->run))
               ? fail_nomem(m->err)
               : s;
}

/* Each run, to the end of the file. */
static wend_status each_run(struct import *m,
                            wend_status (*then)(struct import *m))
{
    wend_status s = WEND_OK;

    log_source_seek(&m->source, 0);
    m->line = 0;
    while (s == WEND_OK)
        s = then(m);
    return s == WEND_END ? WEND_OK : s;
}

wend_status wend_store_import_from(wend_store *store, wend_read_fn read,
                                   void *read_ctx, wend_import_fn fn, void *ctx,
                                   wend_error *err)
{
    wend_error own;
    struct import m = {.store = store,
                       .fn = fn,
                       .ctx = ctx,
                       .members.size = sizeof(struct node),
                       .blobs.size = sizeof(struct blob_line)};
    wend_status s;

    if (!store || !read)
        return fail(err, WEND_E_INVAL, "import: store or read is NULL");
    s = store_enter(store, err);
    if (s != WEND_OK)
        return s;
    m.mem = &store->mem;
    m.err = err ? err : &own;
    m.source =
        (struct log_source){.read = read, .ctx = read_ctx, .text.mem = m.mem};
    m.arena.mem = m.lists.mem = m.check.arena.mem = m.mem;
    m.members.arena.mem = m.blobs.arena.mem = m.mem;
    s = each_run(&m, look_first);
    if (s == WEND_OK && !m.line)
        s = fail_at(err, WEND_E_PARSE, 1, 1, "line 1: the file is empty");
    if (s == WEND_OK)
        s = each_run(&m, store_run);
    import_forget(&m);
    arena_free(&m.lists);
    name_set_free(&m.members);
    log_source_free(&m.source);
    if (s == WEND_OK)
        fail_clear(err); /* runs that are new were looked up in vain */
    return s;
}

wend_status wend_store_import(wend_store *store, wend_str file,
                              wend_import_fn fn, void *ctx, wend_error *err)
{
    return store && file.ptr
               ? wend_store_import_from(store, log_read_memory, &file, fn, ctx,
                                        err)
               : fail(err, WEND_E_INVAL, "import: store or file is NULL");
}

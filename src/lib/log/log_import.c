/*
 * log_import.c - exported runs into a store.
 *
 * The file is read line by line, and never held: first to see that all of it
 * is right and fits what is in the store, then run by run, once more to know
 * what lists will say and once into the store, where a run grows in small
 * transactions. What a crash leaves of one is its beginning, and the same
 * import goes on from there. A file that changes meanwhile is noticed, since
 * each time all of it is checked.
 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/id.h"
#include "base/limits.h"
#include "lib/log/log.h"
#include "lib/log/log_lines.h"
#include "lib/log/log_source.h"
#include "lib/run/run.h"
#include "store/table.h"

enum { BATCH_ITEMS = 256, BATCH_BYTES = 1 << 20 }; /* a few milliseconds */

struct blob { /* of the file */
    struct node node;
    char hash[SHA256_HEX + 1];
    int64_t at; /* where its line is */
};

struct member { /* a run of the file */
    struct node node;
    char id[RUN_ID_LEN + 1];
};

struct chunk { /* of a run, as a batch; what it has is in the arena */
    struct arena arena;
    struct store_event events[BATCH_ITEMS];
    struct store_pack packs[BATCH_ITEMS];
    struct buf blobs; /* struct store_blob */
    struct store_batch b;
    size_t bytes;
};

struct import {
    wend_store *store;
    const struct mem *mem;
    struct log_source source;
    uint32_t line;
    wend_import_fn fn;
    void *ctx;
    wend_error *err;
    struct table members;
    struct arena members_arena;
    /* Of the run: */
    struct arena arena, lists; /* lists: of birth */
    struct log_check check;
    char run[RUN_ID_LEN + 1];
    struct log_line item; /* the newest event or pack, until the next */
    size_t count;         /* of both so far */
    bool over;            /* its last line was read */
    struct table blobs;
    struct log_birth birth;
    struct store_summary summary;
    size_t known;        /* items that the store has already */
    bool there, differs; /* the store has a run of that id, and another one */
    int64_t differs_seq; /* from there on */
    wend_status read;    /* of the file, inside a read of the store */
    /* Into the store: */
    struct chunk *chunk;
    int64_t epoch; /* 0: it is not there yet */
    int64_t events_new;
};

static wend_status bad(struct import *m, const char *what)
{
    return fail_at(m->err, WEND_E_PARSE, m->line, 1, "line %u: %s",
                   (unsigned)m->line, what);
}

static wend_status next_line(struct import *m, struct log_source *from,
                             wend_str *line)
{
    wend_status s = log_source_line(from, line);

    if (s == WEND_E_NOMEM)
        return fail_nomem(m->err);
    return s == WEND_E_IO ? fail(m->err, s, "line %u: the file cannot be read",
                                 (unsigned)m->line + 1)
                          : s;
}

static void forget_run(struct import *m)
{
    arena_free(&m->arena);
    log_check_free(&m->check);
    mem_free(m->mem, m->blobs.slots);
    memset(&m->blobs, 0, sizeof m->blobs);
    memset(&m->check, 0, sizeof m->check);
    m->arena = m->check.arena = (struct arena){.mem = m->mem};
    m->count = 0;
    m->over = false;
}

/* ---- Blobs --------------------------------------------------------------- */

static wend_status blob_text(const struct log_line *l, struct arena *a,
                             wend_str *text)
{
    wend_error why = {0};
    const struct json *j = json_parse(l->body, a, &why);

    if (!j)
        return why.status == WEND_E_NOMEM ? WEND_E_NOMEM : WEND_E_CORRUPT;
    *text = json_str(j);
    return text->ptr && text->len <= BLOB_BYTES_MAX &&
                   log_blob_fits(l->hash, *text)
               ? WEND_OK
               : WEND_E_CORRUPT;
}

/* An event_blob_fn; what was checked when it came is read again. */
static wend_status find_blob(void *ctx, wend_str hash, struct arena *a,
                             wend_str *text)
{
    struct import *m = ctx;
    const struct blob *b =
        table_get(&m->blobs, hash, offsetof(struct blob, hash));
    struct log_source again = {
        .read = m->source.read, .ctx = m->source.ctx, .text.mem = m->mem};
    struct log_line l;
    wend_str line;
    wend_status s;

    if (!b)
        return WEND_E_CORRUPT;
    log_source_seek(&again, b->at);
    s = log_source_line(&again, &line);
    if (s == WEND_OK)
        s = log_line_read(line, &l) == LINE_BLOB && str_eq(l.hash, hash)
                ? blob_text(&l, a, text)
                : WEND_E_CORRUPT;
    if (s == WEND_OK) { /* it may point into the line */
        *text = arena_str(a, *text);
        s = text->ptr ? WEND_OK : WEND_E_NOMEM;
    }
    log_source_free(&again);
    return s == WEND_E_NOMEM || s == WEND_OK ? s : WEND_E_CORRUPT;
}

static wend_status put_blob(struct import *m, wend_str hash, wend_str text);

static wend_status on_blob(struct import *m, const struct log_line *l,
                           int64_t at)
{
    struct arena scratch = {.mem = m->mem};
    struct blob *b = arena_alloc(&m->arena, sizeof *b);
    wend_str text;
    wend_status s;

    if (!b || !table_room(&m->blobs, m->mem))
        return fail_nomem(m->err);
    if (table_get(&m->blobs, l->hash, offsetof(struct blob, hash)))
        return bad(m, "the blob stands there twice");
    memcpy(b->hash, l->hash.ptr, SHA256_HEX);
    b->at = at;
    s = blob_text(l, &scratch, &text);
    if (s == WEND_E_NOMEM)
        fail_nomem(m->err);
    else if (s != WEND_OK)
        s = bad(m, "the blob is not what its hash says");
    else
        table_add(&m->blobs, &b->node, str_of(b->hash));
    if (s == WEND_OK && m->chunk && m->count >= m->known)
        s = put_blob(m, str_of(b->hash), text);
    arena_free(&scratch);
    return s;
}

/* ---- One run of the file ------------------------------------------------- */

/* What lists will say. */
static void note_event(struct import *m, const wend_event *ev)
{
    const wend_ev_metrics *metrics = NULL;

    log_birth_note(&m->birth, ev, &m->lists);
    if (ev->type == WEND_RUN_FORK)
        m->birth.b.parent = STR_NONE; /* what it shares comes with it */
    if (ev->type == WEND_METRICS) {
        metrics = &ev->u.metrics;
    } else if (ev->type == WEND_RUN_END) {
        metrics = &ev->u.run_end.metrics;
        m->summary.status = wend_outcome_name(ev->u.run_end.outcome);
        m->summary.ended_us = ev->time_us;
    }
    if (metrics) {
        m->summary.turns = metrics->turns;
        m->summary.tokens_in = metrics->tokens_in;
        m->summary.tokens_out = metrics->tokens_out;
        m->summary.cost_nano = metrics->cost_nano;
    }
}

static wend_status on_item(struct import *m, struct store_item *item)
{
    struct log_check *c = &m->check;

    bool good;

    if (!item->is_pack)
        item->seq = c->seq + 1;
    good = log_check_item(c, item);
    if (good && !item->is_pack && c->ev.time_us <= 0) {
        c->seq--;
        good = log_check_bad(c, "has no time"); /* a run that ends at 0 does
                                                   not end */
    }
    if (!good) {
        if (c->status == WEND_E_NOMEM)
            return fail_nomem(m->err);
        return fail_at(m->err, WEND_E_CORRUPT, m->line, 1,
                       "line %u: event %lld %s", (unsigned)m->line,
                       (long long)c->seq + 1, c->why);
    }
    if (!item->is_pack && !m->chunk)
        note_event(m, &c->ev);
    m->count++;
    return m->lists.failed ? fail_nomem(m->err) : WEND_OK;
}

static wend_status on_end(struct import *m, const struct log_line *l)
{
    struct log_check *c = &m->check;

    if (!log_check_own(c))
        return bad(m, "the run's own events are missing before it");
    if (!c->seq || !str_is(l->run, m->run) || l->seq != c->seq ||
        memcmp(l->item.hash, c->chain.head, SHA256_BYTES) != 0)
        return bad(m, "the end does not fit what is before it");
    m->over = true;
    return WEND_OK;
}

/* Up to the next event or pack, which is m->item then, or the run's end. */
static wend_status next_item(struct import *m)
{
    struct log_line *l = &m->item;
    wend_status s = WEND_OK;
    wend_str text;

    while (s == WEND_OK) {
        int64_t at = log_source_place(&m->source);

        s = next_line(m, &m->source, &text);
        m->line += s == WEND_OK || s == WEND_END;
        if (s != WEND_OK)
            return s == WEND_END ? bad(m, "the end of the run is missing") : s;
        switch (log_line_read(text, l)) {
        case LINE_BLOB: s = on_blob(m, l, at); break;
        case LINE_EVENT:
        case LINE_PACK: return on_item(m, &l->item);
        case LINE_END: return on_end(m, l);
        case LINE_HEAD:
        case LINE_BAD: return bad(m, "no line of an exported run");
        }
    }
    return s;
}

static wend_status begin_run(struct import *m)
{
    struct log_line l;
    wend_str text;
    wend_status s;

    forget_run(m);
    s = next_line(m, &m->source, &text);
    if (s != WEND_OK)
        return s;
    m->line++;
    if (log_line_read(text, &l) != LINE_HEAD)
        return bad(m, "this is no exported run (wend export writes them)");
    snprintf(m->run, sizeof m->run, "%.*s", (int)l.run.len, l.run.ptr);
    m->check.run = str_of(m->run);
    m->check.blob = find_blob;
    m->check.blob_ctx = m;
    return WEND_OK;
}

/* ---- What the store has -------------------------------------------------- */

/* Beside each item of the store the next one of the file. */
static bool compare(void *ctx, const struct store_item *there)
{
    struct import *m = ctx;
    const struct store_item *mine = &m->item.item;

    m->read = next_item(m);
    if (m->read != WEND_OK || m->over)
        return false; /* over: the store has more */
    m->differs = mine->is_pack != there->is_pack || mine->seq != there->seq ||
                 mine->n != there->n || !str_eq(mine->body, there->body);
    m->differs_seq = mine->seq + mine->is_pack;
    m->known += !m->differs;
    return !m->differs;
}

/* What a file adds to a run that was made here would have its authority. */
static wend_status check_own(struct import *m)
{
    wend_run_info *info = NULL;
    wend_status s = store_info(m->store, m->run, &m->arena, &info, m->err);

    return s == WEND_OK && !info->imported
               ? fail(m->err, WEND_E_EXISTS,
                      "run %s was made in this store, and the file has more "
                      "events of it; import it into another store",
                      m->run)
               : s;
}

/* Whether the run is right, from its first line to its last, and how much of it
 * is there already. */
static wend_status look(struct import *m)
{
    struct store_state state;
    wend_status s;

    arena_reset(&m->lists);
    m->birth = (struct log_birth){0};
    m->summary = (struct store_summary){.status = "interrupted"};
    m->known = 0;
    m->there = m->differs = false;
    m->read = WEND_OK;
    s = begin_run(m);
    if (s != WEND_OK)
        return s;
    s = m->store->ops->state(m->store, str_of(m->run), &state, m->err);
    m->there = s == WEND_OK;
    if (m->there)
        s = m->store->ops->read(m->store, str_of(m->run),
                                (struct store_place){1, 0}, 0, compare, m,
                                m->err);
    else if (s == WEND_E_NOTFOUND)
        s = WEND_OK;
    if (s == WEND_OK)
        s = m->read;
    while (s == WEND_OK && !m->over)
        s = next_item(m);
    if (s == WEND_OK && m->differs)
        s = fail(m->err, WEND_E_EXISTS,
                 "run %s is in the store already, and is another from event "
                 "%lld on",
                 m->run, (long long)m->differs_seq);
    if (s == WEND_OK && m->there && m->known < m->count)
        s = check_own(m);
    return s;
}

/* ---- Into the store ------------------------------------------------------ */

static wend_status append(struct import *m, bool last)
{
    struct chunk *c = m->chunk;
    bool birth = !m->epoch;
    wend_status s;

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
    m->events_new += (int64_t)c->b.events_count;
    c->b.events_count = c->b.packs_count = 0;
    c->bytes = 0;
    buf_clear(&c->blobs);
    arena_reset(&c->arena);
    return s;
}

static wend_status make_room(struct import *m)
{
    const struct chunk *c = m->chunk;
    size_t items = c->b.events_count + c->b.packs_count;

    return items && (items == BATCH_ITEMS || c->bytes >= BATCH_BYTES)
               ? append(m, false)
               : WEND_OK;
}

static wend_status put_blob(struct import *m, wend_str hash, wend_str text)
{
    struct chunk *c = m->chunk;
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
    struct chunk *c = m->chunk;
    const struct store_item *i = &m->item.item;
    wend_status s = make_room(m);
    wend_str body;

    if (s != WEND_OK)
        return s;
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
    if (table_get(&m->members, *parent, offsetof(struct member, id))) {
        snprintf(id, sizeof id, "%.*s", (int)parent->len, parent->ptr);
        s = store_info(m->store, id, &m->arena, &info, m->err);
    }
    if (s != WEND_OK || !info->imported)
        *parent = STR_NONE;
    return s == WEND_E_NOTFOUND ? WEND_OK : s;
}

/* The items behind those that are known; the source stands before the run. */
static wend_status put_run(struct import *m)
{
    int64_t seq;
    wend_status s = WEND_OK;

    if (m->there)
        s = m->store->ops->claim(m->store, str_of(m->run), STORE_SEQ_ANY,
                                 &m->epoch, &seq, m->err);
    else
        s = check_parent(m);
    if (s == WEND_OK)
        s = begin_run(m);
    while (s == WEND_OK && !m->over) {
        s = next_item(m);
        if (s == WEND_OK && !m->over && m->count > m->known)
            s = put_item(m);
    }
    return s == WEND_OK ? append(m, true) : s;
}

static wend_status store_run(struct import *m)
{
    int64_t at = log_source_place(&m->source);
    uint32_t line = m->line;
    wend_status s = look(m);

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
    struct member *member;
    wend_status s = look(m);

    if (s != WEND_OK ||
        table_get(&m->members, str_of(m->run), offsetof(struct member, id)))
        return s;
    member = arena_alloc(&m->members_arena, sizeof *member);
    if (!member || !table_room(&m->members, m->mem))
        return fail_nomem(m->err);
    memcpy(member->id, m->run, sizeof member->id);
    table_add(&m->members, &member->node, str_of(member->id));
    return WEND_OK;
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
    struct import m = {.store = store, .fn = fn, .ctx = ctx};
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
    m.arena.mem = m.lists.mem = m.members_arena.mem = m.check.arena.mem = m.mem;
    s = each_run(&m, look_first);
    if (s == WEND_OK && !m.line)
        s = fail_at(err, WEND_E_PARSE, 1, 1, "line 1: the file is empty");
    if (s == WEND_OK)
        s = each_run(&m, store_run);
    forget_run(&m);
    arena_free(&m.lists);
    arena_free(&m.members_arena);
    mem_free(m.mem, m.members.slots);
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

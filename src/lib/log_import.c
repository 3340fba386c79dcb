/*
 * log_import.c - exported runs into a store.
 *
 * The file is read twice: first to see that all of it is right and fits what
 * is in the store, then run by run into the store, where a run grows in small
 * transactions. What a crash leaves of one is its beginning, and the same
 * import goes on from there.
 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/id.h"
#include "base/limits.h"
#include "lib/lib.h"
#include "lib/log_check.h"
#include "lib/log_lines.h"
#include "store/table.h"

enum { BATCH_ITEMS = 256, BATCH_BYTES = 1 << 20 }; /* a few milliseconds */

struct blob { /* of the file */
    struct node node;
    char hash[SHA256_HEX + 1];
    wend_str json; /* the text, as a JSON string */
    size_t before; /* the item that it stands before */
};

struct import {
    wend_store *store;
    const struct mem *mem;
    wend_str rest; /* of the file */
    uint32_t line;
    wend_import_fn fn;
    void *ctx;
    wend_error *err;
    /* Of the run: */
    struct arena arena;
    struct log_check check;
    char run[RUN_ID_LEN + 1];
    struct buf items; /* struct store_item, seq set */
    struct table blobs;
    struct buf blobs_order; /* struct blob * */
    struct log_birth birth;
    struct store_summary summary;
    bool there;    /* the store has a run of that id */
    size_t known;  /* items that the store has already */
    bool differs;  /* from what the store has */
    int64_t epoch; /* 0: it is not there yet */
    int64_t events_new;
};

static wend_status bad(struct import *m, const char *what)
{
    return fail_at(m->err, WEND_E_PARSE, m->line, 1, "line %u: %s",
                   (unsigned)m->line, what);
}

static struct store_item *items(const struct import *m, size_t *count)
{
    *count = m->items.len / sizeof(struct store_item);
    return (struct store_item *)(void *)m->items.ptr;
}

static void forget_run(struct import *m)
{
    arena_free(&m->arena);
    log_check_free(&m->check);
    buf_free(&m->items);
    buf_free(&m->blobs_order);
    mem_free(m->mem, m->blobs.slots);
    memset(&m->blobs, 0, sizeof m->blobs);
    memset(&m->check, 0, sizeof m->check);
    m->arena = m->check.arena = (struct arena){.mem = m->mem};
    m->items = m->blobs_order = (struct buf){.mem = m->mem};
    m->birth = (struct log_birth){0};
    m->summary = (struct store_summary){.status = "interrupted"};
    m->known = 0;
    m->there = m->differs = false;
    m->epoch = m->events_new = 0;
}

/* ---- Blobs --------------------------------------------------------------- */

static wend_status blob_text(const struct blob *b, struct arena *a,
                             wend_str *text)
{
    wend_error why = {0};
    const struct json *j = json_parse(b->json, a, &why);

    if (!j)
        return why.status == WEND_E_NOMEM ? WEND_E_NOMEM : WEND_E_CORRUPT;
    *text = json_str(j);
    return text->ptr && text->len <= BLOB_BYTES_MAX &&
                   log_blob_fits(str_of(b->hash), *text)
               ? WEND_OK
               : WEND_E_CORRUPT;
}

static wend_status find_blob(void *ctx, wend_str hash, struct arena *a,
                             wend_str *text)
{
    struct import *m = ctx;
    const struct blob *b =
        table_get(&m->blobs, hash, offsetof(struct blob, hash));

    return b ? blob_text(b, a, text) : WEND_E_CORRUPT;
}

static wend_status on_blob(struct import *m, const struct line *l)
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
    b->json = l->body;
    items(m, &b->before);
    s = blob_text(b, &scratch, &text);
    arena_free(&scratch);
    if (s == WEND_E_NOMEM)
        return fail_nomem(m->err);
    if (s != WEND_OK)
        return bad(m, "the blob is not what its hash says");
    table_add(&m->blobs, &b->node, str_of(b->hash));
    buf_add(&m->blobs_order, (const char *)&b, sizeof b);
    return m->blobs_order.failed ? fail_nomem(m->err) : WEND_OK;
}

/* ---- One run of the file ------------------------------------------------- */

/* What lists will say. */
static void note_event(struct import *m, const wend_event *ev)
{
    const wend_ev_metrics *metrics = NULL;

    log_birth_note(&m->birth, ev, &m->arena);
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

    if (!item->is_pack)
        item->seq = c->seq + 1;
    if (!log_check_item(c, item)) {
        if (c->status == WEND_E_NOMEM)
            return fail_nomem(m->err);
        return fail_at(m->err, WEND_E_CORRUPT, m->line, 1,
                       "line %u: event %lld %s", (unsigned)m->line,
                       (long long)c->seq + 1, c->why);
    }
    if (!item->is_pack)
        note_event(m, &c->ev);
    buf_add(&m->items, (const char *)item, sizeof *item);
    return m->items.failed || m->arena.failed ? fail_nomem(m->err) : WEND_OK;
}

static bool next_line(struct import *m, wend_str *line)
{
    const char *eol;

    if (!m->rest.len)
        return false;
    eol = memchr(m->rest.ptr, '\n', m->rest.len);
    *line = (wend_str){m->rest.ptr,
                       eol ? (size_t)(eol - m->rest.ptr) : m->rest.len};
    m->rest.ptr += line->len + (eol != NULL);
    m->rest.len -= line->len + (eol != NULL);
    m->line++;
    return true;
}

static wend_status on_end(struct import *m, const struct line *l)
{
    struct log_check *c = &m->check;

    if (!log_check_own(c))
        return bad(m, "the run's own events are missing before it");
    if (!c->seq || !str_is(l->run, m->run) || l->seq != c->seq ||
        memcmp(l->item.hash, c->chain.head, SHA256_BYTES) != 0)
        return bad(m, "the end does not fit what is before it");
    return WEND_OK;
}

/* From its first line to its last. */
static wend_status read_run(struct import *m)
{
    struct line l;
    wend_str text;
    wend_status s = WEND_OK;

    forget_run(m);
    next_line(m, &text);
    if (log_line_read(text, &l) != LINE_HEAD)
        return bad(m, "this is no exported run (wend export writes them)");
    snprintf(m->run, sizeof m->run, "%.*s", (int)l.run.len, l.run.ptr);
    m->check.run = str_of(m->run);
    m->check.blob = find_blob;
    m->check.blob_ctx = m;
    while (s == WEND_OK && next_line(m, &text)) {
        switch (log_line_read(text, &l)) {
        case LINE_BLOB: s = on_blob(m, &l); break;
        case LINE_EVENT:
        case LINE_PACK: s = on_item(m, &l.item); break;
        case LINE_END: return on_end(m, &l);
        case LINE_HEAD:
        case LINE_BAD: return bad(m, "no line of an exported run");
        }
    }
    m->line += s == WEND_OK;
    return s == WEND_OK ? bad(m, "the end of the run is missing") : s;
}

/* ---- Into the store ------------------------------------------------------ */

static bool compare(void *ctx, const struct store_item *there)
{
    struct import *m = ctx;
    size_t count;
    const struct store_item *mine = items(m, &count) + m->known;

    if (m->known == count)
        return false; /* the store has more */
    m->differs = mine->is_pack != there->is_pack || mine->seq != there->seq ||
                 mine->n != there->n || !str_eq(mine->body, there->body);
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

/* How much of the run is there already. */
static wend_status look(struct import *m)
{
    struct store_state state;
    size_t count;
    const struct store_item *mine = items(m, &count);
    wend_status s =
        m->store->ops->state(m->store, str_of(m->run), &state, m->err);

    if (s == WEND_E_NOTFOUND)
        return WEND_OK;
    if (s == WEND_OK)
        s = m->store->ops->read(m->store, str_of(m->run),
                                (struct store_place){1, 0}, 0, compare, m,
                                m->err);
    if (s == WEND_OK && m->differs)
        s = fail(m->err, WEND_E_EXISTS,
                 "run %s is in the store already, and is another from event "
                 "%lld on",
                 m->run,
                 (long long)mine[m->known].seq + mine[m->known].is_pack);
    m->there = s == WEND_OK;
    if (s == WEND_OK && m->known < count)
        s = check_own(m);
    return s;
}

struct chunk { /* of items, as a batch */
    struct store_event events[BATCH_ITEMS];
    struct store_pack packs[BATCH_ITEMS];
    struct store_batch b;
    size_t first, end; /* items */
};

static void fill_chunk(struct import *m, struct chunk *c)
{
    size_t count, bytes = 0, at = c->first;
    const struct store_item *all = items(m, &count);

    c->b.events_count = c->b.packs_count = 0;
    for (; at < count && at - c->first < BATCH_ITEMS && bytes < BATCH_BYTES;
         at++) {
        const struct store_item *i = &all[at];

        bytes += i->body.len;
        if (i->is_pack)
            c->packs[c->b.packs_count++] =
                (struct store_pack){i->seq, i->n, i->count, i->body};
        else
            c->events[c->b.events_count++] = (struct store_event){
                .seq = i->seq, .type = WEND_EVENT_NONE, .body = i->body};
    }
    c->end = at;
}

/* The blobs that stand before the items of a chunk. */
static wend_status fill_blobs(struct import *m, struct chunk *c,
                              struct arena *a)
{
    struct blob *const *all = (struct blob *const *)(void *)m->blobs_order.ptr;
    size_t count = m->blobs_order.len / sizeof *all;
    struct store_blob *out = arena_alloc(a, (count + 1) * sizeof *out);

    c->b.blobs_count = 0;
    c->b.blobs = out;
    for (size_t i = 0; out && i < count; i++) {
        if (all[i]->before < c->first || all[i]->before >= c->end)
            continue;
        memcpy(out->hash, all[i]->hash, sizeof out->hash);
        if (blob_text(all[i], a, &out->body) != WEND_OK)
            return fail_nomem(m->err); /* it was right before */
        out++;
        c->b.blobs_count++;
    }
    return a->failed ? fail_nomem(m->err) : WEND_OK;
}

static wend_status put_chunk(struct import *m, struct chunk *c, size_t count)
{
    struct arena a = {.mem = m->mem};
    bool birth = !m->epoch;
    wend_status s = fill_blobs(m, c, &a);

    c->b.run = str_of(m->run);
    c->b.epoch = birth ? 1 : m->epoch;
    m->birth.b.imported = true;
    c->b.birth = birth ? &m->birth.b : NULL;
    c->b.events = c->events;
    c->b.packs = c->packs;
    c->b.summary = m->summary;
    if (c->end < count) { /* it stays ours until all is there */
        c->b.summary.status = "running";
        c->b.summary.ended_us = 0;
    }
    if (s == WEND_OK) {
        s = store_append_wait(m->store, &c->b);
        if (s == WEND_E_STALE)
            fail(m->err, s, "run %s was changed by somebody else meanwhile",
                 m->run);
        else if (s != WEND_OK &&
                 m->store->ops->failure(m->store, m->err) == WEND_OK)
            fail(m->err, s, "run %s cannot be stored: %s", m->run,
                 wend_status_name(s));
    }
    m->epoch = c->b.epoch;
    m->events_new += (int64_t)c->b.events_count;
    arena_free(&a);
    return s;
}

static wend_status store_run(struct import *m)
{
    struct chunk *c = mem_zalloc(m->mem, sizeof *c);
    size_t count;
    int64_t seq;
    wend_status s = c ? look(m) : fail_nomem(m->err);

    items(m, &count);
    if (s == WEND_OK && m->there && m->known < count)
        s = m->store->ops->claim(m->store, str_of(m->run), STORE_SEQ_ANY,
                                 &m->epoch, &seq, m->err);
    for (size_t at = m->known; s == WEND_OK && at < count; at = c->end) {
        c->first = at;
        fill_chunk(m, c);
        s = put_chunk(m, c, count);
    }
    if (s == WEND_OK && m->fn)
        m->fn(m->ctx, m->run, m->events_new);
    mem_free(m->mem, c);
    return s;
}

/* ---- The file ------------------------------------------------------------ */

static wend_status read_file(struct import *m, wend_str file,
                             wend_status (*then)(struct import *m))
{
    wend_status s = WEND_OK;

    m->rest = file;
    m->line = 0;
    while (s == WEND_OK && m->rest.len) {
        s = read_run(m);
        if (s == WEND_OK)
            s = then(m);
    }
    forget_run(m);
    return s;
}

wend_status wend_store_import(wend_store *store, wend_str file,
                              wend_import_fn fn, void *ctx, wend_error *err)
{
    wend_error own;
    struct import m = {.store = store, .fn = fn, .ctx = ctx};
    wend_status s;

    if (!store || !file.ptr)
        return fail(err, WEND_E_INVAL, "import: store or file is NULL");
    s = store_enter(store, err);
    if (s != WEND_OK)
        return s;
    m.mem = &store->mem;
    m.err = err ? err : &own;
    m.arena.mem = m.check.arena.mem = m.items.mem = m.blobs_order.mem = m.mem;
    if (!file.len)
        return fail_at(err, WEND_E_PARSE, 1, 1, "line 1: the file is empty");
    s = read_file(&m, file, look);
    return s == WEND_OK ? read_file(&m, file, store_run) : s;
}

/*
 * past.c - the log of a run, read once for all that need it.
 *
 * The agent of a run is known only at the end of its log, and folding the log
 * needs the agent. So the items are kept from the first reading until the run
 * is resumed, unless there are too many.
 */
#include "lib/run/past.h"

#include <string.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "core/event/event.h"
#include "lib/run/run.h"
#include "store/pack.h"

enum {
    READ_ITEMS = 512,          /* at a time: the host is called in between */
    PAST_BYTES_MAX = 64 << 20, /* kept; a longer log is read again */
};

struct past_item {
    struct past_item *next;
    struct store_item item;
};

struct past_log {
    struct mem mem;
    struct arena arena;
    char id[40];
    struct past_item *first, *last;
    size_t bytes;
};

struct past_reading {
    wend_runtime *rt;
    const struct past_reader *reader;
    struct past_log *log;
    struct past_item *fresh; /* the first that was not told yet */
    struct arena arena;      /* of one kept event and what follows it */
    struct chain chain;
    int64_t seq, n;    /* newest item */
    wend_event around; /* the kept event whose turn the deltas share */
    bool whole;        /* the log has all items */
    bool enough;
    wend_status status;
};

static bool is_known(const struct past_reading *r, const struct store_item *i)
{
    return i->is_pack ? i->seq < r->seq || (i->seq == r->seq && i->n <= r->n)
                      : i->seq <= r->seq;
}

static bool keep_item(void *ctx, const struct store_item *item)
{
    struct past_reading *r = ctx;
    struct past_log *log = r->log;
    int64_t to = r->reader->to;
    struct past_item *p;

    if (is_known(r, item))
        return true; /* read again, for what follows it */
    r->enough = to && (item->seq > to || (item->seq == to && item->is_pack));
    if (r->enough)
        return false;
    p = arena_alloc(&log->arena, sizeof *p);
    if (!p)
        return false;
    p->item = *item;
    p->item.body = arena_str(&log->arena, item->body);
    log->bytes += item->body.len + sizeof *p;
    if (log->last)
        log->last->next = p;
    else
        log->first = p;
    log->last = p;
    if (!r->fresh)
        r->fresh = p;
    r->seq = item->seq;
    r->n = item->is_pack ? item->n : 0;
    return !log->arena.failed;
}

/* ---- Telling ------------------------------------------------------------- */

static bool tell(struct past_reading *r, const wend_event *ev)
{
    if (ev->type < 64 && r->reader->types >> ev->type & 1)
        r->enough |= !r->reader->fn(r->reader->ctx, ev);
    return !r->enough;
}

static bool tell_delta(void *ctx, wend_event *ev)
{
    struct past_reading *r = ctx;

    ev->run = r->around.run;
    ev->in_turn = r->around.in_turn;
    ev->turn = r->around.turn;
    ev->turn_id = r->around.turn_id;
    return tell(r, ev);
}

static wend_status tell_kept(struct past_reading *r,
                             const struct store_item *item)
{
    int64_t before = r->around.seq;
    wend_status s;

    chain_event(&r->chain, item->body);
    if (item->seq != before + 1 ||
        memcmp(r->chain.head, item->hash, sizeof item->hash))
        return WEND_E_CORRUPT;
    arena_reset(&r->arena);
    s = event_read(item->body, &r->arena, run_blob, r->rt, &r->around, NULL);
    r->around.seq = item->seq;
    if (s != WEND_OK)
        return s == WEND_E_NOMEM ? s : WEND_E_CORRUPT;
    tell(r, &r->around);
    return WEND_OK;
}

static wend_status tell_item(struct past_reading *r,
                             const struct store_item *item)
{
    wend_status s;

    if (!item->is_pack)
        return tell_kept(r, item);
    chain_pack(&r->chain, item->body);
    s = pack_read(item->body, item->seq, item->n, &r->arena, tell_delta, r,
                  NULL);
    return s == WEND_OK || r->enough ? WEND_OK : s;
}

/* ---- Public -------------------------------------------------------------- */

static wend_status read_some(struct past_reading *r, wend_error *err)
{
    wend_store *store = r->rt->store;
    struct store_place from = {r->seq ? r->seq : 1, r->n};
    wend_status s = store->ops->read(store, str_of(r->log->id), from,
                                     READ_ITEMS, keep_item, r, err);

    if (s == WEND_OK && r->log->arena.failed)
        s = fail_nomem(err);
    for (; s == WEND_OK && !r->status && r->fresh; r->fresh = r->fresh->next)
        r->status = tell_item(r, &r->fresh->item);
    r->fresh = NULL;
    if (r->log->bytes > PAST_BYTES_MAX) {
        arena_reset(&r->log->arena);
        r->log->first = r->log->last = NULL;
        r->log->bytes = 0;
        r->whole = false;
    }
    return s == WEND_OK ? r->status : s;
}

wend_status past_read(wend_runtime *rt, const char *id,
                      const struct past_reader *reader, struct past_log **out,
                      wend_error *err)
{
    struct past_reading r = {.rt = rt, .reader = reader, .whole = true};
    int64_t seq, n;
    wend_status s;

    *out = NULL;
    r.log = mem_zalloc(&rt->mem, sizeof *r.log);
    if (!r.log)
        return fail_nomem(err);
    r.log->mem = rt->mem;
    r.log->arena.mem = &r.log->mem;
    r.arena.mem = &rt->mem;
    utf8_fmt(r.log->id, sizeof r.log->id, "%s", id);
    do {
        seq = r.seq;
        n = r.n;
        s = read_some(&r, err);
    } while (s == WEND_OK && !r.enough && (r.seq != seq || r.n != n));
    if (s == WEND_E_CORRUPT)
        fail(err, s, "the log of run %s is damaged at event %lld", id,
             (long long)r.around.seq + 1);
    if (s == WEND_E_NOMEM)
        fail_nomem(err);
    if (s == WEND_OK && r.whole && !reader->to) {
        *out = r.log;
        r.log = NULL;
    }
    past_free(r.log);
    arena_free(&r.arena);
    return s;
}

void past_feed(const struct past_log *log, const char *id, store_item_fn fn,
               void *ctx)
{
    const struct past_item *p = log && !strcmp(log->id, id) ? log->first : NULL;

    while (p && fn(ctx, &p->item))
        p = p->next;
}

void past_free(struct past_log *log)
{
    struct mem m;

    if (!log)
        return;
    m = log->mem;
    arena_free(&log->arena);
    mem_free(&m, log);
}

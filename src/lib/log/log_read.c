/*
 * log_read.c - the log of a run, read item by item.
 *
 * The agent of a run is known only at the end of its log, and folding the log
 * needs the agent. So past_read keeps the items until the run is resumed,
 * unless there are too many.
 */
#include "lib/log/log.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "store/pack.h"

enum {
    READ_ITEMS = 512,          /* at a time: the host is called in between */
    PAST_BYTES_MAX = 64 << 20, /* kept; a longer log is read again */
};

/* ---- Items --------------------------------------------------------------- */

static bool is_known(const struct log_reader *r, const struct store_item *i)
{
    return i->is_pack ? i->seq < r->seq || (i->seq == r->seq && i->n <= r->n)
                      : i->seq <= r->seq;
}

/* A reader that begins in the middle takes the hash of its first event as it
 * is. */
static bool fits(struct log_reader *r, const struct store_item *item)
{
    if (r->unchained)
        return true;
    if (!r->seq && r->first > 1 && item->seq == r->first) {
        memcpy(r->chain.head, item->hash, sizeof r->chain.head);
        return true;
    }
    chain_event(&r->chain, item->body);
    return item->seq == r->seq + 1 &&
           !memcmp(r->chain.head, item->hash, sizeof item->hash);
}

static wend_status read_event(struct log_reader *r,
                              const struct store_item *item, wend_str body)
{
    wend_status s;

    if (!fits(r, item)) {
        r->bad_seq = r->seq + 1;
        return WEND_E_CORRUPT;
    }
    s = event_read(body, &r->arena, r->blob, r->store, &r->around, NULL);
    if (s == WEND_OK && r->around.seq != item->seq)
        s = WEND_E_CORRUPT;
    r->seq = item->seq;
    r->n = 0;
    return s == WEND_OK ? r->fn(r->ctx, &r->around) : s;
}

static bool on_delta(void *ctx, wend_event *ev)
{
    struct log_reader *r = ctx;

    ev->run = r->around.run;
    ev->in_turn = r->around.in_turn;
    ev->turn = r->around.turn;
    ev->turn_id = r->around.turn_id;
    r->status = r->fn(r->ctx, ev);
    return r->status == WEND_OK;
}

static wend_status read_pack(struct log_reader *r,
                             const struct store_item *item, wend_str body)
{
    wend_status s;

    if (!r->unchained)
        chain_pack(&r->chain, item->body);
    s = pack_read(body, item->seq, item->n, &r->deltas, on_delta, r, NULL);
    r->n = item->n;
    return s == WEND_OK ? r->status : s;
}

bool log_read_item(void *ctx, const struct store_item *item)
{
    struct log_reader *r = ctx;
    struct arena *a = item->is_pack ? &r->deltas : &r->arena;
    wend_str body;

    assert(r->status == WEND_OK);
    if (is_known(r, item) || (item->is_pack && r->no_deltas))
        return true; /* read again, for what follows it */
    a->mem = r->mem;
    arena_reset(a);
    r->bad_seq = item->seq;
    body = arena_str(a, item->body);
    r->status = !body.ptr
                    ? WEND_E_NOMEM
                    : (item->is_pack ? read_pack : read_event)(r, item, body);
    if (r->status != WEND_OK && r->status != WEND_END &&
        r->status != WEND_E_NOMEM)
        r->status = WEND_E_CORRUPT;
    return r->status == WEND_OK;
}

/* WEND_OK, or what is wrong with the items read so far. */
static wend_status read_status(const struct log_reader *r, const char *id,
                               wend_error *err)
{
    if (r->status == WEND_E_NOMEM)
        return fail_nomem(err);
    if (r->status == WEND_E_CORRUPT)
        return fail(err, WEND_E_CORRUPT,
                    "the log of run %s is damaged at event %lld", id,
                    (long long)r->bad_seq);
    return WEND_OK;
}

wend_status log_read_more(struct log_reader *r, const char *id, wend_error *err)
{
    struct store_place from = {r->seq ? r->seq : r->first ? r->first : 1, r->n};
    wend_status s = WEND_OK;

    if (r->status == WEND_OK)
        s = r->store->ops->read(r->store, str_of(id), from, 0, log_read_item, r,
                                err);
    return s == WEND_OK ? read_status(r, id, err) : s;
}

void log_read_free(struct log_reader *r)
{
    arena_free(&r->arena);
    arena_free(&r->deltas);
}

/* ---- Kept items ---------------------------------------------------------- */

struct past_item {
    struct past_item *next;
    struct store_item item;
};

struct past_log {
    struct mem mem;
    struct arena arena;
    char id[40];
    struct past_item *first, **end;
    size_t bytes;
};

struct past_reading {
    struct log_reader reader;
    struct past_log *log;
    int64_t to;         /* the last event that counts; 0 = the newest */
    bool enough, whole; /* whole: the log has all items */
};

static bool keep_item(void *ctx, const struct store_item *item)
{
    struct past_reading *p = ctx;
    struct past_log *log = p->log;
    struct past_item *i;

    if (is_known(&p->reader, item))
        return true;
    p->enough =
        p->to && (item->seq > p->to || (item->seq == p->to && item->is_pack));
    i = p->enough ? NULL : arena_alloc(&log->arena, sizeof *i);
    if (!i)
        return false;
    i->item = *item;
    i->item.body = arena_str(&log->arena, item->body);
    log->bytes += item->body.len + sizeof *i;
    *log->end = i;
    log->end = &i->next;
    return !log->arena.failed;
}

static void forget_items(struct past_log *log)
{
    arena_reset(&log->arena);
    log->first = NULL;
    log->end = &log->first;
    log->bytes = 0;
}

/* The events are told outside of the store, which the host may use. */
static wend_status read_some(struct past_reading *p, wend_error *err)
{
    struct log_reader *r = &p->reader;
    struct past_item **fresh = p->log->end;
    struct store_place from = {r->seq ? r->seq : 1, r->n};
    wend_status s = r->store->ops->read(r->store, str_of(p->log->id), from,
                                        READ_ITEMS, keep_item, p, err);

    if (s != WEND_OK || p->log->arena.failed)
        return s != WEND_OK ? s : fail_nomem(err);
    p->enough |= !*fresh;
    for (const struct past_item *i = *fresh; i; i = i->next)
        if (!log_read_item(r, &i->item))
            break;
    if (p->log->bytes > PAST_BYTES_MAX) {
        forget_items(p->log);
        p->whole = false;
    }
    return read_status(r, p->log->id, err);
}

wend_status past_read(const struct log_reader *reader, const char *id,
                      int64_t to, struct past_log **out, wend_error *err)
{
    struct past_reading p = {.reader = *reader, .to = to, .whole = true};
    wend_status s = WEND_OK;

    *out = NULL;
    p.log = mem_zalloc(reader->mem, sizeof *p.log);
    if (!p.log)
        return fail_nomem(err);
    p.log->mem = *reader->mem;
    p.log->arena.mem = &p.log->mem;
    forget_items(p.log);
    utf8_fmt(p.log->id, sizeof p.log->id, "%s", id);
    while (s == WEND_OK && !p.enough && p.reader.status == WEND_OK)
        s = read_some(&p, err);
    if (s == WEND_OK && p.whole && !to) {
        *out = p.log;
        p.log = NULL;
    }
    past_free(p.log);
    log_read_free(&p.reader);
    return s;
}

void past_feed(const struct past_log *log, const char *id, struct log_reader *r)
{
    const struct past_item *p = log && !strcmp(log->id, id) ? log->first : NULL;

    while (p && log_read_item(r, &p->item))
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

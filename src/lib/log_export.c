/*
 * log_export.c - a stored run as lines that can be carried elsewhere.
 *
 * Nothing is written that was not checked: an event stands behind the blobs
 * it refers to, and the last line says that all came through.
 */
#include <string.h>

#include "base/fail.h"
#include "base/id.h"
#include "base/json.h"
#include "lib/log_check.h"

enum { WRITE_BYTES = 64 << 10 }; /* so much is written at once */

struct told { /* a blob that was written */
    struct told *next;
    char hash[SHA256_HEX + 1];
};

struct export
{
    struct log_check check;
    wend_store *store;
    int64_t seq_to;
    struct arena arena;
    struct told *told;
    struct buf out;
    wend_write_fn fn;
    void *ctx;
    wend_status status;
};

static bool write_out(struct export *x, size_t keep)
{
    if (x->out.failed)
        x->status = WEND_E_NOMEM;
    else if (x->out.len > keep && !x->fn(x->ctx, buf_view(&x->out)))
        x->status = WEND_E_IO;
    else if (x->out.len > keep)
        buf_clear(&x->out);
    return x->status == WEND_OK;
}

static bool was_told(const struct export *x, wend_str hash)
{
    for (const struct told *t = x->told; t; t = t->next)
        if (str_is(hash, t->hash))
            return true;
    return false;
}

/* The blob, on its way to the event that is being read. */
static wend_status on_blob(void *ctx, wend_str hash, struct arena *a,
                           wend_str *text)
{
    struct export *x = ctx;
    wend_status s = log_blob(x->store, hash, a, text);
    struct told *t;

    if (s != WEND_OK || was_told(x, hash))
        return s;
    t = arena_alloc(&x->arena, sizeof *t);
    if (!t)
        return WEND_E_NOMEM;
    memcpy(t->hash, hash.ptr, SHA256_HEX); /* else it would not fit */
    t->next = x->told;
    x->told = t;
    buf_fmt(&x->out, "{\"blob\":\"%s\",\"text\":", t->hash);
    json_put_str(&x->out, *text);
    buf_cstr(&x->out, "}\n");
    return WEND_OK;
}

static void put_pack(struct buf *b, const struct store_item *item)
{
    buf_fmt(b, "{\"seq\":%lld,\"n\":%lld,\"count\":%lld,\"deltas\":",
            (long long)item->seq, (long long)item->n, (long long)item->count);
    buf_str(b, item->body);
    buf_cstr(b, "}\n");
}

static void put_event(struct buf *b, const struct store_item *item)
{
    char hex[SHA256_HEX + 1];

    hex_text(hex, item->hash, sizeof item->hash);
    buf_fmt(b, "{\"hash\":\"%s\",\"event\":", hex);
    buf_str(b, item->body);
    buf_cstr(b, "}\n");
}

/* Deltas after the last event are no part of its chain: they are left out
 * where only a part is wanted. */
static bool is_past(const struct export *x, const struct store_item *item)
{
    return x->seq_to &&
           (item->seq > x->seq_to || (item->is_pack && item->seq == x->seq_to));
}

static bool on_item(void *ctx, const struct store_item *item)
{
    struct export *x = ctx;

    if (is_past(x, item) || !log_check_item(&x->check, item))
        return false;
    (item->is_pack ? put_pack : put_event)(&x->out, item);
    return write_out(x, WRITE_BYTES);
}

static wend_status export(struct export *x, wend_error *err)
{
    struct log_check *c = &x->check;
    struct store_state state;
    char hex[SHA256_HEX + 1];
    wend_status s = x->store->ops->state(x->store, c->run, &state, err);

    if (s != WEND_OK)
        return s;
    buf_fmt(&x->out, "{\"wend\":\"run/1\",\"run\":\"%.*s\"}\n", (int)c->run.len,
            c->run.ptr);
    s = x->store->ops->read(x->store, c->run,
                            (struct store_place){INT64_MIN, 0}, 0, on_item, x,
                            err);
    if (s != WEND_OK)
        return s;
    if (c->status == WEND_OK && x->status == WEND_OK &&
        c->seq < (x->seq_to ? x->seq_to : state.seq))
        log_check_bad(c, "is missing");
    if (x->status == WEND_OK)
        log_check_own(c);
    if (c->status == WEND_E_CORRUPT)
        return fail(err, WEND_E_CORRUPT, "run %.*s is damaged: event %lld %s",
                    (int)c->run.len, c->run.ptr, (long long)c->seq + 1, c->why);
    if (c->status != WEND_OK)
        return fail_nomem(err);
    hex_text(hex, c->chain.head, sizeof c->chain.head);
    buf_fmt(&x->out, "{\"end\":\"%.*s\",\"seq\":%lld,\"head\":\"%s\"}\n",
            (int)c->run.len, c->run.ptr, (long long)c->seq, hex);
    write_out(x, 0);
    if (x->status == WEND_E_NOMEM)
        return fail_nomem(err);
    return x->status == WEND_OK ? WEND_OK
                                : fail(err, x->status, "export was stopped");
}

wend_status wend_store_export(wend_store *store, const char *id, int64_t seq_to,
                              wend_write_fn fn, void *ctx, wend_error *err)
{
    struct export x = {.store = store, .seq_to = seq_to, .fn = fn, .ctx = ctx};
    char owner[RUN_ID_LEN + 1];
    wend_status s;

    if (!store || !id || !fn || seq_to < 0 || !run_id_valid(str_of(id)))
        return fail(err, WEND_E_INVAL,
                    "export: an argument is NULL, or id is no run id");
    /* A part of what a fork shares is its owner's. */
    s = log_owner(store, str_of(id), seq_to ? seq_to : INT64_MAX, owner, err);
    if (s != WEND_OK)
        return s;
    x.check.run = str_of(owner);
    x.check.blob = on_blob;
    x.check.blob_ctx = &x;
    x.check.arena.mem = x.arena.mem = x.out.mem = &store->mem;
    s = export(&x, err);
    log_check_free(&x.check);
    arena_free(&x.arena);
    buf_free(&x.out);
    return s;
}

/*
 * log_check.c - a log read item by item: whether it is as it was written.
 */
#include "lib/log_check.h"

#include <stdio.h>
#include <string.h>

#include "store/pack.h"

bool log_check_bad(struct log_check *c, const char *fmt, ...)
{
    va_list args;

    c->status = WEND_E_CORRUPT;
    va_start(args, fmt);
    vsnprintf(c->why, sizeof c->why, fmt, args);
    va_end(args);
    return false;
}

static bool out_of_memory(struct log_check *c)
{
    log_check_bad(c, "out of memory");
    c->status = WEND_E_NOMEM;
    return false;
}

void log_check_free(struct log_check *c)
{
    arena_free(&c->arena);
}

/* ---- Blobs --------------------------------------------------------------- */

bool log_blob_fits(wend_str hash, wend_str text)
{
    unsigned char digest[SHA256_BYTES];
    char hex[SHA256_HEX + 1];
    struct sha256 s;

    sha256_init(&s);
    sha256_add(&s, text.ptr, text.len);
    sha256_end(&s, digest);
    hex_text(hex, digest, sizeof digest);
    return str_is(hash, hex);
}

wend_status log_blob(void *ctx, wend_str hash, struct arena *a, wend_str *text)
{
    wend_store *store = ctx;
    struct buf b = {.mem = &store->mem};
    wend_status s = store->ops->blob(store, hash, &b, NULL);

    if (s == WEND_OK && !log_blob_fits(hash, buf_view(&b)))
        s = WEND_E_CORRUPT;
    if (s == WEND_OK) {
        *text = arena_str(a, buf_view(&b));
        s = text->ptr ? WEND_OK : WEND_E_NOMEM;
    }
    buf_free(&b);
    return s;
}

/* ---- Items --------------------------------------------------------------- */

static bool count_delta(void *ctx, wend_event *delta)
{
    (void)delta;
    ++*(int64_t *)ctx;
    return true;
}

static bool check_pack(struct log_check *c, const struct store_item *item)
{
    int64_t count = 0;
    wend_status s;

    if (!c->seq || item->seq != c->seq || item->n != c->n + 1)
        return log_check_bad(c, "deltas before it are missing, or at a wrong "
                                "place");
    if (c->over)
        return log_check_bad(c, "deltas follow the end of the run");
    s = pack_read(item->body, item->seq, item->n, &c->arena, count_delta,
                  &count, NULL);
    if (s == WEND_E_NOMEM)
        return out_of_memory(c);
    if (s != WEND_OK || count != item->count || !count)
        return log_check_bad(c, "deltas before it cannot be read");
    chain_pack(&c->chain, item->body);
    c->n += count;
    return true;
}

/* The hash of the blob that has all of an output that was cut. */
static wend_str cut_blob(const wend_event *ev)
{
    enum { MARK_BYTES = 160 }; /* it ends with the mark */
    wend_str rest = STR_NONE, hash = STR_NONE;

    if (ev->type == WEND_CALL_END && ev->u.call_end.truncated)
        rest = ev->u.call_end.output;
    if (rest.len > MARK_BYTES)
        rest = (wend_str){rest.ptr + rest.len - MARK_BYTES, MARK_BYTES};
    while (rest.ptr && store_blob_next(&rest, &hash))
        ;
    return hash;
}

/* What the hash says is right, this was also written by us. */
static bool check_event(struct log_check *c, const struct store_item *item)
{
    wend_error err = {0};
    wend_status s =
        event_read(item->body, &c->arena, c->blob, c->blob_ctx, &c->ev, &err);
    wend_str cut = s == WEND_OK ? cut_blob(&c->ev) : STR_NONE, all;

    if (cut.ptr)
        s = c->blob(c->blob_ctx, cut, &c->arena, &all);
    if (s == WEND_E_NOMEM || c->arena.failed)
        return out_of_memory(c);
    if (s != WEND_OK)
        return log_check_bad(c, "cannot be read: %s",
                             err.message[0] ? err.message
                                            : "a blob is missing or damaged");
    if (!str_eq(c->ev.run, c->run))
        return log_check_bad(c, "is of another run");
    if (c->ev.seq != item->seq || c->ev.n)
        return log_check_bad(c, "has another number inside");
    if (c->ev.time_us < c->time_us)
        return log_check_bad(c, "is older than the one before it");
    if (c->over)
        return log_check_bad(c, "follows the end of the run");
    return true;
}

bool log_check_item(struct log_check *c, const struct store_item *item)
{
    arena_reset(&c->arena);
    if (item->is_pack)
        return check_pack(c, item);
    if (item->seq != c->seq + 1)
        return log_check_bad(c, item->seq > c->seq
                                    ? "is missing"
                                    : "has a number below 1, or one twice");
    chain_event(&c->chain, item->body);
    if (memcmp(c->chain.head, item->hash, sizeof item->hash) != 0)
        return log_check_bad(c, "does not fit its hash: it, the deltas before "
                                "it or the hash was changed");
    if (!check_event(c, item))
        return false;
    c->seq = item->seq;
    c->n = 0;
    c->time_us = c->ev.time_us;
    c->over = c->ev.type == WEND_RUN_END;
    return true;
}

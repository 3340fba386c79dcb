/*
 * log_export.c - a stored run as lines that can be carried elsewhere.
 *
 * Nothing is written that was not checked: an event stands behind the blobs
 * it refers to, and the last line says that all came through. The runs that
 * it started follow it, each after the one whose log names it.
 */
#include <stddef.h>
#include <string.h>

#include "base/fail.h"
#include "base/id.h"
#include "base/json.h"
#include "base/utf8.h"
#include "lib/log/log.h"
#include "store/table.h"

enum { WRITE_BYTES = 64 << 10 }; /* written at once */

struct export_member { /* of the family: the run, and its children */
    struct node node;
    struct export_member *next;
};

struct export
{
    wend_store *store;
    int64_t seq_to;
    wend_write_fn fn;
    void *ctx;
    struct buf out;
    wend_status status;
    struct name_set members; /* by id */
    struct export_member *first, **end;
    /* of the run that is written now */
    struct log_check check;
    struct name_set blobs; /* that were written */
};

/* False: out of memory. */
static bool add_member(struct export *x, wend_str id)
{
    struct export_member *m;

    if (name_set_get(&x->members, id))
        return true;
    m = name_set_put(&x->members, id);
    if (!m)
        return false;
    *x->end = m;
    x->end = &m->next;
    return true;
}

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

/* The blob, on its way to the event that is being read. */
static wend_status on_blob(void *ctx, wend_str hash, struct arena *a,
                           wend_str *text)
{
    struct export *x = ctx;
    wend_status s = log_blob(x->store, hash, a, text);

    if (s != WEND_OK || name_set_get(&x->blobs, hash))
        return s;
    if (!name_set_put(&x->blobs, hash))
        return WEND_E_NOMEM;
    json_open(&x->out, NULL, '{');
    json_add_str(&x->out, "blob", hash);
    if (utf8_valid_len(*text) == text->len) {
        json_add_str(&x->out, "text", *text);
    } else {
        json_key(&x->out, "base64");
        buf_char(&x->out, '"');
        base64_put(&x->out, *text);
        buf_char(&x->out, '"');
    }
    buf_cstr(&x->out, "}\n");
    return WEND_OK;
}

static void put_pack(struct buf *b, const struct store_item *item)
{
    json_open(b, NULL, '{');
    json_add_i64(b, "seq", item->seq);
    json_add_i64(b, "n", item->n);
    json_add_i64(b, "count", item->count);
    json_add_raw(b, "deltas", item->body);
    buf_cstr(b, "}\n");
}

static void add_hash(struct buf *b, const char *key,
                     const unsigned char hash[SHA256_BYTES])
{
    char hex[SHA256_HEX + 1];

    hex_text(hex, hash, SHA256_BYTES);
    json_add_str(b, key, str_of(hex));
}

static void put_event(struct buf *b, const struct store_item *item)
{
    json_open(b, NULL, '{');
    add_hash(b, "hash", item->hash);
    json_add_raw(b, "event", item->body);
    buf_cstr(b, "}\n");
}

/* Deltas after the last event are not in its chain: an export of a part
 * leaves them out. */
static bool is_past(const struct export *x, const struct store_item *item)
{
    return x->seq_to &&
           (item->seq > x->seq_to || (item->is_pack && item->seq == x->seq_to));
}

/* A part of a run goes alone. */
static bool note_child(struct export *x, const wend_event *ev)
{
    if (x->seq_to || ev->type != WEND_CHILD_START ||
        !run_id_valid(ev->u.child_start.run) ||
        add_member(x, ev->u.child_start.run))
        return true;
    x->status = WEND_E_NOMEM;
    return false;
}

static bool on_item(void *ctx, const struct store_item *item)
{
    struct export *x = ctx;

    if (is_past(x, item) || !log_check_item(&x->check, item) ||
        (!item->is_pack && !note_child(x, &x->check.ev)))
        return false;
    (item->is_pack ? put_pack : put_event)(&x->out, item);
    return write_out(x, WRITE_BYTES);
}

static wend_status export_run(struct export *x, wend_error *err)
{
    struct log_check *c = &x->check;
    struct store_state state;
    wend_status s = x->store->ops->state(x->store, c->run, &state, err);

    if (s != WEND_OK)
        return s;
    json_open(&x->out, NULL, '{');
    json_add_str(&x->out, "wend", STR("run/1"));
    json_add_str(&x->out, "run", c->run);
    buf_cstr(&x->out, "}\n");
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
    json_open(&x->out, NULL, '{');
    json_add_str(&x->out, "end", c->run);
    json_add_i64(&x->out, "seq", c->seq);
    add_hash(&x->out, "head", c->chain.head);
    buf_cstr(&x->out, "}\n");
    if (x->status == WEND_OK)
        write_out(x, 0);
    if (x->status == WEND_E_NOMEM)
        return fail_nomem(err);
    return x->status == WEND_OK ? WEND_OK
                                : fail(err, x->status, "export was stopped");
}

/* One that was started but had not begun yet, or that was pruned, is not
 * there. */
static wend_status export_family(struct export *x, wend_error *err)
{
    wend_status s = WEND_OK;

    for (const struct export_member *of = x->first; s == WEND_OK && of;
         of = of->next) {
        x->check = (struct log_check){
            .run = str_of(name_set_name(&x->members, of)),
            .blob = on_blob,
            .blob_ctx = x,
            .arena = {.mem = &x->store->mem},
        };
        s = export_run(x, err);
        if (s == WEND_E_NOTFOUND && of != x->first)
            s = WEND_OK;
        log_check_free(&x->check);
        name_set_free(&x->blobs);
    }
    return s;
}

wend_status wend_store_export(wend_store *store, const char *id, int64_t seq_to,
                              wend_write_fn fn, void *ctx, wend_error *err)
{
    struct export x = {.store = store,
                       .seq_to = seq_to,
                       .fn = fn,
                       .ctx = ctx,
                       .members.size = sizeof(struct export_member),
                       .blobs.size = sizeof(struct node)};
    char owner[RUN_ID_LEN + 1];
    wend_status s;

    if (!fn || seq_to < 0)
        return fail(err, WEND_E_INVAL,
                    "export: fn is NULL, or seq_to is below 0");
    s = store_enter_run(store, id, err);
    /* A part of what a fork shares is its owner's. */
    if (s == WEND_OK)
        s = log_owner(store, str_of(id), seq_to ? seq_to : INT64_MAX, owner,
                      err);
    if (s != WEND_OK)
        return s;
    x.end = &x.first;
    x.members.arena.mem = x.blobs.arena.mem = x.out.mem = &store->mem;
    s = add_member(&x, str_of(owner)) ? export_family(&x, err)
                                      : fail_nomem(err);
    name_set_free(&x.members);
    buf_free(&x.out);
    if (s == WEND_OK)
        fail_clear(err); /* a child that is gone was looked up in vain */
    return s;
}

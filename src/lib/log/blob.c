/*
 * blob.c - the long texts that a run refers to.
 */
#include <string.h>

#include "base/fail.h"
#include "base/id.h"
#include "lib/log/log.h"
#include "lib/run/run.h"

enum { PREFIX_MIN = 4 };

struct blob_search {
    wend_store *store;
    wend_str prefix;
    struct arena arena; /* of the event */
    char hash[SHA256_HEX + 1];
    bool several, no_memory;
};

static void note_hash(struct blob_search *s, wend_str hash)
{
    if (hash.len != SHA256_HEX || hash.len < s->prefix.len ||
        memcmp(hash.ptr, s->prefix.ptr, s->prefix.len) != 0)
        return;
    s->several |= s->hash[0] && !str_is(hash, s->hash);
    memcpy(s->hash, hash.ptr, SHA256_HEX);
}

/* An event_blob_fn: what it stands for is not asked for here; a list, since it
 * may be a chunk of one. */
static wend_status note_reference(void *ctx, wend_str hash, struct arena *a,
                                  wend_str *text)
{
    (void)a;
    note_hash(ctx, hash);
    *text = STR("[]");
    return WEND_OK;
}

/* By its meaning: what a model or a tool has written may look like one. */
static bool note_event(void *ctx, const struct store_item *item)
{
    struct blob_search *s = ctx;
    const wend_ev_part *part;
    wend_event ev;
    wend_str cut;

    if (item->is_pack)
        return true;
    arena_reset(&s->arena);
    if (event_read(item->body, &s->arena, note_reference, s, &ev, NULL) ==
        WEND_OK) {
        cut = log_cut_blob(&ev);
        if (cut.ptr)
            note_hash(s, cut);
        for (size_t i = 0; (part = event_part(&ev, i)); i++)
            note_hash(s, str_or(part->hash, ""));
    }
    s->no_memory |= s->arena.failed;
    return !s->no_memory;
}

static wend_status find_blob(struct blob_search *s, const char *id,
                             wend_error *err)
{
    wend_status status =
        s->store->ops->read(s->store, str_of(id), (struct store_place){1, 0}, 0,
                            note_event, s, err);

    if (status == WEND_OK && s->no_memory)
        status = fail_nomem(err);
    if (status == WEND_OK && s->several)
        status =
            fail(err, WEND_E_INVAL,
                 "run %s has several texts whose hash begins with '%.64s'; "
                 "give more of it",
                 id, s->prefix.ptr);
    if (status == WEND_OK && !s->hash[0])
        status = fail(err, WEND_E_NOTFOUND,
                      "run %s refers to no text whose hash begins with '%.64s'",
                      id, s->prefix.ptr);
    return status;
}

wend_status wend_store_blob(wend_store *store, const char *id, const char *hash,
                            wend_write_fn fn, void *ctx, wend_error *err)
{
    struct blob_search s = {.store = store};
    wend_str text;
    wend_status status;

    if (!store || !id || !hash || !fn)
        return fail(err, WEND_E_INVAL, "blob: store, id, hash or fn is NULL");
    s.prefix = str_of(hash);
    if (s.prefix.len < PREFIX_MIN || s.prefix.len > SHA256_HEX)
        return fail(err, WEND_E_INVAL,
                    "the hash of a text has 64 digits; give at least the first "
                    "%d",
                    PREFIX_MIN);
    status = store_enter(store, err);
    if (status != WEND_OK)
        return status;
    s.arena.mem = &store->mem;
    status = find_blob(&s, id, err);
    arena_reset(&s.arena);
    if (status == WEND_OK) {
        status = log_blob(store, str_of(s.hash), &s.arena, &text);
        if (status == WEND_E_NOMEM)
            fail_nomem(err);
        else if (status != WEND_OK)
            status = fail(err, WEND_E_CORRUPT,
                          "the text with hash %s is missing or damaged; 'wend "
                          "verify' says more",
                          s.hash);
    }
    if (status == WEND_OK && !fn(ctx, text))
        status = fail(err, WEND_E_IO, "the text was not written");
    arena_free(&s.arena);
    return status;
}

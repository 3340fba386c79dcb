/*
 * event_write.c - events to canonical JSON, and deep copies of events.
 *
 * Same event, same bytes: the field tables fix the order, json_put_* the
 * form. Written once per event and shared from then on.
 */
#include "core/event/event.h"

#include <assert.h>
#include <string.h>

#include "base/json_scan.h"
#include "base/limits.h"
#include "base/utf8.h"

const struct event_blob *event_blob_add(struct event_blobs *blobs,
                                        wend_str text)
{
    struct event_blob *blob = arena_alloc(blobs->arena, sizeof *blob);

    if (!blob)
        return NULL;
    sha256_hex(blob->hash, text);
    blob->text = text;
    blob->next = blobs->first;
    blobs->first = blob;
    blobs->count++;
    return blob;
}

static void put_reference(struct buf *b, wend_str text, wend_str head,
                          struct event_blobs *blobs)
{
    const struct event_blob *blob = blobs ? event_blob_add(blobs, text) : NULL;
    char hash[SHA256_HEX + 1];

    if (blobs && !blob) {
        b->failed = true;
        return;
    }
    if (!blob)
        sha256_hex(hash, text);
    json_open(b, NULL, '{');
    json_add_str(b, "blob", str_of(blob ? blob->hash : hash));
    json_add_i64(b, "bytes", (int64_t)text.len);
    json_add_str(b, "head", head);
    json_close(b, '}');
}

static void put_blob(struct buf *b, wend_str text, struct event_blobs *blobs)
{
    wend_str head = {text.ptr, utf8_cut(text, BLOB_HEAD_BYTES)};

    put_reference(b, text, head, blobs);
}

/* ---- Long lists ---------------------------------------------------------- */

/* The length of the string at p, with its quotes. */
static size_t string_len(const char *p, size_t len)
{
    uint64_t seen = 0;
    size_t i = 1;

    while (i < len && p[i] != '"') {
        i += p[i] == '\\' ? 2 : 1;
        if (i < len)
            i += json_plain_len(p + i, len - i, &seen);
    }
    return i + 1;
}

/* The length of the first item, up to its comma. */
static size_t item_len(const char *p, size_t len)
{
    int depth = 0;
    size_t i = 0;

    while (i < len && (depth || p[i] != ',')) {
        depth += (p[i] == '{' || p[i] == '[') - (p[i] == '}' || p[i] == ']');
        i += p[i] == '"' ? string_len(p + i, len - i) : 1;
    }
    return i < len ? i : len;
}

/* The next chunk of the items in *rest; absent: fewer are left. Where it ends
 * depends on nothing that follows, so that lists with the same beginning have
 * the same chunks, and a store has each of them once. */
static wend_str chunk_next(wend_str *rest)
{
    for (size_t at = 0; at < rest->len; at++) {
        at += item_len(rest->ptr + at, rest->len - at);
        if (at >= CHUNK_BYTES) {
            wend_str chunk = {rest->ptr, at};

            *rest = str_skip(*rest, at < rest->len ? at + 1 : at);
            return chunk;
        }
    }
    return STR_NONE;
}

static void put_chunk(struct buf *b, wend_str items, struct event_blobs *blobs)
{
    struct buf list = {.mem = b->mem};
    wend_str text;

    json_open(&list, NULL, '[');
    json_add_raw(&list, NULL, items);
    json_close(&list, ']');
    b->failed |= list.failed;
    text = blobs ? buf_keep(&list, blobs->arena) : buf_view(&list);
    if (text.ptr && !b->failed)
        put_reference(b, text, STR_NONE, blobs);
    else
        b->failed = true;
    buf_free(&list);
}

/* [{"blob":hash,"bytes":n},..,item,..]: the chunks, and what is left. */
static void put_chunks(struct buf *b, wend_str list, struct event_blobs *blobs)
{
    wend_str rest = {list.ptr + 1, list.len - 2}, chunk;

    json_open(b, NULL, '[');
    while ((chunk = chunk_next(&rest)).ptr)
        put_chunk(b, chunk, blobs);
    if (rest.len)
        json_add_raw(b, NULL, rest);
    json_close(b, ']');
}

/* ---- Fields -------------------------------------------------------------- */

static bool is_absent(const struct event_field *f, const char *at)
{
    switch (f->kind) {
    case F_STR:
    case F_JSON: return !((const wend_str *)(const void *)at)->ptr;
    case F_BOOL: return !*(const bool *)at;
    case F_NANO: return *(const int64_t *)(const void *)at < 0;
    case F_REF: return !*(const void *const *)(const void *)at;
    case F_I64: return !*(const int64_t *)(const void *)at;
    case F_LIST: return !((const size_t *)(const void *)at)[1];
    case F_F64:
    case F_ENUM:
    case F_OBJECT: break;
    }
    return false;
}

static void put_money(struct buf *b, const struct event_field *f, int64_t nano)
{
    if (nano < 0 && (f->flags & NULLABLE))
        buf_cstr(b, "null");
    else
        json_put_nano(b, nano);
}

static void put_bool(struct buf *b, const struct event_field *f, const bool *at)
{
    if (f->none && at[0] && at[1])
        buf_fmt(b, "\"%s\"", f->none);
    else
        buf_cstr(b, *at ? "true" : "false");
}

static void put_enum(struct buf *b, const struct event_words *w, int value)
{
    buf_char(b, '"');
    buf_cstr(b, value >= 0 && value < w->count ? w->names[value] : "none");
    buf_char(b, '"');
}

/* Recursion is as deep as the tables: a struct in a struct. */
static void put_fields(struct buf *b, const struct event_fields *fs,
                       const void *base, struct event_blobs *blobs);

static void put_list(struct buf *b, const struct event_field *f, const void *at,
                     struct event_blobs *blobs)
{
    const char *items = *(const char *const *)at;
    size_t count = *(const size_t *)((const void *const *)at + 1);

    buf_char(b, '[');
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_char(b, ',');
        put_fields(b, f->sub, items + i * f->sub->size, blobs);
    }
    buf_char(b, ']');
}

static void put_value(struct buf *b, const struct event_field *f,
                      const void *at, struct event_blobs *blobs)
{
    const wend_str *s = at;

    switch (f->kind) {
    case F_STR:
        if (!s->ptr && (f->flags & NULLABLE))
            buf_cstr(b, "null");
        else if (s->len > STRING_INLINE_MAX)
            put_blob(b, *s, blobs);
        else
            json_put_str(b, s->ptr ? *s : STR(""));
        break;
    case F_JSON:
        /* A value from outside that looks like a reference goes into a blob
         * itself, so that a reader never takes it for one. */
        if ((f->flags & CHUNKED) && s->len > CHUNK_BYTES && *s->ptr == '[')
            put_chunks(b, *s, blobs);
        else if (s->len > STRING_INLINE_MAX || str_starts(*s, "{\"blob\":"))
            put_blob(b, *s, blobs);
        else
            buf_str(b, str_or(*s, f->none));
        break;
    case F_I64: buf_i64(b, *(const int64_t *)at); break;
    case F_F64: json_put_f64(b, *(const double *)at); break;
    case F_BOOL: put_bool(b, f, at); break;
    case F_NANO: put_money(b, f, *(const int64_t *)at); break;
    case F_ENUM: put_enum(b, f->words, *(const int *)at); break;
    case F_OBJECT: put_fields(b, f->sub, at, blobs); break;
    case F_REF: put_fields(b, f->sub, *(const void *const *)at, blobs); break;
    case F_LIST: put_list(b, f, at, blobs); break;
    }
}

static void put_fields(struct buf *b, const struct event_fields *fs,
                       const void *base, struct event_blobs *blobs)
{
    size_t first = 1; /* the first key goes without its comma */

    buf_char(b, '{');
    for (size_t i = 0; i < fs->count; i++) {
        const struct event_field *f = &fs->list[i];
        const char *at = (const char *)base + f->offset;

        if ((f->flags & OPTIONAL) && is_absent(f, at))
            continue;
        buf_add(b, f->key + first, f->name_len + 4 - first);
        first = 0;
        put_value(b, f, at, blobs);
    }
    buf_char(b, '}');
}

void part_write(struct buf *b, const wend_ev_part *p)
{
    json_key(b, NULL);
    put_fields(b, part_fields, p, NULL);
}

void event_write(struct buf *b, const wend_event *ev, struct event_blobs *blobs)
{
    const struct event_fields *fs = event_fields(ev->type);

    if (!fs) {
        b->failed = true;
        return;
    }
    buf_add(b, "{\"run\":\"", 8);
    buf_str(b, ev->run);
    buf_add(b, "\",\"seq\":", 8);
    buf_i64(b, ev->seq);
    if (ev->n) {
        buf_add(b, ",\"n\":", 5);
        buf_i64(b, ev->n);
    }
    buf_add(b, ",\"time\":", 8);
    json_put_time(b, ev->time_us);
    buf_add(b, ",\"type\":\"", 9);
    buf_cstr(b, wend_event_name(ev->type));
    buf_add(b, "\"", 1);
    if (ev->in_turn) {
        buf_add(b, ",\"turn\":", 8);
        buf_i64(b, ev->turn);
        buf_add(b, ",\"turn_id\":\"", 12);
        buf_str(b, ev->turn_id);
        buf_char(b, '"');
    }
    buf_add(b, ",\"data\":", 8);
    put_fields(b, fs, &ev->u, blobs);
    buf_char(b, '}');
}

void event_write_data(struct buf *b, const wend_event *ev)
{
    put_fields(b, event_fields(ev->type), &ev->u, NULL);
}

/* ---- Copies -------------------------------------------------------------- */

/* One block: a first pass without memory counts, a second one copies. */
struct copier {
    char *at;      /* NULL while counting */
    bool ids_lent; /* run and turn_id outlive the copy */
    size_t bytes;
};

static char *copy_room(struct copier *c, size_t size)
{
    size_t rounded = (size + 7) & ~(size_t)7;
    char *p = c->at;

    c->bytes += rounded;
    if (c->at)
        c->at += rounded;
    return p;
}

static void copy_str(struct copier *c, wend_str *s)
{
    char *p;

    if (!s->ptr)
        return;
    p = copy_room(c, s->len + 1);
    if (!p)
        return;
    memcpy(p, s->ptr, s->len);
    p[s->len] = 0;
    s->ptr = p;
}

static void copy_fields(struct copier *c, const struct event_fields *fs,
                        void *base);

static void copy_items(struct copier *c, const struct event_fields *fs,
                       void *slot, size_t count)
{
    char **items = slot;
    char *p = copy_room(c, count * fs->size), *item = *items;

    if (p && count) {
        memcpy(p, *items, count * fs->size);
        item = *items = p;
    }
    for (size_t i = 0; i < count; i++)
        copy_fields(c, fs, item + i * fs->size);
}

/* Makes everything that base points to the copy's own. While counting it
 * walks the original, which it then does not change. */
static void copy_fields(struct copier *c, const struct event_fields *fs,
                        void *base)
{
    for (size_t i = 0; i < fs->count; i++) {
        const struct event_field *f = &fs->list[i];
        char *at = (char *)base + f->offset;

        switch (f->kind) {
        case F_STR:
        case F_JSON: copy_str(c, (wend_str *)(void *)at); break;
        case F_OBJECT: copy_fields(c, f->sub, at); break;
        case F_REF:
            if (*(void **)(void *)at)
                copy_items(c, f->sub, at, 1);
            break;
        case F_LIST:
            copy_items(c, f->sub, at, *((size_t *)(void *)at + 1));
            break;
        case F_I64:
        case F_F64:
        case F_BOOL:
        case F_NANO:
        case F_ENUM: break;
        }
    }
}

static void copy_event(struct copier *c, wend_event *ev)
{
    if (!c->ids_lent) {
        copy_str(c, &ev->run);
        copy_str(c, &ev->turn_id);
    }
    copy_fields(c, event_fields(ev->type), &ev->u);
}

static wend_event *copy_of(const struct mem *m, const wend_event *ev,
                           bool ids_lent)
{
    const struct event_fields *fs = event_fields(ev->type);
    size_t head = offsetof(wend_event, u) + (fs ? fs->size : 0);
    struct copier c = {.ids_lent = ids_lent};
    wend_event *copy;
    size_t room;

    if (!fs)
        return NULL;
    head = (head + 7) & ~(size_t)7;
    /* Counting only reads; the cast spares a second walker. */
    copy_event(&c, (wend_event *)(uintptr_t)ev);
    room = c.bytes;
    copy = mem_alloc(m, head + room);
    if (!copy)
        return NULL;
    memcpy(copy, ev, offsetof(wend_event, u) + fs->size);
    c = (struct copier){.ids_lent = ids_lent, .at = (char *)copy + head};
    copy_event(&c, copy);
    assert(c.bytes == room);
    return copy;
}

wend_event *event_copy(const struct mem *m, const wend_event *ev)
{
    return copy_of(m, ev, false);
}

wend_event *event_copy_here(const struct mem *m, const wend_event *ev)
{
    return copy_of(m, ev, true);
}

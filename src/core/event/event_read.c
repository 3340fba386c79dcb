/*
 * event_read.c - canonical JSON back to events, and the words of the table.
 *
 * Lenient where a newer writer may have added something (unknown types and
 * fields are skipped), strict about what it knows.
 */
#include "core/event/event.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/json_scan.h"
#include "base/limits.h"

/* A short log that names one blob over and over does not fill the memory. */
enum { CHUNKS_BYTES_MAX = 4 * BLOB_BYTES_MAX };

struct event_reader {
    struct arena *arena;
    event_blob_fn blob;
    void *blob_ctx;
    wend_error *err;
    wend_status status;
};

static bool bad_name(struct event_reader *r, const struct json *j,
                     wend_str name, const char *wanted)
{
    r->status = fail_at(r->err, WEND_E_PARSE, j->line, j->column,
                        "event: field '%.*s' must be %s, not %s", (int)name.len,
                        name.ptr, wanted, json_kind_name(j->kind));
    return false;
}

static bool bad(struct event_reader *r, const struct json *j,
                const struct event_field *f, const char *wanted)
{
    return bad_name(r, j, event_field_name(f), wanted);
}

static bool bad_blob(struct event_reader *r, const struct json *ref,
                     wend_status s, const char *why)
{
    wend_str hash = json_get_str(ref, "blob");

    r->status = fail(r->err, s, "event: blob %.*s %s",
                     (int)(hash.len < SHA256_HEX ? hash.len : SHA256_HEX),
                     hash.ptr, why);
    return false;
}

/* {"blob":hash,"bytes":n,"head":text}: the text it stands for. */
static bool read_blob(struct event_reader *r, const struct json *j,
                      wend_str *out)
{
    wend_status s;

    if (!r->blob) {
        *out = json_get_str(j, "head");
        return true;
    }
    s = r->blob(r->blob_ctx, json_get_str(j, "blob"), r->arena, out);
    return s == WEND_OK || bad_blob(r, j, s, "cannot be read");
}

static bool is_blob(const struct json *j)
{
    return j->kind == JSON_OBJECT && j->first &&
           str_is(j->first->key, "blob") && json_str(j->first).ptr;
}

static bool read_str(struct event_reader *r, const struct event_field *f,
                     const struct json *j, wend_str *out)
{
    if (j->kind == JSON_NULL && (f->flags & (NULLABLE | OPTIONAL)))
        return true;
    if (is_blob(j))
        return read_blob(r, j, out);
    if (j->kind != JSON_STRING)
        return bad(r, j, f, "a string");
    *out = j->text;
    return true;
}

/* ---- Long lists ---------------------------------------------------------- */

static void put_items(struct buf *b, const struct json *list)
{
    for (const struct json *j = list->first; j; j = j->next)
        json_add(b, NULL, j);
}

static bool has_chunks(const struct json *j)
{
    const struct json *item = json_items(j);

    while (item && !is_blob(item))
        item = item->next;
    return item;
}

/* A log from elsewhere may name any blob. */
static bool read_chunk(struct event_reader *r, const struct json *ref,
                       size_t *bytes, struct buf *b)
{
    struct arena scratch = {.mem = r->arena->mem};
    const struct json *list;
    wend_str text;

    if (!read_blob(r, ref, &text))
        return false;
    *bytes += text.len;
    if (*bytes > CHUNKS_BYTES_MAX)
        return bad_blob(r, ref, WEND_E_CORRUPT, "makes the list too long");
    list = json_parse_own(text, &scratch, NULL);
    if (scratch.failed)
        r->status = fail_nomem(r->err);
    else if (!list || list->kind != JSON_ARRAY || has_chunks(list))
        bad_blob(r, ref, WEND_E_CORRUPT, "is not a list of messages");
    else
        put_items(b, list);
    arena_free(&scratch);
    return r->status == WEND_OK;
}

static bool read_chunks(struct event_reader *r, const struct json *j,
                        wend_str *out)
{
    struct buf b = {.mem = r->arena->mem};
    size_t bytes = 0;
    bool ok = true;

    json_open(&b, NULL, '[');
    for (const struct json *item = j->first; ok && item; item = item->next)
        if (is_blob(item))
            ok = read_chunk(r, item, &bytes, &b);
        else
            json_add(&b, NULL, item);
    json_close(&b, ']');
    *out = buf_keep(&b, r->arena);
    if (ok && !out->ptr)
        r->status = fail_nomem(r->err);
    return ok && out->ptr;
}

static bool read_raw(struct event_reader *r, const struct event_field *f,
                     const struct json *j, wend_str *out)
{
    if (is_blob(j))
        return read_blob(r, j, out);
    if ((f->flags & CHUNKED) && r->blob && has_chunks(j))
        return read_chunks(r, j, out);
    *out = json_text(j, r->arena);
    if (out->ptr)
        return true;
    r->status = fail_nomem(r->err);
    return false;
}

static bool read_enum(struct event_reader *r, const struct event_field *f,
                      const struct json *j, int *out)
{
    int i = str_index(json_str(j), f->words->names, f->words->count);

    if (j->kind != JSON_STRING || i < 0)
        return bad(r, j, f, "one of its words");
    *out = i;
    return true;
}

static bool read_bool(struct event_reader *r, const struct event_field *f,
                      const struct json *j, bool *at)
{
    bool word = f->none && str_is(json_str(j), f->none);

    at[0] = word || j->kind == JSON_TRUE;
    if (f->none)
        at[1] = word;
    return at[0] || j->kind == JSON_FALSE || bad(r, j, f, "true or false");
}

static bool read_money(struct event_reader *r, const struct event_field *f,
                       const struct json *j, int64_t *out)
{
    if (j->kind == JSON_NULL && (f->flags & NULLABLE)) {
        *out = -1;
        return true;
    }
    return (j->kind == JSON_NUMBER && nano_read(j->text, out)) ||
           bad(r, j, f, "a decimal number");
}

static bool read_fields(struct event_reader *r, const struct event_fields *fs,
                        const struct json *j, void *base);

static bool read_items(struct event_reader *r, const struct event_field *f,
                       const struct json *j, void *slot, size_t count)
{
    const struct json *item = f->kind == F_LIST ? j->first : j;
    char *items = arena_alloc(r->arena, count ? count * f->sub->size : 1);

    assert(f->kind == F_LIST || count == 1);
    if (!items) {
        r->status = fail_nomem(r->err);
        return false;
    }
    *(char **)slot = items;
    for (size_t i = 0; i < count; i++, item = item->next)
        if (!read_fields(r, f->sub, item, items + i * f->sub->size))
            return false;
    return true;
}

static bool read_value(struct event_reader *r, const struct event_field *f,
                       const struct json *j, void *at)
{
    switch (f->kind) {
    case F_STR: return read_str(r, f, j, at);
    case F_JSON: return read_raw(r, f, j, at);
    case F_I64: return json_i64(j, at) || bad(r, j, f, "an integer");
    case F_F64: return json_f64(j, at) || bad(r, j, f, "a number");
    case F_BOOL: return read_bool(r, f, j, at);
    case F_NANO: return read_money(r, f, j, at);
    case F_ENUM: return read_enum(r, f, j, at);
    case F_OBJECT: return read_fields(r, f->sub, j, at);
    case F_REF: return j->kind == JSON_NULL || read_items(r, f, j, at, 1);
    case F_LIST:
        if (j->kind != JSON_ARRAY)
            return bad(r, j, f, "a list");
        *((size_t *)at + 1) = j->count;
        return read_items(r, f, j, at, j->count);
    }
    return false;
}

static void preset(const struct event_fields *fs, void *base)
{
    for (size_t i = 0; i < fs->count; i++)
        if (fs->list[i].kind == F_NANO && (fs->list[i].flags & OPTIONAL))
            *(int64_t *)(void *)((char *)base + fs->list[i].offset) = -1;
}

static bool read_fields(struct event_reader *r, const struct event_fields *fs,
                        const struct json *j, void *base)
{
    size_t next = 0;

    if (j->kind != JSON_OBJECT)
        return bad_name(r, j, STR("data"), "an object");
    preset(fs, base);
    for (const struct json *m = j->first; m; m = m->next) {
        size_t i = next, tried = 0;

        /* Members come in the table's order, so the first look mostly hits. */
        for (; tried < fs->count; tried++, i++) {
            if (i == fs->count)
                i = 0;
            if (str_eq(m->key, event_field_name(&fs->list[i])))
                break;
        }
        if (tried == fs->count)
            continue;
        next = i + 1;
        if (!read_value(r, &fs->list[i], m, (char *)base + fs->list[i].offset))
            return false;
    }
    return true;
}

bool part_read(const struct json *j, struct arena *a, wend_ev_part *out)
{
    struct event_reader r = {.arena = a};

    *out = (wend_ev_part){0};
    return read_fields(&r, part_fields, j, out);
}

const wend_ev_part *parts_keep(const wend_ev_part *parts, size_t count,
                               struct arena *a)
{
    wend_ev_part *copy = count ? arena_alloc(a, count * sizeof *copy) : NULL;

    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = parts[i];
        copy[i].type = arena_str(a, str_or(parts[i].type, ""));
        copy[i].media = arena_str(a, str_or(parts[i].media, ""));
        copy[i].hash = arena_str(a, str_or(parts[i].hash, ""));
        copy[i].name = arena_str(a, parts[i].name);
    }
    return copy;
}

/* 1763171411.123456 -> microseconds. */
static bool time_of(const struct json *j, int64_t *out)
{
    int64_t nano;

    if (!j || j->kind != JSON_NUMBER || !nano_read(j->text, &nano))
        return false;
    *out = nano / 1000;
    return true;
}

/* Ids are written as they are, so they may hold nothing to escape. */
static bool is_id(wend_str s)
{
    uint64_t seen = 0;

    return s.len && json_plain_len(s.ptr, s.len, &seen) == s.len;
}

static bool read_envelope(struct event_reader *r, const struct json *j,
                          wend_event *ev)
{
    const struct json *n = json_get(j, "n"), *turn = json_get(j, "turn");

    ev->run = json_str(json_get(j, "run"));
    if (!is_id(ev->run) || !json_i64(json_get(j, "seq"), &ev->seq) ||
        !time_of(json_get(j, "time"), &ev->time_us) ||
        (n && !json_i64(n, &ev->n))) {
        r->status = fail_at(r->err, WEND_E_PARSE, j->line, j->column,
                            "event: run, seq or time is missing or wrong");
        return false;
    }
    if (turn) {
        ev->in_turn = true;
        ev->turn_id = json_str(json_get(j, "turn_id"));
        if (!json_i64(turn, &ev->turn))
            return bad_name(r, turn, STR("turn"), "an integer");
        if (!is_id(ev->turn_id)) {
            r->status = fail_at(r->err, WEND_E_PARSE, turn->line, turn->column,
                                "event: turn without a turn_id");
            return false;
        }
    }
    return true;
}

static const struct {
    const char *name;
    bool delta;
} types[WEND_EVENT_TYPES] = {
#define KEPT false
#define DELTA true
#define X(constant, name, payload, keep) [WEND_##constant] = {#name, keep},
    WEND_EVENTS(X)
#undef X
};

static wend_event_type type_of(wend_str name)
{
    int t = WEND_EVENT_TYPES;

    while (--t > WEND_EVENT_NONE && !str_is(name, types[t].name))
        continue;
    return (wend_event_type)t;
}

wend_status event_read(wend_str line, struct arena *a, event_blob_fn blob,
                       void *blob_ctx, wend_event *out, wend_error *err)
{
    struct event_reader r = {a, blob, blob_ctx, err, WEND_OK};
    struct json *j = json_parse_own(line, a, err);
    const struct json *data;
    wend_str type;

    memset(out, 0, sizeof *out);
    if (!j)
        return a->failed ? fail_nomem(err) : WEND_E_PARSE;
    type = json_str(json_get(j, "type"));
    data = json_get(j, "data");
    if (!type.ptr || !data)
        return fail_at(err, WEND_E_PARSE, j->line, j->column,
                       "event: type or data is missing");
    if (!read_envelope(&r, j, out))
        return r.status;
    out->type = type_of(type);
    if (out->type == WEND_EVENT_NONE)
        return WEND_OK;
    return read_fields(&r, event_fields(out->type), data, &out->u) ? WEND_OK
                                                                   : r.status;
}

/* ---- Words --------------------------------------------------------------- */

const char *wend_event_name(wend_event_type type)
{
    return (unsigned)type < WEND_EVENT_TYPES ? types[type].name : NULL;
}

wend_event_type wend_event_type_of(const char *name)
{
    return type_of(str_of(name));
}

bool wend_event_is_delta(wend_event_type type)
{
    return (unsigned)type < WEND_EVENT_TYPES && types[type].delta;
}

static const char *word(const struct event_words *w, int i)
{
    return i >= 0 && i < w->count ? w->names[i] : NULL;
}

const char *wend_outcome_name(wend_outcome o)
{
    return word(&outcome_words, (int)o);
}

const char *wend_class_name(wend_class c)
{
    return word(&class_words, (int)c);
}

const char *wend_category_name(wend_category c)
{
    return word(&category_words, (int)c);
}

const char *wend_risk_name(wend_risk r)
{
    return word(&risk_words, (int)r);
}

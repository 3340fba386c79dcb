/*
 * event.h - events as typed structs and as canonical JSON, both ways.
 *
 * The tables in event_fields.c drive the writer, the reader and the copier,
 * so that a new field is one row.
 */
#ifndef CORE_EVENT_H
#define CORE_EVENT_H

#include "base/hash.h"
#include "base/json.h"

enum field_kind {
    F_STR,
    F_JSON, /* one JSON value as text; `none` stands in when absent */
    F_I64,
    F_F64,
    F_BOOL, /* a bool; `none` stands for it if the bool behind it is true */
    F_NANO, /* money, USD * 10^-9; -1 = absent, or null if NULLABLE */
    F_ENUM,
    F_OBJECT, /* a struct inside */
    F_REF,    /* a pointer to a struct, NULL = absent */
    F_LIST,   /* a pointer to structs, then a size_t count */
};

enum {
    OPTIONAL = 1,
    NULLABLE = 2,
    CHUNKED = 4, /* F_JSON: the beginning of a long list is in blobs */
};

/* A chunk of a list ends with the item that brings it to this. */
enum { CHUNK_BYTES = 16 << 10 };

struct event_words {
    const char *const *names;
    int count;
};

struct event_fields;

struct event_field {
    const char *key; /* `,"name":` */
    size_t name_len;
    enum field_kind kind;
    unsigned flags;
    size_t offset;
    const char *none;                /* F_JSON, F_BOOL */
    const struct event_words *words; /* F_ENUM */
    const struct event_fields *sub;  /* F_OBJECT, F_REF, F_LIST */
};

struct event_fields {
    const struct event_field *list;
    size_t count, size; /* size of the struct */
};

static inline wend_str event_field_name(const struct event_field *f)
{
    return (wend_str){f->key + 2, f->name_len};
}

/* The payload's fields in wire order; NULL for a number that is no type. */
const struct event_fields *event_fields(wend_event_type type);
extern const struct event_fields *const limits_fields; /* of wend_ev_limits */
extern const struct event_fields *const part_fields;   /* of wend_ev_part */

extern const struct event_words outcome_words, purpose_words, class_words,
    category_words, decision_words, risk_words;

/* A string too long to stand in an event. */
struct event_blob {
    struct event_blob *next;
    char hash[SHA256_HEX + 1];
    wend_str text; /* lent from the event */
};

struct event_blobs {
    struct arena *arena;
    struct event_blob *first;
    size_t count;
};

/* Adds the blob of a text; NULL: out of memory. */
const struct event_blob *event_blob_add(struct event_blobs *blobs,
                                        wend_str text);

/* Part i of those that an event names, from 0; NULL: it has fewer. */
const wend_ev_part *event_part(const wend_event *ev, size_t i);
/* A part alone, as events have it. */
void part_write(struct buf *b, const wend_ev_part *p);
bool part_read(const struct json *j, struct arena *a, wend_ev_part *out);
/* A copy in the arena; NULL if there are none, or memory runs out. */
const wend_ev_part *parts_keep(const wend_ev_part *parts, size_t count,
                               struct arena *a);

/* Appends the canonical line. Long strings and the chunks of long lists are
 * replaced by references and listed in `blobs` (may be NULL). */
void event_write(struct buf *b, const wend_event *ev,
                 struct event_blobs *blobs);

/* Only the value of `data`; the type is valid. */
void event_write_data(struct buf *b, const wend_event *ev);

/* Gives the text of a blob; lent until the arena is freed. */
typedef wend_status (*event_blob_fn)(void *ctx, wend_str hash, struct arena *a,
                                     wend_str *text);

/* Reads a line. Unknown fields are skipped; an unknown type gives WEND_OK
 * and type WEND_EVENT_NONE. Strings live in the arena or in `line`. With
 * blob == NULL a reference reads as its head, and one to a chunk as it is. */
wend_status event_read(wend_str line, struct arena *a, event_blob_fn blob,
                       void *blob_ctx, wend_event *out, wend_error *err);

/* A deep copy in one block from `m`; NULL when out of memory. */
wend_event *event_copy(const struct mem *m, const wend_event *ev);
/* The same, but run and turn_id stay lent from ev: for a copy that does not
 * outlive its run. */
wend_event *event_copy_here(const struct mem *m, const wend_event *ev);

#endif

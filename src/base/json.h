/*
 * json.h - JSON both ways: strict (RFC 8259), bounded, canonical.
 *
 * A value is a tree of nodes in an arena. Numbers keep their text; strings
 * are decoded to UTF-8 (lone surrogates become U+FFFD; \u0000 is kept);
 * members keep their order; duplicate keys are refused.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/str.h"

enum json_kind {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

struct json {
    enum json_kind kind;
    uint32_t count;            /* of children */
    uint32_t line, column;     /* where it began, from 1 */
    wend_str key;              /* if it is a member */
    wend_str text;             /* of a string or a number */
    struct json *first, *next; /* children; sibling */
};

/* Parses exactly one value. Strings without escapes point into `text`, which
 * must outlive the tree. NULL on failure, with line and column in err; status
 * WEND_E_PARSE, WEND_E_LIMIT (depth) or WEND_E_NOMEM. */
struct json *json_parse(wend_str text, struct arena *a, wend_error *err);

/* Servers that stream may cut text inside a UTF-16 pair: one string ends with
 * one half, a later one begins with the other. Both are U+FFFD in the tree;
 * this list says which halves they were. */
struct json_cut {
    const char *at; /* of the U+FFFD, in the text of its string */
    uint16_t unit;
};

enum { JSON_CUTS_MAX = 32 }; /* a real event has two; more stay U+FFFD */

struct json_cuts {
    size_t count;
    struct json_cut list[JSON_CUTS_MAX];
};

/* As json_parse; adds to `cuts`, which begins empty. */
struct json *json_parse_cuts(wend_str text, struct arena *a,
                             struct json_cuts *cuts, wend_error *err);

/* For our own text around such values: deeper by JSON_DEPTH_AROUND. */
struct json *json_parse_own(wend_str text, struct arena *a, wend_error *err);

/* The keys of an object that grows; zeroed at first. */
struct json_keys {
    uint64_t seen; /* a bit for some keys each */
    struct json_trie *trie;
};

/* Notes the key of the next member. False: the object already has it, or
 * a->failed is set. No choice of keys makes the work quadratic. */
bool json_keys_new(struct json_keys *k, const struct json *object, wend_str key,
                   struct arena *a);

const char *json_kind_name(enum json_kind k); /* "object" ... */
/* The member with that key, or NULL; j may be NULL or not an object. */
struct json *json_member(const struct json *j, wend_str key);

/* Inline: mostly the key is known, and so is its length. */
static inline struct json *json_get(const struct json *j, const char *key)
{
    return json_member(j, (wend_str){key, strlen(key)});
}

wend_str json_str(const struct json *j); /* absent if not a string */
/* The same for the member with that key. */
static inline wend_str json_get_str(const struct json *j, const char *key)
{
    return json_str(json_get(j, key));
}

/* The first item; NULL if j is not a list or is empty. */
static inline const struct json *json_items(const struct json *j)
{
    return j && j->kind == JSON_ARRAY ? j->first : NULL;
}

static inline bool json_is_true(const struct json *j)
{
    return j && j->kind == JSON_TRUE;
}

/* False unless j is an integer in range (1e3 and 5.0 are). */
bool json_i64(const struct json *j, int64_t *out);
bool json_f64(const struct json *j, double *out);
/* Equal values: numbers by value, objects whatever the order. */
bool json_equal(const struct json *a, const struct json *b);

/* ---- Writing ------------------------------------------------------------- */

/* A JSON string with quotes and only necessary escapes; s is valid UTF-8. */
void json_put_str(struct buf *b, wend_str s);
void json_put_inside(struct buf *b, wend_str s); /* without the quotes */
void json_put_f64(struct buf *b, double d);      /* shortest that reads back */
/* USD from 10^-9 parts: 0.00125, no exponent, no trailing zeros. */
void json_put_nano(struct buf *b, int64_t nano);
/* Back from such a text; what is beyond that precision is cut. */
bool nano_read(wend_str text, int64_t *out);
/* Unix seconds with six decimals. */
void json_put_time(struct buf *b, int64_t time_us);
/* The tree again, canonical: no space, number text and order as read. */
void json_put(struct buf *b, const struct json *j);
/* The text as it is if it is JSON, else as a string. */
void json_put_any(struct buf *b, wend_str text);
/* The same as a string of the arena; absent if j is, or as buf_keep has it. */
wend_str json_text(const struct json *j, struct arena *a);

/* Add a member to an object, or with key NULL an item to a list, with a comma
 * where it is due. An absent string is left out with its key. */
extern const bool json_begins[]; /* bytes that no comma follows */
/* Only the key. Inline: mostly it is a literal. */
static inline void json_key(struct buf *b, const char *key)
{
    size_t len = key ? strlen(key) : 0, more = len + sizeof ",\"\":" - 1;
    char *at;

    if ((b->failed || b->cap - b->len <= more) && !buf_room(b, more))
        return;
    at = b->ptr + b->len;
    if (b->len && !json_begins[(unsigned char)at[-1]])
        *at++ = ',';
    if (key) {
        *at++ = '"';
        memcpy(at, key, len);
        at += len;
        *at++ = '"';
        *at++ = ':';
    }
    *at = 0;
    b->len = (size_t)(at - b->ptr);
}
void json_add(struct buf *b, const char *key,
              const struct json *j); /* or NULL */
void json_add_pair(struct buf *b, wend_str key, const struct json *j);
void json_add_str(struct buf *b, const char *key, wend_str s);
void json_add_nullable(struct buf *b, const char *key,
                       wend_str s); /* null if absent */
void json_add_raw(struct buf *b, const char *key, wend_str json);
void json_add_i64(struct buf *b, const char *key, int64_t n);
void json_add_f64(struct buf *b, const char *key, double d);
void json_add_bool(struct buf *b, const char *key, bool yes);
void json_add_nano(struct buf *b, const char *key,
                   int64_t nano); /* null below 0: it is not known */
void json_add_time(struct buf *b, const char *key, int64_t time_us);
void json_open(struct buf *b, const char *key, char bracket); /* { or [ */
void json_close(struct buf *b, char bracket);                 /* } or ] */

#endif

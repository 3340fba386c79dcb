/*
 * fields.h - files that people write: mappings read by tables.
 *
 * A table says which keys a mapping has and how each is read; any other key is
 * refused, since a key that is silently ignored costs its writer an hour.
 * Errors have the path (turns[2].delay), line and column of the value, or of an
 * unknown key. wire/file/file.h opens the text of a file; JSON of the log is
 * opened here.
 */
#ifndef BASE_FIELDS_H
#define BASE_FIELDS_H

#include "base/json.h"

enum {
    FIELDS_MAX = 48,        /* keys of a mapping */
    FIELDS_QUOTED_MAX = 48, /* bytes of the input that a message repeats */
};

/* A file being read. */
struct fields {
    struct arena *arena;
    wend_error *err;   /* not NULL once it is open */
    const char *whole; /* what the file is called: "the script" */
    struct json *root;
    wend_str text; /* what root was read from */
    /* Where the key of a member stood; NULL: where its value did. */
    void (*key_at)(const struct fields *f, const struct json *member,
                   uint32_t *line, uint32_t *column);
    void *ctx;      /* the caller's, for its own readers */
    char where[96]; /* path of the value being read; "" = all of it */
    wend_error own;
};

struct field;
typedef wend_status (*field_fn)(struct fields *f, const struct field *field,
                                const struct json *j, void *at);

struct field {
    const char *name;
    field_fn read;
    size_t offset; /* of what `read` fills, in the target */
    int64_t min, max;
    const char *const *words; /* ends with NULL */
    bool needed;              /* without it the mapping is refused */
    unsigned kinds, must;     /* see fields_of_kind */
    field_fn item;            /* of field_list and field_map: an entry, into */
    size_t size;              /* ... as many bytes, which are zero before */
    const struct field *rows; /* of field_mapping */
};

/* The rest of a row with field_list or field_map: `list` is a pointer of the
 * target, behind which a size_t is the number of items. */
#define FIELD_ITEMS(type, list, read_item, most)                    \
    .offset = offsetof(type, list), .item = read_item, .max = most, \
    .size = sizeof *((type *)0)->list

/* Parses JSON of our own, of which it keeps a copy; arena, err (may be NULL)
 * and whole are set. root is the tree, err the place for what is wrong with it.
 */
wend_status fields_open_json(struct fields *f, wend_str text);
void fields_key(const struct fields *f, const struct json *member,
                uint32_t *line, uint32_t *column);
/* One mapping into the target; the last row has no name. */
wend_status fields_read(struct fields *f, const struct json *j,
                        const struct field *rows, void *target);
/* For a mapping that says what kind it is: refuses keys whose row has `kinds`
 * without the bit of this kind, and asks for those that `must` has it for.
 * `what` is the key that says it, `names` the kinds. */
wend_status fields_of_kind(struct fields *f, const struct json *j,
                           const struct field *rows, const char *what,
                           const char *const *names, int kind);

/* At j, or at its key: WEND_E_PARSE. */
wend_status fields_fail(struct fields *f, const struct json *j, const char *fmt,
                        ...) __attribute__((format(printf, 3, 4)));
wend_status fields_fail_key(struct fields *f, const struct json *j,
                            const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
wend_status fields_wrong(struct fields *f, const struct json *j,
                         const char *wanted);
wend_status fields_missing(struct fields *f, const struct json *j,
                           const char *key);
/* What the parser of a value says about it. */
wend_status fields_because(struct fields *f, const struct json *j,
                           const wend_error *why);
const char *fields_where(const struct fields *f);
/* The place of the byte `offset` of a string, or of its start if escaped. */
void fields_inside(const struct fields *f, const struct json *j, size_t offset,
                   uint32_t *line, uint32_t *column);

/* ---- What a field may be ------------------------------------------------- */

/* Many readers need no row, some no place: neither has to be used. */
#define FIELD_READ(name)                                                \
    wend_status name(struct fields *f,                                  \
                     __attribute__((unused)) const struct field *field, \
                     const struct json *j, __attribute__((unused)) void *at)

FIELD_READ(field_text);    /* wend_str; the tree's */
FIELD_READ(field_name);    /* the same, not empty */
FIELD_READ(field_cstr);    /* the same, ended by NUL, and no other NUL */
FIELD_READ(field_number);  /* int64_t, min to max; words[0], if any, is 0 */
FIELD_READ(field_ms);      /* int64_t, min to max if that is set; 20ms, 1.5s */
FIELD_READ(field_bytes);   /* int64_t, at least min; 4096, 64KiB, 2GiB */
FIELD_READ(field_word);    /* wend_str, one of words */
FIELD_READ(field_index);   /* int: which of words */
FIELD_READ(field_second);  /* bool: it is the second of words */
FIELD_READ(field_bool);    /* bool */
FIELD_READ(field_version); /* must be words[0]; fills nothing */
FIELD_READ(field_json);    /* wend_str: a mapping as canonical JSON */
FIELD_READ(field_mapping); /* by rows */
FIELD_READ(field_list);    /* see FIELD_ITEMS; at most max entries */
FIELD_READ(field_map);     /* the same: members whose keys are names */

#endif

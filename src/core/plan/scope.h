/*
 * scope.h - values by name, and texts that refer to them.
 *
 * `$name` and `${name.path[0].key}` are references, `$$` is a dollar, any
 * other dollar is refused. A string that is only a reference becomes the
 * value with its type; inside a text it becomes text: a string as it is,
 * everything else as JSON. Texts are compiled once; a reference knows the
 * slot of its name, so that finding a value costs nothing.
 */
#ifndef CORE_SCOPE_H
#define CORE_SCOPE_H

#include "base/json.h"
#include "core/plan/names.h"

/* One step of a path: a member, or an element. */
struct ref_step {
    wend_str key; /* absent: an element */
    int64_t index;
};

struct ref {
    struct ref *next; /* of the same reader, newest first */
    wend_str text;    /* as written, with its dollar */
    uint32_t slot;
    uint32_t steps_count;
    const struct ref_step *steps;
    const struct json *in; /* the string it stands in; NULL: none is known */
    size_t at;             /* ... and where in it, in bytes */
};

/* What compiling needs, and what it found. */
struct ref_reader {
    struct arena *arena;
    struct names *names;
    struct ref *refs;
    const struct json *in; /* of the string being read */
    size_t bad_at;         /* where in it, when that is refused */
    wend_error *err;       /* not NULL */
};

/* The reference that begins at *at, where a dollar is; *at is moved behind
 * it. It points into text. False: r->err says why. */
bool ref_parse(struct ref_reader *r, wend_str text, size_t *at,
               const struct ref **out);

/* ---- Values -------------------------------------------------------------- */

struct scope {
    const wend_str *values;    /* by slot, JSON; absent: no value */
    const struct json **trees; /* by slot, all NULL at first: read once */
    struct arena *arena;       /* for what is read */
    bool missing_null;         /* what has no value is null, not an error */
};

/* The value as a tree; *out is NULL if it is missing (the name, a member
 * or an element). *passed grows by one and by the number of members and
 * elements that may have been passed on the way. */
wend_status scope_find(const struct scope *s, const struct ref *ref,
                       const struct json **out, size_t *passed,
                       wend_error *err);
/* The same, but a missing one is null or an error, as the scope says. */
wend_status scope_get(const struct scope *s, const struct ref *ref,
                      const struct json **out, size_t *passed, wend_error *err);

/* ---- Texts --------------------------------------------------------------- */

struct template;

/* A template of any JSON value makes JSON. Keys are left as they are. */
wend_status template_json(struct ref_reader *r, const struct json *j,
                          const struct template **out);
/* A template of a text makes text. */
wend_status template_text(struct ref_reader *r, const struct json *j,
                          const struct template **out);
/* Appends what it makes with these values; WEND_E_LIMIT if that is longer
 * than bytes_max, or takes too much work. */
wend_status template_put(const struct template *t, const struct scope *s,
                         size_t bytes_max, struct buf *out, wend_error *err);

#endif

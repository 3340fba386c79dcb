/*
 * str.h - strings with a length, and a growing buffer.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdarg.h>

#include "base/mem.h"

#define STR(literal) ((wend_str){("" literal), sizeof(literal) - 1})
#define STR_NONE ((wend_str){NULL, 0})
#define STR_ARGS(s) (int)(s).len, (s).ptr /* for %.*s */

wend_str str_of(const char *s); /* NULL gives an absent string */
bool str_eq(wend_str a, wend_str b);
/* As memcmp; a prefix comes first. */
int str_order(wend_str a, wend_str b);
/* Inline: mostly b is a literal. */
static inline bool str_is(wend_str a, const char *b)
{
    size_t len = strlen(b);

    return a.ptr && a.len == len && !memcmp(a.ptr, b, len);
}

static inline wend_str str_or(wend_str s, const char *none)
{
    return s.ptr ? s : str_of(none);
}

bool str_same(wend_str a, wend_str b); /* equal in any case of ASCII letters */
bool str_starts(wend_str s, const char *prefix);
bool str_ends(wend_str s, const char *suffix);
static inline bool str_has(wend_str s, wend_str part)
{
    return !part.len || (s.len && memmem(s.ptr, s.len, part.ptr, part.len));
}

/* As str_starts in any case; `lower` is in lower case. */
bool str_starts_nocase(wend_str s, const char *lower);
/* s without its first n bytes, which it must have. */
static inline wend_str str_skip(wend_str s, size_t n)
{
    return (wend_str){s.ptr + n, s.len - n};
}

/* s without the bytes of that kind (base/ascii.h) at both ends. */
static inline wend_str str_trim(wend_str s, bool (*is)(char c))
{
    while (s.len && is(s.ptr[0]))
        s = str_skip(s, 1);
    while (s.len && is(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

/* Copies s to *at, without a NUL, and moves *at behind it. */
wend_str str_pack(char **at, wend_str s);
/* Takes the text up to the next `end`, which it drops; false: none is left. */
bool str_take(wend_str *rest, char end, wend_str *piece);
static inline bool str_line(wend_str *rest, wend_str *line)
{
    return str_take(rest, '\n', line);
}

size_t str_count(wend_str s, char c); /* how often it occurs */
/* The index of s among n names, or -1. */
int str_index(wend_str s, const char *const *names, int n);
/* The nearest of n names for "did you mean", or NULL. */
const char *str_near(wend_str s, const char *const *names, int n);
/* Whether the name is near, and nearer than all before; *best is 0 at first. */
bool str_nearer(wend_str s, wend_str name, int *best);
/* The nearest of n names, each a wend_str at `offset` in an element of `size`
 * bytes of a list (NULL if n is 0); or absent. */
wend_str str_nearest(wend_str s, const void *list, size_t size, size_t offset,
                     size_t n);
enum { STR_HINT_BYTES = 128 };
/* "; did you mean 'NEAR'?" in room, or "" if near is absent. */
const char *str_hint(char room[STR_HINT_BYTES], wend_str near);
/* Decimal digits only, at most INT64_MAX. */
bool str_to_i64(wend_str s, int64_t *out);
/* 20ms, 1.5s, 2m, 1h, 1d, or a number of seconds; at most a year. */
bool str_to_ms(wend_str s, int64_t *out);
/* How long ago: 30m, 2d, 1.5y; a unit is needed, at most 100 years. */
bool str_to_age_ms(wend_str s, int64_t *out);
/* 4096, 64KiB, 512MiB, 2GiB; not 0, at most a PiB. */
bool str_to_bytes(wend_str s, int64_t *out);

/* `*` any bytes, `?` one byte; all of the text. At worst pattern * text. */
bool str_glob(wend_str pattern, wend_str text);
enum { GLOB_ANY_CASE = 1, GLOB_STARS = 2 /* `?` stands for itself */ };
bool str_glob_as(wend_str pattern, wend_str text, unsigned flags);

/* Zero-initialise with `mem` set. Always NUL-terminated once not empty. */
struct buf {
    const struct mem *mem;
    char *ptr;
    size_t len, cap;
    bool failed; /* sticks; later additions are lost */
};

bool buf_room(struct buf *b, size_t more); /* makes room, false on failure */

/* Inline: events are written in many small pieces. */
static inline void buf_add(struct buf *b, const char *p, size_t len)
{
    if ((b->failed || b->cap - b->len <= len) && !buf_room(b, len))
        return;
    if (len)
        memcpy(b->ptr + b->len, p, len);
    b->len += len;
    b->ptr[b->len] = 0;
}

static inline void buf_str(struct buf *b, wend_str s)
{
    buf_add(b, s.ptr, s.len);
}

static inline void buf_cstr(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_char(struct buf *b, char c);
void buf_quoted(struct buf *b, wend_str s); /* one word for a shell */
void buf_i64(struct buf *b, int64_t n);
void buf_fmt(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void buf_clear(struct buf *b);              /* keeps the memory */
void buf_reuse(struct buf *b, size_t keep); /* ... of at most `keep` bytes */
void buf_free(struct buf *b);
wend_str buf_view(const struct buf *b); /* never absent; lent */
/* Its content as a string of the arena, aligned for any struct; frees b.
 * Absent, and a->failed is set, if memory runs out or b has failed. */
wend_str buf_keep(struct buf *b, struct arena *a);

/* Writes n in decimal to p (room for 21 bytes), returns the length. */
size_t i64_text(char *p, int64_t n);

#endif

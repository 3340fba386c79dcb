/*
 * utf8.h - UTF-8 as RFC 3629 has it: no overlongs, no surrogates.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/str.h"

/* Length of the valid prefix of s; equals s.len when all is valid. */
size_t utf8_valid_len(wend_str s);
/* Appends s; each maximal bad part becomes U+FFFD. Returns their number. */
size_t utf8_repair(struct buf *out, wend_str s);
/* A valid copy in the arena; absent if s is, or if memory runs out. */
wend_str utf8_keep(wend_str s, struct arena *a);
/* Encodes a code point (not a surrogate) to p (room for 4). */
size_t utf8_put(char *p, uint32_t code_point);
size_t utf8_count(wend_str s); /* code points of valid s */
/* Length in bytes of the first `count` code points of valid s. */
size_t utf8_take(wend_str s, size_t count);
/* The largest cut <= max that does not split a code point of valid s. */
size_t utf8_cut(wend_str s, size_t max);
#define UTF8_ARGS(s, max) (int)utf8_cut(s, max), (s).ptr /* for %.*s */
/* len less a last code point whose end was cut off. */
size_t utf8_whole(const char *p, size_t len);
/* As snprintf, for text that people read or the log keeps: a sequence that a
 * precision or the end of the buffer cut is left out, any other bad byte
 * becomes '?'. Returns the length of what is in `out`. */
size_t utf8_fmt(char *out, size_t size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
size_t utf8_vfmt(char *out, size_t size, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));
/* The first code point of valid s, which is not empty, and its length. */
uint32_t utf8_first(wend_str s, size_t *len);
enum { UTF8_MARKS_MAX = 4 }; /* on one character; no script needs more */

/* The context of a code point; zeroed at the beginning of a text. */
struct utf8_before {
    uint32_t c;
    unsigned marks;
};

/* Whether it is a control other than \n and \t, reorders text or hides in it:
 * not a variation selector behind a symbol that has several shapes, but a mark
 * on top of UTF8_MARKS_MAX others. Call it for each code point in turn. */
bool utf8_hides(struct utf8_before *b, uint32_t code_point);

#endif

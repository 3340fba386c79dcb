/*
 * regex.h - regular expressions as JSON Schema means them: ECMA-262 with the
 * flag `u`, found anywhere in the text.
 *
 * Patterns are first read here and rewritten for PCRE2, so that what the two
 * do differently is either the same or refused: \d \w \b are ASCII, \s is
 * not, `.` stops at U+2028, $ only matches at the very end, there are no
 * verbs, recursion, possessive repeats or POSIX classes. Where `u` would
 * refuse but the meaning is clear, it is taken: \- and other escaped
 * punctuation, [\w-.], a lone { or ], (?P<name>...), (?i). Different from
 * ECMA-262: a group repeated keeps what it captured in an earlier round;
 * lookbehind must have a fixed length; at most 65,535 repeats are counted.
 */
#ifndef BASE_REGEX_H
#define BASE_REGEX_H

#include "base/str.h"

struct regex;

enum regex_result { REGEX_NO, REGEX_YES, REGEX_LIMIT, REGEX_ERROR };

/* Lives in the arena, whose `mem` also serves every search. WEND_E_PARSE
 * with what is wrong, WEND_E_LIMIT or WEND_E_NOMEM. */
wend_status regex_compile(wend_str pattern, struct arena *a, struct regex **out,
                          wend_error *err);

/* Spends from *work, about 20 ns a unit; REGEX_LIMIT when that is used up or
 * the search needs too much memory. REGEX_ERROR: no memory, or the text is
 * not UTF-8; err (may be NULL) says which. */
enum regex_result regex_search(const struct regex *r, wend_str text,
                               uint64_t *work, wend_error *err);

/* Perl's syntax as PCRE2 has it, for text of any bytes: what is UTF-8 is
 * matched as such, and nothing matches a part that is not. Unlike the other
 * it keeps what a search needs: one thread at a time. */
wend_status regex_compile_perl(wend_str pattern, bool any_case, struct arena *a,
                               struct regex **out, wend_error *err);

struct regex_place {
    size_t start, end;
};

/* The same as regex_search, and where the first match is. */
enum regex_result regex_find(const struct regex *r, wend_str text,
                             uint64_t *work, struct regex_place *place,
                             wend_error *err);

/* Appends bytes that every text with a match of this pattern (Perl's, case
 * counts) contains; nothing if there are none to be seen at a glance. */
void regex_literal(wend_str pattern, struct buf *out);

/* For regex.c: the pattern in the syntax of PCRE2, appended to `out`. */
wend_status regex_translate(wend_str pattern, struct buf *out, wend_error *err);

#endif

/*
 * regex.h - regular expressions as JSON Schema means them: ECMA-262 with the
 * flag `u`, found anywhere in the text.
 *
 * Patterns are rewritten for PCRE2, so that the two agree or the pattern is
 * refused: \d \w \b are ASCII, \s is not, `.` stops at U+2028, $ only matches
 * at the very end, there are no verbs, recursion, possessive repeats or POSIX
 * classes. Accepted although `u` refuses them: \- and other escaped
 * punctuation, [\w-.], a lone { or ], (?P<name>...), (?i). Different from
 * ECMA-262: a repeated group keeps what it captured in an earlier round;
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

struct regex_place {
    size_t start, end;
};

/* Finds the first match; place may be NULL. Spends from *work, about 20 ns a
 * unit. REGEX_LIMIT: that is used up, or the search needs too much memory;
 * REGEX_ERROR: no memory, or the text is not UTF-8, as err says. */
enum regex_result regex_search(const struct regex *r, wend_str text,
                               uint64_t *work, struct regex_place *place,
                               wend_error *err);

/* Perl's syntax as PCRE2 has it, for text of any bytes: a part that is not
 * UTF-8 never matches. It keeps what a search needs: one thread at a time. */
wend_status regex_compile_perl(wend_str pattern, bool any_case, struct arena *a,
                               struct regex **out, wend_error *err);

/* Appends bytes that every match of this pattern (Perl's, case counts) must
 * contain; nothing if none are obvious. */
void regex_literal(wend_str pattern, struct buf *out);

/* For regex.c: the pattern in the syntax of PCRE2, appended to `out`. */
wend_status regex_translate(wend_str pattern, struct buf *out, wend_error *err);

#endif

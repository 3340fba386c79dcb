/*
 * glob.h - patterns for paths: * ** ? [a-z] [!a-z] {a,b} and \ to quote.
 *
 * `*`, `?` and [..] never match a slash. `**` as a whole component matches any
 * number of directories, also 0; at the end, everything beneath. A leading dot
 * is not special. `?` is one code point, or one byte of invalid UTF-8.
 */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include "base/str.h"

struct glob;

/* Lives in the arena. WEND_E_PARSE, WEND_E_LIMIT or WEND_E_NOMEM. */
wend_status glob_compile(wend_str pattern, struct arena *a, struct glob **out,
                         wend_error *err);
/* Whole path, relative, without `./` in front. One thread at a time. */
bool glob_match(struct glob *g, wend_str path);
/* Whether something beneath this directory may match. */
bool glob_leads(struct glob *g, wend_str dir);
/* Work done so far, about 5 ns a step. */
uint64_t glob_steps(const struct glob *g);

#endif

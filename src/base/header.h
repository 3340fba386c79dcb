/*
 * header.h - headers of requests and answers.
 */
#ifndef BASE_HEADER_H
#define BASE_HEADER_H

#include "base/str.h"

bool header_name_ok(wend_str name);
/* Not empty, no control characters, no spaces around it. */
bool header_value_ok(wend_str value);
/* Whether `Name: value` or a name alone has this name, in any case. */
bool header_is(wend_str line, wend_str name);
/* Whether it has one of these names; a name that ends in `-` is a prefix. The
 * list ends with NULL. */
bool header_is_among(wend_str line, const char *const *names);
/* The trimmed value of the first header of that name; or absent. */
wend_str header_value(wend_str lines, const char *name);
/* Whether it frames the message, chooses the server, or is ours to set. */
bool header_is_ours(wend_str line);

#endif

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
/* Whether it has one of these names; the list ends
 * with NULL. Names that end in `-` stand for all that begin so. */
bool header_is_among(wend_str line, const char *const *names);
/* The value of the first line of that name in lines of headers, without space
 * around it; absent if there is none. */
wend_str header_value(wend_str lines, const char *name);
/* One that frames the message, chooses the server, or is ours to set. */
bool header_is_ours(wend_str line);

#endif

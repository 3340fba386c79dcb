/*
 * header.h - headers of requests that users and models write.
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
/* One that frames the message, chooses the server, or is ours to set. */
bool header_is_ours(wend_str line);

#endif

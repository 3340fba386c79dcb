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

/* ---- Headers that a user asks for, `Name: value` ------------------------- */

/* In the value `${NAME}` is an environment variable and `$$` a dollar. Takes
 * the next piece off *rest: a text or the name of a variable; the other is
 * absent. False: nothing is left, or what is left is neither. */
bool header_piece(wend_str *rest, wend_str *text, wend_str *variable);
/* The name, and the value without the space before it; false: no colon. */
bool header_split(wend_str line, wend_str *name, wend_str *value);
wend_status header_wish_check(wend_str line, wend_error *err);

#endif

/*
 * expr.h - conditions: a small language over values, compiled once.
 *
 *     or        and        not
 *     == != < <= > >= in   (one of them; a < b < c is refused)
 *     + -       * / %      - (of a number)
 *     len(x) exists($x) lower(x)   ( )
 *     12 1.5e3 "text" 'text' true false null [1, 2] $name ${name.path[0]}
 *
 * Pure, and bounded in length, depth and work. What is false: false, null, 0,
 * an empty text, list or mapping; all else is true. == compares any two
 * values; < and its kin two numbers or two texts (by bytes); + adds numbers
 * or joins texts; in looks for an element of a list, a key of a mapping or a
 * part of a text. exists is true for whatever has a value, even null.
 */
#ifndef CORE_EXPR_H
#define CORE_EXPR_H

#include "core/plan/scope.h"

struct expr;

/* r->in is the string it stands in; on failure r->bad_at says where in it. */
wend_status expr_parse(struct ref_reader *r, wend_str text,
                       const struct expr **out);
/* The value, in the scope's arena. A failure's column is the place in the
 * expression, from 1. */
wend_status expr_value(const struct expr *e, const struct scope *s,
                       const struct json **out, wend_error *err);
/* Whether that is true. */
wend_status expr_holds(const struct expr *e, const struct scope *s, bool *out,
                       wend_error *err);

#endif

/*
 * schema.h - does a JSON value fit a JSON Schema (2020-12)?
 *
 * A schema is compiled once: keywords are checked for their own form,
 * patterns compiled, every $ref led to its target. `format` and what else
 * describes is not checked. A $ref out of the document is an error: nothing
 * is ever fetched. Older drafts where they still live: `definitions`,
 * `dependencies`, `items` as a list with `additionalItems`, a boolean
 * exclusiveMinimum or exclusiveMaximum, `$id` as "#name". $dynamicRef is
 * taken as a $ref.
 *
 * Numbers are compared exactly, as decimals. A check is bounded in steps,
 * in depth and in the work for patterns; at a bound the value does not fit.
 */
#ifndef CORE_SCHEMA_H
#define CORE_SCHEMA_H

#include "base/json.h"

struct schema;

/* Everything lives in the arena; `json` must live as long. WEND_E_INVAL with
 * the place in the schema (a JSON pointer) and what is wrong there,
 * WEND_E_LIMIT or WEND_E_NOMEM. */
wend_status schema_compile(const struct json *json, struct arena *a,
                           struct schema **out, wend_error *err);

/* On a mismatch appends a sentence that names the path in the value and the
 * rule to `why` (may be NULL). Out of memory is a mismatch, too, and makes
 * `why` fail. */
bool schema_check(const struct schema *schema, const struct json *value,
                  struct buf *why);

#endif

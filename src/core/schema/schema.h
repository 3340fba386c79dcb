/*
 * schema.h - does a JSON value fit a JSON Schema?
 *
 * A schema is compiled once: keywords are checked for their own form,
 * patterns compiled, every $ref led to its target. `format` and what else
 * describes is not checked. A $ref leads to a place in the document or in a
 * metaschema of 2020-12, 2019-09, draft 7, 6 or 4; any other is an error, and
 * so is any other $schema: nothing is ever fetched.
 *
 * Forms of older drafts are taken in all: `definitions`, `dependencies`,
 * `items` as a list with `additionalItems`, a boolean exclusiveMinimum or
 * exclusiveMaximum, `$id` as "#name". Only where $schema names the draft does
 * a $ref replace what stands beside it (up to 7), and `id` mean $id (4).
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

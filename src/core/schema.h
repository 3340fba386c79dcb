/*
 * schema.h - does a JSON value fit a JSON Schema?
 *
 * Checked: type, properties, required, additionalProperties, items, enum,
 * const, minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength,
 * maxLength, minItems, maxItems, anyOf, oneOf, allOf, not. Other keywords
 * are accepted and not checked.
 */
#ifndef CORE_SCHEMA_H
#define CORE_SCHEMA_H

#include "base/json.h"

/* On a mismatch appends a sentence that names the path and the rule to
 * `why` (may be NULL). */
bool schema_check(const struct json *schema, const struct json *value,
                  struct buf *why);

#endif

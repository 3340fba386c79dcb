/*
 * yaml.h - YAML text to the same tree as JSON, with line and column.
 *
 * One document; plain scalars resolve by the YAML 1.2 core schema (true,
 * false, null, numbers), quoted ones are strings; numbers become JSON
 * number text. Refused, with line and column: anchors and aliases, tags,
 * keys that are not scalars, duplicate keys, more than one document, depth
 * over JSON_DEPTH_MAX, invalid UTF-8, values JSON cannot say (.inf, .nan).
 * JSON text is YAML too, but is read by json_parse when it begins with `{`
 * or `[`, so that its rules and messages are JSON's.
 */
#ifndef WIRE_YAML_H
#define WIRE_YAML_H

#include "base/json.h"

/* The tree is in the arena; it does not point into text. NULL on failure.
 * `json`, if not NULL, becomes the text if that was JSON, else absent. */
struct json *yaml_parse(wend_str text, struct arena *a, wend_str *json,
                        wend_error *err);
/* Where the key of a member stood, from 1; of a key with escapes in JSON,
 * where its value did. */
void yaml_key(wend_str json, const struct json *member, uint32_t *line,
              uint32_t *column);

#endif

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

/* The tree is in the arena; it does not point into text. */
struct json *yaml_parse(wend_str text, struct arena *a, wend_error *err);

#endif

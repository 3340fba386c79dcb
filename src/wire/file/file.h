/*
 * file.h - the files that people write, read into structs.
 *
 *   fields.h    opens a text in YAML or JSON for base/fields.h
 *   manifest.h  agents (agent/1) and tools (tool/1)
 *   models.h    what models can take and what they cost
 *   relic.h     relics (relic/1): services for plans
 *   script.h    scripted models
 *   yaml.h      YAML text to the same tree as JSON
 *
 * A reader includes the one it needs; every failure has a line and a column.
 */
#ifndef WIRE_FILE_H
#define WIRE_FILE_H

#include "wire/file/fields.h"
#include "wire/file/manifest.h"
#include "wire/file/models.h"
#include "wire/file/relic.h"
#include "wire/file/script.h"
#include "wire/file/yaml.h"

#endif

/*
 * file.h - the files that people write, opened for the tables of
 * base/fields.h.
 *
 *   manifest.h  agents (agent/1) and tools (tool/1)
 *   models.h    what models can take and what they cost
 *   relic.h     relics (relic/1): services for plans
 *   script.h    scripted models
 *   yaml.h      YAML text to the same tree as JSON
 *
 * Every failure has a line and a column.
 */
#ifndef WIRE_FILE_H
#define WIRE_FILE_H

#include "base/fields.h"

/* Parses YAML or JSON; arena, err (may be NULL) and whole are set. f->root is
 * the tree, f->err the place for what is wrong with it. */
wend_status file_open(struct fields *f, wend_str text, size_t bytes_max);
/* The same, then reads all of it by the rows into `size` bytes of the arena;
 * NULL: f->err says why. */
void *file_parse(struct fields *f, wend_str text, size_t bytes_max,
                 const struct field *rows, size_t size);

#endif

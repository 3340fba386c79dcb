/*
 * fields.h - the text of a file that people write, opened for base/fields.h.
 */
#ifndef WIRE_FIELDS_H
#define WIRE_FIELDS_H

#include "base/fields.h"

/* Parses YAML or JSON; arena, err (may be NULL) and whole are set. f->root is
 * the tree, f->err the place for what is wrong with it. */
wend_status fields_open(struct fields *f, wend_str text, size_t bytes_max);

#endif

/*
 * textdiff.h - what changes between two texts, line by line.
 */
#ifndef BASE_TEXTDIFF_H
#define BASE_TEXTDIFF_H

#include "base/str.h"

/* Appends the hunks of a unified diff: `@@ -1,3 +1,4 @@`, then lines that begin
 * with a space, `-` or `+`, three of them unchanged around each change. A text
 * whose last line is not ended gets diff's line about it. Nothing is appended
 * for equal texts. Where they differ much, old lines come as a whole before the
 * new ones. A failed allocation sets out->failed. */
void textdiff_put(struct buf *out, wend_str before, wend_str after);

#endif

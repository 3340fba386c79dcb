/*
 * markdown_inline.h - marks inside a line of Markdown: emphasis, code, escapes.
 *
 * A mark is left out only together with the one that ends it in the same line;
 * any other is text.
 */
#ifndef CLI_MARKDOWN_INLINE_H
#define CLI_MARKDOWN_INLINE_H

#include "base/str.h"

enum inline_style {
    INLINE_BOLD = 1,
    INLINE_ITALIC = 2,
    INLINE_CODE = 4,
    INLINE_DIM = 8,
    INLINE_BARE = 16, /* no escape sequences: marks are left out only */
};

/* The escape sequences that set exactly these styles. */
void inline_style(struct buf *out, unsigned styles);
/* Writes the part of a line that is decided, and returns its length: all of it
 * if it is `whole`. `styles` hold around it; `before`: the character before the
 * text, a space at the start of a line. */
size_t inline_put(struct buf *out, wend_str text, char before, unsigned styles,
                  bool whole);

#endif

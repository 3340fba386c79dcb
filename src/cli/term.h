/*
 * term.h - makes text safe for a terminal.
 *
 * Text from models, tools, files and imported runs may contain escape
 * sequences, direction changes, invisible characters and stacks of combining
 * marks. All of them are replaced: controls by their symbol (ESC is shown as
 * U+241B), the rest by U+FFFD.
 */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include "base/utf8.h"

/* Keeps \n and \t. s need not be valid UTF-8. */
void term_text(struct buf *out, wend_str s);
/* The same for the next piece of a text. */
void term_piece(struct buf *out, struct utf8_before *before, wend_str s);
/* On one line: line ends and tabs become spaces; at most `columns` wide,
 * then cut with an ellipsis. */
void term_line(struct buf *out, wend_str s, size_t columns);
/* The same, padded with spaces to `columns`. */
void term_cell(struct buf *out, wend_str s, size_t columns);
/* The same JSON, safe for a terminal: control characters occur only in
 * strings and become \u escapes. */
void term_json(struct buf *out, wend_str json);

size_t term_width(int fd); /* 80 if it is not a terminal */
bool term_asks(void); /* the user can be asked: standard input and error are
                         terminals */
bool term_same(int fd, int fd2); /* both are the same file or terminal */
bool term_colour(int fd);        /* a terminal, and NO_COLOR is not set */

#endif

/*
 * term.h - makes text safe for a terminal.
 *
 * Text from models, tools, files and imported runs may contain escape
 * sequences, direction changes, invisible characters and stacks of combining
 * marks. All of them are replaced: controls by their symbol (ESC is shown as
 * U+241B), the rest by U+FFFD; each by '?' if the locale is ASCII.
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
/* The same, cut in the middle: names that begin alike stay apart. */
void term_name(struct buf *out, wend_str s, size_t columns);
/* The same, padded with spaces to `columns`. */
void term_cell(struct buf *out, wend_str s, size_t columns);
/* All of it: lines after the first begin at `indent`, line ends at the end are
 * dropped. */
void term_lines(struct buf *out, wend_str s, size_t indent);
/* Wrapped into rows that end with \n and are narrower than `width`; returns
 * how many rows more than `rows`, which are left out, it would take. */
size_t term_rows(struct buf *out, wend_str s, size_t width, size_t rows);
/* Wrapped between words, from `column` on: the rows are narrower than `width`
 * unless a word is wider, and those after the first begin at `indent`. Width 0:
 * not wrapped. */
void term_words(struct buf *out, wend_str s, size_t column, size_t indent,
                size_t width);
/* Wraps the lines of a safe text that are wider than `width` between words.
 * What is in the last column, behind two spaces, stays in it or goes below. */
void term_fit(struct buf *out, wend_str text, size_t width);
/* The same JSON, safe for a terminal: control characters occur only in
 * strings and become \u escapes. */
void term_json(struct buf *out, wend_str json);

/* Money, or "-" if it is not known (below 0). */
void term_usd(struct buf *out, int64_t nano);
/* In the largest unit that it fills: 59s, 2m, 3h, 4d. */
void term_age(struct buf *out, int64_t us);

/* Columns of a line, colours left out. */
size_t term_columns(wend_str line);
/* The column after `text`, which begins at `column` of a terminal that wraps
 * at `width`; colours and wrap.c's way back are understood. */
size_t term_column(size_t column, size_t width, wend_str text);

size_t term_width(int fd);    /* 80 if it is not a terminal */
size_t term_wraps_at(int fd); /* its width; 0 if it is not a terminal */
size_t term_height(int fd);   /* 24 if it is not a terminal */
bool term_asks(void); /* the user can be asked: standard input and error are
                         terminals */
bool term_same(int fd, int fd2); /* both are the same file or terminal */
bool term_moves(int fd);         /* a terminal with a cursor to move */
bool term_colour(int fd);        /* it moves, and NO_COLOR is not set */
bool term_reflows(void);         /* it wraps its lines anew when resized */
bool term_ascii(void);           /* the locale has no other characters */

#endif

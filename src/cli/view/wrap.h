/*
 * wrap.h - wraps text between words while it streams to a terminal.
 *
 * What comes is shown at once, also the beginning of a word; if the word turns
 * out to be too long for its row, it is taken back and begins the next one.
 */
#ifndef CLI_WRAP_H
#define CLI_WRAP_H

#include "base/str.h"

enum { WRAP_STYLE_MAX = 32 }; /* bytes of the sequences that set a style */

struct wrap_style {
    char text[WRAP_STYLE_MAX];
    size_t len;
};

struct wrap {
    size_t width;  /* of the terminal: rows are narrower */
    size_t column; /* of the next character */
    bool full;     /* a space is due where the row ends: the next word begins
                    * another one */
    /* A row that continues another begins below the text of its line. */
    enum {
        LEAD_BEGIN,
        LEAD_MARK,
        LEAD_BAR,
        LEAD_NUMBER,
        LEAD_DONE,
    } lead;
    size_t hang;           /* its columns */
    bool quote;            /* repeat `bar` instead of spaces */
    struct wrap_style bar; /* the beginning of the line, with styles */
    struct buf word;       /* with styles; set its mem */
    size_t word_columns;
    size_t shown, shown_columns;     /* of the word */
    bool wide;                       /* the word may end anywhere */
    struct wrap_style style, before; /* now; before the word */
};

/* The first row of a text. */
void wrap_begin(struct wrap *w, size_t width);
/* Adds a piece of text that is safe for a terminal. Escape sequences in it set
 * styles. */
void wrap_text(struct wrap *w, struct buf *out, wend_str text);
/* The text continues at this column: what was shown cannot be taken back. */
void wrap_moved(struct wrap *w, size_t column);

#endif

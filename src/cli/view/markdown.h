/*
 * markdown.h - Markdown of a model as readable text for a terminal, while it
 * streams.
 *
 * What is decided is written at once; only text behind a mark that may mean
 * something is held until the mark ends or the line does, and a table until its
 * last row. Text that is not Markdown comes out as it is.
 */
#ifndef CLI_MARKDOWN_H
#define CLI_MARKDOWN_H

#include "base/str.h"

enum { FENCE_MAX = 16 };

struct markdown {
    bool styled;     /* bold and colours; else marks inside a line stay */
    bool ascii;      /* no other characters for frames */
    size_t width;    /* of the terminal */
    struct buf held; /* the beginning of a line whose kind is not known; later
                      * its text from a mark whose end is not known */
    struct buf rows; /* of a table */
    enum {
        LINE_BEGIN, /* what follows may be a block */
        LINE_TEXT,
        LINE_CODE,
    } at;
    char fence[FENCE_MAX]; /* that ends the code; empty: no code */
    size_t column;         /* in a line of code */
    char before;           /* the character before the held text of a line */
    unsigned styles;       /* of the line: enum inline_style */
};

/* Adds a piece of the text, which is safe for a terminal. Set mem of its
 * buffers. */
void markdown_text(struct markdown *m, struct buf *out, wend_str text);
/* The message is over: what was held, and the ends of what is open. */
void markdown_end(struct markdown *m, struct buf *out);
void markdown_free(struct markdown *m);

#endif

/*
 * preview.h - what a call would do, as a person reads it: the text of a new
 * file, a diff against the file on disk, a command as it will run.
 */
#ifndef CLI_PREVIEW_H
#define CLI_PREVIEW_H

#include "cli/view/view.h"

struct preview {
    struct buf head; /* what the call does, in some words; empty: nothing more
                        than its name */
    struct buf body; /* lines */
    bool diff;       /* they are those of a diff */
};

/* Reads the file that the call would change. Arguments that it does not know
 * are shown as JSON. Free it also after a failed allocation, which sets
 * body.failed. */
void preview_make(struct preview *p, const struct mem *m, wend_str tool,
                  wend_str args);
void preview_free(struct preview *p);

/* Appends the body for a terminal: rows of at most `width` columns, in colour
 * if wanted; at most `rows` of them. Returns the number of lines left out. */
size_t preview_rows(const struct preview *p, struct buf *out, size_t width,
                    size_t rows, bool colour);
/* Appends all of it, without breaking lines. */
void preview_text(const struct preview *p, struct buf *out, bool colour);

#endif

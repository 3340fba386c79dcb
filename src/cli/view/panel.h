/*
 * panel.h - the lines that stay at the bottom of a terminal while a run goes
 * on: bars of a plan, a status line, a question.
 *
 * A panel is painted below the text of the run, over its former self. Before
 * text of the run is written, panel_lift erases the panel and puts the cursor
 * back to where the text ended; the next panel_paint paints it below the new
 * text.
 */
#ifndef CLI_PANEL_H
#define CLI_PANEL_H

#include "base/str.h"

struct panel {
    struct buf shown;     /* on the screen; each row ends with \n */
    size_t rows;          /* of the screen that it takes */
    size_t column;        /* of the unfinished line above; 0: there is none */
    size_t width, height; /* of the terminal */
    size_t up;            /* rows from the last one up to the cursor */
    size_t cursor;        /* its column in its line */
    bool wrapped;         /* the terminal wrapped its rows anew */
};

/* Call it before each paint; true: the size has changed. If the terminal
 * `reflows`, what it shows is wrapped anew. */
bool panel_resize(struct panel *p, size_t width, size_t height, bool reflows);
/* `rows`: lines that end with \n, each narrower than the terminal, colours
 * allowed; an empty text erases. `column`: where the text above ended in its
 * line, 0 at the start of one. */
void panel_paint(struct panel *p, struct buf *out, wend_str rows,
                 size_t column);
/* Moves the cursor of a painted panel: rows above its last one, and column. */
void panel_cursor(struct panel *p, struct buf *out, size_t up, size_t column);
void panel_lift(struct panel *p, struct buf *out);
/* Its rows are not on the screen any more; nothing is erased. */
void panel_forget(struct panel *p);
/* The user ended a line: the cursor is below the panel. */
void panel_entered(struct panel *p);

#endif

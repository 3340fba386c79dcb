/*
 * grid.h - rows of cells that fit the terminal.
 *
 * A column is as wide as its widest cell and is not shown if all of its cells
 * are empty. A table that is too wide loses columns before a line would wrap;
 * the last column takes what is left unless it is aligned to the right.
 */
#ifndef CLI_GRID_H
#define CLI_GRID_H

#include "base/str.h"

struct grid_column {
    const char *head;
    size_t most; /* columns of the terminal; longer cells are cut */
    int lose;    /* the column with the highest value is lost first; 0: never */
    bool right;  /* aligned */
};

enum {
    GRID_COLUMNS_MAX = 16,
    GRID_LAYOUT_ROWS = 1000, /* the widths follow from these; later rows are
                                 written at once and cut where they must be */
};

struct grid {
    const struct grid_column *columns;
    size_t count;
    size_t width;    /* of the terminal */
    struct buf *out; /* gets safe lines */
    const struct mem *mem;
    struct arena arena;
    wend_str *cells; /* of the rows that wait for the layout */
    size_t cells_count, cells_cap;
    bool laid;
    size_t widths[GRID_COLUMNS_MAX]; /* 0: not shown */
};

void grid_begin(struct grid *t, const struct grid_column *columns, size_t count,
                size_t width, struct buf *out);
/* The next cell, row by row. The text is copied and need not be safe. */
void grid_cell(struct grid *t, wend_str text);
void grid_number(struct grid *t, int64_t n);
void grid_usd(struct grid *t, int64_t nano); /* as term_usd */
/* Writes what waits, and frees all. */
void grid_end(struct grid *t);

#endif

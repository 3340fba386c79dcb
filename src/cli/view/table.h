/*
 * table.h - rows of cells that fit the terminal.
 *
 * A column is as wide as its widest cell and is not shown if all of its cells
 * are empty. A table that is too wide loses columns before a line would wrap;
 * the last column takes what is left.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "base/str.h"

struct table_column {
    const char *head;
    size_t most; /* columns of the terminal; longer cells are cut */
    int lose;    /* the column with the highest value is lost first; 0: never */
    bool right;  /* aligned */
};

enum {
    TABLE_COLUMNS_MAX = 16,
    TABLE_LAYOUT_ROWS = 1000, /* the widths follow from these; later rows are
                                 written at once and cut where they must be */
};

struct table {
    const struct table_column *columns;
    size_t count;
    size_t width;    /* of the terminal */
    struct buf *out; /* gets safe lines */
    const struct mem *mem;
    struct arena arena;
    wend_str *cells; /* of the rows that wait for the layout */
    size_t cells_count, cells_cap;
    bool laid;
    size_t widths[TABLE_COLUMNS_MAX]; /* 0: not shown */
};

void table_begin(struct table *t, const struct table_column *columns,
                 size_t count, size_t width, struct buf *out);
/* The next cell, row by row. The text is copied and need not be safe. */
void table_cell(struct table *t, wend_str text);
/* Writes what waits, and frees all. */
void table_end(struct table *t);

#endif

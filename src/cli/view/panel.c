/*
 * panel.c - the lines that stay at the bottom of a terminal while a run goes
 * on.
 */
#include "cli/view/panel.h"

#include "cli/term.h"

/* Rows that a text takes on a screen of `width` columns. */
static size_t rows_of(wend_str text, size_t width)
{
    size_t rows = 0, columns;
    wend_str line;

    while (text.len && str_line(&text, &line)) {
        columns = term_columns(line);
        rows += columns > width ? (columns + width - 1) / width : 1;
    }
    return rows;
}

/* Rows below the cursor once the terminal has wrapped them anew: the cursor
 * stays with its character. */
static size_t rows_below(const struct panel *p, size_t width)
{
    wend_str text = buf_view(&p->shown), line;
    size_t left = str_count(text, '\n'), below = 0, rows, row;

    while (text.len && str_line(&text, &line)) {
        rows = rows_of((wend_str){line.ptr, line.len + 1}, width);
        row = p->cursor / width < rows ? p->cursor / width : rows - 1;
        if (left <= p->up)
            below += rows;
        else if (left == p->up + 1)
            below += rows - 1 - row;
        left--;
    }
    return below;
}

bool panel_resize(struct panel *p, size_t width, size_t height, bool reflows)
{
    bool changed = width != p->width || height != p->height;

    if (changed && p->rows && reflows) {
        p->rows = rows_of(buf_view(&p->shown), width);
        p->up = rows_below(p, width);
        p->column %= width;
        p->wrapped = true;
    }
    if (p->column > width)
        p->column = width;
    p->width = width;
    p->height = height;
    return changed;
}

/* To the start of the first row; rows above the screen are out of reach. */
static void to_first_row(const struct panel *p, struct buf *out)
{
    size_t rows = p->rows < p->height ? p->rows : p->height;

    buf_char(out, '\r');
    if (rows > 1 + p->up)
        buf_fmt(out, "\033[%zuA", rows - 1 - p->up);
}

void panel_cursor(struct panel *p, struct buf *out, size_t up, size_t column)
{
    if (!p->rows || up >= p->rows)
        return;
    buf_char(out, '\r');
    if (up > p->up)
        buf_fmt(out, "\033[%zuA", up - p->up);
    else if (up < p->up)
        buf_fmt(out, "\033[%zuB", p->up - up);
    if (column)
        buf_fmt(out, "\033[%zuC", column);
    p->up = up;
    p->cursor = column;
}

/* From the start of the first row. tmux would keep a screen that is erased as
 * a whole among the lines above it. */
static void erase(const struct panel *p, struct buf *out)
{
    buf_cstr(out, "\033[K");
    if (p->rows > 1)
        buf_cstr(out, "\033[B\033[J\033[A");
}

void panel_forget(struct panel *p)
{
    p->rows = p->column = p->up = p->cursor = 0;
    p->wrapped = false;
    buf_clear(&p->shown);
}

void panel_lift(struct panel *p, struct buf *out)
{
    if (!p->rows)
        return;
    to_first_row(p, out);
    erase(p, out);
    /* A full line has no column after its last: its text continues below. */
    if (p->column && p->column < p->width)
        buf_fmt(out, "\033[A\033[%zuC", p->column);
    panel_forget(p);
}

void panel_entered(struct panel *p)
{
    p->rows += p->rows > 0;
}

void panel_paint(struct panel *p, struct buf *out, wend_str rows, size_t column)
{
    size_t count = rows_of(rows, p->width);
    bool first = true;
    wend_str line;

    if (str_eq(rows, buf_view(&p->shown)) && !p->wrapped)
        return;
    if (!rows.len) {
        panel_lift(p, out);
        return;
    }
    if (p->rows)
        to_first_row(p, out);
    else if ((p->column = column))
        buf_char(out, '\n');
    /* Rows that the terminal wrapped would be joined by the next resize. */
    if (p->wrapped)
        erase(p, out);
    p->wrapped = false;
    buf_clear(&p->shown);
    buf_str(&p->shown, rows);
    while (rows.len && str_line(&rows, &line)) {
        if (!first)
            buf_char(out, '\n');
        buf_str(out, line);
        buf_cstr(out, "\033[K");
        first = false;
    }
    if (count < p->rows)
        buf_cstr(out, "\033[J");
    p->rows = count;
    p->up = 0;
    p->cursor = SIZE_MAX; /* behind the last row */
}

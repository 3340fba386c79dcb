/*
 * markdown_table.c - a table of Markdown, laid out for a terminal.
 */
#include "cli/view/markdown_table.h"

#include <string.h>

#include "base/utf8.h"
#include "cli/term.h"
#include "cli/view/markdown_inline.h"

enum { COLUMNS_MAX = 32 };

struct table {
    struct buf *out;
    size_t width;
    bool styled, ascii;
    size_t columns;
    size_t widths[COLUMNS_MAX];
    enum { ALIGN_LEFT, ALIGN_RIGHT, ALIGN_CENTER } align[COLUMNS_MAX];
    wend_str names[COLUMNS_MAX]; /* the first row */
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* The next cell of a row, which begins behind a bar. */
static bool next_cell(wend_str *row, wend_str *cell)
{
    size_t end = 0;

    if (!row->len)
        return false;
    while (end < row->len &&
           (row->ptr[end] != '|' || (end && row->ptr[end - 1] == '\\')))
        end++;
    if (end == row->len && !str_trim(*row, is_space).len)
        return false; /* behind the last bar */
    *cell = str_trim((wend_str){row->ptr, end}, is_space);
    *row = str_skip(*row, end < row->len ? end + 1 : end);
    return true;
}

static wend_str cells_of(wend_str line)
{
    line = str_trim(line, is_space);
    return str_skip(line, line.len && line.ptr[0] == '|');
}

/* |---|:--:| */
static bool is_ruler(wend_str line)
{
    bool any = false;

    for (size_t i = 0; i < line.len; i++) {
        if (!strchr("|:- \t", line.ptr[i]))
            return false;
        any |= line.ptr[i] == '-';
    }
    return any;
}

/* Without marks of emphasis: they would count as columns. */
static void put_plain(struct buf *out, wend_str cell, bool styled)
{
    struct buf text = {.mem = out->mem};

    for (size_t i = 0; i < cell.len; i++)
        if (cell.ptr[i] != '\\' || i + 1 == cell.len || cell.ptr[i + 1] != '|')
            buf_char(&text, cell.ptr[i]);
    if (styled)
        inline_put(out, buf_view(&text), ' ', INLINE_BARE, true);
    else
        buf_str(out, buf_view(&text));
    out->failed |= text.failed;
    buf_free(&text);
}

static size_t columns_of(const struct table *t, wend_str cell)
{
    struct buf b = {.mem = t->out->mem};
    size_t columns;

    put_plain(&b, cell, t->styled);
    columns = term_columns(buf_view(&b));
    buf_free(&b);
    return columns;
}

static void read_ruler(struct table *t, wend_str line)
{
    wend_str cell;

    line = cells_of(line);
    for (size_t i = 0; i < COLUMNS_MAX && next_cell(&line, &cell); i++) {
        bool right = cell.len && cell.ptr[cell.len - 1] == ':';

        t->align[i] = !right               ? ALIGN_LEFT
                      : cell.ptr[0] == ':' ? ALIGN_CENTER
                                           : ALIGN_RIGHT;
    }
}

static void measure(struct table *t, wend_str rows)
{
    wend_str line, cell;

    for (bool first = true; str_line(&rows, &line); first = false) {
        size_t i = 0;

        if (is_ruler(line)) {
            read_ruler(t, line);
            continue;
        }
        for (line = cells_of(line); i < COLUMNS_MAX && next_cell(&line, &cell);
             i++) {
            size_t columns = columns_of(t, cell);

            if (first)
                t->names[i] = cell;
            if (columns > t->widths[i])
                t->widths[i] = columns;
        }
        if (i > t->columns)
            t->columns = i;
        if (!rows.len)
            break;
    }
}

static void put_spaces(struct buf *out, size_t count)
{
    while (count--)
        buf_char(out, ' ');
}

static void put_row(const struct table *t, wend_str line, bool head)
{
    wend_str cell;

    line = cells_of(line);
    for (size_t i = 0; i < t->columns; i++) {
        bool any = next_cell(&line, &cell);
        size_t left = t->widths[i] - (any ? columns_of(t, cell) : 0);
        size_t before = t->align[i] == ALIGN_RIGHT    ? left
                        : t->align[i] == ALIGN_CENTER ? left / 2
                                                      : 0;

        if (i)
            buf_cstr(t->out, t->ascii ? " | " : " \u2502 ");
        put_spaces(t->out, any ? before : 0);
        buf_cstr(t->out, head && t->styled ? "\033[1m" : "");
        if (any)
            put_plain(t->out, cell, t->styled);
        buf_cstr(t->out, head && t->styled ? "\033[0m" : "");
        if (i + 1 < t->columns)
            put_spaces(t->out, left - (any ? before : 0));
    }
    buf_char(t->out, '\n');
}

static void put_ruler(const struct table *t)
{
    for (size_t i = 0; i < t->columns; i++) {
        if (i)
            buf_cstr(t->out, t->ascii ? "-+-" : "\u2500\u253c\u2500");
        for (size_t c = 0; c < t->widths[i]; c++)
            buf_cstr(t->out, t->ascii ? "-" : "\u2500");
    }
    buf_char(t->out, '\n');
}

/* A row of a table that is too wide. */
static void put_list(const struct table *t, wend_str line)
{
    wend_str cell;

    line = cells_of(line);
    for (size_t i = 0; i < t->columns && next_cell(&line, &cell); i++) {
        buf_cstr(t->out, i ? "  " : t->ascii ? "* " : "\u2022 ");
        put_plain(t->out, t->names[i], t->styled);
        buf_cstr(t->out, ": ");
        put_plain(t->out, cell, t->styled);
        buf_char(t->out, '\n');
    }
}

/* A first row, a ruler, and more rows, with room for all cells. */
static bool is_table(wend_str rows)
{
    size_t count = 0;
    wend_str line;

    for (; str_line(&rows, &line); count++)
        if (str_count(line, '|') > COLUMNS_MAX ||
            (count == 1 && !is_ruler(line)))
            return false;
    return count > 2;
}

static void put_lines(struct buf *out, wend_str rows, bool styled)
{
    wend_str line;

    while (rows.len && str_line(&rows, &line)) {
        if (styled)
            inline_put(out, line, ' ', 0, true);
        else
            buf_str(out, line);
        buf_char(out, '\n');
    }
}

void table_put(struct buf *out, wend_str rows, size_t width, bool styled,
               bool ascii)
{
    struct table t = {
        .out = out, .width = width, .styled = styled, .ascii = ascii};
    size_t total = 0;
    wend_str line;

    if (!is_table(rows)) {
        put_lines(out, rows, styled);
        return;
    }
    measure(&t, rows);
    for (size_t i = 0; i < t.columns; i++)
        total += t.widths[i] + (i ? 3 : 0);
    for (bool first = true; str_line(&rows, &line); first = false) {
        if (is_ruler(line) && total < width)
            put_ruler(&t);
        else if (!is_ruler(line) && total < width)
            put_row(&t, line, first);
        else if (!is_ruler(line) && !first)
            put_list(&t, line);
        if (!rows.len)
            break;
    }
}

/*
 * grid.c - rows of cells that fit the terminal.
 */
#include "cli/view/grid.h"

#include <assert.h>
#include <stdio.h>

#include "cli/term.h"

enum {
    GAP = 2,       /* columns of the terminal between two columns */
    LAST_MIN = 12, /* of the last column, before others are lost for it */
};

/* ---- Layout -------------------------------------------------------------- */

static size_t columns_of(const struct grid *t, wend_str text, size_t most)
{
    struct buf safe = {.mem = t->mem};
    size_t columns;

    term_line(&safe, text, most);
    columns = term_columns(buf_view(&safe));
    t->out->failed |= safe.failed;
    buf_free(&safe);
    return columns;
}

/* 0 if all cells are empty. */
static size_t wanted(const struct grid *t, size_t column)
{
    const struct grid_column *c = &t->columns[column];
    size_t most = 0;

    for (size_t i = column; i < t->cells_count; i += t->count) {
        size_t w = columns_of(t, t->cells[i], c->most);

        most = w > most ? w : most;
    }
    return most && most < strlen(c->head) ? strlen(c->head) : most;
}

static bool takes_rest(const struct grid *t, size_t column)
{
    return column + 1 == t->count && !t->columns[column].right;
}

static size_t total(const struct grid *t)
{
    size_t sum = 0;

    for (size_t i = 0; i < t->count; i++)
        if (takes_rest(t, i))
            sum += t->widths[i] < LAST_MIN ? t->widths[i] : LAST_MIN;
        else if (t->widths[i])
            sum += t->widths[i] + (i + 1 < t->count ? GAP : 0);
    return sum;
}

static bool lose_one(struct grid *t)
{
    size_t lost = t->count;

    for (size_t i = 0; i < t->count; i++)
        if (t->widths[i] && t->columns[i].lose &&
            (lost == t->count || t->columns[i].lose > t->columns[lost].lose))
            lost = i;
    if (lost < t->count)
        t->widths[lost] = 0;
    return lost < t->count;
}

static void lay_out(struct grid *t)
{
    size_t last = t->count - 1, used;

    for (size_t i = 0; i < t->count; i++)
        t->widths[i] = wanted(t, i);
    while (total(t) > t->width && lose_one(t))
        ;
    if (takes_rest(t, last) && t->widths[last]) {
        t->widths[last] = 0;
        used = total(t);
        t->widths[last] = used < t->width ? t->width - used : 0;
    }
    if (t->widths[0] > t->width) /* no row wraps, whatever it takes */
        t->widths[0] = t->width;
    t->laid = true;
}

/* ---- Lines --------------------------------------------------------------- */

static void put_cell(struct grid *t, size_t column, wend_str text)
{
    size_t width = t->widths[column];

    if (takes_rest(t, column)) {
        term_line(t->out, text, width);
        return;
    }
    if (t->columns[column].right)
        for (size_t w = columns_of(t, text, width); w < width; w++)
            buf_char(t->out, ' ');
    if (t->columns[column].right)
        term_line(t->out, text, width);
    else
        term_cell(t->out, text, width);
    buf_cstr(t->out, "  ");
}

static void put_line(struct grid *t, const wend_str *cells)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->widths[i])
            put_cell(t, i, cells ? cells[i] : str_of(t->columns[i].head));
    while (t->out->len && t->out->ptr[t->out->len - 1] == ' ')
        t->out->len--;
    buf_char(t->out, '\n');
}

static void put_waiting(struct grid *t)
{
    if (!t->laid) {
        lay_out(t);
        put_line(t, NULL);
    }
    for (size_t i = 0; i + t->count <= t->cells_count; i += t->count)
        put_line(t, &t->cells[i]);
    t->cells_count = 0;
    arena_reset(&t->arena);
}

/* ---- The table ----------------------------------------------------------- */

void grid_begin(struct grid *t, const struct grid_column *columns, size_t count,
                size_t width, struct buf *out)
{
    assert(count && count <= GRID_COLUMNS_MAX);
    *t = (struct grid){.columns = columns,
                       .count = count,
                       .width = width,
                       .out = out,
                       .mem = out->mem,
                       .arena = {.mem = out->mem}};
}

void grid_cell(struct grid *t, wend_str text)
{
    wend_str *cells = mem_more(t->mem, t->cells, t->cells_count, &t->cells_cap,
                               sizeof *t->cells);

    if (!cells) {
        t->out->failed = true;
        return;
    }
    t->cells = cells;
    t->cells[t->cells_count++] = arena_str(&t->arena, text);
    t->out->failed |= t->arena.failed;
    if (t->cells_count % t->count == 0 &&
        (t->laid || t->cells_count / t->count == GRID_LAYOUT_ROWS))
        put_waiting(t);
}

void grid_number(struct grid *t, int64_t n)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)n);
    grid_cell(t, str_of(text));
}

void grid_usd(struct grid *t, int64_t nano)
{
    struct buf b = {.mem = t->mem};

    term_usd(&b, nano);
    grid_cell(t, buf_view(&b));
    t->out->failed |= b.failed;
    buf_free(&b);
}

void grid_end(struct grid *t)
{
    if (t->cells_count)
        put_waiting(t);
    mem_free(t->mem, t->cells);
    arena_free(&t->arena);
}

/*
 * test_grid.c - tables fit: columns are lost before a line wraps.
 */
#include "cli/view/grid.h"

#include <locale.h>
#include <stdlib.h>

#include "cli/term.h"
#include "fault.h"
#include "tap.h"

static const struct mem plain;

enum { COLUMNS = 4 };

static const struct grid_column columns[COLUMNS] = {
    {"ID", 8, 0, false},
    {"COUNT", 6, 1, true},
    {"NAME", 10, 2, false},
    {"TEXT", 100, 0, false},
};

static const struct {
    const char *why;
    size_t width;
    const char *cells[2 * COLUMNS];
    const char *wanted;
} rows[] = {
    {"all of it",
     60,
     {"a1", "7", "ann", "one", "b22", "1234", "bob", "two words"},
     "ID   COUNT  NAME  TEXT\n"
     "a1       7  ann   one\n"
     "b22   1234  bob   two words\n"},
    {"an empty column is not shown",
     60,
     {"a1", "7", "", "one", "b2", "8", "", "two"},
     "ID  COUNT  TEXT\n"
     "a1      7  one\n"
     "b2      8  two\n"},
    {"exactly as wide as the last column needs",
     30,
     {"a1", "7", "ann", "123456789012", "b22", "1", "bob", "two"},
     "ID   COUNT  NAME  TEXT\n"
     "a1       7  ann   123456789012\n"
     "b22      1  bob   two\n"},
    {"narrower: the first to go is the name",
     27,
     {"a1", "7", "ann", "123456789012345678", "b22", "1", "bob", "two"},
     "ID   COUNT  TEXT\n"
     "a1       7  12345678901234~\n"
     "b22      1  two\n"},
    {"then the count",
     19,
     {"a1", "7", "ann", "123456789012345678", "b22", "1", "bob", "two"},
     "ID   TEXT\n"
     "a1   1234567890123~\n"
     "b22  two\n"},
    {"wide characters count twice",
     30,
     {"a1", "7", "\u30d7\u30ed", "\u30d7\u30ed\u30f3\u30d7\u30c8\u30d7\u30ed",
      "b22", "1", "bob", "two"},
     "ID   COUNT  NAME  TEXT\n"
     "a1       7  \u30d7\u30ed  \u30d7\u30ed\u30f3\u30d7\u30c8~\n"
     "b22      1  bob   two\n"},
    {"no escapes, no line ends",
     60,
     {"a\n1", "7", "a\033[1mn", "o\nne\t\r", "b2", "8", "bob", "two"},
     "ID   COUNT  NAME    TEXT\n"
     "a 1      7  a?[1mn  o ne\n"
     "b2       8  bob     two\n"},
    {"too narrow for the first column: it is cut",
     4,
     {"a12345", "7", "ann", "one", "b2", "1", "bob", "two"},
     "ID\n"
     "a1~5\n"
     "b2\n"},
};

static void put(struct buf *out, size_t i)
{
    struct grid t;

    grid_begin(&t, columns, COLUMNS, rows[i].width, out);
    for (size_t k = 0; k < tap_count(rows[i].cells); k++)
        grid_cell(&t, tap_str_of(rows[i].cells[k]));
    grid_end(&t);
}

/* Widths follow from the first rows; later ones are cut, none wraps. */
static void many(void)
{
    struct buf b = {.mem = &plain};
    struct grid t;
    size_t wide = 0, lines = 0;

    grid_begin(&t, columns, COLUMNS, 40, &b);
    for (int i = 0; i < GRID_LAYOUT_ROWS + 500; i++) {
        grid_cell(&t, STR("id"));
        grid_cell(&t, i < GRID_LAYOUT_ROWS ? STR("1") : STR("123456789"));
        grid_cell(&t, STR("n"));
        grid_cell(&t, STR("a text that is too long for one line of it"));
    }
    grid_end(&t);
    for (size_t i = 0, begun = 0; i < b.len; i++)
        if (b.ptr[i] == '\n') {
            wide += term_columns((wend_str){b.ptr + begun, i - begun}) > 40;
            begun = i + 1;
            lines++;
        }
    tap_is_i64((int64_t)lines, GRID_LAYOUT_ROWS + 501, "many rows: all");
    tap_is_i64((int64_t)wide, 0, "many rows: none wraps");
    buf_free(&b);
}

/* A last column that is aligned takes no more than it needs, and can be lost.
 */
static void right(void)
{
    static const struct grid_column three[] = {
        {"NAME", 10, 0, false}, {"ONE", 9, 1, true}, {"TWO", 9, 2, true}};
    static const struct {
        size_t width;
        const char *wanted;
    } widths[] = {
        {14, "NAME  ONE  TWO\na       1   22\n"},
        {13, "NAME  ONE\na       1\n"},
        {8, "NAME\na\n"},
    };

    for (size_t i = 0; i < tap_count(widths); i++) {
        struct buf b = {.mem = &plain};
        struct grid t;

        grid_begin(&t, three, tap_count(three), widths[i].width, &b);
        grid_cell(&t, STR("a"));
        grid_cell(&t, STR("1"));
        grid_cell(&t, STR("22"));
        grid_end(&t);
        tap_is_str(buf_view(&b), widths[i].wanted, "aligned to the right: %zu",
                   widths[i].width);
        buf_free(&b);
    }
}

static void without_memory(void)
{
    struct fault f = {0};
    int64_t bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf b = {.mem = &m};

        put(&b, 0);
        bad += !f.hit && b.failed;
        bad += f.hit && !b.failed;
        buf_free(&b);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "without memory: it says so");
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    setenv("LC_ALL", "C", 1);
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf b = {.mem = &plain};

        put(&b, i);
        tap_is_str(buf_view(&b), rows[i].wanted, "%s", rows[i].why);
        buf_free(&b);
    }
    many();
    right();
    without_memory();
    return tap_done();
}

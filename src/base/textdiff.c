/*
 * textdiff.c - what changes between two texts, line by line.
 *
 * The shortest script of insertions and deletions (Myers, 1986), found from
 * the ends that differ. Its work and its memory grow with the square of the
 * number of changes, so that number has a limit.
 */
#include "base/textdiff.h"

#include <string.h>

enum {
    CHANGES_MAX = 800, /* 5 MB of memory; a person reads no longer diff */
    AROUND = 3,        /* lines around a change */
};

struct lines {
    wend_str *list; /* with their line breaks */
    size_t count;
};

/* What is between the equal beginnings and the equal ends. */
struct diffing {
    struct arena arena;
    struct lines old, new;
    size_t head; /* equal lines at the beginning */
    size_t n, m; /* lines between, old and new */
    bool *gone, *added;
};

static void split(struct arena *a, wend_str text, struct lines *out)
{
    size_t count = str_count(text, '\n') + 1;

    out->list = arena_alloc(a, count * sizeof *out->list);
    while (out->list && text.len) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t len = end ? (size_t)(end - text.ptr) + 1 : text.len;

        out->list[out->count++] = (wend_str){text.ptr, len};
        text = str_skip(text, len);
    }
}

/* ---- The shortest script ------------------------------------------------- */

static bool same(const struct diffing *d, int x, int y)
{
    return str_eq(d->old.list[d->head + (size_t)x],
                  d->new.list[d->head + (size_t)y]);
}

/* Where a path with `changes` changes on diagonal k (x - y) begins its equal
 * lines: below or beside the furthest one with a change less, in `v`. */
static int step_x(const int *v, int k, int changes)
{
    return k == -changes || (k != changes && v[k - 1] < v[k + 1])
               ? v[k + 1]
               : v[k - 1] + 1;
}

/* Marks the lines of the path that ends at (n, m). rows[c]: the furthest x by
 * diagonal, before change c. */
static void mark_path(struct diffing *d, int *const *rows, int changes)
{
    int x = (int)d->n, y = (int)d->m;

    for (int c = changes; c > 0; c--) {
        const int *v = rows[c];
        int k = x - y;
        bool down = k == -c || (k != c && v[k - 1] < v[k + 1]);
        int from = down ? k + 1 : k - 1;

        x = v[from];
        y = x - from;
        if (down)
            d->added[y] = true;
        else
            d->gone[x] = true;
    }
}

/* False: there are more changes than the limit, or no memory. */
static bool find_path(struct diffing *d)
{
    int n = (int)d->n, m = (int)d->m, max = CHANGES_MAX;
    size_t width = 2 * CHANGES_MAX + 3;
    int **rows = arena_alloc(&d->arena, (CHANGES_MAX + 1) * sizeof *rows);
    int *room = arena_alloc(&d->arena, width * sizeof *room), *v;

    if (!rows || !room)
        return false;
    v = room + CHANGES_MAX + 1;
    for (int c = 0; c <= max; c++) {
        size_t kept = 2 * (size_t)c + 3;
        int *row = arena_alloc(&d->arena, kept * sizeof *row);

        if (!row)
            return false;
        memcpy(row, v - c - 1, kept * sizeof *row);
        rows[c] = row + c + 1;
        for (int k = -c; k <= c; k += 2) {
            int x = c ? step_x(v, k, c) : 0;

            while (x < n && x - k < m && x - k >= 0 && same(d, x, x - k))
                x++;
            v[k] = x;
            if (x >= n && x - k >= m) {
                mark_path(d, rows, c);
                return true;
            }
        }
    }
    return false;
}

static void find_changes(struct diffing *d)
{
    size_t tail = 0, most;

    most = d->old.count < d->new.count ? d->old.count : d->new.count;
    while (d->head < most && str_eq(d->old.list[d->head], d->new.list[d->head]))
        d->head++;
    while (tail < most - d->head &&
           str_eq(d->old.list[d->old.count - tail - 1],
                  d->new.list[d->new.count - tail - 1]))
        tail++;
    d->n = d->old.count - d->head - tail;
    d->m = d->new.count - d->head - tail;
    d->gone = arena_alloc(&d->arena, d->n + 1);
    d->added = arena_alloc(&d->arena, d->m + 1);
    if (d->arena.failed || (d->n && d->m && find_path(d)))
        return;
    memset(d->gone, true, d->n);
    memset(d->added, true, d->m);
}

/* ---- Hunks --------------------------------------------------------------- */

static void put_line(struct buf *out, char mark, wend_str line)
{
    buf_char(out, mark);
    buf_str(out, line);
    if (line.ptr[line.len - 1] != '\n')
        buf_cstr(out, "\n\\ No newline at end of file\n");
}

static bool is_gone(const struct diffing *d, size_t x)
{
    return x >= d->head && x < d->head + d->n && d->gone[x - d->head];
}

static bool is_added(const struct diffing *d, size_t y)
{
    return y >= d->head && y < d->head + d->m && d->added[y - d->head];
}

static bool is_changed(const struct diffing *d, size_t x, size_t y)
{
    return is_gone(d, x) || is_added(d, y);
}

/* From (x, y), where something changes, to where enough does not. */
static void hunk_end(const struct diffing *d, size_t *x, size_t *y)
{
    size_t equal = 0;

    while (equal <= 2 * AROUND && (*x < d->old.count || *y < d->new.count)) {
        if (is_gone(d, *x)) {
            ++*x;
            equal = 0;
        } else if (is_added(d, *y)) {
            ++*y;
            equal = 0;
        } else {
            ++*x;
            ++*y;
            equal++;
        }
    }
    equal = equal > AROUND ? equal - AROUND : 0;
    *x -= equal;
    *y -= equal;
}

static void put_range(struct buf *out, char mark, size_t from, size_t to)
{
    buf_fmt(out, " %c%zu", mark, to > from ? from + 1 : from);
    if (to - from != 1)
        buf_fmt(out, ",%zu", to - from);
}

static void put_hunk(struct buf *out, const struct diffing *d, size_t x,
                     size_t y, size_t x_end, size_t y_end)
{
    buf_cstr(out, "@@");
    put_range(out, '-', x, x_end);
    put_range(out, '+', y, y_end);
    buf_cstr(out, " @@\n");
    while (x < x_end || y < y_end)
        if (is_gone(d, x)) {
            put_line(out, '-', d->old.list[x++]);
        } else if (is_added(d, y)) {
            put_line(out, '+', d->new.list[y++]);
        } else {
            put_line(out, ' ', d->old.list[x++]);
            y++;
        }
}

static void put_hunks(struct buf *out, const struct diffing *d)
{
    size_t x = 0, y = 0;

    while (x < d->old.count || y < d->new.count) {
        size_t back, x_end, y_end;

        if (!is_changed(d, x, y)) {
            x++;
            y++;
            continue;
        }
        x_end = x;
        y_end = y;
        hunk_end(d, &x_end, &y_end);
        back = x < y ? x : y;
        back = back < AROUND ? back : AROUND;
        put_hunk(out, d, x - back, y - back, x_end, y_end);
        x = x_end;
        y = y_end;
    }
}

void textdiff_put(struct buf *out, wend_str before, wend_str after)
{
    struct diffing d = {.arena = {.mem = out->mem}};

    split(&d.arena, before, &d.old);
    split(&d.arena, after, &d.new);
    if (!d.arena.failed)
        find_changes(&d);
    if (!d.arena.failed)
        put_hunks(out, &d);
    out->failed |= d.arena.failed;
    arena_free(&d.arena);
}

/*
 * waterfall.c - a plan as it runs, in a terminal: a bar for each action.
 */
#include "cli/waterfall.h"

#include <string.h>

#include "cli/term.h"

enum {
    ROWS_MAX = 20,     /* bars on the screen; those that started last */
    NAME_COLUMNS = 22, /* of an action */
    REST_COLUMNS = 14, /* behind a bar: mark, seconds */
    BAR_MIN = 10,
};

struct bar {
    wend_str id, name;
    int64_t start_us, end_us; /* end 0: it runs */
    wend_outcome outcome;
};

struct waterfall {
    struct mem mem;
    struct arena arena;
    struct bar *bars; /* in the order of their starts */
    size_t count, cap;
    size_t total, done, running;
    int64_t began_us, ended_us, critical_ms;
    size_t drawn; /* lines on the screen that are ours */
};

struct waterfall *waterfall_new(const struct mem *m)
{
    struct waterfall *w = mem_zalloc(m, sizeof *w);

    if (w) {
        w->mem = *m;
        w->arena.mem = &w->mem;
    }
    return w;
}

void waterfall_free(struct waterfall *w)
{
    struct mem m;

    if (!w)
        return;
    m = w->mem;
    mem_free(&m, w->bars);
    arena_free(&w->arena);
    mem_free(&m, w);
}

void waterfall_leave(struct waterfall *w)
{
    w->drawn = 0;
}

bool waterfall_grows(const struct waterfall *w)
{
    return w->running > 0;
}

/* ---- Events -------------------------------------------------------------- */

static struct bar *bar_of(struct waterfall *w, wend_str id)
{
    for (size_t i = w->count; i--;)
        if (str_eq(w->bars[i].id, id))
            return &w->bars[i];
    return NULL;
}

static void add_bar(struct waterfall *w, const wend_event *ev)
{
    size_t cap = w->cap ? w->cap * 2 : 64;
    struct bar *more;

    if (bar_of(w, ev->u.action_start.action))
        return; /* once more, after an interruption */
    if (w->count == w->cap) {
        more = mem_realloc(&w->mem, w->bars, cap * sizeof *more);
        if (!more)
            return;
        w->bars = more;
        w->cap = cap;
    }
    w->bars[w->count++] = (struct bar){
        .id = arena_str(&w->arena, ev->u.action_start.action),
        .name = arena_str(&w->arena, ev->u.action_start.name),
        .start_us = ev->time_us,
    };
    w->running++;
}

static void end_bar(struct waterfall *w, const wend_event *ev)
{
    struct bar *b = bar_of(w, ev->u.action_end.action);

    w->done++;
    if (!b || b->end_us)
        return;
    b->end_us = ev->time_us;
    b->outcome = ev->u.action_end.outcome;
    w->running--;
}

static size_t count_actions(wend_str json)
{
    size_t n = 0;

    for (size_t i = 0; i + 6 < json.len; i++)
        n += !memcmp(json.ptr + i, "{\"id\":", 6);
    return n;
}

void waterfall_event(struct waterfall *w, const wend_event *ev)
{
    if (ev->type == WEND_PLAN_START) {
        w->began_us = ev->time_us;
        w->critical_ms = ev->u.plan_start.critical_path_ms;
        w->total = count_actions(ev->u.plan_start.actions_json);
    } else if (ev->type == WEND_ACTION_START) {
        add_bar(w, ev);
    } else if (ev->type == WEND_ACTION_END) {
        end_bar(w, ev);
    } else if (ev->type == WEND_PLAN_END) {
        w->ended_us = ev->time_us;
    }
}

/* ---- Drawing ------------------------------------------------------------- */

static const char *mark_of(const struct bar *b, bool colour)
{
    if (!b->end_us)
        return "  ";
    if (b->outcome == WEND_OUTCOME_OK)
        return colour ? "\033[32m✓\033[0m " : "✓ ";
    return colour ? "\033[31m✗\033[0m " : "✗ ";
}

static void put_times(struct buf *out, const char *piece, size_t n)
{
    while (n--)
        buf_cstr(out, piece);
}

static void put_bar(struct buf *out, const struct bar *b, int64_t began_us,
                    int64_t now_us, int64_t whole_us, size_t columns,
                    bool colour)
{
    int64_t end_us = b->end_us ? b->end_us : now_us;
    size_t from, to;

    from = (size_t)((b->start_us - began_us) * (int64_t)columns / whole_us);
    to = (size_t)((end_us - began_us) * (int64_t)columns / whole_us);
    if (from >= columns)
        from = columns - 1;
    if (to <= from)
        to = from + 1;
    if (to > columns)
        to = columns;
    term_cell(out, b->name, NAME_COLUMNS);
    buf_char(out, ' ');
    put_times(out, " ", from);
    put_times(out, b->end_us ? "█" : "▒", to - from);
    put_times(out, " ", columns - to);
    buf_char(out, ' ');
    buf_cstr(out, mark_of(b, colour));
    buf_fmt(out, "%7.1f s\033[K\n", (double)(end_us - b->start_us) / 1e6);
}

static void put_sum(struct buf *out, const struct waterfall *w, int64_t now_us)
{
    int64_t gone_ms = (now_us - w->began_us) / 1000;

    buf_fmt(out, "%zu of %zu done, %zu running, %.1f s", w->done, w->total,
            w->running, (double)gone_ms / 1000);
    if (!w->ended_us && w->critical_ms > gone_ms)
        buf_fmt(out, ", about %.1f s left",
                (double)(w->critical_ms - gone_ms) / 1000);
    buf_cstr(out, "\033[K\n");
}

void waterfall_draw(struct waterfall *w, struct buf *out, size_t width,
                    bool colour, int64_t now_us)
{
    size_t rows = w->count < ROWS_MAX ? w->count : ROWS_MAX;
    size_t columns = BAR_MIN;
    int64_t whole_us;

    if (!w->began_us)
        return;
    if (w->ended_us && !w->running)
        now_us = w->ended_us;
    if (now_us < w->began_us)
        now_us = w->began_us;
    whole_us = now_us - w->began_us;
    if (!w->ended_us && whole_us < w->critical_ms * 1000)
        whole_us = w->critical_ms * 1000;
    if (whole_us < 1)
        whole_us = 1;
    if (width > NAME_COLUMNS + REST_COLUMNS + BAR_MIN)
        columns = width - NAME_COLUMNS - REST_COLUMNS;
    if (w->drawn)
        buf_fmt(out, "\033[%zuA\r", w->drawn);
    for (size_t i = w->count - rows; i < w->count; i++)
        put_bar(out, &w->bars[i], w->began_us, now_us, whole_us, columns,
                colour);
    put_sum(out, w, now_us);
    w->drawn = rows + 1;
}

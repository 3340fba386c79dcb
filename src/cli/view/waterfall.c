/*
 * waterfall.c - draws a running plan in a terminal: a bar per action.
 */
#include "cli/view/waterfall.h"

#include <string.h>

#include "base/json.h"
#include "cli/term.h"
#include "cli/view/bar.h"

enum {
    ROWS_MAX = 20,     /* bars on the screen: the newest */
    NAME_COLUMNS = 22, /* of an action */
    REST_COLUMNS = 14, /* behind a bar: mark, seconds */
    BAR_MIN = 10,
};

struct waterfall {
    struct mem mem;
    struct arena arena;
    struct bar *bars; /* in the order they started */
    size_t count, cap;
    size_t total, done, running;
    int64_t began_us, ended_us, critical_ms;
    const struct json *planned;    /* the actions, as plan_start has them */
    int64_t took_us, estimated_ms; /* sums of the ended actions */
    size_t drawn;                  /* lines on the screen */
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

void waterfall_lift(struct waterfall *w, struct buf *out)
{
    if (w->drawn)
        buf_fmt(out, "\033[%zuA\r\033[J", w->drawn);
    w->drawn = 0;
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
    struct bar *bars;

    if (bar_of(w, ev->u.action_start.action))
        return; /* runs again after an interruption */
    bars = mem_more(&w->mem, w->bars, w->count, &w->cap, sizeof *bars);
    if (!bars)
        return;
    w->bars = bars;
    w->bars[w->count++] = (struct bar){
        .id = arena_str(&w->arena, ev->u.action_start.action),
        .name = arena_str(&w->arena, ev->u.action_start.name),
        .began_us = ev->time_us,
    };
    w->running++;
}

/* The estimate of the action in ms; 0: it has none. */
static int64_t estimate_of(const struct waterfall *w, wend_str id)
{
    int64_t ms = 0;

    for (const struct json *a = w->planned; a; a = a->next)
        if (str_eq(json_str(json_get(a, "id")), id)) {
            json_i64(json_get(a, "estimate_ms"), &ms);
            break;
        }
    return ms > 0 ? ms : 0;
}

static void end_bar(struct waterfall *w, const wend_event *ev)
{
    struct bar *b = bar_of(w, ev->u.action_end.action);
    int64_t estimate_ms;

    w->done +=
        w->done < w->total; /* an action of the previous plan may end late */
    if (!b || b->ended_us)
        return;
    b->ended_us = ev->time_us;
    b->outcome = ev->u.action_end.outcome;
    w->running--;
    estimate_ms = estimate_of(w, b->id);
    if (b->outcome == WEND_OUTCOME_OK && !ev->u.action_end.cached &&
        estimate_ms) {
        w->took_us += b->ended_us - b->began_us;
        w->estimated_ms += estimate_ms;
    }
}

/* A run may have several plans in turn; each has its own drawing. */
static void begin(struct waterfall *w, const wend_event *ev)
{
    const wend_ev_plan_start *e = &ev->u.plan_start;
    const struct json *list;

    arena_reset(&w->arena);
    w->count = w->done = w->running = w->drawn = 0;
    w->ended_us = w->took_us = w->estimated_ms = 0;
    list =
        json_parse_own(arena_str(&w->arena, e->actions_json), &w->arena, NULL);
    w->began_us = ev->time_us;
    w->critical_ms = e->critical_path_ms;
    w->total = list ? list->count : 0;
    w->planned = list ? list->first : NULL;
}

void waterfall_event(struct waterfall *w, const wend_event *ev)
{
    if (ev->type == WEND_PLAN_START) {
        begin(w, ev);
    } else if (ev->type == WEND_PLAN_ACTION) {
        w->total++;
    } else if (ev->type == WEND_ACTION_START) {
        add_bar(w, ev);
    } else if (ev->type == WEND_ACTION_END &&
               ev->u.action_end.outcome != WEND_OUTCOME_SUPERSEDED) {
        end_bar(w, ev);
    } else if (ev->type == WEND_PLAN_END) {
        w->ended_us = ev->time_us;
    }
}

/* ---- Drawing ------------------------------------------------------------- */

static const char *mark_of(const struct bar *b, bool colour)
{
    if (!b->ended_us)
        return "  ";
    if (b->outcome == WEND_OUTCOME_OK)
        return colour ? "\033[32m✓\033[0m " : "✓ ";
    return colour ? "\033[31m✗\033[0m " : "✗ ";
}

static void put_bar(struct buf *out, struct bar b, const struct bar_scale *s,
                    int64_t now_us, size_t columns, bool colour)
{
    const char *mark = mark_of(&b, colour), *full = b.ended_us ? "█" : "▒";

    if (!b.ended_us)
        b.ended_us = now_us;
    term_cell(out, b.name, NAME_COLUMNS);
    buf_char(out, ' ');
    bar_put(out, &b, s, columns, full, " ");
    buf_fmt(out, " %s%7.1f s\033[K\n", mark,
            (double)(b.ended_us - b.began_us) / 1e6);
}

/* The expected duration of the plan, at the pace so far. */
static int64_t whole_us(const struct waterfall *w, int64_t gone_us)
{
    double most = (double)w->critical_ms * 1000;

    if (w->estimated_ms)
        most *= (double)w->took_us / ((double)w->estimated_ms * 1000);
    if (w->ended_us || w->done >= w->total || most < (double)gone_us)
        return gone_us;
    return most < 1e15 ? (int64_t)most : INT64_C(1000000000000000);
}

static void put_sum(struct buf *out, const struct waterfall *w, int64_t gone_us,
                    int64_t left_us)
{
    buf_fmt(out, "%zu of %zu done, %zu running, %.1f s", w->done, w->total,
            w->running, (double)gone_us / 1e6);
    if (left_us)
        buf_fmt(out, ", about %.1f s left", (double)left_us / 1e6);
    buf_cstr(out, "\033[K\n");
}

void waterfall_draw(struct waterfall *w, struct buf *out, size_t width,
                    bool colour, int64_t now_us)
{
    size_t rows = w->count < ROWS_MAX ? w->count : ROWS_MAX;
    size_t columns = BAR_MIN;
    struct bar_scale scale;
    int64_t gone_us, most_us;

    if (!w->began_us || !w->total)
        return;
    if (w->ended_us && !w->running)
        now_us = w->ended_us;
    if (now_us < w->began_us)
        now_us = w->began_us;
    gone_us = now_us - w->began_us;
    most_us = whole_us(w, gone_us);
    scale =
        (struct bar_scale){w->began_us, w->began_us + (most_us ? most_us : 1)};
    if (width > NAME_COLUMNS + REST_COLUMNS + BAR_MIN)
        columns = width - NAME_COLUMNS - REST_COLUMNS;
    if (w->drawn)
        buf_fmt(out, "\033[%zuA\r", w->drawn);
    for (size_t i = w->count - rows; i < w->count; i++)
        put_bar(out, w->bars[i], &scale, now_us, columns, colour);
    put_sum(out, w, gone_us, most_us - gone_us);
    w->drawn = rows + 1;
}

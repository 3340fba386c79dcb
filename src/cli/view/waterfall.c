/*
 * waterfall.c - the bars of a plan: one per action, in the order they started.
 */
#include "cli/view/waterfall.h"

#include <string.h>

#include "base/json.h"
#include "cli/term.h"
#include "cli/view/bar.h"

enum {
    NAME_MIN = 8, /* columns of an action's name */
    NAME_MAX = 22,
    REST_COLUMNS = 13, /* beside name and bar: spaces, mark, seconds */
    BAR_MIN = 4,
};

struct waterfall {
    struct mem mem;
    struct arena arena;
    struct bar *bars; /* in the order they started */
    size_t count, cap;
    size_t total, done, running;
    int64_t began_us, ended_us, critical_ms;
    int64_t heard_us;              /* the time of the newest event */
    const struct json *planned;    /* the actions, as plan_start has them */
    int64_t took_us, estimated_ms; /* sums of the ended actions */
    wend_ev_plan_end end;          /* once it has ended */
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

bool waterfall_open(const struct waterfall *w)
{
    return w->total && (!w->ended_us || w->running);
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
    b->given = ev->u.action_end.given;
    if (b->given) /* it ended in the run that was forked */
        b->ended_us = b->began_us + ev->u.action_end.ms * 1000;
    b->outcome = ev->u.action_end.outcome;
    w->running--;
    estimate_ms = estimate_of(w, b->id);
    if (b->outcome == WEND_OUTCOME_OK && !ev->u.action_end.cached &&
        estimate_ms) {
        w->took_us += b->ended_us - b->began_us;
        w->estimated_ms += estimate_ms;
    }
}

/* The critical path of plan_start is the declared one. Once something is
 * learned it says nothing about the time that is left: then the longest action
 * of each wave counts. */
static int64_t critical_ms(struct waterfall *w, const wend_ev_plan_start *e)
{
    int64_t waves = e->waves > 0 && e->waves < (1 << 20) ? e->waves : 0;
    int64_t *most = arena_alloc(&w->arena, ((size_t)waves + 1) * sizeof *most);
    int64_t sum = 0;
    bool learned = false;

    for (const struct json *a = w->planned; a && most; a = a->next) {
        const struct json *mark = json_get(a, "learned");
        int64_t wave = 0, ms = 0;

        learned |= mark && mark->kind == JSON_TRUE;
        json_i64(json_get(a, "wave"), &wave);
        json_i64(json_get(a, "estimate_ms"), &ms);
        if (wave > 0 && wave <= waves && ms > most[wave])
            most[wave] = ms;
    }
    for (int64_t i = 1; learned && i <= waves; i++)
        sum += most[i];
    return learned ? sum : e->critical_path_ms;
}

/* A run may have several plans in turn; each has its own drawing. */
static void begin(struct waterfall *w, const wend_event *ev)
{
    const wend_ev_plan_start *e = &ev->u.plan_start;
    const struct json *list;

    arena_reset(&w->arena);
    w->count = w->done = w->running = 0;
    w->ended_us = w->took_us = w->estimated_ms = 0;
    list =
        json_parse_own(arena_str(&w->arena, e->actions_json), &w->arena, NULL);
    w->began_us = ev->time_us;
    w->total = list ? list->count : 0;
    w->planned = list ? list->first : NULL;
    w->critical_ms = critical_ms(w, e);
}

/* The time in which no process had the run is not shown, nor the time between
 * a run and its fork. */
static void skip_gap(struct waterfall *w, int64_t gap_us)
{
    w->began_us += gap_us;
    for (size_t i = 0; i < w->count; i++) {
        w->bars[i].began_us += gap_us;
        if (w->bars[i].ended_us)
            w->bars[i].ended_us += gap_us;
    }
}

void waterfall_event(struct waterfall *w, const wend_event *ev)
{
    if ((ev->type == WEND_RUN_RESUME || ev->type == WEND_RUN_FORK) &&
        !w->ended_us)
        skip_gap(w, ev->time_us - w->heard_us);
    w->heard_us = ev->time_us;
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
        w->end = ev->u.plan_end;
    }
}

/* ---- Drawing ------------------------------------------------------------- */

static const char *mark_of(const struct bar *b, bool ascii)
{
    if (!b->ended_us)
        return " ";
    if (b->outcome == WEND_OUTCOME_OK)
        return ascii ? "+" : "✓";
    return ascii ? "x" : "✗";
}

static void put_mark(struct buf *out, const struct bar *b, bool colour)
{
    const char *how = b->outcome == WEND_OUTCOME_OK ? "\033[32m" : "\033[31m";

    if (colour && b->ended_us)
        buf_cstr(out, how);
    buf_cstr(out, mark_of(b, term_ascii()));
    if (colour && b->ended_us)
        buf_cstr(out, "\033[0m");
}

static void put_bar(struct buf *out, struct bar b, const struct bar_scale *s,
                    int64_t now_us, size_t width, bool colour)
{
    size_t name = width / 3, columns = BAR_MIN;
    bool ended = b.ended_us;
    const char *full = term_ascii() ? (ended ? "#" : "=") : ended ? "█" : "▒";

    if (name > NAME_MAX)
        name = NAME_MAX;
    if (name < NAME_MIN)
        name = NAME_MIN;
    if (width > name + REST_COLUMNS + 1 + BAR_MIN)
        columns = width - name - REST_COLUMNS - 1;
    term_cell(out, b.name, name);
    buf_char(out, ' ');
    if (!ended)
        b.ended_us = now_us;
    bar_put(out, &b, s, columns, full, " ");
    buf_char(out, ' ');
    if (!ended)
        b.ended_us = 0;
    put_mark(out, &b, colour);
    if (b.given)
        buf_fmt(out, "%10s\n", "given");
    else
        buf_fmt(out, "%8.1f s\n",
                (double)((ended ? b.ended_us : now_us) - b.began_us) / 1e6);
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

static void put_end(struct buf *out, const struct waterfall *w)
{
    const struct {
        int64_t count;
        const char *what;
    } parts[] = {
        {w->end.failed, "failed"},         {w->end.skipped, "skipped"},
        {w->end.canceled, "canceled"},     {w->end.unknown, "unknown"},
        {w->end.running, "still running"},
    };

    buf_fmt(out, "%lld ok", (long long)w->end.ok);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].count)
            buf_fmt(out, ", %lld %s", (long long)parts[i].count, parts[i].what);
}

static void put_sum(struct buf *out, const struct waterfall *w, size_t width,
                    int64_t gone_us, int64_t left_us)
{
    struct buf row = {.mem = out->mem};

    if (w->ended_us)
        put_end(&row, w);
    else
        buf_fmt(&row, "%zu of %zu done, %zu running", w->done, w->total,
                w->running);
    buf_fmt(&row, ", %.1f s", (double)gone_us / 1e6);
    if (left_us)
        buf_fmt(&row, ", about %.1f s left", (double)left_us / 1e6);
    term_line(out, buf_view(&row), width - 1);
    buf_char(out, '\n');
    out->failed |= row.failed;
    buf_free(&row);
}

static size_t active(const struct waterfall *w, size_t from, size_t to)
{
    size_t count = 0;

    for (; from < to; from++)
        count += !w->bars[from].ended_us;
    return count;
}

/* The bars that are drawn: up to the newest active one, or to the last. */
static size_t first_drawn(const struct waterfall *w, size_t rows, size_t *end)
{
    *end = w->count;
    if (w->count <= rows)
        return 0;
    while (*end > rows && active(w, 0, w->count) && w->bars[*end - 1].ended_us)
        --*end;
    return *end - rows;
}

static void put_count(struct buf *out, const char *mark, size_t count,
                      size_t running)
{
    buf_fmt(out, "%s %zu more", mark, count);
    if (running)
        buf_fmt(out, ", %zu running", running);
    buf_char(out, '\n');
}

void waterfall_put(const struct waterfall *w, struct buf *out, size_t width,
                   size_t rows, bool colour, int64_t now_us)
{
    size_t first, end, room = rows > 4 ? rows - 1 : 3;
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
    if (w->count > room)
        room -= 2; /* the counts */
    first = first_drawn(w, room, &end);
    if (first)
        put_count(out, term_ascii() ? "^" : "↑", first, active(w, 0, first));
    for (size_t i = first; i < end; i++)
        put_bar(out, w->bars[i], &scale, now_us, width, colour);
    if (end < w->count)
        put_count(out, term_ascii() ? "v" : "↓", w->count - end, 0);
    put_sum(out, w, width, gone_us, most_us - gone_us);
}

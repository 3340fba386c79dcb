/*
 * plan_draw.c - a plan for people: its numbers, its cost, its graph in lines.
 *
 * Each action is a row, wave by wave. To its left are lanes: a lane starts at
 * an action that others wait for, and ends at the last of them.
 */
#include "cli/view/plan_draw.h"

#include <stdlib.h>

#include "cli/config.h"
#include "cli/term.h"
#include "wire/file/models.h"
#include "wire/plan/plan.h"

enum {
    LANES_MAX = 64,
    LANE_COLUMNS = 2,
    NAME_COLUMNS = 28,
    REST_COLUMNS = 44, /* right of the lanes */
};

struct plan_row {
    const struct json *action;
    wend_str id;
    uint32_t number;            /* from 0, in drawing order */
    uint32_t *deps, deps_count; /* numbers */
    uint32_t last; /* number of the last row that waits for it, or its own */
    uint32_t lane;
};

struct plan_drawing {
    struct arena arena;
    struct plan_row *rows, **by_id;
    uint32_t count;
    const struct plan_row
        *lanes[LANES_MAX]; /* row that owns the lane; NULL: free */
    uint32_t lanes_used;   /* maximum at any time */
    size_t name_columns;
};

/* ---- Reading the description --------------------------------------------- */

static int64_t number(const struct json *j, const char *key)
{
    int64_t n = -1;

    json_i64(json_get(j, key), &n);
    return n;
}

static int by_wave(const void *a, const void *b)
{
    const struct plan_row *x = a, *y = b;
    int64_t d = number(x->action, "wave") - number(y->action, "wave");

    return d ? (d > 0) - (d < 0)
             : (x->number > y->number) - (x->number < y->number);
}

static int by_id(const void *a, const void *b)
{
    return str_order((*(struct plan_row *const *)a)->id,
                     (*(struct plan_row *const *)b)->id);
}

static int find_id(const void *key, const void *item)
{
    return str_order(*(const wend_str *)key,
                     (*(struct plan_row *const *)item)->id);
}

static void read_deps(struct plan_drawing *d, struct plan_row *r)
{
    const struct json *deps = json_get(r->action, "depends_on");

    r->deps = arena_alloc(&d->arena, (deps->count + 1) * sizeof *r->deps);
    for (const struct json *e = deps->first; e; e = e->next) {
        struct plan_row **found = bsearch(&e->text, d->by_id, d->count,
                                          sizeof(struct plan_row *), find_id);

        if (!found)
            continue;
        r->deps[r->deps_count++] = (*found)->number;
        if ((*found)->last < r->number)
            (*found)->last = r->number;
    }
}

static void read_rows(struct plan_drawing *d, const struct json *actions)
{
    uint32_t n = 0;

    d->count = actions->count;
    d->rows = arena_alloc(&d->arena, (d->count + 1) * sizeof *d->rows);
    d->by_id =
        arena_alloc(&d->arena, (d->count + 1) * sizeof(struct plan_row *));
    for (const struct json *e = actions->first; e; e = e->next, n++)
        d->rows[n] =
            (struct plan_row){e, json_str(json_get(e, "id")), n, NULL, 0, 0, 0};
    qsort(d->rows, d->count, sizeof *d->rows, by_wave);
    for (n = 0; n < d->count; n++) {
        wend_str name = json_str(json_get(d->rows[n].action, "name"));

        d->rows[n].number = d->rows[n].last = n;
        d->by_id[n] = &d->rows[n];
        if (name.len > d->name_columns)
            d->name_columns = name.len < NAME_COLUMNS ? name.len : NAME_COLUMNS;
    }
    qsort(d->by_id, d->count, sizeof(struct plan_row *), by_id);
    for (n = 0; n < d->count; n++)
        read_deps(d, &d->rows[n]);
}

/* ---- Lanes --------------------------------------------------------------- */

/* The lane of the row: one that ends here, or a free one. */
static uint32_t choose_lane(const struct plan_drawing *d, uint32_t n)
{
    for (uint32_t i = 0; i < LANES_MAX; i++)
        if (d->lanes[i] && d->lanes[i]->last == n)
            return i;
    for (uint32_t i = 0; i < LANES_MAX; i++)
        if (!d->lanes[i])
            return i;
    return LANES_MAX;
}

/* Updates the open lanes for the rows below. */
static void move_on(struct plan_drawing *d, struct plan_row *r)
{
    for (uint32_t i = 0; i < LANES_MAX; i++)
        if (d->lanes[i] && d->lanes[i]->last == r->number)
            d->lanes[i] = NULL;
    if (r->last > r->number)
        d->lanes[r->lane] = r;
}

/* False if there are too many lanes for the width. */
static bool lay_out(struct plan_drawing *d, size_t lanes_max)
{
    for (uint32_t n = 0; n < d->count; n++) {
        struct plan_row *r = &d->rows[n];

        r->lane = choose_lane(d, n);
        if (r->lane >= lanes_max)
            return false;
        if (r->lane >= d->lanes_used)
            d->lanes_used = r->lane + 1;
        move_on(d, r);
    }
    return true;
}

static bool waits_for(const struct plan_row *r, const struct plan_row *lane)
{
    for (uint32_t i = 0; lane && i < r->deps_count; i++)
        if (r->deps[i] == lane->number)
            return true;
    return false;
}

enum sign {
    SIGN_NONE,
    SIGN_CRITICAL,
    SIGN_ACTION,
    SIGN_DOWN,
    SIGN_ACROSS,
    SIGN_LEFT,      /* a line that branches at the left end */
    SIGN_LEFT_LAST, /* ... and ends there */
    SIGN_RIGHT,     /* the same at the right end */
    SIGN_RIGHT_LAST,
    SIGN_MIDDLE,
    SIGN_MIDDLE_LAST, /* the same between them */
};

static const char *sign(enum sign s)
{
    static const char *const signs[][2] = {
        [SIGN_NONE] = {" ", " "},
        [SIGN_CRITICAL] = {"\u25c6", "*"},
        [SIGN_ACTION] = {"\u25cf", "o"},
        [SIGN_DOWN] = {"\u2502", "|"},
        [SIGN_ACROSS] = {"\u2500", "-"},
        [SIGN_LEFT] = {"\u251c", "+"},
        [SIGN_LEFT_LAST] = {"\u2570", "`"},
        [SIGN_RIGHT] = {"\u2524", "+"},
        [SIGN_RIGHT_LAST] = {"\u256f", "'"},
        [SIGN_MIDDLE] = {"\u253c", "+"},
        [SIGN_MIDDLE_LAST] = {"\u2534", "'"},
    };

    return signs[s][term_ascii()];
}

/* The character in lane i of the row, whose line spans `from` to `to`. */
static enum sign sign_at(const struct plan_drawing *d, const struct plan_row *r,
                         uint32_t i, uint32_t from, uint32_t to)
{
    const struct plan_row *lane = d->lanes[i];
    bool critical = json_get(r->action, "critical")->kind == JSON_TRUE;
    bool ends = lane && lane->last == r->number;

    if (i == r->lane)
        return critical ? SIGN_CRITICAL : SIGN_ACTION;
    if (!waits_for(r, lane))
        return lane ? SIGN_DOWN : i > from && i < to ? SIGN_ACROSS : SIGN_NONE;
    if (i == from)
        return ends ? SIGN_LEFT_LAST : SIGN_LEFT;
    if (i == to)
        return ends ? SIGN_RIGHT_LAST : SIGN_RIGHT;
    return ends ? SIGN_MIDDLE_LAST : SIGN_MIDDLE;
}

static void put_lanes(struct buf *out, struct plan_drawing *d,
                      struct plan_row *r)
{
    uint32_t from = r->lane, to = r->lane;

    for (uint32_t i = 0; i < d->lanes_used; i++)
        if (waits_for(r, d->lanes[i])) {
            from = i < from ? i : from;
            to = i > to ? i : to;
        }
    for (uint32_t i = 0; i < d->lanes_used; i++) {
        buf_cstr(out, sign(sign_at(d, r, i, from, to)));
        buf_cstr(out, sign(i >= from && i < to ? SIGN_ACROSS : SIGN_NONE));
    }
    move_on(d, r);
}

/* ---- Rows ---------------------------------------------------------------- */

/* Types or modes with their counts, the most frequent first. */
static void put_counts(struct buf *out, const struct json *counts)
{
    int64_t below = INT64_MAX, next, n;
    bool any = false;

    for (;; below = next) {
        next = 0;
        for (const struct json *e = counts->first; e; e = e->next)
            if (json_i64(e, &n) && n < below && n > next)
                next = n;
        if (!next)
            return;
        for (const struct json *e = counts->first; e; e = e->next)
            if (json_i64(e, &n) && n == next) {
                buf_fmt(out, "%s%lld %.*s", any ? ", " : "", (long long)n,
                        (int)e->key.len, e->key.ptr);
                any = true;
            }
    }
}

static void put_cost(struct buf *out, const struct plan_cost *cost)
{
    if (!cost->priced)
        return;
    buf_cstr(out, ", cost at most ");
    json_put_nano(out, cost->most_nano);
    buf_cstr(out, " USD");
    if (cost->priced < cost->asked)
        buf_fmt(out, " for %u of %u actions that ask models", cost->priced,
                cost->asked);
}

static void put_head(struct buf *out, const struct json *plan,
                     const struct plan_look *look)
{
    int64_t count = number(plan, "count"), waves = number(plan, "waves");
    const struct json *learned = json_get(plan, "learned");
    double speedup = 1;

    term_line(out, json_str(json_get(plan, "name")), look->columns);
    buf_fmt(out, "\n%lld action%s (", (long long)count, count == 1 ? "" : "s");
    put_counts(out, json_get(plan, "types"));
    buf_cstr(out, "; ");
    put_counts(out, json_get(plan, "modes"));
    buf_fmt(out, ")\n%lld wave%s, sequential ", (long long)waves,
            waves == 1 ? "" : "s");
    plan_put_time(out, number(plan, "sequential_ms"));
    buf_cstr(out, ", critical path ");
    plan_put_time(out, number(plan, "critical_path_ms"));
    json_f64(json_get(plan, "speedup"), &speedup);
    buf_fmt(out, ", %.1fx", speedup);
    put_cost(out, &look->cost);
    if (learned) {
        buf_cstr(out, "\nlearned: sequential ");
        plan_put_time(out, number(learned, "sequential_ms"));
        buf_cstr(out, ", critical path ");
        plan_put_time(out, number(learned, "critical_path_ms"));
    }
    buf_cstr(out, "\n\n");
}

/* Duration and failures of past runs. */
static void put_learned(struct buf *out, const struct json *learned)
{
    if (!learned)
        return;
    buf_cstr(out, ", learned");
    if (number(learned, "ms") >= 0) {
        buf_char(out, ' ');
        plan_put_time(out, number(learned, "ms"));
    }
    buf_fmt(out, " (%lld of %lld failed)",
            (long long)number(learned, "failures"),
            (long long)number(learned, "runs"));
}

static void put_facts(struct buf *out, const struct plan_drawing *d,
                      const struct plan_row *r, size_t columns)
{
    const struct json *values = json_get(r->action, "values_from");
    wend_str target = json_str(json_get(r->action, "target"));
    struct buf facts = {.mem = out->mem};

    term_cell(out, json_str(json_get(r->action, "name")), d->name_columns);
    buf_str(&facts, json_str(json_get(r->action, "type")));
    if (target.ptr) {
        buf_char(&facts, ' ');
        buf_str(&facts, target);
    }
    buf_fmt(&facts, ", %.*s", (int)json_str(json_get(r->action, "mode")).len,
            json_str(json_get(r->action, "mode")).ptr);
    if (number(r->action, "estimate_ms") >= 0) {
        buf_cstr(&facts, ", ");
        plan_put_time(&facts, number(r->action, "estimate_ms"));
    }
    put_learned(&facts, json_get(r->action, "learned"));
    if (json_get(r->action, "conditional"))
        buf_cstr(&facts, ", on condition");
    if (json_get(r->action, "fallback_of")) {
        buf_cstr(&facts, ", if it fails: ");
        buf_str(&facts, json_str(json_get(r->action, "fallback_of")));
    }
    if (values)
        buf_cstr(&facts, ", waits for the value of ");
    for (const struct json *e = values ? values->first : NULL; e; e = e->next) {
        buf_str(&facts, e->text);
        buf_cstr(&facts, e->next ? ", " : "");
    }
    buf_cstr(out, "  ");
    term_line(out, buf_view(&facts), columns);
    buf_free(&facts);
}

static void put_after(struct buf *out, const struct plan_drawing *d,
                      const struct plan_row *r)
{
    for (uint32_t i = 0; i < r->deps_count; i++) {
        buf_cstr(out, i ? ", " : "; after ");
        term_name(out, d->rows[r->deps[i]].id, NAME_COLUMNS);
    }
}

static void put_row(struct buf *out, struct plan_drawing *d, struct plan_row *r,
                    const struct plan_look *look, bool lines)
{
    bool critical = json_get(r->action, "critical")->kind == JSON_TRUE;
    size_t used = 5 + d->lanes_used * LANE_COLUMNS + d->name_columns + 2;

    buf_fmt(out, "%3lld  ", (long long)number(r->action, "wave"));
    if (look->colour && critical)
        buf_cstr(out, "\x1b[1m");
    if (lines) {
        put_lanes(out, d, r);
        put_facts(out, d, r, look->columns > used ? look->columns - used : 1);
    } else {
        buf_cstr(out, critical ? "* " : "  ");
        put_facts(out, d, r, 300);
        put_after(out, d, r);
    }
    if (look->colour && critical)
        buf_cstr(out, "\x1b[0m");
    buf_char(out, '\n');
}

void plan_draw(struct buf *out, const struct json *plan,
               const struct plan_look *look)
{
    struct plan_drawing d = {.arena = {.mem = out->mem}};
    bool lines = look->lines && look->columns > REST_COLUMNS;
    size_t lanes_max =
        lines ? (look->columns - REST_COLUMNS) / LANE_COLUMNS : 0;

    put_head(out, plan, look);
    read_rows(&d, json_get(plan, "actions"));
    if (lanes_max > LANES_MAX)
        lanes_max = LANES_MAX;
    lines = lines && lay_out(&d, lanes_max);
    memset(d.lanes, 0, sizeof d.lanes);
    d.lanes_used = lines ? d.lanes_used : 0;
    for (uint32_t n = 0; n < d.count; n++)
        put_row(out, &d, &d.rows[n], look, lines);
    if (json_get(plan, "critical_path")->count) /* none: no estimates */
        buf_fmt(out, "\n%s is on the critical path\n",
                lines ? sign(SIGN_CRITICAL) : "*");
    arena_free(&d.arena);
}

/* ---- The cost ------------------------------------------------------------ */

/* -1 if the price, the window or the longest answer is unknown. */
static int64_t most_of(const struct models *all, wend_str name)
{
    const struct model *m = name.ptr ? models_look_up(all, name) : NULL;

    if (!m || !m->price.known || !m->window || !m->output ||
        m->output > m->window)
        return -1;
    return price_most(&m->price, m->window - m->output, m->output);
}

static void add(struct plan_cost *out, int64_t nano, int64_t times)
{
    int64_t sum;

    out->asked++;
    if (nano < 0 || __builtin_mul_overflow(nano, times, &sum) ||
        __builtin_add_overflow(sum, out->most_nano, &sum))
        return;
    out->most_nano = sum;
    out->priced++;
}

int plan_cost(struct cli *cli, const struct json *plan, struct plan_cost *out)
{
    struct buf path = {.mem = &cli_mem};
    struct models *all = NULL;
    int code = models_load(cli, &path, &all);

    if (code)
        return code;
    for (const struct json *a = json_get(plan, "actions")->first; a;
         a = a->next) {
        wend_str type = json_str(json_get(a, "type"));
        wend_str target = json_str(json_get(a, "target"));
        int64_t retries = 0;

        json_i64(json_get(a, "retries"), &retries);
        if (str_is(type, "agent"))
            add(out, -1, 1);
        else if (str_is(type, "llm"))
            add(out,
                most_of(all, str_is(target, "default") ? str_of(cli->set.model)
                                                       : target),
                1 + retries);
    }
    return EXIT_DONE;
}

/*
 * timeline_svg.c - a timeline as a picture.
 *
 * Everything from a run is escaped.
 */
#include <limits.h>

#include "base/svg.h"
#include "cli/page/page.h"

enum {
    WIDTH = 960,
    NAMES = 190, /* pixels for names on the left */
    TIMES = 80,  /* and for durations on the right */
    ROW = 24,
    BAR = 14,
    TURN_BAR = 6,
    NAME_CHARS = 24,
    ID_CHARS = 60,
    GAPS_MAX = 500,
};

static void put_short(struct buf *b, wend_str s)
{
    xml_put_cut(b, s, NAME_CHARS);
}

/* At least 2 pixels wide. */
static struct svg_box box_of(const struct axis *x, const struct bar *bar, int y,
                             int height)
{
    double room = WIDTH - NAMES - TIMES;
    double from = NAMES + axis_begin(x, bar->began_us) * room / 100;
    double to = NAMES + axis_end(x, bar->ended_us) * room / 100;

    return (struct svg_box){from, y, to - from < 2 ? 2 : to - from, height, 3};
}

static const char *class_of(const struct span *s)
{
    static const char *const kinds[] = {[SPAN_MODEL] = "km",
                                        [SPAN_CALL] = "kc",
                                        [SPAN_ACTION] = "ka",
                                        [SPAN_CHILD] = "ka"};

    return s->bar.outcome == WEND_OUTCOME_OK        ? kinds[s->kind]
           : s->bar.outcome == WEND_OUTCOME_SKIPPED ? "ks"
                                                    : "kf";
}

static void put_span(struct buf *b, const struct axis *x, const struct span *s,
                     int y)
{
    const struct bar *bar = &s->bar;

    svg_text(b, "n", 12, y + BAR - 3);
    put_short(b, bar->name);
    buf_cstr(b, "</text>");
    svg_rect(b, class_of(s), NULL, box_of(x, bar, y, BAR));
    buf_cstr(b, "<title>");
    put_short(b, bar->name);
    buf_fmt(b, ": %s</title></rect>", bar_outcome(bar->outcome));
    svg_text(b, bar->outcome == WEND_OUTCOME_OK ? "t" : "t f", WIDTH - 8,
             y + BAR - 3);
    if (bar->outcome == WEND_OUTCOME_OK)
        page_put_time(b, bar->ended_us - bar->began_us);
    else
        buf_cstr(b, bar_outcome(bar->outcome));
    buf_cstr(b, "</text>\n");
}

static void put_turn(struct buf *b, const struct axis *x,
                     const struct turn_line *line, int y)
{
    svg_rect(b, "b", NULL, box_of(x, &line->bar, y + 4, TURN_BAR));
    buf_cstr(b, "</rect>");
    svg_text(b, "h", 4, y + BAR);
    if (line->counter < 0)
        buf_cstr(b, "plan</text>");
    else
        buf_fmt(b, "turn %lld</text>", (long long)line->counter);
    svg_text(b, "t", NAMES - 8, y + BAR);
    buf_fmt(b, "%lld + %lld</text>\n", (long long)line->tokens_in,
            (long long)line->tokens_out);
}

static int rows_of(const struct timeline *t)
{
    int rows = 1;

    for (const struct turn_line *line = t->turns; line; line = line->next) {
        rows++;
        for (const struct span *s = line->spans; s; s = s->next)
            rows++;
    }
    return rows < INT_MAX / (2 * ROW) ? rows : INT_MAX / (2 * ROW);
}

/* Lines at quarters of the width. */
static void put_grid(struct buf *b, const struct axis *x, int height)
{
    for (int i = 0; i <= 4; i++) {
        int64_t us = axis_time(x, 25.0 * i);
        double at = NAMES + (WIDTH - NAMES - TIMES) * i / 4.0;

        svg_upright(b, "g", at, ROW, height);
        buf_cstr(b, "</line>");
        if (us < 0)
            continue;
        svg_text(b, "a", at, 14);
        page_put_time(b, us);
        buf_cstr(b, "</text>\n");
    }
}

/* Time that the axis leaves out. */
static void put_cuts(struct buf *b, const struct axis *x, int height)
{
    double room = WIDTH - NAMES - TIMES;

    for (size_t i = 0; i < x->count && i < GAPS_MAX; i++) {
        const struct axis_cut *c = &x->cuts[i];

        svg_rect(b, "i", NULL,
                 (struct svg_box){NAMES + axis_cut_at(x, i) * room / 100, ROW,
                                  x->cut_width * room / 100, height - ROW, 0});
        buf_fmt(b, "<title>%s ",
                c->forked  ? "continued by a fork"
                : c->epoch ? "interrupted, resumed"
                           : "idle for");
        page_put_time(b, c->us);
        buf_fmt(b, "%s</title></rect>\n",
                c->forked || c->epoch ? " later" : "");
    }
}

static void put_lineage(struct buf *b, const struct timeline *t)
{
    int left = GAPS_MAX;

    for (const struct ancestor *a = t->forks; a && left--; a = a->next) {
        buf_cstr(b, " \u00b7 fork of ");
        xml_put_cut(b, a->run, ID_CHARS);
        buf_fmt(b, " at event %lld", (long long)a->at);
    }
    if (t->parent.ptr) {
        buf_cstr(b, " \u00b7 child of ");
        xml_put_cut(b, t->parent, ID_CHARS);
    }
    if (t->follows.ptr) {
        buf_cstr(b, " \u00b7 follows ");
        xml_put_cut(b, t->follows, ID_CHARS);
    }
}

static const char style[] =
    "text{font:12px system-ui,sans-serif;fill:#1d1f21}.h{font-weight:600}"
    ".t{text-anchor:end;fill:#4a4e55;font-variant-numeric:tabular-nums}"
    ".t.f{fill:#8f1d08}.a{text-anchor:middle;fill:#4a4e55;font-size:11px}"
    ".g{stroke:#85837c;stroke-opacity:.3}.b{fill:#85837c;fill-opacity:.35}"
    ".i{fill:#85837c;fill-opacity:.25;stroke:#85837c;stroke-dasharray:4 3}"
    ".km{fill:#3b66b5}.kc{fill:#3f9786}.ka{fill:#553a80}.kf{fill:#8f1d08}"
    ".ks{fill:none;stroke:#85837c;stroke-dasharray:3 2}"
    "@media (prefers-color-scheme:dark){text{fill:#e7e6e2}.t,.a{fill:#b2bac6}"
    ".t.f{fill:#f2705c}.km{fill:#74a3f0}.kc{fill:#8fd9c8}.ka{fill:#8f74c6}"
    ".kf{fill:#f2705c}}";

void timeline_put_svg(struct buf *b, const struct timeline *t)
{
    struct arena scratch = {.mem = b->mem};
    int height = rows_of(t) * ROW + 8, y = ROW + 4;
    struct axis x;

    axis_init(&x, t, &scratch);
    svg_open(b, NULL, WIDTH, height);
    xml_put(b, t->run);
    put_lineage(b, t);
    svg_style(b, style);
    put_grid(b, &x, height);
    for (const struct turn_line *line = t->turns; line; line = line->next) {
        put_turn(b, &x, line, y);
        y += ROW;
        for (const struct span *s = line->spans; s; s = s->next, y += ROW)
            put_span(b, &x, s, y);
    }
    put_cuts(b, &x, height);
    buf_cstr(b, "</svg>\n");
    arena_free(&scratch);
}

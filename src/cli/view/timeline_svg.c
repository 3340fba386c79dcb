/*
 * timeline_svg.c - a timeline as a picture, and as a self-contained page.
 *
 * Everything from a run is escaped; the page has no script.
 */
#include <limits.h>

#include "base/json.h"
#include "base/svg.h"
#include "base/utf8.h"
#include "cli/term.h"
#include "cli/view/timeline.h"

enum {
    WIDTH = 960,
    NAMES = 190, /* pixels for names on the left */
    TIMES = 80,  /* and for durations on the right */
    ROW = 24,
    BAR = 14,
    TURN_BAR = 6,
    NAME_CHARS = 24,
    ID_CHARS = 60,
    ROWS_MAX = 1500, /* in a page: 700 bytes each, and twice that of text */
    GAPS_MAX = 500,
};

static void put_short(struct buf *b, wend_str s)
{
    xml_put_cut(b, s, NAME_CHARS);
}

static void put_time(struct buf *b, int64_t us)
{
    if (us < 1000000)
        buf_fmt(b, "%lld ms", (long long)(us / 1000));
    else
        buf_fmt(b, "%.2f s", (double)us / 1e6);
}

static double place(const struct timeline *t, int64_t time_us)
{
    return NAMES + bar_place(&t->scale, time_us, WIDTH - NAMES - TIMES);
}

/* At least 2 pixels wide. */
static struct svg_box box_of(const struct timeline *t, const struct bar *bar,
                             int y, int height)
{
    double from = place(t, bar->began_us), to = place(t, bar->ended_us);

    return (struct svg_box){from, y, to - from < 2 ? 2 : to - from, height, 3};
}

static const char *colour(const struct span *s)
{
    if (s->bar.outcome != WEND_OUTCOME_OK)
        return "#d6455d";
    return s->kind == SPAN_MODEL  ? "#5b7fd6"
           : s->kind == SPAN_CALL ? "#3aa76d"
                                  : "#b98a2f";
}

static void put_span(struct buf *b, const struct timeline *t,
                     const struct span *s, int y)
{
    const struct bar *bar = &s->bar;

    svg_text(b, "n", 12, y + BAR - 3);
    put_short(b, bar->name);
    buf_cstr(b, "</text>");
    svg_rect(b, NULL, colour(s), box_of(t, bar, y, BAR));
    buf_cstr(b, "<title>");
    put_short(b, bar->name);
    buf_fmt(b, ": %s</title></rect>", bar_outcome(bar->outcome));
    svg_text(b, "t", WIDTH - 8, y + BAR - 3);
    put_time(b, bar->ended_us - bar->began_us);
    buf_cstr(b, "</text>\n");
}

static void put_turn(struct buf *b, const struct timeline *t,
                     const struct turn_line *line, int y)
{
    svg_rect(b, "b", NULL, box_of(t, &line->bar, y + 4, TURN_BAR));
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
    return rows;
}

/* Lines at quarters of the time. */
static void put_grid(struct buf *b, const struct timeline *t, int height)
{
    for (int i = 0; i <= 4; i++) {
        int64_t us = (t->scale.ended_us - t->scale.began_us) * i / 4;
        double x = place(t, t->scale.began_us + us);

        svg_upright(b, "g", x, ROW, height);
        buf_cstr(b, "</line>");
        svg_text(b, "a", x, 14);
        put_time(b, us);
        buf_cstr(b, "</text>\n");
    }
}

/* No process owned the run. */
static void put_gaps(struct buf *b, const struct timeline *t, int height)
{
    int left = GAPS_MAX;

    for (const struct gap *g = t->gaps; g && left--; g = g->next) {
        svg_upright(b, "i", place(t, g->at_us), ROW, height);
        buf_cstr(b, "<title>interrupted, resumed ");
        put_time(b, g->us);
        buf_cstr(b, " later</title></line>\n");
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
}

static const char style[] =
    "text{font:12px system-ui,sans-serif;fill:#3a4252}"
    ".n{fill:#3a4252}.h{font-weight:600}"
    ".t{text-anchor:end;fill:#6b7385;font-variant-numeric:tabular-nums}"
    ".a{text-anchor:middle;fill:#8a92a3;font-size:11px}"
    ".g{stroke:#8a92a3;stroke-opacity:.25}"
    ".b{fill:#8a92a3;fill-opacity:.35}"
    ".i{stroke:#d6455d;stroke-width:2;stroke-dasharray:4 3}"
    "@media (prefers-color-scheme:dark){text,.n{fill:#d5dae6}"
    ".t,.a{fill:#98a1b5}}";

static void put_picture(struct buf *b, const struct timeline *t, int rows_max)
{
    int rows = rows_of(t) < rows_max ? rows_of(t) : rows_max;
    int height = rows * ROW + 8, y = ROW + 4;

    svg_open(b, WIDTH, height);
    xml_put(b, t->run);
    put_lineage(b, t);
    svg_style(b, style);
    put_grid(b, t, height);
    for (const struct turn_line *line = t->turns; line && y < height;
         line = line->next) {
        put_turn(b, t, line, y);
        y += ROW;
        for (const struct span *s = line->spans; s && y < height;
             s = s->next, y += ROW)
            put_span(b, t, s, y);
    }
    put_gaps(b, t, height);
    buf_cstr(b, "</svg>\n");
}

void timeline_put_svg(struct buf *b, const struct timeline *t)
{
    put_picture(b, t, INT_MAX / (2 * ROW));
}

/* ---- The page ------------------------------------------------------------ */

static const char style_of_page[] =
    "body{margin:0;background:#f6f7fa;color:#262c38;"
    "font:15px/1.5 system-ui,sans-serif}"
    "main{max-width:1000px;margin:0 auto;padding:2rem 1.2rem}"
    "h1{font-size:1.25rem;margin:0 0 .2rem}h2{font-size:1rem;margin:2rem 0 "
    ".6rem}"
    ".id{color:#6b7385;font-size:.85rem;font-family:ui-monospace,monospace}"
    ".facts{display:flex;flex-wrap:wrap;gap:.6rem;margin:1.2rem 0}"
    ".facts div{background:#fff;border:1px solid #e2e5ec;border-radius:8px;"
    "padding:.5rem .9rem}.facts b{display:block;font-size:1.05rem;"
    "font-variant-numeric:tabular-nums}.facts span{color:#6b7385;"
    "font-size:.8rem}"
    ".card{background:#fff;border:1px solid #e2e5ec;border-radius:8px;"
    "padding:.8rem;overflow-x:auto}"
    "details{background:#fff;border:1px solid #e2e5ec;border-radius:8px;"
    "margin:.4rem 0;padding:.4rem .9rem}summary{cursor:pointer}"
    "summary em{color:#6b7385;font-style:normal;font-size:.85rem}"
    ".bad{color:#d6455d}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f1f3f7;"
    "border-radius:6px;padding:.6rem;font-size:.82rem;margin:.4rem 0}"
    "svg{max-width:100%;height:auto;min-width:640px}"
    "@media (prefers-color-scheme:dark){body{background:#171a21;color:#e3e7f0}"
    ".facts div,.card,details{background:#20242d;border-color:#303644}"
    "pre{background:#171a21}.id,.facts span,summary em{color:#98a1b5}}";

static void put_fact(struct buf *b, const char *name)
{
    buf_fmt(b, "</b><span>%s</span></div>", name);
}

static void put_facts(struct buf *b, const struct timeline *t)
{
    int64_t turns = 0;

    for (const struct turn_line *line = t->turns; line; line = line->next)
        turns += line->counter >= 0;
    buf_fmt(b, "<div class=\"facts\"><div><b%s>%s",
            t->outcome == WEND_OUTCOME_OK ? "" : " class=\"bad\"",
            bar_outcome(t->outcome));
    put_fact(b, "outcome");
    buf_cstr(b, "<div><b>");
    put_time(b, t->scale.ended_us - t->scale.began_us);
    put_fact(b, "time");
    buf_fmt(b, "<div><b>%lld", (long long)turns);
    put_fact(b, "turns");
    buf_fmt(b, "<div><b>%lld + %lld", (long long)t->tokens_in,
            (long long)t->tokens_out);
    put_fact(b, "tokens in + out");
    buf_cstr(b, "<div><b>");
    term_usd(b, t->cost_nano);
    put_fact(b, "USD");
    buf_cstr(b, "<div><b>");
    put_short(b, t->model);
    put_fact(b, "model");
    buf_cstr(b, "</div>\n");
}

static void put_remarks(struct buf *b, const struct timeline *t)
{
    for (const struct remark *r = t->remarks; r; r = r->next) {
        buf_fmt(b, "<pre%s>%s at ", r->error ? " class=\"bad\"" : "",
                r->error ? "error" : "warning");
        put_time(b, r->at_us - t->scale.began_us);
        buf_cstr(b, ": ");
        xml_put(b, r->message);
        buf_cstr(b, "</pre>\n");
    }
}

/* A text, or its beginning and the command that prints it in full. */
static void put_text(struct buf *b, const struct timeline *t,
                     const struct detail *d)
{
    if (!d->bytes)
        return;
    if (d->text.len) {
        buf_cstr(b, "<pre>");
        xml_put(b, d->text);
        buf_cstr(b, "</pre>");
    }
    if (d->text.len == d->bytes)
        return;
    buf_fmt(b, "<div class=\"id\">%zu of %zu bytes are shown; all: wend ",
            d->text.len, d->bytes);
    buf_cstr(b, d->hash[0] ? "blob " : "log ");
    xml_put_cut(b, t->run, ID_CHARS);
    if (d->hash[0])
        buf_fmt(b, " %s</div>", d->hash);
    else
        buf_fmt(b, " --seq %lld --json</div>", (long long)d->seq);
}

static void put_detail(struct buf *b, const struct timeline *t,
                       const struct span *s)
{
    bool ok = s->bar.outcome == WEND_OUTCOME_OK;

    buf_cstr(b, "<details><summary>");
    put_short(b, s->bar.name);
    buf_fmt(b, " <em%s>%s, %s, ", ok ? "" : " class=\"bad\"",
            span_kinds[s->kind], bar_outcome(s->bar.outcome));
    put_time(b, s->bar.ended_us - s->bar.began_us);
    buf_cstr(b, "</em></summary>");
    put_text(b, t, &s->in);
    put_text(b, t, &s->out);
    buf_cstr(b, "</details>\n");
}

static void put_heading(struct buf *b, const struct turn_line *line)
{
    if (line->counter < 0)
        buf_cstr(b, "<h2>Plan</h2>\n");
    else
        buf_fmt(b, "<h2>Turn %lld</h2>\n", (long long)line->counter);
    if (!line->bar.id.ptr)
        return;
    buf_cstr(b, "<div class=\"id\">");
    xml_put_cut(b, line->bar.id, ID_CHARS);
    if (line->parent_id.ptr) {
        buf_cstr(b, " after ");
        xml_put_cut(b, line->parent_id, ID_CHARS);
    }
    buf_fmt(b, " \u00b7 %lld + %lld tokens \u00b7 ", (long long)line->tokens_in,
            (long long)line->tokens_out);
    term_usd(b, line->cost_nano);
    buf_cstr(b, " USD</div>\n");
}

static void put_details(struct buf *b, const struct timeline *t)
{
    int left = ROWS_MAX, more = rows_of(t) - ROWS_MAX;

    for (const struct turn_line *line = t->turns; line && left > 0;
         line = line->next) {
        put_heading(b, line);
        left--;
        for (const struct span *s = line->spans; s && left-- > 0; s = s->next)
            put_detail(b, t, s);
    }
    if (more <= 0)
        return;
    buf_fmt(b,
            "<p>%d more turns and calls are not on this page: wend view "
            "--format svg ",
            more);
    xml_put_cut(b, t->run, ID_CHARS);
    buf_cstr(b, ", or wend log ");
    xml_put_cut(b, t->run, ID_CHARS);
    buf_cstr(b, "</p>\n");
}

void timeline_put_html(struct buf *b, const struct timeline *t)
{
    page_open(b);
    buf_cstr(b, "wend ");
    xml_put(b, t->run);
    page_style(b, style_of_page);
    buf_cstr(b, "<main><h1>");
    xml_put(b, (wend_str){t->prompt.ptr, utf8_cut(t->prompt, 200)});
    buf_cstr(b, "</h1><div class=\"id\">");
    xml_put_cut(b, t->run, ID_CHARS);
    put_lineage(b, t);
    buf_cstr(b, "</div>\n");
    put_facts(b, t);
    buf_cstr(b, "<div class=\"card\">");
    put_picture(b, t, ROWS_MAX);
    buf_cstr(b, "</div>\n");
    put_remarks(b, t);
    put_details(b, t);
    buf_cstr(b, "</main></body></html>\n");
}

/*
 * plan_svg.c - a plan as a picture: a column per wave, a box per action.
 */
#include <assert.h>
#include <string.h>

#include "base/svg.h"
#include "base/utf8.h"
#include "wire/plan/plan.h"

enum {
    BOX_WIDTH_MIN = 104, /* of a wave: as wide as its longest text needs */
    BOX_WIDTH_MAX = 220,
    BOX_HEIGHT = 48,
    GAP = 56, /* from one wave to the next */
    ROW = 72,
    EDGE = 20,        /* around all of it */
    HEAD = 18,        /* above: the numbers of the waves */
    ARROW = 7,        /* length of its head */
    INDENT = 19,      /* of the texts in a box */
    LABEL_CHARS = 22, /* that fit into the widest box, bold */
    DETAIL_CHARS = 28,
    FIT_WIDTH = 1440, /* what a page may scale down: it can still be read */
};

/* Light, and dark where the reader wants it so. The critical path is bold; red
 * would look like a failure. */
static const char style[] =
    "svg{--ink:#1d1f21;--mute:#4a4e55;--panel:#fff;--wire:#85837c;"
    "--tool:#3f9786;--agent:#1d54ad;--llm:#3b66b5;--relic:#965a00;"
    "--workflow:#553a80;--decision:#5f1263}"
    "@media(prefers-color-scheme:dark){svg{--ink:#e7e6e2;--mute:#b2bac6;"
    "--panel:#1b1e23;--wire:#757c87;--tool:#8fd9c8;--agent:#6ca1fd;"
    "--llm:#74a3f0;--relic:#edc662;--workflow:#8f74c6;--decision:#c47fb2}}"
    "text{font:600 13px system-ui,sans-serif;fill:var(--ink)}"
    ".d{font-weight:400;font-size:11px;fill:var(--mute)}"
    ".w{font-weight:400;font-size:11px;fill:var(--mute);text-anchor:middle}"
    "rect{fill:var(--panel);stroke:var(--wire)}"
    "path{fill:none;stroke:var(--wire);stroke-width:1.3}"
    ".b{stroke:var(--tool);stroke-width:4;stroke-linecap:round}"
    ".agent{stroke:var(--agent)}.llm{stroke:var(--llm)}"
    ".relic{stroke:var(--relic)}.workflow{stroke:var(--workflow)}"
    ".decision{stroke:var(--decision)}"
    ".h{fill:var(--wire);stroke:none}.h.c{fill:var(--ink);stroke:none}"
    ".c{stroke:var(--ink);stroke-width:2.2}"
    ".f{stroke-dasharray:5 3}.o{stroke-dasharray:2 3}"
    ".v{stroke-dasharray:7 3 1 3}";

struct svg_place {
    long x, y;
};

/* A column of the picture: the boxes of a wave. */
struct svg_wave {
    long x, width;
    uint32_t rows;
};

struct svg_plan {
    const struct plan *p;
    struct svg_wave *waves;
    uint32_t *row; /* of each action */
};

static const struct svg_wave *wave_of(const struct svg_plan *s, uint32_t i)
{
    return &s->waves[s->p->graph.wave[i] - 1];
}

static struct svg_place place_of(const struct svg_plan *s, uint32_t i)
{
    return (struct svg_place){wave_of(s, i)->x,
                              EDGE + HEAD + (long)s->row[i] * ROW};
}

/* Along its own row up to the column before, so that few boxes are in its
 * way; those that are hide it. */
static void put_edge(struct buf *b, const struct svg_plan *s,
                     uint32_t from_action, uint32_t to_action,
                     const char *class)
{
    struct svg_place from = place_of(s, from_action);
    struct svg_place to = place_of(s, to_action);
    long y = from.y + BOX_HEIGHT / 2, end = to.y + BOX_HEIGHT / 2;
    long tip = to.x - 1, turn = to.x - GAP;
    long bend = (tip - ARROW - turn) / 2;

    buf_fmt(b,
            "<path class=\"%s\" d=\"M%ld %ldH%ldC%ld %ld %ld %ld %ld %ld\"/>",
            class, from.x + wave_of(s, from_action)->width, y, turn,
            turn + bend, y, tip - ARROW - bend, end, tip - ARROW, end);
    buf_fmt(b, "<path class=\"h %s\" d=\"M%ld %ldl-%d -4v8z\"/>\n", class, tip,
            end, ARROW);
}

/* How many of them fit: Chinese and the like has letters twice as wide, and of
 * three bytes. */
static size_t chars_of(wend_str s, size_t chars)
{
    return s.len > 2 * utf8_count(s) ? chars / 2 : chars;
}

static void put_fitting(struct buf *b, wend_str s, size_t chars)
{
    xml_put_cut(b, s, chars_of(s, chars));
}

/* Below the name: how long, what, by what. */
static void put_detail(struct buf *b, const struct plan_action *a)
{
    if (a->estimate_ms >= 0) {
        plan_put_time(b, a->estimate_ms);
        buf_cstr(b, " \xC2\xB7 ");
    }
    buf_fmt(b, "%s ", action_type_names[a->type]);
    if (a->target.ptr)
        buf_str(b, a->target);
}

static void put_box(struct buf *b, const struct svg_plan *s, uint32_t i)
{
    static const char *const classes[2][2] = {{NULL, "f"}, {"c", "c f"}};
    const struct plan_action *a = s->p->actions[i];
    bool critical = s->p->graph.critical[i];
    bool forgotten = a->mode == ACTION_FORGET;
    struct svg_place at = place_of(s, i);
    struct buf detail = {.mem = b->mem};

    buf_cstr(b, "<g><title>");
    xml_put(b, a->name);
    buf_fmt(b, ", %s%s</title>", action_mode_names[a->mode],
            critical ? ", on the critical path" : "");
    svg_rect(b, classes[critical][forgotten], NULL,
             (struct svg_box){(double)at.x, (double)at.y,
                              (double)wave_of(s, i)->width, BOX_HEIGHT, 7});
    buf_fmt(b, "</rect><path class=\"b %s\" d=\"M%ld %ldv%d\"/>",
            action_type_names[a->type], at.x + 9, at.y + 11, BOX_HEIGHT - 22);
    svg_text(b, NULL, (double)at.x + INDENT, (double)at.y + 20);
    put_fitting(b, a->name, LABEL_CHARS);
    buf_cstr(b, "</text>");
    svg_text(b, "d", (double)at.x + INDENT, (double)at.y + 37);
    put_detail(&detail, a);
    put_fitting(b, buf_view(&detail), DETAIL_CHARS);
    buf_cstr(b, "</text></g>\n");
    b->failed = b->failed || detail.failed;
    buf_free(&detail);
}

static void put_edges(struct buf *b, const struct svg_plan *s, bool critical)
{
    const struct plan_graph *g = &s->p->graph;

    for (uint32_t i = 0; i < s->p->count; i++) {
        for (uint32_t k = g->deps_at[i]; k < g->deps_at[i + 1]; k++)
            if ((g->critical[i] && g->critical[g->deps[k]]) == critical)
                put_edge(b, s, g->deps[k], i, critical ? "c" : "e");
        if (critical)
            continue;
        for (uint32_t k = g->values_at[i]; k < g->values_at[i + 1]; k++)
            put_edge(b, s, g->values[k], i, "v");
        if (g->fallback[i] != PLAN_NONE)
            put_edge(b, s, i, g->fallback[i], "o");
    }
}

/* Pixels that a box needs: a letter has about as many for each of its bytes. */
static long width_of(struct buf *b, const struct plan_action *a)
{
    struct buf detail = {.mem = b->mem};
    double label = 8.4 * (double)utf8_take(a->name, LABEL_CHARS), below;
    double most = BOX_WIDTH_MAX - INDENT - 9;

    put_detail(&detail, a);
    below = 6.8 * (double)utf8_take(buf_view(&detail), DETAIL_CHARS);
    b->failed |= detail.failed;
    buf_free(&detail);
    if (label < below)
        label = below;
    return INDENT + 9 + (long)(label < most ? label : most);
}

/* Rows are given out wave by wave. */
static void lay_out(struct buf *b, struct svg_plan *s, uint32_t *rows,
                    long *width)
{
    const struct plan_graph *g = &s->p->graph;

    *rows = 0;
    for (uint32_t i = 0; i < s->p->count; i++) {
        struct svg_wave *w = &s->waves[g->wave[i] - 1];
        long needed = width_of(b, s->p->actions[i]);

        assert(g->wave[i] && g->wave[i] <= g->waves);
        s->row[i] = w->rows++;
        *rows = w->rows > *rows ? w->rows : *rows;
        w->width = needed > w->width ? needed : w->width;
    }
    *width = EDGE;
    for (uint32_t i = 0; i < g->waves; i++) {
        if (s->waves[i].width < BOX_WIDTH_MIN)
            s->waves[i].width = BOX_WIDTH_MIN;
        s->waves[i].x = *width;
        *width += s->waves[i].width + (i + 1 < g->waves ? GAP : EDGE);
    }
}

static void put_picture(struct buf *b, struct svg_plan *s, bool styled)
{
    uint32_t rows;
    long width;

    lay_out(b, s, &rows, &width);
    svg_open(b, width > FIT_WIDTH ? NULL : "fit", width,
             2L * EDGE + HEAD + (long)(rows - 1) * ROW + BOX_HEIGHT);
    xml_put(b, s->p->name);
    if (styled)
        svg_style(b, style);
    else
        buf_cstr(b, "</title>\n");
    for (uint32_t w = 0; w < s->p->graph.waves; w++) {
        svg_text(b, "w", (double)s->waves[w].x + (double)s->waves[w].width / 2,
                 EDGE);
        buf_fmt(b, "wave %u</text>\n", w + 1);
    }
    put_edges(b, s, false);
    put_edges(b, s, true); /* above the others */
    for (uint32_t i = 0; i < s->p->count; i++)
        put_box(b, s, i);
    buf_cstr(b, "</svg>\n");
}

static void put_svg(struct buf *b, const struct plan *p, bool styled)
{
    struct arena a = {.mem = b->mem};
    struct svg_plan s = {
        .p = p,
        .waves = arena_alloc(&a, (p->graph.waves + 1) * sizeof *s.waves),
        .row = arena_alloc(&a, (p->count + 1) * sizeof *s.row)};

    if (s.waves && s.row && p->count)
        put_picture(b, &s, styled);
    b->failed = b->failed || a.failed;
    arena_free(&a);
}

void plan_put_svg(struct buf *b, const struct plan *p)
{
    put_svg(b, p, true);
}

/* ---- The page ------------------------------------------------------------ */

/* A cell; its name stands beside it where the table is too wide. */
static void put_cell(struct buf *b, const char *name)
{
    buf_fmt(b, "<td data-l=\"%s\">", name);
}

/* The same for words of any length. */
static void put_long_cell(struct buf *b, const char *name)
{
    buf_fmt(b, "<td class=\"l\" data-l=\"%s\">", name);
}

/* Its lines break between folders. */
static void put_path(struct buf *b, wend_str path)
{
    const char *slash;

    while (path.len && (slash = memchr(path.ptr, '/', path.len - 1))) {
        size_t len = (size_t)(slash - path.ptr) + 1;

        xml_put(b, (wend_str){path.ptr, len});
        buf_cstr(b, "<wbr>");
        path = (wend_str){path.ptr + len, path.len - len};
    }
    xml_put(b, path);
}

/* Two cells: how long it took, and how often it failed. */
static void put_past(struct buf *b, const struct plan_learned *l)
{
    put_cell(b, "learned");
    if (l->runs && l->ms >= 0)
        plan_put_time(b, l->ms);
    put_cell(b, "failed");
    if (l->runs)
        buf_fmt(b, "%lld of %lld", (long long)l->failures, (long long)l->runs);
}

static void put_after(struct buf *b, const struct plan *p, uint32_t i)
{
    const struct plan_graph *g = &p->graph;

    for (uint32_t k = g->deps_at[i]; k < g->deps_at[i + 1]; k++) {
        buf_cstr(b, k > g->deps_at[i] ? ", " : "");
        xml_put(b, p->actions[g->deps[k]]->name);
    }
    for (uint32_t k = g->values_at[i]; k < g->values_at[i + 1]; k++) {
        buf_cstr(b, k > g->values_at[i] ? ", " : "; values of ");
        xml_put(b, p->actions[g->values[k]]->name);
    }
}

/* When it runs, and what happens if it fails. `written`: its JSON. */
static void put_rules(struct buf *b, const struct plan *p, uint32_t i,
                      const struct json *written)
{
    const struct plan_action *a = p->actions[i];
    const struct plan_graph *g = &p->graph;
    wend_str when = json_str(json_get(written, "when"));
    const char *sep = "";

    if (when.len) {
        buf_cstr(b, "when <code>");
        xml_put(b, when);
        buf_cstr(b, "</code>");
        sep = "; ";
    }
    if (a->retry.max) {
        buf_fmt(b, "%sretry %lld time%s after ", sep, (long long)a->retry.max,
                a->retry.max == 1 ? "" : "s");
        plan_put_time(b, a->retry.delay_ms);
        sep = "; ";
    }
    if (a->skip_on_error) {
        buf_fmt(b, "%sskipped on error", sep);
        sep = "; ";
    }
    if (g->fallback[i] != PLAN_NONE) {
        buf_fmt(b, "%sfallback ", sep);
        xml_put(b, p->actions[g->fallback[i]]->name);
    }
    if (g->fallback_of[i] != PLAN_NONE) {
        buf_fmt(b, "%sonly if it fails: ", sep);
        xml_put(b, p->actions[g->fallback_of[i]]->name);
    }
}

static void put_row(struct buf *b, const struct plan *p, uint32_t i,
                    const struct plan_learned *l, const struct json *written)
{
    const struct plan_action *a = p->actions[i];
    const struct plan_graph *g = &p->graph;

    buf_fmt(b, "<tr%s><td data-l=\"wave\">%u",
            g->critical[i] ? " class=\"k\"" : "", g->wave[i]);
    put_long_cell(b, "action");
    xml_put(b, a->name);
    buf_fmt(b, "<td data-l=\"type\">%s", action_type_names[a->type]);
    put_long_cell(b, "target");
    put_path(b, a->target.ptr ? a->target : STR(""));
    buf_fmt(b, "<td data-l=\"mode\">%s", action_mode_names[a->mode]);
    put_cell(b, "estimate");
    if (a->estimate_ms >= 0)
        plan_put_time(b, a->estimate_ms);
    if (l)
        put_past(b, &l[i]);
    put_long_cell(b, "after");
    put_after(b, p, i);
    put_long_cell(b, "rules");
    put_rules(b, p, i, written);
    buf_cstr(b, "</tr>\n");
}

static const char style_of_page[] =
    "main{max-width:106rem}.pic{overflow:auto;margin:16px 0;max-height:80vh;"
    "background:var(--sunk);border:1px solid var(--line);border-radius:4px}"
    ".pic svg{display:block;margin:auto}"
    "@media(min-width:1100px){.pic .fit{max-width:100%;height:auto}}"
    "code{font-family:ui-monospace,monospace;font-size:.7813rem}"
    "table{border-collapse:collapse;width:100%}"
    "td,th{padding:5px 16px 5px 0;text-align:left;vertical-align:top;"
    "border-bottom:1px solid var(--line);white-space:nowrap}"
    "th{color:var(--mute)}td.l{white-space:normal;min-width:10rem}"
    "td.l:nth-child(2){min-width:12rem}"
    ".k td:nth-child(2){font-weight:600;text-decoration:underline 2px;"
    "text-underline-offset:3px}"
    "@media(max-width:900px){table,tbody{display:block}"
    "tr{display:flex;flex-wrap:wrap;gap:2px 12px;padding:8px 0;"
    "border-bottom:1px solid var(--line)}"
    "tr:first-child{display:none}td,td.l,"
    "td.l:nth-child(2){border:0;padding:0;min-width:0}"
    "td:empty{display:none}"
    "td:before{content:attr(data-l)\" \";color:var(--mute)}"
    "td:nth-child(2){order:-1;flex:1 0 100%;font-weight:600}"
    "td:nth-child(2):before{content:none}}";

static void put_times(struct buf *b, const char *before, int64_t sequential_ms,
                      int64_t critical_ms)
{
    buf_cstr(b, before);
    plan_put_time(b, sequential_ms);
    buf_cstr(b, ", critical path ");
    plan_put_time(b, critical_ms);
}

/* `critical`: for the path by learned durations, zeroed; NULL: nothing is
 * learned. The declared one is drawn if there is one. */
static void put_head(struct buf *b, const struct plan *p,
                     const struct plan_learned *l, bool *critical)
{
    int64_t sequential_ms, critical_ms;

    buf_cstr(b, "<main><h1>");
    xml_put(b, p->name);
    buf_fmt(b, "</h1>\n<p>%u action%s in %u wave%s. ", p->count,
            p->count == 1 ? "" : "s", p->graph.waves,
            p->graph.waves == 1 ? "" : "s");
    if (p->graph.critical_ms) {
        put_times(b, "One after the other ", p->graph.sequential_ms,
                  p->graph.critical_ms);
        buf_fmt(b, " (%.1fx). The critical path is bold.\n", plan_speedup(p));
    } else {
        buf_cstr(b, "No durations are declared.\n");
    }
    if (critical) {
        b->failed |= !plan_learned_totals(p, l, b->mem, &sequential_ms,
                                          &critical_ms, critical);
        put_times(b, "<br>Learned from past runs: one after the other ",
                  sequential_ms, critical_ms);
        buf_cstr(b, critical_ms && !p->graph.critical_ms ? ", which is bold.\n"
                                                         : ".\n");
    }
}

void plan_put_html(struct buf *b, const struct plan *p,
                   const struct plan_learned *l)
{
    struct arena a = {.mem = b->mem};
    const struct json *list =
        json_get(json_parse_own(p->json, &a, NULL), "actions");
    const struct json *written = list ? list->first : NULL;
    bool *critical = l ? arena_alloc(&a, (size_t)p->count + 1) : NULL;
    struct plan shown = *p;

    page_open(b, (const char *const[]){style_of_page, style, NULL});
    xml_put(b, p->name);
    page_body(b);
    put_head(b, p, l, critical);
    if (critical && !p->graph.critical_ms)
        shown.graph.critical = critical;
    buf_cstr(b, "<div class=\"pic\" tabindex=\"0\" role=\"region\" "
                "aria-label=\"graph\">");
    put_svg(b, &shown, false);
    buf_fmt(b,
            "</div>\n<table>\n<tr><th>wave<th>action<th>type<th>target"
            "<th>mode<th>estimate%s<th>after<th>rules</tr>\n",
            l ? "<th>learned<th>failed" : "");
    for (uint32_t i = 0; i < p->count; i++) {
        put_row(b, &shown, i, l, written);
        written = written ? written->next : NULL;
    }
    buf_cstr(b, "</table>\n</main></body></html>\n");
    b->failed |= a.failed;
    arena_free(&a);
}

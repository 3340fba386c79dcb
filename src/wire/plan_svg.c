/*
 * plan_svg.c - a plan as a picture: a column a wave, a box an action.
 */
#include "base/utf8.h"
#include "wire/plan_show.h"

enum {
    BOX_WIDTH = 210,
    BOX_HEIGHT = 46,
    COLUMN = 270, /* from one wave to the next */
    ROW = 66,
    EDGE = 20,        /* around all of it */
    LABEL_CHARS = 27, /* that fit into a box */
};

static const char style[] =
    "text{font:13px sans-serif;fill:#222}"
    ".d{font-size:11px;fill:#666}"
    "rect{fill:#fff;stroke:#888}"
    ".agent{fill:#eef6ff}.llm{fill:#fff7e6}.relic{fill:#eefaf0}"
    ".workflow{fill:#f6f0ff}.decision{fill:#fdeeee}"
    ".c{stroke:#c22;stroke-width:2.5}.f{stroke-dasharray:5 3}"
    "path{fill:none;stroke:#aaa}.o{stroke-dasharray:2 3}";

/* Text for XML: what could be markup is escaped; controls, which XML cannot
 * say, and what hides or reorders text become U+FFFD. */
static void put_xml(struct buf *b, wend_str s, size_t chars_max)
{
    size_t i = 0, len, chars = 0;

    for (; i < s.len && chars < chars_max; i += len, chars++) {
        uint32_t c = utf8_first((wend_str){s.ptr + i, s.len - i}, &len);

        if (c == '&')
            buf_cstr(b, "&amp;");
        else if (c == '<')
            buf_cstr(b, "&lt;");
        else if (c == '>')
            buf_cstr(b, "&gt;");
        else if (c == '"')
            buf_cstr(b, "&quot;");
        else if (c == '\n' || c == '\t')
            buf_char(b, ' ');
        else if (utf8_harmful(c) || c == 0xFFFE || c == 0xFFFF)
            buf_cstr(b, "\xEF\xBF\xBD");
        else
            buf_add(b, s.ptr + i, len);
    }
    if (i < s.len)
        buf_cstr(b, "\xE2\x80\xA6");
}

struct place {
    long x, y;
};

static struct place place_of(const struct plan *p, const uint32_t *row,
                             uint32_t i)
{
    return (struct place){EDGE + (long)(p->graph.wave[i] - 1) * COLUMN,
                          EDGE + (long)row[i] * ROW};
}

static void put_edge(struct buf *b, struct place from, struct place to,
                     const char *class)
{
    long x = from.x + BOX_WIDTH, y = from.y + BOX_HEIGHT / 2;
    long end = to.y + BOX_HEIGHT / 2, bend = (to.x - x) / 2;

    buf_fmt(b, "<path class=\"%s\" d=\"M%ld %ldC%ld %ld %ld %ld %ld %ld\"/>\n",
            class, x, y, x + bend, y, to.x - bend, end, to.x, end);
}

static void put_box(struct buf *b, const struct plan *p, uint32_t i,
                    struct place at)
{
    const struct plan_action *a = p->actions[i];
    struct buf detail = {.mem = b->mem};

    buf_fmt(b, "<g><title>");
    put_xml(b, a->name, SIZE_MAX);
    buf_fmt(b, ", %s", action_mode_names[a->mode]);
    buf_fmt(b,
            "</title><rect class=\"%s%s%s\" x=\"%ld\" y=\"%ld\" width=\"%d\" "
            "height=\"%d\" rx=\"6\"/><text x=\"%ld\" y=\"%ld\">",
            action_type_names[a->type], p->graph.critical[i] ? " c" : "",
            a->mode == ACTION_FORGET ? " f" : "", at.x, at.y, BOX_WIDTH,
            BOX_HEIGHT, at.x + 10, at.y + 19);
    put_xml(b, a->name, LABEL_CHARS);
    buf_fmt(b, "</text><text class=\"d\" x=\"%ld\" y=\"%ld\">", at.x + 10,
            at.y + 36);
    if (a->estimate_ms >= 0) {
        plan_put_time(&detail, a->estimate_ms);
        buf_cstr(&detail, " \xC2\xB7 ");
    }
    buf_fmt(&detail, "%s ", action_type_names[a->type]);
    if (a->target.ptr)
        buf_str(&detail, a->target);
    put_xml(b, buf_view(&detail), LABEL_CHARS + 4);
    buf_cstr(b, "</text></g>\n");
    b->failed = b->failed || detail.failed;
    buf_free(&detail);
}

/* Rows are given out wave by wave; `taken` has a number for each wave. */
static void put_picture(struct buf *b, const struct plan *p, uint32_t *row,
                        uint32_t *taken)
{
    const struct plan_graph *g = &p->graph;
    uint32_t rows = 0;

    for (uint32_t i = 0; i < p->count; i++) {
        row[i] = taken[g->wave[i] - 1]++;
        rows = row[i] >= rows ? row[i] + 1 : rows;
    }
    buf_fmt(b,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%ld\" "
            "height=\"%ld\" role=\"img\">\n<title>",
            2L * EDGE + (long)(g->waves - 1) * COLUMN + BOX_WIDTH,
            2L * EDGE + (long)(rows - 1) * ROW + BOX_HEIGHT);
    put_xml(b, p->name, SIZE_MAX);
    buf_fmt(b, "</title>\n<style>%s</style>\n", style);
    for (uint32_t i = 0; i < p->count; i++) {
        for (uint32_t k = g->deps_at[i]; k < g->deps_at[i + 1]; k++)
            put_edge(b, place_of(p, row, g->deps[k]), place_of(p, row, i),
                     g->critical[i] && g->critical[g->deps[k]] ? "c" : "e");
        if (g->fallback[i] != PLAN_NONE)
            put_edge(b, place_of(p, row, i), place_of(p, row, g->fallback[i]),
                     "o");
    }
    for (uint32_t i = 0; i < p->count; i++)
        put_box(b, p, i, place_of(p, row, i));
    buf_cstr(b, "</svg>\n");
}

void plan_put_svg(struct buf *b, const struct plan *p)
{
    struct arena a = {.mem = b->mem};
    uint32_t *row = arena_alloc(&a, (p->count + 1) * sizeof *row);
    uint32_t *taken = arena_alloc(&a, (p->graph.waves + 1) * sizeof *taken);

    if (row && taken && p->count)
        put_picture(b, p, row, taken);
    b->failed = b->failed || a.failed;
    arena_free(&a);
}

/* Two cells: how long it took, and how often it failed. */
static void put_past(struct buf *b, const struct plan_learned *l)
{
    buf_cstr(b, "<td>");
    if (l->runs && l->ms >= 0)
        plan_put_time(b, l->ms);
    buf_cstr(b, "<td>");
    if (l->runs)
        buf_fmt(b, "%lld of %lld", (long long)l->failures, (long long)l->runs);
}

static void put_row(struct buf *b, const struct plan *p, uint32_t i,
                    const struct plan_learned *l)
{
    const struct plan_action *a = p->actions[i];
    const struct plan_graph *g = &p->graph;

    buf_fmt(b, "<tr%s><td>%u<td>", g->critical[i] ? " class=\"k\"" : "",
            g->wave[i]);
    put_xml(b, a->name, SIZE_MAX);
    buf_fmt(b, "<td>%s<td>", action_type_names[a->type]);
    put_xml(b, a->target.ptr ? a->target : STR(""), SIZE_MAX);
    buf_fmt(b, "<td>%s<td>", action_mode_names[a->mode]);
    if (a->estimate_ms >= 0)
        plan_put_time(b, a->estimate_ms);
    if (l)
        put_past(b, &l[i]);
    buf_cstr(b, "<td>");
    for (uint32_t k = g->deps_at[i]; k < g->deps_at[i + 1]; k++) {
        buf_cstr(b, k > g->deps_at[i] ? ", " : "");
        put_xml(b, p->actions[g->deps[k]]->name, SIZE_MAX);
    }
    buf_cstr(b, "</tr>\n");
}

void plan_put_html(struct buf *b, const struct plan *p,
                   const struct plan_learned *l)
{
    buf_cstr(b, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">"
                "<title>");
    put_xml(b, p->name, SIZE_MAX);
    buf_cstr(b, "</title>\n<style>body{font:15px sans-serif;margin:2em;"
                "color:#222}div{overflow:auto}table{border-collapse:collapse}"
                "td,th{padding:3px 12px 3px 0;text-align:left}"
                ".k td{font-weight:bold}</style>\n<h1>");
    put_xml(b, p->name, SIZE_MAX);
    buf_fmt(b, "</h1>\n<p>%u actions in %u waves. One after the other ",
            p->count, p->graph.waves);
    plan_put_time(b, p->graph.sequential_ms);
    buf_cstr(b, ", critical path ");
    plan_put_time(b, p->graph.critical_ms);
    buf_fmt(b, " (%.1fx).\n<div>", plan_speedup(p));
    plan_put_svg(b, p);
    buf_fmt(b,
            "</div>\n<table>\n<tr><th>wave<th>action<th>type<th>target"
            "<th>mode<th>estimate%s<th>after</tr>\n",
            l ? "<th>learned<th>failed" : "");
    for (uint32_t i = 0; i < p->count; i++)
        put_row(b, p, i, l);
    buf_cstr(b, "</table>\n</html>\n");
}

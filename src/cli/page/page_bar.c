/*
 * page_bar.c - the bars of a page, and the axis above them.
 *
 * Places are percents, so that a picture fits any width.
 */
#include <string.h>

#include "cli/page/page.h"

#define BAR_PERCENT_MIN 0.1 /* what has no width is not drawn */

enum {
    BAR_TOP = 4, /* of a row of 20 */
    BAR_HEIGHT = 12,
    CUTS_DRAWN_MAX = 12, /* in each row; more are only in the axis */
    TICKS_US_MIN = 1000, /* less has only a start and an end */
};

/* ---- Bars ---------------------------------------------------------------- */

static void put_rect(struct buf *b, const char *class, const char *state,
                     double from, double to)
{
    buf_fmt(b,
            "<rect class=\"%s%s%s\" x=\"%.2f%%\" width=\"%.2f%%\" y=\"%d\" "
            "height=\"%d\"/>",
            class, *state ? " " : "", state, from,
            to - from > BAR_PERCENT_MIN ? to - from : BAR_PERCENT_MIN, BAR_TOP,
            BAR_HEIGHT);
}

/* A shape at the end of a bar: states differ without colour, too. */
static void put_end(struct buf *b, wend_outcome o, double from, double to)
{
    static const char *const shapes[WEND_OUTCOME_SKIPPED + 1] = {
        [WEND_OUTCOME_NONE] = "<path class=\"open\" d=\"M2 4 8 10 2 16\"/>",
        [WEND_OUTCOME_FAILED] = "<path class=\"notch\" d=\"M1 5-5 10 1 15z\"/>",
        [WEND_OUTCOME_TIMEOUT] =
            "<path class=\"notch\" d=\"M1 5-5 10 1 15z\"/>",
        [WEND_OUTCOME_CANCELED] = "<path class=\"notch\" d=\"M1 3-8 17H1z\"/>",
    };

    if (o == WEND_OUTCOME_DENIED)
        buf_fmt(b,
                "<line class=\"mid\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"10\" "
                "y2=\"10\"/>",
                from, to);
    if (shapes[o] && (o == WEND_OUTCOME_NONE || to - from > 3))
        buf_fmt(b, "<svg x=\"%.2f%%\" overflow=\"visible\">%s</svg>", to,
                shapes[o]);
}

/* What took no time of its own: a box of fixed width. */
static void put_box_at(struct buf *b, const char *state, double at)
{
    int left = at > 50 ? -16 : 1;

    buf_fmt(b,
            "<svg x=\"%.2f%%\" overflow=\"visible\"><rect class=\"%s\" "
            "x=\"%d\" y=\"%d\" width=\"14\" height=\"%d\"/>",
            at, state, left, BAR_TOP, BAR_HEIGHT);
    if (!strcmp(state, "denied"))
        buf_fmt(b,
                "<line class=\"mid\" x1=\"%d\" x2=\"%d\" y1=\"10\" "
                "y2=\"10\"/>",
                left + 3, left + 11);
    buf_cstr(b, "</svg>");
}

static void put_work(struct buf *b, const struct axis *x, const struct span *s,
                     const struct piece *p)
{
    static const char *const kinds[] = {[SPAN_MODEL] = "km",
                                        [SPAN_CALL] = "kc",
                                        [SPAN_ACTION] = "ka",
                                        [SPAN_CHILD] = "kr"};
    double from = axis_begin(x, p->began_us);
    double to = axis_end(x, p->ended_us), first = from;
    const char *state = p->outcome && p->outcome != WEND_OUTCOME_OK
                            ? wend_outcome_name(p->outcome)
                            : "";

    if (to < from)
        to = from;
    if (p->outcome == WEND_OUTCOME_DENIED && to - from < 2) {
        put_box_at(b, state, from);
        return;
    }
    if (s->first_us > p->began_us && s->first_us < p->ended_us && !*state) {
        first = axis_begin(x, s->first_us);
        put_rect(b, kinds[s->kind], "p", from, first);
    }
    put_rect(b, kinds[s->kind], state, first, to);
    put_end(b, p->outcome, from, to);
    if (s->attempts > 1 && s->kind != SPAN_CALL && to - from > 3)
        buf_fmt(b, "<text x=\"%.2f%%\" dx=\"4\" y=\"14\">%lld</text>", from,
                (long long)p->attempt);
}

static void put_piece(struct buf *b, const struct axis *x, const struct span *s,
                      const struct piece *p)
{
    double from = axis_begin(x, p->began_us);
    double to = axis_end(x, p->ended_us);

    switch (p->kind) {
    case PIECE_WORK: put_work(b, x, s, p); break;
    case PIECE_WAIT: put_rect(b, "wait", "", from, to); break;
    case PIECE_DELAY:
        buf_fmt(b, "<line x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"10\" y2=\"10\"/>",
                from, to);
        break;
    }
}

static void put_cuts(struct buf *b, const struct axis *x, int y, int height)
{
    for (size_t i = 0; i < x->count; i++)
        buf_fmt(b,
                "<rect class=\"cut\" x=\"%.2f%%\" width=\"%.2f%%\" "
                "y=\"%d\" height=\"%d\"/>",
                axis_cut_at(x, i), x->cut_width, y, height);
}

void page_put_bar(struct buf *b, const struct axis *x, const struct span *s,
                  bool critical)
{
    buf_cstr(b, "<svg class=\"b\" aria-hidden=\"true\">");
    if (x->count <= CUTS_DRAWN_MAX)
        put_cuts(b, x, 0, 20);
    for (const struct piece *p = s->pieces; p; p = p->next)
        put_piece(b, x, s, p);
    if (critical)
        buf_fmt(b,
                "<line class=\"crit\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"19\" "
                "y2=\"19\"/>",
                axis_begin(x, s->bar.began_us), axis_end(x, s->bar.ended_us));
    if (!s->pieces)
        put_box_at(b, s->bar.outcome ? "skipped" : "not-started",
                   axis_end(x, s->bar.ended_us));
    buf_cstr(b, "</svg>");
}

/* ---- The axis ------------------------------------------------------------ */

/* How long a single cut is; it may take all the room beside it. */
static void put_cut_label(struct buf *b, const struct axis *x)
{
    const struct axis_cut *cut = &x->cuts[0];
    double at = axis_cut_at(x, 0);

    buf_fmt(b, "<text x=\"%.2f%%\" y=\"28\" class=\"g%s\">",
            at > 50 ? at + x->cut_width : at, at > 50 ? " e" : "");
    page_put_time(b, cut->us);
    buf_fmt(b, "%s</text>",
            cut->forked  ? ", forked"
            : cut->epoch ? ", resumed"
                         : " idle");
}

/* Several would overlap: numbers of the list below the chart. */
static void put_cut_numbers(struct buf *b, const struct axis *x)
{
    for (size_t i = 0; i < x->count; i++)
        buf_fmt(b, "<text x=\"%.2f%%\" y=\"28\" class=\"g c\">%zu</text>",
                axis_cut_at(x, i) + x->cut_width / 2, i + 1);
}

void page_put_axis(struct buf *b, const struct axis *x)
{
    static const char *const ends[] = {"", " class=\"c\"", " class=\"c\"",
                                       " class=\"c\"", " class=\"e\""};

    buf_fmt(b, "<div class=\"top\"><svg class=\"axis%s\" aria-hidden=\"true\">",
            x->count ? " two" : "");
    put_cuts(b, x, 32, 6);
    for (int i = 0; i <= 4; i++) {
        int64_t us = axis_time(x, 25.0 * i);

        if (us < 0 || (i % 4 && x->ended_us - x->began_us < TICKS_US_MIN))
            continue;
        buf_fmt(b, "<text x=\"%d%%\" y=\"13\"%s>", 25 * i, ends[i]);
        if (i)
            page_put_time(b, us);
        else
            buf_char(b, '0');
        buf_cstr(b, "</text>");
    }
    if (x->count == 1)
        put_cut_label(b, x);
    else if (x->count <= CUTS_DRAWN_MAX)
        put_cut_numbers(b, x);
    buf_cstr(b, "</svg></div>\n");
}

static void put_cut_reason(struct buf *b, const struct axis_cut *cut)
{
    if (cut->forked)
        buf_cstr(b, " until a fork continued the run");
    else if (cut->epoch)
        buf_fmt(b, " in which no process owned the run; resumed (epoch %lld)",
                (long long)cut->epoch);
    else
        buf_cstr(b, " without work");
}

void page_put_cuts(struct buf *b, const struct axis *x)
{
    for (size_t i = 0; i < x->count && i < CUTS_DRAWN_MAX; i++) {
        const struct axis_cut *cut = &x->cuts[i];

        buf_cstr(b, "<p class=\"mute\">");
        if (x->count > 1)
            buf_fmt(b, "<b>%zu</b> ", i + 1);
        buf_cstr(b, "The axis is cut at ");
        page_put_time(b, cut->from_us - x->began_us);
        buf_cstr(b, ": ");
        page_put_time(b, cut->us);
        put_cut_reason(b, cut);
        buf_cstr(b, "</p>\n");
    }
    if (x->count > CUTS_DRAWN_MAX)
        buf_fmt(b, "<p class=\"mute\">and %zu more cuts</p>\n",
                x->count - CUTS_DRAWN_MAX);
}

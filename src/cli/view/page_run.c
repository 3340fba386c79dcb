/*
 * page_run.c - a run as a page: its question, its answer, then its time.
 *
 * Each row of the chart is a bar, and opens what went in and came out. Places
 * are percents, so that a picture fits any width.
 */
#include "cli/view/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/svg.h"
#include "base/utf8.h"

#define BAR_PERCENT_MIN 0.1 /* what has no width is not drawn */

enum {
    BAR_TOP = 4, /* of a row of 20 */
    BAR_HEIGHT = 12,
    CUTS_DRAWN_MAX = 12, /* in each row; more are only in the axis */
    DEPTH_MAX = 8,       /* of children; no run goes deeper */
    LINEAGE_MAX = 50,
    HINT_CHARS = 80,
    LONG_BYTES = 2000, /* a prompt that scrolls, so that the answer is seen */
};

struct chart {
    struct page *p;
    const struct timeline *t;
    struct axis axis;
    int deep;
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
        [WEND_OUTCOME_CANCELED] =
            "<path class=\"notch\" d=\"M1 3-8 17H1z\"/>",
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
    int x = at > 50 ? -16 : 1;

    buf_fmt(b,
            "<svg x=\"%.2f%%\" overflow=\"visible\"><rect class=\"%s\" "
            "x=\"%d\" y=\"%d\" width=\"14\" height=\"%d\"/>",
            at, state, x, BAR_TOP, BAR_HEIGHT);
    if (!strcmp(state, "denied"))
        buf_fmt(b,
                "<line class=\"mid\" x1=\"%d\" x2=\"%d\" y1=\"10\" "
                "y2=\"10\"/>",
                x + 3, x + 11);
    buf_cstr(b, "</svg>");
}

static void put_work(struct buf *b, const struct chart *c, const struct span *s,
                     const struct piece *p)
{
    static const char *const kinds[] = {[SPAN_MODEL] = "km",
                                        [SPAN_CALL] = "kc",
                                        [SPAN_ACTION] = "ka",
                                        [SPAN_CHILD] = "kr"};
    double from = axis_begin(&c->axis, p->began_us);
    double to = axis_end(&c->axis, p->ended_us), first = from;
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
        first = axis_begin(&c->axis, s->first_us);
        put_rect(b, kinds[s->kind], "p", from, first);
    }
    put_rect(b, kinds[s->kind], state, first, to);
    put_end(b, p->outcome, from, to);
    if (s->attempts > 1 && s->kind != SPAN_CALL && to - from > 3)
        buf_fmt(b, "<text x=\"%.2f%%\" dx=\"4\" y=\"14\">%lld</text>", from,
                (long long)p->attempt);
}

static void put_piece(struct buf *b, const struct chart *c,
                      const struct span *s, const struct piece *p)
{
    double from = axis_begin(&c->axis, p->began_us);
    double to = axis_end(&c->axis, p->ended_us);

    switch (p->kind) {
    case PIECE_WORK: put_work(b, c, s, p); break;
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

static void put_bar(struct buf *b, const struct chart *c, const struct span *s)
{
    buf_cstr(b, "<svg class=\"b\" aria-hidden=\"true\">");
    if (c->axis.count <= CUTS_DRAWN_MAX)
        put_cuts(b, &c->axis, 0, 20);
    for (const struct piece *p = s->pieces; p; p = p->next)
        put_piece(b, c, s, p);
    if (!s->pieces)
        put_box_at(b, s->bar.outcome ? "skipped" : "not-started",
                   axis_end(&c->axis, s->bar.ended_us));
    buf_cstr(b, "</svg>");
}

/* ---- Rows ---------------------------------------------------------------- */

static const char *state_of(const struct chart *c, const struct span *s)
{
    if (s->bar.outcome)
        return page_state(s->bar.outcome);
    if (!s->pieces)
        return "not-started";
    if (s->last->kind == PIECE_WAIT && !c->t->outcome)
        return "waiting";
    return "no-end";
}

/* What an action is, as its plan declares it. */
static void put_note(struct buf *b, const struct action_note *n)
{
    static const char *const names[] = {"", "when ", "after "};
    const wend_str texts[] = {n->target, n->when, n->after};

    buf_cstr(b, "<p class=\"mute\">");
    xml_put_cut(b, n->type, 20);
    for (size_t i = 0; i < 3; i++)
        if (texts[i].len) {
            buf_fmt(b, "%s<code>%s", i ? " \u00b7 " : " ", names[i]);
            xml_put_cut(b, texts[i], 400);
            buf_cstr(b, "</code>");
        }
    if (n->wave)
        buf_fmt(b, " \u00b7 wave %lld", (long long)n->wave);
    if (n->retries)
        buf_fmt(b, " \u00b7 retry up to %lld times", (long long)n->retries);
    buf_cstr(b, "</p>\n");
}

static void put_attempts(struct buf *b, const struct chart *c,
                         const struct span *s)
{
    buf_cstr(b, "<p class=\"mute\">");
    buf_fmt(b, "%s, ", span_kinds[s->kind]);
    buf_cstr(b, s->pieces ? "begins at " : "never started");
    if (s->pieces)
        page_put_time(b, s->bar.began_us - c->t->scale.began_us);
    if (s->cached)
        buf_cstr(b, " \u00b7 from cache");
    for (const struct piece *p = s->pieces; p; p = p->next) {
        if (p->kind == PIECE_WORK && s->attempts < 2)
            continue;
        buf_cstr(b, " \u00b7 ");
        if (p->kind == PIECE_WORK)
            buf_fmt(b, "attempt %lld %s, ", (long long)p->attempt,
                    bar_outcome(p->outcome));
        else
            buf_cstr(b, p->kind == PIECE_WAIT ? "waits for approval "
                                              : "delay ");
        page_put_time(b, p->ended_us - p->began_us);
    }
    buf_cstr(b, "</p>\n");
}

static void put_detail(const struct chart *c, const char *name,
                       const struct detail *d)
{
    struct buf *b = c->p->out;

    if (!d->bytes)
        return;
    buf_fmt(b, "<h3>%s</h3><div><pre dir=\"auto\">", name);
    if (d->text.len && str_eq(d->text, c->t->answer.text) &&
        d->bytes == c->t->answer.bytes && d->bytes > HINT_CHARS) {
        buf_cstr(b, "the answer above</pre></div>\n");
        return;
    }
    /* The text may end with a note of its own. */
    xml_put(b, (wend_str){d->text.ptr, utf8_cut(d->text, c->p->text_max)});
    buf_cstr(b, "</pre>");
    page_put_rest(c->p, c->t, d);
    buf_cstr(b, "</div>\n");
}

static void put_row(struct chart *c, const struct span *s);

/* What belongs to a call or an action: its model call, its child. */
static void put_owned(struct chart *c, const struct span *owner)
{
    for (const struct turn_line *line = c->t->turns; line; line = line->next)
        for (const struct span *s = line->spans; s; s = s->next)
            if (s->owner == owner)
                put_row(c, s);
}

static void put_more(struct chart *c, const struct span *s)
{
    struct buf *b = c->p->out;

    buf_cstr(b, "<div class=\"more\">");
    if (s->note)
        put_note(b, s->note);
    put_attempts(b, c, s);
    if (s->message.len && !str_eq(s->message, s->out.text)) {
        buf_cstr(b, "<h3>Error</h3><pre>");
        xml_put(b, s->message);
        buf_cstr(b, "</pre>\n");
    }
    if (s->kind != SPAN_CHILD)
        put_detail(c, "Input", &s->in);
    put_owned(c, s);
    if (s->child && c->deep < DEPTH_MAX) {
        buf_cstr(b, "<article id=\"r-");
        xml_put(b, s->child->run);
        buf_cstr(b, "\">");
        page_put_facts(c->p, s->child);
        page_put_story(c->p, s->child, c->deep + 1);
        buf_cstr(b, "</article>\n");
    } else {
        put_detail(c, s->kind == SPAN_MODEL && s->message.len ? "Error"
                                                              : "Output",
                   &s->out);
        if (s->kind == SPAN_CHILD) {
            buf_cstr(b, "<p class=\"mute\">run ");
            page_put_link(c->p, s->bar.id);
            buf_cstr(b, "</p>\n");
        }
    }
    buf_cstr(b, "</div>");
}

static void put_row(struct chart *c, const struct span *s)
{
    struct buf *b = c->p->out;
    const char *state = state_of(c, s);

    if (c->p->rows_left-- <= 0)
        return;
    buf_cstr(b, "<details class=\"row\"><summary><span class=\"n\"><bdi>");
    xml_put_cut(b, s->bar.name, HINT_CHARS);
    buf_cstr(b, "</bdi><bdi>");
    page_put_line(b, s->kind == SPAN_CHILD ? STR("child run")
                     : s->note && s->note->when.len ? s->note->when
                                                    : s->in.text,
                  HINT_CHARS);
    buf_cstr(b, "</bdi></span>");
    put_bar(b, c, s);
    buf_cstr(b, "<span class=\"t\">");
    if (s->pieces)
        page_put_time(b, s->bar.ended_us - s->bar.began_us);
    buf_fmt(b, "</span><span class=\"w %s\">", state);
    page_put_state(b, state, s->why);
    buf_cstr(b, "</span></summary>");
    put_more(c, s);
    buf_cstr(b, "</details>\n");
}

static void put_tokens(struct buf *b, int64_t in, int64_t out)
{
    if (!in && !out)
        return;
    buf_cstr(b, " \u00b7 ");
    page_put_count(b, in);
    buf_cstr(b, " + ");
    page_put_count(b, out);
    buf_cstr(b, " tokens");
}

static void put_turn(struct chart *c, const struct turn_line *line)
{
    struct buf *b = c->p->out;

    buf_cstr(b, "<div class=\"turn\"><span>");
    if (line->counter >= 0)
        buf_fmt(b, "turn %lld", (long long)line->counter);
    else
        buf_cstr(b, "plan");
    buf_cstr(b, "</span><span>");
    if (line->counter >= 0)
        page_put_time(b, line->bar.ended_us - line->bar.began_us);
    put_tokens(b, line->tokens_in, line->tokens_out);
    if (line->retries)
        buf_fmt(b, " \u00b7 %lld %s", (long long)line->retries,
                line->retries == 1 ? "retry" : "retries");
    buf_cstr(b, "</span></div>\n");
}

/* ---- The axis ------------------------------------------------------------ */

static void put_axis(struct buf *b, const struct axis *x)
{
    static const char *const ends[] = {"", " class=\"c\"", " class=\"c\"",
                                       " class=\"c\"", " class=\"e\""};

    buf_fmt(b,
            "<div class=\"top\"><svg class=\"axis%s\" aria-hidden=\"true\">",
            x->count ? " two" : "");
    put_cuts(b, x, 32, 6);
    for (int i = 0; i <= 4; i++) {
        int64_t us = axis_time(x, 25.0 * i);

        if (us < 0)
            continue;
        buf_fmt(b, "<text x=\"%d%%\" y=\"13\"%s>", 25 * i, ends[i]);
        if (i)
            page_put_time(b, us);
        else
            buf_char(b, '0');
        buf_cstr(b, "</text>");
    }
    for (size_t i = 0; i < x->count && x->count <= 3; i++) {
        double at = axis_cut_at(x, i);

        buf_fmt(b, "<text x=\"%.2f%%\" y=\"28\" class=\"g%s\">",
                at > 50 ? at + x->cut_width : at, at > 50 ? " e" : "");
        page_put_time(b, x->cuts[i].us);
        buf_fmt(b, "%s</text>", x->cuts[i].epoch ? ", resumed" : " idle");
    }
    buf_cstr(b, "</svg></div>\n");
}

/* What the bars mean, once a page. */
static void put_key(struct buf *b)
{
    static const char *const kinds[][2] = {
        {"km", "model"}, {"kc", "tool"}, {"ka", "action, child"},
        {"wait", "waits for approval"}};

    buf_cstr(b, "<p class=\"key\">");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        buf_fmt(b,
                "<span><svg class=\"b\" aria-hidden=\"true\"><rect "
                "class=\"%s\" x=\"1\" y=\"1\" width=\"16\" "
                "height=\"10\"/></svg> %s</span>",
                kinds[i][0], kinds[i][1]);
    buf_cstr(b, "<span>pale: before the first token</span></p>\n");
}

static void put_cut_list(struct buf *b, const struct axis *x)
{
    for (size_t i = 0; i < x->count && i < CUTS_DRAWN_MAX; i++) {
        const struct axis_cut *cut = &x->cuts[i];

        buf_cstr(b, "<p class=\"mute\">The axis is cut at ");
        page_put_time(b, cut->from_us - x->began_us);
        buf_cstr(b, ": ");
        page_put_time(b, cut->us);
        if (cut->epoch)
            buf_fmt(b,
                    " in which no process owned the run; resumed (epoch "
                    "%lld)</p>\n",
                    (long long)cut->epoch);
        else
            buf_cstr(b, " without work</p>\n");
    }
    if (x->count > CUTS_DRAWN_MAX)
        buf_fmt(b, "<p class=\"mute\">and %zu more cuts</p>\n",
                x->count - CUTS_DRAWN_MAX);
}

/* ---- The run ------------------------------------------------------------- */

void page_put_facts(const struct page *p, const struct timeline *t)
{
    struct buf *b = p->out;
    int64_t turns = 0;
    int left = LINEAGE_MAX;

    for (const struct turn_line *line = t->turns; line; line = line->next)
        turns += line->counter >= 0;
    buf_fmt(b, "<p class=\"state %s\">", page_state(t->outcome));
    page_put_state(b, page_state(t->outcome), t->code);
    buf_cstr(b, "</p>\n<p class=\"facts\"><b>");
    page_put_time(b, t->scale.ended_us - t->scale.began_us);
    buf_cstr(b, "</b>");
    if (turns)
        buf_fmt(b, " \u00b7 %lld turn%s", (long long)turns,
                turns == 1 ? "" : "s");
    put_tokens(b, t->tokens_in, t->tokens_out);
    if (t->cost_known || t->cost_unknown) {
        buf_cstr(b, " \u00b7 ");
        page_put_cost(b, t, "cost unknown");
    }
    buf_cstr(b, " \u00b7 model <bdi>");
    xml_put_cut(b, t->model, 80);
    if (!str_is(t->agent, "agent")) { /* the built-in one has no name */
        buf_cstr(b, "</bdi> \u00b7 agent <bdi>");
        xml_put_cut(b, t->agent, 80);
    }
    buf_cstr(b, "</bdi> \u00b7 ");
    page_put_clock(b, t->started_us, true);
    for (const struct ancestor *a = t->forks; a && left-- > 0; a = a->next) {
        buf_cstr(b, " \u00b7 fork of ");
        page_put_link(p, a->run);
        buf_fmt(b, " at event %lld", (long long)a->at);
    }
    if (t->parent.ptr) {
        buf_cstr(b, " \u00b7 child of ");
        page_put_link(p, t->parent);
    }
    for (const struct forked *f = t->forked; f && left-- > 0; f = f->next) {
        buf_cstr(b, " \u00b7 forked as ");
        page_put_link(p, f->run);
    }
    buf_cstr(b, "</p>\n");
}

static void put_box(const struct page *p, const struct timeline *t,
                    const char *name, const char *class,
                    const struct detail *d)
{
    struct buf *b = p->out;

    if (!d->bytes)
        return;
    buf_fmt(b,
            "<section class=\"box%s\"><h2>%s</h2><div class=\"text%s "
            "dir=\"auto\">",
            class, name,
            d == &t->asked && d->bytes > LONG_BYTES ? " long\" tabindex=\"0\""
                                                    : "\"");
    xml_put(b, (wend_str){d->text.ptr, utf8_cut(d->text, p->text_max)});
    buf_cstr(b, "</div>");
    page_put_rest(p, t, d);
    buf_cstr(b, "</section>\n");
}

static void put_thoughts(const struct page *p, const struct timeline *t)
{
    struct buf *b = p->out;

    if (!t->thoughts)
        return;
    buf_cstr(b, "<details class=\"box think\"><summary><h2>Thinking</h2><span>");
    page_put_line(b, t->thoughts->text.text, 160);
    buf_cstr(b, "</span></summary>");
    for (const struct thought *h = t->thoughts; h; h = h->next) {
        if (h->turn >= 0)
            buf_fmt(b, "<h3>turn %lld</h3>", (long long)h->turn);
        buf_cstr(b, "<div class=\"text\" dir=\"auto\">");
        xml_put(b, (wend_str){h->text.text.ptr,
                              utf8_cut(h->text.text, p->text_max)});
        buf_cstr(b, "</div>");
        page_put_rest(p, t, &h->text);
    }
    buf_cstr(b, "</details>\n");
}

static void put_remarks(struct buf *b, const struct timeline *t)
{
    if (t->remarks)
        buf_cstr(b, "<ul class=\"notes\">");
    for (const struct remark *r = t->remarks; r; r = r->next) {
        buf_fmt(b, "<li><span class=\"%s\">", remark_kinds[r->kind]);
        page_put_state(b, remark_kinds[r->kind], STR_NONE);
        buf_cstr(b, "</span> at ");
        page_put_time(b, r->at_us - t->scale.began_us);
        buf_cstr(b, ": <bdi>");
        xml_put(b, r->message);
        buf_cstr(b, "</bdi></li>\n");
    }
    if (t->remarks)
        buf_cstr(b, "</ul>\n");
}

static void put_chart(struct chart *c)
{
    struct buf *b = c->p->out;

    buf_fmt(b, "<h2>Time</h2>\n<div class=\"chart\">");
    put_axis(b, &c->axis);
    for (const struct turn_line *line = c->t->turns; line; line = line->next) {
        if (c->p->rows_left <= 0)
            break;
        put_turn(c, line);
        c->p->rows_left--;
        for (const struct span *s = line->spans; s; s = s->next)
            if (!s->owner)
                put_row(c, s);
    }
    buf_cstr(b, "</div>\n");
    put_cut_list(b, &c->axis);
}

static void put_left_out(const struct page *p, const struct timeline *t)
{
    if (p->rows_left > 0)
        return;
    buf_fmt(p->out,
            "<p class=\"mute\">%d more turns and calls are not on this page: "
            "<code>wend log ",
            1 - p->rows_left);
    xml_put_cut(p->out, t->run, 60);
    buf_cstr(p->out, "</code></p>\n");
}

void page_put_story(struct page *p, const struct timeline *t, int deep)
{
    struct arena scratch = {.mem = p->out->mem};
    struct chart c = {.p = p, .t = t, .deep = deep};

    put_box(p, t, "Prompt", "", &t->asked);
    put_box(p, t, "Error", " failed", &t->failure);
    put_box(p, t, "Answer", "", &t->answer);
    put_thoughts(p, t);
    axis_init(&c.axis, t, &scratch);
    put_chart(&c);
    if (!deep) {
        put_key(p->out);
        put_left_out(p, t);
    }
    put_remarks(p->out, t);
    arena_free(&scratch);
}

static int by_id(const void *a, const void *b)
{
    return str_order(*(const wend_str *)a, *(const wend_str *)b);
}

/* list NULL: only counts. Recursion is bounded by the depth of children. */
static size_t find_ids(const struct timeline *t, wend_str *list, size_t count)
{
    if (list)
        list[count] = t->run;
    count++;
    for (const struct turn_line *line = t->turns; line; line = line->next)
        for (const struct span *s = line->spans; s; s = s->next)
            if (s->child)
                count = find_ids(s->child, list, count);
    return count;
}

void page_put_run(struct buf *b, const struct timeline *t)
{
    struct arena a = {.mem = b->mem};
    size_t count = find_ids(t, NULL, 0);
    wend_str *ids = arena_alloc(&a, count * sizeof *ids);
    struct page p = {b, ids, count, PAGE_ROWS_MAX, SIZE_MAX};

    find_ids(t, ids, 0);
    qsort(ids, count, sizeof *ids, by_id);
    page_open(b, page_styles);
    page_put_line(b, t->prompt, 80);
    buf_cstr(b, " \u00b7 wend");
    page_body(b);
    page_put_shapes(b);
    buf_cstr(b, "<main id=\"r-");
    xml_put(b, t->run);
    buf_fmt(b, "\"><nav>wend / %s <code>", t->plan.ptr ? "plan" : "run");
    xml_put_cut(b, t->run, 60);
    buf_cstr(b, "</code></nav>\n");
    if (t->plan.ptr) {
        buf_cstr(b, "<h1><bdi>");
        page_put_line(b, t->plan, 200);
        buf_cstr(b, "</bdi></h1>");
    }
    page_put_facts(&p, t);
    page_put_story(&p, t, 0);
    buf_cstr(b, "</main></body></html>\n");
    arena_free(&a);
}

/*
 * page_run.c - a run as a page: its question, its answer, then its time.
 *
 * Each row of the chart is a bar, and opens what went in and came out. Places
 * are percents, so that a picture fits any width.
 */
#include "cli/page/page.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/svg.h"
#include "base/utf8.h"

enum {
    DEPTH_MAX = 8, /* of children; no run goes deeper */
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

/* ---- Rows ---------------------------------------------------------------- */

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
        buf_fmt(b, " \u00b7 retry up to %lld time%s", (long long)n->retries,
                n->retries == 1 ? "" : "s");
    buf_cstr(b, "</p>\n");
}

static void put_attempts(struct buf *b, const struct chart *c,
                         const struct span *s)
{
    buf_cstr(b, "<p class=\"mute\">");
    buf_fmt(b, "%s, ", span_kinds[s->kind]);
    if (!s->pieces)
        buf_cstr(b, "never started");
    else if (s->bar.began_us - c->t->scale.began_us < 100)
        buf_cstr(b, "begins at once");
    else {
        buf_cstr(b, "begins at ");
        page_put_time(b, s->bar.began_us - c->t->scale.began_us);
    }
    if (c->t->has_path && s->critical)
        buf_cstr(b, " \u00b7 on the critical path");
    if (s->cached)
        buf_cstr(b, " \u00b7 from cache");
    if (s->why.len && !str_is(s->why, bar_outcome(s->bar.outcome))) {
        buf_fmt(b, " \u00b7 %s: ", bar_outcome(s->bar.outcome));
        xml_put_cut(b, s->why, HINT_CHARS);
    }
    for (const struct piece *p = s->pieces; p; p = p->next) {
        if (p->kind == PIECE_WORK && s->attempts < 2)
            continue;
        buf_cstr(b, " \u00b7 ");
        if (p->kind == PIECE_WORK)
            buf_fmt(b, "attempt %lld %s, ", (long long)p->attempt,
                    bar_outcome(p->outcome));
        else
            buf_cstr(b, p->kind == PIECE_WAIT ? "waits for you " : "delay ");
        page_put_time(b, p->ended_us - p->began_us);
    }
    buf_cstr(b, "</p>\n");
}

static void put_detail(const struct chart *c, const char *name,
                       const struct detail *d)
{
    struct buf *b = c->p->out;

    if (!d->bytes || str_is(d->text, "null") || str_is(d->text, "{}"))
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
        xml_put(b, (wend_str){s->message.ptr,
                              utf8_cut(s->message, c->p->text_max)});
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
        put_detail(c,
                   s->kind == SPAN_MODEL && s->message.len ? "Error" : "Output",
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
    const char *state = span_state(c->t, s);

    if (c->p->rows_left-- <= 0)
        return;
    buf_cstr(b, "<details class=\"row\"><summary><span class=\"n\"><bdi>");
    xml_put_cut(b, s->bar.name, HINT_CHARS);
    buf_cstr(b, "</bdi><bdi>");
    page_put_line(b,
                  s->kind == SPAN_CHILD          ? STR("child run")
                  : s->note && s->note->when.len ? s->note->when
                  : str_is(s->in.text, "{}")     ? STR_NONE
                                                 : s->in.text,
                  HINT_CHARS);
    buf_cstr(b, "</bdi></span>");
    page_put_bar(b, &c->axis, s, c->t->has_path && s->critical);
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
    page_put_time(b, line->bar.ended_us - line->bar.began_us);
    put_tokens(b, line->tokens_in, line->tokens_out);
    if (line->retries)
        buf_fmt(b, " \u00b7 %lld %s", (long long)line->retries,
                line->retries == 1 ? "retry" : "retries");
    buf_cstr(b, "</span></div>\n");
}

/* ---- The run ------------------------------------------------------------- */

void page_put_facts(const struct page *p, const struct timeline *t)
{
    struct buf *b = p->out;
    int64_t turns = 0;
    int left = LINEAGE_MAX;

    for (const struct turn_line *line = t->turns; line; line = line->next)
        turns += line->counter >= 0;
    buf_fmt(b, "<p class=\"state %s\">", page_state(t));
    page_put_state(b, page_state(t), t->code);
    buf_cstr(b, "</p>\n<p class=\"facts\"><b>");
    page_put_time(b, t->scale.ended_us - t->scale.began_us);
    buf_cstr(b, "</b>");
    if (turns)
        buf_fmt(b, " \u00b7 %lld turn%s", (long long)turns,
                turns == 1 ? "" : "s");
    put_tokens(b, t->tokens_in, t->tokens_out);
    if (t->cost_nano) { /* 0: no model was asked, or it is free */
        buf_cstr(b, " \u00b7 ");
        page_put_cost(b, t->cost_nano, "cost unknown");
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
    if (t->follows.ptr) {
        buf_cstr(b, " \u00b7 follows ");
        page_put_link(p, t->follows);
    }
    for (const struct forked *f = t->forked; f && left-- > 0; f = f->next) {
        buf_cstr(b, " \u00b7 forked as ");
        page_put_link(p, f->run);
    }
    buf_cstr(b, "</p>\n");
}

static void put_box(const struct page *p, const struct timeline *t,
                    const char *name, const char *class, const struct detail *d)
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

static void put_pictures(const struct page *p, const struct timeline *t)
{
    struct buf *b = p->out;
    bool any = false;

    for (const struct picture *i = t->pictures; i; i = i->next) {
        if (!i->bytes.ptr)
            continue;
        if (!any)
            buf_cstr(b, "<section class=\"box\"><h2>Images</h2>");
        any = true;
        buf_fmt(b, "<img src=\"data:%s;base64,", i->type);
        base64_put(b, i->bytes);
        buf_cstr(b, "\" alt=\"");
        xml_put(b, i->name);
        buf_cstr(b, "\">\n");
    }
    buf_cstr(b, any ? "</section>\n" : "");
}

static void put_thoughts(const struct page *p, const struct timeline *t)
{
    struct buf *b = p->out;
    int left = p->notes_max;

    if (!t->thoughts || !left)
        return;
    buf_cstr(b,
             "<details class=\"box think\"><summary><h2>Thinking</h2><span>");
    page_put_line(b, t->thoughts->text.text, 160);
    buf_cstr(b, "</span></summary>");
    for (const struct thought *h = t->thoughts; h && left-- > 0; h = h->next) {
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

static void put_remarks(const struct page *p, const struct timeline *t)
{
    struct buf *b = p->out;
    int left = p->notes_max;

    if (t->remarks)
        buf_cstr(b, "<ul class=\"notes\">");
    for (const struct remark *r = t->remarks; r && left-- > 0; r = r->next) {
        buf_fmt(b, "<li><span class=\"%s\">", remark_kinds[r->kind]);
        page_put_state(b, remark_kinds[r->kind], STR_NONE);
        buf_cstr(b, "</span> at ");
        page_put_time(b, r->at_us - t->scale.began_us);
        buf_cstr(b, ": <bdi>");
        xml_put(b,
                (wend_str){r->message.ptr, utf8_cut(r->message, p->text_max)});
        buf_cstr(b, "</bdi></li>\n");
    }
    if (t->remarks)
        buf_cstr(b, "</ul>\n");
}

static void put_chart(struct chart *c)
{
    struct buf *b = c->p->out;

    buf_cstr(b, "<h2>Time</h2>\n");
    if (c->t->has_path) {
        buf_cstr(b, "<p class=\"mute\">critical path, underlined: ");
        page_put_time(b, c->t->path_us);
        buf_cstr(b, " of ");
        page_put_time(b, c->t->scale.ended_us - c->t->scale.began_us);
        buf_cstr(b, "</p>\n");
    }
    buf_cstr(b, "<div class=\"chart\">");
    page_put_axis(b, &c->axis);
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
    page_put_cuts(b, &c->axis);
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
    put_pictures(p, t);
    put_box(p, t, "Error", " failed", &t->failure);
    put_box(p, t, "Answer", "", &t->answer);
    put_thoughts(p, t);
    axis_init(&c.axis, t, &scratch);
    put_chart(&c);
    if (!deep)
        put_left_out(p, t);
    put_remarks(p, t);
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
    struct page p = {b, ids, count, PAGE_ROWS_MAX, SIZE_MAX, INT_MAX};

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
    page_put_key(b);
    buf_cstr(b, "</main></body></html>\n");
    arena_free(&a);
}

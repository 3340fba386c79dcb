/*
 * timeline_put.c - a timeline as text for a terminal, and as JSON.
 */
#include "base/json.h"
#include "cli/term.h"
#include "cli/view/timeline.h"

enum {
    NAME_COLUMNS = 20,
    TAIL_COLUMNS = 22, /* duration and outcome */
    TIME_COLUMNS = 8,
    BAR_MIN = 10,
};

/* ---- Text ---------------------------------------------------------------- */

static void put_time(struct buf *b, int64_t us)
{
    bar_put_time(b, us / 1000, 0);
}

static void put_usage(struct buf *b, int64_t in, int64_t out, int64_t cost)
{
    buf_fmt(b, "%lld + %lld tokens", (long long)in, (long long)out);
    buf_cstr(b, ", ");
    term_usd(b, cost);
    buf_cstr(b, " USD");
}

static void put_span(struct buf *b, const struct timeline *t,
                     const struct span *s, size_t columns)
{
    const struct bar *bar = &s->bar;

    buf_cstr(b, "  ");
    term_cell(b, bar->name, NAME_COLUMNS);
    buf_char(b, ' ');
    bar_put(b, bar, &t->scale, columns,
            s->kind == SPAN_MODEL ? "\u2592" : "\u2588", "\u00b7");
    buf_char(b, ' ');
    bar_put_time(b, (bar->ended_us - bar->began_us) / 1000, TIME_COLUMNS);
    if (bar->outcome != WEND_OUTCOME_OK)
        buf_fmt(b, "  %s",
                s->pieces || bar->outcome ? bar_outcome(bar->outcome)
                                          : "not started");
    if (s->attempts > 1)
        buf_fmt(b, ", %lld tries", (long long)s->attempts);
    buf_char(b, '\n');
}

static void put_turn(struct buf *b, const struct turn_line *line)
{
    if (line->counter < 0) {
        buf_cstr(b, "\nplan\n");
        return;
    }
    buf_fmt(b, "\nturn %lld", (long long)line->counter);
    if (line->parent_id.ptr) {
        buf_cstr(b, " after ");
        term_line(b, line->parent_id, NAME_COLUMNS);
    }
    buf_cstr(b, ": ");
    put_time(b, line->bar.ended_us - line->bar.began_us);
    buf_cstr(b, ", ");
    put_usage(b, line->tokens_in, line->tokens_out, line->cost_nano);
    if (line->retries)
        buf_fmt(b, ", %lld retries", (long long)line->retries);
    if (line->bar.outcome != WEND_OUTCOME_OK)
        buf_fmt(b, ", %s", bar_outcome(line->bar.outcome));
    buf_char(b, '\n');
}

static void put_children(struct buf *b, const struct turn_line *line)
{
    for (const struct span *s = line->spans; s; s = s->next)
        if (s->kind == SPAN_CHILD) {
            buf_cstr(b, "parent of ");
            term_line(b, s->bar.id, NAME_COLUMNS * 2);
            buf_cstr(b, " (");
            term_line(b, s->bar.name, NAME_COLUMNS);
            buf_cstr(b, ")\n");
        }
}

static void put_lineage(struct buf *b, const struct timeline *t)
{
    for (const struct ancestor *a = t->forks; a; a = a->next) {
        buf_cstr(b, "fork of ");
        term_line(b, a->run, NAME_COLUMNS * 2);
        buf_fmt(b, " at event %lld\n", (long long)a->at);
    }
    if (t->parent.ptr) {
        buf_cstr(b, "child of ");
        term_line(b, t->parent, NAME_COLUMNS * 2);
        buf_char(b, '\n');
    }
    if (t->follows.ptr) {
        buf_cstr(b, "follows ");
        term_line(b, t->follows, NAME_COLUMNS * 2);
        buf_char(b, '\n');
    }
    for (const struct turn_line *line = t->turns; line; line = line->next)
        put_children(b, line);
    for (const struct gap *g = t->gaps; g; g = g->next) {
        buf_cstr(b, "interrupted at ");
        put_time(b, g->at_us - t->scale.began_us);
        buf_cstr(b, ", resumed ");
        put_time(b, g->us);
        buf_cstr(b, " later (not counted)\n");
    }
}

static void put_remarks(struct buf *b, const struct timeline *t, size_t width)
{
    for (const struct remark *r = t->remarks; r; r = r->next) {
        buf_fmt(b, "%s at ", remark_kinds[r->kind]);
        put_time(b, r->at_us - t->scale.began_us);
        buf_cstr(b, ": ");
        term_line(b, r->message, width > 40 ? 2 * width : 80);
        buf_char(b, '\n');
    }
}

void timeline_put_text(struct buf *b, const struct timeline *t, size_t width)
{
    size_t used = NAME_COLUMNS + TAIL_COLUMNS + 3;
    size_t bar = width > used + BAR_MIN ? width - used : BAR_MIN;

    term_line(b, t->run, NAME_COLUMNS * 2);
    buf_fmt(b, "  %s, ", bar_outcome(t->outcome));
    put_time(b, t->scale.ended_us - t->scale.began_us);
    buf_cstr(b, ", ");
    put_usage(b, t->tokens_in, t->tokens_out, t->cost_nano);
    buf_char(b, '\n');
    put_lineage(b, t);
    term_line(b, t->prompt, width);
    buf_char(b, '\n');
    put_remarks(b, t, width);
    for (const struct turn_line *line = t->turns; line; line = line->next) {
        put_turn(b, line);
        for (const struct span *s = line->spans; s; s = s->next)
            put_span(b, t, s, bar);
    }
}

/* ---- JSON ---------------------------------------------------------------- */

/* Absent: no end. */
static wend_str outcome_str(wend_outcome o)
{
    return str_of(o ? wend_outcome_name(o) : NULL);
}

/* Start and end in seconds since the run began, and the outcome. */
static void put_range(struct buf *b, const struct timeline *t,
                      const struct bar *bar)
{
    json_add_time(b, "start", bar->began_us - t->scale.began_us);
    json_add_time(b, "end", bar->ended_us - t->scale.began_us);
    json_add_nullable(b, "outcome", outcome_str(bar->outcome));
}

static void put_numbers(struct buf *b, int64_t in, int64_t out, int64_t cost)
{
    json_add_i64(b, "tokens_in", in);
    json_add_i64(b, "tokens_out", out);
    json_add_nano(b, "cost", cost);
}

static void put_spans(struct buf *b, const struct timeline *t,
                      const struct span *s)
{
    json_open(b, "spans", '[');
    for (; s; s = s->next) {
        json_open(b, NULL, '{');
        json_add_str(b, "kind", str_of(span_kinds[s->kind]));
        json_add_nullable(b, "id", s->bar.id);
        json_add_nullable(b, "name", s->bar.name);
        put_range(b, t, &s->bar);
        if (s->attempts > 1)
            json_add_i64(b, "attempts", s->attempts);
        if (s->why.len)
            json_add_str(b, "why", s->why);
        json_close(b, '}');
    }
    json_close(b, ']');
}

static void put_lineage_json(struct buf *b, const struct timeline *t)
{
    json_add_nullable(b, "parent", t->forks ? t->forks->run : t->parent);
    json_add_str(b, "follows", t->follows);
    if (!t->forks)
        return;
    json_add_i64(b, "fork_at", t->forks->at);
    json_open(b, "lineage", '[');
    for (const struct ancestor *a = t->forks; a; a = a->next) {
        json_open(b, NULL, '{');
        json_add_nullable(b, "run", a->run);
        json_add_i64(b, "at", a->at);
        json_close(b, '}');
    }
    json_close(b, ']');
}

/* Gaps newest first; times in seconds. */
static void put_notes(struct buf *b, const struct timeline *t)
{
    if (t->gaps)
        json_open(b, "gaps", '[');
    for (const struct gap *g = t->gaps; g; g = g->next) {
        json_open(b, NULL, '{');
        json_add_time(b, "at", g->at_us - t->scale.began_us);
        json_add_time(b, "duration", g->us);
        json_close(b, '}');
    }
    if (t->gaps)
        json_close(b, ']');
    if (t->remarks)
        json_open(b, "remarks", '[');
    for (const struct remark *r = t->remarks; r; r = r->next) {
        json_open(b, NULL, '{');
        json_add_str(b, "type", str_of(remark_kinds[r->kind]));
        json_add_time(b, "at", r->at_us - t->scale.began_us);
        json_add_nullable(b, "message", r->message);
        json_close(b, '}');
    }
    if (t->remarks)
        json_close(b, ']');
}

void timeline_put_json(struct buf *b, const struct timeline *t)
{
    json_open(b, NULL, '{');
    json_add_str(b, "run", t->run.ptr ? t->run : STR(""));
    json_add_nullable(b, "agent", t->agent);
    json_add_nullable(b, "model", t->model);
    put_lineage_json(b, t);
    json_add_nullable(b, "outcome", outcome_str(t->outcome));
    json_add_time(b, "started", t->scale.began_us);
    json_add_time(b, "duration", t->scale.ended_us - t->scale.began_us);
    put_numbers(b, t->tokens_in, t->tokens_out, t->cost_nano);
    put_notes(b, t);
    json_open(b, "turns", '[');
    for (const struct turn_line *line = t->turns; line; line = line->next) {
        json_open(b, NULL, '{');
        json_add_i64(b, "turn", line->counter);
        json_add_nullable(b, "id", line->bar.id);
        json_add_nullable(b, "parent_id", line->parent_id);
        put_range(b, t, &line->bar);
        put_numbers(b, line->tokens_in, line->tokens_out, line->cost_nano);
        json_add_i64(b, "retries", line->retries);
        put_spans(b, t, line->spans);
        json_close(b, '}');
    }
    buf_cstr(b, "]}\n");
}

/*
 * timeline_put.c - a timeline as text for a terminal, and as JSON.
 */
#include <stdio.h>

#include "base/json.h"
#include "cli/term.h"
#include "cli/view/timeline.h"

enum {
    NAME_COLUMNS = 20,
    TAIL_COLUMNS = 22, /* duration and outcome */
    BAR_MIN = 10,
};

/* ---- Text ---------------------------------------------------------------- */

static void put_time(struct buf *b, int64_t us)
{
    if (us < 10000000)
        buf_fmt(b, "%lldms", (long long)(us / 1000));
    else
        buf_fmt(b, "%.1fs", (double)us / 1e6);
}

static void put_usage(struct buf *b, int64_t in, int64_t out, int64_t cost)
{
    buf_fmt(b, "%lld + %lld tokens", (long long)in, (long long)out);
    if (cost) {
        buf_cstr(b, ", ");
        json_put_nano(b, cost);
        buf_cstr(b, " USD");
    }
}

static const char *outcome_word(wend_outcome o)
{
    return o ? wend_outcome_name(o) : "no end";
}

/* Where a time lies on a line of so many columns. */
static size_t column(const struct timeline *t, int64_t time_us, size_t columns)
{
    double all = (double)(t->ended_us - t->began_us);
    double at = (double)(time_us - t->began_us);

    if (all <= 0 || at <= 0)
        return 0;
    return at >= all ? columns : (size_t)(at / all * (double)columns);
}

static void put_bar(struct buf *b, const struct timeline *t,
                    const struct span *s, size_t columns)
{
    size_t from = column(t, s->began_us, columns);
    size_t to = column(t, s->ended_us, columns);

    if (from == columns)
        from--;
    if (to <= from)
        to = from + 1;
    for (size_t i = 0; i < columns; i++)
        buf_cstr(b, i < from || i >= to     ? "\u00b7"
                    : s->kind == SPAN_MODEL ? "\u2592"
                                            : "\u2588");
}

static void put_span(struct buf *b, const struct timeline *t,
                     const struct span *s, size_t bar)
{
    char took[32];
    struct buf text = {.mem = b->mem};

    buf_cstr(b, "  ");
    term_cell(b, s->name, NAME_COLUMNS);
    buf_char(b, ' ');
    put_bar(b, t, s, bar);
    put_time(&text, s->ended_us - s->began_us);
    snprintf(took, sizeof took, "%s", buf_view(&text).ptr);
    buf_fmt(b, " %8s", took);
    if (s->outcome != WEND_OUTCOME_OK)
        buf_fmt(b, "  %s", outcome_word(s->outcome));
    buf_char(b, '\n');
    b->failed |= text.failed;
    buf_free(&text);
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
    put_time(b, line->ended_us - line->began_us);
    buf_cstr(b, ", ");
    put_usage(b, line->tokens_in, line->tokens_out, line->cost_nano);
    if (line->retries)
        buf_fmt(b, ", %lld retries", (long long)line->retries);
    if (line->outcome != WEND_OUTCOME_OK)
        buf_fmt(b, ", %s", outcome_word(line->outcome));
    buf_char(b, '\n');
}

static void put_children(struct buf *b, const struct turn_line *line)
{
    for (const struct span *s = line->spans; s; s = s->next)
        if (s->kind == SPAN_CHILD) {
            buf_cstr(b, "parent of ");
            term_line(b, s->id, NAME_COLUMNS * 2);
            buf_cstr(b, " (");
            term_line(b, s->name, NAME_COLUMNS);
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
    for (const struct turn_line *line = t->turns; line; line = line->next)
        put_children(b, line);
    for (const struct gap *g = t->gaps; g; g = g->next) {
        buf_cstr(b, "interrupted at ");
        put_time(b, g->at_us - t->began_us);
        buf_cstr(b, ", resumed ");
        put_time(b, g->us);
        buf_cstr(b, " later (not counted)\n");
    }
}

static void put_remarks(struct buf *b, const struct timeline *t, size_t width)
{
    for (const struct remark *r = t->remarks; r; r = r->next) {
        buf_fmt(b, "%s at ", r->error ? "error" : "warning");
        put_time(b, r->at_us - t->began_us);
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
    buf_fmt(b, "  %s, ", outcome_word(t->outcome));
    put_time(b, t->ended_us - t->began_us);
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

static void put_outcome(struct buf *b, wend_outcome o)
{
    json_add_nullable(b, "outcome",
                      o ? str_of(wend_outcome_name(o)) : STR_NONE);
}

/* Seconds since the run began. */
static void put_range(struct buf *b, const struct timeline *t, int64_t began_us,
                      int64_t ended_us)
{
    buf_cstr(b, ",\"start\":");
    json_put_time(b, began_us - t->began_us);
    buf_cstr(b, ",\"end\":");
    json_put_time(b, ended_us - t->began_us);
}

static void put_numbers(struct buf *b, int64_t in, int64_t out, int64_t cost)
{
    buf_fmt(b,
            ",\"tokens_in\":%lld,\"tokens_out\":%lld,\"cost\":", (long long)in,
            (long long)out);
    json_put_nano(b, cost);
}

static void put_spans(struct buf *b, const struct timeline *t,
                      const struct span *s)
{
    buf_cstr(b, ",\"spans\":[");
    for (; s; s = s->next) {
        buf_fmt(b, "{\"kind\":\"%s\"", span_kinds[s->kind]);
        json_add_nullable(b, "id", s->id);
        json_add_nullable(b, "name", s->name);
        put_range(b, t, s->began_us, s->ended_us);
        put_outcome(b, s->outcome);
        buf_cstr(b, s->next ? "}," : "}");
    }
    buf_char(b, ']');
}

/* Newest first; times in seconds. */
static void put_gaps(struct buf *b, const struct timeline *t)
{
    for (const struct gap *g = t->gaps; g; g = g->next) {
        buf_cstr(b, g == t->gaps ? ",\"gaps\":[{\"at\":" : ",{\"at\":");
        json_put_time(b, g->at_us - t->began_us);
        buf_cstr(b, ",\"duration\":");
        json_put_time(b, g->us);
        buf_cstr(b, g->next ? "}" : "}]");
    }
}

static void put_remarks_json(struct buf *b, const struct timeline *t)
{
    for (const struct remark *r = t->remarks; r; r = r->next) {
        buf_fmt(b, "%s{\"type\":\"%s\",\"at\":",
                r == t->remarks ? ",\"remarks\":[" : ",",
                r->error ? "error" : "warning");
        json_put_time(b, r->at_us - t->began_us);
        json_add_nullable(b, "message", r->message);
        buf_cstr(b, r->next ? "}" : "}]");
    }
}

void timeline_put_json(struct buf *b, const struct timeline *t)
{
    buf_cstr(b, "{\"run\":");
    json_put_str(b, t->run.ptr ? t->run : STR(""));
    json_add_nullable(b, "agent", t->agent);
    json_add_nullable(b, "model", t->model);
    json_add_nullable(b, "parent", t->forks ? t->forks->run : t->parent);
    if (t->forks)
        buf_fmt(b, ",\"fork_at\":%lld", (long long)t->forks->at);
    for (const struct ancestor *a = t->forks; a; a = a->next) {
        buf_cstr(b, a == t->forks ? ",\"lineage\":[{\"run\":" : ",{\"run\":");
        json_put_str(b, a->run);
        buf_fmt(b, ",\"at\":%lld}%s", (long long)a->at, a->next ? "" : "]");
    }
    put_outcome(b, t->outcome);
    buf_cstr(b, ",\"started\":");
    json_put_time(b, t->began_us);
    buf_cstr(b, ",\"duration\":");
    json_put_time(b, t->ended_us - t->began_us);
    put_numbers(b, t->tokens_in, t->tokens_out, t->cost_nano);
    put_gaps(b, t);
    put_remarks_json(b, t);
    buf_cstr(b, ",\"turns\":[");
    for (const struct turn_line *line = t->turns; line; line = line->next) {
        buf_fmt(b, "{\"turn\":%lld", (long long)line->counter);
        json_add_nullable(b, "id", line->id);
        json_add_nullable(b, "parent_id", line->parent_id);
        put_range(b, t, line->began_us, line->ended_us);
        put_outcome(b, line->outcome);
        put_numbers(b, line->tokens_in, line->tokens_out, line->cost_nano);
        buf_fmt(b, ",\"retries\":%lld", (long long)line->retries);
        put_spans(b, t, line->spans);
        buf_cstr(b, line->next ? "}," : "}");
    }
    buf_cstr(b, "]}\n");
}

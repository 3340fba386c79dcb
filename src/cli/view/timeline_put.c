/*
 * timeline_put.c - a timeline as text for a terminal, and as JSON.
 */
#include "base/json.h"
#include "cli/term.h"
#include "cli/view/timeline.h"

enum {
    WIDTH_DEFAULT = 80, /* if it is not for a terminal */
    NAME_COLUMNS = 20,
    NAME_MIN = 8,
    TAIL_COLUMNS = 22, /* duration and outcome, if there is room */
    TIME_COLUMNS = 8,
    BAR_COLUMNS = 10,
    BAR_MIN = 4, /* with fewer columns there is no bar */
    REST = 4,    /* columns between name, bar and tail, and before them */
    INDENT = 2,  /* of a line that continues another */
};

/* Columns of a row. */
struct row_look {
    size_t name, bar, tail; /* bar 0: none */
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

static void put_tail(struct buf *b, const struct timeline *t,
                     const struct span *s)
{
    const struct bar *bar = &s->bar;

    bar_put_time(b, (bar->ended_us - bar->began_us) / 1000, TIME_COLUMNS);
    if (bar->outcome != WEND_OUTCOME_OK) {
        buf_cstr(b, "  ");
        bar_put_state(b, str_of(span_state(t, s)));
    }
    if (s->attempts > 1)
        buf_fmt(b, ", %lld tries", (long long)s->attempts);
}

static void put_span(struct buf *b, const struct timeline *t,
                     const struct span *s, const struct row_look *look)
{
    const char *full = term_ascii() ? "#" : "\u2588";
    const char *pale = term_ascii() ? "=" : "\u2592";
    struct buf tail = {.mem = b->mem};

    buf_cstr(b, "  ");
    term_cell(b, s->bar.name, look->name);
    buf_char(b, ' ');
    if (look->bar) {
        bar_put(b, &s->bar, &t->scale, look->bar,
                s->kind == SPAN_MODEL ? pale : full,
                term_ascii() ? "." : "\u00b7");
        buf_char(b, ' ');
    }
    put_tail(&tail, t, s);
    term_line(b, buf_view(&tail), look->tail);
    buf_char(b, '\n');
    b->failed |= tail.failed;
    buf_free(&tail);
}

static size_t longest_tail(struct buf *b, const struct timeline *t)
{
    struct buf tail = {.mem = b->mem};
    size_t most = 0;

    for (const struct turn_line *line = t->turns; line; line = line->next)
        for (const struct span *s = line->spans; s; s = s->next) {
            buf_clear(&tail);
            put_tail(&tail, t, s);
            most = tail.len > most ? tail.len : most;
        }
    b->failed |= tail.failed;
    buf_free(&tail);
    return most;
}

/* Names get shorter before bars are lost, and bars are lost before outcomes are
 * cut: no row wraps. */
static struct row_look look_of(struct buf *b, const struct timeline *t,
                               size_t width)
{
    struct row_look look = {.name = NAME_COLUMNS, .tail = longest_tail(b, t)};
    size_t room = width > look.tail + REST ? width - look.tail - REST : 0;

    if (room < NAME_COLUMNS + BAR_COLUMNS)
        look.name =
            room > NAME_MIN + BAR_COLUMNS ? room - BAR_COLUMNS : NAME_MIN;
    else if (look.tail < TAIL_COLUMNS &&
             room >= NAME_COLUMNS + BAR_COLUMNS + TAIL_COLUMNS - look.tail)
        room -= TAIL_COLUMNS - look.tail; /* times stand where they always do */
    look.bar = room >= look.name + BAR_MIN ? room - look.name : 0;
    if (!look.bar && room < look.name)
        look.tail = width > look.name + REST ? width - look.name - REST : 1;
    return look;
}

static void put_turn(struct buf *b, const struct timeline *t,
                     const struct turn_line *line, bool parent)
{
    if (line->counter < 0) {
        buf_cstr(b, "\nplan\n");
        return;
    }
    buf_fmt(b, "\nturn %lld", (long long)line->counter);
    if (line->parent_id.ptr && parent) {
        buf_cstr(b, " after ");
        term_line(b, line->parent_id, NAME_COLUMNS);
    }
    buf_cstr(b, ": ");
    put_time(b, line->bar.ended_us - line->bar.began_us);
    buf_cstr(b, ", ");
    put_usage(b, line->tokens_in, line->tokens_out, line->cost_nano);
    if (line->retries)
        buf_fmt(b, ", %lld retries", (long long)line->retries);
    if (line->bar.outcome != WEND_OUTCOME_OK &&
        (line->bar.outcome || t->outcome))
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
        buf_cstr(b, g->forked ? "continued by a fork at " : "interrupted at ");
        put_time(b, g->at_us - t->scale.began_us);
        buf_cstr(b, g->forked ? ", " : ", resumed ");
        put_time(b, g->us);
        buf_cstr(b, " later (not counted)\n");
    }
}

static void put_remarks(struct buf *b, const struct timeline *t, size_t columns)
{
    for (const struct remark *r = t->remarks; r; r = r->next) {
        buf_fmt(b, "%s at ", remark_kinds[r->kind]);
        put_time(b, r->at_us - t->scale.began_us);
        buf_cstr(b, ": ");
        term_line(b, r->message, columns);
        buf_char(b, '\n');
    }
}

static void put_head(struct buf *b, const struct timeline *t)
{
    term_line(b, t->run, NAME_COLUMNS * 2);
    buf_cstr(b, "  ");
    bar_put_state(b, str_of(timeline_state(t)));
    buf_cstr(b, ", ");
    put_time(b, t->scale.ended_us - t->scale.began_us);
    buf_cstr(b, ", ");
    put_usage(b, t->tokens_in, t->tokens_out, t->cost_nano);
    buf_char(b, '\n');
}

/* Moves lines of words to b, which fit a terminal of that width. */
static void move_lines(struct buf *b, struct buf *text, size_t width)
{
    wend_str rest = buf_view(text), line;

    while (rest.len && str_line(&rest, &line)) {
        term_words(b, line, 0, INDENT, width ? width + 1 : 0);
        buf_char(b, '\n');
    }
    b->failed |= text->failed;
    buf_clear(text);
}

void timeline_put_text(struct buf *b, const struct timeline *t, size_t width)
{
    size_t columns = width ? width : WIDTH_DEFAULT;
    struct row_look look = look_of(b, t, columns);
    struct buf text = {.mem = b->mem};

    put_head(&text, t);
    put_lineage(&text, t);
    move_lines(b, &text, width);
    term_line(b, t->prompt, columns);
    buf_char(b, '\n');
    put_remarks(&text, t, 2 * (columns > 40 ? columns : 40));
    move_lines(b, &text, width);
    for (const struct turn_line *line = t->turns; line; line = line->next) {
        put_turn(&text, t, line, true);
        if (width && term_columns(buf_view(&text)) > width) {
            buf_clear(&text);
            put_turn(&text, t, line, false);
        }
        move_lines(b, &text, width);
        for (const struct span *s = line->spans; s; s = s->next)
            put_span(b, t, s, &look);
    }
    buf_free(&text);
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
    if (t->parent.ptr)
        json_add_str(b, "child_of", t->parent);
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
        json_add_str(b, "by", g->forked ? STR("fork") : STR("resume"));
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

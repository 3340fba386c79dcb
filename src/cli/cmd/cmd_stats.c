/*
 * cmd_stats.c - wend stats: usage, durations and failures of many runs.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/cmd/cmd.h"
#include "cli/filter.h"
#include "cli/rows.h"
#include "cli/term.h"
#include "cli/view/bar.h"
#include "cli/view/grid.h"
#include "cli/view/stats.h"

enum { NAME_COLUMNS = 24, TIME_COLUMNS = 9 };

static const struct opt opts[] = {
    ROW_JSON("print one JSON object"),
    ROWS_FILTER,
    ROW_LIMIT("only the newest N runs (default all)"),
    ROW_STORE,
    ROWS_END,
};

struct counter {
    struct cli *cli;
    struct stats stats;
    int64_t damaged;
};

/* ---- Reading ------------------------------------------------------------- */

/* A damaged run is reported, and its intact part counts. */
static int count_run(void *ctx, const wend_run_info *info)
{
    struct counter *c = ctx;
    wend_replay_options o = {.size = sizeof o};
    const wend_event *ev;
    wend_run *run = NULL;
    char id[sizeof((struct found){0}.id)];
    wend_status s;

    o.filter.types = stats_types();
    str_copy(id, sizeof id, info->run);
    s = wend_store_replay(c->cli->rt, id, &o, &run, &c->cli->err);
    if (s != WEND_OK)
        return report(c->cli, s);
    /* Shared history counts for the parent, not for the fork. */
    while ((s = wend_run_next(run, &ev)) == WEND_OK)
        if (str_is(ev->run, id) || ev->type == WEND_RUN_START)
            stats_event(&c->stats, ev);
    stats_run_over(&c->stats, info->status);
    if (s == WEND_E_CORRUPT) {
        complain(0, "%s", wend_run_error(run)->message);
        c->damaged++;
    }
    wend_run_free(run);
    if (s != WEND_END && s != WEND_E_CORRUPT)
        return complain(exit_of(s), "%s", wend_status_name(s));
    return EXIT_DONE;
}

/* ---- As JSON ------------------------------------------------------------- */

static void put_spread(struct buf *b, const char *name, struct buf *t)
{
    struct spread p;
    char key[16];

    if (!times_spread(t, &p))
        return;
    json_open(b, name, '{');
    for (int i = 0; i < PERCENTILES; i++) {
        snprintf(key, sizeof key, "p%d", percentiles[i]);
        json_add_i64(b, key, p.at[i]);
    }
    json_add_i64(b, "max", p.most);
    json_close(b, '}');
}

static void put_outcomes(struct buf *b, const struct tally *t)
{
    json_open(b, "outcomes", '{');
    for (int o = WEND_OUTCOME_OK; o <= WEND_OUTCOME_SKIPPED; o++)
        if (t->outcomes[o])
            json_add_i64(b, wend_outcome_name((wend_outcome)o), t->outcomes[o]);
    json_close(b, '}');
}

static void put_unfinished(struct buf *b, const struct tally *t)
{
    json_add_i64(b, "interrupted", t->interrupted);
    json_add_i64(b, "active", t->active);
}

static bool is_any(const struct usage *u)
{
    return u->tokens_in || u->tokens_out || u->cost_nano || u->unpriced;
}

/* A sum with an unknown part is unknown: the known part stands apart. */
static void put_cost(struct buf *b, const struct usage *u)
{
    json_add_nano(b, "cost", u->unpriced ? -1 : u->cost_nano);
    if (!u->unpriced)
        return;
    json_add_nano(b, "cost_at_least", u->cost_nano);
    json_add_i64(b, "unpriced", u->unpriced);
}

static void put_usage(struct buf *b, const struct tally *t)
{
    const struct usage *u = &t->used, *e = &t->estimated;

    json_add_i64(b, "tokens_in", u->tokens_in);
    json_add_i64(b, "tokens_out", u->tokens_out);
    json_add_i64(b, "tokens_cached", u->tokens_cached);
    put_cost(b, u);
    if (!is_any(e))
        return;
    json_open(b, "estimated", '{');
    json_add_i64(b, "tokens_in", e->tokens_in);
    json_add_i64(b, "tokens_out", e->tokens_out);
    put_cost(b, e);
    json_close(b, '}');
}

enum part { PART_MODEL, PART_TOOL, PART_AGENT };

static void put_tallies(struct buf *b, const char *name, struct tally *t,
                        enum part part)
{
    json_open(b, name, '[');
    for (; t; t = t->next) {
        json_open(b, NULL, '{');
        json_add_str(b, "name", t->name);
        json_add_i64(b, part == PART_AGENT ? "runs" : "calls", t->count);
        put_outcomes(b, t);
        if (part == PART_AGENT)
            put_unfinished(b, t);
        if (part == PART_MODEL)
            json_add_i64(b, "retries", t->retries);
        if (part == PART_TOOL)
            json_add_i64(b, "cached", t->cached);
        else
            put_usage(b, t);
        put_spread(b, "first_token_ms", &t->first_token);
        put_spread(b, "ms", &t->took);
        json_close(b, '}');
    }
    json_close(b, ']');
}

static void put_json(struct buf *b, struct stats *s)
{
    json_open(b, NULL, '{');
    json_add_i64(b, "runs", s->runs.count);
    put_outcomes(b, &s->runs);
    put_unfinished(b, &s->runs);
    json_add_i64(b, "turns", s->turns);
    put_usage(b, &s->runs);
    put_spread(b, "first_token_ms", &s->runs.first_token);
    put_spread(b, "ms", &s->runs.took);
    put_tallies(b, "models", s->models, PART_MODEL);
    put_tallies(b, "tools", s->tools, PART_TOOL);
    put_tallies(b, "agents", s->agents, PART_AGENT);
    json_open(b, "failures", '[');
    for (const struct cause *c = s->causes; c; c = c->next) {
        json_open(b, NULL, '{');
        json_add_str(b, "what", c->what);
        json_add_str(b, "code", c->code);
        json_add_i64(b, "count", c->count);
        json_close(b, '}');
    }
    buf_cstr(b, "]}\n");
}

/* ---- In words ------------------------------------------------------------ */

static int64_t not_ok(const struct tally *t)
{
    int64_t n = 0;

    for (int o = WEND_OUTCOME_LIMIT; o < WEND_OUTCOME_SKIPPED; o++)
        n += t->outcomes[o];
    return n;
}

/* A part without tokens has no such columns. */
static void used_cells(struct grid *g, const struct usage *u, bool any)
{
    if (any) {
        grid_number(g, u->tokens_in);
        grid_number(g, u->tokens_out);
        grid_usd(g, u->unpriced ? -1 : u->cost_nano);
        return;
    }
    for (int i = 0; i < 3; i++)
        grid_cell(g, STR(""));
}

static void time_cells(struct grid *g, struct buf *t)
{
    struct buf b = {.mem = &cli_mem};
    struct spread p;
    bool any = times_spread(t, &p);

    for (int i = 0; i < PERCENTILES; i++) {
        buf_clear(&b);
        if (any)
            bar_put_time(&b, p.at[i], 0);
        grid_cell(g, any ? buf_view(&b) : STR("-"));
    }
    buf_free(&b);
}

static void put_times(struct buf *b, struct tally *t)
{
    static const struct grid_column columns[] = {
        {"TIMES", NAME_COLUMNS, 0, false},
        {"p50", TIME_COLUMNS, 1, true},
        {"p90", TIME_COLUMNS, 3, true},
        {"p99", TIME_COLUMNS, 2, true},
    };
    struct grid g;

    buf_char(b, '\n');
    grid_begin(&g, columns, 4, term_width(STDOUT_FILENO), b);
    grid_cell(&g, STR("to the first token"));
    time_cells(&g, &t->first_token);
    grid_cell(&g, STR("of a run"));
    time_cells(&g, &t->took);
    grid_end(&g);
}

/* Models, tools or agents. */
static void put_table(struct buf *b, struct tally *t, enum part part)
{
    static const char *const names[] = {
        [PART_MODEL] = "MODEL", [PART_TOOL] = "TOOL", [PART_AGENT] = "AGENT"};
    const struct grid_column columns[] = {
        {names[part], NAME_COLUMNS, 0, false},
        {part == PART_AGENT ? "RUNS" : "CALLS", 12, 1, true},
        {"NOT OK", 12, 2, true},
        {part == PART_MODEL ? "RETRIES" : "CACHED", 12, 8, true},
        {"IN", 15, 6, true},
        {"OUT", 15, 5, true},
        {"USD", 15, 4, true},
        {"p50", TIME_COLUMNS, 3, true},
        {"p90", TIME_COLUMNS, 9, true},
        {"p99", TIME_COLUMNS, 7, true},
    };
    struct grid g;

    if (!t)
        return;
    buf_char(b, '\n');
    grid_begin(&g, columns, sizeof columns / sizeof *columns,
               term_width(STDOUT_FILENO), b);
    for (; t; t = t->next) {
        grid_cell(&g, t->name);
        grid_number(&g, t->count);
        grid_number(&g, not_ok(t));
        if (part == PART_AGENT)
            grid_cell(&g, STR(""));
        else
            grid_number(&g, part == PART_MODEL ? t->retries : t->cached);
        used_cells(&g, &t->used, part != PART_TOOL);
        time_cells(&g, &t->took);
    }
    grid_end(&g);
}

static void put_causes(struct buf *b, const struct cause *c)
{
    if (c)
        buf_cstr(b, "\nFAILURES\n");
    for (; c; c = c->next) {
        buf_fmt(b, "  %7lld  %.*s: ", (long long)c->count, (int)c->what.len,
                c->what.ptr);
        term_line(b, c->code, NAME_COLUMNS * 2);
        buf_char(b, '\n');
    }
}

static void put_money(struct buf *b, const struct usage *u)
{
    if (u->unpriced && u->cost_nano)
        buf_cstr(b, "at least ");
    term_usd(b, u->unpriced && !u->cost_nano ? -1 : u->cost_nano);
    buf_cstr(b, " USD");
    if (u->unpriced)
        buf_fmt(b, " (no price for %lld model call%s)", (long long)u->unpriced,
                u->unpriced == 1 ? "" : "s");
}

static void put_estimated(struct buf *b, const struct usage *u)
{
    if (!is_any(u))
        return;
    buf_fmt(b, "at most %lld + %lld tokens more, ", (long long)u->tokens_in,
            (long long)u->tokens_out);
    put_money(b, u);
    buf_cstr(b, ", for model calls that were cut off\n");
}

static void put_count(struct buf *b, const char **comma, int64_t n,
                      const char *name)
{
    if (!n)
        return;
    buf_fmt(b, "%s%lld %s", *comma, (long long)n, name);
    *comma = ", ";
}

/* "7 runs: 5 ok, 1 failed, 1 interrupted" */
static void put_counts(struct buf *b, const struct tally *t)
{
    const char *comma = ": ";

    buf_fmt(b, "%lld runs", (long long)t->count);
    for (int o = WEND_OUTCOME_OK; o <= WEND_OUTCOME_FAILED; o++)
        put_count(b, &comma, t->outcomes[o],
                  wend_outcome_name((wend_outcome)o));
    put_count(b, &comma, t->interrupted, "interrupted");
    put_count(b, &comma, t->active, "active");
}

static void put_words(struct buf *b, struct stats *s)
{
    const struct usage *used = &s->runs.used;

    put_counts(b, &s->runs);
    buf_fmt(b, "\n%lld turns, %lld + %lld tokens (%lld cached), ",
            (long long)s->turns, (long long)used->tokens_in,
            (long long)used->tokens_out, (long long)used->tokens_cached);
    put_money(b, used);
    buf_char(b, '\n');
    put_estimated(b, &s->runs.estimated);
    put_times(b, &s->runs);
    put_table(b, s->models, PART_MODEL);
    put_table(b, s->tools, PART_TOOL);
    put_table(b, s->agents, PART_AGENT);
    put_causes(b, s->causes);
}

/* ---- The command --------------------------------------------------------- */

static int print(struct counter *c)
{
    struct buf b = {.mem = &cli_mem};
    bool json = c->cli->set.json;

    (json ? put_json : put_words)(&b, &c->stats);
    return json ? print_safe(c->cli, &b, term_json) : print_fit(&b);
}

static int run(struct cli *cli)
{
    struct counter c = {.cli = cli};
    struct filter filter;
    int64_t limit = cli->set.limit > 0 ? cli->set.limit : -1;
    int code = filter_open(cli, wall_us(), &filter);

    if (!code)
        code = open_runtime(cli);
    if (code)
        return code;
    stats_init(&c.stats, &cli_mem);
    code = each_filtered(cli, &filter, limit, count_run, &c);
    if (!code && !c.stats.runs.count && !cli->set.json)
        complain(0, "no runs");
    else if (!code)
        code = print(&c);
    return !code && c.damaged ? EXIT_STORE : code;
}

const struct command command_stats = {
    .name = "stats",
    .args = "[OPTIONS]",
    .summary = "show tokens, cost, durations and failures of runs",
    .more = "p50, p90 and p99 are percentiles of the durations of successful "
            "cases.\n",
    .opts = opts,
    .only_reads = true,
    .run = run,
};

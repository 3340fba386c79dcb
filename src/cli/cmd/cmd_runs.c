/*
 * cmd_runs.c - wend runs: lists runs, newest first.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/id.h"
#include "base/json.h"
#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/term.h"

enum {
    LIMIT_DEFAULT = 20,
    SHORT_ROWS_MAX = 200, /* ids are not shortened beyond this number of rows */
    MODEL_COLUMNS = 16,
    PROMPT_COLUMNS_MIN = 10,
    FLUSH_BYTES = 64 << 10,
};

static const struct opt opts[] = {
    ROW_JSON("print one JSON object per run"),
    ROWS_FILTER,
    ROW_LIMIT("maximum number of runs (default 20, 0 for all)"),
    ROW_STORE,
    ROWS_END,
};

struct lister {
    struct cli *cli;
    struct buf out;
    int64_t now_us;
    int id_len;
    size_t width;
    bool safe_only;
    int64_t left; /* rows; -1 = no end */
    int64_t rows;
};

static int flush(struct lister *l, size_t keep)
{
    int code = EXIT_DONE;

    if (l->out.len > keep) {
        code = print_buf(&l->out);
        buf_clear(&l->out);
    }
    return code;
}

/* ---- One row ------------------------------------------------------------- */

static int put_json(void *ctx, const wend_run_info *r)
{
    struct lister *l = ctx;
    struct buf b = {.mem = l->out.mem};

    json_open(&b, NULL, '{');
    json_add_str(&b, "run", r->run);
    json_add_nullable(&b, "status", r->status);
    json_add_nullable(&b, "agent", r->agent);
    json_add_nullable(&b, "model", r->model);
    json_add_nullable(&b, "prompt", r->prompt);
    json_add_time(&b, "started", r->started_us);
    if (r->ended_us)
        json_add_time(&b, "ended", r->ended_us);
    else
        json_add_nullable(&b, "ended", STR_NONE);
    json_add_i64(&b, "turns", r->turns);
    json_add_i64(&b, "tokens_in", r->tokens_in);
    json_add_i64(&b, "tokens_out", r->tokens_out);
    json_add_nano(&b, "cost", r->cost_nano);
    json_add_str(&b, "parent", r->parent);
    if (r->parent.ptr)
        json_add_bool(&b, "child", r->child);
    if (r->imported)
        json_add_bool(&b, "imported", true);
    buf_cstr(&b, "}\n");
    if (l->safe_only)
        term_json(&l->out, buf_view(&b));
    else
        buf_str(&l->out, buf_view(&b));
    buf_free(&b);
    return flush(l, FLUSH_BYTES);
}

static void put_age(struct buf *b, int64_t us)
{
    static const struct {
        int64_t seconds;
        char unit;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    int64_t seconds = us > 0 ? us / 1000000 : 0;
    char text[32];
    size_t i = 0;

    while (i < 3 && seconds < units[i].seconds)
        i++;
    snprintf(text, sizeof text, "%lld%c",
             (long long)(seconds / units[i].seconds), units[i].unit);
    buf_fmt(b, "%5s", text);
}

static int put_row(void *ctx, const wend_run_info *r)
{
    struct lister *l = ctx;
    static const char imported[] = "(imported) ";
    struct buf *b = &l->out;
    size_t begun = b->len, used;

    buf_fmt(b, "%.*s  ", l->id_len, r->run.ptr);
    term_cell(b, r->status, 11);
    buf_char(b, ' ');
    put_age(b, l->now_us - r->started_us);
    buf_fmt(b, " %5lld %8lld  ", (long long)r->turns,
            (long long)(r->tokens_in + r->tokens_out));
    used = b->len - begun + MODEL_COLUMNS + 2; /* all ASCII so far */
    term_cell(b, r->model, MODEL_COLUMNS);
    buf_cstr(b, r->child ? " \u2514 " : "  ");
    used += r->child;
    if (r->imported) {
        buf_cstr(b, imported);
        used += sizeof imported - 1;
    }
    term_line(b, r->prompt,
              l->width > used + PROMPT_COLUMNS_MIN ? l->width - used
                                                   : PROMPT_COLUMNS_MIN);
    buf_char(b, '\n');
    return flush(l, FLUSH_BYTES);
}

/* ---- Short ids ----------------------------------------------------------- */

static bool is_unique(struct cli *cli, wend_str run, int len)
{
    char prefix[RUN_ID_LEN + 1];
    wend_list_options o = {.size = sizeof o, .run = prefix, .limit = 2};

    snprintf(prefix, sizeof prefix, "%.*s", len, run.ptr);
    return runs_count(cli, &o) == 1;
}

/* Ends of the groups of an id: a short id looks like the start of the full
 * one. */
static int longer(int len)
{
    return len < 8 ? 8 : len < 13 ? 13 : len < 18 ? 18 : len < 23 ? 23 : 36;
}

/* ---- All of them --------------------------------------------------------- */

static int lengthen(void *ctx, const wend_run_info *r)
{
    struct lister *l = ctx;

    while (l->id_len < RUN_ID_LEN && l->rows < SHORT_ROWS_MAX &&
           !is_unique(l->cli, r->run, l->id_len))
        l->id_len = longer(l->id_len);
    if (++l->rows > SHORT_ROWS_MAX)
        l->id_len = RUN_ID_LEN;
    return EXIT_DONE;
}

static int print_table(struct lister *l, const wend_list_options *filter)
{
    int code = each_run(l->cli, filter, l->left, lengthen, l);

    if (code == EXIT_DONE && !l->rows)
        return complain(EXIT_DONE, "no runs");
    buf_fmt(&l->out, "%-*s  %-11s %5s %5s %8s  %-*s  %s\n", l->id_len, "RUN",
            "STATUS", "AGE", "TURNS", "TOKENS", MODEL_COLUMNS, "MODEL",
            "PROMPT");
    return code == EXIT_DONE ? each_run(l->cli, filter, l->left, put_row, l)
                             : code;
}

static int run(struct cli *cli)
{
    const struct settings *set = &cli->set;
    struct lister l = {.cli = cli, .out = {.mem = &cli_mem}};
    wend_list_options filter;
    int code;

    l.now_us = wall_us();
    run_filter(cli, l.now_us, &filter);
    code = open_store(cli);
    if (code)
        return code;
    l.id_len = 8;
    l.width = term_width(STDOUT_FILENO);
    l.safe_only = isatty(STDOUT_FILENO);
    l.left = set->limit < 0 ? LIMIT_DEFAULT : set->limit ? set->limit : -1;
    code = set->json ? each_run(cli, &filter, l.left, put_json, &l)
                     : print_table(&l, &filter);
    return code ? code : flush(&l, 0);
}

const struct command command_runs = {
    .name = "runs",
    .args = "[OPTIONS]",
    .summary = "list runs, newest first",
    .more = "The status of a run whose process died is interrupted. Imported "
            "runs, their\n"
            "forks and their children are marked.\n",
    .opts = opts,
    .only_reads = true,
    .run = run,
};

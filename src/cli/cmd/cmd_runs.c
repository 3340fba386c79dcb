/*
 * cmd_runs.c - wend runs: lists runs, newest first, or as a tree.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/id.h"
#include "base/json.h"
#include "cli/cmd/cmd.h"
#include "cli/filter.h"
#include "cli/rows.h"
#include "cli/term.h"
#include "cli/view/bar.h"
#include "cli/view/grid.h"
#include "cli/view/tree.h"

enum {
    LIMIT_DEFAULT = 20,
    SHORT_ROWS_MAX = 200, /* ids are not shortened beyond this number of rows */
    FLUSH_BYTES = 64 << 10,
    LABELS_WIDTH_MIN = 100, /* a narrower table would lose that column, which
                               takes a look into the log of each run */
    TREE_RUNS_MAX = 100000, /* some seconds, and some 100 MB */
};

static const struct opt opts[] = {
    ROW_JSON("print one JSON object per run"),
    ROW_FLAG(tree, "tree", "show children, forks and conversations as trees"),
    ROWS_FILTER,
    ROW_LIMIT("maximum number of runs (default 20, 0 for all)"),
    ROW_TEXT(after, "after", "RUN", "continue the list after this run"),
    ROW_STORE,
    ROWS_END,
};

struct lister {
    struct cli *cli;
    struct buf out;
    int64_t now_us;
    bool safe_only;
    int64_t limit; /* of rows; -1 = none */
    int64_t rows;
    struct grid grid;
    int id_len;
    bool has_labels; /* read them */
    struct tree tree;
    char last[RUN_ID_LEN + 1]; /* shown */
    bool more;
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

/* ---- JSON ---------------------------------------------------------------- */

/* The default correlation id is the run's. */
static int add_names(struct buf *b, struct cli *cli, const wend_run_info *r)
{
    struct arena a = {.mem = &cli_mem};
    struct run_names names;
    int code = names_read(cli, r, &a, &names);

    json_add_str(b, "follows", names.follows);
    json_add_str(b, "user", r->user);
    json_add_str(b, "session", r->session);
    if (!str_eq(names.correlation_id, r->run))
        json_add_str(b, "correlation_id", names.correlation_id);
    if (names.labels && names.labels->first)
        json_add(b, "labels", names.labels);
    arena_free(&a);
    return code;
}

static int put_json(void *ctx, const wend_run_info *r)
{
    struct lister *l = ctx;
    struct buf b = {.mem = l->out.mem};
    int code;

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
    if (r->fork_of.ptr)
        json_add_str(&b, "fork_of", r->fork_of);
    if (r->imported)
        json_add_bool(&b, "imported", true);
    code = add_names(&b, l->cli, r);
    buf_cstr(&b, "}\n");
    if (l->safe_only)
        term_json(&l->out, buf_view(&b));
    else
        buf_str(&l->out, buf_view(&b));
    buf_free(&b);
    return code ? code : flush(l, FLUSH_BYTES);
}

/* ---- One row ------------------------------------------------------------- */

enum { /* of the table */
       COLUMN_RUN,
       COLUMN_STATUS,
       COLUMN_AGE,
       COLUMN_TURNS,
       COLUMN_TOKENS,
       COLUMN_COST,
       COLUMN_MODEL,
       COLUMN_PARENT,
       COLUMN_SESSION,
       COLUMN_USER,
       COLUMN_LABELS,
       COLUMN_PROMPT,
       COLUMNS
};

static const struct grid_column columns[COLUMNS] = {
    [COLUMN_RUN] = {"RUN", RUN_ID_LEN, 0, false},
    [COLUMN_STATUS] = {"STATUS", 13, 1, false},
    [COLUMN_AGE] = {"AGE", 6, 2, true},
    [COLUMN_TURNS] = {"TURNS", 8, 6, true},
    [COLUMN_TOKENS] = {"TOKENS", 12, 5, true},
    [COLUMN_COST] = {"COST", 10, 3, true},
    [COLUMN_MODEL] = {"MODEL", 16, 7, false},
    [COLUMN_PARENT] = {"PARENT", RUN_ID_LEN + 8, 4, false},
    [COLUMN_SESSION] = {"SESSION", 16, 8, false},
    [COLUMN_USER] = {"USER", 16, 10, false},
    [COLUMN_LABELS] = {"LABELS", 32, 9, false},
    [COLUMN_PROMPT] = {"PROMPT", 4096, 0, false},
};

static void age_cell(struct grid *t, int64_t us)
{
    struct buf b = {.mem = &cli_mem};

    term_age(&b, us);
    grid_cell(t, buf_view(&b));
    buf_free(&b);
}

/* `below`: the parent is the row above. Without a parent, the run before it in
 * its conversation. */
static void parent_cell(struct lister *l, const wend_run_info *r,
                        wend_str follows, bool below)
{
    wend_str other = r->parent.ptr ? r->parent : follows;
    char text[RUN_ID_LEN + 12];

    snprintf(text, sizeof text, "%s%s%.*s",
             !r->parent.ptr ? "follows"
             : r->child     ? "child"
                            : "fork",
             below ? "" : " ", below ? 0 : l->id_len,
             other.ptr ? other.ptr : "");
    grid_cell(&l->grid, other.ptr ? str_of(text) : STR(""));
}

static void labels_cell(struct lister *l, const struct json *labels)
{
    struct buf b = {.mem = &cli_mem};

    for (const struct json *j = labels ? labels->first : NULL; j; j = j->next) {
        buf_cstr(&b, b.len ? " " : "");
        buf_str(&b, j->key);
        buf_char(&b, '=');
        buf_str(&b, json_str(j));
    }
    grid_cell(&l->grid, buf_view(&b));
    buf_free(&b);
}

/* `lines`: of a tree. */
static void prompt_cell(struct lister *l, const wend_run_info *r,
                        wend_str lines)
{
    struct buf b = {.mem = &cli_mem};

    buf_str(&b, lines);
    if (r->imported)
        buf_cstr(&b, "(imported) ");
    buf_str(&b, r->prompt);
    grid_cell(&l->grid, buf_view(&b));
    buf_free(&b);
}

static void status_cell(struct grid *t, wend_str status)
{
    struct buf b = {.mem = &cli_mem};

    bar_put_state(&b, status);
    t->out->failed |= b.failed;
    grid_cell(t, buf_view(&b));
    buf_free(&b);
}

static int put_row(struct lister *l, const wend_run_info *r, wend_str lines)
{
    struct arena a = {.mem = &cli_mem};
    struct run_names names = {0};
    struct grid *t = &l->grid;
    int code = l->has_labels ? names_read(l->cli, r, &a, &names) : EXIT_DONE;

    grid_cell(t, (wend_str){r->run.ptr, (size_t)l->id_len});
    status_cell(t, r->status);
    age_cell(t, l->now_us - r->started_us);
    grid_number(t, r->turns);
    grid_number(t, r->tokens_in + r->tokens_out);
    grid_usd(t, r->cost_nano);
    grid_cell(t, r->model);
    parent_cell(l, r, names.follows, lines.len > 0);
    grid_cell(t, r->session);
    grid_cell(t, r->user);
    labels_cell(l, names.labels);
    prompt_cell(l, r, lines);
    arena_free(&a);
    return code ? code : flush(l, FLUSH_BYTES);
}

/* ---- Short ids ----------------------------------------------------------- */

static bool is_unique(struct cli *cli, wend_str run, int len)
{
    char prefix[RUN_ID_LEN + 1];
    wend_list_options o = {.size = sizeof o, .run = prefix, .limit = 2};

    snprintf(prefix, sizeof prefix, "%.*s", len, run.ptr);
    return runs_count(cli, &o) < 2; /* a parent may have been removed */
}

/* Ends of the groups of an id: a short id looks like the start of the full
 * one. */
static int longer(int len)
{
    return len < 8 ? 8 : len < 13 ? 13 : len < 18 ? 18 : len < 23 ? 23 : 36;
}

static void lengthen(struct lister *l, wend_str run)
{
    while (run.ptr && l->id_len < RUN_ID_LEN &&
           !is_unique(l->cli, run, l->id_len))
        l->id_len = longer(l->id_len);
}

/* ---- A list -------------------------------------------------------------- */

/* The first rows wait in the tree's list until their ids can be shortened. */
static int put_waiting(struct lister *l)
{
    int code = EXIT_DONE;

    if (l->tree.count > SHORT_ROWS_MAX)
        l->id_len = RUN_ID_LEN;
    for (size_t i = 0; i < l->tree.count; i++) {
        lengthen(l, l->tree.runs[i]->info.run);
        lengthen(l, l->tree.runs[i]->info.parent);
    }
    for (size_t i = 0; !code && i < l->tree.count; i++)
        code = put_row(l, &l->tree.runs[i]->info, STR_NONE);
    l->tree.count = 0;
    return code;
}

static int on_run(void *ctx, const wend_run_info *r)
{
    struct lister *l = ctx;

    if (l->limit >= 0 && l->rows == l->limit) {
        l->more = true;
        return EXIT_DONE;
    }
    str_copy(l->last, sizeof l->last, r->run);
    if (++l->rows > SHORT_ROWS_MAX + 1)
        return put_row(l, r, STR_NONE);
    tree_add(&l->tree, r, STR_NONE);
    return l->rows > SHORT_ROWS_MAX ? put_waiting(l) : EXIT_DONE;
}

static int print_list(struct lister *l, const struct filter *f)
{
    int64_t wanted = l->limit < 0 ? -1 : l->limit + 1;
    int code = each_filtered(l->cli, f, wanted, on_run, l);

    return code ? code : put_waiting(l);
}

/* ---- A tree -------------------------------------------------------------- */

/* A run of a conversation stands below the run before it. */
static int note_run(void *ctx, const wend_run_info *r)
{
    struct arena a = {.mem = &cli_mem};
    struct run_names names = {0};
    struct lister *l = ctx;
    int code = r->parent.ptr ? EXIT_DONE : names_read(l->cli, r, &a, &names);

    tree_add(&l->tree, r, names.follows);
    arena_free(&a);
    return code;
}

/* --limit counts trees. */
static int print_tree(struct lister *l, const struct filter *f)
{
    struct buf lines = {.mem = &cli_mem};
    int code = each_filtered(l->cli, f, TREE_RUNS_MAX, note_run, l);
    struct tree_run *root;

    if (!code && l->tree.count == TREE_RUNS_MAX)
        complain(0, "only the newest %d runs are shown", TREE_RUNS_MAX);
    if (l->tree.count > SHORT_ROWS_MAX)
        l->id_len = RUN_ID_LEN;
    for (size_t i = 0; i < l->tree.count; i++)
        lengthen(l, l->tree.runs[i]->info.run);
    tree_link(&l->tree);
    while (!code && (root = tree_next_root(&l->tree))) {
        if (l->limit >= 0 && l->rows == l->limit) {
            l->more = true;
            break;
        }
        l->rows++;
        for (struct tree_run *r = root; !code && r; r = tree_next(r)) {
            buf_clear(&lines);
            tree_lines(&lines, r);
            code = put_row(l, &r->info, buf_view(&lines));
        }
    }
    return code;
}

/* ---- The command --------------------------------------------------------- */

static int print_table(struct lister *l, const struct filter *f)
{
    size_t width = term_width(STDOUT_FILENO);
    int code;

    l->id_len = 8;
    l->has_labels = width >= LABELS_WIDTH_MIN;
    grid_begin(&l->grid, columns, COLUMNS, width, &l->out);
    code = l->cli->set.tree ? print_tree(l, f) : print_list(l, f);
    grid_end(&l->grid);
    if (!code)
        code = flush(l, 0);
    if (!code && !l->rows)
        complain(0, "no runs");
    if (!code && l->more && l->cli->set.tree)
        complain(0, "there are more; use --limit, 0 for all");
    else if (!code && l->more)
        complain(0, "there are more: add --after %s, or --limit 0 for all",
                 l->last);
    return code;
}

static int print_json(struct lister *l, const struct filter *f)
{
    int code = each_filtered(l->cli, f, l->limit, put_json, l);

    return code ? code : flush(l, 0);
}

static int run(struct cli *cli)
{
    const struct settings *set = &cli->set;
    struct lister l = {.cli = cli,
                       .out = {.mem = &cli_mem},
                       .tree.arena = &cli->arena,
                       .now_us = wall_us()};
    struct filter filter;
    struct found after;
    int code;

    if (set->tree && (set->json || set->after))
        return usage_error(cli,
                           "--tree cannot be combined with --json or --after");
    code = filter_open(cli, l.now_us, &filter);
    if (!code)
        code = open_runtime(cli);
    if (!code && set->after)
        code = find_run(cli, set->after, &after);
    if (code)
        return code;
    filter.list.after = set->after ? after.id : NULL;
    l.safe_only = isatty(STDOUT_FILENO);
    l.limit = set->limit < 0 ? LIMIT_DEFAULT : set->limit ? set->limit : -1;
    return set->json ? print_json(&l, &filter) : print_table(&l, &filter);
}

const struct command command_runs = {
    .name = "runs",
    .args = "[OPTIONS]",
    .summary = "list runs, newest first",
    .more = "The status of a run whose process died is interrupted. Imported "
            "runs, their\n"
            "forks and their children are marked. WHEN is a duration with a "
            "unit (s, m, h, d,\n"
            "w) or a date. --grep ignores case. A table that is wider than the "
            "terminal loses\n"
            "columns; an unknown cost is -. With --tree, --limit counts "
            "trees.\n",
    .opts = opts,
    .only_reads = true,
    .run = run,
};

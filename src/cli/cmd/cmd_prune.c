/*
 * cmd_prune.c - wend prune: removes old runs from the store.
 */
#include <unistd.h>

#include "base/json.h"
#include "cli/agent/agent.h"
#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/term.h"

enum { SHOWN_MAX = 20 }; /* runs that are listed one by one */

static const struct opt opts[] = {
    ROW_AGE(older_ms, "older-than",
            "remove runs that ended longer ago, such as 30d"),
    ROW_FLAG(dry_run, "dry-run", "only list the runs"),
    ROW_FLAG(yes, "yes", "do not ask for confirmation"),
    ROW_JSON("print one JSON object"),
    ROW_QUIET("print nothing on success"),
    ROW_STORE,
    ROWS_END,
};

static int print(const struct cli *cli, const wend_pruned *done)
{
    struct buf b = {.mem = &cli_mem};

    if (cli->set.json) {
        json_open(&b, NULL, '{');
        json_add_i64(&b, "runs", done->runs);
        json_add_i64(&b, "kept", done->kept);
        json_add_i64(&b, "bytes", done->bytes);
        buf_cstr(&b, "}\n");
    } else if (cli->set.dry_run)
        buf_fmt(&b, "%lld runs would be removed\n", (long long)done->runs);
    else
        buf_fmt(&b, "%lld runs removed, %lld bytes freed\n",
                (long long)done->runs, (long long)done->bytes);
    if (!cli->set.json && done->kept)
        buf_fmt(&b, "%lld more kept: newer runs share their history\n",
                (long long)done->kept);
    return cli->set.quiet ? EXIT_DONE : print_buf(&b);
}

/* ---- What would go ------------------------------------------------------- */

struct prune_list {
    struct buf text;
    size_t columns, shown;
};

static void list_one(void *ctx, const wend_run_info *info)
{
    struct prune_list *l = ctx;

    if (l->shown++ < SHOWN_MAX)
        put_run(&l->text, info, l->columns);
}

/* Looks without removing; lists the runs where a person reads them. */
static int look(struct cli *cli, const wend_prune_options *o, wend_pruned *out)
{
    struct prune_list l = {.text.mem = &cli_mem};
    int fd = cli->set.dry_run ? STDOUT_FILENO : STDERR_FILENO;
    wend_prune_options dry = *o;
    int code;

    l.columns = term_width(fd);
    dry.dry_run = true;
    dry.each = list_one;
    dry.each_ctx = &l;
    code = report(cli, wend_store_prune(cli->store, &dry, out, &cli->err));
    if (l.shown > SHOWN_MAX)
        buf_fmt(&l.text, "... and %zu more\n", l.shown - SHOWN_MAX);
    if (!code && !cli->set.json && !cli->set.quiet &&
        !write_all(fd, buf_view(&l.text)))
        code = EXIT_CANCELED;
    return code;
}

static int ask(struct cli *cli, const wend_prune_options *o, wend_pruned *out)
{
    struct buf question = {.mem = &cli_mem};
    int code = look(cli, o, out);

    if (code || !out->runs)
        return code;
    buf_fmt(&question, "remove these %lld runs? [y]es [n]o ",
            (long long)out->runs);
    return confirm(buf_view(&question));
}

static int run(struct cli *cli)
{
    wend_prune_options o = {.size = sizeof o};
    wend_pruned done = {.size = sizeof done};
    const struct settings *set = &cli->set;
    int code;

    if (!set->older_ms)
        return usage_error(
            cli, "--older-than is required, for example --older-than 30d");
    if (!set->dry_run && !set->yes && !term_asks())
        return complain(EXIT_USAGE,
                        "cannot ask for confirmation without a terminal; --yes "
                        "removes the runs, --dry-run lists them");
    o.ended_before_us = wall_us() - set->older_ms * 1000;
    code = open_store(cli);
    if (!code && set->dry_run)
        code = look(cli, &o, &done);
    else if (!code && !set->yes)
        code = ask(cli, &o, &done);
    if (!code && !set->dry_run)
        code = report(cli, wend_store_prune(cli->store, &o, &done, &cli->err));
    return code ? code : print(cli, &done);
}

const struct command command_prune = {
    .name = "prune",
    .args = "--older-than DUR [OPTIONS]",
    .summary = "remove old runs from the store",
    .more = "Lists the runs and asks; without a terminal --yes is required. "
            "Removes only\n"
            "finished runs, with their deltas and the blobs that no other run "
            "refers to.\n"
            "Active runs are not blocked. DUR has a unit: 90m, 12h, 30d.\n",
    .opts = opts,
    .run = run,
};

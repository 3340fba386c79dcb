/*
 * cmd_prune.c - wend prune: removes old runs from the store.
 */

#include "base/json.h"
#include "cli/cmd/cmd.h"
#include "cli/rows.h"

static const struct opt opts[] = {
    ROW_TIME(older_ms, "older-than",
             "remove runs that ended longer ago, such as 30d"),
    ROW_FLAG(dry_run, "dry-run", "only count the runs"),
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

static int run(struct cli *cli)
{
    wend_prune_options o = {.size = sizeof o, .dry_run = cli->set.dry_run};
    wend_pruned done = {.size = sizeof done};
    int code;

    if (!cli->set.older_ms)
        return usage_error(
            cli, "--older-than is required, for example --older-than 30d");
    o.ended_before_us = wall_us() - cli->set.older_ms * 1000;
    code = open_store(cli);
    if (!code)
        code = report(cli, wend_store_prune(cli->store, &o, &done, &cli->err));
    return code ? code : print(cli, &done);
}

const struct command command_prune = {
    .name = "prune",
    .args = "--older-than DUR [OPTIONS]",
    .summary = "remove old runs from the store",
    .more = "Removes only finished runs, with their deltas and the blobs that "
            "no other run\n"
            "refers to. Active runs are not blocked.\n",
    .opts = opts,
    .run = run,
};

/*
 * cmd_prune.c - wend prune: old runs out of the store.
 */
#include <stddef.h>

#include "cli/cmd/cmd.h"
#include "cli/each_run.h"

#define AT(member) offsetof(struct settings, member)

static const struct opt opts[] = {
    {0, "older-than", "DUR", "runs that ended so long ago, such as 30d",
     OPT_TIME, AT(older_ms), 0, 0, NULL},
    {0, "dry-run", NULL, "only say how many", OPT_FLAG, AT(dry_run), 0, 0,
     NULL},
    {0, "json", NULL, "as one object", OPT_FLAG, AT(json), 0, 0, NULL},
    {'q', "quiet", NULL, "say nothing if all is well", OPT_FLAG, AT(quiet), 0,
     0, NULL},
    {0, "store", "URL", "SQLite file; default $WEND_STORE", OPT_TEXT, AT(store),
     0, 0, NULL},
    {'h', "help", NULL, "this text", OPT_FLAG, AT(help), 0, 0, NULL},
    {0},
};

static int print(const struct cli *cli, const wend_pruned *done)
{
    struct buf b = {.mem = cli->arena.mem};
    int code = EXIT_DONE;

    if (cli->set.json)
        buf_fmt(&b, "{\"runs\":%lld,\"kept\":%lld,\"bytes\":%lld}\n",
                (long long)done->runs, (long long)done->kept,
                (long long)done->bytes);
    else if (cli->set.dry_run)
        buf_fmt(&b, "%lld runs would go\n", (long long)done->runs);
    else
        buf_fmt(&b, "%lld runs are gone, %lld bytes are free\n",
                (long long)done->runs, (long long)done->bytes);
    if (!cli->set.json && done->kept)
        buf_fmt(&b, "%lld others stay: newer runs share their past\n",
                (long long)done->kept);
    if (b.failed)
        code = complain(EXIT_FAILED, "out of memory");
    else if (!cli->set.quiet)
        code = print_buf(&b);
    buf_free(&b);
    return code;
}

static int run(struct cli *cli)
{
    wend_prune_options o = {.size = sizeof o, .dry_run = cli->set.dry_run};
    wend_pruned done = {.size = sizeof done};
    wend_error err = {0};
    wend_status s;
    int code;

    if (cli->args_count)
        return usage_error(cli, "'%s' is one word too many", cli->args[0]);
    if (!cli->set.older_ms)
        return usage_error(cli, "say which: --older-than 30d");
    code = open_store(cli);
    if (code != EXIT_DONE)
        return code;
    o.ended_before_us = wall_us() - cli->set.older_ms * 1000;
    s = wend_store_prune(cli->store, &o, &done, &err);
    return s == WEND_OK ? print(cli, &done) : give_up(cli, s, &err);
}

const struct command command_prune = {
    .name = "prune",
    .args = "--older-than DUR [OPTIONS]",
    .summary = "take old runs out of the store",
    .more = "Only runs that are over go, with their deltas and the blobs that "
            "nobody else refers\nto. Runs that are under way do not wait for "
            "it.\n",
    .opts = opts,
    .run = run,
};

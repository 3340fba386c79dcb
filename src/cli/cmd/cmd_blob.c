/*
 * cmd_blob.c - wend blob: prints a long text of a run.
 */
#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/term.h"

static const struct opt opts[] = {
    ROW_OUTPUT,
    ROW_STORE,
    ROWS_END,
};

static bool add(void *ctx, wend_str bytes)
{
    buf_str(ctx, bytes);
    return true;
}

static int run(struct cli *cli)
{
    struct buf text = {.mem = &cli_mem};
    struct found found;
    int code = find_arg(cli, open_store, &found);

    if (!code)
        code = report(cli, wend_store_blob(cli->store, found.id, cli->args[1],
                                           add, &text, &cli->err));
    return code ? code : print_safe(cli, &text, term_text);
}

const struct command command_blob = {
    .name = "blob",
    .args = "[OPTIONS] RUN HASH",
    .summary = "print a long text of a run by its hash",
    .more = "Events show texts over 256 KiB as {\"blob\": HASH, ...}. A "
            "truncated result names\n"
            "the hash of the full text. HASH may be a prefix that is unique in "
            "the run.\n",
    .args_min = 2,
    .args_max = 2,
    .expected = "a run and the hash of a text",
    .opts = opts,
    .only_reads = true,
    .run = run,
};

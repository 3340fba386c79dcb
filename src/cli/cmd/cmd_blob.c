/*
 * cmd_blob.c - wend blob: prints a long text of a run.
 */
#include "cli/cmd/cmd.h"
#include "cli/rows.h"
#include "cli/file_out.h"
#include "cli/term.h"

static const struct opt opts[] = {
    ROW_OUTPUT,
    ROW_STORE,
    ROWS_END,
};

static bool add(void *ctx, wend_str bytes)
{
    struct buf *out = ctx;

    buf_str(out, bytes);
    return !out->failed;
}

static int run(struct cli *cli)
{
    struct buf text = {.mem = cli->arena.mem};
    struct found found;
    wend_error err = {0};
    wend_status s;
    int code;

    code = find_arg(cli, open_store, &found);
    if (code != EXIT_DONE)
        return code;
    s = wend_store_blob(cli->store, found.id, cli->args[1], add, &text, &err);
    if (s == WEND_E_NOTFOUND || s == WEND_E_INVAL)
        code = complain(EXIT_USAGE, "%s", err.message);
    else
        code = s == WEND_OK ? print_safe(cli, &text, term_text)
                            : give_up(cli, s, &err);
    buf_free(&text);
    return code;
}

const struct command command_blob = {
    .name = "blob",
    .args = "[OPTIONS] RUN HASH",
    .summary = "print a long text of a run by its hash",
    .more = RUN_IS ".\n"
                   "Events show texts over 256 KiB as {\"blob\": HASH, ...}. A "
                   "truncated result names\n"
                   "the hash of the full text. HASH may be a prefix that is "
                   "unique in the run.\n",
    .args_min = 2,
    .args_max = 2,
    .expected = "a run and the hash of a text",
    .opts = opts,
    .only_reads = true,
    .run = run,
};

/*
 * cmd_blob.c - wend blob: prints a long text of a run.
 */
#include <stddef.h>
#include <unistd.h>

#include "cli/cmd/cmd.h"
#include "cli/file_out.h"
#include "cli/term.h"

#define AT(member) offsetof(struct settings, member)

static const struct opt opts[] = {
    {'o', "output", "FILE", "output file (default standard output)", OPT_TEXT,
     AT(output), 0, 0, NULL},
    {0, "store", "URL", "SQLite file (default $WEND_STORE)", OPT_TEXT,
     AT(store), 0, 0, NULL},
    {'h', "help", NULL, "show this help", OPT_FLAG, AT(help), 0, 0, NULL},
    {0},
};

static bool add(void *ctx, wend_str bytes)
{
    struct buf *out = ctx;

    buf_str(out, bytes);
    return !out->failed;
}

static int print(struct cli *cli, const struct buf *text)
{
    const char *path = cli->set.output ? cli->set.output : "-";
    struct buf safe = {.mem = cli->arena.mem};
    struct file_out file;
    int code;

    if (!cli->set.output && isatty(STDOUT_FILENO))
        term_text(&safe, buf_view(text));
    else
        buf_str(&safe, buf_view(text));
    if (safe.failed) {
        code = complain(EXIT_FAILED, "out of memory");
    } else if ((code = file_out_open(&file, path)) == EXIT_DONE) {
        file_out_write(&file, buf_view(&safe));
        code = file_out_close(&file, EXIT_DONE);
    }
    buf_free(&safe);
    return code;
}

static int run(struct cli *cli)
{
    struct buf text = {.mem = cli->arena.mem};
    struct found found;
    wend_error err = {0};
    wend_status s;
    int code;

    if (cli->args_count != 2)
        return usage_error(cli, "expected a run and the hash of a text");
    code = open_store(cli);
    if (code == EXIT_DONE)
        code = find_run(cli, cli->args[0], &found);
    if (code != EXIT_DONE)
        return code;
    s = wend_store_blob(cli->store, found.id, cli->args[1], add, &text, &err);
    if (s == WEND_E_NOTFOUND || s == WEND_E_INVAL)
        code = complain(EXIT_USAGE, "%s", err.message);
    else
        code = s == WEND_OK ? print(cli, &text) : give_up(cli, s, &err);
    buf_free(&text);
    return code;
}

const struct command command_blob = {
    .name = "blob",
    .args = "[OPTIONS] RUN HASH",
    .summary = "print a long text of a run by its hash",
    .more = RUN_IS
    ".\n"
    "Events show texts over 256 KiB as {\"blob\": HASH, ...}. A truncated "
    "result names the\n"
    "hash of the full text. HASH may be a prefix that is unique in the run.\n",
    .opts = opts,
    .only_reads = true,
    .run = run,
};

/*
 * cmd_export.c - wend export: writes a run and its descendants to a file.
 */

#include "cli/cmd/cmd.h"
#include "cli/file_out.h"
#include "cli/rows.h"

static const struct opt opts[] = {
    ROW_OUTPUT,
    ROW_STORE,
    ROWS_END,
};

static int run(struct cli *cli)
{
    const char *path = cli->set.output ? cli->set.output : "-";
    struct file_out file;
    struct found found;
    wend_status s;
    int code = find_arg(cli, open_store, &found);

    if (!code)
        code = file_out_open(&file, path, FILE_OUT_PRIVATE);
    if (code)
        return code;
    s = wend_store_export(cli->store, found.id, 0, file_out_write, &file,
                          &cli->err);
    if (s != WEND_E_IO) /* already reported */
        code = report(cli, s);
    return file_out_close(&file, code);
}

const struct command command_export = {
    .name = "export",
    .args = "[OPTIONS] RUN",
    .summary = "write a run to a file for 'wend import'",
    .more = "Runs that it started are included. The file is JSON lines, see "
            "wend-store(5);\n"
            "files of several runs can be concatenated. It contains everything "
            "the runs read\n"
            "and wrote: protect it like the store.\n",
    TAKES_A_RUN,
    .opts = opts,
    .only_reads = true,
    .run = run,
};

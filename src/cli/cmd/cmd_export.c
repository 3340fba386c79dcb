/*
 * cmd_export.c - wend export and wend import: a run and its descendants as a
 * file, and back into a store.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd/cmd.h"
#include "cli/file_out.h"
#include "cli/rows.h"

/* ---- Export -------------------------------------------------------------- */

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

/* ---- Import -------------------------------------------------------------- */

static const struct opt import_opts[] = {
    ROW_STORE,
    ROW_QUIET("print nothing on success"),
    ROWS_END,
};

/* A wend_read_fn for a descriptor. */
static int64_t read_at(void *ctx, int64_t at, char *to, size_t size)
{
    ssize_t n;

    do
        n = pread(*(const int *)ctx, to, size, (off_t)at);
    while (n < 0 && errno == EINTR);
    return n;
}

/* Input that can be read only once is copied to an unnamed file. */
static int spool(int from, const char *name, int *fd)
{
    FILE *file = tmpfile();
    static char block[1 << 16];
    ssize_t n = 1;

    while (file && n) {
        n = read(from, block, sizeof block);
        if (n < 0 && errno != EINTR)
            return complain(EXIT_USAGE, "cannot read %s: %s", name,
                            strerror(errno));
        if (n > 0 && fwrite(block, 1, (size_t)n, file) != (size_t)n)
            break;
    }
    if (!file || fflush(file) || n)
        return complain(EXIT_FAILED, "cannot keep %s in a temporary file: %s",
                        name, strerror(errno));
    *fd = fileno(file);
    return EXIT_DONE;
}

static int open_file(const char *name, int *fd)
{
    int from = STDIN_FILENO;

    if (strcmp(name, "-")) {
        from = open(name, O_RDONLY | O_CLOEXEC);
        if (from < 0)
            return complain(EXIT_USAGE, "cannot read %s: %s", name,
                            strerror(errno));
    }
    *fd = from;
    return lseek(from, 0, SEEK_CUR) == 0 ? EXIT_DONE : spool(from, name, fd);
}

struct import_report {
    const struct cli *cli;
    struct buf out;
};

static void tell(void *ctx, const char *run, int64_t events)
{
    struct import_report *t = ctx;

    if (t->cli->set.quiet)
        return;
    if (events)
        buf_fmt(&t->out, "%s  %lld events\n", run, (long long)events);
    else
        buf_fmt(&t->out, "%s  already exists\n", run);
}

static int run_import(struct cli *cli)
{
    struct import_report told = {.cli = cli, .out = {.mem = &cli_mem}};
    wend_status s;
    int code, printed, fd = -1;

    code = open_file(cli->args[0], &fd);
    if (!code)
        code = open_store(cli);
    if (code)
        return code;
    s = wend_store_import_from(cli->store, read_at, &fd, tell, &told,
                               &cli->err);
    if ((s == WEND_E_PARSE || s == WEND_E_CORRUPT) && cli->err.line)
        code = complain(EXIT_USAGE, "%s: %s", cli->args[0], cli->err.message);
    else
        code = report(cli, s);
    printed = print_buf(&told.out);
    return code ? code : printed;
}

const struct command command_import = {
    .name = "import",
    .args = "[OPTIONS] FILE",
    .summary = "import exported runs into the store",
    .more = "FILE comes from 'wend export'; - is standard input. The whole "
            "file is checked\n"
            "before anything is stored. A run that already exists must be "
            "identical, or the\n"
            "file is rejected. Repeat an interrupted import to complete it.\n",
    .args_min = 1,
    .args_max = 1,
    .expected = "one file, or - for standard input",
    .opts = import_opts,
    .makes_store = true,
    .run = run_import,
};

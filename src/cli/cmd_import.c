/*
 * cmd_import.c - wend import: exported runs into the store.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

enum {
    READ_BYTES = 1 << 20,
    FILE_BYTES_MAX = 1 << 30, /* it is held in memory */
};

#define AT(member) offsetof(struct settings, member)

static const struct opt opts[] = {
    {0, "store", "URL", "SQLite file; default $WEND_STORE", OPT_TEXT, AT(store),
     0, 0, NULL},
    {'q', "quiet", NULL, "say nothing if all is well", OPT_FLAG, AT(quiet), 0,
     0, NULL},
    {'h', "help", NULL, "this text", OPT_FLAG, AT(help), 0, 0, NULL},
    {0},
};

static int read_all(int fd, const char *name, struct buf *out)
{
    ssize_t n = 1;

    while (n > 0 && out->len <= FILE_BYTES_MAX) {
        if (!buf_room(out, READ_BYTES))
            return complain(EXIT_FAILED, "out of memory");
        n = read(fd, out->ptr + out->len, READ_BYTES);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            out->len += (size_t)n;
    }
    if (n < 0)
        return complain(EXIT_USAGE, "cannot read %s: %s", name,
                        strerror(errno));
    return out->len <= FILE_BYTES_MAX
               ? EXIT_DONE
               : complain(EXIT_USAGE, "%s has more than 1 GiB", name);
}

static int read_file(const char *name, struct buf *out)
{
    int fd = STDIN_FILENO, code;

    if (!strcmp(name, "-"))
        return read_all(fd, "standard input", out);
    fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return complain(EXIT_USAGE, "cannot read %s: %s", name,
                        strerror(errno));
    code = read_all(fd, name, out);
    close(fd);
    return code;
}

struct told {
    const struct cli *cli;
    struct buf out;
};

static void tell(void *ctx, const char *run, int64_t events)
{
    struct told *t = ctx;

    if (t->cli->set.quiet)
        return;
    if (events)
        buf_fmt(&t->out, "%s  %lld events\n", run, (long long)events);
    else
        buf_fmt(&t->out, "%s  is there already\n", run);
}

static int run(struct cli *cli)
{
    struct buf file = {.mem = cli->arena.mem};
    struct told told = {.cli = cli, .out = {.mem = cli->arena.mem}};
    wend_error err = {0};
    wend_status s;
    int code, printed;

    if (cli->args_count != 1)
        return usage_error(cli, "name one file, or - for standard input");
    code = read_file(cli->args[0], &file);
    if (code == EXIT_DONE)
        code = open_store(cli);
    if (code == EXIT_DONE) {
        s = wend_store_import(cli->store, buf_view(&file), tell, &told, &err);
        if ((s == WEND_E_PARSE || s == WEND_E_CORRUPT) && err.line)
            code = complain(EXIT_USAGE, "%s: %s", cli->args[0], err.message);
        else if (s != WEND_OK)
            code = give_up(cli, s, &err);
        printed = print_buf(&told.out);
        if (code == EXIT_DONE)
            code = printed;
    }
    buf_free(&told.out);
    buf_free(&file);
    return code;
}

const struct command command_import = {
    .name = "import",
    .args = "[OPTIONS] FILE",
    .summary = "take exported runs into the store",
    .more = "FILE is what 'wend export' has written; - is standard input. All "
            "of it is checked\nbefore anything is stored. A run that is there "
            "already must be the same,\nor the file is refused.\n",
    .opts = opts,
    .run = run,
};

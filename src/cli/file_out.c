/*
 * file_out.c - a file that is written as a whole, or standard output.
 */
#include "cli/file_out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int file_out_open(struct file_out *f, const char *path)
{
    *f = (struct file_out){.path = path, .fd = STDOUT_FILENO};
    if (!strcmp(path, "-"))
        return EXIT_DONE;
    f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return f->fd >= 0 ? EXIT_DONE
                      : complain(EXIT_USAGE, "cannot write %s: %s", path,
                                 strerror(errno));
}

bool file_out_write(void *ctx, wend_str bytes)
{
    struct file_out *f = ctx;

    if (f->fd == STDOUT_FILENO)
        f->code = print_all(bytes);
    else if (!write_all(f->fd, bytes))
        f->code = complain(EXIT_FAILED, "cannot write %s: %s", f->path,
                           strerror(errno));
    return f->code == EXIT_DONE;
}

int file_out_close(struct file_out *f, int code)
{
    if (f->fd != STDOUT_FILENO && close(f->fd) && f->code == EXIT_DONE)
        f->code = complain(EXIT_FAILED, "cannot write %s: %s", f->path,
                           strerror(errno));
    return f->code != EXIT_DONE ? f->code : code;
}

int print_safe(const struct cli *cli, const struct buf *text,
               void (*safe)(struct buf *out, wend_str s))
{
    const char *path = cli->set.output ? cli->set.output : "-";
    struct buf shown = {.mem = text->mem};
    bool made = safe && !cli->set.output && isatty(STDOUT_FILENO);
    struct file_out file;
    int code;

    if (made)
        safe(&shown, buf_view(text));
    code = text->failed || shown.failed ? complain(EXIT_FAILED, "out of memory")
                                        : file_out_open(&file, path);
    if (!code) {
        file_out_write(&file, buf_view(made ? &shown : text));
        code = file_out_close(&file, EXIT_DONE);
    }
    buf_free(&shown);
    return code;
}

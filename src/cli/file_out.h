/*
 * file_out.h - a file that is written as a whole, or standard output.
 */
#ifndef CLI_FILE_OUT_H
#define CLI_FILE_OUT_H

#include "cli/cli.h"

struct file_out {
    const char *path; /* "-" is standard output */
    int fd;
    int code; /* of the error, which has been reported */
};

/* These print errors and return 0 or an exit code. */
int file_out_open(struct file_out *f, const char *path);
/* Returns `code`, or the exit code if the file is incomplete. */
int file_out_close(struct file_out *f, int code);
/* A wend_write_fn; ctx is the file_out. */
bool file_out_write(void *ctx, wend_str bytes);

/* All of it to --output or standard output. On a terminal it is what `safe`
 * makes of it: term_text, term_json; NULL: it is safe already. */
int print_safe(const struct cli *cli, const struct buf *text,
               void (*safe)(struct buf *out, wend_str s));

#endif

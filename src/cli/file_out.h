/*
 * file_out.h - a file that is written whole or not at all, or standard output.
 *
 * The bytes go to a new file in the same folder, which takes the place of the
 * old one at the end: a failure leaves the old one as it was. A device, a pipe
 * or a socket is written as it is.
 */
#ifndef CLI_FILE_OUT_H
#define CLI_FILE_OUT_H

#include <sys/types.h>

#include "cli/cli.h"

enum {
    FILE_OUT_PRIVATE = 0600, /* a new file of what a store has */
    FILE_OUT_SHARED = 0666,  /* ... of an answer, less what umask takes */
};

struct file_out {
    const char *path;  /* "-" is standard output */
    const char *fresh; /* that takes its place; NULL: none */
    int fd;
    int code; /* of the error, which has been reported */
};

/* These print errors and return 0 or an exit code. */
int file_out_open(struct file_out *f, const char *path, mode_t mode);
/* Returns `code`, or the exit code if the file is incomplete: then, and with a
 * code that is not EXIT_DONE, the old file stays. */
int file_out_close(struct file_out *f, int code);
/* A wend_write_fn; ctx is the file_out. */
bool file_out_write(void *ctx, wend_str bytes);

/* Where a file is to be written later: its whole path, since the directory of
 * the command may change, and what would make it fail is said now. NULL after a
 * message. */
const char *file_out_place(struct cli *cli, const char *path);

#endif

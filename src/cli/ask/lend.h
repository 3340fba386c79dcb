/*
 * lend.h - lends the terminal to a program of the user: a pager, an editor.
 *
 * The program is in our process group, so that Ctrl-C and Ctrl-Z reach it;
 * meanwhile the command neither writes to the terminal nor reads its keys, and
 * stops when an editor does. A pager has no Ctrl-Z. The text that is shown is
 * the program's standard input or a file, never a part of its command line.
 */
#ifndef CLI_LEND_H
#define CLI_LEND_H

#include <sys/types.h>

#include "cli/cli.h"

struct lend {
    pid_t pid;     /* 0: the terminal is not lent */
    char file[80]; /* that is edited; "": none */
    bool stopped;  /* by Ctrl-Z, since lend_over last looked */
};

/* $PAGER, or less or more if they are installed; NULL: there is none. */
const char *lend_pager(void);
/* $VISUAL or $EDITOR; NULL: there is none. */
const char *lend_editor(void);
/* Whether the pager shows colours. */
bool lend_colour(const char *pager);

/* False, with errno: it could not be started. tty: of the keyboard. */
bool lend_page(struct lend *l, const char *pager, wend_str text);
/* Arguments of a call for an editor: a member in each line. */
void lend_put_args(struct buf *out, wend_str args);
bool lend_edit(struct lend *l, const char *editor, wend_str text, int tty);
/* Whether the program is over; `ok`: as it should be. */
bool lend_over(struct lend *l, bool *ok);
/* Appends what the editor has left; false, with errno. */
bool lend_read(const struct lend *l, struct buf *out);
/* Ends the program if it still runs, and removes the file. */
void lend_close(struct lend *l);

#endif

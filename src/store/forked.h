/*
 * forked.h - what a child process has from before its fork().
 *
 * fork() copies handles, but not the threads behind them; it shares open file
 * descriptions, and with them the locks that say who is alive; and SQLite
 * believes in the child that it holds the locks of the parent. So handles
 * carry the mark of the process that made them, locks are released in the
 * child, and files that were open are not opened there again.
 */
#ifndef STORE_FORKED_H
#define STORE_FORKED_H

#include <sys/types.h>

#include "base/str.h"

/* The mark of this process; another one in each child of it. */
unsigned forked_mark(void);
/* WEND_E_MISUSE: another process made the handle with this mark. */
wend_status forked_check(unsigned mark, wend_error *err);

/* A file that SQLite has open, and the descriptor of its lock. */
struct forked_file {
    struct forked_file *next, **prev; /* prev NULL: not in the list */
    dev_t dev;
    ino_t ino;
    int *fd; /* closed in the child, and set to -1 */
};

/* Before SQLite opens it. WEND_E_MISUSE: this process was forked while it was
 * open, or while another thread was inside SQLite. */
wend_status forked_file_add(struct forked_file *f, const char *path,
                            wend_error *err);
/* Opens the descriptor of its lock: no fork comes between. -1: see errno. */
int forked_file_open(struct forked_file *f, const char *lock_path, int flags,
                     mode_t mode);
/* Closes that, if it is open, and takes it out of the list, if it is there. */
void forked_file_close(struct forked_file *f);

/* Around all that is done inside SQLite, which has locks of its own. A fork
 * waits a while for all that are inside. May be nested. */
void forked_enter(void);
void forked_leave(void);

#endif

/*
 * keys.h - the keyboard of a terminal: keys as they are pressed, without echo.
 *
 * Line mode is restored when the process exits and by keys_restore.
 */
#ifndef CLI_KEYS_H
#define CLI_KEYS_H

#include <stdbool.h>

/* Whether a person can answer here: standard error is a terminal, and this
 * process is in its foreground. Standard input may be a pipe. */
bool keys_present(void);
/* /dev/tty for reading; -1: no person can answer. */
int keys_open(void);
/* From now on keys are not echoed and not gathered into lines. Has no effect
 * in the background. */
void keys_raw(void);
/* From now on keys_raw also tells Enter (\r) from Ctrl-J (\n), and pastes are
 * bracketed; until keys_restore. */
void keys_typing(void);
void keys_restore(void); /* async-signal-safe */
void keys_drop(void);    /* those pressed so far */

#endif

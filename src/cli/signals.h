/*
 * signals.h - signals as bytes in a pipe, so that a loop takes them between
 * two events.
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <stdbool.h>

/* From now on SIGINT, SIGTERM and SIGHUP are bytes of the fd. A second SIGINT
 * exits at once. Returns -1 after a message. */
int signals_open(void);
/* The next received signal, or 0. A SIGCONT counts only if the terminal may
 * have changed: the shell of this job sent it, or another job is in front. */
int signals_next(void);
/* The next SIGINT is a first one again. */
void signals_forget(void);
/* Whether there may be one, without a look at the pipe. */
bool signals_arrived(void);

/* Whether a pager or an editor has the terminal: SIGINT and SIGTSTP are then
 * for it. */
void signals_lent(bool lent);
/* Whether SIGTSTP (Ctrl-Z) and SIGCONT are bytes, too: for a loop that tidies
 * the terminal before it stops. It then calls signals_stop, which returns when
 * the process continues. */
void signals_take_stops(bool take);
void signals_stop(void);

#endif

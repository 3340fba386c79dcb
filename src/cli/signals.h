/*
 * signals.h - signals as bytes in a pipe.
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

/* From now on SIGINT, SIGTERM and SIGHUP are bytes of the fd. A second
 * SIGINT exits at once. Returns -1 on failure. */
int signals_open(void);
/* The next received signal, or 0. */
int signals_next(void);

#endif

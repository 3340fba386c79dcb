/*
 * ask.h - approval of calls on the terminal.
 *
 * Calls are asked about one by one, in the order of their requests. The answer
 * is read from /dev/tty, since standard input may be the prompt.
 */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include "cli/view/view.h"

enum { ASKS_MAX = 256 }; /* calls of one message */

struct ask {
    int tty;                     /* -1 = no terminal: everything is denied */
    int lock;                    /* the terminal: one question at a time */
    wend_event *queue[ASKS_MAX]; /* approval_ask events; the first is open */
    size_t count;
    bool shown;
    char line[64];
    size_t line_len;
};

void ask_open(struct ask *a);
void ask_close(struct ask *a);
/* Handles every event of a live run and its descendants: adds questions,
 * drops those that were settled elsewhere. */
void ask_event(struct ask *a, struct view *v, wend_run *run,
               const wend_event *ev);
bool ask_waits(const struct ask *a); /* poll a->tty */
/* Another process is asking on this terminal. */
bool ask_held(const struct ask *a);
void ask_again(struct ask *a, struct view *v, const wend_run *run);
void ask_read(struct ask *a, struct view *v, wend_run *run);

#endif

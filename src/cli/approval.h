/*
 * approval.h - approval of calls on the terminal.
 *
 * Calls are asked about one by one, in the order of their requests. The answer
 * is read from /dev/tty, since standard input may be the prompt.
 */
#ifndef CLI_APPROVAL_H
#define CLI_APPROVAL_H

#include "cli/view/view.h"

enum { APPROVALS_MAX = 256 }; /* calls of one message */

struct approvals {
    int tty;  /* -1 = no terminal: everything is denied */
    int lock; /* the terminal: one question at a time */
    wend_event
        *queue[APPROVALS_MAX]; /* approval_ask events; the first is open */
    size_t count;
    bool shown;
    char line[64];
    size_t line_len;
};

void approvals_open(struct approvals *a);
void approvals_close(struct approvals *a);
/* Handles every event of a live run and its descendants: adds questions,
 * drops those that were settled elsewhere. */
void approvals_event(struct approvals *a, struct view *v, wend_run *run,
                     const wend_event *ev);
bool approvals_wait(const struct approvals *a); /* poll a->tty */
/* Another process is asking on this terminal. */
bool approvals_held(const struct approvals *a);
void approvals_retry(struct approvals *a, struct view *v, const wend_run *run);
void approvals_read(struct approvals *a, struct view *v, wend_run *run);

#endif

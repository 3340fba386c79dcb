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
    char line[64]; /* typed so far, where there are no single keys */
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
/* Shows the open question, unless it is shown or the terminal is busy. */
void approvals_show(struct approvals *a, struct view *v, const wend_run *run);
void approvals_read(struct approvals *a, struct view *v, wend_run *run);

/* ---- Answers that apply to later runs ------------------------------------ */

/* `always` and `never` on the terminal add a rule to
 * $XDG_DATA_HOME/wend/approvals, one per line. A line is the current
 * directory, a tab and the rule, since the same rule means other files and
 * programs elsewhere; a rule alone applies everywhere. Empty lines and lines
 * that start with # are ignored; the last answer is tried first. */

/* Appends the rules for this directory to `out`, newest first. The file may
 * be absent. */
wend_status remember_rules(struct words *out, struct arena *a, wend_error *err);

#endif

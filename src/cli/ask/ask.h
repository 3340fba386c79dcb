/*
 * ask.h - approval of calls, on the terminal or from elsewhere.
 *
 * Calls are asked about one by one, in the order of their requests. The answer
 * is read from /dev/tty, since standard input may be the prompt. Without a
 * terminal the user is told how another process answers.
 */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include "cli/ask/lend.h"
#include "cli/view/view.h"

enum { APPROVALS_MAX = 256 }; /* calls of one message */

/* What the user wants to do with the screen before answering. */
enum screen_use { SCREEN_OURS, SCREEN_PAGE, SCREEN_EDIT, SCREEN_TYPE };

struct approvals {
    struct cli *cli;
    int tty;           /* -1 = no terminal: another process answers */
    const char *store; /* for its command line; NULL = the default one */
    int lock;          /* the terminal: one question at a time */
    wend_event
        *queue[APPROVALS_MAX]; /* approval_ask events; the first is open */
    size_t count;
    bool shown;
    struct buf origin; /* what the run of the first one was started for */
    char line[64];     /* typed so far, where there are no single keys */
    size_t line_len;
    int64_t busy_us; /* when it was shown, or a key came */
    bool late;       /* keys were typed before it, and are not read yet */
    /* Takes keys that answer nothing: the user types a text besides. NULL: they
     * are dropped. */
    void (*beside)(void *ctx, wend_str keys);
    void *ctx;
    struct buf changed; /* arguments of the first one, as the user wants them;
                            empty: as they are */
    enum screen_use wanted, lent;
    struct lend lend;
    struct buf typed; /* arguments that are being typed */
    bool stale;       /* what they are for was settled elsewhere */
};

/* Whether a person can be asked on this terminal: not with -q, not while it
 * shows JSON, and not in the background. */
bool approvals_here(const struct settings *set);
void approvals_open(struct approvals *a, struct cli *cli);
void approvals_close(struct approvals *a);
/* Handles every event of a live run and its descendants: adds questions,
 * drops those that were settled elsewhere. */
void approvals_event(struct approvals *a, struct view *v, const wend_event *ev);
bool approvals_wait(const struct approvals *a); /* poll a->tty */
/* Another process is asking on this terminal or has it in the foreground, or a
 * program of the user has it. */
bool approvals_held(const struct approvals *a);
/* Shows the open question, unless it is shown, or the terminal is busy or
 * another process has it. Of a child it reads logs, which pumps the runtime. */
void approvals_show(struct approvals *a, struct view *v, const wend_run *run);
/* Where nothing can be painted: its last line once more, below the text that
 * was written since. */
void approvals_repeat(const struct approvals *a, struct view *v);
/* Makes the rows of the open question, for v->width; without a panel it
 * prints them. */
void approvals_lay(const struct approvals *a, struct view *v,
                   const wend_run *run);
/* The process stops, or was stopped: the question is asked again once it is in
 * the foreground, and other processes may ask until then. */
void approvals_away(struct approvals *a, struct view *v);
void approvals_read(struct approvals *a, struct view *v, wend_run *run);

/* The user wants a pager or an editor. The caller writes all that is pending,
 * then lends the screen, and from then on looks whether it is back. */
bool approvals_want_screen(const struct approvals *a);
void approvals_lend(struct approvals *a, struct view *v);
void approvals_look(struct approvals *a, struct view *v, const wend_run *run);

#endif

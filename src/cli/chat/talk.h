/*
 * talk.h - a chat while it goes on. Only for cli/chat.
 */
#ifndef CLI_TALK_H
#define CLI_TALK_H

#include "cli/agent/agent.h"
#include "cli/chat/chat.h"
#include "cli/chat/editor.h"
#include "cli/stream.h"

enum {
    CHAT_GOES_ON = -1,
    CHAT_PARTS_MAX = 64, /* files of one message, as the library has it */
};

struct chat {
    struct cli *cli;
    bool terminal; /* keys come one by one; else lines of standard input */
    int tty;
    wend_run_options o;              /* of the next run */
    wend_part parts[CHAT_PARTS_MAX]; /* files that it comes with */
    char last[40];                   /* the run before it; empty: none */
    bool continues;                  /* the agent is that of a stored run */
    struct editor editor;
    struct markdown markdown;
    struct panel panel; /* of the prompt */
    struct buf note;    /* a row below the prompt until the next key */
    bool warned;        /* Ctrl-C once, in an empty text */
    bool stopped;       /* the answer, once */
    bool left;          /* twice: leave */
    bool queued;        /* Enter came too late for the run: the next message */
    int64_t stopped_us; /* when an answer was; 0: never */
    /* Of the newest run, and of all. */
    char model[64];
    int64_t context, window; /* tokens; 0: not known */
    int64_t tokens_in, tokens_out;
    int64_t cost_nano; /* -1: not known */
    int64_t runs;
    int code; /* to leave with; CHAT_GOES_ON */
};

/* chat.c: asks the model, as the next run of the conversation. */
void chat_ask(struct chat *c, wend_str text);
/* For the user: goes to standard error, above the prompt. */
void chat_say(struct chat *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The next message follows that run, or none: its context counts now. */
void chat_move(struct chat *c, wend_str to);
void chat_new_session(struct chat *c); /* a name that says when it began */
/* "model, 12 % of 128k, 1.2k + 300 tokens, $0.01" */
void chat_used(const struct chat *c, struct buf *out);

/* prompt.c: the next text of the user, in editor.text; false: leave. */
bool prompt_read(struct chat *c);
extern const struct typist prompt_typist; /* ctx: to be set */

/* slash.c: does what a text that begins with / says. A path is no command. */
bool slash_is(wend_str text);
void slash_do(struct chat *c, wend_str text);
const char *slash_name(size_t i); /* NULL: no more */
/* tab.c: completes it, or says what could follow. */
void tab_complete(struct chat *c);

/* attach.c: a file that comes with the next message. Prints what is wrong and
 * returns 0 or an exit code. */
int attach_file(struct chat *c, const char *path);
/* Those that a message of a run came with. */
void attach_again(struct chat *c, const char *run, const wend_ev_part *parts,
                  size_t count);
void slash_attach(struct chat *c, const char *arg);
void slash_detach(struct chat *c, const char *arg);

/* history.c: texts of earlier chats. */
void history_load(struct chat *c);
void history_add(struct chat *c, wend_str text);

#endif

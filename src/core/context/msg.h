/*
 * msg.h - the messages of a conversation: an immutable list, newest first.
 *
 * A message carries its own hash and size, and the sums of both over itself
 * and all before it. So a longer list costs what is new, and a list with other
 * messages before it costs nothing for the text of those that stay.
 */
#ifndef CORE_MSG_H
#define CORE_MSG_H

#include <stdbool.h>

#include "base/mem.h"
#include "base/str.h"

enum role { ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL, ROLE_SYSTEM };
enum { ROLES = ROLE_SYSTEM + 1 };

#define MESSAGE_BY_WEND "wend" /* `by` of a message that is `own` */

/* A call of the current message. */
struct call {
    const struct call *prev; /* the one before it in the message */
    uint32_t index;
    wend_str id, name;
    wend_str args; /* canonical JSON; a JSON string when `invalid` */
    bool invalid;  /* the arguments are not JSON */
};

/* One message of the conversation, newest first by prev. */
struct msg {
    const struct msg *prev;
    int64_t index; /* from 0 */
    enum role role;
    wend_str text, thinking, opaque;
    const wend_ev_part *parts; /* of a user's message, of a result ... */
    size_t parts_count;
    int64_t media;            /* ... and their estimated tokens */
    wend_str model;           /* that wrote it, if one did */
    const struct call *calls; /* of an assistant, last one first */
    wend_str call, name;      /* of a tool's result */
    bool failed;              /* a result that is not ok: it says why */
    bool pinned;              /* a compaction keeps it */
    bool summary;             /* it stands for messages that are gone */
    bool own;                 /* in the user's place, by the runtime */
    bool client;              /* a result that the caller has not given */
    int64_t turn;             /* of a result: the turn of its call */
    wend_str whole; /* of a result that was cut: all of it; else absent */

    /* Of the message alone, set by msg_seal. */
    uint64_t hash;
    int64_t size;  /* estimated tokens */
    int64_t bytes; /* of its texts */
    /* Of it and all before it, set by msg_link. */
    uint64_t prefix;
    int64_t tokens, bytes_sum;
};

/* Estimated tokens of a message with nothing but this text. */
int64_t msg_tokens(wend_str text);
/* Hash and size; its texts stay as they are from here on. */
void msg_seal(struct msg *m);
/* Puts a sealed message behind `prev`; first: the hash before the first one. */
void msg_link(struct msg *m, const struct msg *prev, uint64_t first);

/* Whether the list that ends with `newest` has that message. */
bool msg_is_in(const struct msg *newest, const struct msg *m);

/* ---- msg_text.c ---------------------------------------------------------- */

extern const char *const role_names[ROLES];
/* Oldest first, in the arena; *count of them. NULL: none, or no memory. */
const struct msg **msg_list(const struct msg *newest, struct arena *a,
                            size_t *count);

/* What stands for a result that was cut. */
enum messages_form {
    MESSAGES_WHOLE, /* all of it: a run that follows cuts for itself */
    MESSAGES_SENT,  /* what the model gets */
};

/* The messages as JSON, oldest first; absent if there are none, or a->failed.
 * `most`: how many of the newest at most, 0 = all. What is left begins with a
 * message of the user, and each call in it has its result. */
wend_str messages_text(const struct msg *newest, int64_t most,
                       enum messages_form form, struct arena *a);
/* As many as `most`, or more for a run without a prompt: its model is asked
 * with the results at the end, which stand behind their calls. */
int64_t messages_most(const struct msg *newest, int64_t most);

#endif

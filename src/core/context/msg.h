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

#endif

/*
 * messages.h - the past of a conversation, as run_start.messages has it: what
 * a run takes over from the run before it, or from its host.
 */
#ifndef CORE_MESSAGES_H
#define CORE_MESSAGES_H

#include "core/turn/turn.h"

enum {
    MESSAGES_MAX = 100000, /* far above any window */
};

/* Describes a part that a host gives; its strings live as long as the arena. */
typedef wend_status (*messages_part_fn)(void *ctx, const struct json *part,
                                        wend_ev_part *out, wend_error *err);

/* Reads what a host gives and checks it: roles and fields, and that each call
 * has its result. *newest: the last message, NULL if the list is empty; prev
 * leads to the others. err names the index and the field. */
wend_status messages_parse(wend_str json, messages_part_fn part, void *ctx,
                           struct arena *a, const struct msg **newest,
                           wend_error *err);

/* Reads what the caller of a run says when it continues it: results of pending
 * calls in any order, then messages of the user. *newest: the conversation of
 * that run, settled; then that with what was said. A pending call without a
 * result keeps the one that says so. */
wend_status messages_continue(wend_str json, messages_part_fn part, void *ctx,
                              struct arena *a, const struct msg **newest,
                              wend_error *err);

/* The parts of all messages in a text of messages_text, in the arena; NULL:
 * none. */
const wend_ev_part *messages_parts(wend_str json, struct arena *a,
                                   size_t *count);

/* Puts run_start.messages on the history. */
void turn_take_messages(struct turn *t, const wend_ev_run_start *e,
                        const struct keep *k);

/* Makes the history of a run that is over the past of another one: run_end has
 * not been applied. A call without a result gets one that says so, an answer
 * that failed is left out, and what was said but not sent is added. */
void turn_settle(struct turn *t, const struct keep *k);

#endif

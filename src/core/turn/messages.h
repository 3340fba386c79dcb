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

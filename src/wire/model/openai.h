/*
 * openai.h - the parts of the Chat Completions codec.
 *
 * Members that must be sent back with a message are kept as opaque items:
 *
 *     {"p":"openai","detail":{...}}       one entry of reasoning_details
 *     {"p":"openai","thinking":"FIELD"}   the thinking, by that name
 */
#ifndef WIRE_OPENAI_H
#define WIRE_OPENAI_H

#include "wire/model/model.h"

/* ---- Calls --------------------------------------------------------------- */

struct calls {
    struct slot *list;
    size_t count, cap;
};

/* One piece of a call; `call` may be NULL. Failures are told. */
void calls_add(struct calls *cs, struct decoder *d, const struct json *call,
               const struct json *function);
/* Seals all of them, or if the answer was cut, those that are complete. */
void calls_close(struct calls *cs, struct decoder *d, bool cut);
void calls_free(struct calls *cs, const struct mem *m);

/* ---- Thinking that goes back --------------------------------------------- */

/* Entries of reasoning_details, put together from their fragments. */
struct details {
    struct thinking_detail *list;
    size_t count, cap;
};

/* False: out of memory. */
bool details_add(struct details *ds, struct decoder *d,
                 const struct json *fragment);
/* The text of a fragment for people to read; absent if it has none. */
wend_str details_text(const struct json *fragment);
/* Tells the sink of all of them. */
bool details_tell(struct details *ds, struct decoder *d);
void details_free(struct details *ds, const struct mem *m);

#endif

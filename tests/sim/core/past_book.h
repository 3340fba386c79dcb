/*
 * past_book.h - what a reader knows about the past of a conversation.
 */
#ifndef SIM_CORE_PAST_BOOK_H
#define SIM_CORE_PAST_BOOK_H

#include "book.h"

/* The messages of run_start. Returns how many. */
uint32_t past_read(wend_str json, struct book_msg out[BOOK_MSGS]);
/* What a run that follows this one must begin with. `closed`: it was ended by
 * force here. */
uint32_t past_of(const struct book *b, bool closed,
                 struct book_msg out[BOOK_MSGS]);
/* Bits of the names in a list. */
uint32_t names_in(wend_str json, const char *const *names, uint32_t count);
/* What the model that is asked has refused, to be changed; NULL: no room. */
struct book_refused *past_refused(struct book *b);
/* Enters what the event says about the past and for the next run. */
void past_book_add(struct book *b, const wend_event *ev);

#endif

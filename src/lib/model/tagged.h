/*
 * tagged.h - the tag protocol between a driver and the shell, for models that
 * write plans. Only for src/lib.
 */
#ifndef LIB_TAGGED_H
#define LIB_TAGGED_H

#include "lib/run/run.h"

/* The turn that the model is asked with: the run's, or for a model that calls
 * no tools a copy without them, with its plans as the tags that it wrote. NULL:
 * out of memory. */
const struct turn *tagged_turn(struct wend_run *r);
/* A piece of its text: thoughts, actions and answers are told apart. */
void tagged_text(struct wend_run *r, int64_t ask, wend_str piece);
/* No more text comes; gives how the message ended. */
wend_str tagged_end(struct wend_run *r, int64_t ask, wend_str finish);
void tagged_again(struct wend_run *r); /* the message begins anew */
void tagged_free(struct wend_run *r);

#endif

/*
 * think.h - thinking that a server left inside the text, as <think>...</think>.
 *
 * Only at the very start of an answer: elsewhere a model writes about tags.
 * Tags may be cut anywhere.
 */
#ifndef WIRE_THINK_H
#define WIRE_THINK_H

#include <stddef.h>

#include "wend.h"

struct wire_sink;

enum think_at { THINK_START, THINK_INSIDE, THINK_AFTER, THINK_TEXT };

struct think {
    enum think_at at;
    size_t held; /* bytes of a tag that may be one */
};

/* Tells the sink of text or thinking. Once a server has told of thinking in
 * a place of its own, set `at` to THINK_TEXT. */
void think_add(struct think *t, const struct wire_sink *sink, wend_str piece);
/* The text is over: what is held is no tag. */
void think_end(struct think *t, const struct wire_sink *sink);

#endif

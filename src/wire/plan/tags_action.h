/*
 * tags_action.h - an action of the tag protocol: its tag and its JSON as one.
 */
#ifndef WIRE_TAGS_ACTION_H
#define WIRE_TAGS_ACTION_H

#include "wire/plan/tags.h"

extern const char *const tags_attr_names[TAGS_ATTRS];

/* Appends the action that `json` and the attributes of its tag are, as one JSON
 * object. *differs: attributes that the JSON has otherwise, by bit.
 * WEND_E_LIMIT: it may be JSON, but is too much of it. Out of memory sticks in
 * t->scratch and out. */
wend_status tags_action(struct tags *t, wend_str json, struct buf *out,
                        unsigned *differs, wend_error *err);

/* The first closing tag of an action, whatever the quotes say. */
bool tags_find_close(wend_str body, size_t *at, size_t *end);
/* Whether the body, which has a `>` at its end, ends with the closing tag:
 * how long it is without it. */
bool tags_ends_closed(wend_str body, size_t *len);

#endif

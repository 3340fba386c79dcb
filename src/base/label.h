/*
 * label.h - the words for what a tool brings into a run or lets out of it.
 */
#ifndef BASE_LABEL_H
#define BASE_LABEL_H

#include "base/str.h"

enum { LABELS = 3 };
extern const char *const label_names[LABELS]; /* by the bit of wend_label */

uint32_t label_of(wend_str name); /* wend_label; 0 if it is unknown */
/* Adds a member, or with key NULL an item: a JSON list of names. */
void labels_add(struct buf *b, const char *key, uint32_t labels);
struct json;
/* The labels that a JSON list names; it may be NULL. */
uint32_t labels_read(const struct json *list);

#endif

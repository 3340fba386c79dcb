/*
 * replay.h - the pace and the end of a run that is read from the store alone.
 */
#ifndef LIB_REPLAY_H
#define LIB_REPLAY_H

#include "lib/run/run.h"

bool replay_due(struct wend_run *r, const wend_event *ev);
/* Whether an item follows the one before it, by seq and by hash; else
 * *bad_seq is the first event that is missing or wrong. */
bool replay_check(struct wend_run *r, const struct store_item *item,
                  int64_t *bad_seq);
bool replay_read(struct wend_run *r, const wend_event *ev);
void replay_drained(struct wend_run *r); /* the store has no more now */
bool replay_over(const struct wend_run *r);
void replay_cancel(struct wend_run *r); /* nothing more is given out */
void replay_free(struct wend_run *r);

#endif

/*
 * recall.h - the answers that a log has, told to a driver that counts them.
 * Only for src/lib.
 */
#ifndef LIB_RECALL_H
#define LIB_RECALL_H

#include "lib/run/run.h"

struct recalled;

/* Model calls that began, oldest first. Zero-initialise with `run` set. */
struct recall {
    struct wend_run *run;
    struct recalled *first;
};

/* Around turn_apply of the same event; false: out of memory. */
void recall_before(struct recall *q, const wend_event *ev);
bool recall_after(struct recall *q, const wend_event *ev);
/* Open calls are lost: they will be made again. */
void recall_lost(struct recall *q);
void recall_free(struct recall *q);

#endif

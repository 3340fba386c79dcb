/*
 * state.h - the whole state of a run as JSON, and back.
 *
 * Equal bytes mean equal states: tests compare what a log gives with what the
 * run had, and hand a state to another process.
 */
#ifndef TESTS_STATE_H
#define TESTS_STATE_H

#include "core/turn/turn.h"

void turn_write(struct buf *b, const struct turn *t);
wend_status turn_read(wend_str json, const struct keep *k, struct turn *out,
                      wend_error *err);

/* The plan in it (plan_state_json.c). */
void plan_state_write(struct buf *b, const struct plan_state *p);
bool plan_state_read(const struct json *j, struct arena *a,
                     struct plan_state *p);

#endif

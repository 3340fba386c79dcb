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

/* The messages in it (msg_json.c). */
void calls_write(struct buf *b, const struct call *last);
void msgs_write(struct buf *b, const struct msg *newest);
wend_str state_str(const struct json *j, const char *name, struct arena *a);
bool state_bool(const struct json *j, const char *name);
const struct call *calls_read(const struct json *list, struct arena *a);
/* NULL: it is not one, or out of memory. */
struct msg *msg_read(const struct json *j, struct arena *a);
bool msgs_read(const struct json *list, struct arena *a,
               const struct msg **out);

/* The plan in it (plan_state_json.c). */
void plan_state_write(struct buf *b, const struct plan_state *p);
bool plan_state_read(const struct json *j, struct arena *a,
                     struct plan_state *p);

#endif

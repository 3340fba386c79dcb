/*
 * shell.h - the only place where the core meets the world.
 *
 * shell_input takes an input to tt; shell_submit and shell_committed are the
 * two ends of a batch's way through the store; a driver, a tool or an action
 * answers by the other functions.
 */
#ifndef LIB_SHELL_H
#define LIB_SHELL_H

#include "lib/run/run.h"

void shell_input(struct wend_run *r, struct input *in);
void shell_committed(struct batch *b);
void shell_submit(struct wend_run *r);
struct batch *shell_batch(struct wend_run *r); /* open; NULL: no memory */
void shell_fail(struct wend_run *r, wend_status s, const char *message);
void shell_nomem(struct wend_run *r);
/* Sets or moves the timer; false: out of memory, the run has failed. */
bool shell_timer(struct wend_run *r, struct timer_node *t, int64_t due_us);
/* A driver's answers; ignored unless `ask` is the open one. */
bool shell_open(const struct wend_run *r, int64_t ask);
void shell_text(struct wend_run *r, int64_t ask, wend_str piece);
/* The same, whatever tags are in it. */
void shell_plain(struct wend_run *r, int64_t ask, wend_str piece);
void shell_thinking(struct wend_run *r, int64_t ask, wend_str piece);
int shell_call(struct wend_run *r, int64_t ask, wend_str id, wend_str name);
void shell_args(struct wend_run *r, int64_t ask, int call, wend_str piece);
void shell_seal(struct wend_run *r, int64_t ask, int call);
void shell_opaque(struct wend_run *r, int64_t ask, wend_str json);
/* Replaces what was told before. */
void shell_usage(struct wend_run *r, int64_t ask, const wend_ev_usage *usage);
/* The message begins anew: what was gathered is void. False if one of its
 * calls has started: then the message is there to stay. */
bool shell_restart(struct wend_run *r, int64_t ask);
void shell_done(struct wend_run *r, int64_t ask, wend_str finish,
                const wend_ev_usage *usage);
void shell_model_fail(struct wend_run *r, int64_t ask,
                      const struct model_error *e);
void shell_output(struct wend_run *r, wend_str call, wend_str text);
void shell_action_output(struct wend_run *r, uint32_t action, wend_str text);
/* A piece of what an action's model says. */
void shell_action_delta(struct wend_run *r, wend_event_type type,
                        uint32_t action, wend_str text, int64_t now_us);
int64_t shell_now(struct wend_run *r); /* for an event, never going back */
bool shell_may_read(const struct wend_run *r);

/* hook.c: the host looks at, changes, skips or stops. */
void hook_perform(struct wend_run *r, const struct effect *fx);
wend_hook_answer hook_ask(struct wend_run *r, wend_hook *h);
void hook_stop(struct wend_run *r, wend_str message);

#endif

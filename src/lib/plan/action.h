/*
 * action.h - the actions of a plan, as the shell performs them. Only for
 * src/lib.
 */
#ifndef LIB_ACTION_H
#define LIB_ACTION_H

#include "lib/run/run.h"

/* A model call of an action, with a session of its own. Its number for the
 * driver is negative: those of turns are not. */
struct action_ask {
    struct action_ask *next; /* of the run */
    struct wend_run *run;
    struct arena arena;
    uint32_t action;
    int64_t attempt, ask, timeout_ms;
    struct session *session;
    struct turn turn; /* what is asked: one message, no tools */
    struct config config;
    struct msg msg;
    struct reply reply;
    struct veil *veil;
    struct timer_node timer; /* until it begins, then its deadline, then its
                                end */
    bool over;
};

void ask_start(struct wend_run *r, const struct effect *fx);
/* What was asked for an action under way, as far as choosing an answer needs
 * it; `msg` is its only message. */
void ask_turn(struct wend_run *r, wend_str action, struct turn *t,
              struct msg *msg);
/* False: the action has no question under way. */
bool ask_stop(struct wend_run *r, const struct effect *fx);
void asks_silence(struct wend_run *r); /* nothing more comes from them */
void asks_drop(struct wend_run *r);
/* The one with that number that is under way, or NULL. */
struct action_ask *ask_under_way(const struct wend_run *r, int64_t ask);
void ask_piece(struct action_ask *a, bool text,
               wend_str piece); /* or thinking */
void ask_done(struct action_ask *a, wend_str finish,
              const wend_ev_usage *usage);
void ask_fail(struct action_ask *a, const struct model_error *e);

/* action.c: an effect for an action */
void action_start(struct wend_run *r, const struct effect *fx);
/* action_cache.c: answers an action if what it asks was answered lately */
bool cache_answers(struct wend_run *r, const struct effect *fx);
/* Keeps what an action gave, if the event is its end; before the turn knows
 * of it. */
void cache_keep(struct wend_run *r, const wend_event *ev);
const struct plan_action *action_of(const struct wend_run *r,
                                    const struct effect *fx);

/* action.c: the call or action that an effect is about */
wend_str work_id(const struct wend_run *r, const struct effect *fx);
wend_str work_name(const struct wend_run *r, const struct effect *fx);
/* The tool or the endpoint that it calls; or NULL. */
struct agent_tool *work_tool(const struct wend_run *r, const struct effect *fx);
/* Whether it, and no later attempt of the action, is under way. */
bool work_runs(const struct wend_run *r, const struct effect *fx);
/* What the core is told about it, if no struct wend_call does. */
struct input work_answer(const struct effect *fx, wend_outcome outcome,
                         wend_str output, wend_str code);
void work_stop(struct wend_run *r, const struct effect *fx);

#endif

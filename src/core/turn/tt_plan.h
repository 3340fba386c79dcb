/*
 * tt_plan.h - how the parts of tt about plans speak. Only for core/turn.
 */
#ifndef CORE_TT_PLAN_H
#define CORE_TT_PLAN_H

#include "core/turn/tt_step.h"

/* How an action ended, to be written. */
struct action_fate {
    wend_outcome outcome;
    wend_str output; /* JSON; absent: null */
    wend_str code, message, reason;
    bool effect_possible, retryable, cached;
    uint32_t labels; /* wend_label: what it brings besides its tool's */
};

/* tt_action.c: one action */
/* Or asks, or refuses. False: nothing was done. */
bool start_action(struct tt *x, uint32_t i);
void start_action_again(struct tt *x, uint32_t i); /* lost, or to be retried */
void ask_action_again(struct tt *x, uint32_t i);
void end_action(struct tt *x, uint32_t i, const struct action_fate *f);
void end_lost_action(struct tt *x, uint32_t i); /* tt_plan.c */
void retry_action(struct tt *x, uint32_t i, const struct action_fate *f);
bool may_retry_action(const struct tt *x, uint32_t i,
                      const struct action_fate *f);
/* Refused without running: both brackets in one step. */
void end_unstarted_action(struct tt *x, uint32_t i, wend_str params,
                          const wend_ev_policy *policy,
                          const struct action_fate *f);
/* Failed before anything began. */
void refuse_action(struct tt *x, uint32_t i, wend_str code, wend_str message);
/* tt_llm.c: its model call */
const struct model_use *action_model(const struct turn *t,
                                     const struct plan_action *a);
int64_t action_tokens(const struct turn *t, wend_str params);
/* False: the request is far over the window, and *f says so. */
bool action_fits(struct tt *x, uint32_t i, struct action_fate *f);
/* The limit that asking would break; absent: none, or it asks no model. */
wend_str action_over_budget(const struct tt *x, const struct plan_action *a,
                            wend_str params);
void emit_action_ask(struct tt *x, uint32_t i);
/* Ends its model call, if one is open. */
void emit_action_answer(struct tt *x, uint32_t i, wend_outcome outcome,
                        const wend_ev_error *error);

/* Whether, when it was interrupted, nobody knows what it has done. A child is
 * gone on with, or has not begun, unless it has ended (a fork may begin there)
 * or is another run's. */
bool is_unknown(const struct turn *t, uint32_t i);
/* Nothing that was kept answers it: its child begins. */
void start_action_child(struct tt *x, uint32_t i);
void action_approval(struct tt *x, uint32_t i);

/* tt_value.c */
/* What it gets. False: it was refused, or there is no memory. */
bool action_params(struct tt *x, uint32_t i, wend_str *out);
/* The first case that holds; takes no time, and no slot. */
void decide(struct tt *x, uint32_t i);
/* A tool's text as JSON: what it is if it is JSON, else a string. */
wend_str output_json(struct tt *x, wend_str text);

#endif

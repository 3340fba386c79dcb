/*
 * tt_plan.h - how the parts of tt about plans speak. Only for core/turn.
 */
#ifndef CORE_TT_PLAN_H
#define CORE_TT_PLAN_H

#include "core/turn/tt_step.h"

/* tt_action.c: one action */
/* Or asks, or refuses. False: nothing was done. */
bool start_action(struct tt *x, uint32_t i);
void retry_action(struct tt *x, const struct work *w,
                  const struct call_done *d);
bool may_retry_action(const struct tt *x, const struct work *w,
                      const struct call_done *d);
/* Failed before anything began. */
void refuse_action(struct tt *x, uint32_t i, wend_str code, wend_str message);
/* tt_llm.c: its model call */
const struct model_use *action_model(const struct turn *t,
                                     const struct plan_action *a);
int64_t action_tokens(const struct turn *t, wend_str params);
bool asks_model(const struct turn *t, const struct work *w);
/* False: it asks a model, the request is far over its window, and *d says so.
 */
bool fits_window(struct tt *x, const struct work *w, struct call_done *d);
/* The limit that asking would break; absent: none, or it asks no model. */
wend_str work_over_budget(const struct tt *x, const struct work *w);
void emit_action_ask(struct tt *x, uint32_t i);
/* Ends its model call, if one is open. */
void emit_action_answer(struct tt *x, uint32_t i, wend_outcome outcome,
                        const wend_ev_error *error);

/* tt_value.c */
/* What it gets. False: it was refused, or there is no memory. */
bool action_params(struct tt *x, uint32_t i, wend_str *out);
/* The first case that holds; takes no time, and no slot. False: it is no
 * decision. */
bool decide(struct tt *x, uint32_t i);
/* A tool's text as JSON: what it is if it is JSON, else a string. */
wend_str output_json(struct tt *x, wend_str text);

#endif

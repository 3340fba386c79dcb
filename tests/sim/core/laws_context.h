/*
 * laws_context.h - the laws of a conversation that is kept within its window.
 */
#ifndef SIM_CORE_LAWS_CONTEXT_H
#define SIM_CORE_LAWS_CONTEXT_H

#include "laws_step.h"

void law_stays(struct sim *s, const wend_event *ev, const char *name);
void law_prefix(struct sim *s, const wend_event *ev, const char *name);
void law_window(struct sim *s, const struct view *v, const char *name);

#endif

/*
 * trouble.h - problems of components that do not end the run: events of
 * the run. Strings are copied.
 */
#ifndef LIB_TROUBLE_H
#define LIB_TROUBLE_H

#include "lib/run/run.h"

void run_trouble(struct wend_run *r, const struct trouble *t);
/* An error whose code is the component. */
void run_error(struct wend_run *r, const char *component, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void run_inherit_troubles(struct wend_run *r); /* those that the agent has */
/* Tells all runs of the agent; stands: also those that start later. */
void agent_trouble(wend_agent *a, const struct trouble *t, bool stands);
void agent_forget_trouble(wend_agent *a, wend_str of);

#endif

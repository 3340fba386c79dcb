/*
 * laws_event.h - the laws that one event of the log can break.
 */
#ifndef SIM_CORE_LAWS_EVENT_H
#define SIM_CORE_LAWS_EVENT_H

#include "sim.h"

struct event_law {
    const char *name; /* NULL after the last law of a table */
    void (*check)(struct sim *s, const wend_event *ev, const char *name);
};

extern const struct event_law event_laws[];

#endif

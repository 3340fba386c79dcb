/*
 * served.h - a server of tools (MCP) that is a program which only acts as
 * if: it answers late, twice, never, with nonsense, or dies over it.
 */
#ifndef SIM_SHELL_SERVED_H
#define SIM_SHELL_SERVED_H

#include "stage.h"

enum served_fault {
    SERVED_GOOD,
    SERVED_LATE,
    SERVED_NEVER,
    SERVED_TWICE,
    SERVED_OTHER,    /* an answer to no question */
    SERVED_NONSENSE, /* before its answer */
    SERVED_ERROR,
    SERVED_PROGRESS, /* before its answer */
    SERVED_DIES,     /* in the middle of its answer */
    SERVED_FAULTS
};

void served_hears(struct act *a, const char *bytes, size_t len);

#endif

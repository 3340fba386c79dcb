/*
 * forked.h - another future of a run that is over.
 */
#ifndef CRASH_FORKED_H
#define CRASH_FORKED_H

#include "wend.h"

/* A second future, from the end of the first turn on. */
static wend_status fork_it(wend_agent *agent, wend_runtime *rt, const char *id,
                           wend_run **run)
{
    wend_replay_options o = {.size = sizeof o,
                             .filter.types = UINT64_C(1) << WEND_TURN_END};
    wend_fork_options f = {.size = sizeof f};
    wend_run *log = NULL;
    const wend_event *ev;

    if (wend_store_replay(rt, id, &o, &log, NULL) == WEND_OK &&
        wend_run_next(log, &ev) == WEND_OK)
        f.at = ev->seq;
    wend_run_free(log);
    return wend_run_fork(agent, id, &f, NULL, run, NULL);
}

#endif

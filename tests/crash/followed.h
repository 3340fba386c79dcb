/*
 * followed.h - runs in the store, and one that continues the talk of another.
 */
#ifndef TESTS_CRASH_FOLLOWED_H
#define TESTS_CRASH_FOLLOWED_H

#include <stdio.h>
#include <unistd.h>

#include "wend.h"

/* The newest run of the store that no other started: its id, and whether it
 * is over, and a fork. */
static bool find_run(wend_store *store, char id[40], bool *over, bool *is_fork)
{
    wend_runs *list = NULL;
    const wend_run_info *info;
    bool found;

    if (wend_store_list(store, NULL, &list, NULL) != WEND_OK)
        _exit(8);
    do
        found = wend_runs_next(list, &info) == WEND_OK;
    while (found && info->child);
    if (found) {
        snprintf(id, 40, "%.*s", (int)info->run.len, info->run.ptr);
        *over = info->ended_us != 0;
        *is_fork = info->parent.ptr != NULL;
    }
    wend_runs_free(list);
    return found;
}

static long count_runs(wend_store *store)
{
    wend_runs *list = NULL;
    const wend_run_info *info;
    long count = 0;

    if (wend_store_list(store, NULL, &list, NULL) != WEND_OK)
        _exit(8);
    while (wend_runs_next(list, &info) == WEND_OK)
        count++;
    wend_runs_free(list);
    return count;
}

/* The conversation of the first run goes on, shortened. */
static wend_status follow_it(wend_agent *agent, wend_store *store,
                             wend_run **run)
{
    wend_run_options o = {.size = sizeof o, .compact = ""};
    bool over = false, is_fork;
    char id[40];

    if (count_runs(store) != 1 || !find_run(store, id, &over, &is_fork) ||
        !over)
        return WEND_END;
    return wend_run_follow(agent, id, (wend_str){"more", 4}, &o, run, NULL);
}

#endif

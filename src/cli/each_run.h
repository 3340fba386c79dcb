/*
 * each_run.h - runs of a listing, page by page, and the filters of `runs`.
 */
#ifndef CLI_EACH_RUN_H
#define CLI_EACH_RUN_H

#include "cli/cli.h"

/* Returns EXIT_DONE to continue. */
typedef int (*each_run_fn)(void *ctx, const wend_run_info *info);

/* Newest first, at most `left` of them; -1 = all. Returns the last result of
 * fn, or the exit code of a failed listing, which has been reported. */
int each_run(struct cli *cli, const wend_list_options *filter, int64_t left,
             each_run_fn fn, void *ctx);

/* Rows of a table of options. */
/* clang-format off */
#define RUN_FILTER_OPTIONS                                                    \
    {0, "status", "STATUS",                                                   \
     "only runs with this status: running, ok, failed, ...", OPT_TEXT,        \
     OPT_AT(status), 0, 0, NULL},                                             \
    {0, "user", "NAME", "only runs of this user", OPT_TEXT, OPT_AT(user), 0,  \
     0, NULL},                                                                \
    {0, "session", "NAME", "only runs of this session", OPT_TEXT,             \
     OPT_AT(session), 0, 0, NULL},                                            \
    {0, "agent", "NAME", "only runs of this agent", OPT_TEXT, OPT_AT(agent),  \
     0, 0, NULL},                                                             \
    {0, "since", "DUR", "only runs started within this time, such as 2h",     \
     OPT_TIME, OPT_AT(since_ms), 0, 0, NULL}
/* clang-format on */

/* Builds the filter from --status, --user, --session, --agent and --since.
 * Reports an unknown status and returns EXIT_USAGE. */
int run_filter(const struct cli *cli, int64_t now_us, wend_list_options *out);
int64_t wall_us(void);

#endif

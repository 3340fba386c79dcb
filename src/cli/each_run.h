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

/* Builds the filter from --status, --user, --session, --agent and --since.
 * Reports an unknown status and returns EXIT_USAGE. */
int run_filter(const struct cli *cli, int64_t now_us, wend_list_options *out);
int64_t wall_us(void);

#endif

/*
 * each_run.h - the runs of a store and the events of a run, one by one.
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

/* The recorded events of a run, oldest first. Returns EXIT_DONE, or the exit
 * code of an error, which has been reported. */
typedef void (*each_event_fn)(void *ctx, const wend_event *ev);
int each_event(struct cli *cli, const char *id, const wend_replay_options *o,
               each_event_fn fn, void *ctx);
/* A bit of wend_filter. */
#define TYPE(event) (UINT64_C(1) << WEND_##event)

enum run_state { RUN_GONE, RUN_UNDER_WAY, RUN_INTERRUPTED, RUN_OVER };
/* Sets `parent` to the id of a child's parent; NULL: not needed. */
enum run_state run_state(struct cli *cli, const char *id, char parent[40]);

/* Builds the filter from --status, --user, --session, --agent and --since.
 * Reports an unknown status and returns EXIT_USAGE. */
int run_filter(const struct cli *cli, int64_t now_us, wend_list_options *out);
int64_t wall_us(void);

#endif

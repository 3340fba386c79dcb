/*
 * filter.h - which runs of a store a listing shows, and what runs are called.
 */
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include "cli/cli.h"

/* The options of ROWS_FILTER. */
struct filter {
    wend_list_options list;     /* what the store looks at */
    const struct words *labels; /* KEY=VALUE, or KEY for any value; all hold */
    struct buf grep; /* in lower case; empty: not asked for. The whole prompt,
                        the answer and the error are searched */
};

/* Reports an option that is invalid: 0 or EXIT_USAGE. */
int filter_open(const struct cli *cli, int64_t now_us, struct filter *out);
/* As each_run, for runs that the filter fits; needs a runtime. */
int each_filtered(struct cli *cli, const struct filter *f, int64_t left,
                  each_run_fn fn, void *ctx);

/* What only the log knows; strings are in the arena, absent if the log is
 * damaged. */
struct run_names {
    wend_str correlation_id;
    wend_str follows;          /* the run before it in its conversation */
    const struct json *labels; /* an object, or NULL */
};
/* Returns 0, or the exit code of an error, which has been reported. */
int names_read(struct cli *cli, const wend_run_info *info, struct arena *a,
               struct run_names *out);

/* --user, --session, --correlation-id and --label for a new run: 0 or
 * EXIT_USAGE, reported. The texts live as long as the process. */
int names_fill(struct cli *cli, wend_run_options *o);

#endif

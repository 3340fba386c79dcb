/*
 * remember.h - answers to approvals that apply to later runs.
 *
 * `always` and `never` on the terminal add a rule to
 * $XDG_DATA_HOME/wend/approvals, one per line. A line is the current
 * directory, a tab and the rule, since the same rule means other files and
 * programs elsewhere; a rule alone applies everywhere. Empty lines and lines
 * that start with # are ignored; the last answer is tried first.
 */
#ifndef CLI_REMEMBER_H
#define CLI_REMEMBER_H

#include "cli/cli.h"

/* A line of the file. */
struct remembered_line {
    wend_str rule;
    wend_str folder; /* absent: it applies everywhere */
    uint32_t line;
    bool here; /* it applies in this directory */
};

typedef wend_status (*remembered_line_fn)(void *ctx,
                                          const struct remembered_line *k,
                                          wend_error *err);
/* The path of the file; false if neither XDG_DATA_HOME nor HOME is set. */
bool remember_path(struct buf *out);
/* Calls fn for each answer, newest first. The file may be absent. */
wend_status remember_each(remembered_line_fn fn, void *ctx, struct arena *a,
                          wend_error *err);
/* Removes the rule, where it applies in this directory; says how many lines had
 * it. Returns 0 or an exit code, after a message. */
int remember_forget(struct cli *cli, const char *rule, size_t *lines);
/* Appends the rules for this directory to `out`, newest first. The file may
 * be absent. */
wend_status remember_rules(struct words *out, struct arena *a, wend_error *err);
/* Whether the file can hold a rule. */
bool remember_can(wend_str rule);
wend_status remember_add(wend_str rule, wend_error *err);

#endif

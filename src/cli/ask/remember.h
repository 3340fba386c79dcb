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

/* Appends the rules for this directory to `out`, newest first. The file may
 * be absent. */
wend_status remember_rules(struct words *out, struct arena *a, wend_error *err);
/* Whether the file can hold a rule. */
bool remember_can(wend_str rule);
wend_status remember_add(wend_str rule, wend_error *err);

#endif

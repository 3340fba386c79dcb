/*
 * remember.h - answers that count for the runs to come.
 *
 * `always` and `never` on the terminal make a rule, one a line, in a file of
 * the user's beside the store: $XDG_DATA_HOME/wend/approvals. A line is the
 * folder that it was said in, a tab and the rule, since the same words mean
 * other files and other programs elsewhere; a rule alone counts everywhere.
 * Lines that begin with # and empty ones say nothing; the last answer stands
 * first.
 */
#ifndef CLI_REMEMBER_H
#define CLI_REMEMBER_H

#include "cli/cli.h"

/* Appends the rules of the file for this folder to `out`, newest first. No
 * file is fine. */
wend_status remember_rules(struct words *out, struct arena *a, wend_error *err);
/* Whether a rule can stand in the file. */
bool remember_can(wend_str rule);
wend_status remember_add(wend_str rule, wend_error *err);

#endif

/*
 * authority.h - whether a run is resumed with the settings of its log or of
 * the user.
 *
 * The log of a run that was created here sets models, tools and policy. The
 * log of an imported run is not trusted: the command line sets them, or the
 * user approves the settings of the log after seeing all of them.
 */
#ifndef CLI_AUTHORITY_H
#define CLI_AUTHORITY_H

#include "base/json.h"
#include "cli/cli.h"

/* WEND_FORK_ bits: settings that options override. */
uint32_t authority_given(const struct settings *given);

/* Asks whether an imported log may set `config` for a run in `cwd`: shown in
 * full on a terminal, refused without one. Returns 0 or an exit code, after
 * a message that says what to do instead. */
int authority_ask(struct cli *cli, const char *id, wend_str cwd,
                  const struct json *config);

/* Decides whether the runs of the store are trusted: asks about a store that
 * was created elsewhere; otherwise all its runs count as imported. Call it
 * before looking up a run. */
int authority_store(struct cli *cli);

#endif

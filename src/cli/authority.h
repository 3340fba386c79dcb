/*
 * authority.h - by whose word a run goes on: its own log's, or the user's.
 *
 * The log of a run that was made here says which models are asked, which
 * tools there are and what is allowed. That of an imported run says nothing
 * of it: the command line does, or the user, who is shown all of it.
 */
#ifndef CLI_AUTHORITY_H
#define CLI_AUTHORITY_H

#include "base/json.h"
#include "cli/cli.h"

/* WEND_FORK_ bits: what the options of run say, in place of the log. */
uint32_t authority_given(const struct settings *given);

/* Whether the user lets an imported log say what is in `config`, for a run in
 * `cwd`: shown in full and asked about on a terminal, else refused. 0 or an
 * exit code; what to do instead has been said. */
int authority_ask(struct cli *cli, const char *id, wend_str cwd,
                  const struct json *config);

/* Whether the runs of the store may have authority at all: one that was made
 * elsewhere is asked about, or all its runs count as imported. To be called
 * before a run is looked up. */
int authority_store(struct cli *cli);

#endif

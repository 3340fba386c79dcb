/*
 * agent_tools.h - the tools of an agent: built-in ones, and those in files.
 */
#ifndef CLI_AGENT_TOOLS_H
#define CLI_AGENT_TOOLS_H

#include "cli/agent/agent_file.h"
#include "cli/cli.h"

/* Offered when no tool is named: they only read. */
extern const char *const tools_default[]; /* ends with NULL */

/* Whether a program needs sockets. */
bool tool_networks(const struct tool_manifest *t);
/* Whether the file's tools and rules are about tools that there are. */
wend_status agent_tools_check(const struct agent_file *f, wend_error *err);

/* These say what is wrong themselves; 0 or an exit code. */
int tools_load(struct cli *cli); /* the files of --tools */
/* A rule of --approve; one with a misspelled name would protect nothing. */
int tools_check_rule(struct cli *cli, const char *rule,
                     const char *const *modes, int modes_count);
int tools_add(struct cli *cli, wend_agent *agent);
int tools_add_file(struct cli *cli, wend_agent *agent,
                   const struct tool_file *t);

#endif

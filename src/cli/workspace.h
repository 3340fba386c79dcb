/*
 * workspace.h - warns about an unsuitable working directory.
 */
#ifndef CLI_WORKSPACE_H
#define CLI_WORKSPACE_H

#include "cli/cli.h"

/* Whether the working directory is the user's home directory. */
bool workspace_is_home(void);
/* Warns if programs of the agent would run in it. */
void workspace_look(const struct cli *cli, wend_agent *agent);

#endif

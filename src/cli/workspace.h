/*
 * workspace.h - what is said about the folder in which programs work.
 */
#ifndef CLI_WORKSPACE_H
#define CLI_WORKSPACE_H

#include "cli/cli.h"

/* The working directory is the home folder of the user. */
bool workspace_is_home(void);
/* Warns if programs of the agent get it as their workspace. */
void workspace_look(const struct cli *cli, wend_agent *agent);

#endif

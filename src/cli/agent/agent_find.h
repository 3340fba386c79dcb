/*
 * agent_find.h - where agents are: named files, the user's folder, ./wend.yaml.
 */
#ifndef CLI_AGENT_FIND_H
#define CLI_AGENT_FIND_H

#include "cli/cli.h"

#define AGENT_FILE_DEFAULT "wend.yaml"
#define AGENT_BUILTIN "agent" /* the name of the one that is no file */

/* Paths of the files in the user's folder, sorted. None is fine. */
wend_status agents_list(struct arena *a, const char ***paths, size_t *count,
                        wend_error *err);
/* What -a NAME means: a path, or NULL for the built-in agent. Says what is
 * wrong itself; 0 or an exit code. */
int agent_find(struct cli *cli, const char *name, const char **path);

#endif

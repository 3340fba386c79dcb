/*
 * relics.h - the relics of a plan: files in the folder relics beside it.
 */
#ifndef CLI_RELICS_H
#define CLI_RELICS_H

#include "cli/cli.h"

/* Whether RELIC.ENDPOINT of this plan is there, as far as its file can tell.
 * Else *near may be what was meant; if the file itself is wrong, `wrong` says
 * where and what. Files are read once. */
bool relics_know(struct cli *cli, wend_str plan, wend_str target,
                 const char **near, struct buf *wrong);
/* Gives the agent all those that were found; 0 or an exit code. */
int relics_add(struct cli *cli, wend_agent *agent);

#endif

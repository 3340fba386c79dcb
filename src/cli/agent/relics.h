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

/* Relics that are added together, so that their servers start side by side. */
struct relic_list {
    size_t count;
    wend_str *texts;
    wend_relic_options *options;
    const wend_relic_options **each;
    wend_error *errs; /* what became of each */
};

bool relic_list_new(struct cli *cli, size_t most, struct relic_list *out);
void relic_list_put(struct cli *cli, struct relic_list *list, wend_str text,
                    const char *file);
/* Adds them; WEND_E_NOMEM may leave errs empty. */
wend_status relic_list_add(struct relic_list *list, wend_agent *agent);

#endif

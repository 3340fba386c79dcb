/*
 * resume_all.h - every run whose process is gone, several at once.
 */
#ifndef CLI_RESUME_ALL_H
#define CLI_RESUME_ALL_H

#include <time.h>

#include "cli/cli.h"

/* A program that was being started when its owner was killed holds the
 * owner's lock for a moment more, until it is under way. */
extern const struct timespec resume_moment;

enum run_state { RUN_GONE, RUN_UNDER_WAY, RUN_INTERRUPTED, RUN_OVER };

/* Of a child `parent` takes the id of its parent; NULL: not needed. */
enum run_state run_state(struct cli *cli, const char *id, char parent[40]);

/* Each by a process of its own. Returns the first exit code that is not 0. */
int resume_all(struct cli *cli);

#endif

/*
 * resume_all.h - resumes all interrupted runs, several at once.
 */
#ifndef CLI_RESUME_ALL_H
#define CLI_RESUME_ALL_H

#include <time.h>

#include "cli/cli.h"

/* A program that was being started when its owner was killed holds the
 * owner's lock until its exec. */
extern const struct timespec resume_moment;

/* Resumes each run in its own process. Returns the first exit code that is
 * not 0. */
int resume_all(struct cli *cli);

#endif

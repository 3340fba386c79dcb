/*
 * traces.h - OpenTelemetry, if the environment asks for it.
 */
#ifndef CLI_TRACES_H
#define CLI_TRACES_H

#include "cli/cli.h"

/* Traces the runs of cli->rt. A variable that is wrong is a warning, and
 * nothing is traced. */
void traces_open(struct cli *cli);
/* Spends at most a second on what is not sent yet. */
void traces_close(struct cli *cli);
/* The caller's trace as members of labels, unless those name one. */
void traces_put_labels(const struct words *given, struct buf *labels);

#endif

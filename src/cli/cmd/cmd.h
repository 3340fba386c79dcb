/*
 * cmd.h - the commands: one struct command in each cmd_*.c.
 */
#ifndef CLI_CMD_H
#define CLI_CMD_H

#include "cli/cli.h"

/* In the order of `wend help`. */
#define COMMANDS(X) \
    X(run)          \
    X(chat)         \
    X(runs)         \
    X(log)          \
    X(replay)       \
    X(tools)        \
    X(models)       \
    X(agents)       \
    X(trust)        \
    X(init)         \
    X(config)       \
    X(doctor)       \
    X(verify)       \
    X(export)       \
    X(import)       \
    X(stats)        \
    X(diff)         \
    X(context)      \
    X(resume)       \
    X(retry)        \
    X(cancel)       \
    X(say)          \
    X(pause)        \
    X(continue)     \
    X(approve)      \
    X(plan)         \
    X(prune)        \
    X(view)         \
    X(fork)         \
    X(rm)           \
    X(blob)         \
    X(serve)        \
    X(tour)

#define X(name) extern const struct command command_##name;
COMMANDS(X)
#undef X

/* cmd_run.c: says how to set one, and what works without. EXIT_USAGE. */
int no_model(void);
/* The same: a file that comes with a prompt. Prints what is wrong and returns 0
 * or an exit code. */
int read_part(struct cli *cli, const char *path, wend_part *out);
/* The files of --file, read and checked. */
int read_parts(struct cli *cli, const wend_part **list, size_t *count);

#endif

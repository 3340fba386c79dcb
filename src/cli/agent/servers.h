/*
 * servers.h - servers of tools: those of --mcp and of the agent's file.
 */
#ifndef CLI_SERVERS_H
#define CLI_SERVERS_H

#include "cli/cli.h"

/* NAME=COMMAND or NAME=URL, taken apart. */
struct server_spec {
    const char *name;
    const char *url;            /* NULL: a command */
    const char *const *command; /* NULL at the end */
};

/* A command is words as in a shell: quotes and backslashes, nothing else.
 * False: `why` says what is wrong. */
bool server_parse(const char *text, struct arena *a, struct server_spec *out,
                  struct buf *why);
/* Prints what the library notes about one; ctx is the command. */
void server_say(void *ctx, const char *text);
/* What is left of --timeout, for all servers together; 0: there is none. */
uint32_t server_time_left(struct cli *cli);
/* Adds them all. What is wrong with an option ends the command; a server
 * that cannot be used is told of, and the rest goes on. 0 or an exit code.
 * `must`: it is the point of the command, so that is an error, too. */
int servers_add(struct cli *cli, wend_agent *agent, bool accept, bool must);

#endif

/*
 * servers.h - servers of tools: those of --mcp.
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
/* Print what the library notes about one, the first unless -q; ctx is the
 * command. */
void server_say(void *ctx, const char *text);
void server_warn(void *ctx, const char *text);
/* What is left of --timeout, from the first look at it on, for servers that
 * are started one after the other; 0: there is none. */
uint32_t server_time_left(struct cli *cli);
/* Those of the options. What is wrong is said; 0 or an exit code. */
int servers_given(struct cli *cli, const wend_mcp_options *const **list,
                  size_t *count);
/* Adds them to an agent that only lists their tools: one that cannot be used
 * is an error. 0 or an exit code. */
int servers_look(struct cli *cli, wend_agent *agent);

#endif

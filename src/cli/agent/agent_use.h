/*
 * agent_use.h - which agent a command runs, and what its file changes.
 */
#ifndef CLI_AGENT_USE_H
#define CLI_AGENT_USE_H

#include "cli/cli.h"

/* The agent that -a names, else ./wend.yaml if it was accepted, else none:
 * in cli->agent, and what it says in cli->set. A file that was not accepted
 * is asked about on a terminal and else ignored, which is said. `options`
 * are the command line's alone. 0 or an exit code. */
int agent_use(struct cli *cli, const struct settings *options);

/* The same for a file that was read: into cli->agent and cli->set. */
int agent_take(struct cli *cli, const wend_manifest *m);

/* An agent's file; it stays as long as the command. `plain`: nothing but a
 * regular file will do; nobody named it. */
wend_status agent_open(struct cli *cli, const char *path, bool plain,
                       const wend_manifest **out, wend_error *err);
/* The same for a tool's file. */
wend_status tool_open(struct cli *cli, const char *path,
                      const wend_manifest **out, wend_error *err);
void manifests_free(struct cli *cli);

/* ./wend.yaml as it is now. WEND_E_NOTFOUND if there is none. */
wend_status agent_here(struct cli *cli, const wend_manifest **out,
                       bool *trusted, wend_error *err);

/* The answer on the terminal; standard input may be the prompt. */
bool says_yes(wend_str question);

/* What a manifest would do, for one who is to accept it. */
void agent_show(struct buf *out, const wend_manifest *m);

#endif

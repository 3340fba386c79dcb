/*
 * serve.h - files of wend serve: token, agents, log, the page that opens
 * the browser.
 *
 * Functions that return an int print what is wrong and return 0 or an exit
 * code.
 */
#ifndef CLI_SERVE_H
#define CLI_SERVE_H

#include "cli/cli.h"

enum { SERVED_AGENTS_MAX = 200 };

/* The token: $WEND_TOKEN, --token-file, or that of the user's data folder,
 * which is made once. `path` is empty if it comes from the environment. */
int serve_token(struct cli *cli, struct buf *token, struct buf *path);
/* The name of the user who holds it. */
const char *serve_user(void);
/* The agent files directly in a folder that only the user can write. */
int serve_agent_files(struct cli *cli, const char *folder, const char ***paths,
                      size_t *count);
int serve_log(const char *path, int *fd);
/* Opens the page in a browser. The token goes through a file that only the
 * user can read: arguments of programs are visible to others. */
void serve_open_page(struct cli *cli, const char *url, const char *token);

#endif

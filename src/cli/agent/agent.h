/*
 * agent.h - which agent a command runs, and what the command line changes
 * about it.
 *
 * Functions that return an int print what is wrong and return 0 or an exit
 * code.
 */
#ifndef CLI_AGENT_H
#define CLI_AGENT_H

#include "cli/cli.h"

/* ---- Files (agent_find.c, agent_use.c, agent_show.c) --------------------- */

#define AGENT_FILE_DEFAULT "wend.yaml"
#define AGENT_BUILTIN "agent" /* the name of the agent that is not a file */

/* Paths of the files in the user's folder, sorted; it may be absent. */
wend_status agents_list(struct arena *a, const char ***paths, size_t *count,
                        wend_error *err);
/* What -a NAME means: a path, or NULL for the built-in agent. */
int agent_find(struct cli *cli, const char *name, const char **path);

/* Opens a file that stays open as long as the command. */
wend_status manifest_open(struct cli *cli, const char *path,
                          const wend_manifest_options *o,
                          const wend_manifest **out, wend_error *err);
/* The same for an agent's file. plain: the user did not name it, so it must be
 * a regular file. */
wend_status agent_open(struct cli *cli, const char *path, bool plain,
                       const wend_manifest **out, wend_error *err);
void manifests_free(struct cli *cli);

/* Finds the agent that -a names, else ./wend.yaml if it was accepted, else
 * none: it is in cli->agent, and what it says in cli->set. A file that was not
 * accepted is asked about on a terminal; otherwise it is ignored with a
 * message. `options` are those of the command line alone. */
int agent_use(struct cli *cli, const struct settings *options);
/* ./wend.yaml as it is now. WEND_E_NOTFOUND if there is none. */
wend_status agent_here(struct cli *cli, const wend_manifest **out,
                       bool *trusted, wend_error *err);
/* The answer on the terminal; standard input may be the prompt. */
bool says_yes(wend_str question);
/* What a manifest would do, for the person who is to accept it. */
void agent_show(struct buf *out, const wend_manifest *m);

/* ---- Tools and servers (agent_tools.c, servers.c) ------------------------ */

int tools_load(struct cli *cli); /* the files of --tools */
/* A rule of --approve; one with a misspelled name would protect nothing. */
int tools_check_rule(struct cli *cli, const char *rule,
                     const char *const *modes, int modes_count);
/* Tools, programs and servers of the settings for an agent that is made. */
int tools_fill(struct cli *cli, wend_load_options *o);

/* The servers of --mcp. */
int servers_given(struct cli *cli, const wend_mcp_options *const **list,
                  size_t *count);
/* Adds them to an agent that only lists their tools: one that cannot be used
 * is an error. */
int servers_look(struct cli *cli, wend_agent *agent);
/* Print a note of the library, the first unless -q; ctx is the command. */
void server_say(void *ctx, const char *text);
void server_warn(void *ctx, const char *text);

/* ---- Agents (agent_make.c) ----------------------------------------------- */

/* The agent of a run, from the settings, its file and cli->plan. *asks: the
 * user is asked for approval. */
int agent_make(struct cli *cli, wend_agent **agent, bool *asks);
/* What overrides a file or a log: model and limits come from `from`, where keys
 * are from `set`. */
wend_agent_options agent_options(const struct settings *from,
                                 const struct settings *set);
/* All options for agent_make. */
int agent_fill(struct cli *cli, wend_load_options *load, wend_agent_options *o,
               bool *asks);
/* What --approve says, with the rules that are remembered. */
int agent_approve(struct cli *cli, wend_agent_options *o, bool *asks,
                  bool *allow_rest);
/* Prints why there is no agent: also where, for a schema. */
int agent_not_made(struct cli *cli, wend_status s, const wend_error *err);

/* ---- The agent of a stored run (again.c) --------------------------------- */

struct view;

struct again {
    int64_t at;        /* the last event that counts; 0 = the newest */
    uint32_t take;     /* WEND_FORK_ bits: what the settings say instead */
    bool imported;     /* the run is: its log does not count ... */
    bool trust_log;    /* out: ... unless the user trusts it */
    struct view *view; /* gets the past; out: NULL if it did */
};

/* Changes to the directory of the run, unless it was imported and the user
 * does not trust its log. */
int again_agent(struct cli *cli, const char *id, struct again *how,
                wend_agent **agent);

#endif

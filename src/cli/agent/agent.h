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

/* ---- Files (agent_use.c, agent_show.c) ----------------------------------- */

#define AGENT_FILE_DEFAULT "wend.yaml"
#define AGENT_BUILTIN "agent" /* the name of the agent that is not a file */

/* Paths of the files in the user's folder, sorted; it may be absent. Like all
 * functions here that return a status: cli->err says what is wrong. */
wend_status agents_list(struct cli *cli, const char ***paths, size_t *count);

/* Opens a file that stays open as long as the command. */
wend_status manifest_open(struct cli *cli, const char *path,
                          const wend_manifest_options *o,
                          const wend_manifest **out);
/* The same for an agent's file. plain: the user did not name it, so it must be
 * a regular file. */
wend_status agent_open(struct cli *cli, const char *path, bool plain,
                       const wend_manifest **out);
void manifests_free(struct cli *cli);

/* Finds the agent that -a names, else ./wend.yaml if it was accepted, else
 * none: it is in cli->agent, and what it says in cli->set. A file that was not
 * accepted is asked about on a terminal; otherwise it is ignored with a
 * message. `options` are those of the command line alone. */
int agent_use(struct cli *cli, const struct settings *options);
/* ./wend.yaml as it is now. WEND_E_NOTFOUND if there is none. */
wend_status agent_here(struct cli *cli, const wend_manifest **out,
                       bool *trusted);
/* The answer on the terminal; standard input may be the prompt. */
bool says_yes(wend_str question);
/* The same before something is removed; else a message, and an exit code. */
int confirm(wend_str question);
/* What a manifest would do, for the person who is to accept it. */
void agent_show(struct buf *out, const wend_manifest *m);

/* ---- Tools and servers (agent_tools.c) ----------------------------------- */

int tools_load(struct cli *cli); /* the files of --tools */
/* A rule of --approve; one with a misspelled name would protect nothing. */
int tools_check_rule(struct cli *cli, const char *rule,
                     const char *const *modes, int modes_count);
/* Tools, programs and servers of the settings for an agent that is made. */
int tools_fill(struct cli *cli, wend_load_options *o);

/* Adds the servers of --mcp to an agent that only lists their tools: one that
 * cannot be used is an error. */
int servers_look(struct cli *cli, wend_agent *agent);
/* Print a note of the library, the first unless -q; ctx is the command. */
void server_say(void *ctx, const char *text);
void server_warn(void *ctx, const char *text);

/* ---- Agents (agent_make.c) ----------------------------------------------- */

/* cli->made: the agent of a run, from the settings, its file and cli->plan. */
int agent_make(struct cli *cli);
/* What overrides a file or a log: model and limits come from `from`, where keys
 * are, and what the model is told of the folder, from all settings. */
wend_agent_options agent_options(struct cli *cli, const struct settings *from);
/* All options for agent_make. */
int agent_fill(struct cli *cli, wend_load_options *load, wend_agent_options *o);
/* What --approve says, with the rules that are remembered. Sets cli->asks. */
int agent_approve(struct cli *cli, wend_agent_options *o, bool *allow_rest);
/* The wend_approve of that word of --approve; below 0: it is a rule. */
int agent_approve_mode(const char *word);
/* Whether the working directory is the user's home directory. */
bool workspace_is_home(void);
/* As report for an agent that was made or not: also where, for a schema. */
int agent_report(struct cli *cli, wend_status s);

/* ---- The agent of a stored run (again.c) --------------------------------- */

/* The log of a run that was created here sets models, tools and policy. The
 * log of an imported run is not trusted: the command line sets them, or the
 * user approves the settings of the log after seeing all of them. */

/* WEND_FORK_ bits: settings that options override. */
uint32_t authority_given(const struct settings *given);
/* Decides whether the runs of the store are trusted: asks about a store that
 * was created elsewhere; otherwise all its runs count as imported. Call it
 * before looking up a run. */
int authority_store(struct cli *cli);

struct view;

struct again {
    int64_t at;        /* the last event that counts; 0 = the newest */
    uint32_t take;     /* WEND_FORK_ bits: what the settings say instead */
    bool imported;     /* the run is: its log does not count ... */
    bool trust_log;    /* out: ... unless the user trusts it */
    struct view *view; /* gets the past; out: NULL if it did */
};

/* Makes cli->made. Changes to the directory of the run, unless it was imported
 * and the user does not trust its log. */
int again_agent(struct cli *cli, const char *id, struct again *how);

#endif

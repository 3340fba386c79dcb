/*
 * cli.h - what the commands share: exit codes, settings, the store.
 *
 * The command is a user of wend.h like any other: it adds options, what
 * goes to the terminal and what the exit status says.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stddef.h>

#include "base/str.h"
#include "cli/options.h"

enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2, /* also a bad input file or an unknown run */
    EXIT_LIMIT = 3,
    EXIT_STORE = 74,
    EXIT_HANGUP = 129,
    EXIT_CANCELED = 130,
    EXIT_TERM = 143,
};

/* Everything that a file, the environment or an option can set. */
struct settings {
    /* Any of the three. */
    const char *model, *store, *plan, *instructions, *base_url, *key_file,
        *ca_file;
    const char *models;
    int64_t model_timeout_ms;
    int64_t max_turns, timeout_ms, budget_tokens, budget_cost, parallel;
    int64_t eager;  /* wend_eager */
    int64_t effort; /* wend_effort */
    struct words approve, tools, fallback;
    /* Options only. */
    bool http2;
    bool insecure_http; /* any of the three */
    bool help, json, quiet, verbose, follow, no_deltas, accept;
    bool accept_loss;
    const char *log_file, *schema, *status, *user, *session, *agent;
    const char *record_dir, *playback_dir, *head, *salvage, *output;
    struct words types, tool_files, servers, inputs;
    bool list, remove, exact, always, dry_run, no_run, live, trust_store;
    struct words results;
    int64_t events;     /* enum dialect_word; -1 = not given */
    int64_t sandbox;    /* index of the word; -1 = not given */
    int64_t format;     /* the same, for a plan */
    int64_t on_unknown; /* wend_unknown */
    int64_t since_ms, older_ms, limit, seq_from, seq_to, seq_at, jobs;
    bool force, yes, with_forks;
    double speed;
};

enum dialect_word {
    DIALECT_NATIVE,
    DIALECT_LOOM,
    DIALECT_AGIO,
    DIALECT_CORTEX,
    DIALECT_AG_UI, /* not built yet */
};
extern const char *const dialect_words[]; /* ends with NULL */
extern const char *const on_off_words[];  /* the same */

/* Rows that mean the same in the tables of several commands. */
#define OPT_AT(member) offsetof(struct settings, member)
/* clang-format off */
#define OPT_ROW_STORE                                                         \
    {0, "store", "URL", "SQLite file (default $WEND_STORE)", OPT_TEXT,        \
     OPT_AT(store), 0, 0, NULL}
#define OPT_ROW_HELP                                                          \
    {'h', "help", NULL, "show this help", OPT_FLAG, OPT_AT(help), 0, 0,       \
     NULL}
#define OPT_ROW_JSON                                                          \
    {0, "json", NULL, "print all events as JSON lines", OPT_FLAG,             \
     OPT_AT(json), 0, 0, NULL}
#define OPT_ROW_EVENTS                                                        \
    {0, "events", "DIALECT", "event dialect: native, loom, agio or cortex",   \
     OPT_WORD, OPT_AT(events), 0, 0, dialect_words}
#define OPT_ROW_LOG_FILE                                                      \
    {0, "log-file", "FILE", "also append all events to FILE as JSON lines",   \
     OPT_TEXT, OPT_AT(log_file), 0, 0, NULL}
#define OPT_ROWS_PROVIDER                                                     \
    {0, "fallback", "NAME", "model to use when the first one fails",          \
     OPT_LIST, OPT_AT(fallback), 0, 0, NULL},                                 \
    {0, "base-url", "URL", "base URL of the provider's API", OPT_TEXT,        \
     OPT_AT(base_url), 0, 0, NULL},                                           \
    {0, "key-file", "FILE",                                                   \
     "file with the API key (default: the environment)", OPT_TEXT,            \
     OPT_AT(key_file), 0, 0, NULL},                                           \
    OPT_ROWS_TLS
#define OPT_ROWS_TLS                                                          \
    {0, "ca-file", "FILE",                                                    \
     "CA certificates to trust (default: the system's)", OPT_TEXT,            \
     OPT_AT(ca_file), 0, 0, NULL},                                            \
    {0, "insecure-http", NULL, "allow keys over plain http to other hosts",   \
     OPT_FLAG, OPT_AT(insecure_http), 0, 0, NULL}
/* For a resumed or forked run; same names as the options of run. */
#define OPT_ROWS_AGENT                                                        \
    {'a', "agent", "FILE", "agent to use instead: a file or a name",          \
     OPT_TEXT, OPT_AT(agent), 0, 0, NULL},                                    \
    {'m', "model", "NAME", "model to use instead", OPT_TEXT, OPT_AT(model),   \
     0, 0, NULL},                                                             \
    OPT_ROWS_PROVIDER,                                                        \
    {0, "models", "FILE", "context windows and prices; see 'wend models'",    \
     OPT_TEXT, OPT_AT(models), 0, 0, NULL},                                   \
    {'t', "tool", "NAME", "tool to offer instead; may be repeated",           \
     OPT_LIST, OPT_AT(tools), 0, 0, NULL},                                    \
    {0, "tools", "FILE", "file with a tool to offer; may be repeated",        \
     OPT_LIST, OPT_AT(tool_files), 0, 0, NULL},                               \
    {0, "mcp", "SERVER", "MCP server instead: NAME=COMMAND or NAME=URL",      \
     OPT_LIST, OPT_AT(servers), 0, 0, NULL},                                  \
    {0, "approve", "WHAT",                                                    \
     "approval: ask, deny, all or a rule; may be repeated", OPT_LIST,         \
     OPT_AT(approve), 0, 0, NULL},                                            \
    OPT_ROW_SANDBOX
#define OPT_ROW_SANDBOX                                                       \
    {0, "sandbox", "on|off", "sandbox for tools that run programs",           \
     OPT_WORD, OPT_AT(sandbox), 0, 0, on_off_words}
#define OPT_ROW_TRUST_STORE                                                   \
    {0, "trust-store", NULL,                                                  \
     "trust the store even if it was created elsewhere", OPT_FLAG,            \
     OPT_AT(trust_store), 0, 0, NULL}
#define OPT_ROWS_TALK                                                         \
    {'q', "quiet", NULL, "print only the answer", OPT_FLAG, OPT_AT(quiet),    \
     0, 0, NULL},                                                             \
    {'v', "verbose", NULL, "print details to standard error", OPT_FLAG,       \
     OPT_AT(verbose), 0, 0, NULL},                                            \
    {'h', "help", NULL, "show this help", OPT_FLAG, OPT_AT(help), 0, 0,       \
     NULL}
/* clang-format on */

struct cli {
    const struct command *command;
    struct settings set;
    struct settings given;      /* the same, from the command line only */
    const wend_manifest *agent; /* NULL: the built-in one */
    bool inner; /* that agent is inside another, see agent_inner.c */
    struct manifest_node *manifests;  /* all that were opened */
    const wend_manifest **tool_files; /* of --tools */
    size_t tool_files_count;
    struct words guarded; /* files that the outermost agent is made of */
    const struct json *past_tools; /* of the resumed run */
    struct relic_file *relics;     /* used by a plan */
    struct plan_tool *plan_tools;  /* the same */
    int64_t servers_ms;            /* when the first server was connected to */
    int servers_code;   /* of a list of tools that was not accepted; 0 */
    struct arena arena; /* lives as long as the process */
    char **argv; /* the arguments after the command name; ends with NULL */
    int args_count;
    char **args; /* arguments that are not options */
    wend_store *store;
    wend_runtime *rt;
};

/* Start of the help of commands that take a run. */
#define RUN_IS "RUN is an id, a unique prefix of an id, or last"

struct command {
    const char *name;
    const char *args;    /* shown behind the name */
    const char *summary; /* one line */
    const char *more;    /* of its help; may be NULL */
    const struct opt *opts;
    bool only_reads;  /* the store */
    bool no_config;   /* runs even if the config file is invalid */
    bool takes_agent; /* has -a */
    bool agent_named; /* ... and without it there is no agent */
    int (*run)(struct cli *cli);
};

/* Prints "wend: ..." to standard error, with control characters escaped.
 * Returns code. */
int complain(int code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The same with EXIT_USAGE and a hint at --help. */
int usage_error(const struct cli *cli, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Standard output is for programs: --json, or a dialect was named. */
bool wants_json(const struct settings *set);
/* The exit code for a status from before a run began. */
int exit_of(wend_status s);
/* Prints the error and returns the exit code. If the output is JSON, a
 * failed store also gets a final error line there. */
int give_up(const struct cli *cli, wend_status s, const wend_error *err);

/* The path of the store's file; false if the store is not a file. */
bool store_file(const struct cli *cli, struct buf *path);
/* These print their own errors and return 0 or an exit code. */
int open_store(struct cli *cli);
int open_runtime(struct cli *cli); /* and its store */

/* Prints all of it to standard output: 0, or EXIT_CANCELED if the pipe is
 * closed. */
int print_all(wend_str text);
int print_buf(const struct buf *b); /* or an out-of-memory error */

/* The arguments starting with `from`, joined by spaces. */
void put_args(const struct cli *cli, int from, struct buf *out);

/* The id behind RUN: a full id, a unique prefix or `last`. */
struct found {
    char id[40];
    int64_t started_us, ended_us;
    bool imported; /* `last` never finds such a run */
};
int find_run(struct cli *cli, const char *name, struct found *out);
/* Finds the one run that the arguments must name; opens the store. */
int find_only_run(struct cli *cli, struct found *out);

#endif

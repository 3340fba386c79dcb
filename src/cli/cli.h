/*
 * cli.h - what the commands share: exit codes, settings, the store.
 *
 * The command is a user of wend.h like any other: it adds options, what
 * goes to the terminal and what the exit status says.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

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
    int64_t notes;  /* index of the word: 1 is off */
    struct words approve, tools, fallback;
    /* Options only. */
    bool http2;
    bool insecure_http; /* any of the three */
    bool help, json, quiet, verbose, follow, deltas, no_deltas, accept, all;
    bool accept_loss;
    const char *log_file, *schema, *agent;
    const char *user, *session, *correlation_id;
    const char *record_dir, *playback_dir, *head, *salvage, *output;
    struct words types, tool_files, servers, inputs, labels, params, files;
    bool offline;
    bool list, remove, exact, always, dry_run, no_run, live, trust_store, pin;
    bool compact;
    struct words results;
    int64_t events;     /* index of dialect_names; -1 = not given */
    int64_t status;     /* index of status_words; -1 = not given */
    int64_t sandbox;    /* index of the word; -1 = not given */
    int64_t format;     /* index of the word; -1 = not given */
    int64_t on_unknown; /* wend_unknown */
    const char *since, *until, *after, *grep;
    const char *forget;    /* a rule that was remembered */
    const char *call_args; /* JSON instead of a call's arguments */
    bool edit;
    bool tree;
    bool goes_on; /* -c: with the last conversation */
    int64_t older_ms, limit, seq_from, seq_to, seq_at, jobs;
    bool force, yes, with_forks, stream;
    const char *listen, *agents, *token_file, *tokens, *public_url, *webhook;
    struct words webhook_allow;
    int64_t drain_ms;
    bool open; /* of wend serve, with the lines above */
    double speed;
};

extern const char *const on_off_words[]; /* ends with NULL */
extern const char *const status_words[]; /* the same */
extern const char *const eager_words[], *const effort_words[],
                                            *const unknown_words[];

struct cli {
    const struct command *command;
    struct settings set;
    struct settings given;            /* the same, from the command line only */
    const wend_manifest *agent;       /* NULL: the built-in one */
    const wend_manifest *plan;        /* of wend plan */
    struct manifest_node *manifests;  /* all that were opened */
    const wend_manifest **tool_files; /* of --tools */
    size_t tool_files_count;
    const struct json *past_tools; /* of the resumed run */
    int servers_code;         /* of a list of tools that was not accepted; 0 */
    wend_agent *made;         /* of the run; NULL: none yet */
    bool asks;                /* its calls are approved on this terminal */
    struct arena arena;       /* of cli_mem; lives as long as the process */
    const char *config_error; /* of a command that runs all the same */
    wend_error err;           /* of the last call of the library, see report */
    char **argv; /* the arguments after the command name; ends with NULL */
    int args_count;
    char **args; /* arguments that are not options */
    wend_store *store;
    wend_runtime *rt;
};

/* Members of commands whose only argument is a run. */
#define TAKES_A_RUN .args_min = 1, .args_max = 1, .expected = "one run, or last"

enum { ARGS_ANY = 1 << 20 };

/* The memory of the command, for one thread. It never fails: without memory
 * the process says so and exits with EXIT_FAILED; an active run can be resumed.
 * Blocks that are not freed go with pool_free: only what is made for each of
 * many runs or events needs a free. The view of a run has its own memory, so
 * that a run can end in order. */
extern const struct mem cli_mem;
void pool_free(void);

struct command {
    const char *name;
    const char *args;       /* shown behind the name */
    int args_min, args_max; /* their number, without options */
    const char *expected;   /* what the error names; NULL: the one too many */
    const char *summary;    /* one line */
    const char *more;       /* of its help; may be NULL */
    const struct opt *opts;
    bool only_reads;  /* the store */
    bool makes_store; /* if it is absent; else there is nothing in it */
    bool no_config;   /* runs even if the config file is invalid */
    bool takes_agent; /* has -a */
    bool agent_named; /* ... and without it there is no agent */
    /* Which runs the tab key offers for RUN: words of status_words; NULL: all.
     */
    const char *statuses;
    bool no_child; /* ... without children */
    int (*run)(struct cli *cli);
};

/* Prints "wend: ..." to standard error, with control characters escaped.
 * Returns code. */
int complain(int code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
extern bool complain_wraps; /* a chat's lines break between words */
/* The same with EXIT_USAGE and a hint at --help. */
int usage_error(const struct cli *cli, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Standard output is for programs: --json, or a dialect was named. */
bool wants_json(const struct settings *set);
/* The exit code for a status from before a run began. */
int exit_of(wend_status s);
/* Prints cli->err unless s is WEND_OK and returns the exit code. If the output
 * is JSON, a failed store also gets a final error line there. */
int report(const struct cli *cli, wend_status s);

/* "; did you mean 'x'?" for the nearest of n names, or "". */
enum { HINT_BYTES = 80 };
const char *did_you_mean(char out[HINT_BYTES], const char *word,
                         const char *const *names, int n);
/* As a C string, cut to fit. */
void str_copy(char *out, size_t size, wend_str s);
/* Reads a descriptor to its end, or until there are more bytes than `max`.
 * False with errno set if that fails. */
bool read_all(int fd, size_t max, struct buf *text);
/* False with errno set. */
bool write_all(int fd, wend_str text);

/* The path of the store's file; false if the store is not a file. */
bool store_absent(const struct cli *cli, struct buf *path);
bool store_file(const struct cli *cli, struct buf *path);
/* These print their own errors and return 0 or an exit code. */
int open_store(struct cli *cli);
int open_runtime(struct cli *cli); /* and its store */

/* Prints all of it to standard output: 0, or EXIT_CANCELED if the pipe is
 * closed. */
int print_all(wend_str text);
int print_buf(const struct buf *b);
/* The same for a safe text, wrapped by term_fit on a terminal. */
int print_fit(const struct buf *b);

/* The index of --format, else of the word that the name of the output file ends
 * with, else 0. */
int64_t output_format(const struct settings *set, const char *const *words);
/* All of it to --output or standard output. On a terminal it is what `safe`
 * makes of it: term_text, term_json; NULL: it is safe already. */
int print_safe(const struct cli *cli, const struct buf *text,
               void (*safe)(struct buf *out, wend_str s));

/* A row for each run that a command is about to take: when it started, and its
 * prompt, on one line. */
void put_run(struct buf *out, const wend_run_info *info, size_t columns);

/* The arguments starting with `from`, joined by spaces. */
void put_args(const struct cli *cli, int from, struct buf *out);

/* The id behind RUN: a full id, a unique prefix, `last`, or `last~N` for the
 * Nth run before the last. */
struct found {
    char id[40];
    int64_t started_us;
    bool imported; /* `last` never finds an imported run */
};
int find_run(struct cli *cli, const char *name, struct found *out);
/* Opens the store (open_store, open_runtime) and finds the run that the first
 * argument names. */
int find_arg(struct cli *cli, int (*open)(struct cli *cli), struct found *out);

/* ---- The runs of a store and the events of a run, one by one ------------- */

/* Returns EXIT_DONE to continue. */
typedef int (*each_run_fn)(void *ctx, const wend_run_info *info);

/* Newest first, at most `left` of them; -1 = all. Returns the last result of
 * fn, or the exit code of a failed listing, which has been reported. */
int each_run(struct cli *cli, const wend_list_options *filter, int64_t left,
             each_run_fn fn, void *ctx);

/* The recorded events of a run, oldest first. Returns EXIT_DONE, or the exit
 * code of an error, which has been reported. */
typedef void (*each_event_fn)(void *ctx, const wend_event *ev);
int each_event(struct cli *cli, const char *id, const wend_replay_options *o,
               each_event_fn fn, void *ctx);
/* A bit of wend_filter. */
#define TYPE(event) (UINT64_C(1) << WEND_##event)

enum run_state { RUN_GONE, RUN_UNDER_WAY, RUN_INTERRUPTED, RUN_OVER };
/* Sets `parent` to the id of a child's parent; NULL: not needed. */
enum run_state run_state(struct cli *cli, const char *id, char parent[40]);
enum { ANCESTORS_MAX = 64 }; /* deeper than children nest */
/* From a child to its parents: the run that all of them are below. */
void run_top(struct cli *cli, char id[40]);

int64_t wall_us(void);
int64_t steady_us(void); /* for what passes; never set back */
/* The number of runs that fit, at most o->limit; -1: the listing failed. */
int64_t runs_count(struct cli *cli, const wend_list_options *o);

#endif

/*
 * config.h - what an agent is, as recorded in run_start.config.
 *
 * The only source is the JSON text in the log: a live run parses the same
 * bytes that a resume does.
 */
#ifndef CORE_CONFIG_H
#define CORE_CONFIG_H

#include "base/hash.h"
#include "base/json.h"
#include "base/label.h"
#include "core/config/frame.h"
#include "core/config/params.h"
#include "core/schema/schema.h"

/* What rules see in a tool's main argument. */
enum subject {
    SUBJECT_TEXT,    /* a string as it is */
    SUBJECT_PATH,    /* a file or folder beneath the root */
    SUBJECT_PATTERN, /* a pattern for paths, beneath the argument `path` */
    SUBJECT_COMMAND, /* text for a shell */
    SUBJECT_WORDS,   /* a program and its arguments */
    SUBJECT_URL,     /* with the argument `method` */
};

/* What a tool does with the files of its subject. */
enum access {
    ACCESS_NAMES = 1, /* tells their names */
    ACCESS_READ = 2,  /* quotes them */
    ACCESS_WRITE = 4,
    ACCESS_READ_WRITE = ACCESS_READ | ACCESS_WRITE,
};

struct tool {
    wend_str name, description, subject;
    wend_str schema_text;
    const struct schema *schema; /* NULL: any arguments */
    wend_str schema_wrong;       /* why it does not compile; absent: it does */
    wend_class call_class;
    wend_category category;
    bool concurrent;
    enum subject kind;
    unsigned access;  /* enum access; 0 unless its subject is of files */
    bool child;       /* it is answered by a run of its own */
    bool program;     /* it runs one */
    bool unprotected; /* ... without the sandbox */
    bool server;      /* ... that serves calls of several runs */
    bool verify;      /* another says whether a call had its effect */
    bool own;         /* it touches nothing but what is its own in the store */
    bool repeat_ok;   /* the same call with the same result is no loop */
    bool client;      /* the caller of the run executes its calls */
    uint32_t labels;  /* wend_label */
    wend_str labels_json;
    int64_t timeout_ms;
    wend_risk risk;                    /* the highest of its layers */
    wend_str layers_ok, layers_denied; /* JSON: what each layer says */
};

/* What happens to an unsafe call whose outcome an interruption hides. */
enum unknown {
    UNKNOWN_TELL,   /* the model is told so, and the run continues */
    UNKNOWN_STOP,   /* the run ends as failed */
    UNKNOWN_ASK,    /* an approval decides whether it runs again */
    UNKNOWN_RETRY,  /* it runs again */
    UNKNOWN_VERIFY, /* a program of the tool's says; as TELL if it has none */
    UNKNOWNS
};
extern const char *const unknown_names[UNKNOWNS];

enum approve { APPROVE_ASK, APPROVE_DENY, APPROVE_ALL };
extern const char *const approve_names[3];
enum eager { EAGER_SAFE, EAGER_ALL, EAGER_OFF };
/* How much the model thinks; the default is the provider's own. */
enum effort {
    EFFORT_DEFAULT,
    EFFORT_NONE,
    EFFORT_LOW,
    EFFORT_MEDIUM,
    EFFORT_HIGH,
    EFFORTS
};
extern const char *const effort_names[EFFORTS];

struct rule {
    wend_str text;    /* as the user wrote it */
    wend_str tool;    /* glob over tool names */
    wend_str subject; /* glob over the subject argument; absent: any */
    wend_decision decision;
};

/* Says what the calls that it fits bring or let out, and decides nothing. */
struct label_row {
    wend_str text;    /* as the user wrote it */
    struct rule rule; /* its decision does not count */
    uint32_t labels;  /* wend_label */
};

struct label_rows {
    const struct label_row *list;
    size_t count;
};

/* An answer to one call that counts for those like it. */
struct remembered {
    const struct remembered *prev;
    struct rule rule;
};

/* USD * 10^-9 for a million tokens, each from 0 to PRICE_NANO_MAX. */
struct price {
    bool known; /* false: the rest says nothing */
    int64_t input, cached, output;
    int64_t cache_write; /* -1: as input */
};

/* 2000 USD for a million tokens: far above any price list, and a sum of
 * four prices for less than a million tokens each fits 64 bits. */
#define PRICE_NANO_MAX (INT64_C(2000) * 1000000000)

/* One of the models that may be asked, as far as deciding needs it. */
struct model_use {
    wend_str name;          /* in events; the first one's is run_start's */
    wend_str spec;          /* provider:model */
    wend_str base_url;      /* absent: the provider's own */
    int64_t context_tokens; /* its window */
    bool window_known;      /* else that is a guess, and no limit */
    int64_t output_tokens;  /* that a request allows an answer; 0 = not said */
    int64_t output_max;     /* the model's own maximum; 0 = unknown */
    struct price price;     /* of its tokens */
    struct params params;   /* of requests to it */
    uint32_t media;         /* 1 << enum media_type: all but what it is known
                               not to accept */
    bool aside;             /* it is asked for summaries alone */
};

/* What can be given a task, as a run of its own: an agent, or a plan with its
 * agent. */
struct child_config {
    wend_str name;         /* what models and plans call it */
    wend_str agent, model; /* of its run_start */
    wend_str config_json;  /* the same, without what the parent adds */
    wend_str plan_json;    /* absent: it takes a prompt */
    wend_ev_limits limits; /* its own */
    bool limits_above;     /* ... which are those of its parent */
    bool reads;            /* whatever it does, it only reads */
    bool notes_off;        /* its model is not told the parent's context */
};

/* Rules, and what asking means. */
struct restraint {
    const struct rule *rules;
    size_t rules_count;
    struct label_rows label_rows;
    enum approve approve;
};

/* What a run inherits from its parents. */
struct within {
    int64_t depth;                  /* 0: it has no parent */
    uint32_t labels;                /* wend_label of what it was told */
    const struct restraint *bounds; /* the parents' policies */
    size_t bounds_count;
};

struct config {
    wend_str json;
    wend_str instructions;
    wend_str root;            /* directory of the file tools */
    const struct tool *tools; /* sorted by name */
    size_t tools_count;
    const struct tool
        *endpoints; /* of relics, for plans: the same, RELIC.ENDPOINT */
    size_t endpoints_count;
    struct restraint own; /* its policy */
    enum unknown on_unknown;
    enum eager eager;
    enum effort effort;
    bool hooks;                     /* ask the shell before each turn */
    int64_t max_history;            /* messages of the past; 0: all */
    bool no_tool_calls;             /* the model writes tags instead */
    bool no_compaction;             /* the conversation is never shortened */
    const struct tool *reader;      /* read_result, besides `tools`; NULL: the
                                       model could not use it */
    bool loop_off;                  /* calls may repeat, see turn/circle.h */
    const struct tool *plan_tool;   /* the model writes plans; NULL: not */
    wend_str schema_text;           /* of the answer; absent: free text */
    const struct schema *schema;    /* NULL: any answer */
    wend_str schema_wrong;          /* why it does not compile */
    const struct model_use *models; /* in the order they are tried */
    uint32_t models_count;          /* at least one */
    uint32_t summary_at;            /* the one that summaries are asked of; 0:
                                       the one that the run asks */
    struct frame frame;             /* of a run without a context */
    const struct child_config *children;
    size_t children_count;
    struct within within;
    /* Files of the user's that are like those of policy_path.c; lists of
     * strings, or NULL. */
    const struct json *guarded, *secret_files;
};

/* JSON of what each layer says about a call: permission, category, path,
 * sandbox; the first one that is not ok is why it is denied. */
void layers_put(struct buf *b, const struct tool *t, bool permitted,
                bool path_ok, wend_risk path);

/* The policies that a run must keep: its own, then those of its parents. */
static inline size_t config_restraints(const struct config *c)
{
    return 1 + c->within.bounds_count;
}

static inline const struct restraint *config_restraint(const struct config *c,
                                                       size_t i)
{
    return i ? &c->within.bounds[i - 1] : &c->own;
}

/* Everything lives in the arena; `json` is copied into it. */
wend_status config_parse(wend_str json, struct arena *a, struct config **out,
                         wend_error *err);
const struct tool *config_tool(const struct config *c, wend_str name);
extern const struct tool result_reader; /* reader.c */
int64_t reader_tokens(void);
/* What a model is told of its arguments; absent: nothing. */
static inline wend_str tool_schema(const struct tool *t)
{
    return t->schema_wrong.ptr ? STR_NONE : t->schema_text;
}
bool is_plan_tool(const struct config *c, wend_str name);
/* The index of a model by name or spec; 0: the run's own, also named `default`.
 * models_count: there is none. */
uint32_t config_model(const struct config *c, wend_str name);
/* The first model whose cost cannot be limited, for lack of a price; NULL:
 * none. A script costs nothing. */
const struct model_use *config_unpriced(const struct config *c);
const struct tool *config_endpoint(const struct config *c, wend_str name);
/* The child of that name; NULL if there is none. */
const struct child_config *config_child(const struct config *c, wend_str name);
bool tool_name_ok(wend_str name); /* [A-Za-z0-9_.-], 1 to TOOL_NAME_MAX */

/* ---- price.c ------------------------------------------------------------- */

/* USD * 10^-9, rounded up once; INT64_MAX if there is no such number; -1 if
 * the price is not known or nothing was counted. */
int64_t price_of(const struct price *p, const wend_ev_usage *u);
/* The same for a question before it is asked: the most that it can cost,
 * whatever of it is cached, or written to a cache, in the end. */
int64_t price_most(const struct price *p, int64_t input, int64_t output);
/* How many tokens of answer that much money buys after the question; INT64_MAX:
 * any number; -1: not even the question. The price is known. */
int64_t price_answer(const struct price *p, int64_t input, int64_t nano);

/* ---- answer.c: is a final answer what the agent's schema asks for? ------- */

/* The JSON text of an answer: without white space around it and without one
 * fence of ```, which models like to put there. A view into `text`. */
wend_str answer_json(wend_str text);

/* On a mismatch appends a sentence that says what is wrong, and where, to
 * `why`. Out of memory is one, too, and makes `scratch` or `why` fail. */
bool answer_fits(const struct schema *schema, wend_str text,
                 struct arena *scratch, struct buf *why);

/* A rough count, good enough to decide; the provider's own replaces it. */
int64_t tokens_estimate(size_t bytes);

/* ---- tokens.c ------------------------------------------------------------ */

/* Thousandths of a token, for a model of an average family. */
int64_t text_millitokens(wend_str s);
/* How much finer the family of a model (provider:model) cuts, in thousandths.
 */
int64_t family_scale(wend_str spec);

#endif

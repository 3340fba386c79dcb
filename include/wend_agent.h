/*
 * wend_agent.h - agents and their tools: functions, programs, servers.
 * Included by wend.h, whose rules also hold here.
 */
#ifndef WEND_H
#include "wend.h" /* which includes this file where it belongs */
#endif
#ifndef WEND_AGENT_H
#define WEND_AGENT_H

typedef struct wend_call wend_call;
typedef struct wend_plan wend_plan;

/* Which calls start before the message that contains them is complete. */
typedef enum wend_eager {
    WEND_EAGER_SAFE = 0, /* read and idempotent ones, once their arguments are
                            complete */
    WEND_EAGER_ALL,
    WEND_EAGER_OFF
} wend_eager;

typedef struct wend_limits {
    uint32_t turns;    /* default 50 */
    uint32_t parallel; /* concurrent calls, default 5, at most 64 */
    int64_t time_ms;   /* 0 = none */
    int64_t tokens;    /* input + output of the whole run; 0 = none */
    int64_t cost_nano; /* USD * 10^-9; 0 = none */
} wend_limits;

/* Decides calls that no rule allows or denies, and calls whose rule says to
 * ask. Calls of class read and category general need no rule: they run. All
 * other tools need one or the other, so a tool that is added with default
 * options waits for approval each time it is called. */
typedef enum wend_approve {
    WEND_APPROVE_ASK = 0, /* approval_ask, then wait for wend_run_approve */
    WEND_APPROVE_DENY,    /* for hosts without a person to ask */
    WEND_APPROVE_ALL
} wend_approve;

/* Decides a call of class unsafe that was in progress when its process died:
 * it is unknown whether the call had its effect. */
typedef enum wend_unknown {
    WEND_UNKNOWN_TELL = 0, /* tell the model; the run continues */
    WEND_UNKNOWN_STOP,     /* the run ends as failed, code unknown_outcome */
    WEND_UNKNOWN_ASK,      /* approval_ask: a yes runs it again; as TELL
                              unless approve is WEND_APPROVE_ASK */
    WEND_UNKNOWN_RETRY,    /* run it again, with the same key */
    WEND_UNKNOWN_VERIFY    /* ask `verify` of its tool; as TELL without one */
} wend_unknown;

/* How much a model thinks before it answers. Each provider has its own setting
 * for it; where thinking cannot be turned off, NONE means the minimum. */
typedef enum wend_effort {
    WEND_EFFORT_DEFAULT = 0, /* the provider's default */
    WEND_EFFORT_NONE,
    WEND_EFFORT_LOW,
    WEND_EFFORT_MEDIUM,
    WEND_EFFORT_HIGH
} wend_effort;

/* Whether a run tells its model the date, and the git branch, changed files and
 * the notes of the folder `cwd`, see wend-agent(5). run_start.context records
 * it. Git runs in the sandbox, for at most 50 ms; without sandbox it does not.
 */
typedef enum wend_project {
    WEND_PROJECT_DEFAULT = 0, /* as the host says; it says nothing: OFF */
    WEND_PROJECT_OFF,
    WEND_PROJECT_ON,     /* notes are labelled WEND_LABEL_UNTRUSTED_SOURCE */
    WEND_PROJECT_TRUSTED /* the host vouches for the notes */
} wend_project;

typedef struct wend_agent_options {
    size_t size;
    const char *name; /* default "agent" */
    /* "provider:model" with one of the providers openai (Chat Completions),
     * responses, anthropic, gemini, ollama; or "script:FILE" or
     * "script:{...}" for a scripted model without network. */
    const char *model;
    const char *instructions;
    wend_limits limits;
    wend_eager eager;
    wend_approve approve;
    /* Rules `tool(arg-glob)`: a leading `!` denies, `?` asks; the first match
     * wins. */
    const char *const *rules;
    size_t rules_count;
    const char *cwd; /* root for file tools; default: the process's */
    /* For models of a provider, see `model`. */
    const char *base_url;   /* default: the provider's own */
    const char *key_file;   /* default: the provider's environment variable */
    const char *ca_file;    /* certificates to trust, also for MCP servers,
                               relics and http_request; default: the system's */
    uint32_t output_tokens; /* maximum for one answer */
    bool http2;
    /* Limits and prices of models, see wend-models(5). Default: $WEND_MODELS,
     * or else models.yaml in the user's config directory of wend, if it
     * exists. */
    const char *models_file;
    /* Records requests and answers in this directory, without secrets; or
     * answers from it, without network or key. */
    const char *record_dir, *playback_dir;
    /* JSON Schema of the final answer, an object. If the answer does not match
     * the model is asked once more; then the run fails (answer_invalid). */
    const char *schema;
    /* Models to try in this order when the previous one cannot answer: after
     * its retries, or at once if it cannot be asked. Format as `model`; a
     * trailing `@URL` sets the address, which defaults to that of the model
     * (same provider) or to the provider's own. A run stays with the model
     * that it has switched to. */
    const char *const *fallbacks;
    size_t fallbacks_count; /* at most 8 */
    wend_effort effort;
    /* Hosts that http_request may reach besides public addresses: names,
     * addresses, ranges; `db.local`, `localhost:8080`, `10.0.0.0/8`. */
    const char *const *network;
    size_t network_count;
    /* Maximum tokens of a request and its answer together. The default, and
     * the upper bound, is the context window of the model. A conversation that
     * comes near it is shortened (see compaction_off). A request over it is
     * sent with a warning; over 1.3 times of it, it is not sent. */
    int64_t context_tokens;
    bool sandbox_off;         /* run programs of tools without a sandbox */
    int64_t model_timeout_ms; /* for one answer; default 30 minutes */
    wend_unknown on_unknown;  /* when a run is resumed */
    /* Files that built-in tools may write only with approval or by a rule that
     * names them, besides those that wend(1) lists: the files that define the
     * agent, and the programs of its tools. */
    const char *const *guarded;
    size_t guarded_count;
    /* Rows `label,label=tool(arg-glob)`, such as
     * `sensitive=read_file(.env*)`: a matching call gets these labels besides
     * those of its tool. All matching rows apply; they decide nothing. */
    const char *const *label_rows;
    size_t label_rows_count;
    bool memory_user; /* `remember` shares its facts across directories */
    /* Allows keys of models, tokens of MCP servers and secrets of relics over
     * plain http to other machines. Without it the request fails
     * (insecure_http) before it is sent. */
    bool insecure_http;
    /* Parameters of generation, each `NAME=VALUE`: temperature, top_p, top_k,
     * stop, seed, presence_penalty, frequency_penalty. A value is JSON; null
     * means the provider's default. A later entry replaces an earlier one. A
     * parameter that the API of `model` lacks is refused; for a fallback it is
     * dropped with a warning. `extra.FIELD=VALUE` adds a field to `extra`. */
    const char *const *params;
    size_t params_count;
    /* A JSON object whose members join the request body, for models of the
     * provider of `model`. Fields that wend writes itself are refused. */
    const char *extra;
    /* Headers `Name: value` of requests to the address of `model`. `${NAME}` in
     * a value is an environment variable, whose value is a secret: the log has
     * the name alone. `$$` is a dollar. At most 8. */
    const char *const *headers;
    size_t headers_count;
    uint32_t max_history; /* newest messages of the past to keep; 0: all */
    wend_project project;
    /* Never shortens a conversation: a run that outgrows the window of its
     * model fails. */
    bool compaction_off;
    /* Without it a run whose calls repeat themselves is warned, asked to finish
     * and ended (limit loop); see wend-agent(5). */
    bool loop_off;
    /* The model that writes summaries of a conversation that becomes too long;
     * format as `fallbacks`, of which it counts as one. It is asked once for
     * each; if it fails or lacks the room, the model of the run is. Default:
     * that model, whose provider has the conversation in its cache. */
    const char *summary_model;
    uint32_t max_memories; /* facts that `recall` returns at most; 0: 50 */
} wend_agent_options;

/* Makes an agent of the runtime and its thread. All options are copied. */
WEND_API wend_status wend_agent_new(wend_runtime *rt,
                                    const wend_agent_options *options,
                                    wend_agent **out, wend_error *err);
/* Frees the handle. The agent itself lives until its last run is gone.
 * [any thread] */
WEND_API void wend_agent_free(wend_agent *agent);

/* ---- Tools: functions, programs, servers, agents ------------------------- */

/* The function of a tool. It must answer its call exactly once, by
 * wend_call_return or wend_call_fail: before it returns, or later from any
 * thread. It owns the call until then. A status other than WEND_OK answers the
 * call with a failure.
 *
 * It runs on the runtime's thread while the runtime is pumped, and blocks every
 * run of the runtime until it returns. If the tool is `threaded` it runs on a
 * worker thread (at most 64 per runtime) and may block. There it may use the
 * wend_call_ functions and others marked [any thread], nothing else of the
 * runtime. wend cannot interrupt it: after its timeout or a cancel the call
 * ends without it, and the function continues until it returns. Poll
 * wend_call_canceled to return early. `ctx` must allow concurrent calls if the
 * tool is of class read or `concurrent`, if several runs use the agent, or if a
 * call can outlast its timeout. */
typedef wend_status (*wend_tool_fn)(void *ctx, wend_call *call);

/* What a call brings into a run or takes out of it. A call that would combine
 * all three in a run needs approval, even if a rule allows it. */
typedef enum wend_label {
    WEND_LABEL_UNTRUSTED_SOURCE = 1, /* text that strangers may have written */
    WEND_LABEL_SENSITIVE = 2,        /* data that must not leak */
    WEND_LABEL_EXTERNAL_EFFECT = 4   /* others can see the effect */
} wend_label;

typedef struct wend_tool_options {
    size_t size;
    const char *name; /* [A-Za-z0-9_.-]{1,64} */
    const char *description;
    const char *schema;     /* JSON Schema of the arguments, an object */
    wend_class call_class;  /* default WEND_CLASS_UNSAFE: needs approval, see
                               wend_approve */
    wend_category category; /* default WEND_CATEGORY_GENERAL */
    bool concurrent;        /* may run in parallel although not of class read */
    bool threaded;          /* fn runs on a worker thread: see wend_tool_fn */
    uint32_t timeout_ms;    /* default 60 s */
    const char *subject;    /* argument that rules match; default: the first
                               string argument of the schema */
    wend_tool_fn fn;
    void *ctx;
    uint32_t labels; /* wend_label, or'ed */
    /* Class read only: for this time, calls with the same arguments get the
     * same answer again, with call_end.cached. */
    uint32_t cache_ms;
    uint32_t per_minute;     /* maximum calls per minute; more wait. 0 = none */
    wend_release_fn release; /* for ctx; see Release in wend.h */
    bool repeat_ok; /* the same call may be made again and again: it polls */
    /* The caller of a run executes the calls itself: see Client-side tools.
     * Then fn is NULL. */
    bool client;
} wend_tool_options;

/* Client-side tools: a model calls such a tool like any other, and its
 * arguments and the policy are checked (no rule is needed to allow it, since
 * the caller decides). Nothing runs: its call ends at once with
 * call_end.client, and once the other calls of the message have ended the run
 * ends ok. run_end.pending lists the calls to execute. Their results are given
 * to wend_run_follow as options.messages; the model sees each call with its
 * result. Children and runs whose models write plans are not offered these
 * tools, and a plan that uses one as the target of an action is refused. */

/* Adds a function of the host as a tool. Runs that have started already do not
 * get it. WEND_E_EXISTS: the agent has a tool of this name. */
WEND_API wend_status wend_agent_add_tool(wend_agent *agent,
                                         const wend_tool_options *tool,
                                         wend_error *err);
/* Adds a built-in tool: calculator, read_file, list_dir, write_file, edit_file,
 * glob, grep, http_request, shell, exec, remember, recall, search_documents,
 * task. WEND_E_NOTFOUND: no such tool. */
WEND_API wend_status wend_agent_add_builtin(wend_agent *agent, const char *name,
                                            wend_error *err);

/* A program as a tool. It gets the arguments as JSON on standard input and
 * answers on standard output; lines on standard error are shown as
 * call_output; an exit status other than 0 is a failure. It runs in a sandbox
 * (see SECURITY.md) under a supervisor that kills it and all its descendants at
 * the deadline, on cancel, and when this process dies. Its environment has
 * PATH, LANG, LC_ALL, LC_CTYPE and TZ, HOME (the working directory), TMPDIR (a
 * private directory), WEND_RUN, WEND_CALL, WEND_IDEMPOTENCY_KEY and the
 * secrets. In the sandbox it can read the files that argv names by a path. */
typedef struct wend_command_options {
    size_t size;
    const char *name, *description, *schema; /* as for a tool */
    const char *const *argv;                 /* the program and its arguments */
    size_t argv_count;
    wend_class call_class;
    wend_category category; /* NETWORK: it may open connections */
    uint32_t labels;
    bool concurrent;
    bool sandbox_off; /* run it without a sandbox */
    uint32_t timeout_ms;
    const char *subject;
    /* Names of environment variables; their values are blanked in everything
     * that the program prints. */
    const char *const *secrets;
    size_t secrets_count;          /* at most 16 */
    uint32_t cache_ms, per_minute; /* as for a tool */
    bool output_json;              /* output that is not JSON is a failure */
    bool network; /* it may open connections, whatever its category */
    /* A program that tells whether a call had its effect when a crash hid the
     * outcome. It gets the input of the call and must change nothing. Exit
     * status 0: the call had its effect, and the output is its result; 1: it
     * had not, and the call runs again with the same key; any other: the
     * outcome stays unknown. */
    const char *const *verify;
    size_t verify_count;
    /* Limits for the program and its descendants together; above them they are
     * killed. 0: 4 GiB, 4 GiB, 512 in the sandbox, no limit without it. */
    uint64_t memory_bytes, disk_bytes; /* disk: written */
    uint32_t tasks;                    /* processes and threads */
    bool repeat_ok;                    /* as in wend_tool_options */
    bool client; /* no program: the caller of a run executes it, as in
                    wend_tool_options; argv and verify are absent */
} wend_command_options;

/* Adds a program as a tool. All options are copied. Calls fail while the
 * variable of a secret is not set. WEND_E_EXISTS: the agent has a tool of this
 * name. */
WEND_API wend_status wend_agent_add_command(wend_agent *agent,
                                            const wend_command_options *command,
                                            wend_error *err);

/* Receives a line of text, such as a warning. */
typedef void (*wend_note_fn)(void *ctx, const char *text);

/* An MCP server of tools, over its standard streams or by streamable HTTP. It
 * is not trusted: its tools, named NAME.tool, are of class unsafe. Its list of
 * tools is pinned at first use; a different list is refused until it is
 * accepted. */
typedef struct wend_mcp_options {
    size_t size;
    const char *name; /* [A-Za-z0-9_-]{1,32}, no __, no _ at its end */
    const char *const *command; /* argv, NULL at the end; either this ... */
    const char *url;            /* ... or this */
    /* For a program: environment variables that it gets besides those of every
     * program. For a URL: one variable, which holds the bearer token. Their
     * values are blanked in everything that the server says. */
    const char *const *secrets;
    size_t secrets_count;
    uint32_t timeout_ms;   /* for a call; default 60 s */
    bool sandbox_off;      /* run the program without a sandbox */
    bool network;          /* the program may open connections */
    bool trust;            /* believe its hints: read-only, idempotent */
    bool accept;           /* accept its current list of tools */
    const char *pins_file; /* default: mcp.pins in the user's data of wend */
    wend_note_fn note;     /* gets warnings about it, a line each, and its
                              tools or what has changed in them */
    void *note_ctx;
    bool look; /* offer a list that is not accepted, for an agent that only
                  lists it; the status is WEND_E_STALE */
    uint32_t connect_ms; /* upper bound for start_timeout_ms: the time that is
                            left for the run; 0: no bound */
    uint32_t start_timeout_ms;    /* until its tools are known, for each start;
                                     default 10 s. A program that has not
                                     answered after half of it is started a
                                     second time */
    wend_release_fn note_release; /* for note_ctx; see Release in wend.h */
} wend_mcp_options;

/* Connects to a server, lists its tools and adds them; waits for that.
 * WEND_E_IO: it cannot be reached or does not speak the protocol. WEND_E_STALE:
 * its tools differ from those that were accepted; `note` has the
 * differences. */
WEND_API wend_status wend_agent_add_mcp(wend_agent *agent,
                                        const wend_mcp_options *options,
                                        wend_error *err);
/* Adds several servers, which start in parallel. errs, if not NULL, has room
 * for `count` errors; errs[i].status is WEND_OK if that server was added.
 * Returns the status of the first that was not. */
WEND_API wend_status wend_agent_add_mcps(wend_agent *agent,
                                         const wend_mcp_options *const *list,
                                         size_t count, wend_error *errs);

/* Another agent, which can be given tasks. Each task is a run of its own, a
 * child, in the same store and runtime: child_start and child_end in the log of
 * the parent, run_start.parent_run in its own. The model of an agent gives
 * tasks by the built-in tool `task`, a plan by actions of the types agent and
 * workflow, whose target is the name. The policies of its ancestors also apply
 * to a child, and its usage counts towards their limits. When a parent is
 * resumed, so are its children. Add the tools of the agent first. */
typedef struct wend_child_options {
    size_t size;
    const char *name;        /* for models and plans */
    const char *description; /* for the model; default: none */
    wend_agent *agent; /* of this runtime; may be freed before the parent is */
    const wend_plan *plan; /* the task runs this plan by the agent, with its
                              inputs; NULL: the task is a prompt. May be freed
                              at once */
} wend_child_options;
typedef wend_child_options wend_kid_options; /* its former name */

/* Adds an agent as a child. WEND_E_LIMIT: agents contain each other in a cycle,
 * or more than 8 levels deep. */
WEND_API wend_status wend_agent_add_agent(wend_agent *agent,
                                          const wend_child_options *options,
                                          wend_error *err);

typedef struct wend_tool_info {
    wend_str name, description, schema;
    wend_class call_class;
    wend_category category;
    uint32_t labels; /* wend_label, or'ed */
    bool concurrent; /* may run in parallel with other calls */
} wend_tool_info;

/* Returns the i-th built-in tool, or NULL past the last. Static.
 * [any thread] */
WEND_API const wend_tool_info *wend_builtin(size_t i);
/* Returns the i-th tool of an agent, sorted by name, or NULL past the last.
 * Lent until the next call on the agent. */
WEND_API const wend_tool_info *wend_agent_tool(wend_agent *agent, size_t i);

/* ---- Calls: the view of a tool ------------------------------------------- */

/* Returns the id, the tool's name, the arguments (JSON) and the idempotency key
 * of a call. The key stays the same when the call is repeated after a crash.
 * Lent until the call is answered. [any thread] */
WEND_API wend_str wend_call_id(const wend_call *call);
WEND_API wend_str wend_call_name(const wend_call *call);
WEND_API wend_str wend_call_args(const wend_call *call);
WEND_API wend_str wend_call_key(const wend_call *call);
/* Tells whether the result is no longer wanted: the call was canceled or timed
 * out, or its run is freed. The call must still be answered. [any thread] */
WEND_API bool wend_call_canceled(const wend_call *call);
/* Shows text as call_output. WEND_AGAIN: over 1 MiB already waits to be shown.
 * WEND_E_LIMIT: the text is over 1 MiB. Text for a run that is freed is
 * dropped: WEND_OK. [any thread] */
WEND_API wend_status wend_call_progress(wend_call *call, const char *text);
/* Adds a file to the result of a call before it is answered: the model gets the
 * image, document or audio with the text, which ends with a line in brackets
 * for each file. Up to 64, copied; one thread at a time. If the call fails,
 * they are dropped. WEND_E_INVAL: it is not valid, or it is text, which is
 * returned as the output; err, which may be NULL, says why. WEND_E_LIMIT: it is
 * one too many. [any thread] */
WEND_API wend_status wend_call_attach(wend_call *call, const wend_part *part,
                                      wend_error *err);
/* Answers a call with its result and gives up the call: do not use it
 * afterwards. Every call must be answered, also after it was canceled and after
 * its run, agent or runtime was freed; such an answer is dropped, the status is
 * WEND_OK, and the memory of the call is released. Invalid UTF-8 is repaired. A
 * result over 64 MiB makes the call fail. [any thread] */
WEND_API wend_status wend_call_return(wend_call *call, wend_str output);
/* Like wend_call_return, with a failure; `message` is what the model sees. NULL
 * means "the tool failed". [any thread] */
WEND_API wend_status wend_call_fail(wend_call *call, const char *message);

#endif

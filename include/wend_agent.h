/*
 * wend_agent.h - agents and their tools: functions, programs, servers.
 * Included by wend.h, whose rules hold here, too.
 */
#ifndef WEND_H
#include "wend.h" /* which includes this file where it belongs */
#endif
#ifndef WEND_AGENT_H
#define WEND_AGENT_H

typedef struct wend_agent wend_agent;
typedef struct wend_call wend_call;
typedef struct wend_plan wend_plan;

typedef enum wend_eager {
    WEND_EAGER_SAFE = 0, /* read and idempotent calls start when sealed */
    WEND_EAGER_ALL,
    WEND_EAGER_OFF
} wend_eager;

typedef struct wend_limits {
    uint32_t turns;    /* default 50 */
    uint32_t parallel; /* calls at once, default 5, at most 64 */
    int64_t time_ms;   /* 0 = none */
    int64_t tokens;    /* input + output of the whole run; 0 = none */
    int64_t cost_nano; /* USD * 10^-9; 0 = none */
} wend_limits;

/* What happens to a call that no rule allows or denies; also what a rule
 * that asks means. */
typedef enum wend_approve {
    WEND_APPROVE_ASK = 0, /* approval_ask, then wait for wend_run_approve */
    WEND_APPROVE_DENY,    /* nobody is there to ask */
    WEND_APPROVE_ALL
} wend_approve;

/* What becomes of a call of class unsafe that was under way when its process
 * died: whether it had its effect, nobody knows. */
typedef enum wend_unknown {
    WEND_UNKNOWN_TELL = 0, /* the model is told so, and the run goes on */
    WEND_UNKNOWN_STOP,     /* the run ends as failed, code unknown_outcome */
    WEND_UNKNOWN_ASK,      /* approval_ask: a yes runs it again; as TELL
                              unless approve is WEND_APPROVE_ASK */
    WEND_UNKNOWN_RETRY,    /* it runs again, with the same key */
    WEND_UNKNOWN_VERIFY    /* `verify` of its tool says; as TELL without */
} wend_unknown;

/* How much a model thinks before it answers. Each provider has its own form
 * for it; one that cannot turn thinking off takes the least for NONE. */
typedef enum wend_effort {
    WEND_EFFORT_DEFAULT = 0, /* nothing is asked for */
    WEND_EFFORT_NONE,
    WEND_EFFORT_LOW,
    WEND_EFFORT_MEDIUM,
    WEND_EFFORT_HIGH
} wend_effort;

typedef struct wend_agent_options {
    size_t size;
    const char *name; /* default "agent" */
    /* "provider:model" with the providers openai (Chat Completions),
     * responses, anthropic, gemini, ollama; or "script:FILE",
     * "script:{...}" for a model that needs no network. */
    const char *model;
    const char *instructions;
    wend_limits limits;
    wend_eager eager;
    wend_approve approve;
    /* Rules `tool(arg-glob)`, `!` in front denies, `?` asks, first match
     * wins. */
    const char *const *rules;
    size_t rules_count;
    const char *cwd; /* root for file tools; default: the process's */
    /* For models of a provider, see `model`. */
    const char *base_url;   /* default: the provider's own */
    const char *key_file;   /* default: the provider's environment variable */
    const char *ca_file;    /* certificates to trust, also for MCP servers,
                               relics and http_request; default: the system's */
    uint32_t output_tokens; /* most that one answer may have */
    bool http2;
    /* What models can take and cost, see wend-models(5). Default:
     * $WEND_MODELS, else models.yaml in the user's folder for settings of
     * wend, if it is there. */
    const char *models_file;
    /* Keeps what is sent and answered in this directory, without secrets;
     * or answers from there, with no network and no key. */
    const char *record_dir, *playback_dir;
    /* JSON Schema of the final answer, an object. An answer that does not
     * fit is asked for once more; then the run fails (answer_invalid). */
    const char *schema;
    /* Asked in this order when the model before cannot answer: after its
     * retries, or at once if it cannot be asked. As `model`; `@URL` behind
     * it says where, else it is asked where the model is (the same
     * provider) or at the provider's own. A run stays with the model it
     * has changed to. */
    const char *const *fallbacks;
    size_t fallbacks_count; /* at most 8 */
    wend_effort effort;
    /* What http_request may reach besides public addresses: names,
     * addresses, ranges; `db.local`, `localhost:8080`, `10.0.0.0/8`. */
    const char *const *network;
    size_t network_count;
    /* Tokens that question and answer may have together, at most what the
     * model can take; default: that. A request over it is sent with a
     * warning, one over 1.3 times of it is not sent. */
    int64_t context_tokens;
    bool sandbox_off;         /* tools that are programs run without one */
    int64_t model_timeout_ms; /* for one answer; default 30 minutes */
    wend_unknown on_unknown;  /* when a run is resumed */
    /* Files that the built-in tools write only if a person says so or a rule
     * names them, besides those that wend(1) lists: whatever decides what the
     * agent is, and the programs of its tools. */
    const char *const *guarded;
    size_t guarded_count;
    /* Rows `label,label=tool(arg-glob)`, such as
     * `sensitive=read_file(.env*)`: calls that fit bring these labels besides
     * their tool's. They decide nothing; all that fit count. */
    const char *const *label_rows;
    size_t label_rows_count;
    bool memory_user; /* facts of remember are the same in all folders */
    /* Sends keys of models, tokens of MCP servers and secrets of relics over
     * plain http to other machines, too; else such a request fails
     * (insecure_http) before it is sent. */
    bool insecure_http;
} wend_agent_options;

WEND_API wend_status wend_agent_new(wend_runtime *rt,
                                    const wend_agent_options *options,
                                    wend_agent **out, wend_error *err);
WEND_API void wend_agent_free(wend_agent *agent);

/* A tool is called with a call that it must answer exactly once, by
 * wend_call_return or wend_call_fail: at once, or later from any thread.
 * The call is yours until then. A status other than WEND_OK answers it
 * with a failure. */
typedef wend_status (*wend_tool_fn)(void *ctx, wend_call *call);

/* What a call brings into a run, or takes out of it. A call that would
 * bring all three together needs approval, whatever rules say. */
typedef enum wend_label {
    WEND_LABEL_UNTRUSTED_SOURCE = 1, /* text that others may have written */
    WEND_LABEL_SENSITIVE = 2,        /* what must not get out */
    WEND_LABEL_EXTERNAL_EFFECT = 4   /* somebody outside gets to see it */
} wend_label;

typedef struct wend_tool_options {
    size_t size;
    const char *name; /* [A-Za-z0-9_.-]{1,64} */
    const char *description;
    const char *schema;     /* JSON Schema of the arguments, an object */
    wend_class call_class;  /* default WEND_CLASS_UNSAFE */
    wend_category category; /* default WEND_CATEGORY_GENERAL */
    bool concurrent;        /* may run beside others though not `read` */
    bool threaded;          /* fn runs on a worker thread */
    uint32_t timeout_ms;    /* default 60 s */
    const char *subject;    /* argument that rules match; default: the
                               schema's first one that is a string */
    wend_tool_fn fn;
    void *ctx;
    uint32_t labels; /* wend_label, or'ed */
    /* Class read only: the answer is given again, with call_end.cached, to
     * calls with the same arguments within so long. */
    uint32_t cache_ms;
    uint32_t per_minute;     /* calls in any minute; more wait. 0 = no bound */
    wend_release_fn release; /* of ctx; see Release in wend.h */
} wend_tool_options;

WEND_API wend_status wend_agent_add_tool(wend_agent *agent,
                                         const wend_tool_options *tool,
                                         wend_error *err);
/* calculator, read_file, list_dir, glob, grep, write_file, edit_file,
 * http_request */
WEND_API wend_status wend_agent_add_builtin(wend_agent *agent, const char *name,
                                            wend_error *err);

/* A program as a tool: it gets the arguments as JSON on standard input and
 * answers on standard output; lines on standard error are shown as
 * call_output; an exit status other than 0 is a failure. It runs in a
 * sandbox (see SECURITY.md) under a supervisor that ends all that descends
 * from it: at the deadline, on cancel, and when this process dies. Of the
 * environment it gets PATH, LANG, LC_ALL, LC_CTYPE and TZ, HOME (the working
 * directory), TMPDIR (a folder of its own), WEND_RUN, WEND_CALL,
 * WEND_IDEMPOTENCY_KEY and the secrets. In the sandbox it can read the files
 * that argv names by a path. */
typedef struct wend_command_options {
    size_t size;
    const char *name, *description, *schema; /* as for a tool */
    const char *const *argv;                 /* the program and its arguments */
    size_t argv_count;
    wend_class call_class;
    wend_category category; /* NETWORK: it may open connections */
    uint32_t labels;
    bool concurrent;
    bool sandbox_off; /* runs like any other program */
    uint32_t timeout_ms;
    const char *subject;
    /* Names of environment variables; their values are blanked in all that
     * the program says. */
    const char *const *secrets;
    size_t secrets_count;          /* at most 16 */
    uint32_t cache_ms, per_minute; /* as for a tool */
    bool output_json;              /* output that is no JSON is a failure */
    bool network; /* may open connections, whatever its category */
    /* A program that says whether a call had its effect, after a crash hid
     * it: it gets what the call got and must change nothing. Exit status 0:
     * it had, and what it prints is the result; 1: it had not, and the call
     * runs again with the same key; else nobody knows. */
    const char *const *verify;
    size_t verify_count;
    /* Of the program and all that it starts, together; over it they are
     * killed. 0: 4 GiB, 4 GiB, 512 in the sandbox, and no bound without. */
    uint64_t memory_bytes, disk_bytes; /* disk: written */
    uint32_t tasks;                    /* processes and threads */
} wend_command_options;

WEND_API wend_status wend_agent_add_command(wend_agent *agent,
                                            const wend_command_options *command,
                                            wend_error *err);

/* A server of tools that speaks MCP, over its standard streams or by
 * streamable HTTP. It is not trusted: its tools, NAME.tool, are of the class
 * unsafe, its list of tools is remembered with the first use, and another
 * list is refused until it is accepted. */
typedef void (*wend_note_fn)(void *ctx, const char *text);

typedef struct wend_mcp_options {
    size_t size;
    const char *name; /* [A-Za-z0-9_-]{1,32}, no __, no _ at its end */
    const char *const *command; /* argv, NULL at the end; either this ... */
    const char *url;            /* ... or this */
    /* Environment variables that the program gets besides those that any
     * program gets; of a URL one, whose value is its bearer token. They are
     * blanked in all that the server says. */
    const char *const *secrets;
    size_t secrets_count;
    uint32_t timeout_ms;   /* of a call; 60 s */
    bool sandbox_off;      /* of the program */
    bool network;          /* the program may use it */
    bool trust;            /* believe what it says: read-only, idempotent */
    bool accept;           /* its tools as they are now */
    const char *pins_file; /* default: mcp.pins in the user's data of wend */
    wend_note_fn note;     /* gets warnings about it, a line each, and which
                              tools it has or what changed in them */
    void *note_ctx;
    bool look; /* offer a list other than the one that was accepted, for an
                  agent that only lists it; the status is WEND_E_STALE */
    uint32_t connect_ms; /* as start_timeout_ms, if that is longer: what is left
                            of the run's time; 0: no bound */
    uint32_t start_timeout_ms;    /* until its tools are known, at each start;
                                     10 s. A program that has not answered after
                                     half of it is started a second time */
    wend_release_fn note_release; /* of note_ctx; see Release in wend.h */
} wend_mcp_options;

/* Connects, lists and offers its tools; waits for that. WEND_E_IO: it cannot
 * be reached, or does not speak the protocol. WEND_E_STALE: its tools are
 * not those that were accepted before; `note` was told what differs. */
WEND_API wend_status wend_agent_add_mcp(wend_agent *agent,
                                        const wend_mcp_options *options,
                                        wend_error *err);
/* Several servers, which start side by side. errs, if not NULL, has room for
 * `count` errors; errs[i].status is WEND_OK if that server was added. Returns
 * the status of the first that was not. */
WEND_API wend_status wend_agent_add_mcps(wend_agent *agent,
                                         const wend_mcp_options *const *list,
                                         size_t count, wend_error *errs);

/* Another agent, to be given tasks. Each is a run of its own, a child, in the
 * same store and runtime: child_start and child_end in the parent's log,
 * run_start.parent_run in its own. An agent's model gives tasks by the
 * built-in tool `task`; a plan by actions of the types agent and workflow,
 * whose target is the name. A child may do nothing that the policies of those
 * above it deny, and what it uses counts in their limits. When a parent is
 * resumed, so are its children. Give it its tools before. */
typedef struct wend_kid_options {
    size_t size;
    const char *name;        /* what models and plans call it */
    const char *description; /* for the model; default: none */
    wend_agent *agent; /* of this runtime; may be freed before the parent is */
    const wend_plan *plan; /* the task is this plan, done by the agent, and is
                              given its inputs; NULL: it is a prompt. May be
                              freed at once */
} wend_kid_options;

/* WEND_E_LIMIT: agents would be in agents in a circle, or deeper than 8. */
WEND_API wend_status wend_agent_add_agent(wend_agent *agent,
                                          const wend_kid_options *options,
                                          wend_error *err);

typedef struct wend_tool_info {
    wend_str name, description, schema;
    wend_class call_class;
    wend_category category;
    uint32_t labels; /* wend_label, or'ed */
    bool concurrent; /* may run beside others */
} wend_tool_info;

/* The i-th built-in tool, or NULL past the last. [any thread] */
WEND_API const wend_tool_info *wend_builtin(size_t i);
/* The i-th tool of an agent, by name, or NULL past the last. Lent. */
WEND_API const wend_tool_info *wend_agent_tool(wend_agent *agent, size_t i);

/* ---- Agents from files --------------------------------------------------- */

/* A file agent/1 (wend-agent(5)) with all the files that it names, or a file
 * tool/1, as the functions above take them. It is read once; nothing of it is
 * started, and nothing is trusted yet. Made by wend_manifest_open, and never
 * changed: any thread may read it until it is freed. Members are only ever
 * added, at the end. */
typedef struct wend_manifest_file {
    const char *name; /* relative to the manifest's folder, else absolute */
    const char *sum;  /* SHA-256 of its bytes, in hex */
} wend_manifest_file;

typedef struct wend_manifest_gap {
    const char *name, *why; /* what `sum` leaves out: a folder, a module .. */
} wend_manifest_gap;

typedef struct wend_manifest {
    const char *path;
    const char *name;        /* its own, else that of the file */
    const char *description; /* NULL: none */
    /* Model, base_url, fallbacks, instructions, limits, rules, label_rows,
     * network, context_tokens, memory_user; 0 or NULL where it says nothing. */
    const wend_agent_options *options;
    const char *const *tools; /* names; NULL: it does not say */
    size_t tools_count;
    const wend_command_options *const *commands; /* the programs in `tools` */
    size_t commands_count;
    const wend_mcp_options *const *servers;
    size_t servers_count;
    const struct wend_manifest *const *agents; /* that it gives tasks */
    size_t agents_count;
    const char *const *skills, *const *unserved; /* keys without effect */
    size_t skills_count, unserved_count;
    bool network_off; /* nothing in it may use the network */
    /* Of the outermost: all bytes of all files, in the order they are named.
     * One changed byte gives another sum. */
    const char *sum;
    const wend_manifest_file *files;
    size_t files_count;
    const wend_manifest_gap *gaps;
    size_t gaps_count;
} wend_manifest;

typedef struct wend_manifest_options {
    size_t size;
    bool tool;    /* the file is a tool/1: one of `commands` */
    bool regular; /* refuse what is not a regular file */
} wend_manifest_options;

/* [any thread] WEND_E_PARSE and the like say where in which file. */
WEND_API wend_status wend_manifest_open(const char *path,
                                        const wend_manifest_options *options,
                                        wend_manifest **out, wend_error *err);
/* [any thread] Whether the tools that its tools, rules and labels name exist,
 * and none uses the network where it says 'network: off'. */
WEND_API wend_status wend_manifest_check(const wend_manifest *manifest,
                                         wend_error *err);
WEND_API void wend_manifest_free(wend_manifest *manifest); /* [any thread] */

typedef struct wend_load_options {
    size_t size;
    /* An agent's file starts programs, sends keys and says what is allowed.
     * So the host names what it accepts: the `sum` of the manifest that a
     * person has looked at, or "any" if the path itself can be trusted.
     * Anything else, and NULL, is refused with WEND_E_STALE. */
    const char *trust;
    const wend_manifest *manifest; /* opened before: then path is not read */
    /* Counts before what the file says, where it is not 0 or NULL; its rules
     * come before those of the file. Agents inside the file have their own
     * instructions, tools and limits, and the rest from here. */
    const wend_agent_options *agent;
    /* Instead of the file's tools: built-in ones, its programs, `commands`. */
    const char *const *tools;
    size_t tools_count;
    const wend_command_options *const *commands; /* besides its own */
    size_t commands_count;
    const wend_mcp_options *const *servers; /* besides its own */
    size_t servers_count;
    /* Allow what no rule covers and what a rule asks about; agent->approve
     * then counts for guarded files and for labels. */
    bool allow_rest;
    /* A line each: keys of the file without effect, which tools servers have
     * or what changed in them; warn: what is left out. The context stays until
     * the agent is freed. */
    wend_note_fn note, warn;
    void *note_ctx;
} wend_load_options;

/* An agent of a file, with its tools, servers and agents; waits for servers
 * to start. One that cannot be reached is left out. With neither
 * path nor manifest the options alone say what it is. Without any tools named
 * it has those that only read: calculator, read_file, list_dir, glob, grep.
 * The files that it is made of are guarded (see wend_agent_options). */
WEND_API wend_status wend_agent_load(wend_runtime *rt, const char *path,
                                     const wend_load_options *options,
                                     wend_agent **out, wend_error *err);

/* What the log of a run says about its agent. Lent during the call. */
typedef struct wend_run_past {
    wend_str run, agent, cwd;
    wend_str config; /* JSON: models, tools with their programs, policy .. */
    wend_limits limits;
    bool imported; /* others may have written it: see wend_run_resume */
} wend_run_past;

typedef struct wend_of_run_options {
    size_t size;
    int64_t at;    /* the last event that counts; 0 = the newest */
    uint32_t take; /* WEND_FORK_ bits: what `load` says instead of the log */
    /* Where keys are (key_file, ca_file, models_file, insecure_http), limits
     * where not 0, and what `take` names; read after `review`. */
    const wend_load_options *load;
    bool sandbox_on; /* for all programs, whatever the log says */
    /* Called when the log was read and before anything is made; another
     * status than WEND_OK refuses. Without it the log of an imported run is
     * refused, WEND_E_STALE, and any other taken. To let an imported one
     * count, set trust_log of wend_run_options, too. */
    wend_status (*review)(void *ctx, const wend_run_past *past,
                          wend_error *err);
    /* Given what the log has so far, in order, before `review`, so that it
     * need not be read once more; it must not call the library. */
    void (*past)(void *ctx, const wend_event *event);
    uint64_t past_types; /* bit per wend_event_type */
    void *ctx;           /* of both */
} wend_of_run_options;

/* The agent of a run in the runtime's store, made again from what its log
 * says, to resume or fork it: its models, tools, servers, relics and agents.
 * What cannot be made again (a tool of the program that started it, a server
 * that is gone) is told to load->warn, and its calls fail. A resume with this
 * agent does not read the log a second time.
 * WEND_E_CORRUPT: the log is damaged before it says what the agent is. */
WEND_API wend_status wend_agent_of_run(wend_runtime *rt, const char *id,
                                       const wend_of_run_options *options,
                                       wend_agent **out, wend_error *err);

/* What a tool sees of its call. [any thread] until it is answered */
WEND_API wend_str wend_call_id(const wend_call *call);
WEND_API wend_str wend_call_name(const wend_call *call);
WEND_API wend_str wend_call_args(const wend_call *call); /* JSON */
WEND_API wend_str wend_call_key(const wend_call *call);  /* idempotency */
WEND_API bool wend_call_canceled(const wend_call *call);
/* Shown as call_output. WEND_AGAIN: too much waits to be shown already. */
WEND_API wend_status wend_call_progress(wend_call *call, const char *text);
WEND_API wend_status wend_call_return(wend_call *call, wend_str output);
WEND_API wend_status wend_call_fail(wend_call *call, const char *message);

#endif

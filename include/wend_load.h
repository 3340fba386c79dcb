/*
 * wend_load.h - agents from files and from runs, and what a provider has.
 * Included by wend.h, whose rules also hold here.
 */
#ifndef WEND_H
#include "wend.h" /* which includes this file where it belongs */
#endif
#ifndef WEND_LOAD_H
#define WEND_LOAD_H

/* ---- Agents from files --------------------------------------------------- */

/* An agent file (agent/1, see wend-agent(5)) or a plan file (plan/1, see
 * wend-plan(5)) with all files that it names, or a tool file (tool/1), as
 * options for the functions above. Opening it starts and trusts nothing. A
 * manifest never changes: any thread may read it until it is freed, except
 * `plan`, which one thread may use at a time. Members are only appended. */
typedef struct wend_manifest_file {
    const char *name; /* relative to the manifest's folder, else absolute */
    const char *sum;  /* SHA-256 of its bytes, in hex */
} wend_manifest_file;

typedef struct wend_manifest_gap {
    const char *name, *why; /* what `sum` leaves out: a folder, a module .. */
} wend_manifest_gap;

typedef struct wend_manifest_relic {
    const char *path;
    wend_str text; /* for wend_agent_add_relic */
    bool network;  /* it uses the network */
} wend_manifest_relic;

typedef struct wend_manifest {
    const char *path;
    const char *name;        /* its own, else that of the file */
    const char *description; /* NULL: none */
    /* Model, base_url, fallbacks, instructions, limits, rules, label_rows,
     * network, context_tokens, memory_user, project; 0 or NULL where it says
     * nothing. */
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
    /* The sum of the outermost manifest covers all bytes of all files, in the
     * order they are named: one changed byte gives another sum. */
    const char *sum;
    const wend_manifest_file *files;
    size_t files_count;
    const wend_manifest_gap *gaps;
    size_t gaps_count;
    /* If it is a plan, `commands` and `relics` are those that its actions
     * name, and `agents` the agents and plans. */
    wend_plan *plan;    /* lent; NULL: not a plan */
    const char *target; /* what the actions of the outer plan call this agent
                           or plan; else NULL */
    const wend_manifest_relic *relics;
    size_t relics_count;
} wend_manifest;

typedef struct wend_manifest_options {
    size_t size;
    bool tool;    /* the file is a tool/1: one of `commands` */
    bool regular; /* refuse what is not a regular file */
    /* The file is a plan/1; "-" is standard input. Its actions name agents and
     * plans by path, tools and relics by name: tools/NAME.yaml and
     * relics/NAME.yaml in the folder of the plan. */
    bool plan;
    const char *const *sets; /* of a plan: as in wend_plan_options */
    size_t sets_count;
    const char *const *tools; /* of a plan: more tools that it may name,
                                 besides those and the built-in ones */
    size_t tools_count;
    const char *const *schemas; /* of a plan: the JSON Schema of each of
                                   `tools`; NULL, and NULL for one: not known */
} wend_manifest_options;

/* Reads a file and all files that it names, once. options may be NULL. If one
 * is invalid, err has the file, line and column; plans that contain each other
 * in a cycle, or more than 8 levels deep, are refused. [any thread] */
WEND_API wend_status wend_manifest_open(const char *path,
                                        const wend_manifest_options *options,
                                        wend_manifest **out, wend_error *err);
/* Checks that all tools exist that its tools, rules and labels name, and that
 * none uses the network if it says 'network: off'. [any thread] */
WEND_API wend_status wend_manifest_check(const wend_manifest *manifest,
                                         wend_error *err);
/* Frees a manifest. [any thread] */
WEND_API void wend_manifest_free(wend_manifest *manifest);

typedef struct wend_load_options {
    size_t size;
    /* An agent file can start programs, send keys and allow calls, so the host
     * must accept it: by the `sum` of the manifest that a person has reviewed,
     * or by "any" if the path itself can be trusted. Anything else, and NULL,
     * is refused with WEND_E_STALE. */
    const char *trust;
    const wend_manifest *manifest; /* opened before: then path is not read */
    /* Overrides the file where not 0 or NULL; these rules precede those of the
     * file. Agents inside the file have their own instructions, tools and
     * limits, and take the rest from here. */
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
    /* A plan, opened before: the agent can run it by wend_run_start_plan. It
     * has the tools, relics, agents and plans that the actions name, and
     * besides them `tools`, or else all built-in tools, but not the tools of
     * the agent's file; the policy decides what may run. Without a model,
     * neither here nor in the agent's file, the plan must not ask one. */
    const wend_manifest *plan;
    const char *plan_trust; /* as `trust`, for `plan` */
} wend_load_options;

/* Makes an agent from a file, with its tools, servers and child agents; waits
 * for servers to start. A server that cannot be reached is left out; a relic
 * of a plan that cannot be used is an error. With neither path nor manifest the
 * options alone define the agent. If no tools are named it has those that only
 * read: calculator, read_file, list_dir, glob, grep. The files that it is made
 * of are guarded (see wend_agent_options). WEND_E_MISUSE: inside a callback, an
 * agent with servers. */
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

/* Makes the agent of a run in the runtime's store again from its log, with its
 * models, tools, servers, relics and child agents, to resume or fork the run.
 * What cannot be made again (a function of the host, a server that is gone) is
 * reported to load->warn, and its calls fail. A resume with this agent does not
 * read the log a second time. WEND_E_CORRUPT: the log is damaged before it
 * defines the agent. */
WEND_API wend_status wend_agent_of_run(wend_runtime *rt, const char *id,
                                       const wend_of_run_options *options,
                                       wend_agent **out, wend_error *err);

/* ---- What a provider has ------------------------------------------------- */

typedef struct wend_model_info {
    wend_str name; /* without the provider */
    int64_t window,
        output; /* tokens of a request, of an answer; 0 = not told */
} wend_model_info;

/* The answer of a provider; all of it is lent until it is freed. */
typedef struct wend_model_list {
    const wend_model_info *models; /* in the provider's order */
    size_t count;
    wend_str url;      /* that was asked first */
    int64_t server_us; /* unix time by the clock of the server; 0 = not told */
    int64_t local_us;  /* ... and by the clock here, in the same moment */
} wend_model_list;

/* Asks the provider of options->model which models it has, and waits for that,
 * at most model_timeout_ms, by default 10 s. Of the options only those count
 * that an agent would ask with: model ("openai:" is enough), base_url,
 * key_file, ca_file, http2, insecure_http. It costs nothing. WEND_E_INVAL: an
 * option is wrong, or there is no key. WEND_E_NOTFOUND: the server has no such
 * list. WEND_E_STALE: the key was refused. WEND_E_IO: any other failure; err
 * says which. */
WEND_API wend_status wend_models_ask(wend_runtime *rt,
                                     const wend_agent_options *options,
                                     wend_model_list **out, wend_error *err);
/* NULL is allowed. */
WEND_API void wend_models_free(wend_model_list *list);

#endif

/*
 * wend_plan.h - plans: actions and their dependencies. Included by wend.h.
 */
#ifndef WEND_H
#include "wend.h" /* which includes this file where it belongs */
#endif
#ifndef WEND_PLAN_H
#define WEND_PLAN_H

/* ---- Plans --------------------------------------------------------------- */

typedef struct wend_plan_options {
    size_t size;
    /* Tells whether a tool, agent, relic, workflow or llm exists; it may set
     * `near` to a similar name. NULL: every name is accepted. */
    bool (*knows)(void *ctx, wend_str type, wend_str target, const char **near);
    void *ctx;
    const char *const *sets; /* "input=value", overrides inputs of the plan */
    size_t sets_count;
    wend_alloc_fn alloc;
    void *alloc_ctx;
    wend_release_fn alloc_release; /* for alloc_ctx; see Release in wend.h */
} wend_plan_options;

/* Parses and checks a plan, the text of a YAML or JSON file (see wend-plan(5)).
 * If it is invalid, err has the line and column. options may be NULL. A plan
 * belongs to no runtime and may be used on any thread, on one at a time.
 * [any thread] */
WEND_API wend_status wend_plan_parse(wend_str text,
                                     const wend_plan_options *options,
                                     wend_plan **out, wend_error *err);
/* Frees a plan. Runs of the plan do not need it. [any thread] */
WEND_API void wend_plan_free(wend_plan *plan);

typedef enum wend_plan_format {
    WEND_PLAN_JSON = 0, /* an object: numbers, waves, paths, actions */
    WEND_PLAN_DOT,      /* for Graphviz */
    WEND_PLAN_SVG,
    WEND_PLAN_HTML /* one self-contained file */
} wend_plan_format;

/* Looks up how long the actions took in past runs of this store. JSON and HTML
 * descriptions then show it beside the declared estimates. `model` is the
 * default model of llm actions; may be NULL. */
WEND_API wend_status wend_plan_learn(wend_plan *plan, wend_store *store,
                                     const char *model, wend_error *err);

/* Describes a plan in a format. The text is lent until wend_plan_learn or
 * wend_plan_free. */
WEND_API wend_status wend_plan_describe(wend_plan *plan,
                                        wend_plan_format format, wend_str *out,
                                        wend_error *err);

/* Starts a run of a plan with the tools of the agent; only its llm actions ask
 * a model. `inputs` is a JSON object that overrides inputs of the plan, or
 * NULL. A plan that needs something the agent lacks is refused: err has the
 * line and column, and no run starts. The files that its actions name are read
 * from the folder of a plan that wend_manifest_open opened, unless `parts` of
 * the options has one of that name; a part that no action names is refused. As
 * with wend_run_start, nothing runs before the runtime is pumped. The plan may
 * be freed at once. */
WEND_API wend_status wend_run_start_plan(wend_agent *agent,
                                         const wend_plan *plan,
                                         const char *inputs,
                                         const wend_run_options *options,
                                         wend_run **out, wend_error *err);

/* What the policy of an agent says about one action of a plan. */
typedef struct wend_plan_verdict {
    size_t size;
    wend_str action, name, type, target;
    wend_str args_json; /* absent: known only when the action runs */
    wend_decision decision;
    wend_risk risk;
    wend_str rule;   /* that decides; "plan" for actions that call no tool */
    wend_str reason; /* why it is asked or denied; else absent */
    wend_str allow;  /* a rule that allows exactly this call; may be absent */
    wend_str within; /* the workflow action that has it in its plan, or several
                        with / between them; absent: the plan itself has it */
} wend_plan_verdict;

/* Lent until it returns. */
typedef void (*wend_plan_verdict_fn)(void *ctx, const wend_plan_verdict *v);

/* Tells for each action of a plan, and of the plans that its workflow actions
 * run, whether it would be allowed, asked about or denied if the agent ran it
 * now. Nothing runs, and no file of an action is read. Else a plan that
 * wend_run_start_plan would refuse is refused in the same way. */
WEND_API wend_status wend_plan_preview(wend_agent *agent, const wend_plan *plan,
                                       wend_plan_verdict_fn fn, void *ctx,
                                       wend_error *err);

/* A model can write the plan: wend_run_start with `plan` set in its options
 * adds the tool `plan` to those of the agent, and the prompt is the goal.
 * Actions start while the model still writes. See wend-plan(5), also for the
 * reasons that run_end then gives. */

/* ---- Relics: values and services for plans ------------------------------- */

/* Adds a relic, a service that only plans can use, never a model. This one
 * keeps values by key in the runtime's store. Its endpoints are NAME.put {key,
 * value, ttl?}, NAME.get {key} (the value, or null) and NAME.delete {key}.
 * ttl_ms is the default lifetime of a value; 0: for ever. */
WEND_API wend_status wend_agent_add_kv(wend_agent *agent, const char *name,
                                       int64_t ttl_ms, wend_error *err);

typedef struct wend_relic_options {
    size_t size;
    const char *file; /* path of the text; programs in it are relative to it */
    /* For an MCP server, as in wend_mcp_options. */
    bool accept;
    const char *pins_file;
    wend_note_fn note;
    void *note_ctx;
    wend_release_fn note_release; /* for note_ctx; see Release in wend.h */
    uint32_t connect_ms;          /* as in wend_mcp_options */
} wend_relic_options;

/* Adds a relic of any kind from the text of its file (relic/1, see
 * wend-plan(5)): kv, endpoints of an HTTP service, or the tools of an MCP
 * server, which it waits for. Values of secrets are read from the environment
 * now. If it fails the agent is unchanged, and for an invalid text err has the
 * line and column; WEND_E_IO and WEND_E_STALE are as for wend_agent_add_mcp.
 * options may be NULL. */
WEND_API wend_status wend_agent_add_relic(wend_agent *agent, wend_str text,
                                          const wend_relic_options *options,
                                          wend_error *err);
/* Adds several relics, whose servers start in parallel. options[i] is for
 * texts[i]; options, and each of them, may be NULL. errs, if not NULL, has
 * room for `count` errors; errs[i].status is WEND_OK if that relic was added.
 * Returns the status of the first that was not. */
WEND_API wend_status wend_agent_add_relics(
    wend_agent *agent, const wend_str *texts,
    const wend_relic_options *const *options, size_t count, wend_error *errs);

#endif

/*
 * wend_plan.h - plans: actions, and what each waits for. Included by wend.h.
 */
#ifndef WEND_H
#include "wend.h" /* which includes this file where it belongs */
#endif
#ifndef WEND_PLAN_H
#define WEND_PLAN_H

typedef struct wend_plan_options {
    size_t size;
    /* Whether there is such a tool, agent, relic, workflow or llm; `near` may
     * be set to a name that was meant. NULL: whatever is named. */
    bool (*knows)(void *ctx, wend_str type, wend_str target, const char **near);
    void *ctx;
    const char *const *sets; /* "input=value", each in the place of its own */
    size_t sets_count;
    wend_alloc_fn alloc;
    void *alloc_ctx;
    wend_release_fn alloc_release; /* of alloc_ctx; see Release in wend.h */
} wend_plan_options;

/* The text of a file, YAML or JSON (see wend-plan(5)). Everything about it is
 * checked; err has the line and column. options may be NULL. [any thread] */
WEND_API wend_status wend_plan_parse(wend_str text,
                                     const wend_plan_options *options,
                                     wend_plan **out, wend_error *err);
WEND_API void wend_plan_free(wend_plan *plan);

typedef enum wend_plan_format {
    WEND_PLAN_JSON = 0, /* an object: numbers, waves, paths, actions */
    WEND_PLAN_DOT,      /* for Graphviz */
    WEND_PLAN_SVG,
    WEND_PLAN_HTML /* one file that needs no other */
} wend_plan_format;

/* Looks up what the actions took in past runs of this store; descriptions as
 * JSON and HTML say it from then on, beside what is declared. `model` is the
 * one that is asked by default; may be NULL. */
WEND_API wend_status wend_plan_learn(wend_plan *plan, wend_store *store,
                                     const char *model, wend_error *err);

/* Lent until the plan is freed, or has learned something. */
WEND_API wend_status wend_plan_describe(wend_plan *plan,
                                        wend_plan_format format, wend_str *out,
                                        wend_error *err);

/* Runs it: no model is asked but by its llm actions, its tools are the
 * agent's. `inputs` is a JSON object with values in the place of those that
 * the plan has, or NULL. A plan with something in it that the agent cannot do
 * is refused: err has the line and column, and no run was begun. The plan may
 * be freed at once. */
WEND_API wend_status wend_run_start_plan(wend_agent *agent,
                                         const wend_plan *plan,
                                         const char *inputs,
                                         const wend_run_options *options,
                                         wend_run **out, wend_error *err);

/* A plan that nobody has written yet: wend_run_start with `plan` set in the
 * options gives the model the tool `plan` beside the agent's, and its prompt
 * is the goal. Actions start while the model writes them. See wend-plan(5),
 * also for how the end tells its reason. */

/* A relic for plans: values by name, kept in the runtime's store. Its
 * endpoints are NAME.put {key, value, ttl?}, NAME.get {key} (the value, or
 * null) and NAME.delete {key}. ttl_ms is for what is put without one; 0: for
 * ever. No model sees it. */
WEND_API wend_status wend_agent_add_kv(wend_agent *agent, const char *name,
                                       int64_t ttl_ms, wend_error *err);

typedef struct wend_relic_options {
    size_t size;
    const char *file; /* the text's: programs in it are named from there */
    /* Of a server of tools, as in wend_mcp_options. */
    bool accept;
    const char *pins_file;
    wend_note_fn note;
    void *note_ctx;
    wend_release_fn note_release; /* of note_ctx; see Release in wend.h */
    uint32_t connect_ms;          /* as in wend_mcp_options */
} wend_relic_options;

/* A relic of any kind, by the text of its file (relic/1, see wend-plan(5)):
 * kv, endpoints of a service over HTTP, or the tools of a server of them (MCP),
 * for which it waits. Values of secrets are taken from the environment now. If
 * something is wrong err has the line and column, and the agent is as it was;
 * WEND_E_IO and WEND_E_STALE are as for wend_agent_add_mcp. options may be
 * NULL. */
WEND_API wend_status wend_agent_add_relic(wend_agent *agent, wend_str text,
                                          const wend_relic_options *options,
                                          wend_error *err);
/* Several relics, whose servers start side by side. options[i] is for
 * texts[i]; options, and each of them, may be NULL. errs, if not NULL, has
 * room for `count` errors; errs[i].status is WEND_OK if that relic was added.
 * Returns the status of the first that was not. */
WEND_API wend_status wend_agent_add_relics(
    wend_agent *agent, const wend_str *texts,
    const wend_relic_options *const *options, size_t count, wend_error *errs);

#endif

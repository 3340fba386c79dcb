/*
 * agent.h - an agent: a model, instructions, tools and limits.
 *
 * Everything here belongs to the thread of its runtime.
 */
#ifndef LIB_AGENT_H
#define LIB_AGENT_H

#include <stdatomic.h>

#include "base/network.h"
#include "base/redact.h"
#include "core/config/config.h"
#include "lib/runtime/runtime.h"
#include "tools/tools.h"

struct agent_child;
struct driver;
struct mcp_server;
struct trouble;

/* Bits: parts of an agent's config that depend on the run. */
enum {
    RUN_HOOKS = 1,
    RUN_PLANS = 2,
    RUN_CHILD = 4,
    RUN_MODES = 8,
    /* No run follows one of these: results of client-side tools could not come
     * back, so that these tools are not offered. */
    RUN_UNFOLLOWED = RUN_PLANS | RUN_CHILD,
};

/* ---- What an agent keeps of a tool's calls (tool_keep.c) ----------------- */

/* A maximum number of calls per minute. */
struct pace {
    int64_t *begun_us; /* the newest `count` beginnings, a ring */
    uint32_t count, at;
};

/* Reserves a place: when a call that is asked for now may begin. */
int64_t pace_take(struct pace *p, int64_t now_us);

/* An answer that is given again. */
struct kept_answer {
    struct kept_answer *next;
    int64_t until_us;
    wend_str args, output; /* in the same block */
    uint32_t labels;       /* wend_label of the run that asked first */
};

struct answers {
    struct kept_answer *newest;
    uint32_t count;
    size_t bytes;
};

/* The answer to these arguments if it is not too old; lent. NULL: none. */
const struct kept_answer *answers_find(const struct answers *a, wend_str args,
                                       int64_t now_us);
/* Too long ones are not kept; nor is anything when out of memory. */
void answers_keep(struct answers *a, const struct mem *m, wend_str args,
                  wend_str output, uint32_t labels, int64_t until_us);
void answers_free(struct answers *a, const struct mem *m);

/* ---- Tools --------------------------------------------------------------- */

/* The environment of the built-in tools. A call that was given up may still run
 * when its agent is gone, so each call holds a reference. */
struct workplace {
    struct tool_env env;
    struct mem mem;
    atomic_int refs;
};

struct agent_tool {
    struct agent_tool *next;
    wend_str name;
    wend_tool_fn fn;
    void *ctx;
    struct kept *kept;       /* ctx; NULL: it is not released */
    struct workplace *place; /* NULL: a tool of the host's */
    bool threaded;
    int64_t cache_ms; /* how long an answer is reused; 0 = never */
    struct pace pace;
    struct answers answers;
    struct agent_tool *check; /* says whether a lost call had its effect */
};

struct tool_set {
    struct agent_tool *first;
    size_t count;
    struct buf json; /* `{...},{...}` */
};

struct wend_agent {
    wend_runtime *rt;        /* NULL once the runtime is gone */
    unsigned process;        /* that made it */
    struct mailbox *mailbox; /* stays until it is freed */
    struct mem mem;
    struct post free_post;
    atomic_bool freed;               /* by the host */
    struct wend_agent *next, **prev; /* rt->agents */
    struct arena arena;
    wend_str name, model, cwd;
    wend_str root;          /* cwd in the bytes that the system knows it by */
    struct network network; /* that tools may reach besides the public one */
    struct web_env web;     /* the same with what else the options say */
    wend_ev_limits limits;
    struct tool_set tools;
    struct tool_set endpoints; /* of relics, for plans; no model sees them */
    struct tool_set clients;   /* client-side tools: the caller of a run
                                  executes their calls */
    struct buf relics_json;    /* what is needed to make them again */
    struct buf rest_json;      /* the other members of the config */
    struct config *configs[RUN_MODES]; /* parsed on first use */
    struct driver *driver;
    wend_str keys[KEYS_MAX]; /* of its models' providers, and what its tools
                                and servers were granted */
    size_t keys_count;
    struct workplace *place; /* made with the first built-in tool */
    struct mcp_server *servers;
    struct trouble *troubles;     /* that each of its runs is told */
    struct agent_child *children; /* in the order they were added */
    bool offers_task;             /* its model may give them tasks */
    bool no_tool_calls;           /* its model calls no tools */
    wend_tool_info info;          /* lent last */
    struct past_log
        *past;        /* of the run that it is of; NULL: none, or too long */
    unsigned runs;    /* that borrow it */
    bool gone;        /* freed by the host; runs still use it */
    bool sandbox_off; /* programs run without */
    bool memory_user; /* what is remembered counts in all folders */
    uint32_t max_memories;
    bool parallel_given; /* so that it counts for plans, too */
    bool tape_plays;     /* else it records */
    wend_str tape_dir;   /* absent: neither */
    wend_project project;
    uint32_t inherits; /* WEND_FORK_ bits: what the agent around it decides */
};

/* WEND_OK, or why the call that `what` names must not happen. */
wend_status agent_enter(const wend_agent *a, const char *what, wend_error *err);
/* The parsed config for runs of that mode. */
wend_status agent_config(wend_agent *a, unsigned mode, wend_error *err);
void agent_changed(wend_agent *a); /* runs keep the config they have */
struct agent_tool *agent_tool(const wend_agent *a, wend_str name);
struct agent_tool *tool_named(const struct tool_set *set, wend_str name);
/* relic.endpoint; NULL if there is none. */
struct agent_tool *relic_endpoint(const wend_agent *a, wend_str target);
void agent_cut(struct buf *b, size_t len); /* back to where it was */
/* A member with a text of the host, made valid. */
void agent_put(struct buf *b, const char *key, const char *value);
/* Where a tool comes from. */
struct tool_kind {
    const char *source;
    struct workplace *place; /* of a built-in tool, else NULL */
    struct kept *kept;       /* its ctx; NULL: it is not released */
    bool program, sandbox_off;
    bool of_relic;  /* an endpoint for plans */
    wend_str hands; /* JSON members that say how to make it again, or none */
};

/* agent_add.c: what the config says about a tool. */
wend_status agent_put_tool(struct buf *b, const wend_tool_options *t,
                           const struct tool_kind *kind, wend_error *err);
/* The schema as canonical JSON; it must be an object and compile. Errors begin
 * with `of`, whose schema it is. */
wend_status agent_put_schema(struct buf *b, const char *text, const char *of,
                             wend_error *err);
/* agent_clients.c: that config with the client-side tools of one run, see
 * wend_run_options.client_tools. */
wend_status agent_config_with(const wend_agent *agent, wend_str config_json,
                              wend_str list, struct arena *a, wend_str *out,
                              wend_error *err);
wend_status agent_add(wend_agent *a, const wend_tool_options *t,
                      const struct tool_kind *kind, wend_error *err);
/* agent_models.c: makes a->driver and the part of rest_json about models. */
wend_status agent_models(wend_agent *a, const wend_agent_options *o,
                         wend_error *err);
/* agent_models.c: the text with keys and secrets blanked; the same text if it
 * has none. */
wend_str agent_blank(const wend_agent *a, wend_str text, struct arena *out);
/* From now on this value is blanked wherever it appears. */
wend_status agent_hide(wend_agent *a, wend_str secret, wend_error *err);
void agent_detach(wend_agent *a);  /* the runtime goes first */
void agent_release(wend_agent *a); /* one run less */
void workplace_unref(struct workplace *w);
/* A member with a list of strings; nothing if it is empty or one of them is
 * not UTF-8. */
void agent_put_list(struct buf *b, const char *key, const char *const *list,
                    size_t count);

#endif

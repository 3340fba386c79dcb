/*
 * load.h - what agents from files and agents from logs share. Only for
 * src/lib.
 */
#ifndef LIB_LOAD_H
#define LIB_LOAD_H

#include "lib/agent/agent_file.h"
#include "lib/runtime/runtime.h"

struct load {
    wend_runtime *rt;
    wend_load_options o;
    wend_agent_options agent; /* a copy of the host's */
    struct arena arena;
    bool inside;          /* the runtime stays until load_end */
    const char **guarded; /* files that the outermost agent is made of */
    size_t guarded_count;
    int64_t begun_us; /* the first server; 0: not yet */
    wend_error *err;
};

/* ---- For loads of any kind (load.c) -------------------------------------- */

/* WEND_OK, or why the call that `what` names must not happen. */
wend_status load_begin(struct load *l, wend_runtime *rt, const char *what,
                       wend_error *err);
wend_status load_take(struct load *l, const wend_load_options *options);
/* Gives `s`, or WEND_E_MISUSE and no agent if the runtime was freed in a
 * callback. */
wend_status load_end(struct load *l, wend_status s, wend_agent **out);

/* fn: o.note or o.warn. */
void load_say(const struct load *l, wend_note_fn fn, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What is left of the run's time; it counts from the first server on. 0: no
 * bound. */
uint32_t load_time_left(struct load *l, int64_t time_ms);
/* Values of `from` that are not 0; wins: also over values that are there. */
void load_limits(wend_limits *l, const wend_limits *from, bool wins);
/* Rules, label rows and network of the host, then those of the file. */
wend_status load_lists(struct load *l, const wend_agent_options *file,
                       wend_agent_options *o);
/* Parameters, extra and headers of the options and of the file. inner: the
 * options are those of the agent outside. */
wend_status load_wishes(struct load *l, const wend_agent_options *file,
                        bool inner, wend_agent_options *o);
/* The host's tools, the manifest's, or the default ones. m may be NULL;
 * inner: an agent in another, which has none of the host's. */
wend_status load_tools(struct load *l, wend_agent *agent,
                       const wend_manifest *m, bool inner);
wend_status load_servers(struct load *l, wend_agent *agent,
                         const wend_manifest *m, bool inner,
                         const wend_agent_options *o);
/* Adds a program; if that fails err names the file that it is of, if m, which
 * may be NULL, has it. */
wend_status load_command(struct load *l, wend_agent *agent,
                         const wend_manifest *m, const wend_command_options *c);
/* Add several, whose servers start in parallel; (*errs)[i] is what became of
 * each. WEND_E_NOMEM: *errs may be absent. */
wend_status load_mcps(struct load *l, wend_agent *agent,
                      const wend_mcp_options *list, size_t count,
                      wend_error **errs);
wend_status load_relics(struct load *l, wend_agent *agent,
                        const wend_manifest_relic *list, size_t count,
                        int64_t time_ms, wend_error **errs);

/* ---- For agents from files (load.c) -------------------------------------- */

/* The host's options, completed by the file's; m may be NULL. */
wend_agent_options load_options(const struct load *l, const wend_manifest *m);
/* From now on agents guard the host's files and those of m. */
wend_status load_guard(struct load *l, const wend_manifest *m);
/* outer: the options of the agent that it is inside, or NULL. */
wend_status load_agent(struct load *l, const wend_manifest *m,
                       const wend_agent_options *outer, wend_agent **out);

/* ---- For plans (load_plan.c) --------------------------------------------- */

/* The models that the plan names become fallbacks; without any model it must
 * not ask one. m: the agent's file, or NULL. */
wend_status load_plan_models(struct load *l, const wend_manifest *m,
                             const wend_manifest *plan);
/* The agent that runs the plan, with all that the plan names. */
wend_status load_plan(struct load *l, const wend_manifest *m,
                      const wend_manifest *plan, wend_agent **out);

#endif

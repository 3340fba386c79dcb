/*
 * run_help.h - what the tests of runs share: a bench of runtime, agent and
 * tools, and runs read as a list of event names.
 */
#ifndef TESTS_RUN_HELP_H
#define TESTS_RUN_HELP_H

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/str.h"
#include "tap.h"

struct rig {
    wend_store *store;
    wend_runtime *rt;
    wend_agent *agent;
    wend_agent_options agent_options;
    wend_error err;
};

static const struct mem rig_mem;

/* Answers with its arguments. */
static inline wend_status tool_echo(void *ctx, wend_call *call)
{
    (void)ctx;
    return wend_call_return(call, wend_call_args(call));
}

static inline wend_status tool_broken(void *ctx, wend_call *call)
{
    (void)ctx;
    return wend_call_fail(call, "it is broken");
}

static inline wend_status tool_status(void *ctx, wend_call *call)
{
    (void)ctx;
    (void)call;
    return WEND_E_IO; /* answers nothing: the status does */
}

/* Keeps the call for the test to answer. */
static inline wend_status tool_later(void *ctx, wend_call *call)
{
    wend_call **slot = ctx;

    while (*slot)
        slot++;
    *slot = call;
    return WEND_OK;
}

struct rig_tool {
    const char *name;
    wend_tool_fn fn;
    wend_class call_class;
};

static inline void rig_add(struct rig *r, const char *name, wend_tool_fn fn,
                           wend_class call_class, void *ctx)
{
    wend_tool_options t = {.size = sizeof t,
                           .name = name,
                           .description = name,
                           .call_class = call_class,
                           .fn = fn,
                           .ctx = ctx};

    if (wend_agent_add_tool(r->agent, &t, &r->err) != WEND_OK)
        tap_ok(false, "tool %s: %s", name, r->err.message);
}

/* url NULL: the runtime's own memory store. */
static inline bool rig_open(struct rig *r, const char *url, const char *script)
{
    wend_runtime_options o = {.size = sizeof o};

    r->agent_options.size = sizeof r->agent_options;
    r->agent_options.model = script;
    if (url && wend_store_open(url, &r->store, &r->err) != WEND_OK)
        return tap_ok(false, "store: %s", r->err.message);
    o.store = r->store;
    if (wend_runtime_new(&o, &r->rt, &r->err) != WEND_OK ||
        wend_agent_new(r->rt, &r->agent_options, &r->agent, &r->err) != WEND_OK)
        return tap_ok(false, "rig: %s", r->err.message);
    rig_add(r, "echo", tool_echo, WEND_CLASS_READ, NULL);
    rig_add(r, "write", tool_echo, WEND_CLASS_UNSAFE, NULL);
    rig_add(r, "broken", tool_broken, WEND_CLASS_READ, NULL);
    rig_add(r, "status", tool_status, WEND_CLASS_READ, NULL);
    return true;
}

static inline void rig_close(struct rig *r)
{
    wend_agent_free(r->agent);
    wend_runtime_free(r->rt);
    wend_store_free(r->store);
}

static inline wend_run *rig_start(struct rig *r, const wend_run_options *o)
{
    wend_run *run = NULL;
    wend_str prompt = {"hello", 5};

    if (wend_run_start(r->agent, prompt, o, &run, &r->err) != WEND_OK)
        tap_ok(false, "start: %s", r->err.message);
    return run;
}

static inline wend_run *rig_start_plan(struct rig *r, const char *text)
{
    wend_plan *plan = NULL;
    wend_run *run = NULL;

    if (wend_plan_parse(str_of(text), NULL, &plan, &r->err) != WEND_OK ||
        wend_run_start_plan(r->agent, plan, NULL, NULL, &run, &r->err) !=
            WEND_OK)
        tap_ok(false, "start of the plan: %s", r->err.message);
    wend_plan_free(plan);
    return run;
}

/* Short names, deltas of one kind folded into one with a star. */
static inline void note(struct buf *b, const wend_event *ev)
{
    const char *name = wend_event_name(ev->type);
    size_t len = strlen(name);

    if (wend_event_is_delta(ev->type)) {
        if (b->len > len + 1 && b->ptr[b->len - 1] == '*' &&
            !memcmp(b->ptr + b->len - 1 - len, name, len))
            return;
        buf_fmt(b, "%s%s*", b->len ? " " : "", name);
        return;
    }
    buf_fmt(b, "%s%s", b->len ? " " : "", name);
    if (ev->type == WEND_RUN_END)
        buf_fmt(b, "(%s)", wend_outcome_name(ev->u.run_end.outcome));
    else if (ev->type == WEND_CALL_END)
        buf_fmt(b, "(%s)", wend_outcome_name(ev->u.call_end.outcome));
    else if (ev->type == WEND_MODEL_END)
        buf_fmt(b, "(%s)", wend_outcome_name(ev->u.model_end.outcome));
}

static inline void put_line(struct buf *b, const wend_event *ev)
{
    char *json = NULL;
    size_t len = 0;

    wend_event_to_json(ev, &json, &len);
    buf_add(b, json, len);
    buf_char(b, '\n');
    wend_string_free(json);
}

/* Reads a run to its end: names, and lines if wanted. */
static inline wend_status read_all(wend_run *run, struct buf *names,
                                   struct buf *lines)
{
    const wend_event *ev;
    wend_status s;

    while ((s = wend_run_next(run, &ev)) == WEND_OK) {
        if (names)
            note(names, ev);
        if (lines)
            put_line(lines, ev);
    }
    return s;
}

static inline bool has_tool(wend_agent *a, const char *name)
{
    const wend_tool_info *t;

    for (size_t i = 0; (t = wend_agent_tool(a, i)); i++)
        if (str_is(t->name, name))
            return true;
    return false;
}

#endif

/*
 * agent_add.c - tools of an agent: checked, described in its config, kept.
 */
#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/label.h"
#include "base/options.h"
#include "base/utf8.h"
#include "lib/agent/agent.h"

static wend_status check_tool(const wend_agent *a, const struct tool_set *set,
                              const wend_tool_options *t, wend_error *err)
{
    wend_str name = str_of(t->name);

    if (!tool_name_ok(name))
        return fail(err, WEND_E_INVAL,
                    "tool: name '%.80s' must be 1 to %d of A-Z a-z 0-9 _ . -",
                    t->name ? t->name : "", TOOL_NAME_MAX);
    if (t->client && (t->fn || t->cache_ms || t->per_minute))
        return fail(err, WEND_E_INVAL,
                    "tool '%s': the caller executes it (client): it has no fn, "
                    "cache_ms or per_minute",
                    t->name);
    if (!t->fn && !t->client)
        return fail(err, WEND_E_INVAL, "tool '%s': fn is NULL", t->name);
    if ((unsigned)t->call_class > WEND_CLASS_READ ||
        (unsigned)t->category > WEND_CATEGORY_DESTRUCTIVE || t->labels > 7)
        return fail(err, WEND_E_INVAL,
                    "tool '%s': call_class, category or labels is invalid",
                    t->name);
    if (t->per_minute > PACE_MAX)
        return fail(err, WEND_E_LIMIT, "tool '%s': per_minute is over %d",
                    t->name, PACE_MAX);
    if (t->cache_ms && t->call_class != WEND_CLASS_READ)
        return fail(err, WEND_E_INVAL,
                    "tool '%s': only answers of class read can be given "
                    "again (cache_ms)",
                    t->name);
    if (tool_named(set, name) ||
        (set != &a->endpoints &&
         (tool_named(&a->tools, name) || tool_named(&a->clients, name))))
        return fail(err, WEND_E_EXISTS, "tool '%s' is there already", t->name);
    if (set->count + (set == &a->tools ? a->clients.count : 0) +
            (set == &a->clients ? a->tools.count : 0) >=
        TOOLS_MAX)
        return fail(err, WEND_E_LIMIT, "an agent has at most %d tools",
                    TOOLS_MAX);
    return WEND_OK;
}

wend_status agent_put_tool(struct buf *b, const wend_tool_options *t,
                           const struct tool_kind *kind, wend_error *err)
{
    /* Built-in tools call a path a path. */
    bool is_path =
        !strcmp(kind->source, "builtin") && !strcmp(t->subject, "path");

    json_open(b, NULL, '{');
    agent_put(b, "name", t->name);
    agent_put(b, "description", t->description ? t->description : "");
    if (t->schema) {
        char of[TOOL_NAME_MAX + sizeof "tool ''"];
        wend_status s;

        utf8_fmt(of, sizeof of, "tool '%s'", t->name);
        json_key(b, "schema");
        s = agent_put_schema(b, t->schema, of, err);
        if (s != WEND_OK)
            return s;
    }
    json_add_str(b, "class", str_of(wend_class_name(t->call_class)));
    json_add_str(b, "category", str_of(wend_category_name(t->category)));
    json_add_str(b, "source", str_of(kind->source));
    if (t->concurrent)
        json_add_bool(b, "concurrent", true);
    if (t->repeat_ok)
        json_add_bool(b, "repeat_ok", true);
    if (t->timeout_ms)
        json_add_i64(b, "timeout_ms", t->timeout_ms);
    if (t->subject)
        agent_put(b, "subject", t->subject);
    if (is_path)
        json_add_bool(b, "subject_is_path", true);
    if (t->labels) {
        labels_add(b, "labels", t->labels);
    }
    if (kind->program) {
        json_add_bool(b, "program", true);
        json_add_str(b, "sandbox", kind->sandbox_off ? STR("off") : STR("on"));
    }
    if (kind->hands.len)
        json_add_raw(b, NULL, kind->hands);
    json_close(b, '}');
    return b->failed ? fail_nomem(err) : WEND_OK;
}

wend_status agent_add(wend_agent *a, const wend_tool_options *t,
                      const struct tool_kind *kind, wend_error *err)
{
    struct tool_set *set = kind->of_relic ? &a->endpoints
                           : t->client    ? &a->clients
                                          : &a->tools;
    wend_status s = check_tool(a, set, t, err);
    size_t len = set->json.len;
    struct agent_tool *tool;

    assert(kind->source && !set->json.failed);
    if (s != WEND_OK)
        return s;
    s = agent_put_tool(&set->json, t, kind, err);
    tool = s == WEND_OK ? arena_alloc(&a->arena, sizeof *tool) : NULL;
    if (tool) {
        tool->name = arena_str(&a->arena, str_of(t->name));
        tool->cache_ms = t->cache_ms;
        tool->pace.count = t->per_minute;
        if (t->per_minute)
            tool->pace.begun_us = arena_alloc(
                &a->arena, t->per_minute * sizeof *tool->pace.begun_us);
    }
    if (!tool || a->arena.failed) {
        a->arena.failed = false;
        agent_cut(&set->json, len);
        return s != WEND_OK ? s : fail_nomem(err);
    }
    tool->fn = t->fn;
    tool->ctx = t->ctx;
    tool->kept = kept_ref(kind->kept);
    tool->place = kind->place;
    tool->threaded = t->threaded;
    tool->next = set->first;
    set->first = tool;
    set->count++;
    agent_changed(a);
    return WEND_OK;
}

wend_status wend_agent_add_tool(wend_agent *a, const wend_tool_options *tool,
                                wend_error *err)
{
    struct tool_kind kind = {.source = "c"};
    wend_tool_options t;
    wend_status s;

    if (!tool || !OPTIONS_TAKE(&t, wend_tool_options, ctx, tool))
        return fail(err, WEND_E_INVAL,
                    "tool: options are NULL or options.size is wrong");
    s = kept_new(t.release, t.ctx, &kind.kept, err);
    if (s == WEND_OK)
        s = agent_enter(a, "tool", err);
    if (t.client)
        kind.source = "client";
    if (s == WEND_OK)
        s = agent_add(a, &t, &kind, err);
    kept_unref(kind.kept);
    return s;
}

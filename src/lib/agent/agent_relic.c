/*
 * agent_relic.c - the relics of an agent: services for the actions of plans.
 *
 * Their endpoints are tools that no model sees. What is needed to make them
 * again stands in the log: the relic's own file.
 */
#include <stdio.h>

#include "base/fail.h"
#include "lib/runtime/handover.h"
#include "lib/agent/relics.h"

wend_status relic_add_end(wend_agent *a, wend_str relic, wend_str name,
                          wend_tool_options *t, const struct tool_kind *kind,
                          wend_error *err)
{
    struct tool_kind as_end = *kind;
    struct buf whole = {.mem = &a->mem};
    wend_status s;

    as_end.of_relic = true;
    t->size = sizeof *t;
    if (!t->timeout_ms)
        t->timeout_ms = UINT32_MAX; /* the action's own counts */
    buf_str(&whole, relic);
    buf_char(&whole, '.');
    buf_str(&whole, name);
    t->name = whole.ptr;
    s = whole.failed ? fail_nomem(err) : agent_add(a, t, &as_end, err);
    buf_free(&whole);
    return s;
}

uint32_t relic_labels(const struct manifest_words *w, uint32_t otherwise)
{
    return w->given ? manifest_labels(w) : otherwise;
}

/* ---- Values by name ------------------------------------------------------ */

static wend_status add_kv(wend_agent *a, const struct relic_manifest *m,
                          wend_error *err)
{
    static const struct {
        wend_tool_fn fn;
        wend_class call_class;
    } ends[RELIC_KV_ENDS] = {
        [RELIC_KV_PUT] = {relic_kv_put, WEND_CLASS_IDEMPOTENT},
        [RELIC_KV_GET] = {relic_kv_get, WEND_CLASS_READ},
        [RELIC_KV_DELETE] = {relic_kv_delete, WEND_CLASS_IDEMPOTENT},
    };
    const struct tool_kind kind = {.source = "relic",
                                   .hands = STR(",\"own\":true")};
    struct relic_kv *kv = arena_alloc(&a->arena, sizeof *kv);
    wend_status s = kv ? WEND_OK : fail_nomem(err);

    if (kv)
        *kv = (struct relic_kv){.name = m->name, .ttl_ms = m->ttl_ms};
    for (int i = 0; s == WEND_OK && i < RELIC_KV_ENDS; i++) {
        wend_tool_options t = {.call_class = ends[i].call_class,
                               .subject = "key",
                               .fn = ends[i].fn,
                               .ctx = kv};

        s = relic_add_end(a, m->name, str_of(relic_kv_ends[i]), &t, &kind, err);
    }
    return s;
}

/* ---- All kinds ----------------------------------------------------------- */

static bool is_there(const wend_agent *a, wend_str relic)
{
    for (const struct agent_tool *t = a->ends.first; t; t = t->next)
        if (t->name.len > relic.len && t->name.ptr[relic.len] == '.' &&
            !memcmp(t->name.ptr, relic.ptr, relic.len))
            return true;
    return false;
}

static wend_status add_kind(wend_agent *a, const struct relic_manifest *m,
                            const wend_relic_options *o, struct kept *note,
                            wend_error *err)
{
    switch ((enum relic_kind)m->kind) {
    case RELIC_KV: return add_kv(a, m, err);
    case RELIC_HTTP: return relic_add_http(a, m, err);
    case RELIC_MCP: return relic_add_mcp(a, m, o, note, err);
    }
    return WEND_E_INVAL;
}

/* What the log has of it. */
static void put_relic(struct buf *b, const struct relic_manifest *m,
                      const char *file)
{
    buf_cstr(b, b->len ? ",{" : "{");
    if (file) {
        agent_put(b, "file", file);
        buf_char(b, ',');
    }
    buf_cstr(b, "\"manifest\":");
    buf_str(b, m->json);
    buf_char(b, '}');
}

static void cut(struct buf *b, size_t len)
{
    b->len = len;
    b->failed = false;
    if (b->ptr)
        b->ptr[len] = 0;
}

static wend_status add(wend_agent *a, const struct relic_manifest *m,
                       const wend_relic_options *o, struct kept *note,
                       wend_error *err)
{
    struct tool_set before = a->ends;
    size_t len = a->relics_json.len;
    wend_status s;

    if (is_there(a, m->name))
        return fail(err, WEND_E_EXISTS, "relic: there is a '%s' already",
                    m->name.ptr);
    s = add_kind(a, m, o, note, err);
    if (s == WEND_OK)
        put_relic(&a->relics_json, m, o->file);
    if (s == WEND_OK && a->relics_json.failed)
        s = fail_nomem(err);
    if (s == WEND_OK)
        return s;
    cut(&a->relics_json, len);
    cut(&a->ends.json, before.json.len);
    a->ends.first = before.first;
    a->ends.count = before.count;
    agent_changed(a);
    return s;
}

static wend_status add_text(wend_agent *a, wend_str text,
                            const wend_relic_options *o, struct kept *note,
                            wend_error *err)
{
    struct relic_manifest *m = NULL;
    wend_status s;

    if (!text.ptr)
        return fail(err, WEND_E_INVAL, "relic: the text is NULL");
    text = arena_str(&a->arena, text);
    s = text.ptr ? relic_manifest_parse(text, &a->arena, &m, err)
                 : fail_nomem(err);
    if (s == WEND_OK)
        s = add(a, m, o, note, err);
    a->arena.failed = false; /* it was told */
    return s;
}

wend_status wend_agent_add_relic(wend_agent *agent, wend_str text,
                                 const wend_relic_options *options,
                                 wend_error *err)
{
    wend_relic_options o = {.size = sizeof o};
    struct kept *note;
    wend_runtime *rt;
    wend_status s;
    bool inside;

    if (options && !OPTIONS_TAKE(&o, wend_relic_options, note_ctx, options))
        return fail(err, WEND_E_INVAL, "relic: options.size is wrong");
    s = kept_new(o.note_release, o.note_ctx, &note, err);
    if (s == WEND_OK)
        s = agent_enter(agent, "relic", err);
    if (s == WEND_OK) {
        rt = agent->rt;
        inside = rt_begin(rt) == WEND_OK; /* a server of tools is waited for */
        s = add_text(agent, text, &o, note, err);
        s = rt_end_of(rt, inside, s, err);
    }
    kept_unref(note);
    return s;
}

wend_status wend_agent_add_kv(wend_agent *agent, const char *name,
                              int64_t ttl_ms, wend_error *err)
{
    struct buf text = {0};
    wend_status s = agent_enter(agent, "relic", err);

    if (s != WEND_OK)
        return s;
    if (!name || ttl_ms < 0)
        return fail(err, WEND_E_INVAL, "relic: name or ttl is wrong");
    text.mem = &agent->mem;
    buf_cstr(&text, "{\"wend\":\"relic/1\",\"kind\":\"kv\",");
    agent_put(&text, "name", name);
    if (ttl_ms)
        buf_fmt(&text, ",\"ttl\":\"%lldms\"", (long long)ttl_ms);
    buf_char(&text, '}');
    s = text.failed ? fail_nomem(err)
                    : wend_agent_add_relic(agent, buf_view(&text), NULL, err);
    buf_free(&text);
    return s;
}

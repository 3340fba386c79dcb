/*
 * agent_relic.c - the relics of an agent: services for the actions of plans.
 *
 * Their endpoints are tools that no model sees. The log has the text of the
 * relic's file, so that a resume can make it again.
 */
#include <string.h>

#include "base/fail.h"
#include "lib/agent/agent_file.h"
#include "lib/agent/relics.h"
#include "lib/mcp/mcp.h"

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
    return w->list ? manifest_labels(w) : otherwise;
}

/* ---- Values by name ------------------------------------------------------ */

static wend_status add_kv(wend_agent *a, const struct relic_manifest *m,
                          wend_error *err)
{
    static const struct {
        wend_tool_fn fn;
        wend_class call_class;
    } endpoints[RELIC_KV_ENDPOINTS] = {
        [RELIC_KV_PUT] = {relic_kv_put, WEND_CLASS_IDEMPOTENT},
        [RELIC_KV_GET] = {relic_kv_get, WEND_CLASS_READ},
        [RELIC_KV_DELETE] = {relic_kv_delete, WEND_CLASS_IDEMPOTENT},
    };
    const struct tool_kind kind = {.source = "relic",
                                   .hands = STR("\"own\":true")};
    struct relic_kv *kv = arena_alloc(&a->arena, sizeof *kv);
    wend_status s = kv ? WEND_OK : fail_nomem(err);

    if (kv)
        *kv = (struct relic_kv){.name = m->name, .ttl_ms = m->ttl_ms};
    for (int i = 0; s == WEND_OK && i < RELIC_KV_ENDPOINTS; i++) {
        wend_tool_options t = {.call_class = endpoints[i].call_class,
                               .subject = "key",
                               .fn = endpoints[i].fn,
                               .ctx = kv};

        s = relic_add_end(a, m->name, str_of(relic_kv_endpoints[i]), &t, &kind,
                          err);
    }
    return s;
}

/* ---- Tools of a server (MCP) --------------------------------------------- */

/* Words of the command that are paths are relative to the relic's file. */
static const char *const *
command_of(wend_agent *a, const struct manifest_words *w, const char *file)
{
    const char **argv = arena_alloc(&a->arena, (w->count + 1) * sizeof *argv);

    for (size_t i = 0; argv && i < w->count; i++) {
        wend_str word = w->list[i].text;
        struct buf b = {.mem = &a->mem};

        if (file && manifest_word_is_path(word, i))
            manifest_path(&b, str_of(file), word);
        else
            buf_str(&b, word);
        argv[i] = b.failed ? NULL : arena_str(&a->arena, buf_view(&b)).ptr;
        buf_free(&b);
        if (!argv[i])
            return NULL;
    }
    return argv;
}

static wend_status relic_mcp_options(wend_agent *a,
                                     const struct relic_manifest *m,
                                     const wend_relic_options *o,
                                     wend_mcp_options *out, wend_error *err)
{
    *out = server_options(&m->server, &a->arena);
    out->name = m->name.ptr;
    out->connect_ms = o->connect_ms;
    out->accept = o->accept;
    out->pins_file = o->pins_file;
    out->note = o->note;
    out->note_ctx = o->note_ctx;
    if (!m->server.url.ptr)
        out->command = command_of(a, &m->server.command, o->file);
    return out->secrets && (m->server.url.ptr || out->command)
               ? WEND_OK
               : fail_nomem(err);
}

/* ---- All kinds ----------------------------------------------------------- */

static bool is_there(const wend_agent *a, wend_str relic)
{
    for (const struct agent_tool *t = a->endpoints.first; t; t = t->next)
        if (t->name.len > relic.len && t->name.ptr[relic.len] == '.' &&
            !memcmp(t->name.ptr, relic.ptr, relic.len))
            return true;
    return false;
}

/* A relic that is being added. */
struct relic_adding {
    wend_relic_options o;
    struct relic_manifest *m; /* NULL: its text was not even read */
    struct kept *note;
    wend_mcp_options q; /* of its server, if it has one */
    struct mcp_adding server;
    wend_status status;
    wend_error err;
};

static wend_status add_server(wend_agent *a, struct relic_adding *x)
{
    mcp_end(a, &x->server);
    if (x->server.status != WEND_OK)
        x->err = x->server.err;
    return x->server.status;
}

static wend_status add_kind(wend_agent *a, struct relic_adding *x)
{
    switch ((enum relic_kind)x->m->kind) {
    case RELIC_KV: return add_kv(a, x->m, &x->err);
    case RELIC_HTTP: return relic_add_http(a, x->m, &x->err);
    case RELIC_MCP: return add_server(a, x);
    }
    return WEND_E_INVAL;
}

/* The record of a relic in the log. */
static void put_relic(struct buf *b, const struct relic_manifest *m,
                      const char *file)
{
    json_open(b, NULL, '{');
    if (file)
        agent_put(b, "file", file);
    json_add_raw(b, "manifest", m->json);
    json_close(b, '}');
}

/* If it fails the agent is as it was. */
static wend_status add(wend_agent *a, struct relic_adding *x)
{
    struct tool_set before = a->endpoints;
    size_t len = a->relics_json.len;
    wend_status s = add_kind(a, x);

    if (s == WEND_OK)
        put_relic(&a->relics_json, x->m, x->o.file);
    if (s == WEND_OK && a->relics_json.failed)
        s = fail_nomem(&x->err);
    if (s == WEND_OK)
        return s;
    agent_cut(&a->relics_json, len);
    agent_cut(&a->endpoints.json, before.json.len);
    a->endpoints.first = before.first;
    a->endpoints.count = before.count;
    agent_changed(a);
    return s;
}

/* ---- Several ------------------------------------------------------------- */

static bool is_among(const struct relic_adding *list, size_t count,
                     wend_str name)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].status == WEND_OK && str_eq(list[i].m->name, name))
            return true;
    return false;
}

static wend_status begin_text(wend_agent *a, struct relic_adding *list,
                              size_t i, wend_str text)
{
    struct relic_adding *x = &list[i];
    wend_status s;

    if (!text.ptr)
        return fail(&x->err, WEND_E_INVAL, "relic: the text is NULL");
    text = arena_str(&a->arena, text);
    s = text.ptr ? relic_manifest_parse(text, &a->arena, &x->m, &x->err)
                 : fail_nomem(&x->err);
    if (s == WEND_OK &&
        (is_there(a, x->m->name) || is_among(list, i, x->m->name)))
        s = fail(&x->err, WEND_E_EXISTS, "relic: there is a '%s' already",
                 x->m->name.ptr);
    if (s == WEND_OK && x->m->kind == RELIC_MCP)
        s = relic_mcp_options(a, x->m, &x->o, &x->q, &x->err);
    if (s == WEND_OK && x->m->kind == RELIC_MCP) {
        x->server =
            (struct mcp_adding){.o = &x->q, .relic = x->m, .note = x->note};
        mcp_begin(a, &x->server);
    }
    a->arena.failed = false; /* it is reported */
    return s;
}

/* The caller releases x->note. */
static wend_status take_options(struct relic_adding *x,
                                const wend_relic_options *options)
{
    x->o = (wend_relic_options){.size = sizeof x->o};
    if (options && !OPTIONS_TAKE(&x->o, wend_relic_options, note_ctx, options))
        return fail(&x->err, WEND_E_INVAL, "relic: options.size is wrong");
    return kept_new(x->o.note_release, x->o.note_ctx, &x->note, &x->err);
}

/* Each has its options. All servers are begun before the first is waited for.
 * Returns the status of the first relic that was not added. */
static wend_status add_texts(wend_agent *a, const wend_str *texts,
                             struct relic_adding *list, size_t count)
{
    wend_status first = WEND_OK;

    for (size_t i = 0; i < count; i++)
        if (list[i].status == WEND_OK)
            list[i].status = begin_text(a, list, i, texts[i]);
    for (size_t i = 0; i < count; i++) {
        if (list[i].status == WEND_OK)
            list[i].status = add(a, &list[i]);
        a->arena.failed = false; /* it is reported */
        first = first == WEND_OK ? list[i].status : first;
    }
    return first;
}

/* Releases the contexts of relics that are not begun. */
static void release_notes(const wend_relic_options *const *options,
                          size_t count)
{
    for (size_t i = 0; options && i < count; i++) {
        struct relic_adding x = {0};

        take_options(&x, options[i]);
        kept_unref(x.note);
    }
}

wend_status wend_agent_add_relics(wend_agent *agent, const wend_str *texts,
                                  const wend_relic_options *const *options,
                                  size_t count, wend_error *errs)
{
    wend_error *err = count ? errs : NULL; /* for what concerns all of them */
    struct relic_adding *list = NULL;
    struct arena room = {0};
    wend_runtime *rt;
    wend_status s;
    bool inside;

    if (errs)
        memset(errs, 0, count * sizeof *errs);
    s = agent_enter(agent, "relic", err);
    if (s == WEND_OK && count && !texts)
        s = fail(err, WEND_E_INVAL, "relic: texts is NULL");
    if (s == WEND_OK) {
        room.mem = &agent->mem;
        list = arena_alloc(&room, (count + 1) * sizeof *list);
        s = list ? WEND_OK : fail_nomem(err);
    }
    if (s != WEND_OK) {
        release_notes(options, count);
        return s;
    }
    rt = agent->rt;
    inside = rt_begin(rt) == WEND_OK; /* a server of tools is waited for */
    for (size_t i = 0; i < count; i++)
        list[i].status = take_options(&list[i], options ? options[i] : NULL);
    s = add_texts(agent, texts, list, count);
    for (size_t i = 0; i < count; i++) {
        if (errs)
            errs[i] = list[i].err;
        kept_unref(list[i].note);
    }
    arena_free(&room);
    return rt_end_of(rt, inside, s, err);
}

wend_status wend_agent_add_relic(wend_agent *agent, wend_str text,
                                 const wend_relic_options *options,
                                 wend_error *err)
{
    return wend_agent_add_relics(agent, &text, &options, 1, err);
}

wend_status wend_agent_add_kv(wend_agent *agent, const char *name,
                              int64_t ttl_ms, wend_error *err)
{
    struct buf text = {0};
    wend_status s = agent_enter(agent, "relic", err);
    wend_runtime *rt;
    bool inside;

    if (s != WEND_OK)
        return s;
    if (!name || ttl_ms < 0)
        return fail(err, WEND_E_INVAL, "relic: name or ttl is wrong");
    rt = agent->rt;
    inside = rt_begin(rt) == WEND_OK; /* it stays until the text is freed */
    text.mem = &agent->mem;
    buf_cstr(&text, "{\"wend\":\"relic/1\",\"kind\":\"kv\"");
    agent_put(&text, "name", name);
    if (ttl_ms)
        buf_fmt(&text, ",\"ttl\":\"%lldms\"", (long long)ttl_ms);
    json_close(&text, '}');
    s = text.failed ? fail_nomem(err)
                    : wend_agent_add_relic(agent, buf_view(&text), NULL, err);
    buf_free(&text);
    return rt_end_of(rt, inside, s, err);
}

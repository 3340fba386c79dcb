/*
 * mcp.c - an agent's servers of tools: connected, pinned, offered.
 *
 * A server is not trusted: its tools are unsafe unless the user says that
 * its own words about them count, and a list of tools other than the one
 * that was accepted is not offered.
 */
#include "lib/mcp/mcp.h"

#include <string.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/url.h"
#include "lib/agent/relics.h"

/* What a tool of the agent points to. */
struct offered {
    struct mcp_server *server;
    const struct mcp_tool *tool;
};

static wend_status run_tool(void *ctx, wend_call *call)
{
    const struct offered *f = ctx;

    mcp_server_call(f->server, f->tool, call);
    return WEND_OK;
}

/* ---- Options ------------------------------------------------------------- */

/* No two underscores and none at the end: providers see `name__tool`. */
static bool name_ok(const char *name)
{
    size_t len = 0;

    while (name && (is_word(name[len]) || name[len] == '-'))
        len++;
    return len && len <= MCP_SERVER_NAME_MAX && !name[len] &&
           name[len - 1] != '_' && !strstr(name, "__");
}

/* The host may be any: the user named it. */
static wend_status check_url(const wend_agent *a, const wend_mcp_options *o,
                             wend_error *err)
{
    struct arena room = {.mem = &a->mem};
    wend_error why = {0};
    struct url url;
    wend_status s = url_parse(str_of(o->url), &room, &url, &why);

    arena_free(&room);
    return s == WEND_OK ? s
                        : fail(err, s, "mcp %s: %.300s", o->name, why.message);
}

static wend_status check(const wend_agent *a, const wend_mcp_options *o,
                         wend_error *err)
{
    if (!name_ok(o->name))
        return fail(err, WEND_E_INVAL,
                    "mcp: a server's name must be 1 to %d of A-Z a-z 0-9 _ -, "
                    "without __ and without _ at its end; '%.80s' is not",
                    MCP_SERVER_NAME_MAX, o->name ? o->name : "");
    if ((o->command && o->command[0] ? 1 : 0) + (o->url ? 1 : 0) != 1)
        return fail(err, WEND_E_INVAL,
                    "mcp %s: needs either a command or a URL", o->name);
    if (o->url && o->secrets_count > 1)
        return fail(err, WEND_E_INVAL,
                    "mcp %s: a URL has at most one secret, its bearer token",
                    o->name);
    for (const struct mcp_server *s = a->servers; s; s = s->next)
        if (str_is(s->name, o->name))
            return fail(err, WEND_E_EXISTS, "mcp %s: there is one already",
                        o->name);
    return o->url ? check_url(a, o, err) : WEND_OK;
}

/* ---- Pins ---------------------------------------------------------------- */

static void key_of(const struct mcp_server *s, struct pin_key *k)
{
    struct sha256 h;

    sha256_init(&h);
    sha256_add(&h, s->url.ptr, s->url.len);
    for (size_t i = 0; s->command[i]; i++)
        sha256_add(&h, s->command[i], strlen(s->command[i]) + 1);
    sha256_end_hex(&h, k->identity);
    k->name = s->name;
}

static void put_word(struct buf *b, const char *word)
{
    bool plain = *word && !word[strcspn(word, " \t\n\"'\\")];

    if (!plain)
        buf_char(b, '"');
    for (; *word; word++) {
        if (!plain && (*word == '"' || *word == '\\'))
            buf_char(b, '\\');
        buf_char(b, *word);
    }
    if (!plain)
        buf_char(b, '"');
}

/* As it would be named on the command line. */
static wend_status refuse(const struct mcp_server *s, wend_error *err)
{
    struct buf b = {.mem = &s->mem};

    buf_str(&b, s->url);
    for (size_t i = 0; s->command[i]; i++) {
        if (i)
            buf_char(&b, ' ');
        put_word(&b, s->command[i]);
    }
    fail(err, WEND_E_STALE,
         "mcp %s: its tools are not those that were accepted before, so none "
         "is offered; look at them and accept them with: wend tools --accept "
         "--mcp '%s=%.250s'",
         s->name.ptr, s->name.ptr, buf_view(&b).ptr);
    buf_free(&b);
    return WEND_E_STALE;
}

static wend_status keep_pin(struct mcp_server *s, const wend_mcp_options *o,
                            const struct pin_key *k, wend_error *err)
{
    struct buf list = {.mem = &s->mem};
    wend_status st;

    mcp_list_put(&list, &s->machine);
    st = list.failed ? fail_nomem(err)
                     : pin_keep(o->pins_file, k, s->machine.hash,
                                buf_view(&list), &s->mem, err);
    buf_free(&list);
    return st;
}

static wend_status tell_differences(struct mcp_server *s,
                                    const wend_mcp_options *o, const char *was,
                                    wend_error *err)
{
    struct buf list = {.mem = &s->mem};
    wend_status st = pin_list(o->pins_file, was, &s->mem, &list, err);

    if (st == WEND_OK)
        mcp_list_differ(s, buf_view(&list));
    buf_free(&list);
    return st;
}

static wend_status check_pin(struct mcp_server *s, const wend_mcp_options *o,
                             wend_error *err)
{
    const char *hash = s->machine.hash;
    char was[SHA256_HEX + 1];
    struct pin_key k;
    enum pin pin;
    wend_status st;

    key_of(s, &k);
    st = pin_look(o->pins_file, &k, hash, &s->mem, &pin, was, err);
    if (st != WEND_OK || pin == PIN_SAME)
        return st;
    if (pin == PIN_OTHER)
        st = tell_differences(s, o, was, err);
    else if (!o->look)
        mcp_list_tell(s);
    if (st == WEND_OK && pin == PIN_OTHER && !o->accept)
        st = refuse(s, err);
    if (st == WEND_OK)
        st = keep_pin(s, o, &k, err);
    if (st == WEND_OK)
        mcp_server_tell(s, MCP_NOTE,
                        "%zu tools accepted%s and remembered (%.12s)",
                        s->machine.tools_count,
                        pin == PIN_NONE ? " on first use" : "", hash);
    return st;
}

/* ---- Tools --------------------------------------------------------------- */

/* What a model may see of it. */
static const char *shown(struct mcp_server *s, wend_str text)
{
    char *copy = arena_chars(&s->arena, text.len);

    if (!copy)
        return NULL;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    mcp_server_hide(s, copy, text.len);
    return copy;
}

/* What the relic's file says about the tool; NULL: nothing. */
static const struct relic_endpoint *
endpoint_of(const struct relic_manifest *relic, wend_str name)
{
    for (size_t i = 0; relic && i < relic->endpoints_count; i++)
        if (str_eq(relic->endpoints[i].name, name))
            return &relic->endpoints[i];
    return NULL;
}

/* Facts about the tool, from the server and from the user. */
static void fill(const struct mcp_server *s, const struct mcp_tool *tool,
                 wend_tool_options *t)
{
    const struct relic_endpoint *e = endpoint_of(s->relic, tool->name);

    t->timeout_ms = (uint32_t)s->timeout_ms;
    if (s->relic && !s->relic->server.timeout_ms)
        t->timeout_ms = UINT32_MAX; /* the action's own counts */
    t->labels = WEND_LABEL_UNTRUSTED_SOURCE;
    if (s->url.ptr || s->network || s->sandbox_off) {
        t->category = WEND_CATEGORY_NETWORK;
        t->labels |= WEND_LABEL_EXTERNAL_EFFECT;
    }
    if (s->trust && tool->destructive)
        t->category = WEND_CATEGORY_DESTRUCTIVE;
    if (s->trust && (tool->read_only || tool->idempotent))
        t->call_class =
            tool->read_only ? WEND_CLASS_READ : WEND_CLASS_IDEMPOTENT;
    if (e && e->call_class >= 0)
        t->call_class = (wend_class)e->call_class;
    if (e && e->timeout_ms)
        t->timeout_ms = (uint32_t)e->timeout_ms;
    if (e)
        t->labels = relic_labels(&e->labels, t->labels);
}

static wend_status offer(wend_agent *a, struct mcp_server *s,
                         const struct mcp_tool *tool, wend_error *err)
{
    struct offered *f = arena_alloc(&s->arena, sizeof *f);
    struct buf name = {.mem = &s->mem};
    wend_tool_options t = {.size = sizeof t,
                           .description = shown(s, tool->description),
                           .schema = shown(s, tool->schema),
                           .fn = run_tool,
                           .ctx = f};
    struct tool_kind kind = {.source = "mcp",
                             .program = !s->url.ptr,
                             .sandbox_off = s->sandbox_off,
                             .of_relic = s->relic != NULL};
    wend_error why = {0};
    wend_status st;

    if (f)
        *f = (struct offered){.server = s, .tool = tool};
    fill(s, tool, &t);
    mcp_tool_name(&name, s->name, tool->name);
    t.name = buf_view(&name).ptr;
    st = s->arena.failed || name.failed ? fail_nomem(&why)
                                        : agent_add(a, &t, &kind, &why);
    if (st == WEND_E_NOMEM) {
        s->arena.failed = false;
        fail_nomem(err);
    } else if (st != WEND_OK) {
        mcp_server_tell(s, MCP_LEFT, "left out: %s", why.message);
        st = WEND_OK;
    }
    buf_free(&name);
    return st;
}

/* Only the tools that the relic names; they must exist. */
static wend_status offer_some(wend_agent *a, struct mcp_server *s,
                              wend_error *err)
{
    const struct relic_manifest *relic = s->relic;
    wend_status st = WEND_OK;

    for (size_t i = 0; i < relic->endpoints_count && st == WEND_OK; i++) {
        const struct relic_endpoint *e = &relic->endpoints[i];
        const struct mcp_tool *t = mcp_tool_named(&s->machine, e->name);

        st = t ? offer(a, s, t, err)
               : fail_at(err, WEND_E_NOTFOUND, e->line, e->column,
                         "mcp %s: the server has no tool '%.80s'", s->name.ptr,
                         e->name.ptr);
    }
    return st;
}

static wend_status offer_all(wend_agent *a, struct mcp_server *s,
                             wend_error *err)
{
    wend_status st = WEND_OK;

    if (s->relic && s->relic->endpoints_count)
        return offer_some(a, s, err);
    for (const struct mcp_tool *t = s->machine.tools; t && st == WEND_OK;
         t = t->next)
        st = offer(a, s, t, err);
    return st;
}

/* Tells the runs of the agent, except about mistakes of the host and lack of
 * memory: those only the host can fix. */
static void tell_failure(wend_agent *a, const struct mcp_adding *x)
{
    enum mcp_trouble what = x->shut_out                 ? MCP_AUTH
                            : x->status == WEND_E_STALE ? MCP_CHANGED
                                                        : MCP_CONNECT;

    if (x->status == WEND_OK || x->status == WEND_E_INVAL ||
        x->status == WEND_E_EXISTS || x->status == WEND_E_MISUSE ||
        x->status == WEND_E_NOMEM)
        return;
    mcp_trouble_tell(a, str_of(x->o->name), what, true, str_of(x->err.message));
}

void mcp_begin(wend_agent *a, struct mcp_adding *x)
{
    struct mcp_server *s = NULL;

    x->status = a->rt->callbacks
                    ? fail(&x->err, WEND_E_MISUSE, "mcp: inside a callback")
                    : check(a, x->o, &x->err);
    if (x->status == WEND_OK)
        agent_forget_trouble(a, str_of(x->o->name));
    if (x->status == WEND_OK)
        x->status = mcp_server_new(a, x->o, x->note, &s, &x->err);
    for (size_t i = 0; x->status == WEND_OK && i < s->values_count; i++)
        x->status = agent_hide(a, s->values[i], &x->err);
    if (x->status != WEND_OK) {
        mcp_server_free(s);
        return;
    }
    s->relic = x->relic;
    x->server = s;
    mcp_server_begin(s);
}

/* Whether its tools are there: all, or without memory some of them. */
static bool take_tools(wend_agent *a, struct mcp_adding *x)
{
    struct mcp_server *s = x->server;

    x->status = mcp_server_wait(s, &x->err);
    x->shut_out = x->status == WEND_E_IO && s->shut_out;
    if (x->status == WEND_OK)
        x->status = check_pin(s, x->o, &x->err);
    if (x->status == WEND_E_STALE && x->o->look) {
        x->status = offer_all(a, s, &x->err);
        if (x->status == WEND_OK) /* to be looked at: the status stays */
            x->status = WEND_E_STALE;
        return true;
    }
    if (x->status == WEND_OK)
        x->status = offer_all(a, s, &x->err);
    return x->status == WEND_OK ||
           (s->machine.tools && x->status == WEND_E_NOMEM);
}

void mcp_end(wend_agent *a, struct mcp_adding *x)
{
    struct mcp_server *s = x->server;

    if (s && take_tools(a, x)) {
        s->next = a->servers;
        a->servers = s;
        agent_changed(a); /* it tells of them */
    } else {
        mcp_server_free(s);
    }
    tell_failure(a, x);
}

/* All are begun before the first is waited for. Two of one name: the second
 * is refused as if the first were there. */
static void begin_all(wend_agent *a, struct mcp_adding *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < i && list[i].status == WEND_OK; k++)
            if (list[k].server && list[i].o->name &&
                str_is(list[k].server->name, list[i].o->name))
                list[i].status =
                    fail(&list[i].err, WEND_E_EXISTS,
                         "mcp %s: there is one already", list[i].o->name);
        if (list[i].status == WEND_OK)
            mcp_begin(a, &list[i]);
    }
}

/* `all` and `options` have room for `count`. Gives the first failure. */
static wend_status add_all(wend_agent *a, const wend_mcp_options *const *list,
                           struct mcp_adding *all, wend_mcp_options *options,
                           size_t count)
{
    wend_status first = WEND_OK;

    for (size_t i = 0; i < count; i++) {
        wend_mcp_options *o = &options[i];
        struct mcp_adding *x = &all[i];

        *x = (struct mcp_adding){.o = o};
        if (!list[i] || !OPTIONS_TAKE(o, wend_mcp_options, note_ctx, list[i]))
            x->status = fail(&x->err, WEND_E_INVAL,
                             "mcp: options are NULL or options.size is wrong");
        else
            x->status =
                kept_new(o->note_release, o->note_ctx, &x->note, &x->err);
    }
    begin_all(a, all, count);
    for (size_t i = 0; i < count; i++) {
        mcp_end(a, &all[i]);
        first = first == WEND_OK ? all[i].status : first;
        kept_unref(all[i].note);
    }
    return first;
}

/* For options that no server was begun with. */
static void release_notes(const wend_mcp_options *const *list, size_t count)
{
    wend_mcp_options o;

    for (size_t i = 0; i < count; i++)
        if (list[i] && OPTIONS_TAKE(&o, wend_mcp_options, note_ctx, list[i]) &&
            o.note_release)
            o.note_release(o.note_ctx);
}

wend_status wend_agent_add_mcp(wend_agent *a, const wend_mcp_options *options,
                               wend_error *err)
{
    wend_status s = agent_enter(a, "mcp", err);
    struct mcp_adding x;
    wend_mcp_options o;
    wend_runtime *rt;
    bool inside;

    if (s != WEND_OK) {
        release_notes(&options, 1);
        return s;
    }
    rt = a->rt;
    inside = rt_begin(rt) == WEND_OK; /* else in a callback: refused */
    s = add_all(a, &options, &x, &o, 1);
    s = rt_end_of(rt, inside, s, &x.err);
    if (err && s != WEND_OK)
        *err = x.err;
    return s;
}

wend_status wend_agent_add_mcps(wend_agent *a,
                                const wend_mcp_options *const *list,
                                size_t count, wend_error *errs)
{
    wend_status s = agent_enter(a, "mcp", NULL);
    struct mem mem = s == WEND_OK ? a->mem : (struct mem){0};
    struct arena room = {.mem = &mem};
    struct mcp_adding *all = NULL;
    wend_mcp_options *options = NULL;
    wend_runtime *rt;
    bool inside;

    if (count && !list)
        return WEND_E_INVAL;
    if (s == WEND_OK) {
        all = arena_alloc(&room, (count + 1) * sizeof *all);
        options = arena_alloc(&room, (count + 1) * sizeof *options);
        s = room.failed ? WEND_E_NOMEM : WEND_OK;
    }
    if (s != WEND_OK) {
        release_notes(list, count);
        arena_free(&room);
        return s;
    }
    rt = a->rt;
    inside = rt_begin(rt) == WEND_OK;
    s = add_all(a, list, all, options, count);
    for (size_t i = 0; errs && i < count; i++)
        errs[i] = all[i].status == WEND_OK ? (wend_error){0} : all[i].err;
    arena_free(&room); /* before the runtime, which may go with the next call */
    return rt_end_of(rt, inside, s, NULL);
}

/* Secrets are NAME=value in there; only the name is told. */
static void put_secrets(struct buf *b, const struct mcp_server *s)
{
    if (!s->secrets || !s->secrets[0])
        return;
    json_open(b, "secrets", '[');
    for (size_t i = 0; s->secrets[i]; i++)
        json_add_str(b, NULL,
                     (wend_str){s->secrets[i], strcspn(s->secrets[i], "=")});
    json_close(b, ']');
}

static void put_server(struct buf *b, const struct mcp_server *s)
{
    size_t words = 0;

    while (s->command && s->command[words])
        words++;
    json_open(b, NULL, '{');
    json_add_str(b, "name", s->name);
    agent_put_list(b, "command", s->command, words);
    if (s->url.ptr) {
        json_key(b, NULL);
        agent_put(b, "url", s->url.ptr);
    }
    put_secrets(b, s);
    json_add_i64(b, "timeout_ms", s->timeout_ms);
    if (s->start_ms != MCP_START_MS)
        json_add_i64(b, "start_timeout_ms", s->start_ms);
    if (s->sandbox_off)
        json_add_str(b, "sandbox", STR("off"));
    if (s->network)
        json_add_bool(b, "network", true);
    if (s->trust)
        json_add_bool(b, "trust", true);
    json_close(b, '}');
}

void agent_put_servers(const wend_agent *a, struct buf *b)
{
    bool any = false;

    for (const struct mcp_server *s = a->servers; s; s = s->next) {
        if (s->relic)
            continue; /* its file says how */
        if (!any)
            json_open(b, "mcp", '[');
        put_server(b, s);
        any = true;
    }
    if (any)
        json_close(b, ']');
}

void agent_drop_servers(wend_agent *a)
{
    struct mcp_server *s;

    while ((s = a->servers)) {
        a->servers = s->next;
        mcp_server_free(s);
    }
}

/*
 * mcp.c - the client's side of the Model Context Protocol: the machine.
 */
#include <assert.h>

#include "base/utf8.h"
#include "wire/mcp/mcp_parts.h"

enum { RELISTS_MAX = 4 };

void mcp_warn(struct mcp *m, const char *fmt, ...)
{
    char text[400];
    va_list ap;

    if (m->warnings > MCP_WARNINGS_MAX)
        return;
    if (m->warnings++ == MCP_WARNINGS_MAX) {
        m->sink->warn(m->ctx, "more warnings about this server are not shown");
        return;
    }
    va_start(ap, fmt);
    utf8_vfmt(text, sizeof text, fmt, ap);
    va_end(ap);
    m->sink->warn(m->ctx, text);
}

/* ---- Ends ---------------------------------------------------------------- */

void mcp_fail(struct mcp *m, const char *fmt, ...)
{
    char text[500];
    va_list ap;

    if (m->state == MCP_FAILED)
        return;
    va_start(ap, fmt);
    utf8_vfmt(text, sizeof text, fmt, ap);
    va_end(ap);
    mcp_close(m, text);
    m->sink->fail(m->ctx, text);
}

void mcp_no_memory(struct mcp *m)
{
    m->nomem = true;
    mcp_fail(m, "out of memory");
}

/* ---- Revisions ----------------------------------------------------------- */

/* Errors that only a server of the modern kind gives. */
enum {
    HEADER_MISMATCH = -32020,
    CAPABILITY_MISSING = -32021,
    VERSION_UNSUPPORTED = -32022,
};

/* Newest first; the first is what we ask for. */
static const char *const legacy_versions[] = {"2025-11-25", "2025-06-18",
                                              "2025-03-26", "2024-11-05"};
enum { LEGACY_VERSIONS = sizeof legacy_versions / sizeof *legacy_versions };

static const char no_revision[] =
    "the server speaks no revision of the protocol that wend knows "
    "(2024-11-05 to " MCP_MODERN ")";

static void probe(struct mcp *m)
{
    m->modern = true;
    m->version = STR(MCP_MODERN);
    mcp_ask(m, MCP_PROBING, NULL);
}

static void initialize_as(struct mcp *m, const char *version)
{
    m->modern = false;
    m->version = STR_NONE;
    mcp_ask(m, MCP_INITIALIZING, version);
}

static void initialize(struct mcp *m)
{
    initialize_as(m, legacy_versions[0]);
}

static void list_tools(struct mcp *m)
{
    mcp_list_clear(m);
    m->outdated = false;
    buf_clear(&m->cursor);
    mcp_ask(m, MCP_LISTING, NULL);
}

static void be_modern(struct mcp *m)
{
    m->modern = m->known = true;
    m->version = STR(MCP_MODERN);
    list_tools(m);
}

static bool names(const struct json *versions, const char *one)
{
    const struct json *v = json_items(versions);

    while (v && !str_is(json_str(v), one))
        v = v->next;
    return v != NULL;
}

/* The newest one that the server names, too; NULL: none. */
static const char *shared_legacy(const struct json *versions)
{
    for (int i = 0; i < LEGACY_VERSIONS; i++)
        if (names(versions, legacy_versions[i]))
            return legacy_versions[i];
    return NULL;
}

/* A modern server lists the revisions that it speaks. */
static void choose(struct mcp *m, const struct json *versions)
{
    if (names(versions, MCP_MODERN))
        be_modern(m);
    else if (!versions || shared_legacy(versions))
        initialize(m);
    else
        mcp_fail(m, "%s", no_revision);
}

/* A revision that the server names is tried, once. */
static void on_version_error(struct mcp *m, const struct rpc *e)
{
    const struct json *versions = json_get(e->data, "supported");
    const char *legacy = shared_legacy(versions);
    bool first = !m->revised;

    m->revised = true;
    if (first && m->state != MCP_LISTING && names(versions, MCP_MODERN))
        be_modern(m);
    else if (first && legacy)
        initialize_as(m, legacy);
    else if (first && m->state == MCP_PROBING && !versions)
        initialize(m);
    else
        mcp_fail(m, "%s", no_revision);
}

/* The server answered the probe with an error. */
static void on_probe_error(struct mcp *m, const struct rpc *e)
{
    if (e->code == CAPABILITY_MISSING || e->code == HEADER_MISMATCH)
        mcp_fail(m, "the server refused server/discover: %.*s (%lld)",
                 (int)utf8_cut(e->message, MCP_REASON_MAX), e->message.ptr,
                 (long long)e->code);
    else
        initialize(m);
}

/* ---- Answers before READY ------------------------------------------------ */

static void on_list(struct mcp *m)
{
    if (m->outdated && m->relists++ < RELISTS_MAX) {
        list_tools(m);
        return;
    }
    if (!mcp_list_end(m)) {
        if (m->nomem)
            mcp_no_memory(m);
        else
            mcp_fail(m, "the server's tools have changed");
        return;
    }
    m->state = MCP_READY;
    m->sink->ready(m->ctx);
    mcp_flush(m);
}

static void on_initialized(struct mcp *m, const struct json *result)
{
    wend_str version = json_get_str(result, "protocolVersion");
    int known = str_index(version, legacy_versions, LEGACY_VERSIONS);

    if (known < 0) {
        mcp_fail(m,
                 "the server speaks revision '%.*s' of the protocol; wend "
                 "knows 2024-11-05 to " MCP_MODERN,
                 (int)(version.len < 40 ? version.len : 40),
                 version.len ? version.ptr : "");
        return;
    }
    m->version = str_of(legacy_versions[known]);
    m->known = true;
    mcp_notify(m, "notifications/initialized", 0);
    if (m->state == MCP_FAILED)
        return;
    if (json_get(json_get(result, "capabilities"), "tools")) {
        list_tools(m);
        return;
    }
    mcp_warn(m, "the server has no tools");
    mcp_list_clear(m);
    on_list(m);
}

static void on_page(struct mcp *m, const struct json *result)
{
    wend_str next = json_get_str(result, "nextCursor");

    if (!mcp_list_page(m, result)) {
        if (m->list_arena.failed || m->arena.failed)
            mcp_no_memory(m);
        else
            mcp_fail(m, "the answer to tools/list has no list of tools");
        return;
    }
    if (next.len && ++m->pages >= MCP_PAGES_MAX) {
        mcp_warn(m, "the list of tools has over %d pages; the rest is left out",
                 MCP_PAGES_MAX);
        next = STR_NONE;
    }
    if (next.len && m->list_count < MCP_TOOLS_MAX) {
        buf_clear(&m->cursor);
        buf_str(&m->cursor, next);
        mcp_ask(m, MCP_LISTING, NULL);
        return;
    }
    on_list(m);
}

/* ---- In ------------------------------------------------------------------ */

/* The answer to a request before READY. */
static void on_asked(struct mcp *m, const struct rpc *r)
{
    struct buf why = {.mem = m->mem};

    assert(mcp_methods[m->state]);
    m->asked = 0;
    if (r->kind == RPC_ERROR && r->code == VERSION_UNSUPPORTED) {
        on_version_error(m, r);
    } else if (r->kind == RPC_ERROR && m->state == MCP_PROBING) {
        on_probe_error(m, r);
    } else if (r->kind == RPC_ERROR) {
        mcp_error_text(r, &why);
        mcp_fail(m, "the server refused %s: %s", mcp_methods[m->state],
                 buf_view(&why).ptr);
    } else if (m->state == MCP_PROBING) {
        choose(m, json_get(r->result, "supportedVersions"));
    } else if (m->state == MCP_INITIALIZING) {
        on_initialized(m, r->result);
    } else {
        on_page(m, r->result);
    }
    buf_free(&why);
}

/* Whether a request had this id. */
static bool is_ours(const struct mcp *m, const struct json *id)
{
    int64_t n = 0;

    return (id->kind == JSON_STRING ? str_to_i64(id->text, &n)
                                    : json_i64(id, &n)) &&
           n >= 1 && n <= m->ids;
}

static void on_answer(struct mcp *m, const struct rpc *r)
{
    struct buf text = {.mem = m->mem}, more = {.mem = m->mem};
    struct arena arena = {.mem = m->mem};
    struct mcp_result result = {.out = &text, .arena = &arena};
    struct mcp_given given = {0};
    struct mcp_call **at;

    if (m->asked && rpc_id_is(r->id, m->asked)) {
        on_asked(m, r);
        return;
    }
    at = mcp_find(m, r->id);
    if (!*at) {
        if (!r->id)
            mcp_warn(m, "the server could not read a message: %.*s",
                     (int)utf8_cut(r->message, MCP_REASON_MAX),
                     r->message.len ? r->message.ptr : "");
        else if (!is_ours(m, r->id))
            mcp_warn(m, "the server answered an unknown request");
        return; /* else too late, or twice */
    }
    if (r->kind == RPC_ERROR)
        mcp_error_text(r, &text);
    else
        given.ok = mcp_result_read(r->result, &result);
    if (result.structured) {
        json_put(&more, result.structured);
        given.structured = buf_view(&more);
    }
    given.text = buf_view(&text);
    given.media = result.media;
    given.media_count = result.media_count;
    if (text.failed || more.failed || arena.failed)
        given = (struct mcp_given){.text = STR("out of memory")};
    mcp_finish(m, at, &given);
    arena_free(&arena);
    buf_free(&text);
    buf_free(&more);
}

/* An unreadable message may have been an answer. Without an id it counts for
 * the only open request. */
static void on_broken(struct mcp *m, const struct json *id)
{
    struct mcp_call **at = id ? mcp_find(m, id) : m->asked ? NULL : mcp_only(m);

    if (m->asked && (id ? rpc_id_is(id, m->asked) : !m->calls)) {
        m->asked = 0;
        if (m->state == MCP_PROBING)
            initialize(m);
        else
            mcp_fail(m, "the server's answer is not a message of the protocol");
    } else if (at && *at) {
        mcp_finish(m, at,
                   &(struct mcp_given){
                       .text = STR("the server's answer is not a message of "
                                   "the protocol; the tool may have had an "
                                   "effect")});
    }
}

static void on_progress(struct mcp *m, const struct json *params)
{
    struct mcp_call *c = *mcp_find(m, json_get(params, "progressToken"));
    struct buf text = {.mem = m->mem};

    if (!c)
        return;
    mcp_progress_text(params, &text);
    if (!text.failed && text.len)
        m->sink->progress(m->ctx, c->call, buf_view(&text));
    buf_free(&text);
}

static void on_notification(struct mcp *m, const struct rpc *r)
{
    if (str_is(r->method, "notifications/progress")) {
        on_progress(m, r->params);
    } else if (!str_is(r->method, "notifications/tools/list_changed")) {
        return;
    } else if (m->state == MCP_LISTING) {
        m->outdated = true;
    } else if (m->state == MCP_READY && !m->changed) {
        m->changed = true;
        mcp_warn(m, "the server says that its tools have changed; the ones "
                    "it began with stay");
    }
}

/* Only ping is answered: no sampling, elicitation or roots. */
static void on_request(struct mcp *m, const struct rpc *r)
{
    struct buf b = {.mem = m->mem};

    if (m->modern && m->transport == MCP_HTTP)
        return; /* there are no requests, and no stream to answer on */
    if (str_is(r->method, "ping"))
        rpc_put_empty(&b, r->id);
    else
        rpc_put_error(&b, r->id, RPC_METHOD_NOT_FOUND,
                      "wend answers nothing but ping");
    mcp_send_answer(m, &b);
    buf_free(&b);
}

static void on_message(void *ctx, const struct rpc *r)
{
    struct mcp *m = ctx;

    if (m->state == MCP_FAILED || m->state == MCP_IDLE)
        return;
    switch (r->kind) {
    case RPC_REQUEST: on_request(m, r); break;
    case RPC_NOTIFICATION: on_notification(m, r); break;
    case RPC_RESULT:
    case RPC_ERROR: on_answer(m, r); break;
    case RPC_BROKEN: on_broken(m, r->id); break;
    }
}

/* Programs also write other lines; one that begins like a message was one. */
static void on_unreadable(struct mcp *m, wend_str text, const char *why)
{
    mcp_warn(m, "the server sent an invalid message: %s", why);
    if (text.len && (text.ptr[0] == '{' || text.ptr[0] == '['))
        on_broken(m, NULL);
}

void mcp_text(struct mcp *m, wend_str text)
{
    struct arena a = {.mem = m->mem};
    wend_error err = {0};
    size_t skipped;
    wend_status s;

    if (m->state == MCP_FAILED || m->state == MCP_IDLE)
        return;
    s = rpc_read(text, &a, on_message, m, &skipped, &err);
    if (s == WEND_E_NOMEM)
        mcp_no_memory(m);
    else if (s != WEND_OK)
        on_unreadable(m, text, err.message);
    else if (skipped)
        mcp_warn(m, "the server sent JSON that is not a message");
    arena_free(&a);
}

/* ---- From the transport -------------------------------------------------- */

void mcp_start(struct mcp *m)
{
    m->state = MCP_IDLE;
    m->asked = 0;
    if (m->nomem)
        return;
    if (!m->known && !m->again)
        probe(m);
    else if (m->known && m->modern)
        list_tools(m);
    else
        initialize(m);
}

/* Once, and then without a probe. */
static void start_again(struct mcp *m)
{
    m->again = true;
    m->state = MCP_IDLE;
    m->asked = 0;
    m->sink->again(m->ctx);
}

/* The first error of a body, if it has one. */
static void take_error(void *ctx, const struct rpc *r)
{
    struct rpc *first = ctx;

    if (r->kind == RPC_ERROR && first->kind != RPC_ERROR)
        *first = *r;
}

static bool is_modern_error(const struct rpc *e)
{
    return e->code == VERSION_UNSUPPORTED || e->code == CAPABILITY_MISSING ||
           e->code == HEADER_MISMATCH;
}

static void refusal_text(const struct rpc *e, int status, wend_str body,
                         struct buf *out)
{
    if (e->kind == RPC_ERROR) {
        mcp_error_text(e, out);
        return;
    }
    if (status == 401)
        buf_cstr(out, "it wants a token; give one as a secret of the server; ");
    if (status)
        buf_fmt(out, "HTTP status %d%s", status, body.len ? ": " : "");
    body.len = utf8_cut(body, MCP_REASON_MAX);
    buf_str(out, body);
}

static void asked_refused(struct mcp *m, const struct rpc *e, int status,
                          const char *why)
{
    bool modern = e->kind == RPC_ERROR && is_modern_error(e);

    m->asked = 0;
    if (modern && e->code == VERSION_UNSUPPORTED)
        on_version_error(m, e);
    else if (m->state != MCP_PROBING)
        mcp_fail(m, "%s", why);
    else if (modern && status == 400)
        on_probe_error(m, e);
    else if (status)
        initialize(m);
    else
        mcp_fail(m, "the server cannot be reached: %s", why);
}

static void call_refused(struct mcp *m, struct mcp_call **at, int status,
                         wend_str why)
{
    bool session_over = status == 404 && !m->modern && m->state == MCP_READY;

    mcp_finish(m, at, &(struct mcp_given){.text = why});
    if (session_over)
        start_again(m);
}

void mcp_refused(struct mcp *m, int64_t id, int status, wend_str body)
{
    struct arena a = {.mem = m->mem};
    struct buf why = {.mem = m->mem}, clean = {.mem = m->mem};
    struct rpc first = {.kind = RPC_BROKEN};
    struct mcp_call **at = &m->calls;
    size_t skipped;

    utf8_repair(&clean, body);
    rpc_read(buf_view(&clean), &a, take_error, &first, &skipped, NULL);
    refusal_text(&first, status, buf_view(&clean), &why);
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    if (!id || m->state == MCP_FAILED)
        ; /* no request waits for it */
    else if (why.failed || clean.failed || a.failed)
        mcp_no_memory(m);
    else if (id == m->asked)
        asked_refused(m, &first, status, buf_view(&why).ptr);
    else if (*at)
        call_refused(m, at, status, buf_view(&why));
    buf_free(&why);
    buf_free(&clean);
    arena_free(&a);
}

void mcp_timeout(struct mcp *m, const char *limit)
{
    if (!m->asked)
        return;
    m->sink->drop(m->ctx, m->asked);
    m->asked = 0;
    if (m->state == MCP_PROBING && m->transport == MCP_STDIO)
        start_again(m);
    else if (m->state == MCP_PROBING)
        initialize(m);
    else
        mcp_fail(m, "the server did not answer %s within %s",
                 mcp_methods[m->state], limit);
}

void mcp_lost(struct mcp *m, const char *why)
{
    bool probing = m->state == MCP_PROBING && m->transport == MCP_STDIO;
    char text[400];

    if (m->state == MCP_FAILED)
        return;
    utf8_fmt(text, sizeof text,
             "the server was lost in the middle of the call (%.300s); it may "
             "have had an effect",
             why);
    m->state = MCP_IDLE;
    m->asked = 0;
    mcp_finish_all(m, false, text);
    if (probing)
        start_again(m);
}

void mcp_close(struct mcp *m, const char *why)
{
    char text[500];

    utf8_fmt(text, sizeof text, "%s", why);
    m->state = MCP_FAILED;
    m->asked = 0;
    mcp_finish_all(m, true, text);
}

/* ---- Life ---------------------------------------------------------------- */

void mcp_init(struct mcp *m, const struct mem *mem,
              enum mcp_transport transport, const struct mcp_sink *sink,
              void *ctx)
{
    memset(m, 0, sizeof *m);
    m->mem = mem;
    m->transport = transport;
    m->sink = sink;
    m->ctx = ctx;
    m->calls_tail = &m->calls;
    m->list_tail = &m->list;
    m->arena.mem = m->list_arena.mem = m->cursor.mem = mem;
}

void mcp_free(struct mcp *m)
{
    while (m->calls)
        mcp_unlink(m, &m->calls);
    arena_free(&m->arena);
    arena_free(&m->list_arena);
    buf_free(&m->cursor);
}

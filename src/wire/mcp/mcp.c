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

static void fail_all(struct mcp *m, const char *why)
{
    if (m->state == MCP_FAILED)
        return;
    m->state = MCP_FAILED;
    m->asked = 0;
    mcp_finish_all(m, true, why);
    m->sink->fail(m->ctx, why);
}

void mcp_fail(struct mcp *m, const char *fmt, ...)
{
    char text[500];
    va_list ap;

    va_start(ap, fmt);
    utf8_vfmt(text, sizeof text, fmt, ap);
    va_end(ap);
    fail_all(m, text);
}

void mcp_no_memory(struct mcp *m)
{
    m->nomem = true;
    fail_all(m, "out of memory");
}

static void on_list(struct mcp *m)
{
    if (m->outdated && m->relists++ < RELISTS_MAX) {
        mcp_list(m);
        return;
    }
    if (!mcp_list_end(m)) {
        if (m->nomem)
            mcp_no_memory(m);
        else
            fail_all(m, "the server's tools are not what they were before");
        return;
    }
    m->state = MCP_READY;
    m->sink->ready(m->ctx);
    mcp_flush(m);
}

static bool has_tools(const struct json *result)
{
    const struct json *all = json_get(result, "capabilities");

    return json_get(all, "tools") != NULL;
}

static void on_initialized(struct mcp *m, const struct json *result)
{
    wend_str version = json_str(json_get(result, "protocolVersion"));
    const char *known = mcp_known_version(version);

    if (!known) {
        mcp_fail(m,
                 "the server speaks revision '%.*s' of the protocol; wend "
                 "knows 2024-11-05 to " MCP_MODERN,
                 (int)(version.len < 40 ? version.len : 40),
                 version.len ? version.ptr : "");
        return;
    }
    m->version = str_of(known);
    m->known = true;
    mcp_notify(m, "notifications/initialized", 0);
    if (m->state == MCP_FAILED)
        return;
    if (has_tools(result)) {
        mcp_list(m);
        return;
    }
    mcp_warn(m, "the server says that it has no tools");
    mcp_list_clear(m);
    on_list(m);
}

static void on_page(struct mcp *m, const struct json *result)
{
    wend_str next = json_str(json_get(result, "nextCursor"));

    if (!mcp_list_page(m, result)) {
        if (m->list_arena.failed || m->arena.failed)
            mcp_no_memory(m);
        else
            fail_all(m, "the answer to tools/list has no list of tools");
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
        mcp_version_error(m, r);
    } else if (r->kind == RPC_ERROR && m->state == MCP_PROBING) {
        mcp_probe_error(m, r);
    } else if (r->kind == RPC_ERROR) {
        mcp_error_text(r, &why);
        mcp_fail(m, "the server refused %s: %s", mcp_methods[m->state],
                 buf_view(&why).ptr);
    } else if (m->state == MCP_PROBING) {
        mcp_choose(m, json_get(r->result, "supportedVersions"));
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
    const struct json *structured = NULL;
    struct mcp_call **at;
    bool ok = false;

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
            mcp_warn(m, "the server answered what was not asked");
        return; /* else too late, or twice */
    }
    if (r->kind == RPC_ERROR)
        mcp_error_text(r, &text);
    else
        ok = mcp_result_text(r->result, &text, &structured);
    if (structured)
        json_put(&more, structured);
    if (text.failed || more.failed)
        mcp_finish(m, at, false, STR("out of memory"), STR_NONE);
    else
        mcp_finish(m, at, ok, buf_view(&text),
                   structured ? buf_view(&more) : STR_NONE);
    buf_free(&text);
    buf_free(&more);
}

/* An unreadable message may have been an answer. Without an id it counts as
 * the answer to the only open request. */
static void on_broken(struct mcp *m, const struct json *id)
{
    struct mcp_call **at = id ? mcp_find(m, id) : m->asked ? NULL : mcp_only(m);

    if (m->asked && (id ? rpc_id_is(id, m->asked) : !m->calls)) {
        m->asked = 0;
        if (m->state == MCP_PROBING)
            mcp_initialize(m);
        else
            fail_all(m, "the server's answer is not a message of the protocol");
    } else if (at && *at) {
        mcp_finish(
            m, at, false,
            STR("the server's answer is not a message of the protocol; the "
                "tool may have had an effect"),
            STR_NONE);
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

/* ---- From the transport -------------------------------------------- */

void mcp_start(struct mcp *m)
{
    m->state = MCP_IDLE;
    m->asked = 0;
    if (m->nomem)
        return;
    if (!m->known && !m->again)
        mcp_probe(m);
    else if (m->known && m->modern)
        mcp_list(m);
    else
        mcp_initialize(m);
}

/* Once, and then without a probe. */
static void start_again(struct mcp *m)
{
    m->again = true;
    m->state = MCP_IDLE;
    m->asked = 0;
    m->sink->again(m->ctx);
}

struct refusal {
    struct rpc rpc;
    bool found;
};

static void take_error(void *ctx, const struct rpc *r)
{
    struct refusal *f = ctx;

    if (r->kind == RPC_ERROR && !f->found) {
        f->rpc = *r;
        f->found = true;
    }
}

static bool is_modern_error(const struct refusal *f, int status)
{
    return f->found && status == 400 &&
           (f->rpc.code == VERSION_UNSUPPORTED ||
            f->rpc.code == CAPABILITY_MISSING ||
            f->rpc.code == HEADER_MISMATCH);
}

static void refusal_text(const struct refusal *f, int status, wend_str body,
                         struct buf *out)
{
    if (f->found) {
        mcp_error_text(&f->rpc, out);
        return;
    }
    if (status == 401)
        buf_cstr(out,
                 "it wants a token, which a secret of the server can be; ");
    if (status)
        buf_fmt(out, "HTTP status %d%s", status, body.len ? ": " : "");
    if (body.len > MCP_REASON_MAX)
        body.len = utf8_cut(body, MCP_REASON_MAX);
    buf_str(out, body);
}

static void asked_refused(struct mcp *m, const struct refusal *f, int status,
                          const char *why)
{
    m->asked = 0;
    if (f->found && f->rpc.code == VERSION_UNSUPPORTED)
        mcp_version_error(m, &f->rpc);
    else if (m->state != MCP_PROBING)
        mcp_fail(m, "%s", why);
    else if (is_modern_error(f, status))
        mcp_probe_error(m, &f->rpc);
    else if (status)
        mcp_initialize(m);
    else
        mcp_fail(m, "the server cannot be reached: %s", why);
}

static void call_refused(struct mcp *m, struct mcp_call **at, int status,
                         wend_str why)
{
    bool session_over = status == 404 && !m->modern && m->state == MCP_READY;

    mcp_finish(m, at, false, why, STR_NONE);
    if (session_over)
        start_again(m);
}

void mcp_refused(struct mcp *m, int64_t id, int status, wend_str body)
{
    struct arena a = {.mem = m->mem};
    struct buf why = {.mem = m->mem}, clean = {.mem = m->mem};
    struct refusal f = {.found = false};
    struct mcp_call **at = &m->calls;
    size_t skipped;

    utf8_repair(&clean, body);
    rpc_read(buf_view(&clean), &a, take_error, &f, &skipped, NULL);
    refusal_text(&f, status, buf_view(&clean), &why);
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    if (!id || m->state == MCP_FAILED)
        ; /* no request waits for it */
    else if (why.failed || clean.failed || a.failed)
        mcp_no_memory(m);
    else if (id == m->asked)
        asked_refused(m, &f, status, buf_view(&why).ptr);
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
        mcp_initialize(m);
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
    char text[400];

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

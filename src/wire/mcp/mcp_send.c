/*
 * mcp_send.c - the client's side of the Model Context Protocol: messages out,
 * and the calls that are under way or wait until the server is ready.
 */
#include <assert.h>
#include <stdio.h>

#include "base/hash.h"
#include "wire/mcp/mcp_parts.h"

#define META "io.modelcontextprotocol/"
#define CLIENT "{\"name\":\"wend\",\"version\":\"" WEND_VERSION "\"}"
#define ENCODED_HEAD "=?base64?"
#define ENCODED_TAIL "?="

const char *const mcp_methods[MCP_STATES] = {
    [MCP_PROBING] = "server/discover",
    [MCP_INITIALIZING] = "initialize",
    [MCP_LISTING] = "tools/list",
};

enum { HEADERS_MAX = 4 + MCP_PARAMS_MAX, HEADER_NAME_MAX = 128 };

/* ---- Headers ------------------------------------------------------------- */

static bool is_plain(wend_str s)
{
    if (!s.len || s.ptr[0] == ' ' || s.ptr[s.len - 1] == ' ')
        return !s.len;
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < 0x20 || s.ptr[i] > 0x7e)
            return false;
    return !(str_starts(s, ENCODED_HEAD) && str_ends(s, ENCODED_TAIL));
}

void mcp_put_header(struct buf *b, const char *name, wend_str value)
{
    buf_fmt(b, "%s: ", name);
    if (is_plain(value)) {
        buf_str(b, value);
    } else {
        buf_cstr(b, ENCODED_HEAD);
        base64_put(b, value);
        buf_cstr(b, ENCODED_TAIL);
    }
    buf_char(b, 0);
}

/* The value of that argument. False: it has none. */
static bool put_param(struct buf *out, const struct mcp_param *p,
                      const struct json *args)
{
    const struct json *j = args;
    int64_t n;

    for (size_t i = 0; i < p->path_count; i++)
        j = json_member(j, p->path[i]);
    if (!j || j->kind == JSON_NULL || j->kind == JSON_ARRAY ||
        j->kind == JSON_OBJECT)
        return false;
    if (j->kind == JSON_STRING)
        buf_str(out, j->text);
    else if (j->kind == JSON_NUMBER && json_i64(j, &n))
        buf_i64(out, n);
    else if (j->kind == JSON_NUMBER)
        return false;
    else
        buf_cstr(out, json_kind_name(j->kind));
    return true;
}

static void put_params(struct buf *b, const struct mcp_call *c)
{
    struct arena a = {.mem = b->mem};
    struct buf value = {.mem = b->mem};
    const struct json *args = json_parse(c->args, &a, NULL);
    char name[HEADER_NAME_MAX];

    for (const struct mcp_param *p = c->tool->params; p; p = p->next) {
        buf_clear(&value);
        if (!put_param(&value, p, args))
            continue;
        snprintf(name, sizeof name, "Mcp-Param-%.*s", (int)p->header.len,
                 p->header.ptr);
        mcp_put_header(b, name, buf_view(&value));
    }
    b->failed |= value.failed | a.failed;
    buf_free(&value);
    arena_free(&a);
}

/* Headers of a request, one after the other with a zero byte between. */
static void put_headers(struct mcp *m, struct buf *b, const char *method,
                        const struct mcp_call *c)
{
    if (m->version.len)
        mcp_put_header(b, "MCP-Protocol-Version", m->version);
    if (c && c->trace.len)
        mcp_put_header(b, "traceparent", c->trace);
    if (!m->modern)
        return;
    mcp_put_header(b, "Mcp-Method", str_of(method));
    if (!c)
        return;
    mcp_put_header(b, "Mcp-Name", c->tool->name);
    if (c->tool->params)
        put_params(b, c);
}

/* ---- Messages ------------------------------------------------------------ */

static void put_meta(const struct mcp *m, struct buf *b,
                     const struct mcp_call *c)
{
    json_open(b, "_meta", '{');
    if (m->modern) {
        json_add_str(b, META "protocolVersion", STR(MCP_MODERN));
        json_add_raw(b, META "clientInfo", STR(CLIENT));
        json_add_raw(b, META "clientCapabilities", STR("{}"));
    }
    if (c)
        json_add_i64(b, "progressToken", c->id);
    if (c && c->key.len)
        json_add_str(b, "idempotencyKey", c->key);
    if (c && c->trace.len)
        json_add_str(b, "traceparent", c->trace);
    json_close(b, '}');
}

static void send(struct mcp *m, const struct buf *body, int64_t id,
                 const char *method, const struct mcp_call *c)
{
    struct buf text = {.mem = m->mem};
    const char *headers[HEADERS_MAX + 1];
    struct mcp_send out = {
        .body = buf_view(body), .id = id, .headers = headers};
    size_t n = 0;

    if (m->transport == MCP_HTTP)
        put_headers(m, &text, method, c);
    for (size_t at = 0; at < text.len && n < HEADERS_MAX;
         at += strlen(text.ptr + at) + 1)
        headers[n++] = text.ptr + at;
    headers[n] = NULL;
    if (body->failed || text.failed)
        mcp_no_memory(m);
    else
        m->sink->send(m->ctx, &out);
    buf_free(&text);
}

/* Between its values JSON may have line ends, which end a message here. */
static void put_on_one_line(struct buf *b, wend_str json)
{
    size_t from = b->len;

    buf_str(b, json);
    for (; from < b->len; from++)
        if (b->ptr[from] == '\n' || b->ptr[from] == '\r')
            b->ptr[from] = ' ';
}

void mcp_ask(struct mcp *m, enum mcp_state state, const char *version)
{
    const char *method = mcp_methods[state];
    struct buf b = {.mem = m->mem};

    assert(method);
    m->state = state;
    m->asked = ++m->ids;
    rpc_open(&b, m->asked, method);
    if (version) {
        json_add_str(&b, "protocolVersion", str_of(version));
        json_add_raw(&b, "capabilities", STR("{}"));
        json_add_raw(&b, "clientInfo", STR(CLIENT));
    }
    if (state == MCP_LISTING && m->cursor.len)
        json_add_str(&b, "cursor", buf_view(&m->cursor));
    if (state != MCP_INITIALIZING && m->modern)
        put_meta(m, &b, NULL);
    rpc_close(&b);
    send(m, &b, m->asked, method, NULL);
    buf_free(&b);
}

void mcp_notify(struct mcp *m, const char *method, int64_t canceled)
{
    struct buf b = {.mem = m->mem};

    rpc_open(&b, 0, method);
    if (canceled) {
        json_add_i64(&b, "requestId", canceled);
        json_add_str(&b, "reason", STR("canceled"));
    }
    rpc_close(&b);
    send(m, &b, 0, method, NULL);
    buf_free(&b);
}

void mcp_send_answer(struct mcp *m, const struct buf *body)
{
    send(m, body, 0, "", NULL);
}

/* ---- Calls --------------------------------------------------------------- */

struct mcp_call **mcp_find(struct mcp *m, const struct json *id)
{
    struct mcp_call **at = &m->calls;

    while (*at && !((*at)->id && rpc_id_is(id, (*at)->id)))
        at = &(*at)->next;
    return at;
}

void mcp_unlink(struct mcp *m, struct mcp_call **at)
{
    struct mcp_call *c = *at;

    assert(c && m->calls_count > 0);
    *at = c->next;
    if (m->calls_tail == &c->next)
        m->calls_tail = at;
    m->calls_count--;
    mem_free(m->mem, c);
}

void mcp_finish(struct mcp *m, struct mcp_call **at,
                const struct mcp_given *given)
{
    void *call = (*at)->call;

    mcp_unlink(m, at);
    m->sink->done(m->ctx, call, given);
}

struct mcp_call **mcp_only(struct mcp *m)
{
    struct mcp_call **found = NULL;

    for (struct mcp_call **at = &m->calls; *at; at = &(*at)->next)
        if ((*at)->id && found)
            return NULL;
        else if ((*at)->id)
            found = at;
    return found;
}

void mcp_finish_all(struct mcp *m, bool unsent, const char *why)
{
    struct mcp_call **at = &m->calls;

    while (*at)
        if ((*at)->id || unsent)
            mcp_finish(m, at, &(struct mcp_given){.text = str_of(why)});
        else
            at = &(*at)->next;
}

static void send_call(struct mcp *m, struct mcp_call *c)
{
    struct buf b = {.mem = m->mem};

    assert(m->state == MCP_READY && !c->id);
    c->id = ++m->ids;
    rpc_open(&b, c->id, "tools/call");
    json_add_str(&b, "name", c->tool->name);
    json_key(&b, "arguments");
    put_on_one_line(&b, c->args);
    put_meta(m, &b, c);
    rpc_close(&b);
    send(m, &b, c->id, "tools/call", c);
    buf_free(&b);
}

void mcp_flush(struct mcp *m)
{
    struct mcp_call *next;

    /* Out of memory ends all of them: then there is no next one. */
    for (struct mcp_call *c = m->calls; m->state == MCP_READY && c; c = next) {
        next = c->next;
        if (!c->id)
            send_call(m, c);
    }
}

void mcp_call(struct mcp *m, void *call, const struct mcp_tool *tool,
              wend_str args, wend_str key, wend_str trace)
{
    const char *why = m->state == MCP_FAILED ? "the server is down"
                      : m->calls_count >= MCP_CALLS_MAX
                          ? "too many calls wait for this server"
                          : NULL;
    struct mcp_call *c =
        why ? NULL
            : mem_alloc(m->mem, sizeof *c + args.len + key.len + trace.len);
    char *at;

    if (!c) {
        m->sink->done(
            m->ctx, call,
            &(struct mcp_given){.text = str_of(why ? why : "out of memory")});
        return;
    }
    at = (char *)(c + 1);
    *c = (struct mcp_call){.call = call, .tool = tool};
    c->args = str_pack(&at, args);
    c->key = str_pack(&at, key);
    c->trace = str_pack(&at, trace);
    *m->calls_tail = c;
    m->calls_tail = &c->next;
    m->calls_count++;
    if (m->state == MCP_READY)
        send_call(m, c);
}

void mcp_cancel(struct mcp *m, void *call)
{
    struct mcp_call **at = &m->calls;
    int64_t id;

    while (*at && (*at)->call != call)
        at = &(*at)->next;
    if (!*at)
        return;
    id = (*at)->id;
    mcp_unlink(m, at);
    if (!id)
        return;
    /* Closing the stream is the word for it over HTTP, since 2026-07-28. */
    if (m->transport == MCP_STDIO || !m->modern)
        mcp_notify(m, "notifications/cancelled", id);
    m->sink->drop(m->ctx, id);
}

bool mcp_waits(const struct mcp *m, int64_t id)
{
    const struct mcp_call *c = m->calls;

    while (c && c->id != id)
        c = c->next;
    return id && (id == m->asked || c);
}

/*
 * mcp_send.c - the client's side of the Model Context Protocol: messages out.
 */
#include <assert.h>
#include <stdio.h>

#include "wire/mcp/mcp_parts.h"

#define META "io.modelcontextprotocol/"
#define CLIENT "{\"name\":\"wend\",\"version\":\"" WEND_VERSION "\"}"

const char *const mcp_methods[MCP_STATES] = {
    [MCP_PROBING] = "server/discover",
    [MCP_INITIALIZING] = "initialize",
    [MCP_LISTING] = "tools/list",
};

enum { HEADERS_MAX = 3 + MCP_PARAMS_MAX, HEADER_NAME_MAX = 128 };

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
    json_close(b, '}');
}

static void put_params(struct buf *b, const struct mcp_call *c)
{
    struct arena a = {.mem = b->mem};
    struct buf value = {.mem = b->mem};
    const struct json *args = json_parse(c->args, &a, NULL);
    char name[HEADER_NAME_MAX];

    for (const struct mcp_param *p = c->tool->params; p; p = p->next) {
        buf_clear(&value);
        if (!mcp_param_text(p, args, &value))
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
    if (!m->modern)
        return;
    mcp_put_header(b, "Mcp-Method", str_of(method));
    if (!c)
        return;
    mcp_put_header(b, "Mcp-Name", c->tool->name);
    if (c->tool->params)
        put_params(b, c);
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

void mcp_send_call(struct mcp *m, struct mcp_call *c)
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

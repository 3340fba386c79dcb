/*
 * mcp_calls.c - the client's side of the Model Context Protocol: the calls
 * that are under way, and those that wait until the server is ready.
 */
#include <assert.h>

#include "wire/mcp/mcp_parts.h"

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

void mcp_finish(struct mcp *m, struct mcp_call **at, bool ok, wend_str text,
                wend_str structured)
{
    void *call = (*at)->call;

    mcp_unlink(m, at);
    m->sink->done(m->ctx, call, ok, text, structured);
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
            mcp_finish(m, at, false, str_of(why), STR_NONE);
        else
            at = &(*at)->next;
}

void mcp_flush(struct mcp *m)
{
    struct mcp_call *next;

    /* Out of memory ends all of them: then there is no next one. */
    for (struct mcp_call *c = m->calls; m->state == MCP_READY && c; c = next) {
        next = c->next;
        if (!c->id)
            mcp_send_call(m, c);
    }
}

/* ---- What its user wants ------------------------------------------------- */

void mcp_call(struct mcp *m, void *call, const struct mcp_tool *tool,
              wend_str args, wend_str key)
{
    const char *why = m->state == MCP_FAILED ? "the server is not there"
                      : m->calls_count >= MCP_CALLS_MAX
                          ? "too many calls wait for this server"
                          : NULL;
    struct mcp_call *c =
        why ? NULL : mem_alloc(m->mem, sizeof *c + args.len + key.len);
    char *at;

    if (!c) {
        m->sink->done(m->ctx, call, false, str_of(why ? why : "out of memory"),
                      STR_NONE);
        return;
    }
    at = (char *)(c + 1);
    *c = (struct mcp_call){.call = call, .tool = tool};
    c->args = str_pack(&at, args);
    c->key = str_pack(&at, key);
    *m->calls_tail = c;
    m->calls_tail = &c->next;
    m->calls_count++;
    if (m->state == MCP_READY)
        mcp_send_call(m, c);
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

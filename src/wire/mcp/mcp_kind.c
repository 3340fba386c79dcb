/*
 * mcp_kind.c - the client's side of the Model Context Protocol: finding out
 * which kind of server it is, and which revision both know.
 */
#include "base/utf8.h"
#include "wire/mcp/mcp_parts.h"

/* Newest first; the first is what we ask for. */
static const char *const legacy_versions[] = {"2025-11-25", "2025-06-18",
                                              "2025-03-26", "2024-11-05"};
enum { LEGACY_VERSIONS = sizeof legacy_versions / sizeof *legacy_versions };

static const char no_revision[] =
    "the server speaks no revision of the protocol that wend knows "
    "(2024-11-05 to " MCP_MODERN ")";

const char *mcp_known_version(wend_str version)
{
    int i = str_index(version, legacy_versions, LEGACY_VERSIONS);

    return i < 0 ? NULL : legacy_versions[i];
}

void mcp_probe(struct mcp *m)
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

void mcp_initialize(struct mcp *m)
{
    initialize_as(m, legacy_versions[0]);
}

void mcp_list(struct mcp *m)
{
    mcp_list_clear(m);
    m->outdated = false;
    buf_clear(&m->cursor);
    mcp_ask(m, MCP_LISTING, NULL);
}

static bool names(const struct json *versions, const char *one)
{
    const struct json *v =
        versions && versions->kind == JSON_ARRAY ? versions->first : NULL;

    while (v && !str_is(json_str(v), one))
        v = v->next;
    return v != NULL;
}

/* What a server says that it speaks, if it is of the modern kind. */
void mcp_choose(struct mcp *m, const struct json *versions)
{
    if (names(versions, MCP_MODERN)) {
        m->known = true;
        mcp_list(m);
        return;
    }
    for (int i = 0; i < LEGACY_VERSIONS; i++)
        if (names(versions, legacy_versions[i]))
            versions = NULL;
    if (!versions)
        mcp_initialize(m);
    else
        mcp_fail(m, "%s", no_revision);
}

/* A revision that the server names is tried, once. */
void mcp_version_error(struct mcp *m, const struct rpc *e)
{
    const struct json *versions = json_get(e->data, "supported");
    bool first = !m->revised;

    m->revised = true;
    if (first && m->state != MCP_LISTING && names(versions, MCP_MODERN)) {
        m->modern = m->known = true;
        m->version = STR(MCP_MODERN);
        mcp_list(m);
        return;
    }
    for (int i = 0; first && i < LEGACY_VERSIONS; i++)
        if (names(versions, legacy_versions[i])) {
            initialize_as(m, legacy_versions[i]);
            return;
        }
    if (first && m->state == MCP_PROBING && !versions)
        mcp_initialize(m);
    else
        mcp_fail(m, "%s", no_revision);
}

/* It answered the probe with an error. */
void mcp_probe_error(struct mcp *m, const struct rpc *e)
{
    if (e->code == CAPABILITY_MISSING || e->code == HEADER_MISMATCH)
        mcp_fail(m, "the server refused server/discover: %.*s (%lld)",
                 (int)utf8_cut(e->message, MCP_REASON_MAX), e->message.ptr,
                 (long long)e->code);
    else
        mcp_initialize(m);
}

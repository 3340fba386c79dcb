/*
 * hands.c - what an agent has besides functions: programs, servers of tools,
 * other agents, relics.
 */
#include "stage.h"

enum { PATIENCE_MS = 5000 }; /* with a server that does not answer */

struct servers servers;

static bool add_command(struct stage *st, struct tale *t)
{
    static const char *const argv[] = {"sh", "-c", "cat; echo x >&2"};
    wend_command_options o = {.size = sizeof o,
                              .name = "program",
                              .argv = argv,
                              .argv_count = 3,
                              .timeout_ms = PATIENCE_MS,
                              .call_class = WEND_CLASS_READ};

    return step_ok(t, "add_command",
                   wend_agent_add_command(st->agent, &o, &st->err), &st->err);
}

static bool add_mcp(struct stage *st, struct tale *t)
{
    const char *command[] = {servers.mcp, "modern", NULL};
    wend_mcp_options o = {.size = sizeof o,
                          .name = "srv",
                          .command = command,
                          .timeout_ms = PATIENCE_MS,
                          .pins_file = "pins"};

    return step_ok(t, "add_mcp", wend_agent_add_mcp(st->agent, &o, &st->err),
                   &st->err);
}

static bool add_kid(struct stage *st, struct tale *t)
{
    wend_agent_options o = {
        .size = sizeof o,
        .name = "kid",
        .model = "script:{\"turns\":[{\"text\":\"from the kid\"}]}"};
    wend_child_options k = {.size = sizeof k, .name = "kid"};

    if (!step_ok(t, "agent_new", wend_agent_new(st->rt, &o, &st->kid, &st->err),
                 &st->err))
        return false;
    k.agent = st->kid;
    return step_ok(t, "add_agent",
                   wend_agent_add_agent(st->agent, &k, &st->err), &st->err) &&
           step_ok(t, "add_builtin",
                   wend_agent_add_builtin(st->agent, "task", &st->err),
                   &st->err);
}

bool stage_add(struct stage *st, const struct scenario *sc, struct tale *t)
{
    if ((sc->uses & USES_COMMAND) && !add_command(st, t))
        return false;
    if ((sc->uses & USES_MCP) && !add_mcp(st, t))
        return false;
    if ((sc->uses & USES_AGENT) && !add_kid(st, t))
        return false;
    return !(sc->uses & USES_KV) ||
           step_ok(t, "add_kv",
                   wend_agent_add_kv(st->agent, "cache", 0, &st->err),
                   &st->err);
}

/*
 * mcp_words.h - what the MCP machine and servers say to each other, for tables.
 */
#ifndef TESTS_MCP_WORDS_H
#define TESTS_MCP_WORDS_H

#define META                                                                 \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
    "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"wend\","             \
    "\"version\":\"" WEND_VERSION "\"},"                                     \
    "\"io.modelcontextprotocol/clientCapabilities\":{}"
#define REQUEST(id, method, params)                                         \
    "send " #id " {\"jsonrpc\":\"2.0\",\"id\":" #id ",\"method\":\"" method \
    "\",\"params\":{" params "}}\n"
#define NOTE(method, params)                           \
    "send 0 {\"jsonrpc\":\"2.0\",\"method\":\"" method \
    "\",\"params\":{" params "}}\n"
#define RESULT(id, value) \
    "< {\"jsonrpc\":\"2.0\",\"id\":" #id ",\"result\":" value "}\n"
#define ERROR(id, code, more)                                          \
    "< {\"jsonrpc\":\"2.0\",\"id\":" #id ",\"error\":{\"code\":" #code \
    ",\"message\":\"no\"" more "}}\n"

#define PROBE REQUEST(1, "server/discover", META "}")
#define INITIALIZE(id) INITIALIZE_AS(id, "2025-11-25")
#define INITIALIZE_AS(id, version)                                          \
    REQUEST(id, "initialize",                                               \
            "\"protocolVersion\":\"" version "\",\"capabilities\":{},"      \
            "\"clientInfo\":{\"name\":\"wend\",\"version\":\"" WEND_VERSION \
            "\"}")
#define INITIALIZED NOTE("notifications/initialized", "")
#define VERSION(v)                                                    \
    "{\"protocolVersion\":\"" v "\",\"capabilities\":{\"tools\":{}}," \
    "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}"
#define TOOL(name) \
    "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}}"
#define TOOLS(list) "{\"tools\":[" list "]}"
#define DISCOVERED                                                         \
    "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"]," \
    "\"capabilities\":{\"tools\":{}},\"ttlMs\":0,\"cacheScope\":\"public\"}"

/* Ready, with the tools a and b, one of each kind of server. */
#define LEGACY                                                      \
    "start\n" ERROR(1, -32601, "") RESULT(2, VERSION("2025-06-18")) \
        RESULT(3, TOOLS(TOOL("a") "," TOOL("b")))
#define LEGACY_SAYS \
    PROBE INITIALIZE(2) INITIALIZED REQUEST(3, "tools/list", "") "ready a b\n"
#define MODERN \
    "start\n" RESULT(1, DISCOVERED) RESULT(2, TOOLS(TOOL("a") "," TOOL("b")))
#define MODERN_SAYS PROBE REQUEST(2, "tools/list", META "}") "ready a b\n"
#define CALL(id, tool, args)                                            \
    REQUEST(id, "tools/call",                                           \
            "\"name\":\"" tool "\",\"arguments\":" args                 \
            ",\"_meta\":{\"progressToken\":" #id ",\"idempotencyKey\":" \
            "\"k\"}")
#define CALL_MODERN(id, tool, args)                              \
    REQUEST(id, "tools/call",                                    \
            "\"name\":\"" tool "\",\"arguments\":" args "," META \
            ",\"progressToken\":" #id ",\"idempotencyKey\":\"k\"}")
#define TEXT(t) "{\"content\":[{\"type\":\"text\",\"text\":\"" t "\"}]}"
#define PROGRESS(token, more)                                       \
    "< {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"," \
    "\"params\":{\"progressToken\":" #token "," more "}}\n"

#endif

/*
 * test_mcp.c - the MCP machine: handshakes of all revisions, calls, and
 * servers that do not keep to it.
 */
#include "mcp_help.h"
#include "mcp_words.h"

static const struct row {
    const char *why;
    const char *script, *want;
} stdio_rows[] = {
    {"a server of the modern kind", MODERN, MODERN_SAYS},
    {"a server that knows no probe", LEGACY, LEGACY_SAYS},
    {"any error will do: server-everything says -32000",
     "start\n" ERROR(1, -32000, "") RESULT(2, VERSION("2025-11-25"))
         RESULT(3, TOOLS("")),
     PROBE INITIALIZE(2) INITIALIZED REQUEST(3, "tools/list", "") "ready\n"},
    {"the oldest revision",
     "start\n" ERROR(1, -32601, "") RESULT(2, VERSION("2024-11-05"))
         RESULT(3, TOOLS(TOOL("a"))),
     PROBE INITIALIZE(2) INITIALIZED REQUEST(3, "tools/list", "") "ready a\n"},
    {"a revision that nobody knows",
     "start\n" ERROR(1, -32601, "") RESULT(2, VERSION("1999-01-01")),
     PROBE INITIALIZE(2) "fail the server speaks revision '1999-01-01' of the "
                         "protocol; wend knows 2024-11-05 to 2026-07-28\n"},
    {"no revision at all", "start\n" ERROR(1, -32601, "") RESULT(2, "{}"),
     PROBE INITIALIZE(2) "fail the server speaks revision '' of the protocol; "
                         "wend knows 2024-11-05 to 2026-07-28\n"},
    {"a server that takes anything for a request it knows",
     "start\n" RESULT(1, "{}"), PROBE INITIALIZE(2)},
    {"modern, but of a revision to come: stays modern",
     "start\n" ERROR(1, -32022, ",\"data\":{\"supported\":[\"2030-01-01\"]}"),
     PROBE "fail the server speaks no revision of the protocol that wend "
           "knows (2024-11-05 to 2026-07-28)\n"},
    {"both kinds, and the modern one not ours",
     "start\n" ERROR(1, -32022,
                     ",\"data\":{\"supported\":[\"2030-01-01\","
                     "\"2025-06-18\"]}"),
     PROBE INITIALIZE_AS(2, "2025-06-18")},
    {"it ends when asked: once more without the probe",
     "start\nlost it ended\nstart\n" RESULT(2, VERSION("2025-06-18"))
         RESULT(3, TOOLS("")),
     PROBE "again\n" INITIALIZE(2)
         INITIALIZED REQUEST(3, "tools/list", "") "ready\n"},
    {"it says nothing: the same", "start\ntimeout\nstart\n",
     PROBE "drop 1\nagain\n" INITIALIZE(2)},
    {"it never says anything", "start\ntimeout\nstart\ntimeout\n",
     PROBE "drop 1\nagain\n" INITIALIZE(
         2) "drop 2\nfail the server did not answer initialize within 10 s\n"},
    {"a time that is over for nothing", MODERN "timeout\n", MODERN_SAYS},
    {"refuses to be initialized",
     "start\n" ERROR(1, -32601, "") ERROR(2, -32603, ""),
     PROBE INITIALIZE(2) "fail the server refused initialize: no (-32603)\n"},
    {"has no tools and says so",
     "start\n" ERROR(1, -32601, "")
         RESULT(2, "{\"protocolVersion\":\"2025-03-26\",\"capabilities\":{}}"),
     PROBE INITIALIZE(2) INITIALIZED "warn the server has no tools\nready\n"},
    {"pages of tools",
     "start\n" RESULT(1, DISCOVERED)
         RESULT(2, "{\"tools\":[" TOOL("a") "],\"nextCursor\":\"p\\\"2\"}")
             RESULT(3, TOOLS(TOOL("b"))),
     PROBE REQUEST(2, "tools/list", META "}") REQUEST(
         3, "tools/list", "\"cursor\":\"p\\\"2\"," META "}") "ready a b\n"},
    {"a list that is none", "start\n" RESULT(1, DISCOVERED) RESULT(2, "[]"),
     PROBE REQUEST(2, "tools/list",
                   META
                   "}") "fail the answer to tools/list has no list of tools\n"},
    {"tools that are none",
     "start\n" RESULT(1, DISCOVERED)
         RESULT(2, TOOLS("1,{},{\"name\":\"x\",\"inputSchema\":7}," TOOL(
                       "a") "," TOOL("a"))),
     PROBE REQUEST(
         2, "tools/list",
         META
         "}") "warn tool '' is left out: its name is empty or too long\n"
              "warn tool '' is left out: its name is empty or too long\n"
              "warn tool 'x' is left out: its inputSchema is not an object\n"
              "warn tool 'a' is left out: the name is there twice\nready a\n"},

    {"a call, of the old kind",
     LEGACY "call x a {\"n\":1}\n" RESULT(4, TEXT("one")),
     LEGACY_SAYS CALL(4, "a", "{\"n\":1}") "done x ok \"one\"\n"},
    {"a call, of the modern kind",
     MODERN "call x b {\"n\":1}\n" RESULT(3, TEXT("one")),
     MODERN_SAYS CALL_MODERN(3, "b", "{\"n\":1}") "done x ok \"one\"\n"},
    {"answers in any order, each to its own",
     LEGACY "call x a\ncall y b\n" RESULT(5, TEXT("y")) RESULT(4, TEXT("x")),
     LEGACY_SAYS CALL(4, "a", "{}")
         CALL(5, "b", "{}") "done y ok \"y\"\ndone x ok \"x\"\n"},
    {"in a batch, as servers of old did",
     LEGACY "call x a\ncall y b\n"
            "< [{\"id\":5,\"result\":{\"content\":[]}},"
            "{\"id\":4,\"error\":{\"code\":-1,\"message\":\"m\"}}]\n",
     LEGACY_SAYS CALL(4, "a", "{}")
         CALL(5, "b", "{}") "done y ok \"\"\ndone x failed \"m (-1)\"\n"},
    {"answers twice: the second is nothing",
     LEGACY "call x a\n" RESULT(4, TEXT("1")) RESULT(4, TEXT("2")),
     LEGACY_SAYS CALL(4, "a", "{}") "done x ok \"1\"\n"},
    {"answers what was not asked",
     LEGACY "call x a\n" RESULT(99, TEXT("1")) RESULT("x4", TEXT("2"))
         RESULT(4.0, TEXT("3")) RESULT(4, TEXT("4")),
     LEGACY_SAYS CALL(4, "a",
                      "{}") "warn the server answered an unknown request\n"
                            "warn the server answered an unknown request\ndone "
                            "x ok \"4\"\n"},
    {"a tool that failed, and a server that refused",
     LEGACY "call x a\ncall y b\n" RESULT(
         4, "{\"isError\":true,\"content\":[{\"type\":\"text\","
            "\"text\":\"disk full\"}]}") ERROR(5, -32602, ""),
     LEGACY_SAYS CALL(4, "a", "{}") CALL(
         5, "b",
         "{}") "done x failed \"disk full\"\ndone y failed \"no (-32602)\"\n"},
    {"progress, in words and numbers",
     LEGACY "call x a\n" PROGRESS(4, "\"progress\":1,\"total\":4,"
                                     "\"message\":\"half\"")
         PROGRESS(4, "\"progress\":2.5") PROGRESS(4, "\"message\":\"m\"")
             PROGRESS(4, "\"x\":1") RESULT(4, TEXT("1"))
                 PROGRESS(4, "\"progress\":3"),
     LEGACY_SAYS CALL(
         4, "a", "{}") "progress x \"half (1/4)\\n\"\nprogress x \"2.5\\n\"\n"
                       "progress x \"m\\n\"\ndone x ok \"1\"\n"},
    {"progress of something else",
     LEGACY "call x a\n" PROGRESS("x4", "\"progress\":1")
         PROGRESS(3, "\"progress\":1") PROGRESS(null, "\"progress\":1"),
     LEGACY_SAYS CALL(4, "a", "{}") "done x failed \"closed\"\n"},
    {"canceled: the server is told, its answer is nothing",
     LEGACY "call x a\ncancel x\n" RESULT(4, TEXT("1")) "cancel x\n",
     LEGACY_SAYS CALL(4, "a", "{}")
         NOTE("notifications/cancelled",
              "\"requestId\":4,\"reason\":\"canceled\"") "drop 4\n"},
    {"what the server may ask: ping, and nothing else",
     LEGACY "< {\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}\n"
            "< {\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":"
            "\"sampling/createMessage\",\"params\":{}}\n"
            "< {\"jsonrpc\":\"2.0\",\"id\":\"r\",\"method\":\"roots/list\"}\n",
     LEGACY_SAYS
     "send 0 {\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n"
     "send 0 {\"jsonrpc\":\"2.0\",\"id\":\"\",\"error\":{\"code\":-32601,"
     "\"message\":\"wend answers nothing but ping\"}}\n"
     "send 0 {\"jsonrpc\":\"2.0\",\"id\":\"r\",\"error\":{\"code\":-32601,"
     "\"message\":\"wend answers nothing but ping\"}}\n"},
    {"tools that change while it runs: told once, nothing else",
     LEGACY "< {\"method\":\"notifications/tools/list_changed\"}\n"
            "< {\"method\":\"notifications/tools/list_changed\"}\n"
            "< {\"method\":\"notifications/message\",\"params\":{}}\n",
     LEGACY_SAYS "warn the server says that its tools have changed; the ones "
                 "it began with stay\n"},
    {"tools that change while they are listed: once more",
     "start\n" RESULT(
         1, DISCOVERED) "< "
                        "{\"method\":\"notifications/tools/"
                        "list_changed\"}\n" RESULT(2, TOOLS(TOOL("a")))
                            RESULT(3, TOOLS(TOOL("a") "," TOOL("b"))),
     PROBE REQUEST(2, "tools/list", META "}")
         REQUEST(3, "tools/list", META "}") "ready a b\n"},
    {"what is no message",
     LEGACY "< 7\n< {\n< [1,2]\n< {\"id\":null,\"method\":\"ping\"}\n"
            "< {\"error\":{\"code\":-32700,\"message\":\"what?\"}}\n",
     LEGACY_SAYS
     "warn the server sent JSON that is not a message\n"
     "warn the server sent an invalid message: expected '\"' and a key, found "
     "end of input\n"
     "warn the server sent JSON that is not a message\n"
     "warn the server sent JSON that is not a message\n"
     "warn the server could not read a message: what?\n"},
    {"arguments with line ends stay on their line",
     LEGACY "call x a {\"n\":\r1}\n",
     LEGACY_SAYS CALL(4, "a", "{\"n\": 1}") "done x failed \"closed\"\n"},
    {"lost in the middle: what was sent may have happened, the rest waits",
     LEGACY "call x a\nlost it crashed\ncall y b\nstart\n" RESULT(
         5, VERSION("2025-06-18")) RESULT(6, TOOLS(TOOL("b") "," TOOL("a")))
         RESULT(7, TEXT("2")),
     LEGACY_SAYS CALL(
         4, "a",
         "{}") "done x failed \"the server was lost in the middle of the call "
               "(it "
               "crashed); it may have had an effect\"\n" INITIALIZE(5)
                   INITIALIZED REQUEST(6, "tools/list", "") "ready a b\n" CALL(
                       7, "b", "{}") "done y ok \"2\"\n"},
    {"comes back with other tools",
     MODERN "lost it crashed\ncall y b\nstart\n" RESULT(3, TOOLS(TOOL("a"))),
     MODERN_SAYS REQUEST(
         3, "tools/list",
         META "}") "done y failed \"the server's tools have changed\"\n"
                   "fail the server's tools have changed\n"},
    {"the end of it: every call is answered",
     LEGACY "call x a\nlost gone\ncall y b\nclose over\ncall z a\n",
     LEGACY_SAYS CALL(
         4, "a",
         "{}") "done x failed \"the server was lost in the middle of the call "
               "(gone); it may have had an effect\"\ndone y failed \"over\"\n"
               "done z failed \"the server is down\"\n"},
    {"wants more than wend has",
     MODERN "call x a\n" RESULT(
         3, "{\"resultType\":\"input_required\",\"inputRequests\":{"
            "\"k\":{\"method\":\"elicitation/create\",\"params\":{"
            "\"message\":\"your name?\"}},\"l\":{\"method\":"
            "\"roots/list\"}}}"),
     MODERN_SAYS CALL_MODERN(
         3, "a",
         "{}") "done x failed \"the tool needs more input, which wend "
               "cannot give: elicitation/create (your name?), roots/list\"\n"},
};

#define HEAD_MODERN "  MCP-Protocol-Version: 2026-07-28\n"
#define METHOD(m) "  Mcp-Method: " m "\n"
#define HTTP_PROBE PROBE HEAD_MODERN METHOD("server/discover")
#define HTTP_MODERN                               \
    HTTP_PROBE REQUEST(2, "tools/list", META "}") \
        HEAD_MODERN METHOD("tools/list") "ready a b\n"
#define HEAD_LEGACY "  MCP-Protocol-Version: 2025-06-18\n"
#define HTTP_LEGACY                                                      \
    HTTP_PROBE INITIALIZE(2)                                             \
        INITIALIZED HEAD_LEGACY REQUEST(3, "tools/list", "") HEAD_LEGACY \
        "ready a b\n"

static const struct row http_rows[] = {
    {"the modern kind says in headers what it does",
     MODERN "call x a\n" RESULT(3, TEXT("1")),
     HTTP_MODERN CALL_MODERN(3, "a", "{}")
         HEAD_MODERN METHOD("tools/call") "  Mcp-Name: a\ndone x ok \"1\"\n"},
    {"a status that is no modern error: the old kind",
     "start\nrefused 1 400 Bad Request: no session\n" RESULT(
         2, VERSION("2025-06-18")) RESULT(3, TOOLS(TOOL("a") "," TOOL("b"))),
     HTTP_LEGACY},
    {"400 and a modern error: stays modern",
     "start\nrefused 1 400 {\"error\":{\"code\":-32020,\"message\":\"no\"}}\n",
     HTTP_PROBE "fail the server refused server/discover: no (-32020)\n"},
    {"the same error with another status is nothing to go by",
     "start\nrefused 1 404 {\"error\":{\"code\":-32020,\"message\":\"no\"}}\n",
     HTTP_PROBE INITIALIZE(2)},
    {"nobody there", "start\nrefused 1 0 connection refused\n",
     HTTP_PROBE "fail the server cannot be reached: connection refused\n"},
    {"not let in", "start\nrefused 1 401 \nrefused 2 401 no\n",
     HTTP_PROBE INITIALIZE(
         2) "fail it wants a token; give one as a secret of the "
            "server; HTTP status 401: no\n"},
    {"says nothing to the probe", "start\ntimeout\n",
     HTTP_PROBE "drop 1\n" INITIALIZE(2)},
    {"a call that is refused, in words or by an error",
     MODERN "call x a\nrefused 3 500 oops\ncall y b\n"
            "refused 4 400 {\"id\":4,\"error\":{\"code\":-32602,"
            "\"message\":\"no such tool\"}}\n",
     HTTP_MODERN CALL_MODERN(3, "a", "{}") HEAD_MODERN METHOD(
         "tools/call") "  Mcp-Name: a\ndone x failed \"HTTP status 500: "
                       "oops\"\n" CALL_MODERN(4, "b", "{}") HEAD_MODERN METHOD(
                           "tools/call") "  Mcp-Name: b\ndone y failed "
                                         "\"no such tool (-32602)\"\n"},
    {"canceled: the stream is closed, and that says it",
     MODERN "call x a\ncancel x\n",
     HTTP_MODERN CALL_MODERN(3, "a", "{}")
         HEAD_MODERN METHOD("tools/call") "  Mcp-Name: a\ndrop 3\n"},
    {"canceled, of the old kind: it is told, too",
     LEGACY "call x a\ncancel x\n",
     HTTP_LEGACY CALL(4, "a", "{}") HEAD_LEGACY NOTE(
         "notifications/cancelled", "\"requestId\":4,\"reason\":\"canceled\"")
         HEAD_LEGACY "drop 4\n"},
    {"a session that is over begins anew",
     LEGACY "call x a\nrefused 4 404 \ncall y b\nstart\n" RESULT(
         5, VERSION("2025-06-18")) RESULT(6, TOOLS(TOOL("a") "," TOOL("b")))
         RESULT(7, TEXT("2")),
     HTTP_LEGACY CALL(4, "a", "{}") HEAD_LEGACY
     "done x failed \"HTTP status 404\"\nagain\n" INITIALIZE(5)
         INITIALIZED HEAD_LEGACY REQUEST(6, "tools/list", "") HEAD_LEGACY
     "ready a b\n" CALL(7, "b", "{}") HEAD_LEGACY "done y ok \"2\"\n"},
    {"a request of a modern server has no way back",
     MODERN "< {\"id\":1,\"method\":\"ping\"}\n", HTTP_MODERN},
    {"arguments in headers",
     "start\n" RESULT(1, DISCOVERED)
         RESULT(2, "{\"tools\":[{\"name\":\"\\u00e4\",\"inputSchema\":"
                   "{"
                   "\"properties\":{\"r\":{\"type\":\"string\","
                   "\"x-mcp-header\":\"Region\"},\"o\":{"
                   "\"properties\":{\"n\":"
                   "{\"type\":\"integer\",\"x-mcp-header\":\"N\"}}}}}}"
                   "]}") "call x \xc3\xa4 {\"r\":\" "
                         "west\",\"o\":{\"n\":-7}}\n"
                         "call y \xc3\xa4 {\"o\":{\"n\":true}}\n",
     HTTP_PROBE REQUEST(2, "tools/list", META "}")
         HEAD_MODERN METHOD("tools/list") "ready \xc3\xa4\n" CALL_MODERN(
             3, "\xc3\xa4", "{\"r\":\" west\",\"o\":{\"n\":-7}}")
             HEAD_MODERN METHOD(
                 "tools/call") "  Mcp-Name: =?base64?w6Q=?=\n"
                               "  Mcp-Param-Region: =?base64?IHdlc3Q=?=\n"
                               "  Mcp-Param-N: -7\n" CALL_MODERN(
                                   4, "\xc3\xa4", "{\"o\":{\"n\":true}}")
                                   HEAD_MODERN METHOD(
                                       "tools/call") "  Mcp-Name: "
                                                     "=?base64?w6Q=?=\n"
                                                     "  Mcp-Param-N: true\n"
                                                     "done x failed "
                                                     "\"closed\"\ndone y "
                                                     "failed "
                                                     "\"closed\"\n"},
};

static void run_rows(const struct row *rows, size_t count,
                     enum mcp_transport transport)
{
    for (size_t i = 0; i < count; i++) {
        struct driven d;

        driven_open(&d, &mcp_plain, transport);
        driven_script(&d, str_of(rows[i].script));
        driven_close(&d);
        tap_is_str(buf_view(&d.lines), rows[i].want, "%s: %s",
                   transport == MCP_HTTP ? "http" : "stdio", rows[i].why);
        buf_free(&d.lines);
    }
}

/* ---- Memory -------------------------------------------------------------- */

static void test_faults(const struct row *rows, size_t count,
                        enum mcp_transport transport)
{
    int bad = 0;

    for (size_t i = 0; i < count; i++) {
        struct fault f = {0};

        while (fault_next(&f)) {
            struct mem mem = fault_mem(&f);
            struct driven d;

            driven_open(&d, &mem, transport);
            driven_script(&d, str_of(rows[i].script));
            driven_close(&d);
            bad += d.broken || f.live;
            if (d.broken || f.live)
                printf("# %s, allocation %lld: %s\n", rows[i].why,
                       (long long)f.fail_at, buf_view(&d.lines).ptr);
            buf_free(&d.lines);
        }
    }
    tap_is_i64(bad, 0, "memory may run out anywhere");
}

/* ---- Bounds -------------------------------------------------------------- */

static void open_ready(struct driven *d)
{
    driven_open(d, &mcp_plain, MCP_STDIO);
    driven_script(d, str_of(LEGACY));
    buf_clear(&d->lines);
}

static void test_flood(void)
{
    struct driven d;
    int warned = 0;

    open_ready(&d);
    for (int i = 0; i < 10000; i++)
        mcp_text(&d.mcp, STR("noise"));
    for (const char *p = d.lines.ptr; p && *p; p = strchr(p, '\n') + 1)
        warned++;
    tap_is_i64(warned, MCP_WARNINGS_MAX + 1,
               "a server that talks nonsense is not heard for ever");
    buf_clear(&d.lines);
    driven_close(&d);
    buf_free(&d.lines);
}

static void test_pages(void)
{
    struct driven d;
    char line[200];
    int64_t id;

    driven_open(&d, &mcp_plain, MCP_STDIO);
    driven_script(&d, STR("start\n" RESULT(1, DISCOVERED)));
    for (id = 2; d.mcp.state == MCP_LISTING && id < 1000; id++) {
        int n = snprintf(line, sizeof line,
                         "{\"id\":%d,\"result\":{\"tools\":[{\"name\":\"t%d\"}"
                         "],\"nextCursor\":\"same\"}}",
                         (int)id, (int)id);

        mcp_text(&d.mcp, (wend_str){line, (size_t)n});
    }
    tap_ok(d.mcp.state == MCP_READY && id == 2 + MCP_PAGES_MAX &&
               d.mcp.tools_count == MCP_PAGES_MAX,
           "pages without an end");
    driven_close(&d);
    buf_free(&d.lines);
}

/* It must not keep us from getting ready. */
static void test_changes(void)
{
    struct driven d;
    char line[200];
    int64_t id;

    driven_open(&d, &mcp_plain, MCP_STDIO);
    driven_script(&d, STR("start\n" RESULT(1, DISCOVERED)));
    for (id = 2; d.mcp.state == MCP_LISTING && id < 1000; id++) {
        int n = snprintf(line, sizeof line,
                         "[{\"method\":\"notifications/tools/list_changed\"},"
                         "{\"id\":%d,\"result\":{\"tools\":[]}}]",
                         (int)id);

        mcp_text(&d.mcp, (wend_str){line, (size_t)n});
    }
    tap_ok(d.mcp.state == MCP_READY && id < 10, "a list that never rests");
    driven_close(&d);
    buf_free(&d.lines);
}

static void test_tools_max(size_t count)
{
    struct buf page = {.mem = &mcp_plain};
    struct driven d;

    buf_cstr(&page, "{\"id\":2,\"result\":{\"tools\":[");
    for (size_t i = 0; i < count; i++)
        buf_fmt(&page, "%s{\"name\":\"t%zu\"}", i ? "," : "", i);
    buf_cstr(&page, "]}}");
    driven_open(&d, &mcp_plain, MCP_STDIO);
    driven_script(&d, STR("start\n" RESULT(1, DISCOVERED)));
    mcp_text(&d.mcp, buf_view(&page));
    tap_is_i64((int64_t)d.mcp.tools_count,
               count < MCP_TOOLS_MAX ? (int64_t)count : MCP_TOOLS_MAX,
               "%zu tools", count);
    driven_close(&d);
    buf_free(&d.lines);
    buf_free(&page);
}

static int calls_failed;

static void count_done(void *ctx, void *call, const struct mcp_given *given)
{
    (void)ctx;
    (void)call;
    calls_failed += !given->ok;
}

static void test_calls_max(void)
{
    struct mcp_sink sink = driven_sink;
    struct driven d;
    char name = 'x';

    open_ready(&d);
    sink.done = count_done;
    d.mcp.sink = &sink;
    for (int i = 0; i < MCP_CALLS_MAX; i++)
        mcp_call(&d.mcp, &name, d.mcp.tools, STR("{}"), STR_NONE, STR_NONE);
    tap_is_i64(calls_failed, 0, "as many calls as may be");
    mcp_call(&d.mcp, &name, d.mcp.tools, STR("{}"), STR_NONE, STR_NONE);
    tap_is_i64(calls_failed, 1, "one more is refused");
    driven_close(&d);
    tap_is_i64(calls_failed, MCP_CALLS_MAX + 1, "all are answered");
    buf_free(&d.lines);
}

static void test_trace(void)
{
    const char *trace =
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    struct buf meta = {.mem = &mcp_plain};
    struct driven d;
    char name = 'x';

    buf_fmt(&meta, "\"traceparent\":\"%s\"", trace);
    open_ready(&d);
    mcp_call(&d.mcp, &name, d.mcp.tools, STR("{}"), STR_NONE, STR_NONE);
    tap_ok(!str_has(buf_view(&d.lines), STR("traceparent")),
           "a call without a trace says nothing about one");
    mcp_call(&d.mcp, &name, d.mcp.tools, STR("{}"), STR_NONE, str_of(trace));
    tap_ok(str_has(buf_view(&d.lines), buf_view(&meta)),
           "a call of a traced run has its span in _meta");
    driven_close(&d);
    buf_free(&d.lines);
    buf_free(&meta);
}

/* ---- Bytes in any pieces ------------------------------------------------- */

static bool on_line(void *ctx, wend_str name, wend_str data)
{
    struct driven *d = ctx;

    (void)name;
    mcp_text(&d->mcp, data);
    return true;
}

/* The messages of a script as bytes, cut at `cut`. */
static void feed_cut(struct buf *lines, wend_str bytes, size_t cut)
{
    struct driven d;
    struct sse framing;

    driven_open(&d, &mcp_plain, MCP_STDIO);
    sse_init(&framing, &mcp_plain, SSE_LINES, LINE_BYTES_MAX);
    mcp_start(&d.mcp);
    sse_feed(&framing, bytes.ptr, cut, on_line, &d);
    sse_feed(&framing, bytes.ptr + cut, bytes.len - cut, on_line, &d);
    driven_close(&d);
    sse_free(&framing);
    *lines = d.lines;
}

static void test_chunks(void)
{
    static const char bytes[] =
        "\n{\"id\":1,\"error\":{\"code\":1,\"message\":\"\xff\"}}\r\n"
        "{\"id\":2,\"result\":" VERSION(
            "2025-06-18") "}\n"
                          "noise\n{\"id\":3,\"result\":" TOOLS(
                              TOOL("\xc3\xa4")) "}\n"
                                                "{\"id\":\"\",\"method\":"
                                                "\"ping\"}\n{\"id\":9";
    wend_str all = {bytes, sizeof bytes - 1};
    struct buf whole, cut;
    int bad = 0;

    feed_cut(&whole, all, 0);
    for (size_t i = 1; i <= all.len; i++) {
        feed_cut(&cut, all, i);
        bad += !str_eq(buf_view(&whole), buf_view(&cut));
        buf_free(&cut);
    }
    tap_ok(strstr(whole.ptr, "ready \xc3\xa4\n") != NULL, "it is understood");
    tap_is_i64(bad, 0, "any chunking gives the same");
    buf_free(&whole);
}

int main(void)
{
    run_rows(stdio_rows, tap_count(stdio_rows), MCP_STDIO);
    run_rows(http_rows, tap_count(http_rows), MCP_HTTP);
    test_faults(stdio_rows, tap_count(stdio_rows), MCP_STDIO);
    test_faults(http_rows, tap_count(http_rows), MCP_HTTP);
    test_flood();
    test_pages();
    test_changes();
    test_tools_max(MCP_TOOLS_MAX - 1);
    test_tools_max(MCP_TOOLS_MAX);
    test_tools_max(MCP_TOOLS_MAX + 1);
    test_calls_max();
    test_trace();
    test_chunks();
    return tap_done();
}

/*
 * test_mcp_broken.c - MCP servers whose answers are none: the call fails at
 * once; and refusals of a revision that name another one.
 */
#include "mcp_help.h"
#include "mcp_words.h"

#define BROKEN                                                               \
    "done x failed \"the server's answer is not a message of the protocol; " \
    "the "                                                                   \
    "tool may have had an effect\"\n"
#define NO_RESULT(why) \
    "done x failed \"the server's answer is not a tool result: " why "\"\n"
#define SKIPPED "warn the server sent JSON that is not a message\n"
#define NO_REVISION                                                       \
    "fail the server speaks no revision of the protocol that wend knows " \
    "(2024-11-05 to 2026-07-28)\n"
#define NAMES(versions) ",\"data\":{\"supported\":[" versions "]}"
#define ASKED LEGACY "call x a\n"
#define ASKED_SAYS LEGACY_SAYS CALL(4, "a", "{}")
#define LIST_MODERN(id) REQUEST(id, "tools/list", META "}")

static const struct {
    const char *why, *script, *want;
} rows[] = {
    {"an id as a string", ASKED RESULT("4", TEXT("one")),
     ASKED_SAYS "done x ok \"one\"\n"},
    {"ids as strings from the start",
     "start\n" ERROR("1", -32601, "") RESULT("2", VERSION("2025-06-18"))
         RESULT("3", TOOLS(TOOL("a") "," TOOL("b"))),
     LEGACY_SAYS},
    {"malformed JSON", ASKED "< {\"id\":4,\"result\":{\n",
     ASKED_SAYS "warn the server sent an invalid message: expected '\"' and a "
                "key, found end of input\n" BROKEN},
    {"an empty object", ASKED "< {}\n", ASKED_SAYS BROKEN SKIPPED},
    {"an answer with nothing in it", ASKED "< {\"id\":4}\n",
     ASKED_SAYS BROKEN SKIPPED},
    {"an error that is none", ASKED "< {\"id\":4,\"error\":\"no\"}\n",
     ASKED_SAYS BROKEN SKIPPED},
    {"a line for people is not taken for an answer",
     ASKED "< listening\n" RESULT(4, TEXT("one")),
     ASKED_SAYS "warn the server sent an invalid message: expected a value, "
                "found 'l'\ndone x ok \"one\"\n"},
    {"nor is a number", ASKED "< 7\n" RESULT(4, TEXT("one")),
     ASKED_SAYS SKIPPED "done x ok \"one\"\n"},
    {"of two calls nobody knows which one it was",
     ASKED "call y b\n< {}\n" RESULT(4, TEXT("x")) RESULT(5, TEXT("y")),
     ASKED_SAYS CALL(5, "b", "{}") SKIPPED
     "done x ok \"x\"\ndone y ok \"y\"\n"},
    {"an empty result", ASKED RESULT(4, "{}"),
     ASKED_SAYS NO_RESULT("it has no content")},
    {"a result of null", ASKED RESULT(4, "null"),
     ASKED_SAYS NO_RESULT("it is not an object")},
    {"a result that is a text", ASKED RESULT(4, "\"one\""),
     ASKED_SAYS NO_RESULT("it is not an object")},
    {"content that is a text", ASKED RESULT(4, "{\"content\":\"one\"}"),
     ASKED_SAYS NO_RESULT("its content is not a list")},
    {"structure besides content",
     ASKED RESULT(4, "{\"content\":[{\"type\":\"text\",\"text\":\"1\"}],"
                     "\"structuredContent\":{\"n\":1}}"),
     ASKED_SAYS "done x ok \"1\" {\"n\":1}\n"},
    {"a broken answer to initialize", "start\n" ERROR(1, -32601, "") "< {}\n",
     PROBE INITIALIZE(2) "fail the server's answer is not a message of the "
                         "protocol\n" SKIPPED},
    {"a broken answer to the probe", "start\n< {}\n",
     PROBE INITIALIZE(2) SKIPPED},
    {"the probe refused, an old revision named",
     "start\n" ERROR(1, -32022, NAMES("\"2025-03-26\"")),
     PROBE INITIALIZE_AS(2, "2025-03-26")},
    {"initialize refused, an old revision named",
     "start\n" ERROR(1, -32601, "") ERROR(2, -32022, NAMES("\"2024-11-05\"")),
     PROBE INITIALIZE(2) INITIALIZE_AS(3, "2024-11-05")},
    {"initialize refused, the modern one named",
     "start\n" ERROR(1, -32601, "") ERROR(2, -32022, NAMES("\"2026-07-28\""))
         RESULT(3, TOOLS(TOOL("a"))),
     PROBE INITIALIZE(2) LIST_MODERN(3) "ready a\n"},
    {"the list refused, an old one named",
     "start\n" RESULT(1, DISCOVERED) ERROR(2, -32022, NAMES("\"2025-06-18\"")),
     PROBE LIST_MODERN(2) INITIALIZE_AS(3, "2025-06-18")},
    {"refused twice: one more try is all",
     "start\n" ERROR(1, -32022, NAMES("\"2025-03-26\""))
         ERROR(2, -32022, NAMES("\"2025-06-18\"")),
     PROBE INITIALIZE_AS(2, "2025-03-26") NO_REVISION},
    {"no revision that we know",
     "start\n" ERROR(1, -32601, "") ERROR(2, -32022, NAMES("\"2030-01-01\"")),
     PROBE INITIALIZE(2) NO_REVISION},
};

int main(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct driven d;

        driven_open(&d, &mcp_plain, MCP_STDIO);
        driven_script(&d, str_of(rows[i].script));
        tap_is_str(buf_view(&d.lines), rows[i].want, "%s", rows[i].why);
        driven_close(&d);
        buf_free(&d.lines);
    }
    return tap_done();
}

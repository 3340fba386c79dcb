/*
 * test_manifest_client.c - files of client-side tools: no program runs for
 * them.
 */
#include "tap.h"
#include "wire/file/manifest.h"

#define HEAD "wend: tool/1\nname: a\ndescription: b\n"
#define NO_PROGRAM \
    ": the caller of a run executes this tool (client), no program does"

static const struct {
    const char *why, *text, *wrong; /* NULL: it is fine */
    uint32_t line;
} rows[] = {
    {"no command", HEAD "client: true\n", NULL, 0},
    {"what holds for any tool",
     HEAD "client: true\nclass: read\ncategory: network\nsubject: x\n"
          "labels: [sensitive]\nschema: {properties: {x: {type: string}}}\n",
     NULL, 0},
    {"a command", HEAD "client: true\ncommand: [c]", "command" NO_PROGRAM, 5},
    {"a secret before it", HEAD "secrets: [C]\nclient: true",
     "secrets" NO_PROGRAM, 4},
    {"a cache", HEAD "client: true\nclass: read\ncache: 1s", "cache" NO_PROGRAM,
     6},
    {"neither", HEAD "client: false\n", "the file needs 'command'", 1},
    {"no such thing", HEAD "client: maybe",
     "client must be true or false, not 'maybe'", 4},
};

int main(void)
{
    static const struct mem mem;

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &mem};
        struct tool_manifest *t = NULL;
        wend_error err = {0};
        wend_status s = tool_manifest_parse(str_of(rows[i].text), &a, &t, &err);

        if (!rows[i].wrong) {
            tap_ok(s == WEND_OK && t->client && !t->command.count, "%s %s",
                   rows[i].why, err.message);
        } else {
            tap_is_str(str_of(err.message), rows[i].wrong, "%s", rows[i].why);
            tap_is_i64(err.line, rows[i].line, "  at its line");
        }
        arena_free(&a);
    }
    return tap_done();
}

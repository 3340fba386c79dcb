/*
 * test_mcp_parts.c - results of MCP tools as text, their names, their lists
 * and the arguments that go into headers.
 */
#include <stdio.h>

#include "mcp_help.h"
#include "wire/mcp/mcp_parts.h"

/* ---- Results ------------------------------------------------------------- */

#define PNG                                                                    \
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAGCAIAAABxZ0isAAAAEklEQVR4nGP4z8CAFWEXpZME" \
    "ADMoL9HswQX5AAAAAElFTkSuQmCC"
#define NO_RESULT "the server's answer is not a tool result: "

/* want: the text, then what is left besides. */
static const struct {
    const char *why, *result;
    bool ok;
    const char *want;
} results[] = {
    {"text", "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}", true, "a"},
    {"nothing", "{\"content\":[]}", true, ""},
    {"content that is none", "{\"content\":7}", false,
     NO_RESULT "its content is not a list"},
    {"not even a result", "7", false, NO_RESULT "it is not an object"},
    {"an empty result", "{}", false, NO_RESULT "it has no content"},
    {"an entry without a type", "{\"content\":[{}]}", false,
     NO_RESULT "its content has an entry without a type"},
    {"a text that is none", "{\"content\":[{\"type\":\"text\",\"text\":1}]}",
     false, NO_RESULT "its content has a text that is not a string"},
    {"an error that is no boolean", "{\"content\":[],\"isError\":\"no\"}",
     false, NO_RESULT "its isError is not a boolean"},
    {"several, one a line",
     "{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\","
     "\"text\":\"b\"}]}",
     true, "a\nb"},
    {"a picture is told",
     "{\"content\":[{\"type\":\"image\",\"data\":\"AAAA\",\"mimeType\":"
     "\"image/png\"}]}",
     true, "[image image/png, 3 bytes, not shown]"},
    {"a picture is a part",
     "{\"content\":[{\"type\":\"text\",\"text\":\"see\"},{\"type\":\"image\","
     "\"data\":\"" PNG "\",\"mimeType\":\"image/jpeg\"}]}",
     true, "see\n[image png 8x6] + 75 -"},
    {"and so is one in a file",
     "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"x:y\","
     "\"blob\":\"" PNG "\"}}]}",
     true, "[resource x:y, [image png 8x6]] + 75 x:y"},
    {"a picture that is text",
     "{\"content\":[{\"type\":\"image\",\"data\":\"YWJj\",\"mimeType\":"
     "\"image/png\"}]}",
     true, "[image image/png, 3 bytes, not shown]"},
    {"sound, with the end of base64",
     "{\"content\":[{\"type\":\"audio\",\"data\":\"AAAAAA==\"}]}", true,
     "[audio of unknown type, 4 bytes, not shown]"},
    {"a link",
     "{\"content\":[{\"type\":\"resource_link\",\"uri\":\"file:///a\","
     "\"name\":\"A\",\"mimeType\":\"text/plain\",\"size\":12,"
     "\"description\":\"the first\"}]}",
     true, "[resource A at file:///a, text/plain, 12 bytes] the first"},
    {"a link to nothing", "{\"content\":[{\"type\":\"resource_link\"}]}", true,
     "[resource without a name at an unknown place]"},
    {"a file of text",
     "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"x:y\","
     "\"mimeType\":\"text/plain\",\"text\":\"body\"}}]}",
     true, "[resource x:y, text/plain]\nbody"},
    {"a file of bytes",
     "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"x:y\","
     "\"blob\":\"AAA=\"}}]}",
     true, "[resource x:y, 2 bytes, not shown]"},
    {"something new", "{\"content\":[{\"type\":\"smell\"}]}", true,
     "[content of kind 'smell', not shown]"},
    {"no entry at all", "{\"content\":[3]}", false,
     NO_RESULT "its content has an entry without a type"},
    {"structure alone", "{\"content\":[],\"structuredContent\":{\"n\":[1]}}",
     true, "{\"n\":[1]}"},
    {"structure that was said as text",
     "{\"content\":[{\"type\":\"text\",\"text\":\"{ \\\"b\\\":2, \\\"a\\\":1 "
     "}\"}],\"structuredContent\":{\"a\":1,\"b\":2}}",
     true, "{ \"b\":2, \"a\":1 } | {\"a\":1,\"b\":2}"},
    {"structure besides text",
     "{\"content\":[{\"type\":\"text\",\"text\":\"two\"}],"
     "\"structuredContent\":2}",
     true, "two | 2"},
    {"structure with a picture, besides one",
     "{\"content\":[{\"type\":\"image\",\"data\":\"AAAA\",\"mimeType\":"
     "\"image/png\"}],\"structuredContent\":{\"data\":\"AAAA\"}}",
     true, "[image image/png, 3 bytes, not shown] | {\"data\":\"AAAA\"}"},
    {"no structure besides text",
     "{\"content\":[{\"type\":\"text\",\"text\":\"two\"}],"
     "\"structuredContent\":null}",
     true, "two"},
    {"a tool that failed",
     "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"no\"}]}",
     false, "no"},
    {"and did not say why", "{\"isError\":true,\"content\":[]}", false,
     "the tool failed and did not say why"},
    {"a zero byte does not end a message",
     "{\"content\":[{\"type\":\"text\",\"text\":\"a\\u0000b\"}]}", true, "a b"},
    {"names on one line",
     "{\"content\":[{\"type\":\"image\",\"mimeType\":\"a\\nb\"}]}", true,
     "[image a_b, 0 bytes, not shown]"},
    {"complete", "{\"resultType\":\"complete\",\"content\":[]}", true, ""},
    {"a kind to come", "{\"resultType\":\"task\"}", false,
     "the server gave a result of kind 'task', which wend does not know"},
};

static void test_results(void)
{
    for (size_t i = 0; i < tap_count(results); i++) {
        struct arena a = {.mem = &mcp_plain};
        struct buf b = {.mem = &mcp_plain};
        const struct json *j = json_parse(str_of(results[i].result), &a, NULL);
        struct mcp_result r = {.out = &b, .arena = &a};
        bool ok = mcp_result_read(j, &r);

        for (size_t m = 0; m < r.media_count; m++)
            buf_fmt(&b, " + %zu %.*s", r.media[m].bytes.len,
                    STR_ARGS(str_or(r.media[m].name, "-")));
        if (r.structured) {
            buf_cstr(&b, " | ");
            json_put(&b, r.structured);
        }
        tap_is_str(buf_view(&b), results[i].want, "%s", results[i].why);
        tap_ok(ok == results[i].ok, "whether it went well");
        buf_free(&b);
        arena_free(&a);
    }
}

/* ---- Names --------------------------------------------------------------- */

static void test_names(void)
{
    static const struct {
        const char *tool, *want;
    } rows[] = {
        {"read", "srv.read"},
        {"a-b_C9", "srv.a-b_C9"},
        {"a.b/c \xc3\xa4", "srv.a_b_c___"},
    };
    char name[80];
    struct buf b = {.mem = &mcp_plain};
    struct buf other = {.mem = &mcp_plain};

    for (size_t i = 0; i < tap_count(rows); i++) {
        buf_clear(&b);
        mcp_tool_name(&b, STR("srv"), str_of(rows[i].tool));
        tap_is_str(buf_view(&b), rows[i].want, "%s", rows[i].tool);
    }
    memset(name, 'a', sizeof name);
    for (size_t len = 58; len <= 61; len++) {
        buf_clear(&b);
        mcp_tool_name(&b, STR("srv"), (wend_str){name, len});
        tap_ok(b.len <= TOOL_NAME_MAX - 1 &&
                   (len <= 59) == !strchr(b.ptr + 4, '_'),
               "a name of %zu bytes", len);
    }
    mcp_tool_name(&other, STR("srv"), (wend_str){name, 70});
    tap_ok(!str_eq(buf_view(&b), buf_view(&other)),
           "names that were cut are told apart");
    buf_free(&b);
    buf_free(&other);
}

/* ---- Lists --------------------------------------------------------------- */

static void list_open(struct driven *d, const char *tools)
{
    driven_open(d, &mcp_plain, MCP_HTTP);
    driven_script(d, STR("start\n< {\"id\":1,\"result\":{\"supportedVersions\":"
                         "[\"2026-07-28\"]}}\n"));
    buf_clear(&d->lines);
    buf_fmt(&d->lines, "{\"id\":2,\"result\":{\"tools\":[%s]}}", tools);
    mcp_text(&d->mcp, buf_view(&d->lines));
}

static void list_close(struct driven *d)
{
    driven_close(d);
    buf_free(&d->lines);
}

/* The text may come from a program. */
static void test_close(void)
{
    struct driven d;

    list_open(&d, "{\"name\":\"a\"}");
    driven_script(&d, STR("call x a\nclose it said \xff\n"));
    tap_ok(str_has(buf_view(&d.lines), STR("done x failed \"it said ?\"")),
           "the reason is text");
    list_close(&d);
}

static void test_hash(void)
{
    static const struct {
        const char *why, *tools;
        bool same;
    } rows[] = {
        {"another order", "{\"name\":\"b\"},{\"name\":\"a\"}", true},
        {"one less", "{\"name\":\"a\"}", false},
        {"another description",
         "{\"name\":\"a\",\"description\":\"x\"},{\"name\":\"b\"}", false},
        {"what is hidden in a schema counts",
         "{\"name\":\"a\",\"inputSchema\":{\"title\":\"\\u200b\"}},"
         "{\"name\":\"b\"}",
         false},
        {"what is hidden counts",
         "{\"name\":\"a\",\"description\":\"\\u200b\"},{\"name\":\"b\"}",
         false},
        {"another schema",
         "{\"name\":\"a\",\"inputSchema\":{}},{\"name\":\"b\"}", false},
        {"another annotation",
         "{\"name\":\"a\",\"annotations\":{\"readOnlyHint\":true}},"
         "{\"name\":\"b\"}",
         false},
        {"what nobody sees does not count",
         "{\"name\":\"a\",\"icons\":[]},{\"name\":\"b\"}", true},
    };
    struct driven first, other;

    list_open(&first, "{\"name\":\"a\"},{\"name\":\"b\"}");
    for (size_t i = 0; i < tap_count(rows); i++) {
        list_open(&other, rows[i].tools);
        tap_ok(!strcmp(first.mcp.hash, other.mcp.hash) == rows[i].same, "%s",
               rows[i].why);
        list_close(&other);
    }
    list_close(&first);
}

static void test_tool(void)
{
    struct driven d;
    const struct mcp_tool *t;

    list_open(&d, "{\"name\":\"a\",\"description\":\"x\\u001b[2J\\u202e\\n"
                  "\\udb40\\udc41y\",\"inputSchema\":{ \"type\":\"object\"},"
                  "\"annotations\":{\"readOnlyHint\":true,\"idempotentHint\":"
                  "true,\"destructiveHint\":1}}");
    t = d.mcp.tools;
    if (tap_ok(t, "a tool")) {
        tap_is_str(t->description, "x[2J\ny", "nothing hides in it");
        tap_is_str(t->schema, "{\"type\":\"object\"}", "its schema");
        tap_ok(t->read_only && t->idempotent && !t->destructive,
               "what it says of itself");
    }
    list_close(&d);
}

/* A model reads a schema, too. */
static void test_schema(void)
{
    static const struct {
        const char *why, *given, *wanted;
    } schemas[] = {
        {"a control in a description",
         "{\"description\":\"a\\u001b[2Jb\\u0000\\u009bc\"}",
         "{\"description\":\"a[2Jbc\"}"},
        {"those with a letter of their own", "{\"title\":\"a\\bb\\fc\\rd\"}",
         "{\"title\":\"abcd\"}"},
        {"lines and tabs stay", "{\"title\":\"a\\nb\\tc\"}",
         "{\"title\":\"a\\nb\\tc\"}"},
        {"what hides", "{\"enum\":[\"x\\u202e\\u00ad\\u200b\\ufe0fy\"]}",
         "{\"enum\":[\"xy\"]}"},
        {"in a name", "{\"properties\":{\"p\\u2066q\":{}}}",
         "{\"properties\":{\"pq\":{}}}"},
        {"a backslash is no control", "{\"pattern\":\"\\\\u001b\\\\r\\\"\"}",
         "{\"pattern\":\"\\\\u001b\\\\r\\\"\"}"},
    };

    for (size_t i = 0; i < tap_count(schemas); i++) {
        char text[300];
        struct driven d;

        snprintf(text, sizeof text, "{\"name\":\"a\",\"inputSchema\":%s}",
                 schemas[i].given);
        list_open(&d, text);
        if (tap_ok(d.mcp.tools, "a tool"))
            tap_is_str(d.mcp.tools->schema, schemas[i].wanted, "schema: %s",
                       schemas[i].why);
        list_close(&d);
    }
}

static void test_description(size_t len)
{
    struct buf b = {.mem = &mcp_plain};
    struct driven d;

    buf_cstr(&b, "{\"name\":\"a\",\"description\":\"");
    for (size_t i = 0; i < len; i++)
        buf_char(&b, 'x');
    buf_cstr(&b, "\"}");
    list_open(&d, b.ptr);
    tap_is_i64((int64_t)d.mcp.tools->description.len,
               len <= MCP_DESCRIPTION_MAX ? (int64_t)len
                                          : MCP_DESCRIPTION_MAX + 6,
               "a description of %zu bytes", len);
    list_close(&d);
    buf_free(&b);
}

/* ---- Arguments in headers ------------------------------------------------ */

static void test_marks(void)
{
    static const struct {
        const char *why, *schema, *wrong;
    } rows[] = {
        {"none", "{\"properties\":{\"a\":{}}}", NULL},
        {"one",
         "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":"
         "\"A\"}}}",
         NULL},
        {"no name",
         "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"\"}}}",
         "x-mcp-header is not a header name"},
        {"a name that is two lines",
         "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":"
         "\"A\\nB\"}}}",
         "x-mcp-header is not a header name"},
        {"not even a text",
         "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":1}}}",
         "x-mcp-header is not a header name"},
        {"a number",
         "{\"properties\":{\"a\":{\"type\":\"number\",\"x-mcp-header\":"
         "\"A\"}}}",
         "x-mcp-header is for strings, integers and booleans"},
        {"no type", "{\"properties\":{\"a\":{\"x-mcp-header\":\"A\"}}}",
         "x-mcp-header is for strings, integers and booleans"},
        {"the same name twice, whatever its case",
         "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"},"
         "\"b\":{\"type\":\"string\",\"x-mcp-header\":\"a\"}}}",
         "two x-mcp-header have one name"},
        {"in a list",
         "{\"properties\":{\"a\":{\"items\":{\"type\":\"string\","
         "\"x-mcp-header\":\"A\"}}}}",
         "x-mcp-header stands where it means nothing"},
        {"in a choice",
         "{\"anyOf\":[{\"properties\":{\"a\":{\"type\":\"string\","
         "\"x-mcp-header\":\"A\"}}}]}",
         "x-mcp-header stands where it means nothing"},
        {"at the root", "{\"type\":\"string\",\"x-mcp-header\":\"A\"}",
         "x-mcp-header stands where it means nothing"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &mcp_plain};
        const struct json *j = json_parse(str_of(rows[i].schema), &a, NULL);
        const struct mcp_param *params;
        const char *wrong = mcp_params_find(j, &a, &params);

        tap_is_str(wrong, rows[i].wrong, "%s", rows[i].why);
        arena_free(&a);
    }
}

static void test_values(void)
{
    static const struct {
        const char *value, *want;
    } rows[] = {
        {"us-west1", "us-west1"},
        {"", ""},
        {"a b c", "a b c"},
        {"a\tb", "=?base64?YQli?="},
        {"Hello, \xe4\xb8\x96\xe7\x95\x8c", "=?base64?SGVsbG8sIOS4lueVjA==?="},
        {" padded ", "=?base64?IHBhZGRlZCA=?="},
        {"line1\nline2", "=?base64?bGluZTEKbGluZTI=?="},
        {"=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="},
        {"=?base64?", "=?base64?"},
        {"\x7f", "=?base64?fw==?="},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf b = {.mem = &mcp_plain};
        wend_str value;

        mcp_put_header(&b, "N", str_of(rows[i].value));
        value = (wend_str){b.ptr + 3, b.len - 4};
        tap_is_str(value, rows[i].want, "the value %zu", i);
        buf_free(&b);
    }
}

int main(void)
{
    test_results();
    test_names();
    test_close();
    test_hash();
    test_tool();
    test_schema();
    test_description(MCP_DESCRIPTION_MAX - 1);
    test_description(MCP_DESCRIPTION_MAX);
    test_description(MCP_DESCRIPTION_MAX + 1);
    test_marks();
    test_values();
    return tap_done();
}

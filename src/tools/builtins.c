/*
 * builtins.c - the table of built-in tools.
 *
 * Descriptions and schemas are what a model reads: they say what a tool
 * takes and gives back, nothing else. A category that is not named is
 * WEND_CATEGORY_GENERAL.
 */
#include "tools/tools.h"

/* clang-format off */
#define TEXT(literal) {literal, sizeof(literal) - 1}

/* Properties of a schema. What follows the type begins with a comma. */
#define PROPERTY(name, type, more) \
    "\"" name "\":{\"type\":\"" type "\"" more "}"
#define STRING(name, more) PROPERTY(name, "string", more)
#define INTEGER(name, more) PROPERTY(name, "integer", more)
#define BOOLEAN(name, more) PROPERTY(name, "boolean", more)
#define SAYS(text) ",\"description\":\"" text "\""
#define NOT_EMPTY ",\"minLength\":1"
#define POSITIVE ",\"minimum\":1"
#define PATH STRING("path", SAYS("relative to the working directory"))

#define REQUIRED(names) "\"required\":[" names "],"
#define OBJECT(properties, required)                       \
    TEXT("{\"type\":\"object\",\"properties\":{" properties \
         "}," required "\"additionalProperties\":false}")

#define TOOL(tool, argument, function) \
    .info.name = TEXT(tool), .subject = argument, .fn = function
#define READS .info.call_class = WEND_CLASS_READ
#define READS_CONCURRENTLY READS, .info.concurrent = true
#define RUNS_PROGRAM                                \
    .info.call_class = WEND_CLASS_UNSAFE,           \
    .info.category = WEND_CATEGORY_DESTRUCTIVE, .on_loop = true, .program = true

/* Manifests may name it already: a failed call says that it is missing. */
static wend_status search_documents(void *env, wend_call *call)
{
    (void)env;
    return wend_call_fail(call, "no documents are indexed: this version of "
                                "wend has no retrieval yet");
}

static const struct builtin builtins[] = {
    {
        TOOL("calculator", "expression", tool_calculator),
        .info.description = TEXT(
            "Evaluates an arithmetic expression and returns the number. "
            "Operators: + - * / % (remainder) ** or ^ (power), parentheses. "
            "Constants: pi, e. Functions: sqrt, abs, floor, ceil, round, "
            "min, max, log (base 10), ln, exp, sin, cos, tan (radians)."),
        .info.schema = OBJECT(
            STRING("expression", SAYS("for example (1.5 + 2) * sqrt(16)")),
            REQUIRED("\"expression\"")),
        READS_CONCURRENTLY,
    },
    {
        TOOL("read_file", "path", tool_read_file),
        .info.description = TEXT(
            "Reads a file beneath the working directory: text, an image (png, "
            "jpeg, gif, webp), a PDF or audio. Long texts are cut, with a last "
            "line that says so; read on with offset."),
        .info.schema = OBJECT(
            PATH ","
            INTEGER("offset", POSITIVE SAYS("first line to read, from 1")) ","
            INTEGER("limit", POSITIVE SAYS("how many lines to read")),
            REQUIRED("\"path\"")),
        READS_CONCURRENTLY,
    },
    {
        TOOL("list_dir", "path", tool_list_dir),
        .info.description = TEXT(
            "Lists a directory beneath the working directory, sorted, one "
            "entry a line: directories end with /, files have their size in "
            "bytes after a tab, symbolic links show their target after ->."),
        .info.schema = OBJECT(
            STRING("path",
                   SAYS("relative to the working directory; default .")),
            REQUIRED("")),
        READS_CONCURRENTLY,
    },
    {
        TOOL("write_file", "path", tool_write_file),
        .info.description = TEXT(
            "Writes a text file beneath the working directory. Replaces the "
            "whole file if it exists; makes missing directories."),
        .info.schema = OBJECT(
            PATH ","
            STRING("content", SAYS("all of the new content")),
            REQUIRED("\"path\",\"content\"")),
        .info.call_class = WEND_CLASS_IDEMPOTENT,
    },
    {
        TOOL("edit_file", "path", tool_edit_file),
        .info.description = TEXT(
            "Replaces a text in a file beneath the working directory. "
            "old_string must stand in the file exactly as given, white "
            "space included, and only once: add lines around it until it is "
            "unique, or set replace_all. Read the file first. If it fails "
            "nothing was changed, and the answer says why and where to "
            "look."),
        .info.schema = OBJECT(
            PATH ","
            STRING("old_string", NOT_EMPTY SAYS("the text to replace")) ","
            STRING("new_string",
                   SAYS("what stands there afterwards; may be empty")) ","
            BOOLEAN("replace_all",
                    SAYS("replace it wherever it stands; default false")),
            REQUIRED("\"path\",\"old_string\",\"new_string\"")),
        /* Twice is not once where the new text contains the old. */
        .info.call_class = WEND_CLASS_UNSAFE,
    },
    {
        TOOL("glob", "pattern", tool_glob),
        .info.description = TEXT(
            "Finds files by name: lists the paths that match a pattern, "
            "sorted, one a line. * and ? match within a name, ** as a "
            "component any number of directories, [a-z] a character, {a,b} "
            "alternatives. A pattern that ends with / finds directories. "
            "Links are not followed; .git, .hg and .svn only if the pattern "
            "names them."),
        .info.schema = OBJECT(
            STRING("pattern", NOT_EMPTY
                   SAYS("for example **/*.c or src/**/{Makefile,*.mk}")) ","
            STRING("path", SAYS("directory to look in, relative to the working "
                                "directory; default .")),
            REQUIRED("\"pattern\"")),
        READS_CONCURRENTLY,
    },
    {
        TOOL("grep", "path", tool_grep),
        .info.description = TEXT(
            "Searches files for a regular expression (PCRE2), line by line. "
            "Answers path:line:text for each line that matches, path-line-"
            "text for lines around it. Binary files, links and the folders "
            ".git, .hg and .svn are passed over; long lines are cut around "
            "the match."),
        .info.schema = OBJECT(
            STRING("pattern", NOT_EMPTY
                   SAYS("for example \\\\bmain\\\\s*\\\\(")) ","
            STRING("path", SAYS("file or directory, relative to the working "
                                "directory; default .")) ","
            STRING("glob", NOT_EMPTY
                   SAYS("only files whose name, or path if there is a / in it, "
                        "matches; for example *.{c,h}")) ","
            BOOLEAN("ignore_case", "") ","
            INTEGER("context", ",\"minimum\":0"
                    SAYS("lines to show before and after each match; "
                         "default 0")) ","
            BOOLEAN("files_only",
                    SAYS("list only the paths of files with a match")) ","
            INTEGER("max_results", POSITIVE
                    SAYS("matching lines, or files; default 200")),
            REQUIRED("\"pattern\"")),
        READS_CONCURRENTLY,
    },
    {
        TOOL("http_request", "url", tool_http_request),
        .info.description = TEXT(
            "Makes a request over HTTP or HTTPS and returns the status, the "
            "most important headers and the body as text, cut after 240 "
            "KiB. Redirects are followed, at most 5. Only hosts with public "
            "addresses can be reached. Cookies are not kept."),
        .info.schema = OBJECT(
            STRING("url", SAYS("whole URL, http:// or https://, without "
                               "user and password")) ","
            STRING("method", ",\"enum\":[\"GET\",\"HEAD\",\"POST\",\"PUT\","
                             "\"PATCH\",\"DELETE\"]" SAYS("default GET")) ","
            PROPERTY("headers", "object",
                     ",\"additionalProperties\":{\"type\":\"string\"}"
                     SAYS("for example Accept, Authorization, "
                          "Content-Type")) ","
            STRING("body", SAYS("of POST, PUT, PATCH or DELETE; say its "
                                "Content-Type in headers")) ","
            INTEGER("max_bytes", POSITIVE SAYS("how much of the body to read")),
            REQUIRED("\"url\"")),
        .info.call_class = WEND_CLASS_UNSAFE,
        .info.category = WEND_CATEGORY_NETWORK,
        .info.labels = WEND_LABEL_UNTRUSTED_SOURCE | WEND_LABEL_EXTERNAL_EFFECT,
        .on_loop = true,
    },
    {
        TOOL("shell", "command", tool_shell),
        .info.description = TEXT(
            "Runs a command with /bin/sh in the working directory and "
            "returns what it writes. It cannot reach the network, and it "
            "can change files only beneath the working directory. It has no "
            "input and is ended, with all it started, after a minute."),
        .info.schema = OBJECT(
            STRING("command", NOT_EMPTY SAYS("for example: wc -l *.c")),
            REQUIRED("\"command\"")),
        RUNS_PROGRAM,
    },
    {
        TOOL("exec", "argv", tool_exec),
        .info.description = TEXT(
            "Runs a program with arguments in the working directory and "
            "returns what it writes. There is no shell: no pipes, no "
            "variables, no patterns. It cannot reach the network, and it "
            "can change files only beneath the working directory. It has no "
            "input and is ended, with all it started, after a minute."),
        .info.schema = OBJECT(
            PROPERTY("argv", "array",
                     ",\"items\":{\"type\":\"string\"},\"minItems\":1"
                     SAYS("the program, then its arguments, for example "
                          "[\\\"git\\\",\\\"status\\\"]")),
            REQUIRED("\"argv\"")),
        RUNS_PROGRAM,
    },
    {
        TOOL("remember", "name", tool_remember),
        .info.description = TEXT(
            "Keeps a fact for later runs of this agent with this user. A "
            "name that is given again replaces the text; an empty text "
            "forgets the fact of that name."),
        .info.schema = OBJECT(
            STRING("text", SAYS("the fact, in one or two sentences")) ","
            STRING("name", ",\"maxLength\":200"
                   SAYS("for example user/timezone; default: made from "
                        "the text")),
            REQUIRED("\"text\"")),
        .info.call_class = WEND_CLASS_IDEMPOTENT,
        .on_loop = true,
    },
    {
        TOOL("recall", "query", tool_recall),
        .info.description = TEXT(
            "Finds facts that earlier runs were told to remember, the best "
            "first: those with the most words of the query, then the "
            "newest. Without a query all of them."),
        .info.schema = OBJECT(
            STRING("query", SAYS("words to look for")) ","
            INTEGER("limit", POSITIVE ",\"maximum\":50" SAYS("default 20")),
            ""),
        READS, .on_loop = true,
    },
    {
        TOOL("search_documents", "query", search_documents),
        .info.description = TEXT(
            "Searches the documents that were indexed and returns the "
            "passages that fit best."),
        .info.schema = OBJECT(
            STRING("query", NOT_EMPTY) ","
            INTEGER("limit", POSITIVE ",\"maximum\":50"),
            REQUIRED("\"query\"")),
        READS, .on_loop = true,
    },
    {
        TOOL("task", "agent", NULL),
        .info.description = TEXT(
            "Gives a task to another agent, which works on it with a "
            "conversation of its own, and returns its answer."),
        .info.schema = OBJECT(
            STRING("agent", NOT_EMPTY) "," STRING("prompt", NOT_EMPTY),
            REQUIRED("\"agent\",\"prompt\"")),
        .info.call_class = WEND_CLASS_UNSAFE,
    },
};
/* clang-format on */

const struct builtin *builtin_at(size_t i)
{
    return i < sizeof builtins / sizeof *builtins ? &builtins[i] : NULL;
}

const struct builtin *builtin_find(const char *name)
{
    const struct builtin *b;

    for (size_t i = 0; (b = builtin_at(i)); i++)
        if (name && str_is(b->info.name, name))
            return b;
    return NULL;
}

const wend_tool_info *wend_builtin(size_t i)
{
    const struct builtin *b = builtin_at(i);

    return b ? &b->info : NULL;
}

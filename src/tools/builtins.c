/*
 * builtins.c - the table of built-in tools.
 *
 * Descriptions and schemas are what a model reads: they say what a tool
 * takes and gives back, nothing else.
 */
#include "tools/tools.h"

#define TEXT(literal)                \
    {                                \
        literal, sizeof(literal) - 1 \
    }

static const struct builtin builtins[] = {
    {
        .info =
            {
                .name = TEXT("calculator"),
                .description =
                    TEXT("Evaluates an arithmetic expression and returns the "
                         "number. Operators: + - * / % (remainder) ** or ^ "
                         "(power), parentheses. Constants: pi, e. Functions: "
                         "sqrt, abs, floor, ceil, round, min, max, log (base "
                         "10), ln, exp, sin, cos, tan (radians)."),
                .schema =
                    TEXT("{\"type\":\"object\",\"properties\":{"
                         "\"expression\":{\"type\":\"string\",\"description\":"
                         "\"for example (1.5 + 2) * sqrt(16)\"}},"
                         "\"required\":[\"expression\"],"
                         "\"additionalProperties\":false}"),
                .call_class = WEND_CLASS_READ,
                .category = WEND_CATEGORY_GENERAL,
                .concurrent = true,
            },
        .subject = "expression",
        .fn = tool_calculator,
    },
    {
        .info =
            {
                .name = TEXT("read_file"),
                .description = TEXT(
                    "Reads a text file beneath the working directory. Long "
                    "files are cut, with a last line that says so; read on "
                    "with offset."),
                .schema =
                    TEXT("{\"type\":\"object\",\"properties\":{"
                         "\"path\":{\"type\":\"string\",\"description\":"
                         "\"relative to the working directory\"},"
                         "\"offset\":{\"type\":\"integer\",\"minimum\":1,"
                         "\"description\":\"first line to read, from 1\"},"
                         "\"limit\":{\"type\":\"integer\",\"minimum\":1,"
                         "\"description\":\"how many lines to read\"}},"
                         "\"required\":[\"path\"],"
                         "\"additionalProperties\":false}"),
                .call_class = WEND_CLASS_READ,
                .category = WEND_CATEGORY_GENERAL,
                .concurrent = true,
            },
        .subject = "path",
        .fn = tool_read_file,
    },
    {
        .info =
            {
                .name = TEXT("list_dir"),
                .description = TEXT(
                    "Lists a directory beneath the working directory, sorted, "
                    "one entry a line: directories end with /, files have "
                    "their size in bytes after a tab, symbolic links show "
                    "their target after ->."),
                .schema =
                    TEXT("{\"type\":\"object\",\"properties\":{"
                         "\"path\":{\"type\":\"string\",\"description\":"
                         "\"relative to the working directory; default .\"}},"
                         "\"required\":[],"
                         "\"additionalProperties\":false}"),
                .call_class = WEND_CLASS_READ,
                .category = WEND_CATEGORY_GENERAL,
                .concurrent = true,
            },
        .subject = "path",
        .fn = tool_list_dir,
    },
    {
        .info =
            {
                .name = TEXT("write_file"),
                .description =
                    TEXT("Writes a text file beneath the working directory. "
                         "Replaces the whole file if it exists; makes missing "
                         "directories."),
                .schema =
                    TEXT("{\"type\":\"object\",\"properties\":{"
                         "\"path\":{\"type\":\"string\",\"description\":"
                         "\"relative to the working directory\"},"
                         "\"content\":{\"type\":\"string\",\"description\":"
                         "\"all of the new content\"}},"
                         "\"required\":[\"path\",\"content\"],"
                         "\"additionalProperties\":false}"),
                .call_class = WEND_CLASS_IDEMPOTENT,
                .category = WEND_CATEGORY_GENERAL,
            },
        .subject = "path",
        .fn = tool_write_file,
    },
    {
        .info =
            {
                .name = TEXT("edit_file"),
                .description = TEXT(
                    "Replaces a text in a file beneath the working directory. "
                    "old_string must stand in the file exactly as given, white "
                    "space included, and only once: add lines around it until "
                    "it is unique, or set replace_all. Read the file first. "
                    "If it fails nothing was changed, and the answer says why "
                    "and where to look."),
                .schema =
                    TEXT("{\"type\":\"object\",\"properties\":{"
                         "\"path\":{\"type\":\"string\",\"description\":"
                         "\"relative to the working directory\"},"
                         "\"old_string\":{\"type\":\"string\",\"minLength\":1,"
                         "\"description\":\"the text to replace\"},"
                         "\"new_string\":{\"type\":\"string\",\"description\":"
                         "\"what stands there afterwards; may be empty\"},"
                         "\"replace_all\":{\"type\":\"boolean\","
                         "\"description\":\"replace it wherever it stands; "
                         "default false\"}},"
                         "\"required\":[\"path\",\"old_string\","
                         "\"new_string\"],"
                         "\"additionalProperties\":false}"),
                /* Twice is not once where the new text contains the old. */
                .call_class = WEND_CLASS_UNSAFE,
                .category = WEND_CATEGORY_GENERAL,
            },
        .subject = "path",
        .fn = tool_edit_file,
    },
    {
        .info =
            {
                .name = TEXT("glob"),
                .description = TEXT(
                    "Finds files by name: lists the paths that match a "
                    "pattern, sorted, one a line. * and ? match within a "
                    "name, ** as a component any number of directories, "
                    "[a-z] a character, {a,b} alternatives. A pattern that "
                    "ends with / finds directories. Links are not followed; "
                    ".git, .hg and .svn only if the pattern names them."),
                .schema =
                    TEXT("{\"type\":\"object\",\"properties\":{"
                         "\"pattern\":{\"type\":\"string\",\"minLength\":1,"
                         "\"description\":\"for example **/*.c or "
                         "src/**/{Makefile,*.mk}\"},"
                         "\"path\":{\"type\":\"string\",\"description\":"
                         "\"directory to look in, relative to the working "
                         "directory; default .\"}},"
                         "\"required\":[\"pattern\"],"
                         "\"additionalProperties\":false}"),
                .call_class = WEND_CLASS_READ,
                .category = WEND_CATEGORY_GENERAL,
                .concurrent = true,
            },
        .subject = "pattern",
        .fn = tool_glob,
    },
    {
        .info =
            {
                .name = TEXT("grep"),
                .description = TEXT(
                    "Searches files for a regular expression (PCRE2), line by "
                    "line. Answers path:line:text for each line that matches, "
                    "path-line-text for lines around it. Binary files, links "
                    "and the folders .git, .hg and .svn are passed over; long "
                    "lines are cut around the match."),
                .schema =
                    TEXT("{\"type\":\"object\",\"properties\":{"
                         "\"pattern\":{\"type\":\"string\",\"minLength\":1,"
                         "\"description\":\"for example "
                         "\\\\bmain\\\\s*\\\\(\"},"
                         "\"path\":{\"type\":\"string\",\"description\":"
                         "\"file or directory, relative to the working "
                         "directory; default .\"},"
                         "\"glob\":{\"type\":\"string\",\"minLength\":1,"
                         "\"description\":\"only files whose name, or path "
                         "if there is a / in it, matches; for example "
                         "*.{c,h}\"},"
                         "\"ignore_case\":{\"type\":\"boolean\"},"
                         "\"context\":{\"type\":\"integer\",\"minimum\":0,"
                         "\"description\":\"lines to show before and after "
                         "each match; default 0\"},"
                         "\"files_only\":{\"type\":\"boolean\","
                         "\"description\":\"list only the paths of files "
                         "with a match\"},"
                         "\"max_results\":{\"type\":\"integer\","
                         "\"minimum\":1,\"description\":\"matching lines, or "
                         "files; default 200\"}},"
                         "\"required\":[\"pattern\"],"
                         "\"additionalProperties\":false}"),
                .call_class = WEND_CLASS_READ,
                .category = WEND_CATEGORY_GENERAL,
                .concurrent = true,
            },
        .subject = "path",
        .fn = tool_grep,
    },
    {
        .info =
            {
                .name = TEXT("http_request"),
                .description = TEXT(
                    "Makes a request over HTTP or HTTPS and returns the "
                    "status, the most important headers and the body as text, "
                    "cut after 240 KiB. Redirects are followed, at most 5. "
                    "Only hosts with public addresses can be reached. Cookies "
                    "are not kept."),
                .schema =
                    TEXT("{\"type\":\"object\",\"properties\":{"
                         "\"url\":{\"type\":\"string\",\"description\":"
                         "\"whole URL, http:// or https://, without user and "
                         "password\"},"
                         "\"method\":{\"type\":\"string\",\"enum\":[\"GET\","
                         "\"HEAD\",\"POST\",\"PUT\",\"PATCH\",\"DELETE\"],"
                         "\"description\":\"default GET\"},"
                         "\"headers\":{\"type\":\"object\","
                         "\"additionalProperties\":{\"type\":\"string\"},"
                         "\"description\":\"for example Accept, "
                         "Authorization, Content-Type\"},"
                         "\"body\":{\"type\":\"string\",\"description\":"
                         "\"of POST, PUT, PATCH or DELETE; say its "
                         "Content-Type in headers\"},"
                         "\"max_bytes\":{\"type\":\"integer\",\"minimum\":1,"
                         "\"description\":\"how much of the body to read\"}},"
                         "\"required\":[\"url\"],"
                         "\"additionalProperties\":false}"),
                .call_class = WEND_CLASS_UNSAFE,
                .category = WEND_CATEGORY_NETWORK,
                .labels =
                    WEND_LABEL_UNTRUSTED_SOURCE | WEND_LABEL_EXTERNAL_EFFECT,
            },
        .subject = "url",
        .on_loop = true,
        .fn = tool_http_request,
    },
    {
        .info =
            {
                .name = TEXT("shell"),
                .description =
                    TEXT("Runs a command with /bin/sh in the working "
                         "directory and returns what it writes. It cannot "
                         "reach the network, and it can change files only "
                         "beneath the working directory. It has no input and "
                         "is ended, with all it started, after a minute."),
                .schema =
                    TEXT("{\"type\":\"object\",\"properties\":{"
                         "\"command\":{\"type\":\"string\",\"minLength\":1,"
                         "\"description\":\"for example: wc -l *.c\"}},"
                         "\"required\":[\"command\"],"
                         "\"additionalProperties\":false}"),
                .call_class = WEND_CLASS_UNSAFE,
                .category = WEND_CATEGORY_DESTRUCTIVE,
            },
        .subject = "command",
        .on_loop = true,
        .program = true,
        .fn = tool_shell,
    },
    {
        .info =
            {
                .name = TEXT("exec"),
                .description =
                    TEXT("Runs a program with arguments in the working "
                         "directory and returns what it writes. There is no "
                         "shell: no pipes, no variables, no patterns. It "
                         "cannot reach the network, and it can change files "
                         "only beneath the working directory. It has no "
                         "input and is ended, with all it started, after a "
                         "minute."),
                .schema =
                    TEXT("{\"type\":\"object\",\"properties\":{"
                         "\"argv\":{\"type\":\"array\",\"items\":{"
                         "\"type\":\"string\"},\"minItems\":1,"
                         "\"description\":\"the program, then its arguments, "
                         "for example [\\\"git\\\",\\\"status\\\"]\"}},"
                         "\"required\":[\"argv\"],"
                         "\"additionalProperties\":false}"),
                .call_class = WEND_CLASS_UNSAFE,
                .category = WEND_CATEGORY_DESTRUCTIVE,
            },
        .subject = "argv",
        .on_loop = true,
        .program = true,
        .fn = tool_exec,
    },
    {
        .info =
            {
                .name = TEXT("remember"),
                .description = TEXT(
                    "Keeps a fact for later runs of this agent with this user. "
                    "A name that is given again replaces the text; an empty "
                    "text forgets the fact of that name."),
                .schema = TEXT(
                    "{\"type\":\"object\",\"properties\":{"
                    "\"text\":{\"type\":\"string\",\"description\":"
                    "\"the fact, in one or two sentences\"},"
                    "\"name\":{\"type\":\"string\",\"maxLength\":200,"
                    "\"description\":\"for example user/timezone; default: "
                    "made from the text\"}},"
                    "\"required\":[\"text\"],\"additionalProperties\":false}"),
                .call_class = WEND_CLASS_IDEMPOTENT,
                .category = WEND_CATEGORY_GENERAL,
            },
        .subject = "name",
        .on_loop = true,
        .fn = tool_remember,
    },
    {
        .info =
            {
                .name = TEXT("recall"),
                .description = TEXT(
                    "Finds facts that earlier runs were told to remember, the "
                    "best first: those with the most words of the query, then "
                    "the newest. Without a query all of them."),
                .schema =
                    TEXT("{\"type\":\"object\",\"properties\":{"
                         "\"query\":{\"type\":\"string\",\"description\":"
                         "\"words to look for\"},"
                         "\"limit\":{\"type\":\"integer\",\"minimum\":1,"
                         "\"maximum\":50,\"description\":\"default 20\"}},"
                         "\"additionalProperties\":false}"),
                .call_class = WEND_CLASS_READ,
                .category = WEND_CATEGORY_GENERAL,
            },
        .subject = "query",
        .on_loop = true,
        .fn = tool_recall,
    },
    {
        .info =
            {
                .name = TEXT("search_documents"),
                .description = TEXT(
                    "Searches the documents that were indexed and returns the "
                    "passages that fit best."),
                .schema =
                    TEXT("{\"type\":\"object\",\"properties\":{"
                         "\"query\":{\"type\":\"string\",\"minLength\":1},"
                         "\"limit\":{\"type\":\"integer\",\"minimum\":1,"
                         "\"maximum\":50}},\"required\":[\"query\"],"
                         "\"additionalProperties\":false}"),
                .call_class = WEND_CLASS_READ,
                .category = WEND_CATEGORY_GENERAL,
            },
        .subject = "query",
        .on_loop = true,
        .fn = tool_search_documents,
    },
    {
        .info =
            {
                .name = TEXT("task"),
                .description = TEXT(
                    "Gives a task to another agent, which works on it with a "
                    "conversation of its own, and returns its answer."),
                .schema =
                    TEXT("{\"type\":\"object\",\"properties\":{"
                         "\"agent\":{\"type\":\"string\",\"minLength\":1},"
                         "\"prompt\":{\"type\":\"string\",\"minLength\":1}},"
                         "\"required\":[\"agent\",\"prompt\"],"
                         "\"additionalProperties\":false}"),
                .call_class = WEND_CLASS_UNSAFE,
                .category = WEND_CATEGORY_GENERAL,
            },
        .subject = "agent",
    },
};

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

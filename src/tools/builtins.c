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
            },
        .subject = "expression",
        .concurrent = true,
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
            },
        .subject = "path",
        .concurrent = true,
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
            },
        .subject = "path",
        .concurrent = true,
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
        .concurrent = false,
        .fn = tool_write_file,
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

/*
 * schema_driver.c - says what core/schema makes of schemas and values.
 *
 * Reads lines: "S " and a schema, "V " and a value for the schema before it,
 * or "M " and the URI of a metaschema. Writes a line for each: "yes", "no" and
 * why, or "refused" and why; for a metaschema, its text.
 */
#include "core/schema/schema.h"
#include "core/schema/schema_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct mem plain;

/* A key in what is said may have a newline in it. */
static void say(const char *verdict, const char *why)
{
    printf("%s ", verdict);
    for (; *why; why++)
        putchar(*why == '\n' ? ' ' : *why);
    putchar('\n');
}

static struct schema *read_schema(wend_str text, struct arena *a)
{
    struct schema *s = NULL;
    wend_error err = {0};
    struct json *j;

    arena_free(a);
    j = json_parse(arena_str(a, text), a, &err);
    if (j && schema_compile(j, a, &s, &err) == WEND_OK)
        puts("yes");
    else
        say("refused", err.message);
    return s;
}

static void read_value(wend_str text, const struct schema *s)
{
    struct arena a = {.mem = &plain};
    struct buf why = {.mem = &plain};
    struct json *j = json_parse(text, &a, NULL);

    if (!s || !j)
        puts(s ? "no, and no JSON" : "refused");
    else if (schema_check(s, j, &why))
        puts("yes");
    else
        say("no", why.ptr);
    buf_free(&why);
    arena_free(&a);
}

static void read_meta(wend_str uri)
{
    struct arena a = {.mem = &plain};
    int meta = schema_meta_find(uri);
    const struct json *j = meta >= 0 ? schema_meta_load(meta, &a) : NULL;
    wend_str text = j ? json_text(j, &a) : STR("none");

    printf("%.*s\n", (int)text.len, text.ptr);
    arena_free(&a);
}

int main(void)
{
    struct arena a = {.mem = &plain};
    struct schema *s = NULL;
    char *line = NULL;
    size_t size = 0;
    ssize_t len;

    while ((len = getline(&line, &size, stdin)) > 2) {
        wend_str text = {line + 2, (size_t)len - 3};

        switch (*line) {
        case 'S': s = read_schema(text, &a); break;
        case 'V': read_value(text, s); break;
        case 'M': read_meta(text); break;
        }
    }
    free(line);
    arena_free(&a);
    return 0;
}

/*
 * schema_driver.c - says what core/schema makes of schemas and values.
 *
 * Reads lines: "S " and a schema, or "V " and a value for the schema before
 * it. Writes a line for each: "yes", "no" and why, or "refused" and why.
 */
#include "core/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct mem plain;

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
        printf("refused %s\n", err.message);
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
        printf("no %s\n", why.ptr);
    buf_free(&why);
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
        wend_str text = {line + 2, (size_t)len - 2};

        if (*line == 'S')
            s = read_schema(text, &a);
        else
            read_value(text, s);
    }
    free(line);
    arena_free(&a);
    return 0;
}

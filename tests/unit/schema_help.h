/*
 * schema_help.h - rows of schemas and values, for the tests of core/schema.
 *
 * Rows are written with ' for ", which would need escapes.
 */
#ifndef TESTS_SCHEMA_HELP_H
#define TESTS_SCHEMA_HELP_H

#include "core/schema/schema.h"
#include "fault.h"
#include "tap.h"

static const struct mem plain;

static inline const char *quoted(struct buf *b, const char *text)
{
    for (; *text; text++)
        buf_char(b, *text == '\'' ? '"' : *text);
    return b->ptr;
}

static inline struct json *read_quoted(const char *text, struct arena *a,
                                       wend_error *err)
{
    struct buf b = {.mem = a->mem};

    quoted(&b, text);
    return json_parse(buf_keep(&b, a), a, err);
}

static inline struct schema *compile(const char *text, struct arena *a,
                                     wend_error *err)
{
    struct json *j = read_quoted(text, a, err);
    struct schema *s = NULL;

    if (j)
        schema_compile(j, a, &s, err);
    else if (!err->status)
        err->status = WEND_E_NOMEM;
    return s;
}

/* A schema that must not compile, and what is said. */
struct refused_row {
    const char *schema, *wanted;
};

static inline void test_refused(const struct refused_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct arena a = {.mem = &plain};
        wend_error err = {0};

        tap_ok(!compile(rows[i].schema, &a, &err) && err.status == WEND_E_INVAL,
               "refused: %s", rows[i].schema);
        tap_is_str(str_of(err.message), rows[i].wanted, "and says why");
        arena_free(&a);
    }
}

/* A value that fits and one that does not. */
struct pair_row {
    const char *why, *schema, *yes, *no;
};

static inline void test_pairs(const struct pair_row *rows, size_t count,
                              const char *what)
{
    for (size_t i = 0; i < count; i++) {
        struct arena a = {.mem = &plain};
        wend_error err = {0};
        struct schema *s = compile(rows[i].schema, &a, &err);

        tap_ok(s && schema_check(s, read_quoted(rows[i].yes, &a, NULL), NULL),
               "%s: %s %s", what, rows[i].why, err.message);
        tap_ok(s && !schema_check(s, read_quoted(rows[i].no, &a, NULL), NULL),
               "%s: %s, and no more", what, rows[i].why);
        arena_free(&a);
    }
}

/* Whichever allocation fails while json is compiled and value checked: it is
 * said, and nothing is leaked. With memory, value does not fit, and why. */
static inline void test_without_memory(const struct json *json,
                                       const struct json *value,
                                       const char *why)
{
    struct fault f = {0};
    int bad = 0, rounds = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m};
        struct buf said = {.mem = &m};
        struct schema *s = NULL;
        wend_error err = {0};

        schema_compile(json, &a, &s, &err);
        bad += s && schema_check(s, value, &said);
        bad += s ? said.failed != f.hit : err.status != WEND_E_NOMEM || !f.hit;
        if (!f.hit)
            tap_is_str(buf_view(&said), why, "with memory, the right answer");
        buf_free(&said);
        arena_free(&a);
        bad += f.live != 0;
        rounds++;
    }
    tap_ok(!bad && rounds > 10, "any of %d allocations may fail", rounds - 1);
}

#endif

/*
 * test_schema.c - what fits a JSON Schema, and what is said if it does not.
 */
#include "core/schema.h"

#include "base/utf8.h"
#include "fault.h"
#include "tap.h"

static const struct mem plain;

struct row {
    const char *why, *schema, *value;
    const char *wanted; /* NULL: fits */
};

/* Whether value fits; what is said goes to `said`. */
static bool fits(const char *schema, const char *value, struct buf *said)
{
    struct arena a = {.mem = &plain};
    struct json *s = json_parse(str_of(schema), &a, NULL);
    struct json *v = json_parse(str_of(value), &a, NULL);
    bool is = s && v && schema_check(s, v, said);

    if (!s || !v)
        buf_cstr(said, "the test's own JSON is wrong");
    arena_free(&a);
    return is;
}

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct buf said = {.mem = &plain};
        bool is = fits(rows[i].schema, rows[i].value, &said);

        tap_ok(is == !rows[i].wanted, "%s", rows[i].why);
        if (rows[i].wanted)
            tap_is_str(buf_view(&said), rows[i].wanted, "%s: what is said",
                       rows[i].why);
        else
            tap_is_i64((int64_t)said.len, 0, "%s: nothing is said",
                       rows[i].why);
        buf_free(&said);
    }
}

static void test_types(void)
{
    static const struct row rows[] = {
        {"no rules", "{}", "[1]", NULL},
        {"true allows all", "true", "1", NULL},
        {"false allows nothing", "false", "1", "arguments is not allowed"},
        {"an object", "{\"type\":\"object\"}", "{}", NULL},
        {"no object", "{\"type\":\"object\"}", "[]",
         "arguments must be of type object, not array"},
        {"a string", "{\"type\":\"string\"}", "\"\"", NULL},
        {"an integer", "{\"type\":\"integer\"}", "5", NULL},
        {"an integer in disguise", "{\"type\":\"integer\"}", "5.0", NULL},
        {"no integer", "{\"type\":\"integer\"}", "5.5",
         "arguments must be of type integer, not number"},
        {"a number", "{\"type\":\"number\"}", "5.5", NULL},
        {"an integer is a number", "{\"type\":\"number\"}", "5", NULL},
        {"null", "{\"type\":\"null\"}", "null", NULL},
        {"one of two types", "{\"type\":[\"string\",\"null\"]}", "null", NULL},
        {"none of two types", "{\"type\":[\"string\",\"null\"]}", "1",
         "arguments must be of type string (or others), not number"},
        {"unknown keywords are not checked",
         "{\"format\":\"uri\",\"pattern\":\"^a\"}", "\"b\"", NULL},
    };

    check_rows(rows, tap_count(rows));
}

/* JSON has two kinds for what Schema calls boolean. */
static void test_booleans(void)
{
    static const struct row rows[] = {
        {"true is a boolean", "{\"type\":\"boolean\"}", "true", NULL},
        {"false is a boolean", "{\"type\":\"boolean\"}", "false", NULL},
        {"1 is none", "{\"type\":\"boolean\"}", "1",
         "arguments must be of type boolean, not number"},
    };

    check_rows(rows, tap_count(rows));
}

static void test_values(void)
{
    static const struct row rows[] = {
        {"in enum", "{\"enum\":[1,\"a\",{\"x\":1,\"y\":2}]}",
         "{\"y\":2,\"x\":1.0}", NULL},
        {"not in enum", "{\"enum\":[1,\"a\"]}", "\"b\"",
         "arguments is not one of the values of enum"},
        {"const", "{\"const\":[1]}", "[1]", NULL},
        {"not const", "{\"const\":[1]}", "[2]",
         "arguments is not the value of const"},
        {"at the minimum", "{\"minimum\":3}", "3", NULL},
        {"below it", "{\"minimum\":3}", "2.9", "arguments breaks minimum 3"},
        {"at the maximum", "{\"maximum\":3}", "3", NULL},
        {"above it", "{\"maximum\":3}", "3.1", "arguments breaks maximum 3"},
        {"above an exclusive minimum", "{\"exclusiveMinimum\":3}", "3.1", NULL},
        {"at it", "{\"exclusiveMinimum\":3}", "3",
         "arguments breaks exclusiveMinimum 3"},
        {"below an exclusive maximum", "{\"exclusiveMaximum\":3}", "2.9", NULL},
        {"at that", "{\"exclusiveMaximum\":3}", "3",
         "arguments breaks exclusiveMaximum 3"},
        {"bounds are for numbers only", "{\"minimum\":3}", "\"1\"", NULL},
        {"long enough, in code points", "{\"minLength\":2}",
         "\"\xc3\xa9\xc3\xa9\"", NULL},
        {"too short", "{\"minLength\":2}", "\"\xc3\xa9\"",
         "arguments must have at least 2 characters (minLength), has 1"},
        {"short enough", "{\"maxLength\":2}", "\"\xc3\xa9\xc3\xa9\"", NULL},
        {"too long", "{\"maxLength\":2}", "\"abc\"",
         "arguments must have at most 2 characters (maxLength), has 3"},
        {"items enough", "{\"minItems\":1,\"maxItems\":1}", "[0]", NULL},
        {"too few items", "{\"minItems\":1}", "[]",
         "arguments must have at least 1 items (minItems), has 0"},
        {"too many items", "{\"maxItems\":1}", "[0,0]",
         "arguments must have at most 1 items (maxItems), has 2"},
    };

    check_rows(rows, tap_count(rows));
}

#define PERSON                                                             \
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}," \
    "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},"      \
    "\"required\":[\"name\"],\"additionalProperties\":false}"

static void test_inside(void)
{
    static const struct row rows[] = {
        {"all is well", PERSON, "{\"tags\":[\"a\"],\"name\":\"x\"}", NULL},
        {"one is missing", PERSON, "{\"tags\":[]}",
         "arguments lacks the required property 'name'"},
        {"one is unknown", PERSON, "{\"name\":\"x\",\"age\":1}",
         "arguments has the unknown property 'age'"},
        {"one is wrong", PERSON, "{\"name\":1}",
         "name must be of type string, not number"},
        {"deep inside", PERSON, "{\"name\":\"x\",\"tags\":[\"a\",null]}",
         "tags[1] must be of type string, not null"},
        {"a schema for all others",
         "{\"additionalProperties\":{\"type\":\"integer\"}}",
         "{\"a\":1,\"b\":\"x\"}", "b must be of type integer, not string"},
        {"objects in lists in objects",
         "{\"properties\":{\"a\":{\"items\":{\"properties\":{\"b\":"
         "{\"items\":{\"maximum\":1}}}}}}}",
         "{\"a\":[{},{\"b\":[0,1,2]}]}", "a[1].b[2] breaks maximum 1"},
        {"what is no object has no properties", "{\"required\":[\"a\"]}", "[]",
         NULL},
    };

    check_rows(rows, tap_count(rows));
}

static void test_combined(void)
{
    static const struct row rows[] = {
        {"one of anyOf", "{\"anyOf\":[{\"type\":\"null\"},{\"minimum\":1}]}",
         "1", NULL},
        {"none of anyOf", "{\"anyOf\":[{\"type\":\"null\"},{\"minimum\":1}]}",
         "0", "arguments fits none of the schemas of anyOf"},
        {"one of oneOf", "{\"oneOf\":[{\"minimum\":5},{\"minimum\":1}]}", "3",
         NULL},
        {"two of oneOf", "{\"oneOf\":[{\"minimum\":5},{\"minimum\":1}]}", "6",
         "arguments does not fit exactly one schema of oneOf"},
        {"all of allOf", "{\"allOf\":[{\"minimum\":1},{\"maximum\":3}]}", "2",
         NULL},
        {"not all of allOf", "{\"allOf\":[{\"minimum\":1},{\"maximum\":3}]}",
         "4", "arguments breaks maximum 3"},
        {"not", "{\"not\":{\"type\":\"null\"}}", "1", NULL},
        {"not not", "{\"not\":{\"type\":\"null\"}}", "null",
         "arguments fits the schema of not"},
        {"not of true", "{\"not\":true}", "1",
         "arguments fits the schema of not"},
    };

    check_rows(rows, tap_count(rows));
}

/* A model picks the keys: what is said must stay valid UTF-8 wherever it is
 * cut, because it goes into an event. */
static void test_long_keys(void)
{
    for (int len = 100; len < 140; len++)
        for (int inside = 0; inside < 2; inside++) {
            struct buf value = {.mem = &plain}, said = {.mem = &plain};
            bool valid;

            buf_cstr(&value, "{\"x");
            for (int i = 0; i < len; i++)
                buf_cstr(&value, "\xe2\x82\xac");
            buf_cstr(&value, inside ? "\":{\"a\":1}}" : "\":1}");
            fits(inside ? "{\"additionalProperties\":{"
                          "\"properties\":{\"a\":{\"type\":\"null\"}}}}"
                        : "{\"additionalProperties\":false}",
                 value.ptr, &said);
            valid = said.len && utf8_valid_len(buf_view(&said)) == said.len;
            if (!valid || len == 139)
                tap_ok(valid, "a key of %d characters%s is cut between them",
                       len, inside ? " in the path" : "");
            buf_free(&value);
            buf_free(&said);
        }
}

/* not in not in not ... as deep as JSON may be. */
static void test_deep(void)
{
    for (int deep = 19; deep <= 20; deep++) {
        struct buf schema = {.mem = &plain}, said = {.mem = &plain};

        for (int i = 0; i < deep; i++)
            buf_cstr(&schema, "{\"allOf\":[{\"not\":");
        buf_cstr(&schema, "false");
        for (int i = 0; i < deep; i++)
            buf_cstr(&schema, "}]}");
        tap_ok(fits(schema.ptr, "1", &said) == (deep % 2 == 1), "%d times not",
               deep);
        buf_free(&schema);
        buf_free(&said);
    }
}

/* 2,000 alternatives for each of 2,000 items; the work must end before. */
static void test_steps(void)
{
    struct buf schema = {.mem = &plain}, value = {.mem = &plain};
    struct buf said = {.mem = &plain};

    buf_cstr(&schema, "{\"items\":{\"anyOf\":[");
    buf_cstr(&value, "[");
    for (int i = 0; i < 2000; i++) {
        buf_cstr(&schema, "false,");
        buf_cstr(&value, "0,");
    }
    buf_cstr(&schema, "true]}}");
    buf_cstr(&value, "0]");
    tap_ok(!fits(schema.ptr, value.ptr, &said),
           "a schema that takes millions of steps is refused");
    buf_free(&schema);
    buf_free(&value);
    buf_free(&said);
}

int main(void)
{
    test_types();
    test_booleans();
    test_values();
    test_inside();
    test_combined();
    test_long_keys();
    test_deep();
    test_steps();
    return tap_done();
}

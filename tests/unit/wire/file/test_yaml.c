/*
 * test_yaml.c - YAML to the JSON tree: values, places, refusals.
 */
#include "wire/file/yaml.h"

#include "base/limits.h"
#include "fault.h"
#include "tap.h"

static const struct {
    const char *why, *text, *json;
} values[] = {
    {"a mapping keeps its order", "b: 1\na: 2\n", "{\"b\":1,\"a\":2}"},
    {"null in every spelling", "- null\n- Null\n- NULL\n- ~\n-\n",
     "[null,null,null,null,null]"},
    {"nUll is a word", "- nUll\n", "[\"nUll\"]"},
    {"true and false in every spelling",
     "- true\n- True\n- TRUE\n- false\n- False\n- FALSE\n",
     "[true,true,true,false,false,false]"},
    {"yes and no are words since 1.2", "- yes\n- no\n- on\n- off\n",
     "[\"yes\",\"no\",\"on\",\"off\"]"},
    {"quotes make strings", "- \"1\"\n- 'true'\n- \"\"\n- '~'\n",
     "[\"1\",\"true\",\"\",\"~\"]"},
    {"block scalars are strings", "a: |\n  12\nb: >-\n  true\n",
     "{\"a\":\"12\\n\",\"b\":\"true\"}"},
    {"hexadecimal", "- 0x1F\n- 0xff\n- 0x0\n", "[31,255,0]"},
    {"the largest that fits", "- 0xffffffffffffffff\n",
     "[18446744073709551615]"},
    {"octal", "- 0o17\n- 0o0\n", "[15,0]"},
    {"prefixes without digits are words", "- 0x\n- 0o\n- 0o8\n- 0xg\n",
     "[\"0x\",\"0o\",\"0o8\",\"0xg\"]"},
    {"no sign before a prefix", "- -0x1\n", "[\"-0x1\"]"},
    {"JSON has no plus", "- +1\n- +1.5\n", "[1,1.5]"},
    {"JSON wants a digit before the point", "- .5\n- -.5\n- +.5e1\n",
     "[0.5,-0.5,0.5e1]"},
    {"JSON wants a digit after the point", "- 1.\n- -1.\n- 1.e5\n",
     "[1,-1,1e5]"},
    {"JSON has no leading zeros", "- 007\n- -00\n- 00.50\n", "[7,-0,0.50]"},
    {"number text stays as written", "- 1.50\n- 1e+05\n- 12E3\n- 0\n",
     "[1.50,1e+05,12E3,0]"},
    {"many digits stay", "- 123456789012345678901234567890\n",
     "[123456789012345678901234567890]"},
    {"nearly numbers are words", "- .\n- e5\n- 1e\n- 1.2.3\n- +\n- 1_000\n",
     "[\".\",\"e5\",\"1e\",\"1.2.3\",\"+\",\"1_000\"]"},
    {"a date is a word", "- 2020-01-02\n", "[\"2020-01-02\"]"},
    {"keys are text, whatever they look like", "1: a\ntrue: b\n~: c\n",
     "{\"1\":\"a\",\"true\":\"b\",\"~\":\"c\"}"},
    {"flow inside block", "a: [1, {b: c}]\n", "{\"a\":[1,{\"b\":\"c\"}]}"},
    {"a merge key is only a key", "<<: 1\n", "{\"<<\":1}"},
    {"the same key in two mappings", "a: {x: 1}\nb: {x: 1}\n",
     "{\"a\":{\"x\":1},\"b\":{\"x\":1}}"},
    {"empty collections", "a: []\nb: {}\n", "{\"a\":[],\"b\":{}}"},
    {"a scalar alone", "--- 5\n", "5"},
    {"a directive", "%YAML 1.2\n---\na: 1\n...\n", "{\"a\":1}"},
    {"a byte order mark",
     "\xef\xbb\xbf"
     "a: 1\n",
     "{\"a\":1}"},
    {"a byte order mark before JSON", "\xef\xbb\xbf{\"a\":1}", "{\"a\":1}"},
    {"JSON after space", "\n  [1]", "[1]"},
    {"JSON escapes in quotes", "a: \"\\n\\u00e9\\0\"\n",
     "{\"a\":\"\\n\xc3\xa9\\u0000\"}"},
    {"other scripts", "\xd0\xba: \xe2\x82\xac\n",
     "{\"\xd0\xba\":\"\xe2\x82\xac\"}"},
};

static const struct {
    const char *why, *text;
    uint32_t line, column;
    const char *message;
} refusals[] = {
    {"nothing", "", 1, 1, "the document is empty"},
    {"a comment is nothing", "# a\n", 2, 1, "the document is empty"},
    {"infinity", "a: .inf", 1, 4,
     "infinity and not-a-number have no JSON value"},
    {"minus infinity", "a: 1\nb: -.INF", 2, 4,
     "infinity and not-a-number have no JSON value"},
    {"not a number", "- .nan", 1, 3,
     "infinity and not-a-number have no JSON value"},
    {"over 64 bits", "a: 0x10000000000000000", 1, 4,
     "number has more than 64 bits"},
    {"anchor on a scalar", "a: &x 1", 1, 4, "anchors (&) are not supported"},
    {"anchor on a list", "a: &x [1]", 1, 4, "anchors (&) are not supported"},
    {"anchor on a key", "&x a: 1", 1, 1, "anchors (&) are not supported"},
    {"alias", "a: *x", 1, 4, "aliases (*) are not supported"},
    {"tag on a scalar", "a: !!str 1", 1, 4, "tags (!) are not supported"},
    {"tag on a mapping", "a: !x {}", 1, 4, "tags (!) are not supported"},
    {"the tag that means nothing", "a: ! x", 1, 4,
     "tags (!) are not supported"},
    {"a list as key", "? [a]\n: 1", 1, 3, "a key must be a scalar"},
    {"a mapping as key", "? {a: 1}\n: 1", 1, 3, "a key must be a scalar"},
    {"duplicate key", "a: 1\nb: 2\na: 3", 3, 1, "duplicate key 'a'"},
    {"the first of two duplicates", "b: 1\na: 1\nb: 2\na: 2", 3, 1,
     "duplicate key 'b'"},
    {"equal text, other quotes", "a: 1\n\"a\": 2", 2, 1, "duplicate key 'a'"},
    {"duplicate deep inside", "- x: [{k: 1, k: 2}]", 1, 14,
     "duplicate key 'k'"},
    {"two documents", "a: 1\n---\nb: 2", 2, 1, "more than one document"},
    {"list not closed", "a: [1, 2", 2, 1,
     "did not find expected ',' or ']' while parsing a flow sequence"},
    {"mapping in a line", "a: b: c", 1, 5,
     "mapping values are not allowed in this context"},
    {"invalid UTF-8", "a: \xff", 1, 4, "invalid UTF-8"},
    {"columns are code points", "\xc3\xa9: 1\n\xc3\xa9\xc3\xa9: \xc3", 2, 5,
     "invalid UTF-8"},
    {"control character", "a: 1\nb: \x01", 2, 4,
     "control characters are not allowed"},
    {"tab as indentation", "a:\n\tb: 1", 2, 1,
     "found character that cannot start any token while scanning for the "
     "next token"},
    {"JSON by JSON's rules", "{\"a\": 1,}", 1, 9,
     "expected '\"' and a key, found '}'"},
};

static void test_values(void)
{
    struct mem m = {0};

    for (size_t i = 0; i < tap_count(values); i++) {
        struct arena a = {.mem = &m};
        struct buf b = {.mem = &m};
        wend_error err = {0};
        struct json *j = yaml_parse(str_of(values[i].text), &a, NULL, &err);

        if (j)
            json_put(&b, j);
        tap_is_str(j ? buf_view(&b) : str_of(err.message), values[i].json, "%s",
                   values[i].why);
        buf_free(&b);
        arena_free(&a);
    }
}

static void test_refusals(void)
{
    struct mem m = {0};

    for (size_t i = 0; i < tap_count(refusals); i++) {
        struct arena a = {.mem = &m};
        wend_error err = {0};
        struct json *j = yaml_parse(str_of(refusals[i].text), &a, NULL, &err);

        tap_ok(!j && err.status == WEND_E_PARSE, "refused: %s",
               refusals[i].why);
        tap_is_str(err.message, refusals[i].message, "  says why");
        tap_is_i64(err.line, refusals[i].line, "  line");
        tap_is_i64(err.column, refusals[i].column, "  column");
        arena_free(&a);
    }
}

static void test_places(void)
{
    struct mem m = {0};
    struct arena a = {.mem = &m};
    char text[] = "a: 1\nb:\n  - x\n  - {c: true}\n";
    struct json *j = yaml_parse(str_of(text), &a, NULL, NULL), *b, *c;

    b = json_get(j, "b");
    c = b ? json_get(b->first->next, "c") : NULL;
    tap_ok(j && b && c, "the document reads");
    if (c) {
        tap_is_i64(j->line * 100 + j->column, 101, "place of the mapping");
        tap_is_i64(b->line * 100 + b->column, 303, "place of a block list");
        tap_is_i64(c->line * 100 + c->column, 409, "place of a flow value");
        memset(text, '#', sizeof text - 1);
        tap_is_str(b->first->text, "x", "the tree has its own text");
    }
    arena_free(&a);
}

static void test_depth(void)
{
    struct mem m = {0};

    for (int depth = JSON_DEPTH_MAX - 1; depth <= JSON_DEPTH_MAX + 1; depth++) {
        struct arena a = {.mem = &m};
        struct buf b = {.mem = &m};
        wend_error err = {0};
        struct json *j;

        for (int i = 0; i < depth; i++)
            buf_cstr(&b, "- ");
        buf_cstr(&b, "x\n");
        j = yaml_parse(buf_view(&b), &a, NULL, &err);
        tap_ok(!j == (depth > JSON_DEPTH_MAX), "%d levels", depth);
        if (!j) {
            tap_is_i64(err.status, WEND_E_LIMIT, "  is a limit");
            tap_is_str(err.message, "nested deeper than 64 levels",
                       "  and says which");
            tap_is_i64(err.column, 2 * JSON_DEPTH_MAX + 1, "  and where");
        }
        buf_free(&b);
        arena_free(&a);
    }
}

/* Quadratic work on so many keys would take minutes. */
static void test_many_keys(void)
{
    enum { KEYS = 200000 };
    struct mem m = {0};
    struct arena a = {.mem = &m};
    struct buf b = {.mem = &m};
    wend_error err = {0};
    struct json *j;

    for (int i = 0; i < KEYS; i++)
        buf_fmt(&b, "key%d: %d\n", i * 7919 % KEYS, i);
    j = yaml_parse(buf_view(&b), &a, NULL, &err);
    tap_ok(j && j->count == KEYS, "%d keys that differ", KEYS);
    arena_reset(&a);
    buf_cstr(&b, "key77: again\n");
    j = yaml_parse(buf_view(&b), &a, NULL, &err);
    tap_ok(!j && err.line == KEYS + 1, "the last one a duplicate");
    buf_free(&b);
    arena_free(&a);
}

static void test_no_memory(void)
{
    static const char text[] = "a: [1, 0x2, .5, word, \"text\", null]\n"
                               "b: {x: 1, y: 2, z: 3}\n"
                               "long: >\n  some words in a block\n";
    struct fault f = {0};
    int rounds = 0, bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m, .chunk_min = 16};
        wend_error err = {0};
        struct json *j = yaml_parse(str_of(text), &a, NULL, &err);

        bad += !j != f.hit || (!j && err.status != WEND_E_NOMEM);
        arena_free(&a);
        bad += f.live != 0;
        rounds++;
    }
    tap_ok(rounds > 3 && !bad, "no memory, at each of %d places", rounds - 1);
}

int main(void)
{
    test_values();
    test_refusals();
    test_places();
    test_depth();
    test_many_keys();
    test_no_memory();
    return tap_done();
}

/*
 * test_expr.c - conditions: what they mean, and where they are wrong.
 */
#include "core/plan/expr.h"

#include "base/limits.h"
#include "fault.h"
#include "tap.h"

/* The values that every row can refer to. */
static const struct {
    const char *name, *json;
} known[] = {
    {"n", "7"},
    {"half", "0.5"},
    {"big", "9223372036854775807"},
    {"huge", "1e400"},
    {"text", "\"Looms\""},
    {"utf", "\"\xc3\xa4\xe2\x82\xac\""},
    {"empty", "\"\""},
    {"yes", "true"},
    {"no", "false"},
    {"nil", "null"},
    {"list", "[1,\"two\",{\"a\":3}]"},
    {"none", "[]"},
    {"map", "{\"a\":{\"b\":[10,20]},\"c-d\":1,\"e\":null}"},
    {"same", "{\"e\":null,\"c-d\":1.0,\"a\":{\"b\":[10,2e1]}}"},
};

struct world {
    struct mem mem;
    struct arena arena;
    struct names names;
    wend_error err;
    struct ref_reader reader;
};

static void world_begin(struct world *w)
{
    *w = (struct world){.mem = {0}};
    w->arena.mem = &w->mem;
    w->names.arena = &w->arena;
    w->reader = (struct ref_reader){
        .arena = &w->arena, .names = &w->names, .err = &w->err};
}

static struct scope world_scope(struct world *w, bool missing_null)
{
    wend_str *values = arena_alloc(&w->arena, 256 * sizeof *values);
    struct scope s = {.values = values, .arena = &w->arena};

    s.missing_null = missing_null;
    s.trees = arena_alloc(&w->arena, 256 * sizeof *s.trees);
    for (size_t i = 0; i < tap_count(known); i++)
        values[names_add(&w->names, str_of(known[i].name))] =
            str_of(known[i].json);
    return s;
}

/* ---- What they mean ------------------------------------------------------ */

static const struct {
    const char *expr, *value;
} meanings[] = {
    /* literals */
    {"12", "12"},
    {"1.5e3", "1.5e3"},
    {"-3", "-3"},
    {"- -3", "3"},
    {"\"a'b\"", "\"a'b\""},
    {"'a\"b'", "\"a\\\"b\""},
    {"''", "\"\""},
    {"true", "true"},
    {"null", "null"},
    {"[1, 'x', [true]]", "[1,\"x\",[true]]"},
    {"[]", "[]"},
    /* references keep their type */
    {"$n", "7"},
    {"${n}", "7"},
    {"$list", "[1,\"two\",{\"a\":3}]"},
    {"${list[2].a}", "3"},
    {"${map.a.b[1]}", "20"},
    {"${map.c-d}", "1"},
    {"$n-1", "6"},
    /* computing: exact while it fits */
    {"1 + 2 * 3", "7"},
    {"(1 + 2) * 3", "9"},
    {"10 - 2 - 3", "5"},
    {"7 / 2", "3.5"},
    {"8 / 2", "4"},
    {"7 % 3", "1"},
    {"-7 % 3", "-1"},
    {"$half * 4", "2"},
    {"7.5 % 2", "1.5"},
    {"$big + 0", "9223372036854775807"},
    {"$big + 1", "9223372036854776000"},
    {"$big - -1 > 9e18", "true"},
    {"'a' + \"b\" + $text", "\"abLooms\""},
    {"'' + ''", "\"\""},
    /* comparing */
    {"1 == 1.0", "true"},
    {"1 != 2", "true"},
    {"'1' == 1", "false"},
    {"$map == $same", "true"},
    {"$map != $same", "false"},
    {"$list == [1, 'two', $map]", "false"},
    {"null == $nil", "true"},
    {"false == null", "false"},
    {"2 < 10", "true"},
    {"'2' < '10'", "false"},
    {"'a' < 'ab'", "true"},
    {"2 <= 2", "true"},
    {"2 >= 3", "false"},
    {"3 > 2", "true"},
    {"0.1 + 0.2 > 0.3", "true"},
    {"$huge > $big", "true"},
    /* truth */
    {"not 0", "true"},
    {"not 0.0", "true"},
    {"not ''", "true"},
    {"not []", "true"},
    {"not $nil", "true"},
    {"not $map", "false"},
    {"not not $n", "true"},
    {"1 and 'x'", "true"},
    {"0 or ''", "false"},
    {"$no or $yes", "true"},
    {"true or false and false", "true"},
    {"not false and false", "false"},
    {"not 1 == 2", "true"},
    {"false and $gone", "false"},
    {"true or 1/0", "true"},
    {"len($text) > 0 and $yes", "true"},
    /* in */
    {"'two' in $list", "true"},
    {"1.0 in $list", "true"},
    {"3 in $list", "false"},
    {"not 3 in $list", "true"},
    {"'a' in $map", "true"},
    {"'z' in $map", "false"},
    {"'oom' in $text", "true"},
    {"'' in $empty", "true"},
    {"'x' in ''", "false"},
    {"$n in [6, 7]", "true"},
    /* functions */
    {"len($text)", "5"},
    {"len($utf)", "2"},
    {"len($list)", "3"},
    {"len($map)", "3"},
    {"len('')", "0"},
    {"lower($text)", "\"looms\""},
    {"lower('\xc3\x84"
     "B')",
     "\"\xc3\x84"
     "b\""},
    {"exists($n)", "true"},
    {"exists($gone)", "false"},
    {"exists(${map.a.b[2]})", "false"},
    {"exists(${map.a.z.y})", "false"},
    {"exists(${n.x})", "false"},
    {"exists(${map.e})", "true"},
    {"exists ( $n )", "true"},
    {"\t1  + 1 ", "2"},
};

static void test_meanings(void)
{
    for (size_t i = 0; i < tap_count(meanings); i++) {
        struct world w;
        struct buf b;
        struct scope scope;
        const struct expr *e;
        const struct json *value;
        wend_status s;

        world_begin(&w);
        b = (struct buf){.mem = &w.mem};
        scope = world_scope(&w, false);
        s = expr_parse(&w.reader, str_of(meanings[i].expr), &e);
        if (!s)
            s = expr_value(e, &scope, &value, &w.err);
        if (!s)
            json_put(&b, value);
        if (tap_ok(!s, "%s: %s", meanings[i].expr, s ? w.err.message : ""))
            tap_is_str(buf_view(&b), meanings[i].value, "%s", meanings[i].expr);
        buf_free(&b);
        arena_free(&w.arena);
    }
}

/* ---- What is refused when it is read ------------------------------------- */

static const struct {
    const char *expr;
    size_t at; /* from 1 */
    const char *says;
} refusals[] = {
    {"", 1, "a value is missing at the end"},
    {"  ", 3, "a value is missing at the end"},
    {"1 +", 4, "a value is missing at the end"},
    {"1 2", 3, "an operator is missing"},
    {"1 = 2", 3, "write =="},
    {"1 && 2", 3, "'and'"},
    {"1 || 2", 3, "'and'"},
    {"!1", 1, "'not'"},
    {"a == 1", 1, "unknown word"},
    {"topic", 1, "values are written $name"},
    {"True", 1, "did you mean true?"},
    {"lenn(1)", 1, "did you mean len?"},
    {"len 1", 5, "'(' must follow"},
    {"len(1", 6, "')' is missing"},
    {"len()", 5, "a value is missing"},
    {"exists(1)", 8, "takes a reference"},
    {"(1", 3, "')' is missing"},
    {"1)", 2, "an operator is missing"},
    {"[1 2]", 4, "',' or ']'"},
    {"[1,", 4, "a value is missing at the end"},
    {"[1", 3, "',' or ']'"},
    {"'abc", 1, "closing quote"},
    {"1 < 2 < 3", 7, "do not chain"},
    {"1 == 2 in $x", 8, "do not chain"},
    {"$", 1, "a name must follow"},
    {"$$x", 1, "a name must follow"},
    {"$1", 1, "a name must follow"},
    {"${x", 4, "'}' is missing"},
    {"${x.}", 5, "a key must follow"},
    {"${x[a]}", 5, "a number must stand"},
    {"${x[1}", 6, "']' is missing"},
    {"${x[99999999999999999999]}", 5, "a number must stand"},
    {"${x y}", 4, "only .key and [number]"},
    {"${}", 1, "a name must follow"},
    {"12x", 1, "invalid number"},
    {"012", 1, "invalid number"},
    {"1.", 2, "neither a value"},
    {"@", 1, "neither a value"},
    {"1 ? 2", 3, "neither a value"},
    {"and 1", 1, "unknown word"},
    {"1 and", 6, "a value is missing at the end"},
    {"1 + not 2", 5, "unknown word"},
    {"\xc3\xa4", 1, "neither a value"},
};

static void test_refusals(void)
{
    for (size_t i = 0; i < tap_count(refusals); i++) {
        const struct expr *e;
        struct world w;
        wend_status s;

        world_begin(&w);
        s = expr_parse(&w.reader, str_of(refusals[i].expr), &e);
        tap_ok(s == WEND_E_PARSE && strstr(w.err.message, refusals[i].says) &&
                   w.reader.bad_at + 1 == refusals[i].at,
               "'%s' is refused at %zu: %s", refusals[i].expr,
               w.reader.bad_at + 1, w.err.message);
        arena_free(&w.arena);
    }
}

/* ---- What fails when it is computed -------------------------------------- */

static const struct {
    const char *expr;
    uint32_t at;
    const char *says;
} failures[] = {
    {"$gone", 1, "$gone has no value"},
    {"1 + ${map.x}", 5, "${map.x} has no value"},
    {"${list[3]} == 1", 1, "${list[3]} has no value"},
    {"${list.a}", 1, "has no value"},
    {"1 / 0", 3, "division by zero"},
    {"1 % 0", 3, "division by zero"},
    {"1.5 % 0", 5, "division by zero"},
    {"1 + 'a'", 3, "cannot compute with a number and a text"},
    {"true + true", 6, "cannot compute with true and true"},
    {"'a' - 'b'", 5, "cannot compute with a text and a text"},
    {"1 < 'a'", 3, "cannot order a number and a text"},
    {"null < 1", 6, "cannot order null and a number"},
    {"$list > $list", 7, "cannot order a list and a list"},
    {"1 in 2", 3, "cannot look"},
    {"1 in 'abc'", 3, "cannot look"},
    {"1 in $map", 3, "cannot look"},
    {"len(1)", 1, "len() takes"},
    {"lower(1)", 1, "lower() takes"},
    {"-'a'", 1, "'-' takes a number, not a text"},
    {"1e308 * 10", 7, "not a number"},
    {"$huge + 1", 7, "too large"},
};

static void test_failures(void)
{
    for (size_t i = 0; i < tap_count(failures); i++) {
        const struct json *value;
        const struct expr *e;
        struct scope scope;
        struct world w;
        wend_status s;

        world_begin(&w);
        scope = world_scope(&w, false);
        s = expr_parse(&w.reader, str_of(failures[i].expr), &e);
        if (!s)
            s = expr_value(e, &scope, &value, &w.err);
        tap_ok(s && w.err.column == failures[i].at &&
                   strstr(w.err.message, failures[i].says),
               "%s fails at %u: %s", failures[i].expr, w.err.column,
               w.err.message);
        arena_free(&w.arena);
    }
}

static void test_missing_null(void)
{
    const struct json *value = NULL;
    const struct expr *e;
    struct scope scope;
    struct world w;
    bool holds = true;

    world_begin(&w);
    scope = world_scope(&w, true);
    tap_ok(!expr_parse(&w.reader, STR("${map.x.y} == null"), &e) &&
               !expr_value(e, &scope, &value, &w.err) &&
               value->kind == JSON_TRUE,
           "missing_ref null: a missing value is null");
    tap_ok(!expr_parse(&w.reader, STR("exists($gone)"), &e) &&
               !expr_holds(e, &scope, &holds, &w.err) && !holds,
           "... and still does not exist");
    tap_ok(!expr_parse(&w.reader, STR("1\r\n+ 1 ==\n2"), &e) &&
               !expr_holds(e, &scope, &holds, &w.err) && holds,
           "on several lines");
    arena_free(&w.arena);
}

/* ---- Bounds -------------------------------------------------------------- */

static wend_status parse_nested(int depth, wend_error *err)
{
    char text[EXPRESSION_BYTES_MAX];
    const struct expr *e;
    struct world w;
    wend_status s;
    int len = 0;

    for (int i = 0; i < depth; i++)
        text[len++] = '(';
    text[len++] = '1';
    for (int i = 0; i < depth; i++)
        text[len++] = ')';
    world_begin(&w);
    s = expr_parse(&w.reader, (wend_str){text, (size_t)len}, &e);
    *err = w.err;
    arena_free(&w.arena);
    return s;
}

static wend_status run_with(const char *json, wend_str text, wend_error *err)
{
    wend_str values[1] = {str_of(json)};
    const struct json *trees[1] = {NULL}, *value;
    struct scope scope = {.values = values, .trees = trees};
    const struct expr *e;
    struct world w;
    wend_status s;

    world_begin(&w);
    scope.arena = &w.arena;
    names_add(&w.names, STR("x"));
    s = expr_parse(&w.reader, text, &e);
    if (!s)
        s = expr_value(e, &scope, &value, &w.err);
    *err = w.err;
    arena_free(&w.arena);
    return s;
}

static void test_bounds(void)
{
    static const char *const numbers[] = {" and ", " == 0 or ", " and - ",
                                          " - 0 * "};
    enum { BIG = 600 << 10 };
    char *big = malloc(BIG + 3), text[EXPRESSION_BYTES_MAX + 1];
    const struct expr *e;
    wend_error err = {0};
    struct world w;
    size_t len;

    tap_ok(!parse_nested(EXPR_DEPTH_MAX - 1, &err), "as deep as it may be");
    tap_ok(parse_nested(EXPR_DEPTH_MAX, &err) == WEND_E_PARSE &&
               strstr(err.message, "too deeply"),
           "one deeper");
    memset(text, ' ', sizeof text);
    text[0] = '1';
    world_begin(&w);
    tap_ok(!expr_parse(&w.reader, (wend_str){text, EXPRESSION_BYTES_MAX}, &e),
           "as long as it may be");
    tap_ok(expr_parse(&w.reader, (wend_str){text, EXPRESSION_BYTES_MAX + 1},
                      &e) == WEND_E_PARSE,
           "one longer");
    arena_free(&w.arena);
    if (!big)
        return;
    memset(big, 'a', BIG + 2);
    big[0] = big[BIG + 1] = '"';
    big[BIG + 2] = 0;
    tap_ok(run_with(big, STR("$x + $x"), &err) == WEND_E_LIMIT &&
               strstr(err.message, "too long"),
           "a text that grows over 1 MiB");
    len = 0;
    for (int i = 0; i < 20; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s$x == $x",
                                i ? " and " : "");
    tap_ok(run_with(big, (wend_str){text, len}, &err) == WEND_E_LIMIT &&
               strstr(err.message, "too much work") && err.column > 1,
           "work is counted");
    memset(big, '1', BIG);
    big[1] = '.'; /* so that it is no large number */
    big[BIG] = 0;
    for (size_t i = 0; i < tap_count(numbers); i++) {
        len = 0;
        for (int k = 0; k < 20; k++)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s$x",
                                    k ? numbers[i] : "");
        tap_ok(run_with(big, (wend_str){text, len}, &err) == WEND_E_LIMIT &&
                   strstr(err.message, "too much work"),
               "also that of digits:%s", numbers[i]);
    }
    free(big);
}

static void test_fault(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m, .chunk_min = 64};
        struct names names = {.arena = &a};
        wend_error err = {0};
        struct ref_reader r = {.arena = &a, .names = &names, .err = &err};
        wend_str values[2] = {STR("{\"k\":[1,2]}"), STR("\"Text\"")};
        const struct json *trees[2] = {0}, *value;
        struct scope scope = {.values = values, .trees = trees, .arena = &a};
        const struct expr *e;
        wend_status s = expr_parse(
            &r, STR("len(${a.k}) in [1, 2] and lower($b) + 'x' == 'textx'"),
            &e);

        if (!s)
            s = expr_value(e, &scope, &value, &err);
        if (!s)
            bad += value->kind != JSON_TRUE;
        arena_free(&a);
        bad +=
            f.live != 0 || (s == WEND_OK) == f.hit || (s && s != WEND_E_NOMEM);
    }
    tap_is_i64(bad, 0, "every allocation may fail (%d)", (int)f.fail_at);
}

int main(void)
{
    test_meanings();
    test_refusals();
    test_failures();
    test_missing_null();
    test_bounds();
    test_fault();
    return tap_done();
}

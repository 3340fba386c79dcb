/*
 * test_schema.c - what fits a JSON Schema, and what is said if it does not.
 */
#include "core/schema/schema.h"

#include "base/utf8.h"
#include "fault.h"
#include "schema_help.h"

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
    struct schema *compiled = NULL;
    wend_error err = {0};
    bool is;

    if (s)
        schema_compile(s, &a, &compiled, &err);
    if (!compiled || !v)
        buf_fmt(said, "the test's own JSON is wrong: %s", err.message);
    is = compiled && v && schema_check(compiled, v, said);
    arena_free(&a);
    return is;
}

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct buf said = {.mem = &plain}, schema = said, value = said;
        bool is = fits(quoted(&schema, rows[i].schema),
                       quoted(&value, rows[i].value), &said);

        for (size_t k = 0; k < said.len; k++)
            if (said.ptr[k] == '"')
                said.ptr[k] = '\'';
        tap_ok(is == !rows[i].wanted, "%s", rows[i].why);
        if (rows[i].wanted)
            tap_is_str(buf_view(&said), rows[i].wanted, "%s: what is said",
                       rows[i].why);
        else
            tap_is_i64((int64_t)said.len, 0, "%s: nothing is said",
                       rows[i].why);
        buf_free(&value);
        buf_free(&schema);
        buf_free(&said);
    }
}

static void test_types(void)
{
    static const struct row rows[] = {
        {"no rules", "{}", "[1]", NULL},
        {"true allows all", "true", "1", NULL},
        {"false allows nothing", "false", "1", "the value is not allowed"},
        {"an object", "{'type':'object'}", "{}", NULL},
        {"no object", "{'type':'object'}", "[]",
         "the value must be of type object, not array"},
        {"a string", "{'type':'string'}", "''", NULL},
        {"an integer", "{'type':'integer'}", "5", NULL},
        {"an integer in disguise", "{'type':'integer'}", "5.0", NULL},
        {"an integer by its exponent", "{'type':'integer'}", "1.5e1", NULL},
        {"an integer beyond 64 bits", "{'type':'integer'}", "1e400", NULL},
        {"no integer", "{'type':'integer'}", "5.5",
         "the value must be of type integer, not number"},
        {"no integer by its exponent", "{'type':'integer'}", "5e-1",
         "the value must be of type integer, not number"},
        {"a number", "{'type':'number'}", "5.5", NULL},
        {"an integer is a number", "{'type':'number'}", "5", NULL},
        {"null", "{'type':'null'}", "null", NULL},
        {"true is a boolean", "{'type':'boolean'}", "true", NULL},
        {"false is a boolean", "{'type':'boolean'}", "false", NULL},
        {"1 is none", "{'type':'boolean'}", "1",
         "the value must be of type boolean, not number"},
        {"false is no number", "{'type':'number'}", "false",
         "the value must be of type number, not boolean"},
        {"one of two types", "{'type':['string','null']}", "null", NULL},
        {"none of two types", "{'type':['string','null']}", "1",
         "the value must be of type null or string, not number"},
        {"number includes integer, said once", "{'type':['integer','number']}",
         "''", "the value must be of type number, not string"},
        {"format and unknown keywords are not checked",
         "{'format':'uri','contentEncoding':'base64','nice':1}", "'b'", NULL},
    };

    check_rows(rows, tap_count(rows));
}

static void test_values(void)
{
    static const struct row rows[] = {
        {"in enum", "{'enum':[1,'a',{'x':1,'y':2}]}", "{'y':2,'x':1.0}", NULL},
        {"not in enum", "{'enum':[1,'a',null]}", "'b'",
         "the value must be one of 1, 'a', null (enum)"},
        {"an empty enum", "{'enum':[]}", "1",
         "the value may be nothing (enum)"},
        {"const", "{'const':[1]}", "[1]", NULL},
        {"not const", "{'const':[1]}", "[2]", "the value must be [1] (const)"},
        {"const null is a rule", "{'const':null}", "0",
         "the value must be null (const)"},
        {"false is not 0", "{'const':0}", "false",
         "the value must be 0 (const)"},
        {"numbers beyond doubles differ", "{'const':9007199254740993}",
         "9007199254740992", "the value must be 9007199254740993 (const)"},
        {"long values are cut",
         "{'const':'0123456789012345678901234567890123456789"
         "0123456789012345678901234567890123456789'}",
         "1",
         "the value must be '0123456789012345678901234567890123456789"
         "0123456789012345678... (const)"},
    };

    check_rows(rows, tap_count(rows));
}

static void test_numbers(void)
{
    static const struct row rows[] = {
        {"at the minimum", "{'minimum':3}", "3", NULL},
        {"below it", "{'minimum':3}", "2.9",
         "the value must be at least 3 (minimum), is 2.9"},
        {"at the maximum", "{'maximum':3}", "3", NULL},
        {"above it", "{'maximum':3}", "3.1",
         "the value must be at most 3 (maximum), is 3.1"},
        {"above an exclusive minimum", "{'exclusiveMinimum':3}", "3.1", NULL},
        {"at it", "{'exclusiveMinimum':3}", "3",
         "the value must be above 3 (exclusiveMinimum), is 3"},
        {"below an exclusive maximum", "{'exclusiveMaximum':3}", "2.9", NULL},
        {"at that", "{'exclusiveMaximum':3}", "3.0",
         "the value must be below 3 (exclusiveMaximum), is 3.0"},
        {"bounds are for numbers only", "{'minimum':3}", "'1'", NULL},
        {"compared exactly, not as doubles", "{'maximum':9007199254740992}",
         "9007199254740993",
         "the value must be at most 9007199254740992 (maximum), "
         "is 9007199254740993"},
        {"below zero", "{'minimum':-1.5}", "-1.6",
         "the value must be at least -1.5 (minimum), is -1.6"},
        {"zero has no sign", "{'minimum':0}", "-0.0", NULL},
        {"beyond doubles", "{'maximum':1e400}", "1e399", NULL},
        {"draft 4, exclusive", "{'minimum':3,'exclusiveMinimum':true}", "3",
         "the value must be above 3 (minimum), is 3"},
        {"draft 4, not exclusive", "{'maximum':3,'exclusiveMaximum':false}",
         "3", NULL},
        {"a multiple", "{'multipleOf':3}", "9", NULL},
        {"zero is one of all", "{'multipleOf':3}", "0", NULL},
        {"no multiple", "{'multipleOf':3}", "10",
         "the value must be a multiple of 3 (multipleOf), is 10"},
        {"a multiple, where doubles err", "{'multipleOf':0.01}", "19.99", NULL},
        {"and 0.1 thrice", "{'multipleOf':0.1}", "0.3", NULL},
        {"no multiple by a hair", "{'multipleOf':0.01}", "19.991",
         "the value must be a multiple of 0.01 (multipleOf), is 19.991"},
        {"of a tiny unit", "{'multipleOf':1e-8}", "12391239123", NULL},
        {"of a unit with a fraction", "{'multipleOf':2.5e-1}", "1e2", NULL},
        {"negative", "{'multipleOf':0.5}", "-1.5", NULL},
        {"a huge exponent does not take forever", "{'multipleOf':7}",
         "1e999999999",
         "the value must be a multiple of 7 (multipleOf), is 1e999999999"},
        {"and may fit", "{'multipleOf':1024}", "1e999999999", NULL},
    };

    check_rows(rows, tap_count(rows));
}

static void test_strings(void)
{
    static const struct row rows[] = {
        {"long enough, in code points", "{'minLength':2}", "'\xc3\xa9\xc3\xa9'",
         NULL},
        {"too short", "{'minLength':2}", "'\xc3\xa9'",
         "the value must have at least 2 characters (minLength), has 1"},
        {"short enough", "{'maxLength':2}", "'\xc3\xa9\xc3\xa9'", NULL},
        {"too long", "{'maxLength':2}", "'abc'",
         "the value must have at most 2 characters (maxLength), has 3"},
        {"a count written as a fraction", "{'maxLength':2.0}", "'ab'", NULL},
        {"a count beyond all", "{'maxLength':1e30}", "'ab'", NULL},
        {"a pattern anywhere", "{'pattern':'b+'}", "'abbc'", NULL},
        {"a pattern nowhere", "{'pattern':'^b+$'}", "'abb'",
         "the value does not match the pattern '^b+$'"},
        {"patterns are for strings only", "{'pattern':'^b'}", "1", NULL},
    };

    check_rows(rows, tap_count(rows));
}

static void test_lists(void)
{
    static const struct row rows[] = {
        {"items enough", "{'minItems':1,'maxItems':1}", "[0]", NULL},
        {"too few items", "{'minItems':1}", "[]",
         "the value must have at least 1 items (minItems), has 0"},
        {"too many items", "{'maxItems':1}", "[0,0]",
         "the value must have at most 1 items (maxItems), has 2"},
        {"items", "{'items':{'type':'null'}}", "[null,1]",
         "[1] must be of type null, not number"},
        {"no items at all", "{'items':false}", "[1]", "[0] is not allowed"},
        {"prefixItems", "{'prefixItems':[{'const':1}],'items':{'const':2}}",
         "[1,2,2]", NULL},
        {"the first is wrong", "{'prefixItems':[{'const':1}]}", "[2]",
         "[0] must be 1 (const)"},
        {"the rest is wrong",
         "{'prefixItems':[{'const':1}],'items':{'const':2}}", "[1,1]",
         "[1] must be 2 (const)"},
        {"fewer than prefixItems", "{'prefixItems':[true,false]}", "[1]", NULL},
        {"draft 7: items as a list", "{'items':[{'const':1}]}", "[1,5]", NULL},
        {"draft 7: additionalItems",
         "{'items':[{'const':1}],'additionalItems':false}", "[1,5]",
         "[1] is not allowed"},
        {"additionalItems alone means nothing", "{'additionalItems':false}",
         "[1]", NULL},
        {"contains", "{'contains':{'const':1}}", "[0,1]", NULL},
        {"contains none", "{'contains':{'const':1}}", "[0]",
         "the value must have at least 1 items that fit contains "
         "(minContains), has 0"},
        {"minContains", "{'contains':{'const':1},'minContains':2}", "[1,0]",
         "the value must have at least 2 items that fit contains "
         "(minContains), has 1"},
        {"minContains 0", "{'contains':false,'minContains':0}", "[]", NULL},
        {"maxContains", "{'contains':{'const':1},'maxContains':1}", "[1,1]",
         "the value must have at most 1 items that fit contains "
         "(maxContains), has 2"},
        {"maxContains alone means nothing", "{'maxContains':0}", "[1]", NULL},
        {"all different", "{'uniqueItems':true}", "[1,'1',true,null,[],{}]",
         NULL},
        {"the same twice", "{'uniqueItems':true}", "[1,2,1.0]",
         "the value has the same item twice, at [0] and [2] (uniqueItems)"},
        {"the same object twice", "{'uniqueItems':true}",
         "[{'a':1,'b':[2]},0,{'b':[2.0],'a':1e0}]",
         "the value has the same item twice, at [0] and [2] (uniqueItems)"},
        {"nearly the same", "{'uniqueItems':true}",
         "[{'a':1,'b':2},{'a':1,'b':3},{'a':12},{'a':1},[1,2],[12],[[1],2]]",
         NULL},
        {"may be the same", "{'uniqueItems':false}", "[1,1]", NULL},
    };

    check_rows(rows, tap_count(rows));
}

#define PERSON                                                 \
    "{'type':'object','properties':{'name':{'type':'string'}," \
    "'tags':{'type':'array','items':{'type':'string'}}},"      \
    "'required':['name'],'additionalProperties':false}"

static void test_objects(void)
{
    static const struct row rows[] = {
        {"all is well", PERSON, "{'tags':['a'],'name':'x'}", NULL},
        {"one is missing", PERSON, "{'tags':[]}",
         "the value lacks the required property 'name'"},
        {"one is unknown", PERSON, "{'name':'x','age':1}",
         "the value has the unknown property 'age'; known are 'name', 'tags'"},
        {"one is misspelled", PERSON, "{'nmae':'x'}",
         "the value has the unknown property 'nmae'; did you mean 'name'?"},
        {"one is wrong", PERSON, "{'name':1}",
         "name must be of type string, not number"},
        {"deep inside", PERSON, "{'name':'x','tags':['a',null]}",
         "tags[1] must be of type string, not null"},
        {"a schema for all others",
         "{'additionalProperties':"
         "{'type':'integer'}}",
         "{'a':1,'b':'x'}", "b must be of type integer, not string"},
        {"objects in lists in objects",
         "{'properties':{'a':{'items':{'properties':{'b':"
         "{'items':{'maximum':1}}}}}}}",
         "{'a':[{},{'b':[0,1,2]}]}",
         "a[1].b[2] must be at most 1 (maximum), is 2"},
        {"odd keys are quoted", "{'additionalProperties':{'items':false}}",
         "{'a b.c':[1]}", "['a b.c'][0] is not allowed"},
        {"what is no object has no properties", "{'required':['a']}", "[]",
         NULL},
        {"required but not described", "{'required':['b','a','b']}", "{'b':1}",
         "the value lacks the required property 'a'"},
        {"required does not make it known",
         "{'required':['a'],'additionalProperties':false}", "{'a':1}",
         "the value has the unknown property 'a'"},
        {"patternProperties", "{'patternProperties':{'^x-':{'const':1}}}",
         "{'x-a':1,'y':2}", NULL},
        {"one of these is wrong", "{'patternProperties':{'^x-':{'const':1}}}",
         "{'x-a':2}", "x-a must be 1 (const)"},
        {"patterns make known",
         "{'patternProperties':{'^x':true},'additionalProperties':false}",
         "{'x1':2}", NULL},
        {"all patterns and the property count",
         "{'properties':{'x1':{'minimum':0}},'patternProperties':"
         "{'^x':{'maximum':5},'1$':{'maximum':3}}}",
         "{'x1':4}", "x1 must be at most 3 (maximum), is 4"},
        {"propertyNames", "{'propertyNames':{'maxLength':2}}", "{'abc':1}",
         "abc, as a name, must have at most 2 characters (maxLength), has 3"},
        {"too few", "{'minProperties':1}", "{}",
         "the value must have at least 1 properties (minProperties), has 0"},
        {"too many", "{'maxProperties':1}", "{'a':1,'b':2}",
         "the value must have at most 1 properties (maxProperties), has 2"},
        {"dependentRequired", "{'dependentRequired':{'a':['b']}}", "{'a':1}",
         "the value lacks the property 'b', which 'a' requires"},
        {"depends on nothing here", "{'dependentRequired':{'a':['b']}}",
         "{'c':1}", NULL},
        {"dependentSchemas", "{'dependentSchemas':{'a':{'maxProperties':1}}}",
         "{'a':1,'b':1}",
         "the value must have at most 1 properties (maxProperties), has 2"},
        {"draft 7: dependencies of both kinds",
         "{'dependencies':{'a':['b'],'b':{'required':['c']}}}", "{'a':1,'b':1}",
         "the value lacks the required property 'c'"},
    };

    check_rows(rows, tap_count(rows));
}

static void test_combined(void)
{
    static const struct row rows[] = {
        {"one of anyOf", "{'anyOf':[{'type':'null'},{'minimum':1}]}", "1",
         NULL},
        {"none of anyOf", "{'anyOf':[{'type':'null'},{'minimum':1}]}", "0",
         "the value fits none of the 2 schemas of anyOf: (1) the value must "
         "be of type null, not number; (2) the value must be at least 1 "
         "(minimum), is 0"},
        {"anyOf in anyOf is explained once",
         "{'anyOf':[{'anyOf':[false,false]},false,false,false]}", "0",
         "the value fits none of the 4 schemas of anyOf: (1) the value fits "
         "none of the 2 schemas of anyOf; (2) the value is not allowed; (3) "
         "the value is not allowed; ..."},
        {"one of oneOf", "{'oneOf':[{'minimum':5},{'minimum':1}]}", "3", NULL},
        {"two of oneOf", "{'oneOf':[{'minimum':5},false,{'minimum':1}]}", "6",
         "the value fits more than one schema of oneOf: (1) and (3)"},
        {"none of oneOf", "{'oneOf':[{'minimum':5}]}", "1",
         "the value fits none of the 1 schemas of oneOf: (1) the value must "
         "be at least 5 (minimum), is 1"},
        {"all of allOf", "{'allOf':[{'minimum':1},{'maximum':3}]}", "2", NULL},
        {"not all of allOf", "{'allOf':[{'minimum':1},{'maximum':3}]}", "4",
         "the value must be at most 3 (maximum), is 4"},
        {"not", "{'not':{'type':'null'}}", "1", NULL},
        {"not not", "{'not':{'type':'null'}}", "null",
         "the value fits the schema of not"},
        {"not of true", "{'not':true}", "1",
         "the value fits the schema of not"},
        {"if, then", "{'if':{'minimum':5},'then':{'maximum':7}}", "8",
         "the value must be at most 7 (maximum), is 8"},
        {"if not, else", "{'if':{'minimum':5},'else':{'maximum':3}}", "4",
         "the value must be at most 3 (maximum), is 4"},
        {"if alone decides nothing", "{'if':false}", "1", NULL},
        {"then without if means nothing", "{'then':false,'else':false}", "1",
         NULL},
    };

    check_rows(rows, tap_count(rows));
}

static void test_unevaluated(void)
{
    static const struct row rows[] = {
        {"known in allOf",
         "{'allOf':[{'properties':{'a':true}}],'unevaluatedProperties':false}",
         "{'a':1}", NULL},
        {"known nowhere",
         "{'allOf':[{'properties':{'a':true}}],'unevaluatedProperties':false}",
         "{'a':1,'b':1}",
         "the value has the unknown property 'b' (unevaluatedProperties)"},
        {"a schema for those",
         "{'properties':{'a':true},'unevaluatedProperties':{'const':2}}",
         "{'a':1,'b':3}", "b must be 2 (const)"},
        {"known behind a $ref",
         "{'$ref':'#/$defs/x','unevaluatedProperties':false,"
         "'$defs':{'x':{'properties':{'a':true}}}}",
         "{'a':1}", NULL},
        {"known in an alternative that fits",
         "{'anyOf':[{'properties':{'a':{'const':1}}},"
         "{'properties':{'b':true},'required':['b']}],"
         "'unevaluatedProperties':false}",
         "{'a':1,'b':1}", NULL},
        {"known in one that does not fit",
         "{'anyOf':[{'properties':{'a':{'const':1}}},"
         "{'properties':{'b':true},'required':['c']}],"
         "'unevaluatedProperties':false}",
         "{'a':1,'b':1}",
         "the value has the unknown property 'b' (unevaluatedProperties)"},
        {"known in not does not count",
         "{'not':{'not':{'properties':{'a':true}}},"
         "'unevaluatedProperties':false}",
         "{'a':1}",
         "the value has the unknown property 'a' (unevaluatedProperties)"},
        {"known in if and then",
         "{'if':{'properties':{'a':{'const':1}},'required':['a']},"
         "'then':{'properties':{'b':true}},'else':{'properties':{'c':true}},"
         "'unevaluatedProperties':false}",
         "{'a':1,'b':1}", NULL},
        {"known in if, which fails",
         "{'if':{'properties':{'a':{'const':1}},'required':['a']},"
         "'else':{'properties':{'c':true}},'unevaluatedProperties':false}",
         "{'a':2,'c':1}",
         "the value has the unknown property 'a' (unevaluatedProperties)"},
        {"known by dependentSchemas",
         "{'properties':{'a':true},'dependentSchemas':"
         "{'a':{'properties':{'b':true}}},'unevaluatedProperties':false}",
         "{'a':2,'b':1}", NULL},
        {"cousins do not see each other",
         "{'allOf':[{'properties':{'a':true}},"
         "{'unevaluatedProperties':false}]}",
         "{'a':1}",
         "the value has the unknown property 'a' (unevaluatedProperties)"},
        {"what it allows is known further up",
         "{'allOf':[{'unevaluatedProperties':true}],"
         "'unevaluatedProperties':false}",
         "{'a':1}", NULL},
    };

    check_rows(rows, tap_count(rows));
}

static void test_unevaluated_items(void)
{
    static const struct row rows[] = {
        {"items known in allOf",
         "{'allOf':[{'prefixItems':[true]}],'unevaluatedItems':false}", "[1]",
         NULL},
        {"items known nowhere",
         "{'allOf':[{'prefixItems':[true]}],'unevaluatedItems':false}", "[1,2]",
         "[1] is not allowed"},
        {"items that contains found",
         "{'contains':{'const':1},'unevaluatedItems':{'const':2}}", "[1,2,1]",
         NULL},
        {"items knows them all", "{'items':true,'unevaluatedItems':false}",
         "[1]", NULL},
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
    test_values();
    test_numbers();
    test_strings();
    test_lists();
    test_objects();
    test_combined();
    test_unevaluated();
    test_unevaluated_items();
    test_long_keys();
    test_deep();
    test_steps();
    return tap_done();
}

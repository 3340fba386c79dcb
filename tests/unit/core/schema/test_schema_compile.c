/*
 * test_schema_compile.c - what is no schema, where a $ref leads, and what
 * compiling and checking do at their limits and without memory.
 */
#include "core/schema/schema.h"

#include <time.h>

#include "base/limits.h"
#include "schema_help.h"

static const struct refused_row refused[] = {
    {"1", "# must be a schema: an object or a boolean"},
    {"{'type':'text'}", "#/type must be null, boolean, integer, number, "
                        "string, array, object or a list of these"},
    {"{'type':['string',1]}", "#/type/1 must be null, boolean, integer, "
                              "number, string, array, object or a list "
                              "of these"},
    {"{'type':[]}", "#/type must not be empty"},
    {"{'properties':{'a':{'items':{'minimum':'3'}}}}",
     "#/properties/a/items/minimum must be a number"},
    {"{'properties':{'a/b~c':3}}",
     "#/properties/a~1b~0c must be a schema: an object or a boolean"},
    {"{'properties':[]}", "#/properties must be an object of schemas"},
    {"{'required':true}", "#/required must be a list of names"},
    {"{'required':['a',1]}", "#/required/1 must be a string"},
    {"{'enum':'a'}", "#/enum must be a list of values"},
    {"{'allOf':[]}", "#/allOf must not be empty"},
    {"{'anyOf':{}}", "#/anyOf must be a list of schemas"},
    {"{'oneOf':[{},1]}", "#/oneOf/1 must be a schema: an object or a boolean"},
    {"{'not':null}", "#/not must be a schema: an object or a boolean"},
    {"{'minLength':-1}", "#/minLength must be an integer from 0 on"},
    {"{'minItems':1.5}", "#/minItems must be an integer from 0 on"},
    {"{'maxItems':'1'}", "#/maxItems must be a number"},
    {"{'exclusiveMinimum':'1'}", "#/exclusiveMinimum must be a number"},
    {"{'multipleOf':0}", "#/multipleOf must be above 0"},
    {"{'multipleOf':-1}", "#/multipleOf must be above 0"},
    {"{'multipleOf':1.234567890123456789}",
     "#/multipleOf must not have over 18 digits"},
    {"{'uniqueItems':1}", "#/uniqueItems must be a boolean"},
    {"{'pattern':1}", "#/pattern must be a string"},
    {"{'pattern':'('}",
     "#/pattern has a bad pattern '(': missing closing parenthesis"},
    {"{'patternProperties':{'a':{},'*':{}}}",
     "#/patternProperties/* has a bad pattern '*': nothing to repeat at "
     "byte 0"},
    {"{'patternProperties':1}",
     "#/patternProperties must be an object of schemas"},
    {"{'dependentRequired':{'a':[1]}}",
     "#/dependentRequired/a/0 must be a string"},
    {"{'dependentRequired':{'a':{}}}",
     "#/dependentRequired/a must be a list of names"},
    {"{'dependentSchemas':{'a':[]}}",
     "#/dependentSchemas/a must be a schema: an object or a boolean"},
    {"{'dependencies':1}", "#/dependencies must be an object"},
    {"{'$defs':{'a':{'type':1}}}",
     "#/$defs/a/type must be null, boolean, integer, number, string, "
     "array, object or a list of these"},
    {"{'definitions':[]}", "#/definitions must be an object of schemas"},
    {"{'prefixItems':[true],'items':[true]}",
     "#/items must be a schema: an object or a boolean"},
    {"{'$ref':1}", "#/$ref must be a string"},
    {"{'$ref':'#/$defs/b','$defs':{'a':{}}}",
     "#/$ref leads to nothing: '#/$defs/b'"},
    {"{'items':{'$ref':'#a'}}", "#/items/$ref leads to nothing: '#a'"},
    {"{'x':[1],'$ref':'#/x/0'}",
     "#/x/0 must be a schema: an object or a boolean"},
    {"{'x':[true],'$ref':'#/x/1'}", "#/$ref leads to nothing: '#/x/1'"},
    {"{'$ref':'https://example.com/s.json'}",
     "#/$ref leads out of the document, to 'https://example.com/s.json'; "
     "nothing is fetched"},
    {"{'$ref':'other.json#/a'}",
     "#/$ref leads out of the document, to 'other.json#/a'; nothing is "
     "fetched"},
    {"{'$id':1}", "#/$id must be a string"},
    {"{'$anchor':''}", "#/$anchor must be a name"},
    {"{'$defs':{'a':{'$anchor':'x'},'b':{'$anchor':'x'}}}",
     "#/$defs/b/$anchor is the name of another schema, too"},
    {"{'$defs':{'a':{'$id':'x'},'b':{'$id':'x'}}}",
     "#/$defs/b/$id is the name of another schema, too"},
};

static const struct pair_row refs[] = {
    {"into $defs",
     "{'items':{'$ref':'#/$defs/a'},'$defs':{'a':{'type':'null'}}}", "[null]",
     "[1]"},
    {"into definitions",
     "{'$ref':'#/definitions/a','definitions':{'a':{'type':'null'}}}", "null",
     "1"},
    {"to what no keyword knows",
     "{'$ref':'#/components/0/x','components':[{'x':{'type':'null'}}]}", "null",
     "1"},
    {"through another",
     "{'$ref':'#/$defs/a','$defs':{'a':{'$ref':'#/$defs/b'},"
     "'b':{'type':'null'}}}",
     "null", "1"},
    {"to itself, for a tree",
     "{'type':'object','properties':{'next':{'$ref':'#'}}}",
     "{'next':{'next':{}}}", "{'next':{'next':1}}"},
    {"beside other keywords",
     "{'$ref':'#/$defs/a','maximum':3,'$defs':{'a':{'minimum':1}}}", "2", "4"},
    {"escaped and encoded",
     "{'$ref':'#/$defs/a~1b~0c%25%20d','$defs':"
     "{'a/b~c% d':{'type':'null'}}}",
     "null", "1"},
    {"a percent sign that encodes nothing",
     "{'$ref':'#/$defs/a%2','$defs':{'a%2':{'type':'null'}}}", "null", "1"},
    {"an empty key", "{'$ref':'#/$defs/','$defs':{'':{'type':'null'}}}", "null",
     "1"},
    {"by $anchor",
     "{'$ref':'#here','$defs':{'a':{'$anchor':'here','type':'null'}}}", "null",
     "1"},
    {"by $dynamicRef",
     "{'$dynamicRef':'#n','$defs':{'a':{'$dynamicAnchor':'n',"
     "'type':'null'}}}",
     "null", "1"},
    {"draft 7: $id as an anchor",
     "{'$ref':'#here','$defs':{'a':{'$id':'#here','type':'null'}}}", "null",
     "1"},
    {"by $id", "{'$ref':'a.json','$defs':{'a':{'$id':'a.json','type':'null'}}}",
     "null", "1"},
    {"by an absolute URI",
     "{'$id':'https://example.com/x/root.json','$ref':"
     "'https://example.com/x/a.json','$defs':{'a':{'$id':'a.json',"
     "'type':'null'}}}",
     "null", "1"},
    {"by a path",
     "{'$id':'https://example.com/x/root.json','$ref':'/a.json',"
     "'$defs':{'a':{'$id':'https://example.com/a.json','type':'null'}}}",
     "null", "1"},
    {"to the document by its URI",
     "{'$id':'https://example.com/r','properties':{'a':{'$ref':"
     "'https://example.com/r#/$defs/a'}},'$defs':{'a':{'type':'null'}}}",
     "{'a':null}", "{'a':1}"},
    {"# is the nearest $id",
     "{'$defs':{'a':{'type':'string'}},'items':{'$id':'in','$ref':"
     "'#/$defs/a','$defs':{'a':{'type':'null'}}}}",
     "[null]", "['']"},
    {"an anchor belongs to its $id",
     "{'$defs':{'a':{'$id':'in','$defs':{'x':{'$anchor':'n',"
     "'type':'null'}}},'b':{'$anchor':'n','type':'string'}},"
     "'$ref':'in#n'}",
     "null", "''"},
    {"a $ref among values is no $ref",
     "{'enum':[{'$ref':'nowhere'}],'default':{'$ref':'nowhere'}}",
     "{'$ref':'nowhere'}", "1"},
    {"a property named $ref is no $ref",
     "{'properties':{'$ref':{'type':'null'}}}", "{'$ref':null}", "{'$ref':1}"},
};

/* Whatever is negated or tried, a check that stops does not fit. */
static void test_circles(void)
{
    static const char *const rows[] = {
        "{'$ref':'#'}",
        "{'not':{'$ref':'#'}}",
        "{'not':{'not':{'$ref':'#'}}}",
        "{'anyOf':[{'$ref':'#'},{'$ref':'#'},true]}",
        "{'oneOf':[{'$ref':'#'},true]}",
        "{'if':{'$ref':'#'},'then':true,'else':true}",
        "{'allOf':[{'$ref':'#'},{'$ref':'#'}]}",
        "{'dependentSchemas':{'a':{'$ref':'#'}}}",
        "{'$ref':'#/$defs/a','$defs':{'a':{'$ref':'#/$defs/b'},"
        "'b':{'$ref':'#/$defs/a'}}}",
        "{'$ref':'#','unevaluatedProperties':false}",
        "{'anyOf':[{'$ref':'#'},{'$ref':'#'}],'unevaluatedProperties':false}",
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        struct buf said = {.mem = &plain};
        wend_error err = {0};
        struct schema *s = compile(rows[i], &a, &err);
        struct json *v = json_parse(STR("{\"a\":1}"), &a, NULL);

        tap_ok(s && !schema_check(s, v, &said) &&
                   strstr(said.ptr, "nests too deep"),
               "a circle ends: %s", rows[i]);
        buf_free(&said);
        arena_free(&a);
    }
}

/* A schema of so many schemas, the root among them. */
static void test_nodes(void)
{
    for (int nodes = SCHEMA_NODES_MAX - 1; nodes <= SCHEMA_NODES_MAX + 1;
         nodes++) {
        struct arena a = {.mem = &plain};
        struct buf b = {.mem = &plain};
        wend_error err = {0};
        bool ok;

        buf_cstr(&b, "{'allOf':[true");
        for (int i = 2; i < nodes; i++)
            buf_cstr(&b, ",true");
        buf_cstr(&b, "]}");
        ok = compile(b.ptr, &a, &err) != NULL;
        tap_ok(ok == (nodes <= SCHEMA_NODES_MAX) &&
                   (ok || err.status == WEND_E_LIMIT),
               "%d schemas in one", nodes);
        buf_free(&b);
        arena_free(&a);
    }
}

/* A chain of $refs of so many schemas is as deep. */
static void test_depth(void)
{
    for (int deep = SCHEMA_DEPTH_MAX - 1; deep <= SCHEMA_DEPTH_MAX + 1;
         deep++) {
        struct arena a = {.mem = &plain};
        struct buf b = {.mem = &plain};
        wend_error err = {0};
        struct schema *s;

        buf_cstr(&b, "{'$ref':'#/$defs/1','$defs':{");
        for (int i = 1; i < deep - 1; i++)
            buf_fmt(&b, "'%d':{'$ref':'#/$defs/%d'},", i, i + 1);
        buf_fmt(&b, "'%d':{'minimum':1}}}", deep - 1);
        s = compile(b.ptr, &a, &err);
        tap_ok(s && schema_check(s, json_parse(STR("1"), &a, NULL), NULL) ==
                        (deep <= SCHEMA_DEPTH_MAX),
               "%d deep %s", deep, err.message);
        buf_free(&b);
        arena_free(&a);
    }
}

/* ---- Work ---------------------------------------------------------------- */

static void add_times(struct buf *b, int times, const char *text)
{
    for (int i = 0; i < times; i++)
        buf_cstr(b, text);
}

static void put_unique(struct buf *b, int i)
{
    buf_fmt(b, "%s{'x':[%d.0]}", i ? "," : "", i);
}

static void put_reversed(struct buf *b, int i)
{
    int count = 20000;

    if (i > 1)
        return;
    buf_cstr(b, i ? ",{" : "{");
    for (int k = 0; k < count; k++)
        buf_fmt(b, "%s'%d':0", k ? "," : "", i ? k : count - k);
    buf_cstr(b, "}");
}

static void put_pattern(struct buf *b, int i)
{
    buf_fmt(b, "%s'aaaaaaaaaaaaaaaaaaaaa%d'", i ? "," : "", i);
}

static void put_zero(struct buf *b, int i)
{
    buf_cstr(b, i ? ",0" : "0");
}

/* Lists that would take seconds if anything were quadratic. */
static void test_work(void)
{
    static const struct {
        const char *why, *schema;
        void (*put)(struct buf *b, int i);
        int count;
        bool wanted;
    } rows[] = {
        {"50,000 different objects", "{'uniqueItems':true}", put_unique, 50000,
         true},
        {"two objects with 20,000 keys in opposite order",
         "{'uniqueItems':true}", put_reversed, 2, true},
        {"100,000 equal numbers", "{'uniqueItems':true}", put_zero, 100000,
         false},
        {"a pattern that takes long, 5,000 times",
         "{'items':{'pattern':'^(?:a+)+[x-z]'}}", put_pattern, 5000, false},
        {"the same in anyOf of many",
         "{'items':{'anyOf':[{'pattern':'^(?:a+)+[x-z]'},true]}}", put_pattern,
         5000, false},
        {"100,000 items, each looked at four times",
         "{'items':{'allOf':[{'minimum':0},{'maximum':0},{'const':0}]}}",
         put_zero, 100000, true},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        struct buf b = {.mem = &plain}, value = b;
        wend_error err = {0};
        struct schema *s = compile(rows[i].schema, &a, &err);
        clock_t began;
        bool fits;

        buf_cstr(&b, "[");
        for (int k = 0; k < rows[i].count; k++)
            rows[i].put(&b, k);
        buf_cstr(&b, "]");
        began = clock();
        fits = schema_check(
            s, json_parse(str_of(quoted(&value, b.ptr)), &a, NULL), NULL);
        tap_ok(fits == rows[i].wanted, "work: %s", rows[i].why);
        tap_ok(clock() - began < 15 * CLOCKS_PER_SEC, "work: %s, in time",
               rows[i].why);
        buf_free(&value);
        buf_free(&b);
        arena_free(&a);
    }
}

/* As few steps as a check can have that is stopped for them. */
static void test_steps(void)
{
    struct arena a = {.mem = &plain};
    struct buf b = {.mem = &plain}, value = b, said = b;
    wend_error err = {0};
    struct schema *s;
    struct json *v;

    buf_cstr(&b, "{'items':{'anyOf':[");
    add_times(&b, 2500, "false,");
    buf_cstr(&b, "false]}}");
    buf_cstr(&value, "[");
    add_times(&value, 2500, "0,");
    buf_cstr(&value, "0]");
    s = compile(b.ptr, &a, &err);
    v = json_parse(buf_view(&value), &a, NULL);
    tap_ok(!schema_check(s, v, &said), "one item fits none of 2,500");
    buf_clear(&said);
    buf_clear(&b);
    buf_cstr(&b, "{'items':{'not':{'anyOf':[");
    add_times(&b, 2500, "false,");
    buf_cstr(&b, "false]}}}");
    s = compile(b.ptr, &a, &err);
    tap_ok(!schema_check(s, v, &said) && strstr(said.ptr, "too many steps"),
           "2,500 items, 2,500 schemas: %s", said.ptr);
    buf_free(&b);
    buf_free(&value);
    buf_free(&said);
    arena_free(&a);
}

/* Writes n for each @. */
static void put_numbered(struct buf *b, const char *text, int n)
{
    for (; *text; text++)
        if (*text == '@')
            buf_i64(b, n);
        else
            buf_char(b, *text);
}

/* Schemas that would take minutes if each $ref or $id were compared with all
 * others; those that can be compiled are. */
static void test_names(void)
{
    enum { MANY = SCHEMA_NODES_MAX - 10, FAR = 600000 };
    static const struct {
        const char *why, *each;
        int count;
        int segments; /* of the $id of the whole */
        int items;    /* before the one that a $ref may lead to */
        wend_status wanted;
    } rows[] = {
        {"many URIs", "'@':{'$id':'b@','$ref':'b0'}", MANY, 900, 0, WEND_OK},
        {"many anchors", "'@':{'$anchor':'an-anchor-@','$ref':'#an-anchor-0'}",
         MANY, 1, 0, WEND_OK},
        {"many URIs, each long", "'@':{'$id':'b@'}", MANY, 20000, 0,
         WEND_E_INVAL},
        {"some that lead far", "'@':{'$ref':'#/x/600000'}", 50, 1, FAR,
         WEND_OK},
        {"many that lead far", "'@':{'$ref':'#/x/600000'}", MANY, 1, FAR,
         WEND_E_LIMIT},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        struct buf b = {.mem = &plain};
        wend_error err = {0};
        clock_t began;

        buf_cstr(&b, "{'$id':'http://a.example/");
        add_times(&b, rows[i].segments, "a/");
        buf_cstr(&b, "','x':[");
        add_times(&b, rows[i].items, "0,");
        buf_cstr(&b, "true],'$defs':{");
        for (int k = 0; k < rows[i].count; k++) {
            buf_cstr(&b, k ? "," : "");
            put_numbered(&b, rows[i].each, k);
        }
        buf_cstr(&b, "}}");
        began = clock();
        compile(b.ptr, &a, &err);
        tap_is_i64(err.status, rows[i].wanted, "names: %s %s", rows[i].why,
                   err.message);
        tap_ok(clock() - began < 20 * CLOCKS_PER_SEC, "names: %s, in time",
               rows[i].why);
        buf_free(&b);
        arena_free(&a);
    }
}

static void test_uri_length(void)
{
    for (int len = SCHEMA_URI_MAX - 1; len <= SCHEMA_URI_MAX + 1; len++) {
        struct arena a = {.mem = &plain};
        struct buf b = {.mem = &plain};
        wend_error err = {0};
        bool ok;

        buf_cstr(&b, "{'$id':'x:");
        add_times(&b, len - 2, "a");
        buf_cstr(&b, "'}");
        ok = compile(b.ptr, &a, &err) != NULL;
        tap_ok(ok == (len <= SCHEMA_URI_MAX) &&
                   (ok || strstr(err.message, "makes a URI of over 2048")),
               "a URI of %d bytes %s", len, err.message);
        buf_free(&b);
        arena_free(&a);
    }
}

/* ---- Without memory ------------------------------------------------------ */

#define ALL                                                                   \
    "{'$id':'x:y','type':'object','properties':{'a':{'$ref':'#/$defs/a%20'}," \
    "'b':{'pattern':'^b+$'},'c':{'uniqueItems':true}},'required':['a','q'],"  \
    "'patternProperties':{'^x':{'enum':[1,2]}},'dependentRequired':{'a':"     \
    "['b']},'dependentSchemas':{'a':true},'allOf':[{'anyOf':[{'properties':"  \
    "{'q':true}},false]}],'unevaluatedProperties':false,"                     \
    "'$defs':{'a ':{'$anchor':'n','type':'integer'}}}"

/* 70 members, so that marks need memory; the last is wrong. */
static struct json *large_value(struct arena *a, struct buf *b)
{
    struct buf text = {.mem = &plain};

    buf_cstr(&text, "{'a':1,'b':'bb','c':[[1],{'a':1,'b':2}],'q':1");
    for (int i = 0; i < 70; i++)
        buf_fmt(&text, ",'x%d':1", i);
    buf_cstr(&text, ",'y':1}");
    quoted(b, text.ptr);
    buf_free(&text);
    return json_parse(buf_view(b), a, NULL);
}

static void test_faults(void)
{
    struct arena outside = {.mem = &plain};
    struct buf b = {.mem = &plain}, schema = b;
    struct json *value = large_value(&outside, &b);
    struct json *json =
        json_parse(str_of(quoted(&schema, ALL)), &outside, NULL);

    test_without_memory(json, value,
                        "the value has the unknown property 'y' "
                        "(unevaluatedProperties)");
    buf_free(&b);
    buf_free(&schema);
    arena_free(&outside);
}

int main(void)
{
    test_refused(refused, tap_count(refused));
    test_pairs(refs, tap_count(refs), "$ref");
    test_circles();
    test_nodes();
    test_depth();
    test_work();
    test_steps();
    test_names();
    test_uri_length();
    test_faults();
    return tap_done();
}

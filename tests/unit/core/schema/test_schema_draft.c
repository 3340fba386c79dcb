/*
 * test_schema_draft.c - drafts, metaschemas, and references that depend on
 * where a check came from.
 */
#include "core/schema/schema_node.h"

#include <time.h>

#include "base/limits.h"
#include "schema_help.h"

#define META_2020 "https://json-schema.org/draft/2020-12/schema"
#define META_2019 "https://json-schema.org/draft/2019-09/schema"
#define META_7 "http://json-schema.org/draft-07/schema#"
#define META_6 "http://json-schema.org/draft-06/schema#"
#define META_4 "http://json-schema.org/draft-04/schema#"

/* ---- Dynamic references -------------------------------------------------- */

/* A list whose items whoever refers to it may say. */
#define LIST                                                               \
    "'list':{'$id':'list','type':'array','items':{'$dynamicRef':'#item'}," \
    "'$defs':{'any':{'$dynamicAnchor':'item'}}}"
/* A tree; in 2019-09 without names. */
#define TREE                                                        \
    "'tree':{'$id':'tree','$dynamicAnchor':'node','type':'object'," \
    "'properties':{'data':true,'kids':{'items':{'$dynamicRef':'#node'}}}}"
#define TREE_2019                                                   \
    "'tree':{'$id':'tree','$recursiveAnchor':true,'type':'object'," \
    "'properties':{'data':true,'kids':{'items':{'$recursiveRef':'#'}}}}"

static const struct pair_row dynamic[] = {
    {"the outermost resource says what it is",
     "{'$id':'x:y/r','$ref':'list','$defs':{'n':{'$dynamicAnchor':'item',"
     "'type':'null'}," LIST "}}",
     "[null]", "[1]"},
    {"alone it is what stands beside it",
     "{'$ref':'list','$defs':{" LIST "},'minItems':1}", "[1]", "[]"},
    {"resources between without the anchor do not count",
     "{'$id':'x:y/r','$ref':'middle','$defs':{'n':{'$dynamicAnchor':'item',"
     "'type':'null'},'m':{'$id':'middle','$ref':'list'}," LIST "}}",
     "[null]", "[1]"},
    {"a plain anchor of that name does not count",
     "{'$id':'x:y/r','$ref':'list','$defs':{'n':{'$anchor':'item',"
     "'type':'null'}," LIST "},'minItems':1}",
     "[1]", "[]"},
    {"a plain anchor where it leads first makes it a $ref",
     "{'$id':'x:y/r','$ref':'list','$defs':{'n':{'$dynamicAnchor':'item',"
     "'type':'string'},'list':{'$id':'list','items':{'$dynamicRef':'#item'},"
     "'$defs':{'any':{'$anchor':'item','type':'null'}}}}}",
     "[null]", "['']"},
    {"a pointer makes it a $ref",
     "{'$id':'x:y/r','$ref':'list','$defs':{'n':{'$dynamicAnchor':'item',"
     "'type':'string'},'list':{'$id':'list','items':{'$dynamicRef':"
     "'#/$defs/any'},'$defs':{'any':{'$dynamicAnchor':'item',"
     "'type':'null'}}}}}",
     "[null]", "['']"},
    {"a $ref to a dynamic anchor is a $ref",
     "{'$id':'x:y/r','$ref':'list','$defs':{'n':{'$dynamicAnchor':'item',"
     "'type':'string'},'list':{'$id':'list','items':{'$ref':'#item'},"
     "'$defs':{'any':{'$dynamicAnchor':'item','type':'null'}}}}}",
     "[null]", "['']"},
    {"a schema may have one name of both kinds",
     "{'$id':'x:y/r','$ref':'list','$defs':{'n':{'$anchor':'item',"
     "'$dynamicAnchor':'item','type':'null'}," LIST "}}",
     "[null]", "[1]"},
    {"what a check has left does not count",
     "{'$id':'x:y/r','if':{'$id':'one','$defs':{'n':{'$dynamicAnchor':'item',"
     "'type':'string'}}},'then':{'$id':'two','$ref':'list','$defs':{'n':"
     "{'$dynamicAnchor':'item','type':'null'}}},'$defs':{" LIST "}}",
     "[null]", "['']"},
    {"a tree without unknown properties",
     "{'$id':'x:y/strict','$dynamicAnchor':'node','$ref':'tree',"
     "'unevaluatedProperties':false,'$defs':{" TREE "}}",
     "{'data':1,'kids':[{'data':2}]}", "{'kids':[{'daat':2}]}"},
    {"the same tree as it is", "{'$ref':'tree','$defs':{" TREE "}}",
     "{'kids':[{'daat':2}]}", "{'kids':[1]}"},
    {"2019-09: a tree without unknown properties",
     "{'$schema':'" META_2019 "','$id':'x:y/strict','$recursiveAnchor':true,"
     "'$ref':'tree','unevaluatedProperties':false,'$defs':{" TREE_2019 "}}",
     "{'data':1,'kids':[{'data':2}]}", "{'kids':[{'daat':2}]}"},
    {"2019-09: only who says so is extended",
     "{'$schema':'" META_2019 "','$id':'x:y/strict','$recursiveAnchor':false,"
     "'$ref':'tree','unevaluatedProperties':false,'$defs':{" TREE_2019 "}}",
     "{'kids':[{'daat':2}]}", "{'kids':[1]}"},
    {"2020-12 has no $recursiveAnchor",
     "{'$id':'x:y/strict','$recursiveAnchor':true,'$ref':'tree',"
     "'unevaluatedProperties':false,'$defs':{" TREE_2019 "}}",
     "{'kids':[{'daat':2}]}", "{'kids':[1]}"},
    {"items that a dynamic reference looks at are evaluated",
     "{'$id':'x:y/r','$ref':'base','$defs':{'more':{'$dynamicAnchor':'more',"
     "'prefixItems':[true,{'type':'null'}]},'base':{'$id':'base',"
     "'prefixItems':[true],'$dynamicRef':'#more','unevaluatedItems':false,"
     "'$defs':{'none':{'$dynamicAnchor':'more'}}}}}",
     "[1,null]", "[1,null,2]"},
};

/* ---- Drafts -------------------------------------------------------------- */

#define BESIDE(schema)                                               \
    "{" schema "'$ref':'#/definitions/a','maximum':1,'definitions':" \
    "{'a':{'minimum':0}}}"

static const struct pair_row drafts[] = {
    {"2020-12: keywords beside a $ref count",
     BESIDE("'$schema':'" META_2020 "',"), "1", "2"},
    {"2019-09: keywords beside a $ref count",
     BESIDE("'$schema':'" META_2019 "',"), "1", "2"},
    {"no $schema is 2020-12", BESIDE(""), "1", "2"},
    {"the newest, whichever",
     BESIDE("'$schema':'http://json-schema.org/schema#',"), "1", "2"},
    {"draft 7: they do not", BESIDE("'$schema':'" META_7 "',"), "2", "-1"},
    {"draft 6: they do not", BESIDE("'$schema':'" META_6 "',"), "2", "-1"},
    {"draft 4: they do not", BESIDE("'$schema':'" META_4 "',"), "2", "-1"},
    {"https and no # mean the same",
     BESIDE("'$schema':'https://json-schema.org/draft-07/schema',"), "2", "-1"},
    {"draft 7: no $id beside a $ref",
     "{'$schema':'" META_7 "','$id':'x:y/z/r','definitions':{'a':{'$id':"
     "'x:y/a','type':'null'},'b':{'$id':'x:y/z/a','type':'string'}},"
     "'allOf':[{'$id':'x:y/','$ref':'a'}]}",
     "''", "null"},
    {"draft 7: what the $ref of the whole leads to has an $id",
     "{'$schema':'" META_7 "','$ref':'#a','definitions':{'a':{'$id':'#a',"
     "'type':'null'}}}",
     "null", "1"},
    {"draft 4: id",
     "{'$schema':'" META_4 "','id':'x:y/r','allOf':[{'$ref':'a#b'}],"
     "'definitions':{'a':{'id':'a','definitions':{'b':{'id':'#b',"
     "'type':'null'}}}}}",
     "null", "1"},
    {"draft 7: id is nothing", "{'$schema':'" META_7 "','id':7,'type':'null'}",
     "null", "1"},
    {"a part with an $id has its own draft",
     "{'$ref':'old','maximum':9,'$defs':{'o':{'$id':'old','$schema':'" META_7
     "','allOf':[{'$ref':'#/definitions/a','maximum':1}],'definitions':"
     "{'a':{'minimum':0}}}}}",
     "2", "10"},
    {"a part without an $id has the draft of the whole",
     "{'allOf':[{'$schema':'" META_7 "','$ref':'#/$defs/a','maximum':1}],"
     "'$defs':{'a':true}}",
     "1", "2"},
};

static const struct refused_row refused[] = {
    {"{'$schema':'https://example.com/own'}",
     "#/$schema names no draft of JSON Schema that is built in (2020-12, "
     "2019-09, 7, 6 or 4): 'https://example.com/own'; nothing is fetched"},
    {"{'$schema':'http://json-schema.org/draft-03/schema#'}",
     "#/$schema names no draft of JSON Schema that is built in (2020-12, "
     "2019-09, 7, 6 or 4): 'http://json-schema.org/draft-03/schema#'; nothing "
     "is fetched"},
    {"{'$schema':''}",
     "#/$schema names no draft of JSON Schema that is built in (2020-12, "
     "2019-09, 7, 6 or 4): ''; nothing is fetched"},
    {"{'$schema':7}", "#/$schema must be a string"},
    {"{'$defs':{'a':{'$id':'a','$schema':'x:y'}}}",
     "#/$defs/a/$schema names no draft of JSON Schema that is built in "
     "(2020-12, 2019-09, 7, 6 or 4): 'x:y'; nothing is fetched"},
    {"{'$schema':'" META_4 "','id':4}", "#/id must be a string"},
    {"{'$dynamicRef':1}", "#/$dynamicRef must be a string"},
    {"{'$dynamicAnchor':1}", "#/$dynamicAnchor must be a name"},
    {"{'$dynamicRef':'#a'}", "#/$dynamicRef leads to nothing: '#a'"},
    {"{'$defs':{'a':{'$anchor':'x'},'b':{'$dynamicAnchor':'x'}}}",
     "#/$defs/b/$dynamicAnchor is the name of another schema, too"},
    {"{'$schema':'" META_2019 "','$recursiveAnchor':'x'}",
     "#/$recursiveAnchor must be a boolean"},
    {"{'$id':'http://a.example/b/c.json','items':{'$ref':'../d.json#/e'}}",
     "#/items/$ref leads out of the document, to 'http://a.example/d.json#/e';"
     " nothing is fetched"},
    {"{'$ref':'" META_2020 "#nothing'}",
     "#/$ref leads to nothing: '" META_2020 "#nothing'"},
    {"{'$ref':'https://json-schema.org/draft/2020-12/meta/no'}",
     "#/$ref leads out of the document, to "
     "'https://json-schema.org/draft/2020-12/meta/no'; nothing is fetched"},
    {"{'$id':'" META_2020 "','$ref':'meta/core','$defs':{'a':{'$id':"
     "'https://json-schema.org/draft/2020-12/meta/core','type':1}}}",
     "#/$defs/a/type must be null, boolean, integer, number, string, array, "
     "object or a list of these"},
};

/* ---- Metaschemas --------------------------------------------------------- */

static const struct pair_row metas[] = {
    {"2020-12", "{'$ref':'" META_2020 "'}", "{'minLength':1}",
     "{'minLength':-1}"},
    {"2020-12, deep inside", "{'$ref':'" META_2020 "'}",
     "{'items':{'not':{'$defs':{'a':{'type':'null'}}}}}",
     "{'items':{'not':{'$defs':{'a':{'type':'nil'}}}}}"},
    {"2020-12, a name", "{'$ref':'" META_2020 "'}", "{'$anchor':'a-b'}",
     "{'$anchor':'#a'}"},
    {"2020-12 by its anchor", "{'$ref':'" META_2020 "#meta'}", "true", "1"},
    {"a vocabulary alone",
     "{'$ref':'https://json-schema.org/draft/2020-12/meta/unevaluated'}",
     "{'unevaluatedItems':{'type':1}}", "{'unevaluatedItems':1}"},
    {"a part of a vocabulary",
     "{'$ref':'https://json-schema.org/draft/2020-12/meta/validation"
     "#/$defs/nonNegativeInteger'}",
     "0", "-1"},
    {"2019-09", "{'$ref':'" META_2019 "'}",
     "{'items':[{'$recursiveAnchor':true}]}",
     "{'items':[{'$recursiveAnchor':1}]}"},
    {"draft 7", "{'$ref':'" META_7 "'}", "{'if':{'const':1},'enum':[]}",
     "{'if':{'enum':1}}"},
    {"draft 7, one of its definitions",
     "{'$ref':'" META_7 "/definitions/simpleTypes'}", "'null'", "'nil'"},
    {"draft 6", "{'$ref':'" META_6 "'}", "{'not':{'exclusiveMinimum':1}}",
     "{'not':{'exclusiveMinimum':true}}"},
    {"draft 4", "{'$ref':'" META_4 "'}",
     "{'not':{'minimum':1,'exclusiveMinimum':true}}",
     "{'not':{'exclusiveMinimum':true}}"},
    {"draft 4 has no booleans", "{'$ref':'" META_4 "'}",
     "{'additionalItems':true}", "{'items':true}"},
    {"two of them",
     "{'anyOf':[{'$ref':'" META_4 "'},{'$ref':'" META_2020 "'},{'$ref':'" META_4
     "'}]}",
     "true", "1"},
    {"an own one extends it, all the way down",
     "{'$id':'x:y/strict','$dynamicAnchor':'meta','$ref':'" META_2020
     "','required':['title']}",
     "{'title':'','not':{'title':''}}", "{'title':'','not':{}}"},
    {"one of the document comes first",
     "{'$ref':'" META_7 "','$defs':{'a':{'$id':'" META_7 "','type':'null'}}}",
     "null", "{}"},
};

/* Each fits the metaschema of its own draft. */
static void test_own(void)
{
    static const char *const names[] = {"schema",
                                        "meta/core",
                                        "meta/applicator",
                                        "meta/unevaluated",
                                        "meta/validation",
                                        "meta/meta-data",
                                        "meta/format",
                                        "meta/content",
                                        "meta/format-annotation",
                                        "meta/format-assertion"};
    static const struct {
        const char *folder;
        int count;
    } rows[] = {{"https://json-schema.org/draft/2020-12/", 9},
                {"https://json-schema.org/draft/2019-09/", 7},
                {"http://json-schema.org/draft-07/", 1},
                {"http://json-schema.org/draft-06/", 1},
                {"http://json-schema.org/draft-04/", 1}};

    for (size_t i = 0; i < tap_count(rows); i++) {
        int found = 0, good = 0;

        for (size_t n = 0; n < tap_count(names); n++) {
            struct arena a = {.mem = &plain};
            struct buf b = {.mem = &plain};
            wend_error err = {0};
            struct schema *s;
            int meta;

            buf_fmt(&b, "%s%s", rows[i].folder, names[n]);
            meta = schema_meta_find(buf_view(&b));
            found += meta >= 0;
            buf_clear(&b);
            buf_fmt(&b, "{'$ref':'%sschema'}", rows[i].folder);
            s = compile(b.ptr, &a, &err);
            if (s && meta >= 0)
                good += schema_check(s, schema_meta_load(meta, &a), NULL);
            buf_free(&b);
            arena_free(&a);
        }
        tap_is_i64(found, rows[i].count, "metaschemas in %s", rows[i].folder);
        tap_is_i64(good, rows[i].count, "and all of them are schemas");
    }
}

/* ---- URIs ---------------------------------------------------------------- */

/* The examples of RFC 3986, 5.4, and what schemas have besides. */
static void test_uris(void)
{
#define RFC "http://a/b/c/d;p?q"
    static const struct {
        const char *base, *ref, *wanted;
    } rows[] = {
        {RFC, "g:h", "g:h"},
        {RFC, "g", "http://a/b/c/g"},
        {RFC, "./g", "http://a/b/c/g"},
        {RFC, "g/", "http://a/b/c/g/"},
        {RFC, "/g", "http://a/g"},
        {RFC, "//g", "http://g"},
        {RFC, "?y", "http://a/b/c/d;p?y"},
        {RFC, "g?y", "http://a/b/c/g?y"},
        {RFC, ";x", "http://a/b/c/;x"},
        {RFC, ".", "http://a/b/c/"},
        {RFC, "./", "http://a/b/c/"},
        {RFC, "..", "http://a/b/"},
        {RFC, "../", "http://a/b/"},
        {RFC, "../g", "http://a/b/g"},
        {RFC, "../..", "http://a/"},
        {RFC, "../../g", "http://a/g"},
        {RFC, "../../../g", "http://a/g"},
        {RFC, "/./g", "http://a/g"},
        {RFC, "/../g", "http://a/g"},
        {RFC, "g.", "http://a/b/c/g."},
        {RFC, "..g", "http://a/b/c/..g"},
        {RFC, "./../g", "http://a/b/g"},
        {RFC, "./g/.", "http://a/b/c/g/"},
        {RFC, "g/./h", "http://a/b/c/g/h"},
        {RFC, "g/../h", "http://a/b/c/h"},
        {RFC, "g?y/../x", "http://a/b/c/g?y/../x"},
        {"http://a", "g", "http://a/g"},
        {"http://a", "/g", "http://a/g"},
        {"http://a?q", "?y", "http://a?y"},
        {"http://a?q/r", "g", "http://a/g"},
        {"file:///a/b", "c", "file:///a/c"},
        {"urn:a:b", "urn:c:d", "urn:c:d"},
        {"urn:a:b/../c", "urn:a:b/../c", "urn:a:b/../c"},
        {"a/b.json", "c.json", "a/c.json"},
        {"a/b.json", "../c.json", "c.json"},
        {"b.json", "../../c.json", "c.json"},
        {"b.json", "./c.json", "c.json"},
        {NULL, "./c.json", "c.json"},
        {NULL, "http://a/b/../c", "http://a/c"},
        {NULL, "a?b:c", "a?b:c"},
        {"a?b:c", "?", "a?"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};

        tap_is_str(
            schema_uri_join(&a, str_of(rows[i].base), str_of(rows[i].ref)),
            rows[i].wanted, "%s beside %s", rows[i].ref,
            rows[i].base ? rows[i].base : "nothing");
        arena_free(&a);
    }
}

/* ---- Limits -------------------------------------------------------------- */

static void test_circles(void)
{
    static const char *const rows[] = {
        "{'$dynamicAnchor':'a','$dynamicRef':'#a'}",
        "{'$dynamicAnchor':'a','not':{'$dynamicRef':'#a'}}",
        "{'$dynamicAnchor':'a','anyOf':[{'$dynamicRef':'#a'},true]}",
        "{'$schema':'" META_2019 "','$recursiveAnchor':true,'$recursiveRef':"
        "'#'}",
        "{'$id':'x:y/a','$dynamicAnchor':'n','$ref':'b','$defs':{'b':{'$id':"
        "'b','$dynamicAnchor':'n','$dynamicRef':'#n'}}}",
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        struct buf said = {.mem = &plain};
        wend_error err = {0};
        struct schema *s = compile(rows[i], &a, &err);

        tap_ok(s && !schema_check(s, read_quoted("{}", &a, NULL), &said) &&
                   strstr(said.ptr, "nests too deep"),
               "a circle ends: %s %s", rows[i], err.message);
        buf_free(&said);
        arena_free(&a);
    }
}

/* Two resources lead to each other for as deep as a check goes; each look for
 * an anchor passes 4,000 others in every one of them. */
static void test_work(void)
{
    struct arena a = {.mem = &plain};
    struct buf b = {.mem = &plain}, said = b, value = b;
    wend_error err = {0};
    struct schema *s;
    clock_t began;

    buf_cstr(&b, "{'$ref':'x:0','$defs':{");
    for (int r = 0; r < 2; r++) {
        buf_fmt(&b,
                "%s'%d':{'$id':'x:%d','items':{'$ref':'x:%d'},'contains':"
                "{'$dynamicRef':'#a'},'$defs':{'n':{'$dynamicAnchor':'a'}",
                r ? "," : "", r, r, 1 - r);
        for (int i = 0; i < 4000; i++)
            buf_fmt(&b, ",'%d':{'$dynamicAnchor':'a%d'}", i, i);
        buf_cstr(&b, "}}");
    }
    buf_cstr(&b, "}}");
    s = compile(b.ptr, &a, &err);
    for (int i = 0; i < JSON_DEPTH_MAX - 1; i++)
        buf_cstr(&value, "[0,0,0,0,0,0,0,0,");
    buf_char(&value, '0');
    for (int i = 0; i < JSON_DEPTH_MAX - 1; i++)
        buf_char(&value, ']');
    began = clock();
    tap_ok(s && !schema_check(s, read_quoted(value.ptr, &a, NULL), &said) &&
               strstr(said.ptr, "too many steps"),
           "looks for anchors are steps %s", err.message);
    tap_ok(clock() - began < 3 * CLOCKS_PER_SEC, "and end in time");
    buf_free(&b);
    buf_free(&said);
    buf_free(&value);
    arena_free(&a);
}

/* ---- Without memory ------------------------------------------------------ */

static void test_faults(void)
{
    static const char schema[] =
        "{'$schema':'" META_2020 "','$id':'http://a.example/b/c',"
        "'$dynamicAnchor':'meta','allOf':[{'$ref':'" META_2020 "'},"
        "{'$ref':'./d'},{'$ref':'" META_4
        "'}],'$defs':{'d':{'$id':'../b/d','$schema':'" META_2019
        "','$recursiveAnchor':true,'properties':{'not':"
        "{'$recursiveRef':'#'}}}}}";
    struct arena outside = {.mem = &plain};
    struct json *json = read_quoted(schema, &outside, NULL);

    test_without_memory(json, json,
                        "$defs.d.$recursiveAnchor must be of type string, not "
                        "boolean");
    arena_free(&outside);
}

int main(void)
{
    test_pairs(dynamic, tap_count(dynamic), "dynamic");
    test_pairs(drafts, tap_count(drafts), "drafts");
    test_refused(refused, tap_count(refused));
    test_pairs(metas, tap_count(metas), "metaschema");
    test_own();
    test_uris();
    test_circles();
    test_work();
    test_faults();
    return tap_done();
}

/*
 * schema_meta.c - the metaschemas of JSON Schema, from 2020-12 to draft 4.
 *
 * A schema may refer to one of these, and nothing is fetched. They say all
 * that can be checked; titles, descriptions, defaults and formats are left
 * out. What they write often is one character here.
 */
#include <assert.h>

#include "core/schema/schema_node.h"

#define FOLDER_2020 "https://json-schema.org/draft/2020-12/"
#define FOLDER_2019 "https://json-schema.org/draft/2019-09/"

/* What differs from draft to draft. */
static const struct {
    const char *uri, *id;      /* and the keyword that gives a schema its URI */
    const char *anchor;        /* a member that lets a schema be extended */
    const char *self;          /* any schema */
    const char *place, *count; /* of definitions; of the one for counts */
} drafts[] = {
    [DRAFT_4] = {"http://json-schema.org/draft-04/schema", "id", "",
                 "{'$ref':'#'}", "definitions", "positiveInteger"},
    [DRAFT_6] = {"http://json-schema.org/draft-06/schema", "$id", "",
                 "{'$ref':'#'}", "definitions", "nonNegativeInteger"},
    [DRAFT_7] = {"http://json-schema.org/draft-07/schema", "$id", "",
                 "{'$ref':'#'}", "definitions", "nonNegativeInteger"},
    [DRAFT_2019] = {FOLDER_2019 "schema", "$id", "'$recursiveAnchor':true,",
                    "{'$recursiveRef':'#'}", "$defs", "nonNegativeInteger"},
    [DRAFT_2020] = {FOLDER_2020 "schema", "$id", "'$dynamicAnchor':'meta',",
                    "{'$dynamicRef':'#meta'}", "$defs", "nonNegativeInteger"},
};

/* What one character stands for; @, | and + are the draft's self, place and
 * count. */
static const struct {
    char c;
    const char *text;
} short_forms[] = {
    {'%', "{'type':'string'}"},
    {'~', "{'type':'boolean'}"},
    {'!', "{'type':'number'}"},
    {'&', "{'type':'object','additionalProperties':@}"},
    {'=', "{'$ref':'#/|/+'}"},
    {';', "{'$ref':'#/|/+Default0'}"},
    {'<', "{'$ref':'#/|/schemaArray'}"},
    {'>', "{'$ref':'#/|/stringArray'}"},
};

/* ---- What several of them have ------------------------------------------- */

/* clang-format off */
#define COUNT "'+':{'type':'integer','minimum':0},"
#define SIMPLE_TYPES \
    "'simpleTypes':{'enum':['array','boolean','integer','null','number'," \
    "'object','string']},"
#define SCHEMA_ARRAY "'schemaArray':{'type':'array','minItems':1,'items':@}"
#define STRING_ARRAY(more) \
    "'stringArray':{'type':'array','items':%," more "'uniqueItems':true}"

#define COUNTS \
    "'maxLength':=,'minLength':;,'pattern':%,'maxItems':=,'minItems':;," \
    "'uniqueItems':~,'maxProperties':=,'minProperties':;,'required':>,"
#define BOUNDS \
    "'multipleOf':{'type':'number','exclusiveMinimum':0},'maximum':!," \
    "'exclusiveMaximum':!,'minimum':!,'exclusiveMinimum':!,"
#define TYPE \
    "'type':{'anyOf':[{'$ref':'#/|/simpleTypes'},{'type':'array','items':" \
    "{'$ref':'#/|/simpleTypes'},'minItems':1,'uniqueItems':true}]},"
#define COMBINED "'allOf':<,'anyOf':<,'oneOf':<,'not':@,"
#define ITEMS "'items':{'anyOf':[@,<]},"
#define DEPENDENCIES(names) \
    "'dependencies':{'type':'object','additionalProperties':" \
    "{'anyOf':[@," names "]}}"
#define SOME_VALUES "{'type':'array','minItems':1,'uniqueItems':true}"
#define ANY_VALUES(any) "{'type':'array','items':" any "}"

#define OBJECT(properties) \
    "'type':['object','boolean'],'properties':{" properties "}"

/* ---- Vocabularies of 2019-09 and 2020-12 --------------------------------- */

#define REF(to) "{'$ref':'" to "'}"
#define OLD_NAMES \
    "'definitions':&," \
    DEPENDENCIES(REF("meta/validation#/$defs/stringArray"))
#define CORE(uri) \
    "'$vocabulary':{'type':'object','propertyNames':" uri "," \
    "'additionalProperties':~},'$comment':%,'$defs':&"
#define APPLICATOR(more) \
    OBJECT(more COMBINED "'contains':@,'additionalProperties':@," \
           "'properties':&,'patternProperties':&,'dependentSchemas':&," \
           "'propertyNames':@,'if':@,'then':@,'else':@") \
    ",'$defs':{" SCHEMA_ARRAY "}"
#define VALIDATION \
    OBJECT(BOUNDS COUNTS TYPE "'maxContains':=,'minContains':=," \
           "'dependentRequired':{'type':'object','additionalProperties':>}," \
           "'const':true,'enum':" ANY_VALUES("true")) \
    ",'$defs':{" COUNT "'+Default0':=," SIMPLE_TYPES STRING_ARRAY("") "}"
#define META_DATA \
    OBJECT("'title':%,'description':%,'default':true,'deprecated':~," \
           "'readOnly':~,'writeOnly':~,'examples':" ANY_VALUES("true"))
#define FORMAT OBJECT("'format':%")
#define CONTENT \
    OBJECT("'contentEncoding':%,'contentMediaType':%,'contentSchema':@")

/* ---- Drafts before them, in one piece ------------------------------------ */

#define DEFINITIONS(more) \
    "'definitions':{" COUNT "'+Default0':{'allOf':[=]}," SIMPLE_TYPES \
    SCHEMA_ARRAY "," STRING_ARRAY(more) "},"
#define PROPERTIES_4 \
    "'$schema':%,'title':%,'description':%,'definitions':&,'properties':&," \
    "'patternProperties':&,'format':%," COUNTS TYPE ITEMS COMBINED \
    DEPENDENCIES(">") ","
#define PROPERTIES_6(any) \
    PROPERTIES_4 BOUNDS "'$id':%,'$ref':%,'examples':" ANY_VALUES(any) "," \
    "'default':" any ",'const':" any ",'additionalItems':@,'contains':@," \
    "'additionalProperties':@,'propertyNames':@,"

/* ---- The metaschemas ----------------------------------------------------- */

static const struct {
    enum schema_draft draft;
    const char *vocabulary; /* its URI; NULL: the draft's schema */
    const char *text;
} metas[] = {
    {DRAFT_2020, NULL,
     "'allOf':[" REF("meta/core") "," REF("meta/applicator") ","
     REF("meta/unevaluated") "," REF("meta/validation") ","
     REF("meta/meta-data") "," REF("meta/format-annotation") ","
     REF("meta/content") "],"
     OBJECT(OLD_NAMES ","
            "'$recursiveAnchor':" REF("meta/core#/$defs/anchorString") ","
            "'$recursiveRef':" REF("meta/core#/$defs/uriReferenceString"))},
    {DRAFT_2020, FOLDER_2020 "meta/core",
     OBJECT("'$id':{'$ref':'#/$defs/uriReferenceString',"
            "'pattern':'^[^#]*#?$'},"
            "'$schema':" REF("#/$defs/uriString") ","
            "'$ref':" REF("#/$defs/uriReferenceString") ","
            "'$anchor':" REF("#/$defs/anchorString") ","
            "'$dynamicRef':" REF("#/$defs/uriReferenceString") ","
            "'$dynamicAnchor':" REF("#/$defs/anchorString") ","
            CORE(REF("#/$defs/uriString")))
     ",'$defs':{'uriString':%,'uriReferenceString':%,'anchorString':"
     "{'type':'string','pattern':'^[A-Za-z_][-A-Za-z0-9._]*$'}}"},
    {DRAFT_2020, FOLDER_2020 "meta/applicator",
     APPLICATOR("'prefixItems':<,'items':@,")},
    {DRAFT_2020, FOLDER_2020 "meta/unevaluated",
     OBJECT("'unevaluatedItems':@,'unevaluatedProperties':@")},
    {DRAFT_2020, FOLDER_2020 "meta/validation", VALIDATION},
    {DRAFT_2020, FOLDER_2020 "meta/meta-data", META_DATA},
    {DRAFT_2020, FOLDER_2020 "meta/format-annotation", FORMAT},
    {DRAFT_2020, FOLDER_2020 "meta/format-assertion", FORMAT},
    {DRAFT_2020, FOLDER_2020 "meta/content", CONTENT},
    {DRAFT_2019, NULL,
     "'allOf':[" REF("meta/core") "," REF("meta/applicator") ","
     REF("meta/validation") "," REF("meta/meta-data") ","
     REF("meta/format") "," REF("meta/content") "],"
     OBJECT(OLD_NAMES)},
    {DRAFT_2019, FOLDER_2019 "meta/core",
     OBJECT("'$id':{'type':'string','pattern':'^[^#]*#?$'},'$schema':%,"
            "'$anchor':{'type':'string',"
            "'pattern':'^[A-Za-z][-A-Za-z0-9.:_]*$'},'$ref':%,"
            "'$recursiveRef':%,'$recursiveAnchor':~," CORE("%"))},
    {DRAFT_2019, FOLDER_2019 "meta/applicator",
     APPLICATOR(ITEMS "'additionalItems':@,'unevaluatedItems':@,"
                "'unevaluatedProperties':@,")},
    {DRAFT_2019, FOLDER_2019 "meta/validation", VALIDATION},
    {DRAFT_2019, FOLDER_2019 "meta/meta-data", META_DATA},
    {DRAFT_2019, FOLDER_2019 "meta/format", FORMAT},
    {DRAFT_2019, FOLDER_2019 "meta/content", CONTENT},
    {DRAFT_7, NULL,
     DEFINITIONS("")
     OBJECT(PROPERTIES_6("true")
            "'$comment':%,'readOnly':~,'writeOnly':~,'contentMediaType':%,"
            "'contentEncoding':%,'if':@,'then':@,'else':@,"
            "'enum':" ANY_VALUES("true"))},
    {DRAFT_6, NULL,
     DEFINITIONS("") OBJECT(PROPERTIES_6("{}") "'enum':" SOME_VALUES)},
    {DRAFT_4, NULL,
     DEFINITIONS("'minItems':1,")
     "'type':'object','properties':{" PROPERTIES_4 "'id':%,'default':{},"
     "'multipleOf':{'type':'number','minimum':0,'exclusiveMinimum':true},"
     "'maximum':!,'exclusiveMaximum':~,'minimum':!,'exclusiveMinimum':~,"
     "'additionalItems':{'anyOf':[~,@]},"
     "'additionalProperties':{'anyOf':[~,@]},'enum':" SOME_VALUES "},"
     "'dependencies':{'exclusiveMaximum':['maximum'],"
     "'exclusiveMinimum':['minimum']}"},
};
/* clang-format on */

enum { METAS = sizeof metas / sizeof *metas };

_Static_assert(METAS <= 8 * sizeof(((struct compiling *)0)->metas),
               "one bit each");

static wend_str without(wend_str s, const char *prefix)
{
    size_t len = strlen(prefix);

    return str_starts(s, prefix) ? (wend_str){s.ptr + len, s.len - len} : s;
}

static wend_str host_on(wend_str uri)
{
    return without(without(uri, "http://"), "https://");
}

/* Each draft is written with either scheme, with and without a "#". */
bool schema_draft_find(wend_str uri, enum schema_draft *out)
{
    uri.len -= uri.len && uri.ptr[uri.len - 1] == '#';
    uri = host_on(uri);
    for (int i = DRAFT_4; i <= DRAFT_2020; i++)
        if (str_eq(uri, host_on(str_of(drafts[i].uri)))) {
            *out = (enum schema_draft)i;
            return true;
        }
    *out = DRAFT_2020;
    return str_is(uri, "json-schema.org/schema"); /* the newest */
}

static const char *uri_of(int meta)
{
    return metas[meta].vocabulary ? metas[meta].vocabulary
                                  : drafts[metas[meta].draft].uri;
}

int schema_meta_find(wend_str uri)
{
    for (int i = 0; i < METAS; i++)
        if (str_is(uri, uri_of(i)))
            return i;
    return -1;
}

static const char *long_form(enum schema_draft draft, char c)
{
    switch (c) {
    case '@': return drafts[draft].self;
    case '|': return drafts[draft].place;
    case '+': return drafts[draft].count;
    }
    for (size_t i = 0; i < sizeof short_forms / sizeof *short_forms; i++)
        if (c == short_forms[i].c)
            return short_forms[i].text;
    return NULL;
}

/* Recursion is two deep: a short form, and in it what the draft says. */
static void put_text(struct buf *b, enum schema_draft draft, const char *text)
{
    for (; *text; text++) {
        const char *more = long_form(draft, *text);

        if (more)
            put_text(b, draft, more);
        else
            buf_char(b, *text == '\'' ? '"' : *text);
    }
}

const struct json *schema_meta_load(int meta, struct arena *a)
{
    enum schema_draft draft = metas[meta].draft;
    struct buf b = {.mem = a->mem};
    wend_str text;

    assert(meta >= 0 && meta < METAS);
    buf_fmt(&b, "{\"$schema\":\"%s\",\"%s\":\"%s\",", drafts[draft].uri,
            drafts[draft].id, uri_of(meta));
    put_text(&b, draft, drafts[draft].anchor);
    put_text(&b, draft, metas[meta].text);
    buf_char(&b, '}');
    text = buf_keep(&b, a);
    return text.ptr ? json_parse(text, a, NULL) : NULL;
}

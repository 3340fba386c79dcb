/*
 * test_parts.c - an assistant's message in the order the model wrote it.
 */
#include "wire/model/parts.h"
#include "wire_help.h"

static const struct {
    const char *why, *text, *opaque, *out;
    int calls;
} rows[] = {
    {"nothing", "", "[]", "", 0},
    {"no list at all", "ab", NULL, "t:ab", 0},
    {"not JSON", "ab", "[{", "t:ab", 0},
    {"no list", "ab", "{\"p\":\"me\"}", "t:ab", 0},
    {"text, then calls", "ab", "[]", "t:ab c:0 c:1", 2},
    {"first", "ab", "[{\"p\":\"me\",\"text\":0,\"calls\":0,\"x\":1}]",
     "i:1 t:ab c:0", 1},
    {"between", "abcd",
     "[{\"p\":\"me\",\"text\":2,\"calls\":0,\"x\":1},"
     "{\"p\":\"me\",\"text\":4,\"calls\":1,\"x\":2}]",
     "t:ab i:1 t:cd c:0 i:2 c:1", 2},
    {"another's is passed over", "ab",
     "[{\"p\":\"you\",\"text\":0,\"calls\":0,\"x\":1},{\"x\":2},3,"
     "{\"p\":\"me\",\"text\":0,\"calls\":0,\"x\":4}]",
     "i:4 t:ab", 0},
    {"about a text", "abcdef",
     "[{\"p\":\"me\",\"text\":2,\"calls\":0,\"len\":3,\"x\":1}]",
     "t:ab i:1(cde) t:f", 0},
    {"about an empty text at the end", "ab",
     "[{\"p\":\"me\",\"text\":2,\"calls\":0,\"len\":0,\"x\":1}]", "t:ab i:1",
     0},
    {"about a call", "a",
     "[{\"p\":\"me\",\"text\":1,\"calls\":1,\"call\":true,\"x\":1}]",
     "t:a c:0 i:1(c1) c:2", 3},
    {"about a call that is not there", "a",
     "[{\"p\":\"me\",\"text\":9,\"calls\":9,\"call\":true,\"x\":1}]",
     "t:a c:0 i:1", 1},
    {"beyond the text, before its beginning", "ab",
     "[{\"p\":\"me\",\"text\":99,\"calls\":0,\"len\":99,\"x\":1},"
     "{\"p\":\"me\",\"text\":-1,\"calls\":-1,\"x\":2}]",
     "t:ab i:1 i:2 c:0", 1},
    {"inside a character", "h\xc3\xa9!",
     "[{\"p\":\"me\",\"text\":2,\"calls\":0,\"len\":1,\"x\":1}]",
     "t:h i:1 t:\xc3\xa9!", 0},
    {"no places", "ab", "[{\"p\":\"me\",\"x\":1}]", "i:1 t:ab c:0", 1},
};

static void show(struct buf *b, const struct part *p)
{
    static const char kinds[] = {
        [PART_TEXT] = 't', [PART_CALL] = 'c', [PART_ITEM] = 'i'};

    buf_fmt(b, "%s%c:", b->len ? " " : "", kinds[p->kind]);
    if (p->kind == PART_ITEM)
        buf_fmt(b, "%d", (int)wire_i64(p->item, "x"));
    if (p->kind == PART_ITEM && p->text.len)
        buf_fmt(b, "(%.*s)", (int)p->text.len, p->text.ptr);
    if (p->kind == PART_ITEM && p->call)
        buf_fmt(b, "(c%u)", (unsigned)p->call->index);
    if (p->kind == PART_TEXT)
        buf_str(b, p->text);
    if (p->kind == PART_CALL)
        buf_i64(b, p->call->index);
}

static void test_order(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf out = {.mem = &wire_plain};
        struct parts parts;
        struct part part;
        struct talk k;

        talk_init(&k, "{}");
        talk_add(&k, ROLE_ASSISTANT, rows[i].text);
        k.last->opaque = str_of(rows[i].opaque);
        for (int c = 0; c < rows[i].calls; c++)
            talk_call(&k, "id", "name", "{}");
        parts_begin(&parts, &k.turn, k.last, "me", &k.arena);
        while ((part = parts_next(&parts)).kind != PART_END)
            show(&out, &part);
        tap_ok(!parts_left(&parts), "%s: all of it", rows[i].why);
        tap_is_str(buf_view(&out), rows[i].out, "%s", rows[i].why);
        buf_free(&out);
        talk_free(&k);
    }
}

static const struct {
    const char *schema;
    bool strict;
} schemas[] = {
    {"{\"type\":\"string\"}", true},
    {"{\"type\":[\"string\",\"null\"]}", true},
    {"{\"type\":\"object\"}", false},
    {"{\"type\":[\"object\",\"null\"]}", false},
    {"{\"type\":\"object\",\"additionalProperties\":false}", true},
    {"{\"type\":\"object\",\"additionalProperties\":true}", false},
    {"{\"properties\":{\"a\":{}},\"additionalProperties\":false}", false},
    {"{\"properties\":{\"a\":{}},\"required\":[\"a\"],"
     "\"additionalProperties\":false}",
     true},
    {"{\"properties\":{\"a\":{\"minimum\":1}},\"required\":[\"a\"],"
     "\"additionalProperties\":false}",
     false},
    {"{\"type\":\"array\",\"items\":{\"type\":\"object\"}}", false},
    {"{\"type\":\"array\",\"items\":{\"enum\":[1,{\"minimum\":2}]}}", true},
    {"{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"object\"}]}", false},
    {"{\"anyOf\":[{\"type\":\"null\"},{\"const\":1}]}", true},
    {"{\"$ref\":\"#\"}", false},
    {"true", false},
};

static void test_schemas(void)
{
    for (size_t i = 0; i < tap_count(schemas); i++) {
        struct arena a = {.mem = &wire_plain};
        struct json *j = json_parse(str_of(schemas[i].schema), &a, NULL);

        tap_ok(schema_is_strict(j) == schemas[i].strict, "%s",
               schemas[i].schema);
        arena_free(&a);
    }
    tap_ok(!schema_is_strict(NULL), "no schema");
}

int main(void)
{
    test_order();
    test_schemas();
    return tap_done();
}

/*
 * test_config.c - what an agent is, from the bytes in the log.
 */
#include "core/policy/policy.h"

#include "base/limits.h"
#include "fault.h"
#include "tap.h"

static const struct mem plain;

#define FULL                                                              \
    "{\"instructions\":\"Be brief.\",\"eager\":\"off\",\"hooks\":true,"   \
    "\"context_tokens\":1000,\"output_tokens\":50,\"unknown\":[1],"       \
    "\"schema\":{ \"type\" : \"array\" },\"tools\":["                     \
    "{\"name\":\"write\",\"description\":\"d\",\"subject\":\"path\","     \
    "\"class\":\"idempotent\",\"category\":\"destructive\","              \
    "\"concurrent\":true,\"timeout_ms\":7,"                               \
    "\"schema\":{ \"type\" : \"object\" }},"                              \
    "{\"name\":\"read\",\"class\":\"read\"},"                             \
    "{\"name\":\"rea\"}],"                                                \
    "\"policy\":{\"approve\":\"deny\",\"rules\":[\"read\",\"!write(/etc/" \
    "*)\"]}}"

static struct config *parse(const char *text, struct arena *a, wend_error *err)
{
    struct config *c = NULL;

    return config_parse(str_of(text), a, &c, err) == WEND_OK ? c : NULL;
}

static void test_full(void)
{
    struct arena a = {.mem = &plain};
    struct config *c = parse(FULL, &a, NULL);
    const struct tool *t;

    if (!tap_ok(c != NULL, "parses"))
        return;
    tap_is_str(c->json, FULL, "keeps the bytes it came from");
    tap_is_str(c->instructions, "Be brief.", "instructions");
    tap_ok(c->eager == EAGER_OFF && c->hooks && c->models_count == 1 &&
               c->models[0].context_tokens == 1000 &&
               c->models[0].output_tokens == 50,
           "plain members");
    tap_is_str(c->schema_text, "{\"type\":\"array\"}", "the answer's schema");
    tap_ok(c->schema && strstr(c->frame.parts.ptr, "{\"name\":\"schema\","),
           "it is compiled, and a part of every context");
    tap_is_i64((int64_t)c->tools_count, 3, "tools");
    t = config_tool(c, STR("write"));
    tap_ok(t && t->call_class == WEND_CLASS_IDEMPOTENT &&
               t->category == WEND_CATEGORY_DESTRUCTIVE && t->concurrent &&
               t->timeout_ms == 7,
           "a tool with everything");
    tap_is_str(t->schema_text, "{\"type\":\"object\"}",
               "its schema is canonical");
    tap_is_str(t->subject, "path", "its subject");
    t = config_tool(c, STR("rea"));
    tap_ok(t && t->call_class == WEND_CLASS_UNSAFE && !t->concurrent &&
               t->category == WEND_CATEGORY_GENERAL && !t->schema &&
               t->timeout_ms == TOOL_TIMEOUT_DEFAULT_MS,
           "a tool with nothing is unsafe");
    tap_ok(config_tool(c, STR("read")) && !config_tool(c, STR("re")) &&
               !config_tool(c, STR("reads")) && !config_tool(c, STR_NONE) &&
               !config_tool(c, STR("")),
           "only whole names are found");
    tap_ok(c->own.approve == APPROVE_DENY && c->own.rules_count == 2 &&
               c->own.rules[0].decision == WEND_DECISION_ALLOW &&
               c->own.rules[1].decision == WEND_DECISION_DENY,
           "rules in their order");
    tap_is_str(c->own.rules[1].subject, "/etc/*", "a rule's glob");
    arena_free(&a);
}

/* Agents refuse such schemas, but another version may have written the log. */
static void test_bad_schema(void)
{
    struct arena a = {.mem = &plain};
    struct config *c = parse("{\"schema\":{\"type\":1},"
                             "\"tools\":[{\"name\":\"t\",\"schema\":"
                             "{\"$ref\":\"https://example.com\"}}]}",
                             &a, NULL);

    tap_ok(c && !c->tools[0].schema,
           "a tool whose schema does not compile takes any arguments");
    tap_ok(c && c->tools[0].schema_text.len > 0, "and shows it still");
    tap_ok(c && !c->schema, "and any answer is one");
    tap_ok(c && c->tools[0].schema_wrong.len > 0 && c->schema_wrong.len > 0,
           "both say why");
    c = parse("{\"schema\":7,\"tools\":[{\"name\":\"t\",\"schema\":null}]}", &a,
              NULL);
    tap_ok(c && !c->schema && c->schema_wrong.len > 0 &&
               !c->tools[0].schema_wrong.ptr,
           "a number is an invalid schema, null is no schema");
    arena_free(&a);
}

static void test_empty(void)
{
    struct arena a = {.mem = &plain};
    struct config *c = parse("{}", &a, NULL);

    tap_ok(c && !c->tools_count && !c->own.rules_count && !c->hooks &&
               c->own.approve == APPROVE_ASK && c->eager == EAGER_SAFE &&
               c->models[0].context_tokens > 0 && !c->frame.tokens,
           "an empty one has the defaults");
    tap_ok(c && !config_tool(c, STR("x")), "and no tool");
    arena_free(&a);
}

static void test_refused(void)
{
    static const struct {
        const char *why, *text, *wanted;
    } rows[] = {
        {"no JSON", "{", ""},
        {"a tool without a name", "{\"tools\":[{}]}", "without a name"},
        {"a tool that is a string", "{\"tools\":[\"x\"]}", "without a name"},
        {"a rule without a tool", "{\"policy\":{\"rules\":[\"(x)\"]}}",
         "names no tool"},
        {"a rule that only denies", "{\"policy\":{\"rules\":[\"!\"]}}",
         "names no tool"},
        {"an empty rule", "{\"policy\":{\"rules\":[\"\"]}}", "names no tool"},
        {"a rule that does not close",
         "{\"policy\":{\"rules\":[\"write(/etc/*\"]}}", "no closing )"},
        {"a rule that is a number", "{\"policy\":{\"rules\":[5]}}",
         "names no tool"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        wend_error err = {0};

        tap_ok(!parse(rows[i].text, &a, &err) &&
                   strstr(err.message, rows[i].wanted),
               "refused: %s", rows[i].why);
        arena_free(&a);
    }
}

static void test_rules(void)
{
    static const struct {
        const char *text, *tool, *subject;
        wend_decision decision;
    } rows[] = {
        {"read", "read", NULL, WEND_DECISION_ALLOW},
        {"!read", "read", NULL, WEND_DECISION_DENY},
        {"?read", "read", NULL, WEND_DECISION_ASK},
        {"??ead", "?ead", NULL, WEND_DECISION_ASK},
        {"mcp.*", "mcp.*", NULL, WEND_DECISION_ALLOW},
        {"write(*.c)", "write", "*.c", WEND_DECISION_ALLOW},
        {"!write()", "write", "", WEND_DECISION_DENY},
        {"?write(a?)", "write", "a?", WEND_DECISION_ASK},
        {"run(echo (a) (b))", "run", "echo (a) (b)", WEND_DECISION_ALLOW},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct rule r;

        tap_ok(rule_parse(str_of(rows[i].text), &r, NULL) == WEND_OK &&
                   r.decision == rows[i].decision,
               "rule %s", rows[i].text);
        tap_is_str(r.tool, rows[i].tool, "rule %s: tool", rows[i].text);
        tap_is_str(r.subject, rows[i].subject, "rule %s: subject",
                   rows[i].text);
        tap_is_str(r.text, rows[i].text, "rule %s: as written", rows[i].text);
    }
}

/* The prefix changes with what a provider would see, and with nothing else. */
static void test_prefix(void)
{
    static const struct {
        const char *why, *text;
        bool same;
    } rows[] = {
        {"another policy",
         "{\"instructions\":\"i\",\"tools\":[{\"name\":\"a\"},"
         "{\"name\":\"b\"}],\"policy\":{\"approve\":\"all\"}}",
         true},
        {"tools in another order",
         "{\"instructions\":\"i\",\"tools\":[{\"name\":\"b\"},"
         "{\"name\":\"a\"}]}",
         true},
        {"other instructions",
         "{\"instructions\":\"j\",\"tools\":[{\"name\":\"a\"},"
         "{\"name\":\"b\"}]}",
         false},
        {"a description",
         "{\"instructions\":\"i\",\"tools\":[{\"name\":\"a\","
         "\"description\":\"d\"},{\"name\":\"b\"}]}",
         false},
        {"the same letters in one tool",
         "{\"instructions\":\"i\",\"tools\":[{\"name\":\"ab\"}]}", false},
        {"the same letters in the instructions",
         "{\"instructions\":\"ia\",\"tools\":[{\"name\":\"b\"}]}", false},
    };
    struct arena a = {.mem = &plain};
    const struct config *c = parse("{\"instructions\":\"i\",\"tools\":"
                                   "[{\"name\":\"a\"},{\"name\":\"b\"}]}",
                                   &a, NULL);

    for (size_t i = 0; i < tap_count(rows); i++) {
        const struct config *other = parse(rows[i].text, &a, NULL);

        tap_ok(c && other &&
                   (c->frame.prefix == other->frame.prefix) == rows[i].same,
               "prefix: %s", rows[i].why);
    }
    arena_free(&a);
}

/* A log may come from elsewhere: half a price is invalid. */
static void test_price(void)
{
    static const struct {
        const char *why, *text;
        bool known;
    } rows[] = {
        {"none", "{}", false},
        {"all", "{\"price\":{\"input\":3,\"cached\":2,\"output\":0}}", true},
        {"the highest",
         "{\"price\":{\"input\":2000000000000,\"cached\":0,\"output\":0}}",
         true},
        {"one too high",
         "{\"price\":{\"input\":2000000000001,\"cached\":0,\"output\":0}}",
         false},
        {"one below nothing",
         "{\"price\":{\"input\":3,\"cached\":-1,\"output\":0}}", false},
        {"one for writing a cache",
         "{\"price\":{\"input\":3,\"cached\":2,\"output\":0,"
         "\"cache_write\":4}}",
         true},
        {"that one too high",
         "{\"price\":{\"input\":3,\"cached\":2,\"output\":0,"
         "\"cache_write\":2000000000001}}",
         false},
        {"one missing", "{\"price\":{\"input\":3,\"output\":0}}", false},
        {"no mapping", "{\"price\":[1,2,3]}", false},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        const struct config *c = parse(rows[i].text, &a, NULL);

        tap_ok(c && c->models[0].price.known == rows[i].known, "price: %s",
               rows[i].why);
        tap_ok(c && (c->models[0].price.known || !c->models[0].price.input),
               "  whole or not");
        arena_free(&a);
    }
}

static void test_faults(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m, .chunk_min = 64};
        struct config *c = NULL;

        bad += config_parse(STR(FULL), &a, &c, NULL) !=
               (f.hit ? WEND_E_NOMEM : WEND_OK);
        arena_free(&a);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "each failing allocation is reported, no leak");
}

int main(void)
{
    test_full();
    test_bad_schema();
    test_empty();
    test_refused();
    test_rules();
    test_prefix();
    test_price();
    test_faults();
    return tap_done();
}

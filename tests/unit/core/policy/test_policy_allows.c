/*
 * test_policy_allows.c - the rule that a denial names really allows the call.
 */
#include "core/turn/verdict.h"

#include "tap.h"

static const struct mem plain;

static const char tools[] = "\"root\":\"/w/s\",\"tools\":["
                            "{\"name\":\"read_file\",\"source\":\"builtin\","
                            "\"class\":\"read\",\"subject\":\"path\"},"
                            "{\"name\":\"write_file\",\"source\":\"builtin\","
                            "\"subject\":\"path\"},"
                            "{\"name\":\"edit_file\",\"source\":\"builtin\","
                            "\"subject\":\"path\"},"
                            "{\"name\":\"shell\",\"source\":\"builtin\","
                            "\"subject\":\"command\"},"
                            "{\"name\":\"exec\",\"source\":\"builtin\","
                            "\"class\":\"unsafe\"},"
                            "{\"name\":\"http_request\",\"source\":\"builtin\","
                            "\"subject\":\"url\"},"
                            "{\"name\":\"two\"}]";

/* Verdict by a config with these rules. */
static void check(struct arena *a, const char *approve, wend_str rules,
                  const char *tool, wend_str args, struct verdict *v)
{
    struct buf b = {.mem = &plain};
    struct config *c = NULL;
    struct turn t;
    wend_error err = {0};

    buf_fmt(&b, "{%s,\"policy\":{\"approve\":\"%s\",\"rules\":[", tools,
            approve);
    buf_str(&b, rules);
    buf_cstr(&b, "]}}");
    if (config_parse(buf_view(&b), a, &c, &err) != WEND_OK) {
        tap_ok(false, "config: %s", err.message);
        buf_free(&b);
        return;
    }
    buf_free(&b);
    turn_init(&t);
    t.config = c;
    policy_check(&t, config_tool(c, str_of(tool)), json_parse(args, a, NULL), a,
                 v);
}

/* The named rule in front of the others, as text of JSON. */
static wend_str in_front(struct arena *a, wend_str rule, wend_str rules)
{
    struct buf b = {.mem = a->mem};

    json_put_str(&b, rule);
    if (rules.len)
        buf_char(&b, ',');
    buf_str(&b, rules);
    return buf_keep(&b, a);
}

/* ---- A table ------------------------------------------------------------- */

static const struct {
    const char *why, *rules, *tool, *args, *rule;
} rows[] = {
    {"a file", "", "write_file", "{\"path\":\"notes.md\"}",
     "write_file(notes.md)"},
    {"another spelling", "", "write_file", "{\"path\":\"./a//b\"}",
     "write_file(a/b)"},
    {"a rule denies", "\"!write_file(out/*)\"", "write_file",
     "{\"path\":\"out/a\"}", "write_file(out/a)"},
    {"a rule for another tool keeps it", "\"!edit_file(out/*)\"", "write_file",
     "{\"path\":\"out/a\"}", NULL},
    {"what becomes code", "", "write_file", "{\"path\":\".git/config\"}",
     "write_file(.git/config)"},
    {"a wildcard in it", "", "write_file", "{\"path\":\"a*b\"}",
     "write_file(a*b)"},
    {"outside", "", "write_file", "{\"path\":\"../x\"}", NULL},
    {"a command", "", "shell", "{\"command\":\"ls -l\"}", "shell(ls -l)"},
    {"several commands", "", "shell", "{\"command\":\"a; b | c > d\"}",
     "shell(a; b | c > d)"},
    {"several with a wildcard: only the tool", "", "shell",
     "{\"command\":\"ls *.c | wc\"}", "shell"},
    {"a quote", "", "shell", "{\"command\":\"echo 'x'\"}", "shell(echo 'x')"},
    {"a line break: only the tool", "", "shell", "{\"command\":\"a\\nb\"}",
     "shell"},
    {"a parenthesis", "", "shell", "{\"command\":\"(a)\"}", "shell((a))"},
    {"words", "", "exec", "{\"argv\":[\"touch\",\"a b\"]}",
     "exec(touch 'a b')"},
    {"a request", "", "http_request", "{\"url\":\"https://a.b/c?d=e\"}",
     "http_request(https://a.b/c?d=e)"},
    {"two strings: only the tool", "", "two", "{\"a\":\"x\",\"b\":\"y\"}",
     "two"},
};

static void test_rows(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        struct verdict v = {0};

        check(&a, "deny", str_of(rows[i].rules), rows[i].tool,
              str_of(rows[i].args), &v);
        tap_is_i64(v.policy.decision, WEND_DECISION_DENY, "%s: denied",
                   rows[i].why);
        if (rows[i].rule)
            tap_is_str(v.allows, rows[i].rule, "%s: named", rows[i].why);
        else
            tap_ok(!v.allows.ptr, "%s: no rule", rows[i].why);
        arena_free(&a);
    }
}

/* ---- Anything ------------------------------------------------------------ */

static uint64_t seed = 13;

static uint32_t below(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

static void put_random(struct buf *b)
{
    static const char *const pieces[] = {
        "a",       "b/",        "..",
        "/",       "./",        "*",
        "?",       "**",        ".git/",
        ".env",    "'",         "\"",
        "\\",      "$(x)",      "`",
        ";",       "&&",        "|",
        " ",       "  ",        "(",
        ")",       "!",         "#",
        "\n",      "\t",        "=",
        "{a,b}",   "[x]",       "ls",
        "rm -rf",  "\xc3\xa9",  "https://a.b/",
        "%41",     "wend.yaml", ".ssh/",
        "~",       "-",         "\x01",
        ".husky/", "Makefile",
    };

    for (uint32_t n = below(7); n-- > 0;)
        buf_cstr(b, pieces[below((uint32_t)tap_count(pieces))]);
}

static wend_str random_args(struct arena *a, const char **tool)
{
    static const struct {
        const char *tool, *key;
    } kinds[] = {
        {"read_file", "path"}, {"write_file", "path"}, {"edit_file", "path"},
        {"shell", "command"},  {"exec", NULL},         {"http_request", "url"},
        {"two", "a"},
    };
    struct buf b = {.mem = &plain}, text = {.mem = &plain};
    uint32_t k = below((uint32_t)tap_count(kinds));
    wend_str args;

    *tool = kinds[k].tool;
    json_open(&b, NULL, '{');
    if (!kinds[k].key)
        json_open(&b, "argv", '[');
    for (uint32_t n = kinds[k].key ? 1 : 1 + below(3); n-- > 0;) {
        buf_clear(&text);
        if (str_is(STR("http_request"), *tool) && below(4))
            buf_cstr(&text, "https://x.y/");
        put_random(&text);
        json_add_str(&b, kinds[k].key, buf_view(&text));
    }
    if (!kinds[k].key)
        json_close(&b, ']');
    json_close(&b, '}');
    args = arena_str(a, buf_view(&b));
    buf_free(&b);
    buf_free(&text);
    return args;
}

static void test_random(void)
{
    static const char *const rules[] = {
        "",
        "\"!shell(rm *)\"",
        "\"!read_file(a*)\",\"?write_file(b/*)\"",
        "\"!*\"",
        "\"!exec(ls)\",\"!http_request(https://x.y/*)\"",
    };
    static const char *const modes[] = {"ask", "deny"};
    int named = 0, exact = 0, none = 0, wrong = 0;

    for (int i = 0; i < 20000; i++) {
        struct arena a = {.mem = &plain};
        struct verdict v = {0}, again = {0};
        const char *tool, *mode = modes[below(2)];
        wend_str args = random_args(&a, &tool);
        wend_str before = str_of(rules[below((uint32_t)tap_count(rules))]);

        check(&a, mode, before, tool, args, &v);
        if (v.policy.decision != WEND_DECISION_ALLOW && !v.allows.ptr) {
            none++;
        } else if (v.policy.decision != WEND_DECISION_ALLOW) {
            named++;
            exact += memchr(v.allows.ptr, '(', v.allows.len) != NULL;
            check(&a, mode, in_front(&a, v.allows, before), tool, args, &again);
            if (again.policy.decision != WEND_DECISION_ALLOW && wrong++ < 3)
                printf("# %.*s does not allow %s %.*s\n", (int)v.allows.len,
                       v.allows.ptr, tool, (int)args.len, args.ptr);
        }
        arena_free(&a);
    }
    tap_is_i64(wrong, 0, "each named rule allows its call");
    tap_ok(named > 5000 && exact > 3000 && none > 100,
           "of all kinds: %d named, %d of them for the call, %d have none",
           named, exact, none);
}

int main(void)
{
    test_rows();
    test_random();
    return tap_done();
}

/*
 * test_policy.c - may this call run?
 */
#include "core/policy/policy.h"
#include "core/turn/verdict.h"

#include "tap.h"

static const struct mem plain;

/* Tools with every class and category that matters. */
#define TOOLS                                                           \
    "\"tools\":[{\"name\":\"read\",\"class\":\"read\"},"                \
    "{\"name\":\"fetch\",\"class\":\"read\",\"category\":\"network\"}," \
    "{\"name\":\"put\",\"class\":\"idempotent\",\"subject\":\"path\"}," \
    "{\"name\":\"run\"},"                                               \
    "{\"name\":\"say\",\"schema\":{\"properties\":{\"n\":{\"type\":"    \
    "\"number\"},\"cmd\":{\"type\":\"string\"},\"note\":{\"type\":"     \
    "\"string\"}}}},"                                                   \
    "{\"name\":\"wipe\",\"class\":\"read\",\"category\":\"destructive\"}]"

struct row {
    const char *why;
    const char *approve, *rules; /* of the policy; rules as JSON */
    const char *tool, *args;     /* args NULL: they are no JSON */
    wend_decision decision;
    wend_risk risk;
    const char *rule;
};

static const struct row rows[] = {
    {"reading is allowed", "ask", "[]", "read", "{}", WEND_DECISION_ALLOW,
     WEND_RISK_LOW, "default read"},
    {"reading is allowed without a person", "deny", "[]", "read", "{}",
     WEND_DECISION_ALLOW, WEND_RISK_LOW, "default read"},
    {"reading from the network is asked", "ask", "[]", "fetch", "{}",
     WEND_DECISION_ASK, WEND_RISK_MEDIUM, "default ask"},
    {"writing is asked", "ask", "[]", "put", "{}", WEND_DECISION_ASK,
     WEND_RISK_MEDIUM, "default ask"},
    {"the undeclared is asked", "ask", "[]", "run", "{}", WEND_DECISION_ASK,
     WEND_RISK_HIGH, "default ask"},
    {"the higher risk counts", "ask", "[]", "wipe", "{}", WEND_DECISION_ASK,
     WEND_RISK_HIGH, "default ask"},
    {"no person to ask", "deny", "[]", "put", "{}", WEND_DECISION_DENY,
     WEND_RISK_MEDIUM, "approve deny"},
    {"all approved", "all", "[]", "run", "{}", WEND_DECISION_ALLOW,
     WEND_RISK_HIGH, "approve all"},
    {"a rule allows", "deny", "[\"put\"]", "put", "{}", WEND_DECISION_ALLOW,
     WEND_RISK_MEDIUM, "put"},
    {"a rule denies what would be allowed", "all", "[\"!read\"]", "read", "{}",
     WEND_DECISION_DENY, WEND_RISK_LOW, "!read"},
    {"a rule asks for what would be allowed", "ask", "[\"?read\"]", "read",
     "{}", WEND_DECISION_ASK, WEND_RISK_LOW, "?read"},
    {"a rule asks and there is no person", "deny", "[\"?read\"]", "read", "{}",
     WEND_DECISION_DENY, WEND_RISK_LOW, "?read"},
    {"a rule asks and all is approved", "all", "[\"?put(*)\"]", "put",
     "{\"path\":\"a\"}", WEND_DECISION_ALLOW, WEND_RISK_MEDIUM, "?put(*)"},
    {"a rule that asks stands before others", "ask", "[\"?run\",\"run\"]",
     "run", "{}", WEND_DECISION_ASK, WEND_RISK_HIGH, "?run"},
    {"the first that matches counts", "ask", "[\"!p*\",\"put\"]", "put", "{}",
     WEND_DECISION_DENY, WEND_RISK_MEDIUM, "!p*"},
    {"and not a later one", "ask", "[\"put\",\"!p*\"]", "put", "{}",
     WEND_DECISION_ALLOW, WEND_RISK_MEDIUM, "put"},
    {"a rule for another tool", "deny", "[\"putt\",\"pu\"]", "put", "{}",
     WEND_DECISION_DENY, WEND_RISK_MEDIUM, "approve deny"},
    {"a glob over the subject", "deny", "[\"put(/tmp/*)\"]", "put",
     "{\"text\":\"x\",\"path\":\"/tmp/a/b\"}", WEND_DECISION_ALLOW,
     WEND_RISK_MEDIUM, "put(/tmp/*)"},
    {"that does not match", "deny", "[\"put(/tmp/*)\"]", "put",
     "{\"path\":\"/etc/x\"}", WEND_DECISION_DENY, WEND_RISK_MEDIUM,
     "approve deny"},
    {"only the subject is looked at", "deny", "[\"put(/tmp/*)\"]", "put",
     "{\"text\":\"/tmp/x\",\"path\":\"/etc/x\"}", WEND_DECISION_DENY,
     WEND_RISK_MEDIUM, "approve deny"},
    {"a subject that is no string", "deny", "[\"put(*)\"]", "put",
     "{\"path\":[\"/tmp/x\"]}", WEND_DECISION_DENY, WEND_RISK_MEDIUM,
     "approve deny"},
    {"without a subject the only string", "deny", "[\"run(ls*)\"]", "run",
     "{\"n\":1,\"cmd\":\"ls -l\",\"x\":2}", WEND_DECISION_ALLOW, WEND_RISK_HIGH,
     "run(ls*)"},
    {"no string stands for others", "deny", "[\"run(ls*)\"]", "run",
     "{\"x\":\"ls\",\"cmd\":\"rm\"}", WEND_DECISION_DENY, WEND_RISK_HIGH,
     "approve deny"},
    {"nor hides one from a rule that denies", "all", "[\"!run(rm*)\"]", "run",
     "{\"x\":\"ls\",\"cmd\":\"rm\"}", WEND_DECISION_DENY, WEND_RISK_HIGH,
     "!run(rm*)"},
    {"nor from one that asks", "ask", "[\"?run(rm*)\",\"run\"]", "run",
     "{\"x\":\"ls\",\"cmd\":\"rm\"}", WEND_DECISION_ASK, WEND_RISK_HIGH,
     "?run(rm*)"},
    {"a schema says which one it is", "deny", "[\"say(ls*)\"]", "say",
     "{\"note\":\"rm\",\"cmd\":\"ls\"}", WEND_DECISION_ALLOW, WEND_RISK_HIGH,
     "say(ls*)"},
    {"whatever comes first in the call", "deny", "[\"say(ls*)\"]", "say",
     "{\"note\":\"ls\",\"cmd\":\"rm\"}", WEND_DECISION_DENY, WEND_RISK_HIGH,
     "approve deny"},
    {"no arguments to look at", "deny", "[\"run(*)\",\"run\"]", "run", NULL,
     WEND_DECISION_ALLOW, WEND_RISK_HIGH, "run"},
    {"arguments that are a list", "deny", "[\"run(*)\"]", "run", "[\"ls\"]",
     WEND_DECISION_DENY, WEND_RISK_HIGH, "approve deny"},
    {"an empty glob matches the empty subject", "deny", "[\"run()\"]", "run",
     "{\"cmd\":\"\"}", WEND_DECISION_ALLOW, WEND_RISK_HIGH, "run()"},
};

static struct config *make_config(const struct row *r, struct arena *a)
{
    struct buf b = {.mem = &plain};
    struct config *c = NULL;

    buf_fmt(&b, "{" TOOLS ",\"policy\":{\"approve\":\"%s\",\"rules\":%s}}",
            r->approve, r->rules);
    config_parse(buf_view(&b), a, &c, NULL);
    buf_free(&b);
    return c;
}

static void test_rows(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        const struct row *r = &rows[i];
        struct arena a = {.mem = &plain};
        struct config *c = make_config(r, &a);
        struct json *args =
            r->args ? json_parse(str_of(r->args), &a, NULL) : NULL;
        struct verdict v;

        policy_check(&(struct turn){.config = c},
                     config_tool(c, str_of(r->tool)), args, &a, &v);
        tap_is_i64(v.policy.decision, r->decision, "%s", r->why);
        tap_is_i64(v.policy.risk, r->risk, "%s: risk", r->why);
        tap_is_str(v.policy.rule, r->rule, "%s: rule", r->why);
        tap_ok(!v.reason.ptr == (r->decision == WEND_DECISION_ALLOW),
               "%s: a reason unless allowed", r->why);
        arena_free(&a);
    }
}

/* The model picks the spelling; rules are about the file. */
static void test_paths(void)
{
    static const struct {
        const char *why, *rules, *path;
        wend_decision decision;
    } paths[] = {
        {"as it is", "[\"put(new/*)\"]", "new/a", WEND_DECISION_ALLOW},
        {"out again", "[\"put(new/*)\"]", "new/../a", WEND_DECISION_DENY},
        {"out and in", "[\"put(new/*)\"]", "x/.././new/a", WEND_DECISION_ALLOW},
        {"past the root", "[\"put(new/*)\"]", "../new/a", WEND_DECISION_DENY},
        {"twice past it", "[\"put(../../a)\"]", "../../a", WEND_DECISION_DENY},
        {"a dot does not hide", "[\"!put(a)\",\"put\"]", "./a",
         WEND_DECISION_DENY},
        {"nor a doubled slash", "[\"!put(n/a)\",\"put\"]", "n//a",
         WEND_DECISION_DENY},
        {"nor a way back", "[\"!put(a)\",\"put\"]", "b/c/../../a",
         WEND_DECISION_DENY},
        {"nor the whole path", "[\"!put(a)\",\"put\"]", "/w/s/a",
         WEND_DECISION_DENY},
        {"nor one bent", "[\"!put(a)\",\"put\"]", "/w/s/./x/../a",
         WEND_DECISION_DENY},
        {"a neighbour is no part", "[\"put(a)\"]", "/w/sa/a",
         WEND_DECISION_DENY},
        {"elsewhere", "[\"put(/etc/*)\"]", "/etc//x", WEND_DECISION_DENY},
        {"the root itself", "[\"put(.)\"]", "/w/s/", WEND_DECISION_ALLOW},
        {"nothing", "[\"put(.)\"]", "", WEND_DECISION_ALLOW},
    };

    for (size_t i = 0; i < tap_count(paths); i++) {
        struct arena a = {.mem = &plain};
        struct buf b = {.mem = &plain}, text = {.mem = &plain};
        struct config *c = NULL;
        struct verdict v;

        buf_fmt(&b,
                "{\"root\":\"/w/s\",\"tools\":[{\"name\":\"put\","
                "\"subject\":\"path\",\"subject_is_path\":true}],"
                "\"policy\":{\"approve\":\"deny\",\"rules\":%s}}",
                paths[i].rules);
        buf_fmt(&text, "{\"path\":\"%s\"}", paths[i].path);
        config_parse(buf_view(&b), &a, &c, NULL);
        policy_check(&(struct turn){.config = c}, config_tool(c, STR("put")),
                     json_parse(buf_view(&text), &a, NULL), &a, &v);
        tap_is_i64(v.policy.decision, paths[i].decision, "path: %s",
                   paths[i].why);
        buf_free(&b);
        buf_free(&text);
        arena_free(&a);
    }
}

static void test_reasons(void)
{
    static const struct {
        const char *approve, *rules, *reason;
    } reasons[] = {
        {"ask", "[]", "no rule allows or denies this call"},
        {"deny", "[]",
         "no rule allows this call, and there is no person to ask"},
        {"all", "[\"!put\"]", "a rule denies this call"},
        {"ask", "[\"?put\"]", "a rule asks before this call"},
        {"deny", "[\"?put\"]",
         "a rule asks before this call, and there is no person to ask"},
        {"all", "[\"?put\"]", NULL},
    };

    for (size_t i = 0; i < tap_count(reasons); i++) {
        struct row r = {.approve = reasons[i].approve,
                        .rules = reasons[i].rules};
        struct arena a = {.mem = &plain};
        struct config *c = make_config(&r, &a);
        struct verdict v;

        policy_check(&(struct turn){.config = c}, config_tool(c, STR("put")),
                     NULL, &a, &v);
        tap_is_str(v.reason, reasons[i].reason, "reason: %s %s", r.approve,
                   r.rules);
        arena_free(&a);
    }
}

static void test_layers(void)
{
    static const struct {
        const char *why, *tool, *args, *layers;
        wend_risk risk;
    } tools[] = {
        {"a file in the root", "{\"class\":\"read\"}", "{\"path\":\"a\"}",
         "permission+low category+low path+low sandbox+low", WEND_RISK_LOW},
        {"a file that matters", "{\"class\":\"read\"}",
         "{\"path\":\"x/.git/config\"}",
         "permission+low category+low path+high sandbox+low", WEND_RISK_HIGH},
        {"another one, which a rule must name", "{\"class\":\"read\"}",
         "{\"path\":\".env.local\"}",
         "permission-low category+low path+high sandbox+low", WEND_RISK_HIGH},
        {"only a part of its name", "{\"class\":\"read\"}",
         "{\"path\":\"x.git/env\"}",
         "permission+low category+low path+low sandbox+low", WEND_RISK_LOW},
        {"a file outside", "{\"class\":\"read\"}", "{\"path\":\"../a\"}",
         "permission+low category+low path-high sandbox+low", WEND_RISK_HIGH},
        {"a program", "{\"program\":true}", "{}",
         "permission-high category+low path+low sandbox+low", WEND_RISK_HIGH},
        {"a program without sandbox", "{\"program\":true,\"sandbox\":\"off\"}",
         "{}", "permission-high category+low path+low sandbox+critical",
         WEND_RISK_CRITICAL},
    };

    for (size_t i = 0; i < tap_count(tools); i++) {
        struct arena a = {.mem = &plain};
        struct buf b = {.mem = &plain}, said = {.mem = &plain};
        struct config *c = NULL;
        struct json *layers;
        struct verdict v;

        buf_fmt(&b,
                "{\"root\":\"/w\",\"tools\":[{\"name\":\"x\","
                "\"subject\":\"path\",\"subject_is_path\":true,%s],"
                "\"policy\":{\"approve\":\"deny\"}}",
                tools[i].tool + 1);
        config_parse(buf_view(&b), &a, &c, NULL);
        policy_check(&(struct turn){.config = c}, config_tool(c, STR("x")),
                     json_parse(str_of(tools[i].args), &a, NULL), &a, &v);
        layers = json_parse(v.policy.layers_json, &a, NULL);
        for (const struct json *j = layers->first; j; j = j->next) {
            buf_cstr(&said, j == layers->first ? "" : " ");
            buf_str(&said, json_str(json_get(j, "layer")));
            buf_char(&said, json_get(j, "ok")->kind == JSON_TRUE ? '+' : '-');
            buf_str(&said, json_str(json_get(j, "risk")));
        }
        tap_is_str(buf_view(&said), tools[i].layers, "%s", tools[i].why);
        tap_is_i64(v.policy.risk, tools[i].risk, "%s: risk", tools[i].why);
        tap_ok((v.policy.decision == WEND_DECISION_DENY) ==
                   (strchr(tools[i].layers, '-') != NULL),
               "%s: denied if one layer is against it", tools[i].why);
        buf_free(&b);
        buf_free(&said);
        arena_free(&a);
    }
}

/* Text of strangers, sensitive data, a way out: never all three unseen. */
static void test_labels(void)
{
    static const struct {
        const char *approve, *tool;
        uint32_t taint;
        wend_decision decision;
    } cases[] = {
        {"all", "out", 0, WEND_DECISION_ALLOW},
        {"all", "out", 1, WEND_DECISION_ALLOW},
        {"all", "out", 2, WEND_DECISION_ALLOW},
        {"all", "out", 3, WEND_DECISION_DENY},
        {"ask", "out", 3, WEND_DECISION_ASK},
        {"deny", "out", 3, WEND_DECISION_DENY},
        {"ask", "web", 2, WEND_DECISION_ASK},
        {"ask", "web", 6, WEND_DECISION_ASK},
        {"ask", "mail", 5, WEND_DECISION_ASK},
        {"ask", "mail", 4, WEND_DECISION_ALLOW},
        {"ask", "plain", 7, WEND_DECISION_ALLOW},
    };

    for (size_t i = 0; i < tap_count(cases); i++) {
        struct arena a = {.mem = &plain};
        struct buf b = {.mem = &plain};
        struct config *c = NULL;
        struct verdict v;
        const struct tool *tool;

        buf_fmt(&b,
                "{\"tools\":[{\"name\":\"plain\"},{\"name\":\"out\","
                "\"labels\":[\"external_effect\"]},{\"name\":\"mail\","
                "\"labels\":[\"sensitive\"]},{\"name\":\"web\",\"labels\":"
                "[\"untrusted_source\",\"external_effect\",\"later\"]}],"
                "\"policy\":{\"approve\":\"%s\",\"rules\":[\"*\"]}}",
                cases[i].approve);
        config_parse(buf_view(&b), &a, &c, NULL);
        tool = config_tool(c, str_of(cases[i].tool));
        policy_check(&(struct turn){.config = c, .labels = cases[i].taint},
                     tool, NULL, &a, &v);
        tap_is_i64(v.policy.decision, cases[i].decision,
                   "%s of %u with approve %s", cases[i].tool, cases[i].taint,
                   cases[i].approve);
        if (cases[i].decision != WEND_DECISION_ALLOW)
            tap_is_str(v.policy.rule, "labels", "  by its labels");
        buf_free(&b);
        arena_free(&a);
    }
}

/* Rows label without deciding, for the tool and for those that would see the
 * same; secrets are labelled without a row. */
static void test_label_rows(void)
{
    static const struct {
        const char *why, *rows, *tool, *args;
        uint32_t labels;
    } cases[] = {
        {"no row", "", "read_file", "{\"path\":\"a\"}", 0},
        {"a path", "\"sensitive=read_file(notes/*)\"", "read_file",
         "{\"path\":\"notes/a\"}", 2},
        {"another spelling", "\"sensitive=read_file(notes/*)\"", "read_file",
         "{\"path\":\"./x/../notes//a\"}", 2},
        {"another path", "\"sensitive=read_file(notes/*)\"", "read_file",
         "{\"path\":\"note/a\"}", 0},
        {"what lies beneath", "\"sensitive=read_file(notes)\"", "read_file",
         "{\"path\":\"notes/a\"}", 2},
        {"another tool that reads it", "\"sensitive=read_file(notes/*)\"",
         "grep", "{\"pattern\":\"x\",\"path\":\"notes/a\"}", 2},
        {"another tool that writes it", "\"sensitive=read_file(notes/*)\"",
         "write_file", "{\"path\":\"notes/a\",\"content\":\"\"}", 0},
        {"a tool of a server", "\"sensitive,untrusted_source=srv.*\"",
         "srv.get", "{}", 3},
        {"its main argument", "\"sensitive=srv.get(secret*)\"", "srv.get",
         "{\"id\":\"secret-1\"}", 2},
        {"two rows", "\"sensitive=srv.*\",\"external_effect=srv.get\"",
         "srv.get", "{}", 6},
        {"a secret", "", "read_file", "{\"path\":\"a/.env\"}", 2},
        {"its example", "", "read_file", "{\"path\":\".env.example\"}", 0},
        {"a secret of ours", "", "read_file", "{\"path\":\"./my-key\"}", 2},
        {"a secret that is written", "", "write_file",
         "{\"path\":\".env\",\"content\":\"\"}", 0},
    };

    for (size_t i = 0; i < tap_count(cases); i++) {
        struct arena a = {.mem = &plain};
        struct buf b = {.mem = &plain};
        struct config *c = NULL;
        struct turn t = {0};
        struct verdict v;
        const struct tool *tool;

        buf_fmt(&b,
                "{\"root\":\"/r\",\"secret_files\":[\"/r/my-key\"],"
                "\"tools\":[{\"name\":\"read_file\","
                "\"source\":\"builtin\",\"subject\":\"path\"},{\"name\":"
                "\"grep\",\"source\":\"builtin\",\"subject\":\"path\"},"
                "{\"name\":\"write_file\",\"source\":\"builtin\","
                "\"subject\":\"path\"},{\"name\":\"srv.get\",\"source\":"
                "\"mcp\"}],\"policy\":{\"approve\":\"all\",\"labels\":[%s]}}",
                cases[i].rows);
        tap_is_i64(config_parse(buf_view(&b), &a, &c, NULL), WEND_OK, "%s",
                   cases[i].why);
        t.config = c;
        tool = config_tool(c, str_of(cases[i].tool));
        tap_is_i64(policy_labels(&t, tool, str_of(cases[i].args), &plain),
                   cases[i].labels, "  its labels");
        policy_check(&t, tool, json_parse(str_of(cases[i].args), &a, NULL), &a,
                     &v);
        tap_is_i64(v.labels, cases[i].labels, "  and those of the verdict");
        t.labels = 7 & ~cases[i].labels;
        policy_check(&t, tool, json_parse(str_of(cases[i].args), &a, NULL), &a,
                     &v);
        /* A secret is asked about before its labels count. */
        tap_is_i64(str_is(v.policy.rule, "labels"),
                   cases[i].labels && strncmp(cases[i].why, "a secret", 8) != 0,
                   "  the guard sees them");
        buf_free(&b);
        arena_free(&a);
    }
}

static void test_label_row_parse(void)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"read_file", "has no ="},
        {"=read_file", "names no label"},
        {"secret=read_file", "names a label that there is not"},
        {"sensitive,=read_file", NULL},
        {"sensitive=!read_file", "decides"},
        {"sensitive=", "names no tool"},
        {"sensitive=read_file(a", "has no closing )"},
    };

    for (size_t i = 0; i < tap_count(bad); i++) {
        struct label_row row;
        wend_error err = {0};
        wend_status s = label_row_parse(str_of(bad[i].text), &row, &err);

        if (bad[i].why)
            tap_ok(s == WEND_E_INVAL && strstr(err.message, bad[i].why),
                   "'%s': %s", bad[i].text, err.message);
        else
            tap_is_i64(s, WEND_OK, "'%s'", bad[i].text);
    }
}

/* A call beside it counts as if it had ended. */
static void test_labels_beside(void)
{
    struct arena a = {.mem = &plain};
    struct config *c = NULL;
    struct call mail = {.name = STR("mail")};
    struct turn t = {.calls = &mail, .calls_count = 1};
    struct verdict v;

    config_parse(STR("{\"tools\":[{\"name\":\"mail\",\"labels\":"
                     "[\"sensitive\"]},{\"name\":\"web\",\"labels\":"
                     "[\"untrusted_source\",\"external_effect\"]}],"
                     "\"policy\":{\"approve\":\"all\"}}"),
                 &a, &c, NULL);
    t.config = c;
    policy_check(&t, config_tool(c, STR("web")), NULL, &a, &v);
    tap_is_i64(v.policy.decision, WEND_DECISION_ALLOW, "before it begins");
    t.flags[0] |= CALL_STARTED;
    policy_check(&t, config_tool(c, STR("web")), NULL, &a, &v);
    tap_is_i64(v.policy.decision, WEND_DECISION_DENY, "while it runs");
    t.flags[0] |= CALL_ENDED;
    policy_check(&t, config_tool(c, STR("web")), NULL, &a, &v);
    tap_is_i64(v.policy.decision, WEND_DECISION_ALLOW,
               "when it ended and brought nothing");
    arena_free(&a);
}

static void test_rule_for(void)
{
    static const struct {
        const char *tool, *args, *rule;
    } cases[] = {
        {"put", "{\"path\":\"a/b\"}", "put(a/b)"},
        {"put", "{\"path\":\"a*\"}", NULL},
        {"put", "{\"path\":\"a?\"}", NULL},
        {"put", "{\"path\":\"\"}", "put()"},
        {"put", "{}", "put"},
        {"run", "{\"command\":\"ls (x)\"}", "run(ls (x))"},
        {"run", "{\"a\":\"x\",\"b\":\"y\"}", NULL},
        {"say", "{\"note\":\"x\",\"cmd\":\"y\"}", "say(y)"},
    };

    for (size_t i = 0; i < tap_count(cases); i++) {
        struct arena a = {.mem = &plain};
        struct config *c = make_config(&rows[0], &a);
        struct json *args = json_parse(str_of(cases[i].args), &a, NULL);
        struct turn t = {.config = c};
        struct verdict v;

        policy_check(&t, config_tool(c, str_of(cases[i].tool)), args, &a, &v);
        if (!cases[i].rule) {
            tap_ok(!v.rule.ptr, "no rule for %s", cases[i].args);
        } else {
            tap_is_str(v.rule, cases[i].rule, "the rule for %s", cases[i].args);
            turn_remember(&t, v.rule, &(struct keep){&a, NULL});
            policy_check(&t, config_tool(c, str_of(cases[i].tool)), args, &a,
                         &v);
            tap_is_i64(v.policy.decision, WEND_DECISION_ALLOW,
                       "  remembered, it allows the same call");
            args = json_parse(STR("{\"path\":\"other\"}"), &a, NULL);
            policy_check(&t, config_tool(c, str_of(cases[i].tool)), args, &a,
                         &v);
            tap_ok(v.policy.decision == (strchr(cases[i].rule, '(')
                                             ? WEND_DECISION_ASK
                                             : WEND_DECISION_ALLOW),
                   "  and not others");
        }
        arena_free(&a);
    }
}

int main(void)
{
    test_rows();
    test_paths();
    test_reasons();
    test_layers();
    test_labels();
    test_label_rows();
    test_label_row_parse();
    test_labels_beside();
    test_rule_for();
    return tap_done();
}

/*
 * test_policy_path.c - paths: those that must be named, and what one rule
 * means for other tools.
 */
#include "core/policy/policy.h"
#include "core/turn/verdict.h"

#include "tap.h"

static const struct mem plain;

/* The built-in file tools, as agents describe them. */
#define TOOLS                                                                 \
    "\"tools\":[{\"name\":\"read_file\",\"class\":\"read\",\"subject\":"      \
    "\"path\",\"source\":\"builtin\"},"                                       \
    "{\"name\":\"list_dir\",\"class\":\"read\",\"subject\":\"path\","         \
    "\"source\":\"builtin\"},"                                                \
    "{\"name\":\"glob\",\"class\":\"read\",\"subject\":\"pattern\","          \
    "\"source\":\"builtin\"},"                                                \
    "{\"name\":\"grep\",\"class\":\"read\",\"subject\":\"path\",\"source\":"  \
    "\"builtin\"},"                                                           \
    "{\"name\":\"write_file\",\"class\":\"idempotent\",\"subject\":\"path\"," \
    "\"source\":\"builtin\"},"                                                \
    "{\"name\":\"edit_file\",\"subject\":\"path\",\"source\":\"builtin\"}]"

static struct config *config_of(const char *approve, const char *rules,
                                struct arena *a)
{
    struct buf b = {.mem = &plain};
    struct config *c = NULL;

    buf_fmt(&b,
            "{\"root\":\"/w/s\"," TOOLS
            ",\"policy\":{\"approve\":\"%s\",\"rules\":%s}}",
            approve, rules);
    config_parse(buf_view(&b), a, &c, NULL);
    buf_free(&b);
    return c;
}

static struct verdict check(const struct config *c, const char *tool,
                            const char *args, struct arena *a)
{
    struct verdict v;

    policy_check(&(struct turn){.config = c}, config_tool(c, str_of(tool)),
                 json_parse(str_of(args), a, NULL), a, &v);
    return v;
}

/* ---- Places -------------------------------------------------------------- */

static const struct {
    const char *path;
    unsigned kinds;
} places[] = {
    {"a.c", 0},
    {".", 0},
    {"src/main.c", 0},
    {".git", PLACE_CODE},
    {".git/config", PLACE_CODE},
    {"sub/.git/hooks/pre-commit", PLACE_CODE},
    {".GIT/config", PLACE_CODE},
    {"sub/.Git/config", PLACE_CODE},
    {".git./config", PLACE_CODE},
    {".git /config", PLACE_CODE},
    {"GIT~1/config", PLACE_CODE},
    {"x.git/config", PLACE_CODE},
    {"x.git/hooks/update", PLACE_CODE},
    {"x.git/readme", 0},
    {".gitignore", 0},
    {"git/config", 0},
    {".husky/pre-commit", PLACE_CODE},
    {".githooks/x", PLACE_CODE},
    {"src/hooks/use.ts", 0},
    {".pre-commit-config.yaml", PLACE_CODE},
    {".github/workflows/ci.yml", PLACE_CODE},
    {"pkg/.github/workflows/ci.yml", PLACE_CODE},
    {".github/CODEOWNERS", 0},
    {"x/workflows/a", 0},
    {".gitlab-ci.yml", PLACE_CODE},
    {".circleci/config.yml", PLACE_CODE},
    {"Jenkinsfile", PLACE_CODE},
    {"ci/Jenkinsfile.release", PLACE_CODE},
    {".vscode/tasks.json", PLACE_CODE},
    {".idea/runConfigurations/x.xml", PLACE_CODE},
    {"a.code-workspace", PLACE_CODE},
    {".bashrc", PLACE_CODE},
    {".bash_profile", PLACE_CODE},
    {".profile", PLACE_CODE},
    {".zshrc", PLACE_CODE},
    {".zshenv", PLACE_CODE},
    {"bashrc", 0},
    {"wend.yaml", PLACE_CODE},
    {"sub/wend.yml", PLACE_CODE},
    {"wend.db", PLACE_CODE},
    {"runs.db-wal", PLACE_CODE},
    {".config/wend/agents/a.yaml", PLACE_CODE},
    {".local/share/wend/approvals", PLACE_CODE},
    {".envrc", PLACE_CODE | PLACE_SECRET},
    {".env", PLACE_SECRET},
    {"a/.env.local", PLACE_SECRET},
    {".ENV", PLACE_SECRET},
    {".env.example", 0},
    {".env.sample", 0},
    {"x/.env.template", 0},
    {".env.production.example", 0},
    {"env", 0},
    {".ssh/config", PLACE_CODE | PLACE_SECRET},
    {".ssh/id_rsa.pub", PLACE_CODE | PLACE_SECRET},
    {".gnupg", PLACE_CODE | PLACE_SECRET},
    {"keys/id_rsa", PLACE_SECRET},
    {"keys/id_ed25519.pub", 0},
    {"tls/server.pem", PLACE_SECRET},
    {"tls/SERVER.KEY", PLACE_SECRET},
    {".netrc", PLACE_SECRET},
    {".aws/credentials", PLACE_SECRET},
    {".aws/config", 0},
    {"monkey", 0},
};

static void test_places(void)
{
    for (size_t i = 0; i < tap_count(places); i++)
        tap_is_i64(
            path_place(str_of(places[i].path), PLACE_CODE | PLACE_SECRET).kinds,
            places[i].kinds, "place: %s", places[i].path);
}

/* ---- Who may write and read there ---------------------------------------- */

static const struct {
    const char *approve, *rules, *tool, *path;
    wend_decision decision;
} named[] = {
    {"ask", "[]", "write_file", ".git/config", WEND_DECISION_ASK},
    {"deny", "[]", "write_file", ".git/config", WEND_DECISION_DENY},
    {"all", "[]", "write_file", ".git/config", WEND_DECISION_DENY},
    {"all", "[]", "write_file", "a.c", WEND_DECISION_ALLOW},
    {"all", "[]", "edit_file", "sub/.git/config", WEND_DECISION_DENY},
    {"all", "[]", "write_file", "./sub//.GIT/../.GIT/config",
     WEND_DECISION_DENY},
    {"all", "[]", "write_file", "/w/s/.bashrc", WEND_DECISION_DENY},
    {"ask", "[\"write_file\"]", "write_file", ".git/config", WEND_DECISION_ASK},
    {"ask", "[\"write_file(*)\"]", "write_file", ".git/config",
     WEND_DECISION_ASK},
    {"ask", "[\"*\"]", "write_file", ".git/config", WEND_DECISION_ASK},
    {"ask", "[\"write_file(.g*)\"]", "write_file", ".git/config",
     WEND_DECISION_ASK},
    {"ask", "[\"write_file(.gi?/config)\"]", "write_file", ".git/config",
     WEND_DECISION_ASK},
    {"ask", "[\"write_file(**/.git/config)\"]", "write_file", "a/.git/config",
     WEND_DECISION_ASK},
    {"deny", "[\"write_file(.git/*)\"]", "write_file", ".git/config",
     WEND_DECISION_ALLOW},
    {"deny", "[\"write_file(./.git/*)\"]", "write_file", ".git/config",
     WEND_DECISION_ALLOW},
    {"deny", "[\"write_file(/w/s/.git/*)\"]", "write_file", ".git/config",
     WEND_DECISION_ALLOW},
    {"deny", "[\"write_file(.git/config)\"]", "write_file", "x/../.git/config",
     WEND_DECISION_ALLOW},
    {"deny", "[\"*_file(.git/*)\"]", "edit_file", ".git/config",
     WEND_DECISION_ALLOW},
    {"deny", "[\"write_file(.git/*)\"]", "write_file", "sub/.git/config",
     WEND_DECISION_DENY},
    {"deny", "[\"write_file(sub/*)\"]", "write_file", "sub/.git/config",
     WEND_DECISION_DENY},
    {"deny", "[\"write_file(sub/.git/*)\"]", "write_file", "sub/.git/config",
     WEND_DECISION_ALLOW},
    {"deny", "[\"write_file(.github/*)\"]", "write_file",
     ".github/workflows/a.yml", WEND_DECISION_DENY},
    {"deny", "[\"write_file(.github/workflows/*)\"]", "write_file",
     ".github/workflows/a.yml", WEND_DECISION_ALLOW},
    {"all", "[\"?write_file(.git/*)\"]", "write_file", ".git/config",
     WEND_DECISION_DENY},
    {"ask", "[]", "read_file", ".git/config", WEND_DECISION_ALLOW},
    {"ask", "[]", "read_file", ".env", WEND_DECISION_ASK},
    {"all", "[]", "read_file", ".env", WEND_DECISION_DENY},
    {"ask", "[\"read_file\"]", "read_file", ".env", WEND_DECISION_ASK},
    {"ask", "[\"read_file(*)\"]", "read_file", "x/.env", WEND_DECISION_ASK},
    {"deny", "[\"read_file(.env*)\"]", "read_file", ".env.local",
     WEND_DECISION_ALLOW},
    {"deny", "[\"read_file(tls/*)\"]", "read_file", "tls/a.pem",
     WEND_DECISION_DENY},
    {"deny", "[\"read_file(tls/a.pem)\"]", "read_file", "tls/a.pem",
     WEND_DECISION_ALLOW},
    {"deny", "[]", "read_file", ".env.example", WEND_DECISION_ALLOW},
    {"deny", "[]", "grep", ".ssh", WEND_DECISION_DENY},
    {"deny", "[]", "list_dir", ".ssh", WEND_DECISION_ALLOW},
    {"all", "[]", "write_file", ".env", WEND_DECISION_ALLOW},
    {"all", "[]", "edit_file", ".env", WEND_DECISION_DENY},
};

static void test_named(void)
{
    for (size_t i = 0; i < tap_count(named); i++) {
        struct arena a = {.mem = &plain};
        struct buf args = {.mem = &plain};
        struct config *c = config_of(named[i].approve, named[i].rules, &a);
        struct verdict v;

        buf_fmt(&args, "{\"path\":\"%s\"}", named[i].path);
        v = check(c, named[i].tool, args.ptr, &a);
        tap_is_i64(v.policy.decision, named[i].decision, "%s %s: %s %s",
                   named[i].approve, named[i].rules, named[i].tool,
                   named[i].path);
        tap_ok(!v.reason.ptr == (named[i].decision == WEND_DECISION_ALLOW),
               "with a reason unless allowed");
        buf_free(&args);
        arena_free(&a);
    }
}

/* An answer that is remembered names the path, whatever it is. */
static void test_remembered(void)
{
    struct arena a = {.mem = &plain};
    struct config *c = config_of("ask", "[]", &a);
    struct verdict v =
        check(c, "write_file", "{\"path\":\"./.git/config\"}", &a);
    struct remembered said = {0};
    struct turn t = {.config = c, .rules = &said};

    tap_is_str(v.rule, "write_file(.git/config)", "the rule that is offered");
    tap_is_str(v.reason,
               "writing version control needs a person or a rule that names "
               "it",
               "the reason says what it is");
    tap_is_i64(rule_parse(v.rule, &said.rule, NULL), WEND_OK, "is a rule");
    policy_check(&t, config_tool(c, STR("write_file")),
                 json_parse(STR("{\"path\":\".git/config\"}"), &a, NULL), &a,
                 &v);
    tap_is_i64(v.policy.decision, WEND_DECISION_ALLOW, "which holds");
    v = check(c, "read_file", "{\"path\":\".env\"}", &a);
    tap_is_i64(v.labels, WEND_LABEL_SENSITIVE, "secrets are sensitive");
    v = check(c, "read_file", "{\"path\":\".git/config\"}", &a);
    tap_is_i64(v.labels, 0, "others are not");
    arena_free(&a);
}

static void test_names(void)
{
    static const struct {
        const char *rules, *path;
        bool named;
    } rows[] = {
        {"[]", ".git/config", false},
        {"[\"write_file\"]", ".git/config", false},
        {"[\"shell\",\"*\"]", ".git/config", false},
        {"[\"read_file(.git/*)\"]", ".git/config", false},
        {"[\"write_file(.git/*)\"]", ".git/config", true},
        {"[\"edit_file(.git/config)\"]", ".git/config", true},
        {"[\"edit_file(.git/config)\"]", ".git/hooks", false},
        {"[\"edit_file(.git/config)\"]", "sub/.git/config", false},
        {"[\"write_file(.git/*)\"]", "/w/s/.git/hooks/x", true},
        {"[\"!write_file(.git/config)\",\"write_file(.git/*)\"]", ".git/config",
         false},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        struct config *c = config_of("all", rows[i].rules, &a);

        tap_is_i64(
            policy_names(&(struct turn){.config = c}, str_of(rows[i].path)),
            rows[i].named, "names: %s %s", rows[i].rules, rows[i].path);
        arena_free(&a);
    }
}

/* ---- One path, all tools ------------------------------------------------- */

static const struct {
    const char *rules, *tool, *args;
    wend_decision decision;
} kept[] = {
    {"[\"!read_file(s/*)\"]", "read_file", "{\"path\":\"s/a\"}",
     WEND_DECISION_DENY},
    {"[\"!read_file(s/*)\"]", "grep", "{\"path\":\"s/a\"}", WEND_DECISION_DENY},
    {"[\"!read_file(s/*)\",\"edit_file\"]", "edit_file", "{\"path\":\"s/a\"}",
     WEND_DECISION_DENY},
    {"[\"!read_file(s/*)\"]", "list_dir", "{\"path\":\"s/a\"}",
     WEND_DECISION_DENY},
    {"[\"!read_file(s/*)\"]", "glob", "{\"pattern\":\"*\",\"path\":\"s/a\"}",
     WEND_DECISION_DENY},
    {"[\"!read_file(s/*)\",\"write_file\"]", "write_file", "{\"path\":\"s/a\"}",
     WEND_DECISION_ALLOW},
    {"[\"!grep(s)\"]", "read_file", "{\"path\":\"s/a\"}", WEND_DECISION_DENY},
    {"[\"!read_file(./s/)\"]", "read_file", "{\"path\":\"s/a\"}",
     WEND_DECISION_DENY},
    {"[\"!read_file(/w/s/s)\"]", "grep", "{\"path\":\"s/b/c\"}",
     WEND_DECISION_DENY},
    {"[\"!read_file(s)\"]", "grep", "{\"path\":\"sa\"}", WEND_DECISION_ALLOW},
    {"[\"!list_dir(.)\"]", "read_file", "{\"path\":\"a\"}",
     WEND_DECISION_ALLOW},
    {"[\"!read_file(**/x)\"]", "grep", "{\"path\":\"x\"}", WEND_DECISION_DENY},
    {"[\"!read_file(a/**/x/**/y)\"]", "grep", "{\"path\":\"a/b/x/y\"}",
     WEND_DECISION_DENY},
    {"[\"!grep\"]", "read_file", "{\"path\":\"a\"}", WEND_DECISION_ALLOW},
    {"[\"grep\",\"!read_file(s/*)\"]", "grep", "{\"path\":\"s/a\"}",
     WEND_DECISION_DENY},
    {"[\"read_file(s/ok)\",\"!read_file(s/*)\"]", "grep", "{\"path\":\"s/ok\"}",
     WEND_DECISION_ALLOW},
    {"[\"read_file\",\"!read_file(s/*)\"]", "grep", "{\"path\":\"s/a\"}",
     WEND_DECISION_ALLOW},
    {"[\"!write_file(m)\",\"edit_file\"]", "edit_file", "{\"path\":\"m\"}",
     WEND_DECISION_DENY},
    {"[\"!edit_file(m)\",\"write_file\"]", "write_file", "{\"path\":\"m\"}",
     WEND_DECISION_DENY},
    {"[\"!write_file(m)\"]", "read_file", "{\"path\":\"m\"}",
     WEND_DECISION_ALLOW},
    {"[\"?read_file(s/*)\"]", "grep", "{\"path\":\"s/a\"}", WEND_DECISION_ASK},
    {"[\"?read_file(s/*)\"]", "list_dir", "{\"path\":\"s/a\"}",
     WEND_DECISION_ALLOW},
    {"[\"grep(s/a)\",\"?read_file(s/*)\"]", "grep", "{\"path\":\"s/a\"}",
     WEND_DECISION_ALLOW},
    {"[\"write_file(x/)\"]", "write_file", "{\"path\":\"x/a\"}",
     WEND_DECISION_ASK},
    {"[\"write_file(./x/*)\"]", "write_file", "{\"path\":\"x/a\"}",
     WEND_DECISION_ALLOW},
    {"[\"!glob(s/*)\"]", "glob", "{\"pattern\":\"s/*\"}", WEND_DECISION_DENY},
    {"[\"!glob(s/*)\"]", "glob", "{\"pattern\":\"*\",\"path\":\"./s\"}",
     WEND_DECISION_DENY},
    {"[]", "glob", "{\"pattern\":\"../*\"}", WEND_DECISION_DENY},
    {"[]", "glob", "{\"pattern\":\"*\",\"path\":\"..\"}", WEND_DECISION_DENY},
    {"[]", "glob", "{\"pattern\":\"**/*.c\"}", WEND_DECISION_ALLOW},
};

static void test_kept(void)
{
    for (size_t i = 0; i < tap_count(kept); i++) {
        struct arena a = {.mem = &plain};
        struct config *c = config_of("ask", kept[i].rules, &a);
        struct verdict v = check(c, kept[i].tool, kept[i].args, &a);

        tap_is_i64(v.policy.decision, kept[i].decision, "%s: %s %s",
                   kept[i].rules, kept[i].tool, kept[i].args);
        arena_free(&a);
    }
}

int main(void)
{
    test_places();
    test_named();
    test_remembered();
    test_names();
    test_kept();
    return tap_done();
}

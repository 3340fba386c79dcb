/*
 * test_policy_words.c - commands and requests: what a rule covers.
 */
#include "core/policy/policy.h"
#include "core/turn/verdict.h"

#include "tap.h"

static const struct mem plain;

#define TOOLS                                                                \
    "\"tools\":[{\"name\":\"shell\",\"subject\":\"command\",\"source\":"     \
    "\"builtin\"},{\"name\":\"exec\",\"subject\":\"argv\",\"source\":"       \
    "\"builtin\"},{\"name\":\"http_request\",\"subject\":\"url\",\"source\"" \
    ":\"builtin\",\"category\":\"network\"}]"

struct row {
    const char *rules, *args;
    int decision;
};

enum { ALLOW = WEND_DECISION_ALLOW, DENY = WEND_DECISION_DENY };

static struct verdict check(const char *approve, const char *rules,
                            const char *tool, const char *args, struct arena *a)
{
    struct buf b = {.mem = &plain};
    struct config *c = NULL;
    struct verdict v;

    buf_fmt(&b, "{" TOOLS ",\"policy\":{\"approve\":\"%s\",\"rules\":%s}}",
            approve, rules);
    config_parse(buf_view(&b), a, &c, NULL);
    policy_check(&(struct turn){.config = c}, config_tool(c, str_of(tool)),
                 json_parse(str_of(args), a, NULL), a, &v);
    buf_free(&b);
    return v;
}

static void check_rows(const char *approve, const char *tool, const char *form,
                       const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct arena a = {.mem = &plain};
        struct buf args = {.mem = &plain}, text = {.mem = &plain};

        if (*form == '"')
            json_put_str(&text, str_of(rows[i].args));
        else
            buf_cstr(&text, rows[i].args);
        buf_fmt(&args, "{\"%s\":%s}", form + 1, text.ptr);
        tap_is_i64(check(approve, rows[i].rules, tool,
                         *form == '{' ? rows[i].args : args.ptr, &a)
                       .policy.decision,
                   rows[i].decision, "%s %s: %s", approve, rows[i].rules,
                   rows[i].args);
        buf_free(&args);
        buf_free(&text);
        arena_free(&a);
    }
}

/* ---- The shell ----------------------------------------------------------- */

static const struct row allowed_commands[] = {
    {"[\"shell(git *)\"]", "git status", ALLOW},
    {"[\"shell(git *)\"]", "git commit -m 'a b'", ALLOW},
    {"[\"shell(git *)\"]", "git commit -m \"a 'b\"", ALLOW},
    {"[\"shell(git *)\"]", "git log it\\'s", ALLOW},
    {"[\"shell(git *)\"]", "git status; rm -rf x", DENY},
    {"[\"shell(git *)\"]", "git status;rm -rf x", DENY},
    {"[\"shell(git *)\"]", "git status && rm x", DENY},
    {"[\"shell(git *)\"]", "git status & rm x", DENY},
    {"[\"shell(git *)\"]", "git status || rm x", DENY},
    {"[\"shell(git *)\"]", "git diff | sh", DENY},
    {"[\"shell(git *)\"]", "git diff > .bashrc", DENY},
    {"[\"shell(git *)\"]", "git apply < x", DENY},
    {"[\"shell(git *)\"]", "git $(rm x)", DENY},
    {"[\"shell(git *)\"]", "git \"$(rm x)\"", DENY},
    {"[\"shell(git *)\"]", "git $X", DENY},
    {"[\"shell(git *)\"]", "git `rm x`", DENY},
    {"[\"shell(git *)\"]", "git status\nrm x", DENY},
    {"[\"shell(git *)\"]", "git (x)", DENY},
    {"[\"shell(git *)\"]", "git log 'a", DENY},
    {"[\"shell(git *)\"]", "git log \"a", DENY},
    {"[\"shell(git *)\"]", "git log \\", DENY},
    {"[\"shell(git status*)\"]", "git status -s", ALLOW},
    {"[\"shell(git status*)\"]", "git stash", DENY},
    {"[\"shell(git ?tatus)\"]", "git status", ALLOW},
    {"[\"shell(ls?rm)\"]", "ls;rm", DENY},
    {"[\"shell(*)\"]", "a; b", DENY},
    {"[\"shell(*)\"]", "a b", ALLOW},
    {"[\"shell\"]", "a; b", ALLOW},
    {"[\"shell(make && ./run)\"]", "make && ./run", ALLOW},
    {"[\"shell(make && ./run)\"]", "make && ./run x", DENY},
};

static const struct row denied_commands[] = {
    {"[\"!shell(rm *)\"]", "ls", ALLOW},
    {"[\"!shell(rm *)\"]", "rmdir x", ALLOW},
    {"[\"!shell(rm *)\"]", "rm x", DENY},
    {"[\"!shell(rm *)\"]", "  rm\t x", DENY},
    {"[\"!shell(rm *)\"]", "ls; rm x", DENY},
    {"[\"!shell(rm *)\"]", "ls&&rm x", DENY},
    {"[\"!shell(rm *)\"]", "ls\nrm x", DENY},
    {"[\"!shell(rm *)\"]", "echo $(rm x)", DENY},
    {"[\"!shell(rm *)\"]", "echo \"$(rm x)\"", DENY},
    {"[\"!shell(rm *)\"]", "echo `rm x`", DENY},
    {"[\"!shell(rm *)\"]", "(rm x)", DENY},
    {"[\"!shell(rm *)\"]", "{ rm x; }", DENY},
    {"[\"!shell(rm *)\"]", "sudo rm x", DENY},
    {"[\"!shell(rm *)\"]", "A=1 rm x", DENY},
    {"[\"!shell(rm *)\"]", "/bin/rm x", DENY},
    {"[\"!shell(rm *)\"]", "r'm' x", DENY},
    {"[\"!shell(rm *)\"]", "r\\m x", DENY},
    {"[\"!shell(rm *)\"]", "\"rm\" x", DENY},
    {"[\"!shell(rm *)\"]", "rm${IFS}x", DENY},
    {"[\"!shell(rm *)\"]", "sh -c 'rm x'", DENY},
    {"[\"!shell(rm *)\"]", "sh -c 'sh -c \"ls; rm x\"'", DENY},
    {"[\"!shell(rm *)\"]", "if true; then rm x; fi", DENY},
    {"[\"!shell(git push)\"]", "git push; ls", DENY},
    {"[\"!shell(curl)\"]", "x | curl -d @-", DENY},
    {"[\"!shell(*secret*)\"]", "cat ./secret.txt", DENY},
    {"[\"!exec(rm *)\"]", "ls; rm x", DENY},
};

/* ---- Programs ------------------------------------------------------------ */

static const struct row allowed_words[] = {
    {"[\"exec(git status *)\"]", "[\"git\",\"status\"]", ALLOW},
    {"[\"exec(git status *)\"]", "[\"git\",\"status\",\"-s\",\"a;b\"]", ALLOW},
    {"[\"exec(git status *)\"]", "[\"git\",\"stash\"]", DENY},
    {"[\"exec(git status *)\"]", "[\"git status\"]", DENY},
    {"[\"exec(git status *)\"]", "[\"git\"]", DENY},
    {"[\"exec(git status)\"]", "[\"git\",\"status\"]", ALLOW},
    {"[\"exec(git status)\"]", "[\"git\",\"status\",\"x\"]", DENY},
    {"[\"exec(git * x)\"]", "[\"git\",\"a\",\"x\"]", ALLOW},
    {"[\"exec(git * x)\"]", "[\"git\",\"a\",\"b\",\"x\"]", DENY},
    {"[\"exec(git sta*)\"]", "[\"git\",\"status\"]", ALLOW},
    {"[\"exec(git sta*)\"]", "[\"git\",\"status\",\"x\"]", DENY},
    {"[\"exec(a 'b c' '')\"]", "[\"a\",\"b c\",\"\"]", ALLOW},
    {"[\"exec(a 'b c')\"]", "[\"a\",\"b\",\"c\"]", DENY},
    {"[\"exec(a 'b)\"]", "[\"a\",\"b\"]", DENY},
    {"[\"exec(*)\"]", "[\"a\",\"b\"]", ALLOW},
    {"[\"exec(*)\"]", "[]", DENY},
    {"[\"exec(*)\"]", "[1]", DENY},
    {"[\"exec(*)\"]", "\"a\"", DENY},
    {"[\"shell(git *)\"]", "[\"git\",\"status\"]", DENY},
};

static const struct row denied_words[] = {
    {"[\"!exec(rm *)\"]", "[\"ls\"]", ALLOW},
    {"[\"!exec(rm *)\"]", "[\"rm\",\"x\"]", DENY},
    {"[\"!exec(rm *)\"]", "[\"rm\"]", DENY},
    {"[\"!exec(rm *)\"]", "[\"/bin/rm\",\"x\"]", DENY},
    {"[\"!exec(rm *)\"]", "[\"env\",\"rm\",\"x\"]", DENY},
    {"[\"!exec(rm *)\"]", "[\"sh\",\"-c\",\"ls; rm x\"]", DENY},
    {"[\"!shell(rm *)\"]", "[\"rm\",\"x\"]", DENY},
};

/* ---- Requests ------------------------------------------------------------ */

static const struct row allowed_urls[] = {
    {"[\"http_request(https://h/*)\"]", "{\"url\":\"https://h/a\"}", ALLOW},
    {"[\"http_request(HTTPS://H:443/*)\"]", "{\"url\":\"https://h/a\"}", ALLOW},
    {"[\"http_request(https://h/*)\"]", "{\"url\":\"HTTPS://H:443/a\"}", ALLOW},
    {"[\"http_request(https://h/*)\"]", "{\"url\":\"https://h:8443/a\"}", DENY},
    {"[\"http_request(https://h/*)\"]", "{\"url\":\"http://h/a\"}", DENY},
    {"[\"http_request(https://h/*)\"]",
     "{\"url\":\"https://h/a\",\"method\":\"HEAD\"}", ALLOW},
    {"[\"http_request(https://h/*)\"]",
     "{\"url\":\"https://h/a\",\"method\":\"POST\"}", DENY},
    {"[\"http_request(https://h/*)\"]",
     "{\"url\":\"https://h/a\",\"method\":\"DELETE\"}", DENY},
    {"[\"http_request(https://h/*)\"]",
     "{\"url\":\"https://h/a\",\"body\":\"x\"}", DENY},
    {"[\"http_request(https://h/*)\"]",
     "{\"url\":\"https://h/a\",\"method\":[\"GET\"]}", DENY},
    {"[\"http_request(https://h/*)\"]",
     "{\"url\":\"https://h/a\",\"headers\":{\"X-HTTP-Method-Override\":"
     "\"DELETE\"}}",
     DENY},
    {"[\"http_request(POST https://h/*)\"]",
     "{\"url\":\"https://h/a\",\"method\":\"POST\",\"body\":\"x\"}", ALLOW},
    {"[\"http_request(POST https://h/*)\"]", "{\"url\":\"https://h/a\"}", DENY},
    {"[\"http_request(* https://h/*)\"]",
     "{\"url\":\"https://h/a\",\"method\":\"PUT\"}", ALLOW},
    {"[\"http_request(https://h/a/*)\"]", "{\"url\":\"https://h/%61/b\"}",
     ALLOW},
    {"[\"http_request(https://h/%61/*)\"]", "{\"url\":\"https://h/a/b\"}",
     ALLOW},
    {"[\"http_request(https://h/a/*)\"]", "{\"url\":\"https://h/a/../b\"}",
     DENY},
    {"[\"http_request(https://h/a/*)\"]", "{\"url\":\"https://h/a/%2e%2e/b\"}",
     DENY},
    {"[\"http_request(https://h/a/*)\"]", "{\"url\":\"https://h/a/..%2fb\"}",
     DENY},
    {"[\"http_request(https://h/a/*)\"]", "{\"url\":\"https://h/a//../b\"}",
     DENY},
    {"[\"http_request(https://*.h/*)\"]", "{\"url\":\"https://x.h/a\"}", ALLOW},
    {"[\"http_request(https://*.h/*)\"]", "{\"url\":\"https://evil/x.h/a\"}",
     DENY},
    {"[\"http_request(https://*.h/*)\"]", "{\"url\":\"https://evil?.h/a\"}",
     DENY},
    {"[\"http_request(https://h/a?b=1)\"]", "{\"url\":\"https://h/a?b=1\"}",
     ALLOW},
    {"[\"http_request(https://h/a?b=1)\"]", "{\"url\":\"https://h/aXb=1\"}",
     DENY},
    {"[\"http_request(https://h)\"]", "{\"url\":\"https://h/\"}", ALLOW},
    {"[\"http_request(https://h)\"]", "{\"url\":\"https://h/a\"}", DENY},
    {"[\"http_request(*)\"]", "{\"url\":\"https://h/a\"}", ALLOW},
    {"[\"http_request(*)\"]", "{\"url\":\"https://h/a\",\"method\":\"POST\"}",
     DENY},
    {"[\"http_request(*h/*)\"]", "{\"url\":\"https://evil/h/a\"}", DENY},
    {"[\"http_request\"]", "{\"url\":\"https://h/a\",\"method\":\"POST\"}",
     ALLOW},
    {"[\"http_request(https://h/*)\"]", "{\"url\":\"https://u@h/a\"}", DENY},
};

static const struct row denied_urls[] = {
    {"[\"!http_request(https://h/adm/*)\"]", "{\"url\":\"https://h/x\"}",
     ALLOW},
    {"[\"!http_request(https://h/adm/*)\"]", "{\"url\":\"https://h/adm/x\"}",
     DENY},
    {"[\"!http_request(https://h/adm/*)\"]",
     "{\"url\":\"https://h/adm/x\",\"method\":\"POST\"}", DENY},
    {"[\"!http_request(https://h/adm/*)\"]", "{\"url\":\"https://h/%61dm/x\"}",
     DENY},
    {"[\"!http_request(https://h/adm/*)\"]", "{\"url\":\"https://h//adm/x\"}",
     DENY},
    {"[\"!http_request(https://h/adm/*)\"]", "{\"url\":\"https://h/adm//x\"}",
     DENY},
    {"[\"!http_request(https://h/adm/*)\"]",
     "{\"url\":\"https://h/x/../adm/x\"}", DENY},
    {"[\"!http_request(https://h/adm/*)\"]", "{\"url\":\"https://h/adm%2Fx\"}",
     DENY},
    {"[\"!http_request(https://h/adm/*)\"]",
     "{\"url\":\"https://H:443/adm/x\"}", DENY},
    {"[\"!http_request(https://h/adm)\"]", "{\"url\":\"https://h/adm?x\"}",
     DENY},
    {"[\"!http_request(https://h/adm)\"]", "{\"url\":\"https://h/adm/x\"}",
     DENY},
    {"[\"!http_request(https://h/adm)\"]", "{\"url\":\"https://h/admin\"}",
     ALLOW},
    {"[\"!http_request(https://h)\"]", "{\"url\":\"https://h/x\"}", DENY},
    {"[\"!http_request(*evil*)\"]", "{\"url\":\"https://h/?q=ev%69l\"}", DENY},
    {"[\"!http_request(POST https://h/*)\"]", "{\"url\":\"https://h/x\"}",
     ALLOW},
    {"[\"!http_request(POST https://h/*)\"]",
     "{\"url\":\"https://h/x\",\"method\":\"POST\"}", DENY},
};

/* ---- What is remembered -------------------------------------------------- */

/* An answer for calls like this one: the rule says what was shown, fits this
 * call, and no other. */
static void test_remembered(void)
{
    static const struct {
        const char *tool, *args, *rule, *other;
    } rows[] = {
        {"shell", "{\"command\":\"a; b\"}", "shell(a; b)",
         "{\"command\":\"a; b c\"}"},
        {"shell", "{\"command\":\"ls *\"}", NULL, NULL},
        {"exec", "{\"argv\":[\"git\",\"a b\",\"it's\",\"\"]}",
         "exec(git 'a b' 'it'\\''s' '')", "{\"argv\":[\"git\",\"a\"]}"},
        {"exec", "{\"argv\":[\"git\",\"*\"]}", NULL, NULL},
        {"http_request", "{\"url\":\"https://H/%61?b=1\"}",
         "http_request(https://h/a?b=1)",
         "{\"url\":\"https://h/a?b=1\",\"method\":\"POST\"}"},
        {"http_request", "{\"url\":\"https://h/a\",\"method\":\"POST\"}",
         "http_request(POST https://h/a)", "{\"url\":\"https://h/a\"}"},
        {"http_request", "{\"url\":\"https://h/*\"}", NULL, NULL},
        {"http_request", "{\"url\":\"https://u@h/\"}", NULL, NULL},
        {"http_request", "{\"url\":\"https://h/a//../b\"}", NULL, NULL},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        struct buf rules = {.mem = &plain};
        struct verdict v = check("ask", "[]", rows[i].tool, rows[i].args, &a);

        tap_is_str(v.rule, rows[i].rule, "offered for %s", rows[i].args);
        if (v.rule.ptr) {
            buf_char(&rules, '[');
            json_put_str(&rules, v.rule);
            buf_char(&rules, ']');
            v = check("deny", rules.ptr, rows[i].tool, rows[i].args, &a);
            tap_is_i64(v.policy.decision, ALLOW, "it fits the call");
            v = check("deny", rules.ptr, rows[i].tool, rows[i].other, &a);
            tap_is_i64(v.policy.decision, DENY, "but not %s", rows[i].other);
        }
        buf_free(&rules);
        arena_free(&a);
    }
}

/* ---- Rules that can never fit -------------------------------------------- */

static void test_never(void)
{
    static const struct {
        const char *rule, *why; /* NULL: it can */
    } rows[] = {
        {"read_file(src/*)", NULL},
        {"read_file(./src/)", NULL},
        {"read_file(/w/s/src/*)", NULL},
        {"read_file(/etc/*)", "outside"},
        {"read_file(../x)", "outside"},
        {"read_file(a/../../x)", "outside"},
        {"write_file(/w/sx/a)", "outside"},
        {"!read_file(/etc/*)", NULL},
        {"!read_file(*.{pem,key})", "{a,b}"},
        {"write_file(app/[id]/page.ts)", NULL},
        {"*_file(/etc/*)", NULL},
        {"mine(/etc/*)", NULL},
        {"shell (git *)", "characters"},
        {"she*ll(x)", NULL},
        {"shell(git status*)", NULL},
        {"shell(git status; ls)", NULL},
        {"shell(git status; ls *)", "plain command"},
        {"shell(a | b*)", "plain command"},
        {"!shell(a | b*)", NULL},
        {"shell()", "empty"},
        {"exec(git status *)", NULL},
        {"exec(a; b *)", NULL},
        {"exec(a 'b)", "quote"},
        {"exec( )", "program"},
        {"http_request(https://h/*)", NULL},
        {"http_request(http://h:*)", NULL},
        {"http_request(https://*)", NULL},
        {"http_request(*)", NULL},
        {"http_request(POST https://h/*)", NULL},
        {"http_request(post https://h/*)", "DELETE"},
        {"http_request(FETCH https://h/*)", "DELETE"},
        {"http_request(h/*)", "https://host/*"},
        {"http_request(*.h/*)", "https://host/*"},
        {"!http_request(*.h/*)", NULL},
        {"http_request(ftp://h/*)", "http://"},
        {"http_request(https://u@h/*)", "user"},
        {"http_request(https://h/a#b)", "fragment"},
        {"http_request(https://h*)", "slash"},
        {"!http_request(https://h*)", NULL},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_error err = {0};
        wend_status s = rule_check(str_of(rows[i].rule), STR("/w/s"), &err);

        tap_is_i64(s, rows[i].why ? WEND_E_INVAL : WEND_OK, "check: %s",
                   rows[i].rule);
        tap_ok(!rows[i].why || strstr(err.message, rows[i].why),
               "and it says why: %s", err.message);
    }
}

/* Much to look at comes to an end, on the safe side. */
static void test_long(void)
{
    struct arena a = {.mem = &plain};
    struct buf b = {.mem = &plain};
    const struct cut *c;

    for (int i = 0; i < 200000; i++)
        buf_cstr(&b, "rm ");
    c = command_cut(buf_view(&b), &a);
    tap_ok(c && c->count == 200000, "a long command is split");
    tap_ok(cut_has(c, STR("rm *nothing")), "too much work fits");
    tap_ok(!cut_has(c, STR("mv *")), "what never begins does not");
    buf_free(&b);
    arena_free(&a);
}

int main(void)
{
    check_rows("deny", "shell", "\"command", allowed_commands,
               tap_count(allowed_commands));
    check_rows("all", "shell", "\"command", denied_commands,
               tap_count(denied_commands));
    check_rows("deny", "exec", "[argv", allowed_words,
               tap_count(allowed_words));
    check_rows("all", "exec", "[argv", denied_words, tap_count(denied_words));
    check_rows("deny", "http_request", "{", allowed_urls,
               tap_count(allowed_urls));
    check_rows("all", "http_request", "{", denied_urls, tap_count(denied_urls));
    test_remembered();
    test_never();
    test_long();
    return tap_done();
}

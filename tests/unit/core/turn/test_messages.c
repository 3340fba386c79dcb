/*
 * test_messages.c - the past of a conversation: what a host may give, and that
 * what is written is read back the same.
 */
#include "base/fail.h"
#include "core/turn/messages.h"

#include <stdlib.h>

#include "tap.h"
#include "tt_help.h"

#define U(t) "{\"role\":\"user\",\"text\":\"" t "\"}"
#define A(t) "{\"role\":\"assistant\",\"text\":\"" t "\"}"
#define CALL(id) "{\"id\":\"" id "\",\"name\":\"f\",\"args\":{}}"
#define AC(calls) "{\"role\":\"assistant\",\"text\":\"\",\"calls\":[" calls "]}"
#define T(id)                                                    \
    "{\"role\":\"tool\",\"call\":\"" id "\",\"name\":\"f\",\"te" \
    "xt\":\"r\"}"

/* NULL: it is taken. */
static const struct {
    const char *name, *json, *why;
} rows[] = {
    {"nothing", "[]", NULL},
    {"an exchange", "[" U("q") "," A("a") "]", NULL},
    {"two questions", "[" U("q") "," U("r") "]", NULL},
    {"two answers", "[" U("q") "," A("a") "," A("b") "]", NULL},
    {"calls",
     "[" U("q") "," AC(CALL("1") "," CALL("2")) "," T("2") "," T("1") "]",
     NULL},
    {"ids again",
     "[" U("q") "," AC(CALL("1")) "," T("1") "," AC(CALL("1")) "," T("1") "]",
     NULL},
    {"a system message first",
     "[{\"role\":\"system\",\"text\":\"s\"}," U("q") "]", NULL},
    {"no list", "{}", "messages: expected a list, not object"},
    {"no JSON", "[", "messages: "},
    {"no object", "[1]", "messages[0]: expected an object, not number"},
    {"no role", "[{\"text\":\"x\"}]", "messages[0].role: expected user"},
    {"another role", "[{\"role\":\"bot\"}]", "messages[0].role: expected user"},
    {"an unknown field",
     "[" U("q") ",{\"role\":\"user\",\"text\":\"a\",\"x\":"
                "1}]",
     "messages[1]: 'x' is not a field of a message of role user"},
    {"a field of another role",
     "[{\"role\":\"user\",\"text\":\"a\",\"calls\":"
     "[]}]",
     "messages[0]: 'calls' is not a field"},
    {"a text that is a number", "[{\"role\":\"user\",\"text\":1}]",
     "messages[0].text: expected string, not number"},
    {"failed that is not a boolean",
     "[" U("q") "," AC(CALL("1")) ",{\"role\":\"tool\","
                                  "\"call\":\"1\",\"failed\":1}]",
     "messages[2].failed: expected true or false"},
    {"an empty question", "[" U("") "]", "messages[0].text: it is empty"},
    {"an empty answer", "[" U("q") "," A("") "]",
     "messages[1].text: an answer has a text or calls"},
    {"an answer first", "[" A("a") "]",
     "messages[0].role: the first message is one of the user"},
    {"a call without a result",
     "[" U("q") "," AC(CALL("1") "," CALL("2")) "," T("1") "," U("r") "]",
     "messages[1].calls[1]: the call '2' has no result"},
    {"the same at the end", "[" U("q") "," AC(CALL("1")) "]",
     "messages[1].calls[0]: the call '1' has no result"},
    {"a result without a call", "[" U("q") "," T("1") "]",
     "messages[1].call: the message of the assistant before it has no call "
     "'1'"},
    {"a result of an older call",
     "[" U("q") "," AC(CALL("1")) "," T("1") "," A("a") "," T("1") "]",
     "messages[4].call: the message of the assistant"},
    {"two results", "[" U("q") "," AC(CALL("1")) "," T("1") "," T("1") "]",
     "messages[3].call: the call '1' has its result already"},
    {"a result of another tool",
     "[" U("q") "," AC(
         CALL("1")) ",{\"role\":"
                    "\"tool\",\"call\":\"1\",\"name\":\"g\",\"text\":\"\"}]",
     "messages[2].name: the call '1' is one of another tool"},
    {"an id twice", "[" U("q") "," AC(CALL("1") "," CALL("1")) "]",
     "messages[1].calls[1]: the id '1' is used twice"},
    {"parts",
     "[{\"role\":\"user\",\"text\":\"q\",\"parts\":[{\"data\":\"x\"}]}]", NULL},
    {"parts that are no list",
     "[{\"role\":\"user\",\"text\":\"q\",\"parts\":{}}]",
     "messages[0].parts: expected array"},
    {"a part that is refused",
     "[" U("q") ",{\"role\":\"user\",\"text\":\"q\",\"parts\":["
                "{\"data\":\"x\"},{}]}]",
     "messages[1].parts[1]: it has no data"},
    {"parts of an answer",
     "[" U("q") ",{\"role\":\"assistant\",\"text\":\"q\",\"parts\":[]}]",
     "'parts' is not a field of a message of role assistant"},
    {"a call without a name", "[" U("q") "," AC("{\"id\":\"1\"}") "]",
     "messages[1].calls[0]: expected id, name and args"},
};

static wend_status part(void *ctx, const struct json *j, wend_ev_part *out,
                        wend_error *err)
{
    (void)ctx;
    *out = (wend_ev_part){.type = STR("image"),
                          .media = STR("image/png"),
                          .hash = json_get_str(j, "data")};
    return out->hash.ptr ? WEND_OK : fail(err, WEND_E_INVAL, "it has no data");
}

static void test_check(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        const struct msg *newest;
        wend_error err = {0};
        wend_status s =
            messages_parse(str_of(rows[i].json), part, NULL, &a, &newest, &err);

        if (!rows[i].why)
            tap_ok(s == WEND_OK, "%s: taken (%s)", rows[i].name, err.message);
        else
            tap_ok(s == WEND_E_INVAL && strstr(err.message, rows[i].why),
                   "%s: refused: %s", rows[i].name, err.message);
        arena_free(&a);
    }
}

static void test_limits(void)
{
    struct arena a = {.mem = &plain};
    struct buf b = {.mem = &plain};
    const struct msg *newest;
    wend_error err = {0};

    buf_cstr(&b, "[" U("q") ",{\"role\":\"assistant\",\"calls\":[{\"id\":\"1\","
                            "\"name\":\"f\",\"args\":");
    for (int i = 0; i <= JSON_DEPTH_MAX; i++)
        buf_cstr(&b, "[");
    for (int i = 0; i <= JSON_DEPTH_MAX; i++)
        buf_cstr(&b, "]");
    buf_cstr(&b, "}]}]");
    tap_ok(messages_parse(buf_view(&b), part, NULL, &a, &newest, &err) ==
                   WEND_E_INVAL &&
               strstr(err.message, "levels"),
           "arguments that are too deep: %s", err.message);
    buf_clear(&b);
    for (int i = 0; i <= MESSAGES_MAX; i++)
        buf_cstr(&b, i ? "," U("q") : "[" U("q"));
    buf_cstr(&b, "]");
    tap_ok(messages_parse(buf_view(&b), part, NULL, &a, &newest, &err) ==
               WEND_E_LIMIT,
           "too many: %s", err.message);
    buf_free(&b);
    arena_free(&a);
}

#define WHOLE                                                                  \
    "[{\"role\":\"user\",\"text\":\"q\\n\\u0001\"},"                           \
    "{\"role\":\"assistant\",\"text\":\"hm\",\"thinking\":\"so\",\"opaque\":[" \
    "{\"signature\":\"x+/=\",\"n\":1.50}],\"model\":\"m\",\"calls\":[{\"id\":" \
    "\"1\",\"name\":\"f\",\"args\":{\"b\":1e2,\"a\":[]}},{\"id\":\"2\","       \
    "\"name\":\"g\",\"args\":\"{broken\"}]},"                                  \
    "{\"role\":\"tool\",\"call\":\"1\",\"name\":\"f\",\"text\":\"r\"},"        \
    "{\"role\":\"tool\",\"call\":\"2\",\"name\":\"g\",\"text\":\"no\","        \
    "\"failed\":true},"                                                        \
    "{\"role\":\"system\",\"text\":\"s\"},"                                    \
    "{\"role\":\"assistant\",\"text\":\"a\"}]"

static void test_round(void)
{
    struct arena a = {.mem = &plain};
    const struct msg *newest;
    wend_error err = {0};

    tap_ok(messages_parse(STR(WHOLE), part, NULL, &a, &newest, &err) == WEND_OK,
           "read: %s", err.message);
    tap_is_str(messages_text(newest, 0, MESSAGES_WHOLE, &a), WHOLE,
               "the same bytes again");
    tap_ok(newest && newest->index == 5 && newest->prev->role == ROLE_SYSTEM,
           "oldest first");
    tap_ok(messages_parse(STR("[" U("q") "," AC(
                              CALL("1")) ",{\"role\":\"tool\""
                                         ",\"call\":\"1\",\"text\":\"r\"}]"),
                          part, NULL, &a, &newest, &err) == WEND_OK,
           "a result without a name");
    tap_is_str(newest->name, "f", "... has that of its call");
    arena_free(&a);
}

/* ---- The newest ones ------------------------------------------------------
 */

/* u: the user; a: an answer; c: an answer with a call; t: its result. */
static void test_cut(void)
{
    static const struct {
        const char *all;
        int64_t most;
        const char *left;
    } cuts[] = {
        {"uaua", 0, "uaua"},
        {"uaua", 4, "uaua"},
        {"uaua", 3, "ua"},
        {"uaua", 2, "ua"},
        {"uaua", 1, "u"},
        {"uctau", 2, "u"},
        {"uauctcta", 6, "uctcta"},
        {"uauctcta", 5, "ucta"},
        {"uauctcta", 4, "ucta"},
        {"uauctcta", 3, "ua"},
        {"uauctcta", 2, "ua"},
        {"uauctcta", 1, "u"},
        {"uaactct", 3, "uct"},
        {"uaactct", 2, "u"},
        {"", 3, ""},
    };

    for (size_t i = 0; i < tap_count(cuts); i++) {
        struct arena a = {.mem = &plain};
        struct buf b = {.mem = &plain};
        const struct msg *newest = NULL;
        wend_error err = {0};
        wend_str text;
        char left[20] = "";
        size_t n = 0;

        buf_cstr(&b, "[");
        for (const char *c = cuts[i].all; *c; c++)
            buf_fmt(&b, "%s%s", b.len > 1 ? "," : "",
                    *c == 'u'   ? U("q")
                    : *c == 'a' ? A("a")
                    : *c == 'c' ? AC(CALL("1"))
                                : T("1"));
        buf_cstr(&b, "]");
        messages_parse(buf_view(&b), part, NULL, &a, &newest, &err);
        text = messages_text(newest, cuts[i].most, MESSAGES_WHOLE, &a);
        newest = NULL;
        if (text.ptr && tap_ok(messages_parse(text, part, NULL, &a, &newest,
                                              &err) == WEND_OK,
                               "%s to %d: sound %s", cuts[i].all,
                               (int)cuts[i].most, err.message))
            n = (size_t)newest->index + 1;
        for (const struct msg *m = newest; m; m = m->prev)
            left[m->index] = m->role == ROLE_USER   ? 'u'
                             : m->role == ROLE_TOOL ? 't'
                             : m->calls             ? 'c'
                                                    : 'a';
        tap_is_str(left, cuts[i].left, "%s to %d", cuts[i].all,
                   (int)cuts[i].most);
        tap_ok(!cuts[i].most || n <= (size_t)cuts[i].most, "not more");
        buf_free(&b);
        arena_free(&a);
    }
}

/* ---- A run's end ----------------------------------------------------------
 */

#define CONFIG "{\"tools\":[{\"name\":\"r\",\"class\":\"read\"}]}"

static void test_settle(void)
{
    static const struct {
        const char *play, *past;
    } ends[] = {
        {"start text", "u"}, /* closed: of the answer only deltas */
        {"start call:r done", "uct"},
        {"start call:r", "uct"}, /* closed in the message */
        {"start call:r done ok:call_1", "uct"},
        {"start call:r done ok:call_1 say", "uctu"},
    };

    for (size_t i = 0; i < tap_count(ends); i++) {
        struct world w;
        struct arena a = {.mem = &plain};
        struct keep keep = {&a, NULL};
        char past[20] = "";
        bool open = false;

        world_init(&w, &plain, CONFIG);
        play(&w, ends[i].play);
        struct turn t = w.turn;

        turn_settle(&t, &keep);
        for (const struct msg *m = t.history; m; m = m->prev) {
            past[m->index] = m->role == ROLE_USER   ? 'u'
                             : m->role == ROLE_TOOL ? 't'
                             : m->calls             ? 'c'
                                                    : 'a';
            open |= m->role == ROLE_TOOL && m->failed &&
                    strstr(m->text.ptr, "is not known");
        }
        tap_is_str(past, ends[i].past, "%s", ends[i].play);
        tap_ok(open == !strstr(ends[i].play, "ok:") * (strlen(past) > 1),
               "%s: an open call is said to be", ends[i].play);
        arena_free(&a);
        world_free(&w);
    }
}

int main(void)
{
    test_check();
    test_limits();
    test_round();
    test_cut();
    test_settle();
    return tap_done();
}

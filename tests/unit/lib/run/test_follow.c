/*
 * test_follow.c - conversations: messages at the start of a run, and runs that
 * follow another one.
 */
#include "base/json.h"
#include "run_help.h"

#define SCRIPT(turns) "script:{\"turns\":[" turns "]}"
#define TEXT(t) "{\"text\":\"" t "\"}"
#define CALLS(tool) \
    "{\"text\":\"hm\",\"calls\":[{\"name\":\"" tool "\",\"args\":{\"a\":1}}]}"
#define NOBODY "01900000-0000-7000-8000-000000000000"

/* What run_start says. */
struct start {
    wend_str text; /* of the event, as JSON */
    struct arena arena;
    const struct json *data;
    wend_str messages; /* of the struct: all of them */
};

static void read_start(struct rig *r, const char *id, struct start *out)
{
    wend_replay_options o = {.size = sizeof o, .seq_to = 1};
    wend_run *run = NULL;
    const wend_event *ev;
    char *json = NULL;
    size_t len = 0;

    memset(out, 0, sizeof *out);
    out->arena.mem = &rig_mem;
    if (wend_store_replay(r->rt, id, &o, &run, &r->err) == WEND_OK &&
        wend_run_next(run, &ev) == WEND_OK) {
        wend_event_to_json(ev, &json, &len);
        out->messages = arena_str(&out->arena, ev->u.run_start.messages_json);
    }
    out->text = arena_str(&out->arena, (wend_str){json, len});
    out->data = json_get(json_parse(out->text, &out->arena, NULL), "data");
    wend_string_free(json);
    wend_run_free(run);
}

static wend_str said(struct start *s, const char *key)
{
    return json_text(json_get(s->data, key), &s->arena);
}

static void start_free(struct start *s)
{
    arena_free(&s->arena);
}

/* To its end; its id. */
static void finish(wend_run *run, int cancel_at, char id[40])
{
    const wend_event *ev;

    snprintf(id, 40, "%s", run ? wend_run_id(run) : NOBODY);
    while (run && wend_run_next(run, &ev) == WEND_OK) {
        if (ev->type == WEND_APPROVAL_ASK)
            wend_run_approve(run, ev->u.approval_ask.call, true, "test");
        if (ev->n && !--cancel_at)
            wend_run_cancel(run);
    }
    wend_run_free(run);
}

static wend_run *next_of(struct rig *r, const char *id,
                         const wend_run_options *o)
{
    wend_run *run = NULL;

    if (wend_run_follow(r->agent, id, STR("more"), o, &run, &r->err) != WEND_OK)
        tap_ok(false, "follow: %s", r->err.message);
    return run;
}

/* ---- What the next run knows ----------------------------------------------
 */

#define U "{\"role\":\"user\",\"text\":\"hello\"}"
#define A(t) ",{\"role\":\"assistant\",\"text\":\"" t "\",\"model\":\"script\""

static void test_past(void)
{
    static const struct {
        const char *name, *script;
        int cancel_at;
        const char *past;
    } rows[] = {
        {"an answer", SCRIPT(TEXT("hi")), 0, "[" U A("hi") "}]"},
        {"calls", SCRIPT(CALLS("echo") "," TEXT("ok")), 0,
         "[" U A("hm") ",\"calls\":[{\"id\":\"call_1\",\"name\":\"echo\","
                       "\"args\":{\"a\":1}}]},{\"role\":\"tool\",\"call\":"
                       "\"call_1\","
                       "\"name\":\"echo\",\"text\":\"{\\\"a\\\":1}\"}" A(
                           "ok") "}]"},
        {"a call that failed", SCRIPT(CALLS("broken") "," TEXT("ok")), 0,
         "[" U A("hm") ",\"calls\":[{\"id\":\"call_1\",\"name\":\"broken\","
                       "\"args\":{\"a\":1}}]},{\"role\":\"tool\",\"call\":"
                       "\"call_1\","
                       "\"name\":\"broken\",\"text\":\"it is "
                       "broken\",\"failed\":true}" A("ok") "}]"},
        {"an answer that failed",
         SCRIPT("{\"text\":\"well, well\",\"error\":{\"code\":\"invalid\","
                "\"message\":\"no\",\"after\":1}}"),
         0, "[" U "]"},
        {"an answer that was canceled",
         SCRIPT("{\"text\":\"one two\",\"chunk\":3,\"delay\":\"1ms\"}"), 1,
         "[" U A("one") "}]"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct rig r = {0};
        struct start s;
        char id[40], next[40];

        if (!rig_open(&r, NULL, rows[i].script))
            return;
        finish(rig_start(&r, NULL), rows[i].cancel_at, id);
        finish(next_of(&r, id, NULL), 0, next);
        read_start(&r, next, &s);
        tap_is_str(said(&s, "messages"), rows[i].past, "%s", rows[i].name);
        tap_is_str(json_get_str(s.data, "follows"), id, "%s: whose",
                   rows[i].name);
        tap_is_str(json_get_str(s.data, "prompt"), "more", "%s: the prompt",
                   rows[i].name);
        start_free(&s);
        rig_close(&r);
    }
}

/* A chain, also through forks and a store; each run has the whole past. */
static void test_chain(void)
{
    struct rig r = {.agent_options.instructions = "be brief"};
    wend_run_options o = {.size = sizeof o, .session = "s", .user = "u"};
    wend_fork_options at_end = {.size = sizeof at_end};
    struct start s;
    char id[40], fork[40];
    wend_run *run = NULL;

    if (!rig_open(&r, NULL, SCRIPT(TEXT("hi") "," TEXT("again"))))
        return;
    finish(rig_start(&r, &o), 0, id);
    for (int i = 0; i < 3; i++)
        finish(next_of(&r, id, NULL), 0, id);
    read_start(&r, id, &s);
    tap_is_i64(json_get(s.data, "messages")->count, 6, "three exchanges");
    tap_is_str(json_get_str(s.data, "session"), "s", "the session stays");
    tap_is_str(json_get_str(s.data, "user"), "u", "so does the user");
    tap_is_str(json_get_str(json_get(s.data, "config"), "instructions"),
               "be brief", "and the config");
    start_free(&s);
    at_end.at = 1;
    tap_ok(wend_run_fork(r.agent, id, &at_end, NULL, &run, &r.err) == WEND_OK,
           "a fork of it: %s", r.err.message);
    finish(run, 0, fork);
    finish(next_of(&r, fork,
                   &(wend_run_options){.size = sizeof o, .session = "other"}),
           0, id);
    read_start(&r, id, &s);
    tap_is_i64(json_get(s.data, "messages")->count, 8, "and of the fork");
    tap_is_str(json_get_str(s.data, "session"), "other", "another session");
    start_free(&s);
    rig_close(&r);
}

/* Whether the past of the next run begins with the first prompt and a summary.
 */
static void is_folded(struct rig *r, const char *id, const char *why)
{
    const struct json *second;
    char next[40];
    struct start s;

    finish(next_of(r, id, NULL), 0, next);
    read_start(r, next, &s);
    second = json_items(json_get(s.data, "messages"));
    second = second ? second->next : NULL;
    tap_ok(json_is_true(json_get(second, "summary")) &&
               str_ends(json_get_str(second, "text"), "names: Ann"),
           "%s", why);
    start_free(&s);
}

/* A conversation that is shortened on request, by the run that follows. */
static void test_compact(void)
{
    static const char long_text[] =
        TEXT("a long answer with many words, so that there is something to "
             "leave out of the conversation, and then some more of it, until "
             "it is longer than the summary and the words around it");
    wend_run_options o = {.size = sizeof o, .compact = "names"};
    char script[1000], id[40], next[40];
    struct rig r = {0};
    wend_run *run;

    snprintf(script, sizeof script, "script:{\"turns\":[%s,%s]}",
             "{\"purpose\":\"summary\",\"when\":\"names\",\"text\":"
             "\"# Task\\n# Decisions\\n# Progress\\n# Blockers\\n# Context\\n"
             "names: Ann\",\"repeat\":\"forever\"}",
             long_text);
    if (!rig_open(&r, NULL, script))
        return;
    finish(rig_start(&r, NULL), 0, id);
    for (int i = 0; i < 3; i++)
        finish(next_of(&r, id, NULL), 0, id);
    finish(next_of(&r, id, &o), 0, next);
    is_folded(&r, next, "compact: before the first request");
    run = next_of(&r, id, NULL);
    tap_ok(wend_run_compact(run, STR("names")) == WEND_OK,
           "compact: asked for");
    finish(run, 0, next);
    finish(next_of(&r, next, NULL), 0, next);
    is_folded(&r, next, "compact: what had no further request is done next");
    o.compact = "\xff";
    tap_ok(wend_run_follow(r.agent, id, STR("x"), &o, &run, &r.err) ==
               WEND_E_INVAL,
           "compact: %s", r.err.message);
    rig_close(&r);
}

static void test_messages(void)
{
    static const char past[] =
        "[{\"role\":\"user\",\"text\":\"6*7?\"},{\"role\":\"assistant\","
        "\"text\":\"\",\"calls\":[{\"id\":\"1\",\"name\":\"echo\",\"args\":{}}]"
        "},{\"role\":\"tool\",\"call\":\"1\",\"name\":\"echo\",\"text\":\"42\"}"
        "]";
    static const struct {
        const char *script, *answer;
    } rows[] = {
        /* `when` looks at the last message, ${tool_result} at the last one */
        {SCRIPT("{\"when\":\"hello\",\"text\":\"It is ${tool_result}.\"}"),
         "It is 42."},
    };
    wend_run_options o = {.size = sizeof o, .messages = past};
    struct rig r = {.agent_options.max_history = 2};
    struct start s;
    wend_str text = STR_NONE;
    wend_run *run;
    char id[40];

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct rig one = {0};

        if (!rig_open(&one, NULL, rows[i].script))
            return;
        run = rig_start(&one, &o);
        wend_run_wait(run, &text);
        tap_is_str(text, rows[i].answer, "the model gets them");
        snprintf(id, sizeof id, "%s", wend_run_id(run));
        read_start(&one, id, &s);
        tap_is_str(said(&s, "messages"), past, "they are kept");
        tap_is_str(said(&s, "past_labels"), STR_NONE, "no labels");
        start_free(&s);
        wend_run_free(run);
        rig_close(&one);
    }
    if (!rig_open(&r, NULL, SCRIPT(TEXT("x"))))
        return;
    finish(rig_start(&r, &o), 0, id);
    read_start(&r, id, &s);
    tap_is_str(said(&s, "messages"), "[{\"role\":\"user\",\"text\":\"6*7?\"}]",
               "max_history");
    start_free(&s);
    o.messages = "[{\"role\":\"tool\"}]";
    tap_ok(wend_run_start(r.agent, STR("x"), &o, &run, &r.err) ==
                   WEND_E_INVAL &&
               strstr(r.err.message, "messages[0].role"),
           "bad ones: %s", r.err.message);
    o.messages = "[]";
    finish(rig_start(&r, &o), 0, id);
    read_start(&r, id, &s);
    tap_is_str(said(&s, "messages"), STR_NONE, "none");
    start_free(&s);
    rig_close(&r);
}

/* ---- Labels ---------------------------------------------------------------
 */

/* What one run has read counts in the next one. */
static void test_labels(void)
{
    struct rig r = {0};
    wend_tool_options reads = {.size = sizeof reads,
                               .name = "web",
                               .description = "d",
                               .call_class = WEND_CLASS_READ,
                               .fn = tool_echo,
                               .labels = WEND_LABEL_UNTRUSTED_SOURCE};
    struct start s;
    char id[40], next[40];

    if (!rig_open(&r, NULL, SCRIPT(CALLS("web") "," TEXT("ok"))))
        return;
    wend_agent_add_tool(r.agent, &reads, &r.err);
    finish(rig_start(&r, NULL), 0, id);
    finish(next_of(&r, id, NULL), 0, next);
    read_start(&r, next, &s);
    tap_is_str(said(&s, "past_labels"), "[\"untrusted_source\"]",
               "the next run has the labels of the last");
    start_free(&s);
    finish(next_of(&r, next, NULL), 0, id);
    read_start(&r, id, &s);
    tap_is_str(said(&s, "past_labels"), "[\"untrusted_source\"]",
               "and so has the one after it");
    start_free(&s);
    rig_close(&r);
}

/* ---- Long conversations ---------------------------------------------------
 */

/* The first list of references is the beginning of the second. */
static bool begins_with(const struct json *later, const struct json *sooner)
{
    const struct json *j = json_items(later);

    for (const struct json *i = json_items(sooner); i && json_get(i, "blob");
         i = i->next, j = j->next)
        if (!j || !str_eq(json_get_str(i, "blob"), json_get_str(j, "blob")))
            return false;
    return true;
}

static void put_questions(struct buf *b, const char *text, int count)
{
    json_open(b, NULL, '[');
    while (count--) {
        json_open(b, NULL, '{');
        json_add_str(b, "role", STR("user"));
        json_add_str(b, "text", str_of(text));
        json_close(b, '}');
    }
    json_close(b, ']');
    buf_char(b, 0);
}

/* Each run has all that was said before it; what they share is stored once. */
static void check_long(bool told)
{
    enum { EXCHANGES = 60 };
    const char *how = told ? "messages of the host" : "a run that follows";
    wend_run_options o = {.size = sizeof o};
    char prompt[2001], id[40];
    struct start last = {0}, s;
    size_t halves[2] = {0};
    struct rig r = {0};
    int others = 0;

    memset(prompt, 'a', sizeof prompt - 1);
    prompt[sizeof prompt - 1] = 0;
    if (!rig_open(&r, NULL,
                  "script:{\"turns\":[{\"text\":\"well\","
                  "\"repeat\":\"forever\"}]}"))
        return;
    finish(rig_start(&r, NULL), 0, id);
    for (int i = 0; i < EXCHANGES; i++) {
        struct buf past = {.mem = &rig_mem};
        wend_run *run = NULL;

        put_questions(&past, prompt, i);
        o.messages = past.ptr;
        if (told)
            wend_run_start(r.agent, str_of(prompt), &o, &run, &r.err);
        else
            wend_run_follow(r.agent, id, str_of(prompt), NULL, &run, &r.err);
        finish(run, 0, id);
        buf_free(&past);
        read_start(&r, id, &s);
        halves[i >= EXCHANGES / 2] += s.text.len;
        others += !begins_with(json_get(s.data, "messages"),
                               json_get(last.data, "messages"));
        start_free(&last);
        last = s;
    }
    tap_ok(halves[1] * 10 < halves[0] * 16, "%s: %zu bytes, then %zu", how,
           halves[0], halves[1]);
    tap_is_i64(others, 0, "%s: what they share is the same blobs", how);
    tap_ok(json_get(json_items(json_get(last.data, "messages")), "blob"),
           "%s: there are blobs", how);
    tap_is_i64(json_parse(last.messages, &last.arena, NULL)->count,
               told ? EXCHANGES - 1 : 2 * EXCHANGES,
               "%s: a reader has every message", how);
    start_free(&last);
    rig_close(&r);
}

static void test_long(void)
{
    check_long(false);
    check_long(true);
}

/* ---- What cannot be followed ----------------------------------------------
 */

static void test_refused(void)
{
    static const char plan[] = "wend: plan/1\nname: p\nactions:\n- {name: a, "
                               "type: tool, target: echo, params: {x: 1}}\n";
    struct rig r = {0};
    wend_run_options o = {.size = sizeof o,
                          .messages =
                              "[{\"role\":\"assistant\",\"text\":\"a\"}]"};
    wend_run *run = NULL, *under_way;
    wend_run_options plans = {.size = sizeof plans, .plan = true};
    char id[40];

    if (!rig_open(&r, NULL, SCRIPT(TEXT("a") "," TEXT("b"))))
        return;
#define REFUSES(status, why, agent, id, options)                         \
    do {                                                                 \
        wend_status s =                                                  \
            wend_run_follow(agent, id, STR("x"), options, &run, &r.err); \
        tap_ok(s == (status) && !run && strstr(r.err.message, why),      \
               "refused: %s", r.err.message);                            \
    } while (0)
    REFUSES(WEND_E_NOTFOUND, "no run", r.agent, NOBODY, NULL);
    REFUSES(WEND_E_INVAL, "NULL", NULL, NOBODY, NULL);
    REFUSES(WEND_E_INVAL, "id of a run", r.agent, "x", NULL);
    under_way = rig_start(&r, NULL);
    REFUSES(WEND_E_BUSY, "not over", r.agent, wend_run_id(under_way), NULL);
    finish(under_way, 0, id);
    REFUSES(WEND_E_INVAL, "the past is that of the run", r.agent, id, &o);
    o.messages = "[{\"role\":\"tool\",\"call\":\"c7\",\"text\":\"a\"}]";
    REFUSES(WEND_E_INVAL, "no pending call 'c7'", r.agent, id, &o);
    o.messages = "[]";
    finish(rig_start_plan(&r, plan), 0, id);
    REFUSES(WEND_E_INVAL, "is a plan", r.agent, id, NULL);
    finish(rig_start(&r, &plans), 0, id);
    REFUSES(WEND_E_INVAL, "is a plan", r.agent, id, NULL);
    o.plan = true;
    tap_ok(wend_run_start(r.agent, STR("x"), &o, &run, &r.err) == WEND_OK,
           "a model that writes plans takes messages");
    finish(run, 0, id);
    rig_close(&r);
}

int main(void)
{
    test_past();
    test_chain();
    test_compact();
    test_messages();
    test_labels();
    test_long();
    test_refused();
    return tap_done();
}

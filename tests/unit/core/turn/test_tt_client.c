/*
 * test_tt_client.c - client-side tools: calls that the caller of the run
 * executes.
 */
#include "core/turn/messages.h"
#include "tt_help.h"

/* c and d are client-side, r and w are not. */
#define CLIENT                                                             \
    "\"tools\":[{\"name\":\"c\",\"source\":\"client\",\"schema\":{"        \
    "\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"string\"}}}},"  \
    "{\"name\":\"d\",\"source\":\"client\",\"class\":\"read\"},{\"name\":" \
    "\"r\",\"class\":\"read\"},{\"name\":\"w\",\"class\":\"idempotent\"}]"
#define RULES(mode, rules) \
    "\"policy\":{\"approve\":\"" mode "\",\"rules\":[\"w\"" rules "]}"
#define ASKS "{" CLIENT "," RULES("ask", "") "}"
#define DENIES "{" CLIENT "," RULES("deny", "") "}"
#define RULED "{" CLIENT "," RULES("ask", ",\"!c\",\"?d\"") "}"
#define HOOKED "{" CLIENT ",\"hooks\":true," RULES("ask", "") "}"

#define C1 "call_start(call_1) call_end(call_1) "
#define C2 "call_start(call_2) call_end(call_2) "
#define HOOK \
    "run_start turn_start +hook context_start context_end model_start +ask "

static const struct row rows[] = {
    {.why = "its call closes at once, and the run ends",
     .config = ASKS,
     .inputs = "start text call:c done",
     .wanted = BEGIN "model_end " C1 END "run_end(ok,call_1)"},
    {.why = "nobody is asked, though nobody could be",
     .config = DENIES,
     .inputs = "start call:c done",
     .wanted = BEGIN "model_end " C1 END "run_end(ok,call_1)"},
    {.why = "two of them",
     .config = ASKS,
     .inputs = "start call:c call:d done",
     .wanted = BEGIN "model_end " C1 C2 END "run_end(ok,call_1,call_2)"},
    {.why = "others of the message end first",
     .config = ASKS,
     .inputs = "start call:c call:r done ok:call_2",
     .wanted = BEGIN "model_end " C1
                     "call_start(call_2) +run(call_2) call_end(call_2) " END
                     "run_end(ok,call_1)"},
    {.why = "the last turn",
     .config = ASKS,
     .inputs = "start call:c done",
     .wanted = BEGIN "model_end " C1 END "run_end(ok,call_1)",
     .limits.turns = 1},
    {.why = "one that reads does not start before its message ends",
     .config = ASKS,
     .inputs = "start call:d done",
     .wanted = BEGIN "model_end " C1 END "run_end(ok,call_1)"},
    {.why = "a call before it that failed",
     .config = ASKS,
     .inputs = "start call:w call:c done bad:call_1",
     .wanted = BEGIN "model_part call_start(call_1) +run(call_1) model_end "
                     "call_end(call_1,failed) " C2 END "run_end(ok,call_2)"},
    {.why = "arguments that do not fit go back to the model",
     .config = ASKS,
     .inputs = "start call:c={\"x\":1} done",
     .wanted =
         BEGIN "model_end call_start(call_1) call_end(call_1,failed) " NEXT},
    {.why = "a rule that denies",
     .config = RULED,
     .inputs = "start call:c done",
     .wanted =
         BEGIN "model_end call_start(call_1) call_end(call_1,denied) " NEXT},
    {.why = "a rule that asks",
     .config = RULED,
     .inputs = "start call:d done yes:call_1",
     .wanted =
         BEGIN "model_end approval_ask(call_1) approval_answer(call_1) " C1 END
               "run_end(ok,call_1)"},
    {.why = "a no goes back to the model",
     .config = RULED,
     .inputs = "start call:d done no:call_1",
     .wanted = BEGIN "model_end approval_ask(call_1) approval_answer(call_1) "
                     "call_start(call_1) call_end(call_1,denied) " NEXT},
    {.why = "a hook lets it pass",
     .config = HOOKED,
     .inputs = "start hook call:c done hook:call_1",
     .wanted = HOOK "model_end +hook(call_1) " C1 END "run_end(ok,call_1)"},
    {.why = "a hook answers in its place",
     .config = HOOKED,
     .inputs = "start hook call:c done hook:call_1=skip",
     .wanted = HOOK "model_end +hook(call_1) " C1 END "turn_start +hook"},
    {.why = "something said meanwhile waits for the next run",
     .config = ASKS,
     .inputs = "start call:c call:r done say ok:call_2",
     .wanted =
         BEGIN "model_end " C1
               "call_start(call_2) +run(call_2) message call_end(call_2) " END
               "run_end(ok,call_1)"},
    {.why = "a cancel before the others have ended",
     .config = ASKS,
     .inputs = "start call:c call:r done cancel ok:call_2",
     .wanted = BEGIN
     "model_end " C1
     "call_start(call_2) +run(call_2) control(cancel) +stop(call_2) +patience "
     "call_end(call_2) turn_end(canceled) metrics run_end(canceled)"},
    {.why = "a crash before the others have ended",
     .config = ASKS,
     .inputs = "start call:c call:r done resume ok:call_2",
     .wanted = BEGIN
     "model_end " C1
     "call_start(call_2) +run(call_2) run_resume call_end(call_2,superseded) "
     "call_start(call_2) +run(call_2) call_end(call_2) " END
     "run_end(ok,call_1)"},
};

static bool log_has(const struct world *w, const char *text)
{
    return str_has(buf_view(&w->log), str_of(text));
}

static void test_events(void)
{
    struct world w;

    world_init(&w, &plain, HOOKED);
    play(&w, "start hook text:look call:c={\"x\":\"1\"} done");
    play(&w, "hook:call_1=change");
    tap_ok(log_has(&w, "\"outcome\":\"ok\",\"output\":\"\",\"ms\":0,"
                       "\"given\":\"client\"}"),
           "call_end has no output");
    tap_ok(log_has(&w, "\"rule\":\"client\""), "no rule allowed it");
    tap_ok(log_has(&w, "{\"outcome\":\"ok\",\"text\":\"look\",") &&
               log_has(&w, "\"pending\":[{\"call\":\"call_1\",\"name\":\"c\","
                           "\"args\":{"),
           "run_end has the text of the message, and the call");
    if (!tap_ok(!log_has(&w, "\"pending\":[{\"call\":\"call_1\",\"name\":\"c\","
                             "\"args\":{\"x\":\"1\"}}]"),
                "... with the arguments that a hook gave it"))
        printf("# %s\n", w.log.ptr);
    world_free(&w);
}

/* A call that the caller executes is no repetition of the one before it. */
static void test_repeats(void)
{
    struct world w;

    world_init(&w, &plain, ASKS);
    play(&w, "start");
    for (int i = 0; i < 12; i++)
        play(&w, "call:c");
    play(&w, "done");
    tap_ok(!log_has(&w, "\"code\":\"loop\""), "no loop");
    tap_ok(log_has(&w, "\"call\":\"call_12\",\"name\":\"c\",\"args\":{}}]"),
           "all are pending");
    world_free(&w);
}

/* ---- What the next run has ----------------------------------------------- */

#define PAST(result1, result2)                                               \
    "[{\"role\":\"user\",\"text\":\"hi\"},{\"role\":\"assistant\",\"text\":" \
    "\"\",\"model\":\"script\",\"calls\":[{\"id\":\"call_1\",\"name\":"      \
    "\"c\",\"args\":{}},{\"id\":\"call_2\",\"name\":\"r\",\"args\":{}},{"    \
    "\"id\":\"call_3\",\"name\":\"d\",\"args\":{}}]},{\"role\":\"tool\","    \
    "\"call\":\"call_1\",\"name\":\"c\"," result1 "},{\"role\":\"tool\","    \
    "\"call\":\"call_2\",\"name\":\"r\",\"text\":\"out\"},{\"role\":"        \
    "\"tool\",\"call\":\"call_3\",\"name\":\"d\"," result2 "}"
#define NO_RESULT \
    "\"text\":\"[the caller gave no result for this call]\",\"failed\":true"
#define T(call, text) \
    "{\"role\":\"tool\",\"call\":\"" call "\",\"text\":\"" text "\"}"
#define U(t) "{\"role\":\"user\",\"text\":\"" t "\"}"

static const struct {
    const char *why, *told, *past, *wrong;
} told_rows[] = {
    {"no results", "[]", PAST(NO_RESULT, NO_RESULT) "]", NULL},
    {"both, in call order", "[" T("call_3", "3") "," T("call_1", "1") "]",
     PAST("\"text\":\"1\"", "\"text\":\"3\"") "]", NULL},
    {"one, and a message", "[" T("call_1", "") "," U("and") "]",
     PAST("\"text\":\"\"", NO_RESULT) "," U("and") "]", NULL},
    {"one that failed",
     "[{\"role\":\"tool\",\"call\":\"call_3\",\"text\":\"no\",\"failed\":true}"
     "]",
     PAST(NO_RESULT, "\"text\":\"no\",\"failed\":true") "]", NULL},
    {"of another call", "[" T("call_9", "1") "]", NULL,
     "messages[0].call: the run before it has no pending call 'call_9'"},
    {"of one that has its result", "[" T("call_2", "1") "]", NULL,
     "no pending call 'call_2'"},
    {"twice", "[" T("call_1", "1") "," T("call_1", "1") "]", NULL,
     "messages[1].call: the call 'call_1' has its result already"},
    {"behind a message", "[" U("and") "," T("call_1", "1") "]", NULL,
     "messages[1].call"},
    {"another tool",
     "[{\"role\":\"tool\",\"call\":\"call_1\",\"name\":\"d\",\"text\":\"\"}]",
     NULL, "messages[0].name"},
    {"an answer", "[{\"role\":\"assistant\",\"text\":\"a\"}]", NULL,
     "messages[0].role: the past is that of the run"},
    {"instructions", "[{\"role\":\"system\",\"text\":\"a\"}]", NULL,
     "messages[0].role"},
    {"no list", "{}", NULL, "expected a list"},
};

static wend_status no_part(void *ctx, const struct json *part,
                           wend_ev_part *out, wend_error *err)
{
    (void)ctx;
    (void)part;
    (void)out;
    (void)err;
    return WEND_E_INVAL;
}

static void test_told(void)
{
    for (size_t i = 0; i < tap_count(told_rows); i++) {
        struct arena a = {.mem = &plain};
        const struct keep keep = {&a, NULL};
        struct world w;
        struct turn t;
        wend_error err = {0};
        wend_status s;

        world_init(&w, &plain, ASKS);
        play(&w, "start call:c call:r call:d done ok:call_2");
        t = w.turn;
        turn_settle(&t, &keep);
        s = messages_continue(str_of(told_rows[i].told), no_part, NULL, &a,
                              &t.history, &err);
        if (told_rows[i].wrong)
            tap_ok(s == WEND_E_INVAL && strstr(err.message, told_rows[i].wrong),
                   "%s: %s", told_rows[i].why, err.message);
        else
            tap_is_str(messages_text(t.history, 0, MESSAGES_WHOLE, &a),
                       told_rows[i].past, "%s", told_rows[i].why);
        arena_free(&a);
        world_free(&w);
    }
}

/* A run without a prompt needs the results that it begins with. */
static void test_most(void)
{
    struct arena a = {.mem = &plain};
    struct world w;

    world_init(&w, &plain, ASKS);
    play(&w, "start call:c call:d done");
    tap_is_i64(messages_most(w.turn.history, 1), 4, "all of the exchange");
    tap_is_i64(messages_most(w.turn.history, 0), 0, "0 is all");
    tap_ok(str_has(messages_text(w.turn.history, 4, MESSAGES_WHOLE, &a),
                   STR("\"calls\":[")),
           "its calls are there");
    arena_free(&a);
    world_free(&w);
}

/* The model is asked with the results, and with nothing else. */
static void test_no_prompt(void)
{
    static const struct {
        const char *why, *past;
        int64_t messages;
    } past_rows[] = {
        {"results",
         "[" U("a") ",{\"role\":\"assistant\",\"calls\":[{\"id\":"
                    "\"1\",\"name\":\"c\",\"args\":{}}]}," T("1", "x") "]",
         3},
        {"a message", "[" U("a") "]", 1},
        {"an answer, as ever",
         "[" U("a") ",{\"role\":\"assistant\",\"text\":"
                    "\"b\"}]",
         3},
        {"nothing, as ever", NULL, 1},
    };

    for (size_t i = 0; i < tap_count(past_rows); i++) {
        struct world w;

        world_init(&w, &plain, ASKS);
        w.start.prompt = STR("");
        w.start.messages_json = str_of(past_rows[i].past);
        play(&w, "start");
        tap_is_i64(w.turn.history->index + 1, past_rows[i].messages,
                   "without a prompt: %s", past_rows[i].why);
        tap_is_i64(w.broken, 0, "%s: lawful", past_rows[i].why);
        world_free(&w);
    }
}

int main(void)
{
    check_rows(rows, tap_count(rows));
    test_events();
    test_repeats();
    test_told();
    test_most();
    test_no_prompt();
    return tap_done();
}

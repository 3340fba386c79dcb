/*
 * test_codec.c - what all codecs share: events to JSON, errors, history.
 */
#include "wire/model/model.h"

#include "wire_help.h"

/* A codec that says what it sees: a value per event as its text. */
static void see(struct decoder *d, const struct json *data)
{
    struct buf b = {.mem = d->mem};

    json_put(&b, data);
    if (b.failed)
        wire_fail_nomem(d);
    else
        d->sink->text(d->sink->ctx, buf_view(&b));
    buf_free(&b);
    d->own = true;
    if (json_get(data, "end"))
        d->finished = true;
}

static void see_whole(struct decoder *d, const struct json *body)
{
    see(d, body);
    d->finished = true;
}

static const struct codec seer = {
    .name = "seer",
    .end_mark = true,
    .event = see,
    .whole = see_whole,
    .state_size = 8,
};

static const struct {
    const char *why, *input, *wanted;
} rows[] = {
    {"a value and an end mark", "data: {\"a\": 1}\n\ndata: [DONE]\n\n",
     "text \"{\\\"a\\\":1}\"\nfinish stop\n"},
    {"an end mark of the codec's", "data: {\"end\":1}\n\n",
     "text \"{\\\"end\\\":1}\"\nfinish stop\n"},
    {"values after the codec's end", "data: {\"end\":1}\n\ndata: 2\n\n",
     "text \"{\\\"end\\\":1}\"\ntext \"2\"\nfinish stop\n"},
    {"nothing counts after the end mark",
     "data: 0\n\ndata: [DONE]\n\ndata: 1\n\ndata: {\"error\":\"x\"}\n\n",
     "text \"0\"\nfinish stop\n"},
    {"space around the end mark", "data: 0\n\ndata:   [DONE] \n\n",
     "text \"0\"\nfinish stop\n"},
    {"an end mark twice", "data: 0\n\ndata: [DONE]\n\ndata: [DONE]\n\n",
     "text \"0\"\nfinish stop\n"},
    {"an end mark alone", "data: [DONE]\n\ndata: 1\n\n",
     "fail network the answer is empty\n"},
    {"an empty event", "data:\n\ndata: 0\n\ndata: \n\ndata: [DONE]\n\n",
     "text \"0\"\nfinish stop\n"},
    {"no end", "data: 1\n\n",
     "text \"1\"\nfail network the stream ended before the answer did\n"},
    {"nothing at all", "", "fail network the answer is empty\n"},
    {"nothing but a sign of life", ": ping\n\ndata:\n\n",
     "fail network the answer is empty\n"},
    {"no JSON", "data: <b>no</b>\n\ndata: 1\n\n",
     "fail service the server sent invalid JSON (line 1, byte 1: expected a "
     "value, "
     "found '<'): no\n"},
    {"cut inside a line", "data: 0\n\ndata: {\"a\":[1,",
     "text \"0\"\nfail network the answer was cut off\n"},
    {"cut after a value", "data: 0\n\ndata: {\"a\":[1]}",
     "text \"0\"\ntext \"{\\\"a\\\":[1]}\"\nfail network the stream ended "
     "before the answer did\n"},
    {"an end mark cut off", "data: 0\n\ndata: [DON",
     "text \"0\"\nfail network the answer was cut off\n"},
    {"half a value", "data: {\"a\":[1,\n\n",
     "fail service the server sent invalid JSON (line 1, byte 9: expected a "
     "value, "
     "found end of input): {\"a\":[1,\n"},
    {"a value over two lines", "data: {\"a\":\ndata: x}\n\n",
     "fail service the server sent invalid JSON (line 2, byte 1: expected a "
     "value, "
     "found 'x'): {\"a\": x}\n"},
    {"an error of one provider",
     "data: {\"error\":{\"message\":\"no\",\"type\":\"server_error\","
     "\"code\":null}}\n\ndata: [DONE]\n\n",
     "fail service no\n"},
    {"an error beside an answer",
     "data: {\"choices\":[],\"error\":{\"code\":429,\"message\":\"slow\"}}\n\n",
     "fail rate_limit slow\n"},
    {"an error of another",
     "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":"
     "\"overloaded_error\",\"message\":\"busy\"}}\n\n",
     "fail service busy\n"},
    {"flat, by its name",
     "event: error\ndata: {\"message\":\"m\",\"code\":\"invalid_api_key\"}\n\n",
     "fail auth m\n"},
    {"a message alone is no error",
     "data: {\"message\":\"m\"}\n\ndata: [DONE]\n\n",
     "text \"{\\\"message\\\":\\\"m\\\"}\"\nfinish stop\n"},
    {"as an object",
     "data: {\"object\":\"error\",\"message\":\"m\","
     "\"code\":400}\n\n",
     "fail invalid m\n"},
    {"as text", "data: {\"error\":\"out of cheese\"}\n\n",
     "fail service out of cheese\n"},
    {"of a framework", "data: {\"detail\":\"Not Found\"}\n\n",
     "fail service Not Found\n"},
    {"a detail among others is none", "data: {\"detail\":1,\"end\":1}\n\n",
     "text \"{\\\"detail\\\":1,\\\"end\\\":1}\"\nfinish stop\n"},
    {"in a list",
     "data: [{\"a\":1},{\"error\":{\"code\":503,\"message\":"
     "\"down\",\"status\":\"UNAVAILABLE\"}}]\n\n",
     "fail service down\n"},
    {"no error",
     "data: {\"error\":null}\n\ndata: {\"error\":\"\"}\n\n"
     "data: {\"error\":false,\"end\":1}\n\n",
     "text \"{\\\"error\\\":null}\"\ntext \"{\\\"error\\\":\\\"\\\"}\"\n"
     "text \"{\\\"error\\\":false,\\\"end\\\":1}\"\nfinish stop\n"},
    {"an error without words", "event: error\ndata:\n\n",
     "fail service the server reported an error without a message\n"},
    {"an error object without words", "data: {\"error\":{}}\n\n",
     "fail service the server reported an error without a message\n"},
    {"an error that is no JSON", "event: error\ndata: it broke\n\n",
     "fail service it broke\n"},
    {"an error line",
     "error: {\"code\":400,\"message\":\"too big: the request "
     "exceeds the available context size\"}\n\n"
     "data: [DONE]\n\n",
     "fail overflow too big: the request exceeds the available context "
     "size\n"},
    {"an empty account is not tried again",
     "data: {\"error\":{\"message\":\"pay\",\"code\":\"insufficient_quota\"}}"
     "\n\n",
     "fail auth pay\n"},
    {"what a server behind it said",
     "data: {\"error\":{\"message\":\"Provider returned error\",\"code\":429,"
     "\"metadata\":{\"raw\":\"slow\\ndown\"}}}\n\n",
     "fail rate_limit Provider returned error: slow down\n"},
    {"only the first failure is told",
     "data: {\"error\":\"a\"}\n\ndata: {\"error\":\"b\"}\n\n",
     "fail service a\n"},
};

/* Servers that speak another API than they are asked in. */
#define CHAT                                                              \
    "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":" \
    "\"Hi\"}}]}\n\n"
#define OTHER(api, driver) \
    "fail not_found this looks like " api "; use " driver ":NAME\n"
#define IS_CHAT OTHER("Chat Completions", "openai")
#define EMPTY "fail network the answer is empty\n"

static const struct {
    const struct codec *codec;
    const char *why, *input, *wanted;
} elsewhere[] = {
    {&codec_openai, "an end mark alone", "data: [DONE]\n\n", EMPTY},
    {&codec_openai, "an end mark after no choices",
     "data: {\"choices\":[]}\n\ndata: {\"x\":{}}\n\ndata: [DONE]\n\n", EMPTY},
    {&codec_openai, "an end mark after choices", CHAT "data: [DONE]\n\n",
     "text \"Hi\"\nfinish stop\n"},
    {&codec_responses, "an end mark alone", "data: [DONE]\n\n", IS_CHAT},
    {&codec_anthropic, "an end mark alone", "data: [DONE]\n\n", IS_CHAT},
    {&codec_gemini, "an end mark alone", "data: [DONE]\n\n", IS_CHAT},
    {&codec_responses, "chat", CHAT "data: [DONE]\n\n", IS_CHAT},
    {&codec_anthropic, "chat", CHAT "data: [DONE]\n\n", IS_CHAT},
    {&codec_gemini, "chat", CHAT "data: [DONE]\n\n", IS_CHAT},
    {&codec_gemini, "chat without an end mark", CHAT, IS_CHAT},
    {&codec_anthropic, "an end mark in the middle",
     "data: {\"type\":\"message_start\"}\n\ndata: [DONE]\n\n",
     "fail network the stream ended before the answer did\n"},
    {&codec_anthropic, "an end mark after a reason",
     "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
     "\"end_turn\"}}\n\ndata: [DONE]\n\n",
     "finish stop\n"},
    {&codec_openai, "messages",
     "data: {\"type\":\"message_start\",\"message\":{}}\n\n",
     OTHER("the Messages API", "anthropic")},
    {&codec_openai, "responses",
     "data: {\"type\":\"response.created\"}\n\ndata: [DONE]\n\n",
     OTHER("the Responses API", "responses")},
    {&codec_openai, "gemini", "data: {\"candidates\":[{}]}\n\n",
     OTHER("the Gemini API", "gemini")},
    {&codec_openai, "an event of another API beside choices",
     "data: {\"type\":\"response.created\"}\n\n" CHAT "data: [DONE]\n\n",
     "text \"Hi\"\nfinish stop\n"},
};

static void test_elsewhere(void)
{
    for (size_t i = 0; i < tap_count(elsewhere); i++) {
        const char *name = elsewhere[i].codec->name;
        wend_str in = str_of(elsewhere[i].input);
        struct told t;

        tap_is_str(wire_lines(elsewhere[i].codec, in, &t), elsewhere[i].wanted,
                   "%s: %s", name, elsewhere[i].why);
        told_free(&t);
    }
}

/* The same of answers that did not stream. */
static void test_elsewhere_whole(void)
{
    static const struct codec *const codecs[] = {
        &codec_responses, &codec_anthropic, &codec_gemini, &codec_ollama};

    for (size_t i = 0; i < tap_count(codecs); i++) {
        struct told t;

        told_init(&t);
        wire_body(codecs[i],
                  STR("{\"choices\":[{\"message\":{\"content\":\"Hi\"}}]}"),
                  &wire_plain, &t);
        tap_is_str(buf_view(&t.lines), IS_CHAT, "%s: a whole chat answer",
                   codecs[i]->name);
        told_free(&t);
    }
}

/* A second message in one stream: broken once a piece of the first was told,
 * and nothing after it is read. */
#define BROKEN                                                                \
    "fail network the stream is broken: the server began another message in " \
    "the middle of this one\n"
#define CHUNK(id, role, text)                                 \
    "data: {\"id\":\"" id "\",\"choices\":[{\"delta\":{" role \
    "\"content\":\"" text "\"}}]}\n\n"
#define ROLE "\"role\":\"assistant\","
#define GEMINI(id, text)                                              \
    "data: {\"responseId\":\"" id "\",\"candidates\":[{\"content\":{" \
    "\"parts\":[{\"text\":\"" text "\"}]}}]}\n\n"
#define CREATED "data: {\"type\":\"response.created\",\"response\":{}}\n\n"
#define DELTA(text)                                                          \
    "data: {\"type\":\"response.output_text.delta\",\"delta\":\"" text "\"}" \
    "\n\n"

static const struct {
    const struct codec *codec;
    const char *why, *input, *wanted;
} again[] = {
    {&codec_openai, "another id and a role",
     CHUNK("a", ROLE, "") CHUNK("a", "", "x") CHUNK("b", ROLE, "y"),
     "text \"x\"\n" BROKEN},
    {&codec_openai, "another id and a role, nothing told",
     CHUNK("a", ROLE, "") CHUNK("a", "", "")
         CHUNK("b", ROLE, "y") "data: [DONE]\n\n",
     "text \"y\"\nfinish stop\n"},
    {&codec_openai, "a role each time",
     CHUNK("a", ROLE, "x") CHUNK("a", ROLE, "y") "data: [DONE]\n\n",
     "text \"x\"\ntext \"y\"\nfinish stop\n"},
    {&codec_openai, "an id and a role each time",
     CHUNK("a", ROLE, "x") CHUNK("b", ROLE, "y") "data: [DONE]\n\n",
     "text \"x\"\ntext \"y\"\nfinish stop\n"},
    {&codec_openai, "another id without a role",
     CHUNK("a", ROLE, "x") CHUNK("a", "", "y")
         CHUNK("b", "", "z") "data: [DONE]\n\n",
     "text \"x\"\ntext \"y\"\ntext \"z\"\nfinish stop\n"},
    {&codec_gemini, "another id",
     GEMINI("a", "x") GEMINI("a", "y") GEMINI("b", "z"),
     "text \"x\"\ntext \"y\"\n" BROKEN},
    {&codec_gemini, "an id each time",
     GEMINI("a", "x") GEMINI(
         "b", "y") "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n",
     "text \"x\"\ntext \"y\"\nfinish stop\n"},
    {&codec_responses, "created twice", CREATED DELTA("x") CREATED DELTA("y"),
     "text \"x\"\n" BROKEN},
    {&codec_responses, "created twice, nothing told",
     CREATED CREATED DELTA("x") "data: {\"type\":\"response.completed\"}\n\n",
     "text \"x\"\nfinish stop\n"},
    {&codec_ollama, "lines after the last",
     "{\"message\":{\"content\":\"x\"},\"done\":true}\n"
     "{\"message\":{\"content\":\"y\"},\"done\":false}\n",
     "text \"x\"\nfinish stop\n"},
};

static void test_again(void)
{
    for (size_t i = 0; i < tap_count(again); i++) {
        struct told t;

        tap_is_str(wire_lines(again[i].codec, str_of(again[i].input), &t),
                   again[i].wanted, "%s: %s", again[i].codec->name,
                   again[i].why);
        told_free(&t);
    }
}

/* What an error says that was used counts, in every API. */
static void test_error_usage(void)
{
    static const struct {
        const struct codec *codec;
        const char *input;
    } failing[] = {
        {&codec_openai, "data: {\"choices\":[],\"error\":{\"message\":\"x\"},"
                        "\"usage\":{\"prompt_tokens\":7,"
                        "\"completion_tokens\":2}}\n\n"},
        {&codec_responses,
         "data: {\"type\":\"response.failed\",\"response\":{\"error\":{"
         "\"message\":\"x\"},\"usage\":{\"input_tokens\":7,"
         "\"output_tokens\":2}}}\n\n"},
        {&codec_anthropic, "event: error\ndata: {\"type\":\"error\",\"error\":{"
                           "\"message\":\"x\"},\"usage\":{\"input_tokens\":7,"
                           "\"output_tokens\":2}}\n\n"},
        {&codec_gemini, "data: {\"error\":{\"message\":\"x\"},"
                        "\"usageMetadata\":{\"promptTokenCount\":7,"
                        "\"candidatesTokenCount\":2}}\n\n"},
        {&codec_ollama, "{\"error\":\"x\",\"prompt_eval_count\":7,"
                        "\"eval_count\":2}\n"},
    };

    for (size_t i = 0; i < tap_count(failing); i++) {
        struct told t;

        tap_is_str(wire_lines(failing[i].codec, str_of(failing[i].input), &t),
                   "usage 7/2/0/0\nfail service x\n", "%s: used, and failed",
                   failing[i].codec->name);
        told_free(&t);
    }
}

/* A word that no table has ends a whole answer, in every API. */
static const struct {
    const struct codec *codec;
    const char *text, *end;
} unknown[] = {
    {&codec_openai, CHUNK("a", "", "x"),
     "data: {\"choices\":[{\"finish_reason\":\"later\"}]}\n\n"},
    {&codec_anthropic,
     "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":"
     "\"text_delta\",\"text\":\"x\"}}\n\n",
     "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
     "\"later\"}}\n\n"},
    {&codec_gemini, GEMINI("a", "x"),
     "data: {\"candidates\":[{\"finishReason\":\"later\"}]}\n\n"},
    {&codec_ollama, "{\"message\":{\"content\":\"x\"}}\n",
     "{\"done\":true,\"done_reason\":\"later\"}\n"},
};

static void test_unknown(void)
{
    for (size_t i = 0; i < tap_count(unknown); i++) {
        struct buf b = {.mem = &wire_plain};
        struct told t;

        buf_cstr(&b, unknown[i].text);
        buf_cstr(&b, unknown[i].end);
        tap_is_str(wire_lines(unknown[i].codec, buf_view(&b), &t),
                   "text \"x\"\nfinish unknown:later\n", "%s: an unknown word",
                   unknown[i].codec->name);
        told_free(&t);
        tap_is_str(wire_lines(unknown[i].codec, str_of(unknown[i].end), &t),
                   "fail service the answer ended with later and is empty\n",
                   "%s: an unknown word alone", unknown[i].codec->name);
        told_free(&t);
        buf_free(&b);
    }
}

static void test_events(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        wend_str in = str_of(rows[i].input);
        struct told t;

        if (tap_is_str(wire_lines(&seer, in, &t), rows[i].wanted, "%s",
                       rows[i].why))
            wire_check_stream(&seer, rows[i].why, in, str_of(rows[i].wanted));
        wire_check_faults(&seer, rows[i].why, in, false);
        told_free(&t);
    }
}

/* Events by the type in them, or by their name. */
static void test_dispatch(void)
{
    static const struct wire_event events[] = {{"x", see}, {NULL, NULL}};
    static const struct codec by_type = {
        .name = "by_type", .end_mark = true, .events = events};
    static const struct {
        const char *why, *input, *wanted;
    } streams[] = {
        {"by its name", "event: x\ndata: 1\n\ndata: [DONE]\n\n",
         "text \"1\"\nfinish stop\n"},
        {"by its type", "data: {\"type\":\"x\"}\n\ndata: [DONE]\n\n",
         "text \"{\\\"type\\\":\\\"x\\\"}\"\nfinish stop\n"},
        {"the type counts",
         "event: x\ndata: {\"type\":\"y\"}\n\ndata: [DONE]\n\n",
         "fail network the answer is empty\n"},
        {"one that is not listed", "event: y\ndata: 1\n\ndata: [DONE]\n\n",
         "fail network the answer is empty\n"},
    };

    for (size_t i = 0; i < tap_count(streams); i++) {
        struct told t;

        told_init(&t);
        wire_stream(&by_type, str_of(streams[i].input), (struct cuts){0},
                    &wire_plain, &t);
        tap_is_str(buf_view(&t.lines), streams[i].wanted, "%s", streams[i].why);
        told_free(&t);
    }
}

static void test_whole(void)
{
    static const struct {
        const char *why, *body, *wanted;
    } bodies[] = {
        {"a value", " {\"a\":1}\r\n", "text \"{\\\"a\\\":1}\"\nfinish stop\n"},
        {"an error in a list",
         "[{\n\"error\":{\"code\":404,\"message\":\"no such model\","
         "\"status\":\"NOT_FOUND\"}}\n]",
         "fail not_found no such model\n"},
        {"a page", "<!DOCTYPE html><html><style>b{}</style><h1>Log in</h1>",
         "fail service the server sent invalid JSON (line 1, byte 1: expected "
         "a "
         "value, found '<'): Log in\n"},
        {"nothing", "",
         "fail service the server sent invalid JSON (line 1, byte 1: expected "
         "a "
         "value, found end of input)\n"},
    };

    for (size_t i = 0; i < tap_count(bodies); i++) {
        struct told t;

        told_init(&t);
        wire_body(&seer, str_of(bodies[i].body), &wire_plain, &t);
        tap_is_str(buf_view(&t.lines), bodies[i].wanted, "whole: %s",
                   bodies[i].why);
        told_free(&t);
        wire_check_faults(&seer, bodies[i].why, str_of(bodies[i].body), true);
    }
}

static void test_depth(void)
{
    struct buf b = {.mem = &wire_plain};
    struct told t;

    buf_cstr(&b, "data: ");
    for (int i = 0; i < 10000; i++)
        buf_char(&b, '[');
    buf_cstr(&b, "\n\n");
    tap_ok(str_starts(
               wire_lines(&seer, buf_view(&b), &t),
               "fail service the server sent invalid JSON (line 1, byte 65"),
           "depth has a limit");
    told_free(&t);
    buf_free(&b);
}

/* A server that breaks off with a large event does not leave it behind. */
static void test_memory(void)
{
    struct buf b = {.mem = &wire_plain};
    struct told t;
    struct wire_sink sink;
    struct decoder d;

    told_init(&t);
    sink = told_sink(&t);
    decoder_init(&d, &seer, &wire_plain, &sink);
    buf_char(&b, '[');
    for (int i = 0; i < 20000; i++)
        buf_cstr(&b, "1,");
    buf_cstr(&b, "1]");
    decoder_event(&d, STR(""), buf_view(&b));
    tap_is_i64((int64_t)d.scratch.held, 0, "a large event is given back");
    decoder_event(&d, STR(""), STR("1"));
    tap_ok(d.scratch.held && d.scratch.held < 4096, "a small one is kept");
    decoder_free(&d);
    told_free(&t);
    buf_free(&b);
}

static void test_history(void)
{
    struct talk k;
    const struct msg **messages;
    const struct call **calls;
    size_t count;

    talk_init(&k, "{}");
    messages = wire_messages(&k.turn, NULL, &k.arena, &count);
    tap_ok(messages && !count, "no history is an empty list");
    talk_add(&k, ROLE_USER, "a");
    talk_add(&k, ROLE_ASSISTANT, "b");
    talk_call(&k, "1", "x", "{}");
    talk_call(&k, "2", "y", "{}");
    messages = wire_messages(&k.turn, NULL, &k.arena, &count);
    tap_ok(count == 2 && str_is(messages[0]->text, "a") &&
               str_is(messages[1]->text, "b"),
           "messages, the oldest first");
    calls = wire_calls(messages[1], &k.arena, &count);
    tap_ok(count == 2 && str_is(calls[0]->id, "1") && str_is(calls[1]->id, "2"),
           "calls, the first one first");
    calls = wire_calls(messages[0], &k.arena, &count);
    tap_ok(calls && !count, "no calls are an empty list");
    talk_free(&k);
}

static void test_counts(void)
{
    struct arena a = {.mem = &wire_plain};
    struct json *j = json_parse(
        STR("{\"a\":7,\"b\":-1,\"c\":\"7\",\"d\":1e999,\"e\":2.0,\"f\":null}"),
        &a, NULL);
    static const struct {
        const char *key;
        int64_t wanted;
    } counts[] = {{"a", 7}, {"b", 0}, {"c", 0}, {"d", 0},
                  {"e", 2}, {"f", 0}, {"g", 0}};

    for (size_t i = 0; i < tap_count(counts); i++)
        tap_is_i64(wire_i64(j, counts[i].key), counts[i].wanted, "count %s",
                   counts[i].key);
    tap_is_i64(wire_i64(NULL, "a"), 0, "of nothing");
    arena_free(&a);
}

static void test_find(void)
{
    tap_ok(!codec_find(STR("seer")), "a name that nobody has");
    tap_ok(!codec_find(STR_NONE), "no name");
}

int main(void)
{
    test_events();
    test_elsewhere();
    test_elsewhere_whole();
    test_again();
    test_unknown();
    test_error_usage();
    test_dispatch();
    test_whole();
    test_depth();
    test_memory();
    test_history();
    test_counts();
    test_find();
    return tap_done();
}

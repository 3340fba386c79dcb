/*
 * test_codec.c - what all codecs share: events to JSON, errors, history.
 */
#include "wire/codec.h"

#include "wire_help.h"

/* A codec that says what it sees: a value per event as its text. */
static void see(struct decoder *d, wend_str name, const struct json *data)
{
    struct buf b = {.mem = d->mem};

    if (name.len) {
        buf_str(&b, name);
        buf_char(&b, ' ');
    }
    json_put(&b, data);
    if (b.failed)
        wire_fail_nomem(d);
    else
        d->sink->text(d->sink->ctx, buf_view(&b));
    buf_free(&b);
    if (json_get(data, "end"))
        d->finished = true;
}

static void see_whole(struct decoder *d, const struct json *body)
{
    see(d, STR("whole"), body);
    d->finished = true;
}

static void see_end(struct decoder *d)
{
    d->sink->finish(d->sink->ctx, STR("stop"));
}

static const struct codec seer = {
    .name = "seer",
    .event = see,
    .whole = see_whole,
    .end = see_end,
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
     "data: [DONE]\n\ndata: 1\n\ndata: {\"error\":\"x\"}\n\n", "finish stop\n"},
    {"space around the end mark", "data:   [DONE] \n\n", "finish stop\n"},
    {"an end mark twice", "data: [DONE]\n\ndata: [DONE]\n\n", "finish stop\n"},
    {"names are passed on", "event: x\ndata: 1\n\ndata: [DONE]\n\n",
     "text \"x 1\"\nfinish stop\n"},
    {"an empty event", "data:\n\ndata: \n\ndata: [DONE]\n\n", "finish stop\n"},
    {"no end", "data: 1\n\n",
     "text \"1\"\nfail network the stream ended before the answer did\n"},
    {"nothing at all", "", "fail network the answer has nothing in it\n"},
    {"nothing but a sign of life", ": ping\n\ndata:\n\n",
     "fail network the answer has nothing in it\n"},
    {"no JSON", "data: <b>no</b>\n\ndata: 1\n\n",
     "fail service the server sent no JSON (line 1, byte 1: expected a value, "
     "found '<'): no\n"},
    {"half a value", "data: {\"a\":[1,\n\n",
     "fail service the server sent no JSON (line 1, byte 9: expected a value, "
     "found end of input): {\"a\":[1,\n"},
    {"a value over two lines", "data: {\"a\":\ndata: x}\n\n",
     "fail service the server sent no JSON (line 2, byte 1: expected a value, "
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
     "fail service the server reported an error without a word\n"},
    {"an error object without words", "data: {\"error\":{}}\n\n",
     "fail service the server reported an error without a word\n"},
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

static void test_whole(void)
{
    static const struct {
        const char *why, *body, *wanted;
    } bodies[] = {
        {"a value", " {\"a\":1}\r\n",
         "text \"whole {\\\"a\\\":1}\"\nfinish stop\n"},
        {"an error in a list",
         "[{\n\"error\":{\"code\":404,\"message\":\"no such model\","
         "\"status\":\"NOT_FOUND\"}}\n]",
         "fail not_found no such model\n"},
        {"a page", "<!DOCTYPE html><html><style>b{}</style><h1>Log in</h1>",
         "fail service the server sent no JSON (line 1, byte 1: expected a "
         "value, found '<'): Log in\n"},
        {"nothing", "",
         "fail service the server sent no JSON (line 1, byte 1: expected a "
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
    tap_ok(str_starts(wire_lines(&seer, buf_view(&b), &t),
                      "fail service the server sent no JSON (line 1, byte 65"),
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
    messages = wire_messages(&k.turn, &k.arena, &count);
    tap_ok(messages && !count, "no history is an empty list");
    talk_add(&k, ROLE_USER, "a");
    talk_add(&k, ROLE_ASSISTANT, "b");
    talk_call(&k, "1", "x", "{}");
    talk_call(&k, "2", "y", "{}");
    messages = wire_messages(&k.turn, &k.arena, &count);
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
    test_whole();
    test_depth();
    test_memory();
    test_history();
    test_counts();
    test_find();
    return tap_done();
}

/*
 * test_anthropic.c - the Messages API: streams, whole answers, requests.
 */
#include "ask_help.h"

#define DIR "tests/golden/anthropic"
#define CACHE_MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"

static const struct {
    const char *said, *meant;
} reasons[] = {
    {"end_turn", "finish stop\n"},
    {"stop_sequence", "finish stop\n"},
    {"pause_turn", "finish pause\n"},
    {"max_tokens", "finish length\n"},
    {"model_context_window_exceeded", "finish length\n"},
    {"refusal", "finish content_filter\n"},
    {"tool_use", "finish stop\n"}, /* without a tool there is no such use */
    {"a_later_word",
     "fail service the answer ended with a_later_word and is empty\n"},
};

static void test_reasons(void)
{
    for (size_t i = 0; i < tap_count(reasons); i++) {
        char in[256];
        struct told t;

        snprintf(in, sizeof in,
                 "data: {\"type\":\"message_delta\",\"delta\":{"
                 "\"stop_reason\":\"%s\"}}\n\n",
                 reasons[i].said);
        tap_is_str(wire_lines(&codec_anthropic, str_of(in), &t),
                   reasons[i].meant, "%s", reasons[i].said);
        told_free(&t);
    }
}

/* One more block than the decoder remembers, all of them open. */
static void test_many_blocks(void)
{
    struct buf in = {.mem = &wire_plain};
    struct told t;

    for (int i = 0; i < 17; i++)
        buf_fmt(&in,
                "data: {\"type\":\"content_block_start\",\"index\":%d,"
                "\"content_block\":{\"type\":\"tool_use\",\"id\":\"i\","
                "\"name\":\"f\"}}\n\n",
                i);
    wire_lines(&codec_anthropic, buf_view(&in), &t);
    tap_ok(t.failed && !t.finished, "blocks that never end are a failure");
    told_free(&t);
    buf_free(&in);
}

/* More calls than a message may have are a failure, and no silence. */
static void test_many_calls(void)
{
    struct buf in = {.mem = &wire_plain};
    struct told t;

    for (int i = 0; i <= CALLS_MAX; i++)
        buf_fmt(&in,
                "data: {\"type\":\"content_block_start\",\"index\":%d,"
                "\"content_block\":{\"type\":\"tool_use\",\"id\":\"i\","
                "\"name\":\"f\",\"input\":{\"a\":1}}}\n\n"
                "data: {\"type\":\"content_block_stop\",\"index\":%d}\n\n",
                i, i);
    buf_cstr(&in, "data: {\"type\":\"message_stop\"}\n\n");
    wire_lines(&codec_anthropic, buf_view(&in), &t);
    tap_ok(t.failed && !t.finished && !strstr(t.lines.ptr, "LAW"),
           "one call too many");
    told_free(&t);
    buf_free(&in);
}

/* ---- Requests ------------------------------------------------------------ */

#define OPAQUE                                                            \
    "[{\"p\":\"anthropic\",\"text\":0,\"calls\":0,\"thinking\":\"Two.\"," \
    "\"signature\":\"c2ln\"},{\"p\":\"gemini\",\"text\":0,\"calls\":0,"   \
    "\"signature\":\"no\"},{\"p\":\"anthropic\",\"text\":12,\"calls\":1," \
    "\"redacted_thinking\":\"RU5D\"},{\"p\":\"anthropic\",\"text\":12,"   \
    "\"calls\":2,\"thinking\":\"last\",\"signature\":\"no\"}]"

#define PAUSED                                                              \
    "[{\"p\":\"anthropic\",\"text\":5,\"calls\":0,\"block\":{\"type\":\"x_" \
    "tool_result\","                                                        \
    "\"content\":[{}]}}]"

static void test_thinking_back(void)
{
    struct wire_ask q;
    struct talk k;

    talk_init(&k, ASK_CONFIG_BARE);
    talk_add(&k, ROLE_USER, "go");
    talk_add(&k, ROLE_ASSISTANT, "I will look.");
    k.last->opaque = STR(OPAQUE);
    talk_call(&k, "call_1", "now", "{}");
    talk_call(&k, "call_2", "now", "{}");
    talk_result(&k, "call_1", "now", "1");
    talk_result(&k, "call_2", "now", "2");
    q = ask_of(&k);
    ask_check(&codec_anthropic, &q, DIR, "ask_thinking");
    ask_check_faults(&codec_anthropic, &q);
    talk_free(&k);
}

/* A message that was paused is the last one, as it came; so that it can be,
 * no space is left at its end. */
static void test_paused(void)
{
    struct wire_ask q;
    struct talk k;

    talk_init(&k, ASK_CONFIG_BARE);
    talk_add(&k, ROLE_USER, "go");
    talk_add(&k, ROLE_ASSISTANT, "Wait: ");
    k.last->opaque = STR(PAUSED);
    q = ask_of(&k);
    ask_check(&codec_anthropic, &q, DIR, "ask_paused");
    talk_free(&k);
}

/* The cache is marked where its parts end: the tools, the instructions, and
 * the last that the user or a tool said, also when the model spoke since. */
static void test_marks(void)
{
    static const char *const places[] = {"\"name\":\"weather\"",
                                         "\"text\":\"Be \\\"brief\\\".\"",
                                         "\"text\":\"hurry\"", NULL};
    struct buf b = {.mem = &wire_plain};
    struct wire_ask q;
    struct talk k;
    const char *at, *mark;
    int n = 0;

    ask_story(&k);
    talk_add(&k, ROLE_ASSISTANT, "Sun");
    q = ask_of(&k);
    codec_request(&codec_anthropic, &q, &b);
    at = b.ptr;
    for (; places[n] && (mark = strstr(at, CACHE_MARK)); n++) {
        const char *place = strstr(at, places[n]);

        tap_ok(place && place < mark &&
                   (!places[n + 1] || mark < strstr(at, places[n + 1])),
               "a mark after %s", places[n]);
        at = mark + 1;
    }
    tap_ok(!places[n] && !strstr(at, CACHE_MARK), "three marks, no more");
    buf_free(&b);
    talk_free(&k);
}

/* What the API would refuse: empty text, an empty message, thinking alone,
 * ids with other signs, arguments that are no object. */
static void test_refusable(void)
{
    struct wire_ask q;
    struct talk k;

    talk_init(&k, ASK_CONFIG_BARE);
    talk_add(&k, ROLE_ASSISTANT, "before anyone asked");
    talk_add(&k, ROLE_USER, "");
    talk_add(&k, ROLE_SYSTEM, "be kind");
    talk_add(&k, ROLE_ASSISTANT, " \n");
    k.last->opaque = STR(OPAQUE);
    talk_add(&k, ROLE_USER, "go");
    talk_add(&k, ROLE_ASSISTANT, "\n");
    talk_call(&k, "functions.f:0", "a b", "\"{cut\"");
    talk_call(&k, "2", "", "[1]");
    talk_result(&k, "functions.f:0", "a b", "no");
    talk_result(&k, "2", "", "no");
    talk_add(&k, ROLE_USER, " ");
    q = ask_of(&k);
    ask_check(&codec_anthropic, &q, DIR, "ask_refusable");
    talk_free(&k);
}

int main(void)
{
    ask_check_codec(&codec_anthropic, "anthropic", "/messages");
    wire_check_golden(&codec_anthropic, DIR);
    test_reasons();
    test_many_blocks();
    test_many_calls();
    ask_check_story(&codec_anthropic, DIR, "ask_schema_words");
    test_thinking_back();
    test_paused();
    test_marks();
    test_refusable();
    ask_check_prefix(&codec_anthropic, OPAQUE, NULL, CACHE_MARK);
    return tap_done();
}

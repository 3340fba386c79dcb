/*
 * test_responses.c - the Responses API: streams, whole answers, requests.
 */
#include "ask_help.h"

#define DIR "tests/golden/responses"

/* As many output items as are remembered, and one more. */
static void test_many_items(void)
{
    for (int over = 0; over <= 1; over++) {
        struct buf in = {.mem = &wire_plain};
        struct told t;

        for (int i = 0; i < 4 * CALLS_MAX + over; i++)
            buf_fmt(&in,
                    "data: {\"type\":\"response.output_text.delta\","
                    "\"output_index\":%d,\"delta\":\"x\"}\n\n",
                    i);
        buf_cstr(&in, "data: {\"type\":\"response.completed\"}\n\n");
        wire_lines(&codec_responses, buf_view(&in), &t);
        tap_ok(t.failed == over && t.finished != over, "%d items too many",
               over);
        told_free(&t);
        buf_free(&in);
    }
}

/* More calls than a message may have are a failure, and no silence. */
static void test_many_calls(void)
{
    struct buf in = {.mem = &wire_plain};
    struct told t;

    for (int i = 0; i <= CALLS_MAX; i++)
        buf_fmt(&in,
                "data: {\"type\":\"response.output_item.done\","
                "\"output_index\":%d,\"item\":{\"type\":\"function_call\","
                "\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"{}\"}}\n\n",
                i);
    buf_cstr(&in, "data: {\"type\":\"response.completed\"}\n\n");
    wire_lines(&codec_responses, buf_view(&in), &t);
    tap_ok(t.failed && !t.finished && !strstr(t.lines.ptr, "LAW"),
           "one call too many");
    told_free(&t);
    buf_free(&in);
}

static void test_incomplete(void)
{
    static const struct {
        const char *said, *meant;
    } rows[] = {
        {"max_output_tokens", "finish length\n"},
        {"max_messages", "finish length\n"},
        {"steered", "finish length\n"},
        {"content_filter", "finish content_filter\n"},
        {"a_later_word", "finish length\n"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        char in[256];
        struct told t;

        snprintf(in, sizeof in,
                 "data: {\"type\":\"response.incomplete\",\"response\":{"
                 "\"incomplete_details\":{\"reason\":\"%s\"}}}\n\n",
                 rows[i].said);
        tap_is_str(wire_lines(&codec_responses, str_of(in), &t), rows[i].meant,
                   "%s", rows[i].said);
        told_free(&t);
    }
}

/* ---- Requests ------------------------------------------------------------ */

#define REASONING(id)                                                    \
    "\"item\":{\"id\":\"" id "\",\"type\":\"reasoning\",\"summary\":[]," \
    "\"encrypted_content\":\"RU5D\"}"
#define OPAQUE                                                            \
    "[{\"p\":\"responses\",\"text\":0,\"calls\":0," REASONING(            \
        "rs_1") "},"                                                      \
                "{\"p\":\"openai\",\"text\":0,\"calls\":0," REASONING(    \
                    "no") "},"                                            \
                          "{\"p\":\"responses\",\"text\":12,\"calls\":"   \
                          "1," REASONING(                                 \
                              "rs_2") "},"                                \
                                      "{\"p\":\"responses\",\"text\":12," \
                                      "\"calls\":9," REASONING("last") "}]"

static void test_reasoning_back(void)
{
    struct wire_ask q;
    struct talk k;

    talk_init(&k, ASK_CONFIG_BARE);
    talk_add(&k, ROLE_USER, "go");
    talk_add(&k, ROLE_ASSISTANT, "I will look.");
    k.last->opaque = STR(OPAQUE);
    talk_call(&k, "call_1", "now", "{}");
    talk_call(&k, "call_2", "now", "\"{\\\"cut\"");
    talk_result(&k, "call_1", "now", "1");
    talk_result(&k, "call_2", "now", "");
    talk_add(&k, ROLE_SYSTEM, "be kind");
    q = ask_of(&k);
    ask_check(&codec_responses, &q, DIR, "ask_reasoning");
    ask_check_faults(&codec_responses, &q);
    talk_free(&k);
}

int main(void)
{
    ask_check_codec(&codec_responses, "responses", "/responses");
    wire_check_golden(&codec_responses, DIR);
    test_many_items();
    test_many_calls();
    test_incomplete();
    ask_check_story(&codec_responses, DIR, "ask_schema_loose");
    test_reasoning_back();
    ask_check_prefix(&codec_responses, OPAQUE, NULL, NULL);
    return tap_done();
}

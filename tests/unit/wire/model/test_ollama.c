/*
 * test_ollama.c - Ollama's own API: golden streams, and requests.
 */
#include "ask_help.h"

static const char config[] =
    "{\"context_tokens\":8000,\"instructions\":\"Be "
    "brief.\",\"tools\":[{\"name\":\"now\"},"
    "{\"name\":\"add\",\"description\":\"Adds.\",\"schema\":{\"type\":"
    "\"object\"}}]}";

static const char wanted[] =
    "{\"model\":\"m\",\"messages\":["
    "{\"role\":\"system\",\"content\":\"Be brief.\"},"
    "{\"role\":\"user\",\"content\":\"1\"},"
    "{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"hm\","
    "\"tool_calls\":["
    "{\"function\":{\"name\":\"add\",\"arguments\":{\"a\":1}}},"
    "{\"function\":{\"name\":\"now\",\"arguments\":{\"text\":\"{oops\"}}},"
    "{\"function\":{\"name\":\"now\",\"arguments\":{\"text\":[1]}}}]},"
    "{\"role\":\"tool\",\"tool_name\":\"add\",\"content\":\"2\"},"
    "{\"role\":\"assistant\",\"content\":\"Two.\"}],"
    "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"add\","
    "\"description\":\"Adds.\",\"parameters\":{\"type\":\"object\"}}},"
    "{\"type\":\"function\",\"function\":{\"name\":\"now\",\"description\":"
    "\"\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}}],"
    "\"format\":{\"type\":\"object\"},\"options\":{\"num_ctx\":8000,"
    "\"num_predict\":9},\"truncate\":false,\"stream\":true}";

static void fill(struct talk *k)
{
    talk_init(k, config);
    talk_add(k, ROLE_USER, "1");
    talk_add(k, ROLE_ASSISTANT, "");
    k->last->thinking = STR("hm");
    talk_call(k, "c1", "add", "{\"a\":1}");
    talk_call(k, "c2", "now", "\"{oops\"");
    talk_call(k, "c3", "now", "[1]");
    talk_result(k, "c1", "add", "2");
    talk_add(k, ROLE_ASSISTANT, "Two.");
    k->last->thinking = STR("not sent");
}

static void test_request(void)
{
    struct buf b = {.mem = &wire_plain};
    struct talk k;
    struct wire_ask q = {.turn = &k.turn,
                         .model = STR("m"),
                         .max_tokens = 9,
                         .schema = STR("{\"type\":\"object\"}")};

    fill(&k);
    codec_request(&codec_ollama, &q, &b);
    tap_is_str(buf_view(&b), wanted, "request");
    talk_free(&k);
    talk_init(&k, "{}");
    buf_clear(&b);
    codec_request(&codec_ollama,
                  &(struct wire_ask){.turn = &k.turn, .model = STR("m")}, &b);
    tap_is_str(buf_view(&b),
               "{\"model\":\"m\",\"messages\":[],\"truncate\":false,"
               "\"stream\":true}",
               "request of nothing");
    talk_free(&k);
    buf_free(&b);
    tap_ok(!codec_ollama.key_header, "no key is sent");
}

static void test_request_faults(void)
{
    struct fault f = {0};
    struct talk k;
    int bad = 0;

    fill(&k);
    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf b = {.mem = &m};
        struct wire_ask q = {.turn = &k.turn,
                             .model = STR("m"),
                             .schema = STR("{\"type\":\"object\"}")};

        codec_request(&codec_ollama, &q, &b);
        bad += b.failed != f.hit;
        buf_free(&b);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "request: every allocation may fail");
    talk_free(&k);
}

int main(void)
{
    wire_check_golden(&codec_ollama, "tests/golden/ollama");
    test_request();
    test_request_faults();
    ask_check_codec(&codec_ollama, "ollama", "/api/chat");
    ask_check_prefix(&codec_ollama, "[]", "],\"tools\":[", NULL);
    return tap_done();
}

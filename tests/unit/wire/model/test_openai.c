/*
 * test_openai.c - Chat Completions: golden streams, and requests.
 */
#include "ask_help.h"
#include "core/turn/reply.h"

static const char config[] =
    "{\"instructions\":\"Be brief.\",\"tools\":[{\"name\":\"now\"},"
    "{\"name\":\"add\",\"description\":\"Adds \\\"numbers\\\".\","
    "\"schema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":"
    "\"number\"}}}}]}";

#define HEAD "{\"model\":\"m\",\"messages\":["
#define TAIL "],\"stream\":true,\"stream_options\":{\"include_usage\":true}}"
#define SYSTEM "{\"role\":\"system\",\"content\":\"Be brief.\"}"
#define TOOLS                                                               \
    "],\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"add\","   \
    "\"description\":\"Adds \\\"numbers\\\".\",\"parameters\":{\"type\":"   \
    "\"object\",\"properties\":{\"a\":{\"type\":\"number\"}}}}},"           \
    "{\"type\":\"function\",\"function\":{\"name\":\"now\",\"parameters\":" \
    "{\"type\":\"object\",\"properties\":{}}}}"

static void is_request(struct wire_ask q, const char *wanted, const char *why)
{
    struct buf b = {.mem = &wire_plain};

    if (!q.model.ptr)
        q.model = STR("m");
    codec_request(&codec_openai, &q, &b);
    tap_is_str(buf_view(&b), wanted, "request: %s", why);
    buf_free(&b);
}

static void test_simple(void)
{
    struct talk k;

    talk_init(&k, "{}");
    is_request((struct wire_ask){.turn = &k.turn}, HEAD TAIL, "nothing");
    talk_add(&k, ROLE_USER, "Say \"hi\"\n\x01");
    is_request((struct wire_ask){.turn = &k.turn},
               HEAD "{\"role\":\"user\",\"content\":\"Say \\\"hi\\\"\\n"
                    "\\u0001\"}" TAIL,
               "a user");
    is_request((struct wire_ask){.turn = &k.turn,
                                 .model = STR("a/b:c"),
                                 .max_tokens = 300,
                                 .schema = STR("{\"type\":\"object\"}")},
               "{\"model\":\"a/b:c\",\"messages\":[{\"role\":\"user\","
               "\"content\":\"Say \\\"hi\\\"\\n\\u0001\"}],"
               "\"max_tokens\":300,\"response_format\":{\"type\":"
               "\"json_schema\",\"json_schema\":{\"name\":\"answer\","
               "\"schema\":{\"type\":\"object\"}}},\"stream\":true,"
               "\"stream_options\":{\"include_usage\":true}}",
               "a limit and a schema");
    is_request((struct wire_ask){.turn = &k.turn,
                                 .schema = STR("{ \"type\":\"object\","
                                               "\"properties\":{},"
                                               "\"additionalProperties\":false,"
                                               "\"required\":[] }")},
               HEAD "{\"role\":\"user\",\"content\":\"Say \\\"hi\\\"\\n"
                    "\\u0001\"}],\"response_format\":{\"type\":"
                    "\"json_schema\",\"json_schema\":{\"name\":\"answer\","
                    "\"schema\":{\"type\":\"object\",\"properties\":{},"
                    "\"additionalProperties\":false,\"required\":[]},"
                    "\"strict\":true}},\"stream\":true,"
                    "\"stream_options\":{\"include_usage\":true}}",
               "a schema that the server can hold the model to");
    talk_free(&k);
    talk_init(&k, config);
    is_request((struct wire_ask){.turn = &k.turn}, HEAD SYSTEM TOOLS TAIL,
               "instructions and tools, sorted");
    talk_free(&k);
}

static void test_limit(void)
{
    static const struct {
        const char *model;
        bool newer;
    } rows[] = {
        {"gpt-5.1", true},
        {"o4-mini", true},
        {"openai/o3", true},
        {"ft:o4-mini:me::x", true},
        {"codex-mini", true},
        {"chatgpt-4o-latest", true},
        {"", false},
        {"o", false},
        {"olmo-2", false},
        {"gpt-oss:20b", false},
        {"qwen3:8b", false},
        {"mistral-large", false},
        {"x/gpt-oss-1", false},
        {"deepseek/gpt", false},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf b = {.mem = &wire_plain};
        struct talk k;
        struct wire_ask q = {
            .turn = &k.turn, .model = str_of(rows[i].model), .max_tokens = 7};

        talk_init(&k, "{}");
        codec_request(&codec_openai, &q, &b);
        tap_ok(strstr(b.ptr, rows[i].newer ? ",\"max_completion_tokens\":7,"
                                           : ",\"max_tokens\":7,"),
               "the limit for '%s'", rows[i].model);
        buf_free(&b);
        talk_free(&k);
    }
}

#define CALLS                                                             \
    "\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":"  \
    "{\"name\":\"add\",\"arguments\":\"{\\\"a\\\":1}\"}},{\"id\":\"c2\"," \
    "\"type\":\"function\",\"function\":{\"name\":\"now\",\"arguments\":" \
    "\"{oops\"}}]"

static void test_history(void)
{
    struct talk k;

    talk_init(&k, config);
    talk_add(&k, ROLE_SYSTEM, "Summary.");
    talk_add(&k, ROLE_USER, "1");
    talk_add(&k, ROLE_ASSISTANT, "");
    talk_call(&k, "c1", "add", "{\"a\":1}");
    talk_call(&k, "c2", "now", "\"{oops\"");
    talk_result(&k, "c1", "add", "2");
    talk_result(&k, "c2", "now", "no JSON");
    talk_add(&k, ROLE_ASSISTANT, "Two.");
    talk_add(&k, ROLE_ASSISTANT, "");
    is_request(
        (struct wire_ask){.turn = &k.turn},
        HEAD SYSTEM
        ",{\"role\":\"system\",\"content\":\"Summary.\"},"
        "{\"role\":\"user\",\"content\":\"1\"},"
        "{\"role\":\"assistant\",\"content\":null," CALLS "},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"2\"},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"no JSON\"},"
        "{\"role\":\"assistant\",\"content\":\"Two.\"},"
        "{\"role\":\"assistant\",\"content\":\"\"}" TOOLS TAIL,
        "a history with calls, one of them with raw text");
    talk_free(&k);
}

/* Once a result has been cut, the model is told how to read the rest. */
static void test_reader(void)
{
    struct buf b = {.mem = &wire_plain};
    struct talk k;

    talk_init(&k, config);
    talk_add(&k, ROLE_USER, "1");
    k.turn.results_cut = true;
    codec_request(&codec_openai,
                  &(struct wire_ask){.turn = &k.turn, .model = STR("m")}, &b);
    tap_ok(str_has(buf_view(&b), STR("\"name\":\"read_result\"")) &&
               str_has(buf_view(&b), STR("\"properties\":{\"call\":{")),
           "request: read_result with its schema");
    buf_free(&b);
    talk_free(&k);
}

static void test_kept(void)
{
    static const struct {
        const char *why, *opaque, *wanted;
        bool calls;
    } rows[] = {
        {"nothing kept", "[]", "", true},
        {"no JSON", "[", "", true},
        {"of another provider",
         "[{\"p\":\"x\",\"detail\":{}},{\"p\":\"x\",\"thinking\":\"a\"},1]", "",
         true},
        {"thinking, with calls",
         "[{\"p\":\"openai\",\"thinking\":\"reasoning_content\"}]",
         ",\"reasoning_content\":\"hm\"", true},
        {"thinking is not sent without calls",
         "[{\"p\":\"openai\",\"thinking\":\"reasoning_content\"}]", "", false},
        {"details, in their order",
         "[{\"p\":\"openai\",\"detail\":{\"b\":1}},{\"p\":\"x\"},"
         "{\"p\":\"openai\",\"detail\":{\"a\":2}}]",
         ",\"reasoning_details\":[{\"b\":1},{\"a\":2}]", false},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf b = {.mem = &wire_plain};
        struct talk k;

        talk_init(&k, "{}");
        talk_add(&k, ROLE_ASSISTANT, "");
        k.last->opaque = str_of(rows[i].opaque);
        k.last->thinking = STR("hm");
        if (rows[i].calls) {
            talk_call(&k, "c1", "add", "{\"a\":1}");
            talk_call(&k, "c2", "now", "\"{oops\"");
        }
        buf_fmt(&b, HEAD "{\"role\":\"assistant\",\"content\":%s%s%s}" TAIL,
                rows[i].calls ? "null" : "\"\"", rows[i].wanted,
                rows[i].calls ? "," CALLS : "");
        is_request((struct wire_ask){.turn = &k.turn}, b.ptr, rows[i].why);
        buf_free(&b);
        talk_free(&k);
    }
}

static void fill(struct talk *k, uint32_t seed, int count)
{
    static const char *const texts[] = {"", "a", "\xc3\xa9\"\\", "{}"};

    for (int i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        talk_add(k, ROLE_USER, texts[seed >> 30]);
        talk_add(k, ROLE_ASSISTANT, texts[seed >> 28 & 3]);
        if (seed >> 27 & 1) {
            k->last->opaque = STR("[{\"p\":\"openai\",\"detail\":{}}]");
            talk_call(k, "c", "add", seed >> 26 & 1 ? "{}" : "\"\"");
            talk_result(k, "c", "add", texts[seed >> 24 & 3]);
        }
    }
}

/* Written onto the request before it, a longer one is the same as whole. */
static void test_continued(const char *with, const char *why)
{
    int bad = 0;

    for (uint32_t seed = 0; seed < 200; seed++) {
        struct buf grown = {.mem = &wire_plain}, whole = {.mem = &wire_plain};
        struct talk k;
        struct wire_ask q = {.turn = &k.turn, .model = STR("m")};
        size_t end = 0;

        talk_init(&k, with);
        for (uint32_t round = 0; round < 4; round++) {
            fill(&k, seed + round, (int)((seed >> round) % 3));
            grown.len = q.after ? end : 0;
            q.messages_end = &end;
            codec_request(&codec_openai, &q, &grown);
            buf_clear(&whole);
            codec_request(
                &codec_openai,
                &(struct wire_ask){.turn = &k.turn, .model = STR("m")}, &whole);
            bad += !str_eq(buf_view(&grown), buf_view(&whole));
            q.after = k.turn.history;
        }
        buf_free(&grown);
        buf_free(&whole);
        talk_free(&k);
    }
    tap_is_i64(bad, 0, "requests go on where the last one ended: %s", why);
}

static void test_request_faults(void)
{
    struct fault f = {0};
    struct talk k;
    int bad = 0;

    talk_init(&k, config);
    fill(&k, 3, 6);
    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct buf b = {.mem = &m};
        struct wire_ask q = {.turn = &k.turn,
                             .model = STR("m"),
                             .schema = STR("{\"type\":\"object\"}")};

        codec_request(&codec_openai, &q, &b);
        bad += b.failed != f.hit;
        buf_free(&b);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "request: every allocation may fail");
    talk_free(&k);
}

/* More calls than a message may have end it; silently fewer would not. */
static void test_many_calls(void)
{
    struct buf b = {.mem = &wire_plain};

    for (int extra = -1; extra <= 1; extra++) {
        struct told t;

        buf_clear(&b);
        for (int i = 0; i < CALLS_MAX + extra; i++)
            buf_fmt(&b,
                    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{"
                    "\"index\":%d,\"function\":{\"name\":\"a\",\"arguments\":"
                    "\"{}\"}}]}}]}\n\n",
                    i);
        buf_cstr(&b, "data: [DONE]\n\n");
        wire_lines(&codec_openai, buf_view(&b), &t);
        tap_ok(t.failed == (extra == 1) && t.finished != t.failed, "%d calls",
               CALLS_MAX + extra);
        told_free(&t);
    }
    buf_free(&b);
}

int main(void)
{
    wire_check_golden(&codec_openai, "tests/golden/openai");
    test_simple();
    test_limit();
    test_history();
    test_reader();
    test_kept();
    ask_check_prefix(&codec_openai,
                     "[{\"p\":\"openai\",\"detail\":{}},{\"p\":\"openai\","
                     "\"thinking\":\"reasoning_content\"}]",
                     "],\"tools\":[", NULL);
    test_continued(config, "instructions");
    test_continued("{}", "none");
    test_request_faults();
    test_many_calls();
    ask_check_codec(&codec_openai, "openai", "/chat/completions");
    return tap_done();
}

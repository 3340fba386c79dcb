/*
 * test_gemini.c - the Gemini API: streams, whole answers, requests.
 */
#include "ask_help.h"
#include "wire/model/parts.h"

#define DIR "tests/golden/gemini"

static const struct {
    const char *said, *meant;
} reasons[] = {
    {"STOP", "finish stop\n"},
    {"MAX_TOKENS", "finish length\n"},
    {"SAFETY", "finish content_filter\n"},
    {"RECITATION", "finish content_filter\n"},
    {"BLOCKLIST", "finish content_filter\n"},
    {"PROHIBITED_CONTENT", "finish content_filter\n"},
    {"SPII", "finish content_filter\n"},
    {"LANGUAGE", "finish content_filter\n"},
    {"IMAGE_SAFETY", "finish content_filter\n"},
    {"UNEXPECTED_TOOL_CALL",
     "fail service the answer ended with UNEXPECTED_TOOL_CALL\n"},
    {"TOO_MANY_TOOL_CALLS",
     "fail service the answer ended with TOO_MANY_TOOL_CALLS\n"},
    {"MALFORMED_FUNCTION_CALL",
     "fail service the answer ended with MALFORMED_FUNCTION_CALL\n"},
    {"OTHER", "fail service the answer ended with OTHER and is empty\n"},
};

static void test_reasons(void)
{
    for (size_t i = 0; i < tap_count(reasons); i++) {
        char in[256];
        struct told t;

        snprintf(in, sizeof in,
                 "data: {\"candidates\":[{\"finishReason\":\"%s\"}]}\n\n",
                 reasons[i].said);
        tap_is_str(wire_lines(&codec_gemini, str_of(in), &t), reasons[i].meant,
                   "%s", reasons[i].said);
        told_free(&t);
    }
}

/* ---- Arguments from pieces ----------------------------------------------- */

static const struct json_cuts no_cuts;

static void take(struct args *a, const char *path, size_t len)
{
    struct arena scratch = {.mem = &wire_plain};
    struct buf b = {.mem = &wire_plain};

    buf_fmt(&b,
            "[{\"jsonPath\":\"%s\",\"willContinue\":true,"
            "\"stringValue\":\"",
            path);
    for (size_t i = 0; i < len; i++)
        buf_char(&b, 'x');
    buf_cstr(&b, "\"}]");
    args_take(a, json_parse(buf_view(&b), &scratch, NULL), &no_cuts);
    buf_free(&b);
    arena_free(&scratch);
}

/* As long as a call's arguments may be, and one byte longer. */
static void test_args_limit(void)
{
    enum { PIECE = 1 << 16, HEAD = 16 + 1 };

    for (size_t over = 0; over <= 1; over++) {
        struct args a = {.arena.mem = &wire_plain};
        struct buf out = {.mem = &wire_plain};
        size_t left = ARGS_BYTES_MAX - HEAD + over;

        for (; left; left -= left < PIECE ? left : PIECE)
            take(&a, "$.a", left < PIECE ? left : PIECE);
        tap_ok(a.broken == over, "%zu bytes over the limit", over);
        args_put(&a, &out);
        tap_ok((out.len > ARGS_BYTES_MAX / 2) == !over, "all, or nothing");
        buf_free(&out);
        args_reset(&a);
    }
}

static void test_args_depth(void)
{
    for (int depth = JSON_DEPTH_MAX - 2; depth < JSON_DEPTH_MAX; depth++) {
        struct args a = {.arena.mem = &wire_plain};
        struct arena scratch = {.mem = &wire_plain};
        struct buf path = {.mem = &wire_plain}, out = {.mem = &wire_plain};
        bool fits = depth == JSON_DEPTH_MAX - 2;

        buf_char(&path, '$');
        for (int i = 0; i < depth; i++)
            buf_cstr(&path, i % 2 ? "[0]" : ".a");
        take(&a, path.ptr, 1);
        args_put(&a, &out);
        tap_ok(a.broken != fits, "%d deep", depth);
        tap_ok(!json_parse(buf_view(&out), &scratch, NULL) != fits,
               "%d deep: JSON or none", depth);
        buf_free(&path);
        buf_free(&out);
        arena_free(&scratch);
        args_reset(&a);
    }
}

/* ---- Requests ------------------------------------------------------------ */

#define OPAQUE                                                           \
    "[{\"p\":\"gemini\",\"text\":0,\"calls\":0,\"thought\":\"hm\","      \
    "\"signature\":\"VA==\"},{\"p\":\"gemini\",\"text\":2,\"calls\":0,"  \
    "\"len\":4,\"signature\":\"VFc=\"},{\"p\":\"anthropic\",\"text\":0," \
    "\"calls\":0,\"redacted_thinking\":\"no\"},{\"p\":\"gemini\","       \
    "\"text\":12,\"calls\":0,\"call\":true,\"id\":\"g-1\","              \
    "\"signature\":\"c2ln\"},{\"p\":\"gemini\",\"text\":12,\"calls\":2," \
    "\"call\":true,\"id\":\"g-3\"},{\"p\":\"gemini\",\"text\":12,"       \
    "\"calls\":3,\"len\":0,\"signature\":\"RU5E\"}]"

static void test_requests(void)
{
    struct wire_ask q;
    struct talk k;

    ask_story(&k);
    q = ask_of(&k);
    ask_check(&codec_gemini, &q, DIR, "ask_tools");
    q.max_tokens = 99;
    q.schema = STR(ASK_SCHEMA_LOOSE);
    q.model = STR("gemini-3-pro");
    ask_check(&codec_gemini, &q, DIR, "ask_schema");
    q.model = STR("publishers/google/gemini-2.0-flash");
    ask_check(&codec_gemini, &q, DIR, "ask_schema_words");
    ask_check_faults(&codec_gemini, &q);
    talk_free(&k);
}

static void test_signatures_back(void)
{
    struct wire_ask q;
    struct talk k;

    talk_init(&k, ASK_CONFIG_BARE);
    talk_add(&k, ROLE_USER, "go");
    talk_add(&k, ROLE_ASSISTANT, "I will look.");
    k.last->opaque = STR(OPAQUE);
    talk_call(&k, "g-1", "now", "{}");
    talk_call(&k, "call_2", "now", "\"{cut\"");
    talk_call(&k, "g-3", "now", "{}");
    talk_result(&k, "g-1", "now", "1");
    talk_result(&k, "call_2", "now", "2");
    talk_result(&k, "g-3", "now", "3");
    talk_add(&k, ROLE_ASSISTANT, "");
    talk_call(&k, "call_4", "now", "{}");
    talk_result(&k, "call_4", "now", "4");
    talk_add(&k, ROLE_ASSISTANT, "");
    talk_add(&k, ROLE_SYSTEM, "be kind");
    talk_add(&k, ROLE_USER, "");
    q = ask_of(&k);
    q.model = STR("gemini-3-flash");
    ask_check(&codec_gemini, &q, DIR, "ask_signatures");
    ask_check_faults(&codec_gemini, &q);
    talk_free(&k);
}

static const struct {
    const char *model, *path;
} paths[] = {
    {"gemini-3-pro", "/models/gemini-3-pro:streamGenerateContent?alt=sse"},
    {"a/b?c=%\xc3\xa9 ~",
     "/models/a%2Fb%3Fc%3D%25%C3%A9%20~:streamGenerateContent?alt=sse"},
};

static void test_codec(void)
{
    for (size_t i = 0; i < tap_count(paths); i++) {
        struct buf path = {.mem = &wire_plain};

        codec_path(&codec_gemini, str_of(paths[i].model), &path);
        tap_is_str(buf_view(&path), paths[i].path, "%s", paths[i].model);
        buf_free(&path);
    }
    tap_ok(codec_find(STR("gemini")) == &codec_gemini, "by its name");
}

int main(void)
{
    test_codec();
    wire_check_golden(&codec_gemini, DIR);
    test_reasons();
    test_args_limit();
    test_args_depth();
    test_requests();
    test_signatures_back();
    ask_check_prefix(&codec_gemini, OPAQUE, NULL, NULL);
    return tap_done();
}

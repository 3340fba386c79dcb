/*
 * test_wire_params.c - parameters of generation in each provider's own form:
 * what is sent, refused before it is sent, and refused by a server.
 */
#include "ask_help.h"
#include "wire/model/params.h"

#define SENT_PARAMS                                                      \
    "\"params\":{\"temperature\":0.20,\"top_p\":0.9,\"top_k\":40,"       \
    "\"stop\":[\"END\",\"\\n\\n\"],\"seed\":7,\"presence_penalty\":0.5," \
    "\"frequency_penalty\":-0.5}"

/* Each with its extra: one field of the request, one where parameters are. */
static const struct {
    const struct codec *codec;
    const char *extra;
} sent[] = {
    {&codec_openai, "{\"logprobs\":true,\"options\":{\"a\":1}}"},
    {&codec_responses, "{\"service_tier\":\"flex\"}"},
    {&codec_anthropic, "{\"metadata\":{\"user_id\":\"u\"}}"},
    {&codec_gemini, "{\"generationConfig\":{\"responseLogprobs\":true},"
                    "\"serviceTier\":\"flex\"}"},
    {&codec_ollama, "{\"options\":{\"num_ctx\":8192},\"keep_alive\":-1}"},
};

/* All parameters at once; golden/PROVIDER/ask_params.req. A parameter that the
 * API lacks is not in it, whatever the config says. */
static void test_sent(void)
{
    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) {
        char config[1024], dir[64];
        struct wire_ask q;
        struct talk k;

        snprintf(config, sizeof config, "{\"effort\":\"low\",%s,\"extra\":%s}",
                 SENT_PARAMS, sent[i].extra);
        snprintf(dir, sizeof dir, "tests/golden/%s", sent[i].codec->name);
        talk_init(&k, config);
        talk_add(&k, ROLE_USER, "hi");
        q = ask_of(&k);
        ask_check(sent[i].codec, &q, dir, "ask_params");
        ask_check_faults(sent[i].codec, &q);
        talk_free(&k);
    }
}

/* Without what a model refused: wanted, and what must not be there. */
static void test_without(void)
{
    static const struct {
        const struct codec *codec;
        uint32_t without;
        const char *wanted, *gone;
    } rows[] = {
        {&codec_openai, 1u << PARAM_TEMPERATURE, "\"top_p\":0.9",
         "temperature"},
        {&codec_openai, 1u << ASKED_EFFORT, "\"temperature\":0.20", "effort"},
        {&codec_responses, 1u << ASKED_EFFORT, "\"top_p\":0.9",
         "\"reasoning\":"},
        {&codec_anthropic, 1u << ASKED_EFFORT, "\"top_k\":40", "thinking"},
        {&codec_anthropic, 1u << PARAM_STOP, "\"top_k\":40", "stop_sequences"},
        {&codec_gemini, 1u << PARAM_TOP_K, "\"topP\":0.9", "topK"},
        {&codec_gemini, 1u << ASKED_EFFORT, "\"includeThoughts\":true",
         "thinkingBudget"},
        {&codec_ollama, 1u << ASKED_EFFORT, "\"seed\":7", "think"},
        {&codec_ollama, (1u << PARAMS) - 1, "\"think\":true", "options"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b = {.mem = &wire_plain};
        struct wire_ask q;
        struct talk k;

        talk_init(&k, "{\"effort\":\"low\"," SENT_PARAMS "}");
        talk_add(&k, ROLE_USER, "hi");
        q = ask_of(&k);
        q.model = STR("gemini-2.5-flash");
        q.without = rows[i].without;
        codec_request(rows[i].codec, &q, &b);
        tap_ok(strstr(b.ptr, rows[i].wanted) && !strstr(b.ptr, rows[i].gone),
               "%s without %x: %s", rows[i].codec->name, rows[i].without,
               b.ptr);
        buf_free(&b);
        talk_free(&k);
    }
}

#define NONE(api, name)                                                 \
    "the API of " api " has no " name "; remove it, or use extra." name \
    " if this server takes it"

/* wrong: all of what is said; "": the API takes it. */
static void test_ranges(void)
{
    static const struct {
        const struct codec *codec;
        enum param p;
        const char *value, *wrong;
    } rows[] = {
        {&codec_openai, PARAM_TEMPERATURE, "0", ""},
        {&codec_openai, PARAM_TEMPERATURE, "2", ""},
        {&codec_openai, PARAM_TEMPERATURE, "2.01",
         "temperature of openai must be 0 to 2, not 2.01"},
        {&codec_openai, PARAM_TEMPERATURE, "-0.1",
         "temperature of openai must be 0 to 2, not -0.1"},
        {&codec_openai, PARAM_TOP_P, "1", ""},
        {&codec_openai, PARAM_TOP_P, "1.1",
         "top_p of openai must be 0 to 1, not 1.1"},
        {&codec_openai, PARAM_TOP_K, "1", NONE("openai", "top_k")},
        {&codec_openai, PARAM_STOP, "[\"a\",\"b\",\"c\",\"d\"]", ""},
        {&codec_openai, PARAM_STOP, "[\"a\",\"b\",\"c\",\"d\",\"e\"]",
         "stop of openai must be 1 to 4 texts, not 5"},
        {&codec_openai, PARAM_SEED, "-1", ""},
        {&codec_openai, PARAM_PRESENCE_PENALTY, "-2", ""},
        {&codec_openai, PARAM_FREQUENCY_PENALTY, "-2.5",
         "frequency_penalty of openai must be -2 to 2, not -2.5"},
        {&codec_responses, PARAM_TEMPERATURE, "2", ""},
        {&codec_responses, PARAM_TOP_P, "0", ""},
        {&codec_responses, PARAM_TOP_K, "1", NONE("responses", "top_k")},
        {&codec_responses, PARAM_STOP, "[\"a\"]", NONE("responses", "stop")},
        {&codec_responses, PARAM_SEED, "1", NONE("responses", "seed")},
        {&codec_responses, PARAM_PRESENCE_PENALTY, "1",
         NONE("responses", "presence_penalty")},
        {&codec_responses, PARAM_FREQUENCY_PENALTY, "1",
         NONE("responses", "frequency_penalty")},
        {&codec_anthropic, PARAM_TEMPERATURE, "1", ""},
        {&codec_anthropic, PARAM_TEMPERATURE, "1.5",
         "temperature of anthropic must be 0 to 1, not 1.5"},
        {&codec_anthropic, PARAM_TOP_K, "100000", ""},
        {&codec_anthropic, PARAM_TOP_K, "-1",
         "top_k of anthropic must be 0 or more, not -1"},
        {&codec_anthropic, PARAM_STOP, "[\"a\"]", ""},
        {&codec_anthropic, PARAM_SEED, "1", NONE("anthropic", "seed")},
        {&codec_anthropic, PARAM_PRESENCE_PENALTY, "1",
         NONE("anthropic", "presence_penalty")},
        {&codec_gemini, PARAM_TOP_K, "0",
         "top_k of gemini must be 1 or more, not 0"},
        {&codec_gemini, PARAM_SEED, "2147483648",
         "seed of gemini must be -2147483648 to 2147483647, not 2147483648"},
        {&codec_gemini, PARAM_STOP, "[\"a\",\"b\",\"c\",\"d\",\"e\"]", ""},
        {&codec_gemini, PARAM_PRESENCE_PENALTY, "2", ""},
        {&codec_ollama, PARAM_TEMPERATURE, "3", ""},
        {&codec_ollama, PARAM_TOP_K, "0", ""},
        {&codec_ollama, PARAM_SEED, "1", ""},
        {NULL, PARAM_TEMPERATURE, "1000", ""}, /* a script */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf why = {.mem = &wire_plain};

        wire_param_wrong(rows[i].codec, rows[i].p, str_of(rows[i].value), &why);
        tap_is_str(buf_view(&why), rows[i].wrong, "%s: %s %s",
                   rows[i].codec ? rows[i].codec->name : "script",
                   asked_names[rows[i].p], rows[i].value);
        buf_free(&why);
    }
}

/* What wend writes itself is refused; where it writes nothing, it is free. */
static const struct {
    const struct codec *codec;
    const char *extra;
    bool effort, schema;
    const char *wrong; /* how it begins; "": nothing is */
} extras[] = {
    {&codec_openai, "{\"n\":1}", false, false, ""},
    {&codec_openai, "{\"model\":1}", false, false,
     "extra.model is a field that wend writes itself; use 'model'"},
    {&codec_openai, "{\"a\":1,\"messages\":[]}", false, false,
     "extra.messages is"},
    {&codec_openai, "{\"tools\":[]}", false, false, "extra.tools is"},
    {&codec_openai, "{\"stream\":false}", false, false,
     "extra.stream is a field that wend writes itself; remove it"},
    {&codec_openai, "{\"max_tokens\":1}", false, false, "extra.max_tokens is"},
    {&codec_openai, "{\"reasoning_effort\":\"xhigh\"}", false, false, ""},
    {&codec_openai, "{\"reasoning_effort\":\"xhigh\"}", true, false,
     "extra.reasoning_effort is a field that wend writes itself; use "
     "--effort"},
    {&codec_openai, "{\"response_format\":1}", false, false, ""},
    {&codec_openai, "{\"response_format\":1}", false, true,
     "extra.response_format is"},
    {&codec_openai, "{\"top_p\":1}", false, false, ""},
    {&codec_openai, "{\"temperature\":1}", false, false,
     "extra.temperature is a field that wend writes itself; use "
     "temperature"},
    {&codec_openai, "{\"options\":{\"model\":1}}", false, false, ""},
    {&codec_responses, "{\"input\":1}", false, false, "extra.input is"},
    {&codec_responses, "{\"text\":{\"verbosity\":\"low\"}}", false, false, ""},
    {&codec_responses, "{\"store\":true}", false, false, "extra.store is"},
    {&codec_anthropic, "{\"system\":1}", false, false, "extra.system is"},
    {&codec_anthropic, "{\"output_config\":{}}", false, false, ""},
    {&codec_anthropic, "{\"output_config\":{}}", false, true,
     "extra.output_config is"},
    {&codec_gemini, "{\"contents\":1}", false, false, "extra.contents is"},
    {&codec_gemini, "{\"generationConfig\":{\"maxOutputTokens\":1}}", false,
     false, "extra.generationConfig.maxOutputTokens is"},
    {&codec_gemini, "{\"generationConfig\":{\"temperature\":1}}", false, false,
     "extra.generationConfig.temperature is"},
    {&codec_gemini, "{\"generationConfig\":1}", false, false,
     "extra.generationConfig must be an object"},
    {&codec_gemini, "{\"temperature\":1}", false, false, ""},
    {&codec_ollama, "{\"options\":{\"num_ctx\":1}}", false, false, ""},
    {&codec_ollama, "{\"options\":{\"num_predict\":1}}", false, false,
     "extra.options.num_predict is"},
    {&codec_ollama, "{\"format\":\"json\"}", false, false, ""},
    {&codec_ollama, "{\"format\":\"json\"}", false, true, "extra.format is"},
    {NULL, "{\"model\":1}", false, false, ""},
};

static void test_extra(void)
{
    for (size_t i = 0; i < sizeof extras / sizeof *extras; i++) {
        struct buf why = {.mem = &wire_plain};
        struct arena a = {.mem = &wire_plain};
        struct params p = {.value[PARAM_TEMPERATURE] = STR("1"),
                           .extra =
                               json_parse(str_of(extras[i].extra), &a, NULL)};

        wire_extra_wrong(extras[i].codec, &p, extras[i].effort,
                         extras[i].schema, &why);
        tap_ok(extras[i].wrong[0] ? str_starts(buf_view(&why), extras[i].wrong)
                                  : !why.len,
               "%s: %s: %s", extras[i].codec ? extras[i].codec->name : "script",
               extras[i].extra, why.len ? why.ptr : "");
        buf_free(&why);
        arena_free(&a);
    }
}

enum {
    T = 1 << PARAM_TEMPERATURE,
    P = 1 << PARAM_TOP_P,
    K = 1 << PARAM_TOP_K,
    STOP = 1 << PARAM_STOP,
    PRES = 1 << PARAM_PRESENCE_PENALTY,
    FREQ = 1 << PARAM_FREQUENCY_PENALTY,
    E = 1 << ASKED_EFFORT,
    ALL = (1 << ASKED_FIELDS) - 1,
};

/* Words of servers; 0: the request stays as it is, and fails. */
static const struct {
    const struct codec *codec;
    uint32_t sent;
    const char *word, *param, *message;
    uint32_t refused;
} refusals[] = {
    {&codec_openai, T | P, "unsupported_parameter", "temperature",
     "Unsupported parameter: 'temperature' is not supported with this "
     "model.",
     T},
    {&codec_openai, T | P, "unsupported_value", "temperature",
     "Unsupported value: 'temperature' does not support 0.2 with this "
     "model. Only the default (1) value is supported.",
     T},
    {&codec_openai, T | E, NULL, NULL,
     "Unrecognized request argument supplied: reasoning_effort", E},
    {&codec_openai, T, "unsupported_parameter", "max_tokens",
     "Unsupported parameter: 'max_tokens' is not supported with this "
     "model. Use 'max_completion_tokens' instead.",
     0},
    {&codec_openai, T | STOP, "unsupported_parameter", "stop",
     "Unsupported parameter: 'stop' is not supported with this model.", STOP},
    {&codec_openai, T, "decimal_above_max_value", "temperature",
     "Invalid 'temperature': decimal above maximum value. Expected a value "
     "<= 2, but got 3 instead.",
     0},
    {&codec_openai, P, "unsupported_parameter", "temperature",
     "Unsupported parameter: 'temperature' is not supported", 0},
    {&codec_responses, T | E, "unsupported_parameter", "reasoning.effort",
     "Unsupported parameter: 'reasoning.effort' is not supported with this "
     "model.",
     E},
    {&codec_anthropic, T | K, "invalid_request_error", NULL,
     "`temperature` is deprecated for this model.", T},
    {&codec_anthropic, T | P, "invalid_request_error", NULL,
     "`temperature` and `top_p` cannot both be specified for this model. "
     "Please use only one.",
     P},
    {&codec_anthropic, T | E, "invalid_request_error", NULL,
     "`temperature` may only be set to 1 when thinking is enabled.", T},
    {&codec_anthropic, K | E, "invalid_request_error", NULL,
     "`top_k` must be unset when thinking is enabled; it is not supported", K},
    {&codec_anthropic, E, "invalid_request_error", NULL,
     "thinking.type: \"disabled\" is not supported by this model", E},
    {&codec_anthropic, E, "invalid_request_error", NULL,
     "messages.1.content.0: `thinking` or `redacted_thinking` blocks in "
     "the latest assistant message cannot be modified.",
     0},
    {&codec_anthropic, T | E, "invalid_request_error", NULL,
     "messages.0.content.1.image: image dimensions exceed max allowed size", 0},
    {&codec_gemini, PRES | FREQ | T, "INVALID_ARGUMENT", NULL,
     "Penalty is not enabled for models/gemini-2.5-flash-lite", PRES | FREQ},
    {&codec_gemini, K | T, "INVALID_ARGUMENT", NULL,
     "Invalid JSON payload received. Unknown name \"topK\" at "
     "'generation_config': Cannot find field.",
     K},
    {&codec_gemini, E | T, "INVALID_ARGUMENT", NULL,
     "Thinking level is not supported for this model: thinking_level", E},
    {&codec_ollama, E, NULL, NULL, "\"llama3\" does not support thinking", E},
    {&codec_ollama, ALL, NULL, NULL,
     "registry.ollama.ai/library/x does not support tools", 0},
    {&codec_openai, ALL, NULL, NULL, "", 0},
    {&codec_openai, P, NULL, NULL, "top_prob is not supported", 0},
};

static void test_refused(void)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        tap_is_i64(wire_refused(refusals[i].codec, refusals[i].sent,
                                str_of(refusals[i].word),
                                str_of(refusals[i].param),
                                str_of(refusals[i].message)),
                   refusals[i].refused, "%s: %s", refusals[i].codec->name,
                   refusals[i].message);
}

/* A codec that says nothing of parameters takes none, and still writes. */
static void test_bare(void)
{
    struct codec bare = codec_openai;
    struct buf why = {.mem = &wire_plain}, body = why;
    struct wire_ask q;
    struct talk k;

    bare.params = NULL;
    wire_param_wrong(&bare, PARAM_TEMPERATURE, STR("1"), &why);
    tap_ok(str_starts(buf_view(&why), "the API of openai has no temperature"),
           "without a table: %s", why.ptr);
    talk_init(&k, "{\"params\":{\"temperature\":1},\"extra\":{\"a\":1}}");
    talk_add(&k, ROLE_USER, "hi");
    q = ask_of(&k);
    codec_request(&bare, &q, &body);
    tap_ok(!strstr(body.ptr, "temperature") && strstr(body.ptr, "\"a\":1"),
           "without a table: extra alone is sent");
    talk_free(&k);
    buf_free(&why);
    buf_free(&body);
}

int main(void)
{
    test_bare();
    test_sent();
    test_without();
    test_ranges();
    test_extra();
    test_refused();
    return tap_done();
}

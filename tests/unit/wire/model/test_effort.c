/*
 * test_effort.c - how much a model shall think, in each provider's own form.
 */
#include "ask_help.h"

static const char *const words[EFFORTS] = {"default", "none", "low", "medium",
                                           "high"};

/* wanted: a part of the request; refused: what must not be in it. */
static const struct {
    const char *why;
    const struct codec *codec;
    const char *model;
    enum effort effort;
    int64_t max_tokens;
    const char *wanted, *refused;
} rows[] = {
    {"nothing is sent", &codec_openai, "m", EFFORT_DEFAULT, 0, "{", "reason"},
    {"a word", &codec_openai, "m", EFFORT_NONE, 0,
     ",\"reasoning_effort\":\"none\",", NULL},
    {"a word", &codec_openai, "m", EFFORT_HIGH, 5,
     ",\"max_tokens\":5,\"reasoning_effort\":\"high\",", NULL},

    {"nothing is sent", &codec_responses, "m", EFFORT_DEFAULT, 0, "{",
     "\"reasoning\":"},
    {"with a summary", &codec_responses, "m", EFFORT_LOW, 0,
     ",\"reasoning\":{\"effort\":\"low\",\"summary\":\"auto\"},", NULL},
    {"nothing to sum up", &codec_responses, "m", EFFORT_NONE, 0,
     ",\"reasoning\":{\"effort\":\"none\"},", "summary"},

    {"nothing is sent", &codec_anthropic, "claude-opus-4-7", EFFORT_DEFAULT, 0,
     ",\"max_tokens\":8192,", "\"thinking\""},
    {"off", &codec_anthropic, "claude-opus-4-7", EFFORT_NONE, 0,
     ",\"thinking\":{\"type\":\"disabled\"},", "effort"},
    {"adaptive", &codec_anthropic, "claude-opus-4-7", EFFORT_LOW, 0,
     ",\"thinking\":{\"type\":\"adaptive\",\"display\":\"summarized\"},",
     "budget"},
    {"and its effort", &codec_anthropic, "eu.anthropic.claude-sonnet-4-6-v1",
     EFFORT_MEDIUM, 0, ",\"output_config\":{\"effort\":\"medium\"},", "budget"},
    {"the version first", &codec_anthropic, "x/claude-4.6-opus", EFFORT_HIGH, 0,
     "adaptive", "budget"},
    {"a later version", &codec_anthropic, "claude-sonnet-5", EFFORT_HIGH, 0,
     "adaptive", "budget"},
    {"a budget, and room for the answer", &codec_anthropic,
     "claude-opus-4-20250514", EFFORT_HIGH, 0,
     ",\"max_tokens\":24576,\"stream\":true,\"thinking\":{\"type\":\"enabled\","
     "\"budget_tokens\":16384},",
     "effort"},
    {"an older version", &codec_anthropic, "claude-3-7-sonnet-20250219",
     EFFORT_LOW, 0, "\"budget_tokens\":1024}", "adaptive"},
    {"not of theirs", &codec_anthropic, "glm-4.7", EFFORT_LOW, 0,
     "\"budget_tokens\":1024}", "adaptive"},
    {"at most half of the answer", &codec_anthropic, "claude-haiku-4-5",
     EFFORT_HIGH, 5000,
     ",\"max_tokens\":5000,\"stream\":true,\"thinking\":{\"type\":\"enabled\","
     "\"budget_tokens\":2500}",
     NULL},
    {"the least that there is", &codec_anthropic, "claude-haiku-4-5",
     EFFORT_HIGH, 1025, "\"budget_tokens\":1024}", NULL},
    {"no room for any", &codec_anthropic, "claude-haiku-4-5", EFFORT_HIGH, 1024,
     ",\"max_tokens\":1024,", "\"thinking\""},

    {"the thoughts alone", &codec_gemini, "gemini-2.5-flash", EFFORT_DEFAULT, 0,
     "\"thinkingConfig\":{\"includeThoughts\":true}", NULL},
    {"a budget", &codec_gemini, "gemini-2.5-flash", EFFORT_MEDIUM, 0,
     "{\"includeThoughts\":true,\"thinkingBudget\":8192}", NULL},
    {"at most half of the answer", &codec_gemini, "gemini-2.5-flash",
     EFFORT_MEDIUM, 6000, "\"thinkingBudget\":3000}", NULL},
    {"off, and no thoughts", &codec_gemini, "gemini-2.5-flash", EFFORT_NONE, 0,
     "\"thinkingConfig\":{\"thinkingBudget\":0}", "includeThoughts"},
    {"cannot be off", &codec_gemini, "models/gemini-2.5-pro", EFFORT_NONE, 0,
     "\"thinkingBudget\":128}", NULL},
    {"a level", &codec_gemini, "gemini-3-flash-preview", EFFORT_MEDIUM, 0,
     "{\"includeThoughts\":true,\"thinkingLevel\":\"medium\"}", "Budget"},
    {"the next level there is", &codec_gemini, "gemini-3-pro-preview",
     EFFORT_MEDIUM, 0, "\"thinkingLevel\":\"high\"", "Budget"},
    {"the lowest level", &codec_gemini, "gemini-3-pro-preview", EFFORT_NONE, 0,
     "\"thinkingLevel\":\"low\"", "Budget"},
    {"cannot think", &codec_gemini, "gemini-2.0-flash", EFFORT_HIGH, 0, "{",
     "thinkingConfig"},

    {"nothing is sent", &codec_ollama, "qwen3", EFFORT_DEFAULT, 0, "{",
     "\"think\""},
    {"on", &codec_ollama, "qwen3", EFFORT_LOW, 0, ",\"think\":true,", NULL},
    {"off", &codec_ollama, "qwen3", EFFORT_NONE, 0, ",\"think\":false,", NULL},
    {"a level", &codec_ollama, "gpt-oss:20b", EFFORT_LOW, 0,
     ",\"think\":\"low\",", NULL},
};

static void test_words(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf b = {.mem = &wire_plain};
        struct wire_ask q;
        struct talk k;
        char config[64];
        bool good;

        snprintf(config, sizeof config, "{\"effort\":\"%s\"}",
                 words[rows[i].effort]);
        talk_init(&k, config);
        talk_add(&k, ROLE_USER, "go");
        q = ask_of(&k);
        q.model = str_of(rows[i].model);
        q.max_tokens = rows[i].max_tokens;
        codec_request(rows[i].codec, &q, &b);
        good = strstr(b.ptr, rows[i].wanted) &&
               !(rows[i].refused && strstr(b.ptr, rows[i].refused));
        tap_ok(good && ask_is_canonical(buf_view(&b)), "%s, %s, %s: %s",
               rows[i].codec->name, rows[i].model, words[rows[i].effort],
               rows[i].why);
        if (!good)
            printf("# %s\n", b.ptr);
        buf_free(&b);
        talk_free(&k);
    }
}

#define SIGNED                                                         \
    "[{\"p\":\"anthropic\",\"text\":0,\"calls\":0,\"thinking\":\"a\"," \
    "\"signature\":\"s\"}]"

/* A budget needs a turn that begins with thinking, or one without calls. */
static void test_turn_without(void)
{
    static const struct {
        const char *why, *first, *second; /* opaque of two messages */
        bool said, thinks;
    } turns[] = {
        {"ours", SIGNED, SIGNED, false, true},
        {"ours, which does not think twice", SIGNED, "[]", false, true},
        {"another's", "[]", "[]", false, false},
        {"begun by another", "[]", SIGNED, false, false},
        {"another's, and the user spoke", "[]", "[]", true, true},
    };

    for (size_t i = 0; i < tap_count(turns); i++) {
        struct buf b = {.mem = &wire_plain};
        struct wire_ask q;
        struct talk k;

        talk_init(&k, "{\"effort\":\"low\"}");
        talk_add(&k, ROLE_USER, "go");
        for (int n = 0; n < 2; n++) {
            talk_add(&k, ROLE_ASSISTANT, "");
            k.last->opaque = str_of(n ? turns[i].second : turns[i].first);
            talk_call(&k, "c", "now", "{}");
            talk_result(&k, "c", "now", "1");
        }
        if (turns[i].said)
            talk_add(&k, ROLE_USER, "well?");
        q = ask_of(&k);
        codec_request(&codec_anthropic, &q, &b);
        tap_ok(!!strstr(b.ptr, "budget_tokens") == turns[i].thinks,
               "a budget for a turn: %s", turns[i].why);
        tap_ok(strstr(b.ptr, "\"max_tokens\":9216,"), "  the same limit");
        ask_check_faults(&codec_anthropic, &q);
        buf_free(&b);
        talk_free(&k);
    }
}

int main(void)
{
    test_words();
    test_turn_without();
    return tap_done();
}

/*
 * test_listing.c - lists of models: where they are, and what is read from them.
 */
#include "wire/model/listing.h"

#include "ask_help.h"

static const struct {
    const char *why;
    const struct codec *codec;
    wend_str page;
    const char *wanted;
} paths[] = {
    {"openai", &codec_openai, {NULL, 0}, "/models"},
    {"openai has one page", &codec_openai, {"x", 1}, "/models"},
    {"responses is openai's list", &codec_responses, {NULL, 0}, "/models"},
    {"anthropic", &codec_anthropic, {NULL, 0}, "/models?limit=1000"},
    {"anthropic, the next page",
     &codec_anthropic,
     {"m-1", 3},
     "/models?limit=1000&after_id=m-1"},
    {"gemini, a token is escaped",
     &codec_gemini,
     {"a+b/c=&x", 8},
     "/models?pageSize=1000&pageToken=a%2Bb%2Fc%3D%26x"},
    {"a NUL is escaped, too",
     &codec_gemini,
     {"a\0b", 3},
     "/models?pageSize=1000&pageToken=a%00b"},
    {"bytes above ASCII",
     &codec_gemini,
     {"\xc3\xa9", 2},
     "/models?pageSize=1000&pageToken=%C3%A9"},
    {"ollama", &codec_ollama, {NULL, 0}, "/api/tags"},
};

static void test_paths(void)
{
    for (size_t i = 0; i < tap_count(paths); i++) {
        struct buf b = {.mem = &wire_plain};

        listing_path(paths[i].codec, paths[i].page, &b);
        tap_is_str(buf_view(&b), paths[i].wanted, "path: %s", paths[i].why);
        buf_free(&b);
    }
}

#define NO_LIST "no list"

/* name/window/output; then the next page. */
static const struct {
    const char *why;
    const struct codec *codec;
    const char *body, *wanted;
} bodies[] = {
    {"openai", &codec_openai, "{\"data\":[{\"id\":\"a\"},{\"id\":\"b\"}]}",
     "a/0/0 b/0/0 "},
    {"vLLM adds the window", &codec_openai,
     "{\"data\":[{\"id\":\"a\",\"max_model_len\":4096}]}", "a/4096/0 "},
    {"llama.cpp has it in meta", &codec_openai,
     "{\"data\":[{\"id\":\"a\",\"meta\":{\"n_ctx\":8192}}]}", "a/8192/0 "},
    {"a gateway adds both", &codec_openai,
     "{\"data\":[{\"id\":\"a\",\"context_length\":10,"
     "\"max_completion_tokens\":5}]}",
     "a/10/5 "},
    {"a bare array", &codec_openai, "[{\"id\":\"a\"}]", "a/0/0 "},
    {"an empty list", &codec_openai, "{\"data\":[]}", ""},
    {"gemini: the prefix goes, what cannot answer is left out", &codec_gemini,
     "{\"models\":[{\"name\":\"models/g\",\"inputTokenLimit\":9,"
     "\"outputTokenLimit\":3,\"supportedGenerationMethods\":"
     "[\"countTokens\",\"generateContent\"]},{\"name\":\"models/embed\","
     "\"supportedGenerationMethods\":[\"embedContent\"]}],"
     "\"nextPageToken\":\"t\"}",
     "g/9/3 next t"},
    {"anthropic: more", &codec_anthropic,
     "{\"data\":[{\"id\":\"c\",\"max_input_tokens\":7,\"max_tokens\":2}],"
     "\"has_more\":true,\"last_id\":\"c\"}",
     "c/7/2 next c"},
    {"anthropic: the last page names its last model, too", &codec_anthropic,
     "{\"data\":[{\"id\":\"c\"}],\"has_more\":false,\"last_id\":\"c\"}",
     "c/0/0 "},
    {"anthropic: more, but not from where", &codec_anthropic,
     "{\"data\":[{\"id\":\"c\"}],\"has_more\":true,\"last_id\":null}",
     "c/0/0 "},
    {"ollama", &codec_ollama,
     "{\"models\":[{\"name\":\"l:8b\",\"model\":\"l:8b\"}]}", "l:8b/0/0 "},
    {"rows that are not models are skipped", &codec_openai,
     "{\"data\":[1,\"x\",{},{\"id\":\"\"},{\"id\":7},{\"id\":\"a\"}]}",
     "a/0/0 "},
    {"windows that are not counts are unknown", &codec_openai,
     "{\"data\":[{\"id\":\"a\",\"context_length\":\"big\"}]}", "a/0/0 "},
    {"an error", &codec_openai, "{\"error\":{\"message\":\"no\"}}", NO_LIST},
    {"data that is no list", &codec_openai, "{\"data\":{}}", NO_LIST},
    {"a number", &codec_openai, "7", NO_LIST},
};

struct listing {
    struct buf text;
    int left; /* rows that are wanted */
};

static bool add(void *ctx, const wend_model_info *row)
{
    struct listing *l = ctx;

    buf_fmt(&l->text, "%.*s/%lld/%lld ", (int)row->name.len, row->name.ptr,
            (long long)row->window, (long long)row->output);
    return --l->left != 0;
}

static void read_body(const struct codec *c, const char *body, int rows,
                      const char *wanted, const char *why)
{
    struct listing l = {.text.mem = &wire_plain, .left = rows};
    struct arena a = {.mem = &wire_plain};
    wend_str page = STR("unset");

    if (!listing_read(c, json_parse(str_of(body), &a, NULL), add, &l, &page))
        buf_cstr(&l.text, NO_LIST);
    if (page.ptr)
        buf_fmt(&l.text, "next %.*s", (int)page.len, page.ptr);
    tap_is_str(buf_view(&l.text), wanted, "list: %s", why);
    buf_free(&l.text);
    arena_free(&a);
}

int main(void)
{
    test_paths();
    for (size_t i = 0; i < tap_count(bodies); i++)
        read_body(bodies[i].codec, bodies[i].body, -1, bodies[i].wanted,
                  bodies[i].why);
    read_body(&codec_anthropic,
              "{\"data\":[{\"id\":\"a\"},{\"id\":\"b\"}],\"has_more\":true,"
              "\"last_id\":\"b\"}",
              1, "a/0/0 ", "the reader has enough: no next page");
    read_body(&codec_openai, "{", -1, NO_LIST, "not JSON");
    return tap_done();
}

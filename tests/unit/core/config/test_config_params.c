/*
 * test_config_params.c - parameters of generation as users and configs write
 * them.
 */
#include "core/config/config.h"

#include <string.h>

#include "fault.h"
#include "tap.h"

static const struct mem plain;

/* wanted: NAME=JSON as it is kept, or a part of what is wrong. */
static const struct {
    const char *text, *wanted;
    bool ok;
} rows[] = {
    {"temperature=0.2", "temperature=0.2", true},
    {"temperature=0", "temperature=0", true},
    {"temperature=1.50", "temperature=1.50", true}, /* digits stay */
    {"temperature=null", "temperature=-", true},
    {"temperature=", "temperature must be a number, not ''", false},
    {"temperature=hot", "temperature must be a number, not 'hot'", false},
    {"temperature=\"1\"", "temperature must be a number", false},
    {"top_p=0.9", "top_p=0.9", true},
    {"top_k=40", "top_k=40", true},
    {"top_k=1.5", "top_k must be a whole number, not '1.5'", false},
    {"seed=-7", "seed=-7", true},
    {"seed=99999999999999999999", "seed must be a whole number", false},
    {"presence_penalty=-1", "presence_penalty=-1", true},
    {"frequency_penalty=true", "frequency_penalty must be a number", false},
    {"stop=END", "stop=[\"END\"]", true},
    {"stop=5", "stop=[\"5\"]", true}, /* a text that looks like a number */
    {"stop=a=b", "stop=[\"a=b\"]", true},
    {"stop=\"x\"", "stop=[\"x\"]", true},
    {"stop=[\"a\",\"b\"]", "stop=[\"a\",\"b\"]", true},
    {"stop=[]", "stop must be a text, or a list of 1 to 16 texts", false},
    {"stop=[1]", "stop must be a text", false},
    {"stop=", "stop must be a text", false},
    {"stop=[\"a\",\"\"]", "stop must be a text", false},
    {"temprature=1", "no parameter 'temprature'; did you mean 'temperature'?",
     false},
    {"Temperature=1", "did you mean 'temperature'?", false},
    {"logit_bias=1", "no parameter 'logit_bias'; another field", false},
    {"effort=low", "no parameter 'effort'", false}, /* it has its own option */
    {"extra=1", "no parameter 'extra'", false},
    {"extra.=1", "no parameter 'extra.'", false},
    {"extra.min_p=0.1", "extra.min_p=0.1", true},
    {"extra.mode=fast", "extra.mode=\"fast\"", true},
    {"extra.a={\"b\":[1]}", "extra.a={\"b\":[1]}", true},
    {"=1", "a parameter is NAME=VALUE", false},
    {"temperature", "a parameter is NAME=VALUE", false},
    {"", "a parameter is NAME=VALUE", false},
};

static void test_parse(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {.mem = &plain};
        struct buf got = {.mem = &plain};
        wend_error err = {0};
        wend_str field = STR_NONE;
        struct json *value = NULL;
        enum param p = PARAMS;
        wend_status s =
            param_parse(str_of(rows[i].text), &a, &p, &field, &value, &err);

        if (s != WEND_OK) {
            buf_cstr(&got, err.message);
        } else if (p == PARAMS) {
            buf_fmt(&got, "extra.%.*s=", STR_ARGS(field));
            json_put(&got, value);
        } else {
            wend_str text = param_text(p, value, &a);

            buf_fmt(&got, "%s=%.*s", asked_names[p],
                    text.ptr ? (int)text.len : 1, text.ptr ? text.ptr : "-");
        }
        tap_ok((s == WEND_OK) == rows[i].ok &&
                   (rows[i].ok ? !strcmp(got.ptr, rows[i].wanted)
                               : strstr(got.ptr, rows[i].wanted) != NULL),
               "%s: %s", rows[i].text, got.ptr);
        buf_free(&got);
        arena_free(&a);
    }
}

/* Written and read again they are the same, each model with its own. */
static void test_config(void)
{
    static const char json[] =
        "{\"model\":\"openai:a\",\"params\":{\"temperature\":0.2,"
        "\"stop\":[\"x\"],\"later\":1},\"extra\":{\"n\":1},"
        "\"fallback\":[{\"name\":\"b\",\"model\":\"gemini:b\","
        "\"params\":{\"top_k\":3}},{\"name\":\"c\",\"model\":\"gemini:c\"}]}";
    struct arena a = {.mem = &plain};
    struct buf b = {.mem = &plain};
    struct config *c = NULL;

    config_parse(str_of(json), &a, &c, NULL);
    for (uint32_t i = 0; i < c->models_count; i++) {
        json_open(&b, NULL, '{');
        params_put(&b, &c->models[i].params);
        json_close(&b, '}');
    }
    tap_is_str(buf_view(&b),
               "{\"params\":{\"temperature\":0.2,\"stop\":[\"x\"]},"
               "\"extra\":{\"n\":1}},{\"params\":{\"top_k\":3}},{}",
               "params of a config, by model; an unknown name is passed over");
    buf_free(&b);
    arena_free(&a);
}

static void test_faults(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m};
        wend_str field = STR_NONE;
        struct json *value = NULL;
        enum param p = PARAMS;
        wend_status s =
            param_parse(STR("stop=END"), &a, &p, &field, &value, NULL);

        if (s == WEND_OK)
            param_text(p, value, &a);
        bad += (s == WEND_E_NOMEM || a.failed) != f.hit;
        arena_free(&a);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "a parameter: every allocation may fail");
}

int main(void)
{
    test_parse();
    test_config();
    test_faults();
    return tap_done();
}

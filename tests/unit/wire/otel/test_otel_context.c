/*
 * test_otel_context.c - traceparent both ways, requests, settings.
 */
#include "otel_help.h"

static void test_parents(void)
{
    static const struct {
        const char *why, *text;
        bool ok;
    } rows[] = {
        {"as the standard has it", PARENT, true},
        {"a later version may say more",
         "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x", true},
        {"this version may not",
         "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x", false},
        {"more without a dash",
         "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01x", false},
        {"version ff",
         "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false},
        {"upper case",
         "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", false},
        {"a trace of zeros",
         "00-00000000000000000000000000000000-b7ad6b7169203331-01", false},
        {"a span of zeros",
         "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", false},
        {"a dash too early",
         "00-0af7651916cd43dd8448eb211c80319-cb7ad6b7169203331-01", false},
        {"too short", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
         false},
        {"empty", "", false},
        {"absent", NULL, false},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        char text[OTEL_PARENT_LEN + 1];
        struct otel_context c = {0};
        bool ok = otel_parent_read(str_of(rows[i].text), &c);

        tap_ok(ok == rows[i].ok, "traceparent: %s", rows[i].why);
        if (ok) {
            otel_parent_text(&c, text);
            tap_is_str(text, PARENT, "traceparent: %s: written again",
                       rows[i].why);
        }
    }
    tap_ok(otel_state_ok(STR("a=b,c=d")) && !otel_state_ok(STR("a\r\nb")) &&
               !otel_state_ok(STR("")) && !otel_state_ok(STR_NONE),
           "a tracestate is passed on if it is one line");
}

static void test_request(void)
{
    struct mem m = {0};
    struct arena a = {.mem = &m};
    struct buf b = {.mem = &m};
    wend_str why;

    otel_request_begin(&b, json_parse(STR("{\"k\":\"v\"}"), &a, NULL));
    buf_cstr(&b, "{},{}");
    otel_request_end(&b);
    tap_is_str(buf_view(&b),
               "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":"
               "\"service.name\",\"value\":{\"stringValue\":\"wend\"}},{"
               "\"key\":\"k\",\"value\":{\"stringValue\":\"v\"}}]},"
               "\"scopeSpans\":[{\"scope\":{\"name\":\"wend\",\"version\":"
               "\"" WEND_VERSION "\"},\"spans\":[{},{}]}]}]}",
               "around the spans of a request");
    tap_ok(json_parse(buf_view(&b), &a, NULL) != NULL, "which is JSON");
    tap_is_i64(otel_rejected(STR("{\"partialSuccess\":{\"rejectedSpans\":"
                                 "\"3\",\"errorMessage\":\"no\"}}"),
                             &a, &why),
               3, "how many spans were refused");
    tap_is_str(why, "no", "and why");
    tap_is_i64(otel_rejected(STR("{\"partialSuccess\":{\"rejectedSpans\":2}}"),
                             &a, &why),
               2, "a number is read, too");
    tap_is_i64(otel_rejected(STR("{}"), &a, &why), 0, "mostly none");
    tap_is_i64(otel_rejected(STR("<html>"), &a, &why), 0, "no JSON, no matter");
    buf_free(&b);
    arena_free(&a);
}

static void test_pairs(void)
{
    static const struct {
        const char *why, *text, *wanted;
    } rows[] = {
        {"none", "", ""},
        {"one", "a=b", "a:b;"},
        {"spaces, escapes, an equals sign in the value", " a = b%20c , d=e=f,",
         "a:b c;d:e=f;"},
        {"an empty value", "a=", "a:;"},
        {"no equals sign", "a=b,c", "a:b;!c"},
        {"no key", "=b", "!=b"},
    };
    struct mem m = {0};

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf value = {.mem = &m}, got = {.mem = &m};
        wend_str rest = str_of(rows[i].text), key;

        while (otel_pair(&rest, &key, &value))
            buf_fmt(&got, "%.*s:%.*s;", STR_ARGS(key),
                    STR_ARGS(buf_view(&value)));
        if (rest.len)
            buf_fmt(&got, "!%.*s", STR_ARGS(rest));
        tap_is_str(buf_view(&got), rows[i].wanted, "pairs: %s", rows[i].why);
        buf_free(&value);
        buf_free(&got);
    }
}

int main(void)
{
    test_parents();
    test_request();
    test_pairs();
    return tap_done();
}

/*
 * test_failure.c - what an HTTP answer that is no answer means.
 */
#include "wire/model/failure.h"

#include "base/limits.h"
#include "fault.h"
#include "tap.h"

static const struct mem plain;

/* 2025-06-15 12:00:00 UTC, a Sunday. */
static const int64_t now_us = INT64_C(1749988800) * 1000000;

static const struct {
    const char *why;
    int status;
    const char *body, *code, *message;
    bool retry;
} rows[] = {
    {"an OpenAI error", 401,
     "{\"error\":{\"message\":\"Incorrect API key provided\",\"type\":"
     "\"invalid_request_error\",\"param\":null,\"code\":\"invalid_api_key\"}}",
     "auth", "HTTP 401: Incorrect API key provided", false},
    {"the code may be null", 400,
     "{\"error\":{\"message\":\"bad\",\"type\":\"invalid_request_error\","
     "\"param\":null,\"code\":null}}",
     "invalid", "HTTP 400: bad", false},
    {"a rate limit", 429,
     "{\"error\":{\"message\":\"Rate limit reached\",\"type\":\"tokens\","
     "\"code\":\"rate_limit_exceeded\"}}",
     "rate_limit", "HTTP 429: Rate limit reached", true},
    {"an empty account is no rate limit", 429,
     "{\"error\":{\"message\":\"You exceeded your current quota\",\"type\":"
     "\"insufficient_quota\",\"param\":null,\"code\":\"insufficient_quota\"}}",
     "auth", "HTTP 429: You exceeded your current quota", false},
    {"also if only the type says so", 429,
     "{\"error\":{\"message\":\"pay\",\"type\":\"insufficient_quota\"}}",
     "auth", "HTTP 429: pay", false},
    {"payment", 402, "{\"error\":{\"message\":\"Insufficient Balance\"}}",
     "auth", "HTTP 402: Insufficient Balance", false},
    {"a code that is a number, and what was behind it", 429,
     "{\"error\":{\"message\":\"Provider returned error\",\"code\":429,"
     "\"metadata\":{\"raw\":\"m is rate-limited\",\"provider_name\":\"P\"}},"
     "\"user_id\":\"u\"}",
     "rate_limit", "HTTP 429: Provider returned error: m is rate-limited",
     true},
    {"a Google error", 404,
     "{\"error\":{\"code\":404,\"message\":\"models/x is not found\","
     "\"status\":\"NOT_FOUND\",\"details\":[]}}",
     "not_found", "HTTP 404: models/x is not found", false},
    {"the same in a list", 429,
     "[{\n  \"error\": {\n \"code\": 429, \"message\": \"Quota exceeded\","
     "\"status\": \"RESOURCE_EXHAUSTED\"}}\n]",
     "rate_limit", "HTTP 429: Quota exceeded", true},
    {"an Anthropic error", 529,
     "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
     "\"message\":\"Overloaded\"},\"request_id\":\"req_1\"}",
     "service", "HTTP 529: Overloaded", true},
    {"its words for all", 504,
     "{\"type\":\"error\",\"error\":{\"type\":\"timeout_error\",\"message\":"
     "\"slow\"}}",
     "timeout", "HTTP 504: slow", true},
    {"too large", 413,
     "{\"type\":\"error\",\"error\":{\"type\":\"request_too_large\","
     "\"message\":\"Request exceeds the maximum size\"}}",
     "overflow", "HTTP 413: Request exceeds the maximum size", false},
    {"a message alone", 403, "{\"message\":\"not for you\"}", "auth",
     "HTTP 403: not for you", false},
    {"in capitals", 400, "{\"Message\":\"no\"}", "invalid", "HTTP 400: no",
     false},
    {"of vLLM", 400,
     "{\"object\":\"error\",\"message\":\"bad\",\"type\":\"BadRequestError\","
     "\"param\":null,\"code\":400}",
     "invalid", "HTTP 400: bad", false},
    {"of FastAPI", 404, "{\"detail\":\"Not Found\"}", "not_found",
     "HTTP 404: Not Found", false},
    {"a list of details", 422,
     "{\"detail\":[{\"loc\":[\"body\"],\"msg\":\"field required\",\"type\":"
     "\"missing\"}]}",
     "invalid", "HTTP 422: field required", false},
    {"text for an error", 500, "{\"error\":\"model not loaded\"}", "service",
     "HTTP 500: model not loaded", true},
    {"a flat error with a word", 400,
     "{\"message\":\"no such property\",\"type\":\"invalid_request_error\","
     "\"param\":\"x\",\"code\":\"wrong_api_format\"}",
     "invalid", "HTTP 400: no such property", false},
    {"only words", 400, "{\"error\":{\"code\":\"strange_thing\"}}", "invalid",
     "HTTP 400: strange_thing", false},
    {"context, by its code", 400,
     "{\"error\":{\"message\":\"long\",\"type\":\"invalid_request_error\","
     "\"code\":\"context_length_exceeded\"}}",
     "overflow", "HTTP 400: long", false},
    {"context, by words alone", 400,
     "{\"object\":\"error\",\"message\":\"This model's maximum context length "
     "is 4096 tokens.\",\"type\":\"BadRequestError\",\"code\":400}",
     "overflow",
     "HTTP 400: This model's maximum context length is 4096 tokens.", false},
    {"context, of Anthropic", 400,
     "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
     "\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}",
     "overflow", "HTTP 400: prompt is too long: 9 tokens > 8 maximum", false},
    {"context, of llama.cpp", 400,
     "{\"error\":{\"code\":400,\"message\":\"the request exceeds the available "
     "context size\",\"type\":\"exceed_context_size_error\"}}",
     "overflow", "HTTP 400: the request exceeds the available context size",
     false},
    {"context, of Gemini", 400,
     "{\"error\":{\"code\":400,\"message\":\"The input token count (9) exceeds "
     "the maximum number of tokens allowed (8).\",\"status\":"
     "\"INVALID_ARGUMENT\"}}",
     "overflow",
     "HTTP 400: The input token count (9) exceeds the maximum number of tokens "
     "allowed (8).",
     false},
    {"context, of xAI", 400,
     "{\"error\":\"This model's maximum prompt length is 8 but the request "
     "contains 9 tokens.\"}",
     "overflow",
     "HTTP 400: This model's maximum prompt length is 8 but the request "
     "contains 9 tokens.",
     false},
    {"context, of GitHub", 400,
     "{\"error\":{\"message\":\"prompt token count of 9 exceeds the limit of "
     "8\"}}",
     "overflow", "HTTP 400: prompt token count of 9 exceeds the limit of 8",
     false},
    {"context, of Kimi", 400,
     "{\"error\":{\"message\":\"Your request exceeded model token limit: 8\"}}",
     "overflow", "HTTP 400: Your request exceeded model token limit: 8", false},
    {"context, of Mistral", 400,
     "{\"message\":\"Prompt contains 9 tokens, too large for model with 8 "
     "maximum context\"}",
     "overflow",
     "HTTP 400: Prompt contains 9 tokens, too large for model with 8 maximum "
     "context",
     false},
    {"context, of Ollama", 400,
     "{\"error\":\"prompt too long; exceeded by 9 tokens\"}", "overflow",
     "HTTP 400: prompt too long; exceeded by 9 tokens", false},
    {"context, with the answer", 400,
     "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
     "\"message\":\"input length and `max_tokens` exceed context limit: 9 + 1 "
     "> 8\"}}",
     "overflow",
     "HTTP 400: input length and `max_tokens` exceed context limit: 9 + 1 > 8",
     false},
    {"context, though the server calls it its own", 500,
     "{\"error\":{\"code\":\"context_length_exceeded\"}}", "overflow",
     "HTTP 500: context_length_exceeded", false},
    {"an image, by words of OpenAI", 400,
     "{\"error\":{\"message\":\"Invalid content type. image_url is only "
     "supported by certain models.\",\"type\":\"invalid_request_error\"}}",
     "media",
     "HTTP 400: Invalid content type. image_url is only supported by certain "
     "models.",
     false},
    {"an image, by a code", 400,
     "{\"error\":{\"message\":\"no\",\"code\":\"unsupported_image_media_type\","
     "\"type\":\"invalid_request_error\"}}",
     "media", "HTTP 400: no", false},
    {"an image, of OpenRouter", 404,
     "{\"error\":{\"message\":\"No endpoints found that support image input\","
     "\"code\":404}}",
     "media", "HTTP 404: No endpoints found that support image input", false},
    {"an image, of vLLM", 400,
     "{\"message\":\"x is not a multimodal model\",\"type\":"
     "\"BadRequestError\"}",
     "media", "HTTP 400: x is not a multimodal model", false},
    {"an image, of llama.cpp", 500,
     "{\"error\":{\"code\":500,\"message\":\"image input is not supported - "
     "hint: provide the mmproj\",\"type\":\"server_error\"}}",
     "media",
     "HTTP 500: image input is not supported - hint: provide the mmproj",
     false},
    {"an image, of Anthropic", 400,
     "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
     "\"message\":\"messages.0.content.0: image exceeds 5 MB maximum\"}}",
     "media", "HTTP 400: messages.0.content.0: image exceeds 5 MB maximum",
     false},
    {"a rate limit stays one, whatever it says", 429,
     "{\"error\":{\"message\":\"image exceeds\",\"code\":"
     "\"rate_limit_exceeded\"}}",
     "rate_limit", "HTTP 429: image exceeds", true},
    {"a proxy that wants a password", 407, "", "proxy",
     "HTTP 407: no explanation; the proxy wants a user and a password, as in "
     "http://USER:PASSWORD@HOST:PORT",
     false},
    {"a page of a proxy", 502,
     "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n"
     "<center><h1>502 Bad Gateway</h1></center>\r\n</body></html>",
     "service", "HTTP 502: 502 Bad Gateway 502 Bad Gateway", true},
    {"its style and script are no words", 503,
     " <!DOCTYPE html><style>a{b:c}</style><script>x<y</script><p>Down</p>",
     "service", "HTTP 503: Down", true},
    {"a page that breaks off", 503, "<html><body>Sor", "service",
     "HTTP 503: Sor", true},
    {"a tag that breaks off", 503, "<html", "service",
     "HTTP 503: no explanation", true},
    {"plain text", 500, "Internal Server Error\n", "service",
     "HTTP 500: Internal Server Error", true},
    {"nothing", 503, "", "service", "HTTP 503: no explanation", true},
    {"nothing that is read", 503, " \r\n ", "service",
     "HTTP 503: no explanation", true},
    {"JSON without a word", 400, "{}", "invalid", "HTTP 400: {}", false},
    {"a number", 400, "7", "invalid", "HTTP 400: 7", false},
    {"half an object", 500, "{\"error\":{\"mess", "service",
     "HTTP 500: {\"error\":{\"mess", true},
    {"bytes", 500, "\x1f\x8b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff",
     "service", "HTTP 500: 12 bytes of binary data", true},
    {"codes for a terminal", 400,
     "{\"error\":{\"message\":\"a\\u001b[31mb\\u0000\\u0085c\\r\\n\\td\"}}",
     "invalid", "HTTP 400: a [31mb c d", false},
    {"a timeout", 408, "", "timeout", "HTTP 408: no explanation", true},
    {"a conflict", 409, "", "service", "HTTP 409: no explanation", true},
    {"a conflict that is said to be invalid", 409,
     "{\"error\":{\"message\":\"x\",\"type\":\"invalid_request_error\"}}",
     "service", "HTTP 409: x", true},
    {"gone", 410, "", "not_found", "HTTP 410: no explanation", false},
    {"another of the four hundreds", 418, "", "invalid",
     "HTTP 418: no explanation", false},
    {"the last one", 599, "", "service", "HTTP 599: no explanation", true},
    {"not an error at all", 302, "", "unknown", "HTTP 302: no explanation",
     false},
    {"a page in place of an answer", 200, " <html><b>Sign</b> in</html>",
     "unknown",
     "HTTP 200: Sign in (a web page instead of an answer; is the base URL "
     "right?)",
     false},
    {"an error in an answer that is none", 200,
     "{\"error\":{\"code\":429,\"message\":\"slow\"}}", "rate_limit",
     "HTTP 200: slow", false},
    {"an error of Groq", 400,
     "{\"error\":{\"message\":\"Failed to call\",\"type\":"
     "\"invalid_request_error\",\"code\":\"tool_use_failed\","
     "\"failed_generation\":\"{\"}}",
     "service", "HTTP 400: Failed to call", false},
    {"deep", 400, "[[[[[[[[[[[[{\"error\":{\"message\":\"deep\"}}]]]]]]]]]]]]",
     "invalid",
     "HTTP 400: [[[[[[[[[[[[{\"error\":{\"message\":\"deep\"}}]]]]]]]]]]]]",
     false},
};

static void test_bodies(void)
{
    const struct failure_headers none = {0};

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        struct failure f;

        failure_of(rows[i].status, str_of(rows[i].body), &none, now_us, &a, &f);
        tap_is_str(f.code, rows[i].code, "%s", rows[i].why);
        tap_is_str(f.message, rows[i].message, "%s: message", rows[i].why);
        tap_ok(f.retry == rows[i].retry, "%s: %s", rows[i].why,
               rows[i].retry ? "tried again" : "not tried again");
        arena_free(&a);
    }
}

static const struct {
    const char *why;
    int status;
    const char *should, *ms, *after;
    bool retry;
    int64_t wish_ms;
} headers[] = {
    {"no wish", 429, NULL, NULL, NULL, true, 0},
    {"seconds", 429, NULL, NULL, "1", true, 1000},
    {"with a fraction", 429, NULL, NULL, "1.5", true, 1500},
    {"a long fraction", 429, NULL, NULL, "0.12345678", true, 123},
    {"none", 429, NULL, NULL, "0", true, 0},
    {"milliseconds", 429, NULL, "250", NULL, true, 250},
    {"milliseconds with a fraction", 429, NULL, "250.7", NULL, true, 250},
    {"milliseconds win", 429, NULL, "250", "7", true, 250},
    {"bad milliseconds do not", 429, NULL, "soon", "7", true, 7000},
    {"one below the limit", 503, NULL, NULL, "59", true, 59000},
    {"at the limit", 503, NULL, NULL, "60", true, 60000},
    {"one above the limit", 503, NULL, NULL, "61", false, 0},
    {"just above", 503, NULL, "60001", NULL, false, 0},
    {"a number without end", 503, NULL, NULL, "99999999999999999999", true, 0},
    {"negative", 503, NULL, NULL, "-1", true, 0},
    {"a plus", 503, NULL, NULL, "+1", true, 0},
    {"a unit", 503, NULL, NULL, "1s", true, 0},
    {"a dot", 503, NULL, NULL, ".", true, 0},
    {"two dots", 503, NULL, NULL, "1.2.3", true, 0},
    {"an exponent", 503, NULL, NULL, "1e1", true, 0},
    {"empty", 503, NULL, "", "", true, 0},
    {"space around it", 503, NULL, NULL, " 2 ", true, 2000},
    {"a date", 503, NULL, NULL, "Sun, 15 Jun 2025 12:00:30 GMT", true, 30000},
    {"a date that is now", 503, NULL, NULL, "Sun, 15 Jun 2025 12:00:00 GMT",
     true, 0},
    {"a date that was", 503, NULL, NULL, "Sun, 15 Jun 2025 11:59:59 GMT", true,
     0},
    {"a date too far", 503, NULL, NULL, "Sun, 15 Jun 2025 12:01:01 GMT", false,
     0},
    {"the wrong day of the week", 503, NULL, NULL,
     "Mon, 15 Jun 2025 12:00:30 GMT", true, 0},
    {"another zone", 503, NULL, NULL, "Sun, 15 Jun 2025 12:00:30 UTC", true, 0},
    {"lower case", 503, NULL, NULL, "sun, 15 jun 2025 12:00:30 gmt", true, 0},
    {"one digit", 503, NULL, NULL, "Sun, 5 Jun 2025 12:00:30 GMT", true, 0},
    {"letters for digits", 503, NULL, NULL, "Sun, 1x Jun 2025 12:00:30 GMT",
     true, 0},
    {"the old form", 503, NULL, NULL, "Sunday, 15-Jun-25 12:00:30 GMT", true,
     0},
    {"the form of C", 503, NULL, NULL, "Sun Jun 15 12:00:30 2025", true, 0},
    {"no such hour", 503, NULL, NULL, "Sun, 15 Jun 2025 24:00:30 GMT", true, 0},
    {"not tried again, no wish", 400, NULL, NULL, "1", false, 0},
    {"the server says no", 500, "false", NULL, "1", false, 0},
    {"the server says yes", 400, "true", NULL, "1", true, 1000},
    {"the server says maybe", 500, "maybe", NULL, NULL, true, 0},
};

static void test_headers(void)
{
    for (size_t i = 0; i < tap_count(headers); i++) {
        struct failure_headers h = {
            .should_retry = str_of(headers[i].should),
            .retry_after_ms = str_of(headers[i].ms),
            .retry_after = str_of(headers[i].after),
        };
        struct arena a = {.mem = &plain};
        struct failure f;

        failure_of(headers[i].status, STR(""), &h, now_us, &a, &f);
        tap_ok(f.retry == headers[i].retry, "headers, %s", headers[i].why);
        tap_is_i64(f.retry_after_ms, headers[i].wish_ms, "headers, %s: wish",
                   headers[i].why);
        arena_free(&a);
    }
}

/* What a message says besides the server's words. */
static void test_words(void)
{
    static const struct {
        const char *why;
        int status;
        const char *after, *url, *base, *wanted;
    } more[] = {
        {"a wait that is waited for", 429, "60", NULL, NULL,
         "HTTP 429: no explanation"},
        {"seconds", 429, "61", NULL, NULL,
         "HTTP 429: no explanation; the server wants no request for 1 min 1 s"},
        {"hours", 429, "7500", NULL, NULL,
         "HTTP 429: no explanation; the server wants no request for 2 h 5 min"},
        {"a day", 503, "86400", NULL, NULL,
         "HTTP 503: no explanation; the server wants no request for 1 d"},
        {"not found", 404, NULL, "http://h/chat/completions",
         "https://api.openai.com/v1",
         "HTTP 404: no explanation; the URL was http://h/chat/completions, and "
         "a "
         "base URL should end with /v1"},
        {"not found, with a query", 404, NULL, "http://h/x?key=secret",
         "https://g.example/v1beta",
         "HTTP 404: no explanation; the URL was http://h/x, and a base URL "
         "should "
         "end with /v1beta"},
        {"not found, below the usual path", 404, NULL,
         "http://h/v1/chat/completions", "https://api.openai.com/v1",
         "HTTP 404: no explanation; the URL was http://h/v1/chat/completions"},
        {"not found, a longer path", 404, NULL,
         "http://h/v1beta/chat/completions", "https://api.openai.com/v1",
         "HTTP 404: no explanation; the URL was "
         "http://h/v1beta/chat/completions, and a base URL should end with "
         "/v1"},
        {"not found, no path", 404, NULL, "http://h/v1/api/chat",
         "http://127.0.0.1:11434",
         "HTTP 404: no explanation; the URL was http://h/v1/api/chat, and a "
         "base "
         "URL should end with host and port"},
        {"another status", 400, NULL, "http://h/x", "http://h/v1",
         "HTTP 400: no explanation"},
    };

    for (size_t i = 0; i < tap_count(more); i++) {
        struct failure_headers h = {
            .retry_after = str_of(more[i].after),
            .url = str_of(more[i].url),
            .usual_base = str_of(more[i].base),
        };
        struct arena a = {.mem = &plain};
        struct failure f;

        failure_of(more[i].status, STR(""), &h, now_us, &a, &f);
        tap_is_str(f.message, more[i].wanted, "words, %s", more[i].why);
        arena_free(&a);
    }
}

/* Ten seconds before each date. */
static void test_dates(void)
{
    static const struct {
        const char *date;
        int64_t seconds; /* 0: there is no such date */
    } dates[] = {
        {"Thu, 01 Jan 1970 00:00:10 GMT", 10},
        {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777},
        {"Tue, 29 Feb 2000 00:00:00 GMT", 951782400},
        {"Wed, 01 Mar 2000 00:00:00 GMT", 951868800},
        {"Thu, 29 Feb 2024 23:59:59 GMT", 1709251199},
        {"Sun, 31 Dec 2023 23:59:60 GMT", 1704067200},
        {"Sun, 28 Feb 2100 00:00:00 GMT", INT64_C(4107456000)},
        {"Mon, 01 Mar 2100 00:00:00 GMT", INT64_C(4107542400)},
        {"Fri, 31 Dec 9999 23:59:59 GMT", INT64_C(253402300799)},
        {"Mon, 29 Feb 2100 00:00:00 GMT", 0},
        {"Sat, 29 Feb 2025 00:00:00 GMT", 0},
        {"Sun, 31 Jun 2025 00:00:00 GMT", 0},
        {"Sat, 00 Jun 2025 00:00:00 GMT", 0},
        {"Wed, 31 Dec 1969 23:59:59 GMT", 0},
    };

    for (size_t i = 0; i < tap_count(dates); i++) {
        struct failure_headers h = {.retry_after = str_of(dates[i].date)};
        struct arena a = {.mem = &plain};
        struct failure f;

        failure_of(503, STR(""), &h, (dates[i].seconds - 10) * 1000000, &a, &f);
        tap_is_i64(f.retry_after_ms, dates[i].seconds ? 10000 : 0, "%s",
                   dates[i].date);
        arena_free(&a);
    }
}

static void test_codes(void)
{
    static const struct {
        const char *word;
        int status;
        const char *wanted;
    } codes[] = {
        {"overloaded_error", 0, "service"},
        {"OVERLOADED_ERROR", 0, "service"},
        {"rate_limit_error", 0, "rate_limit"},
        {"billing_error", 0, "auth"},
        {"not_found_error", 0, "not_found"},
        {"DEADLINE_EXCEEDED", 0, "timeout"},
        {"model_context_window_exceeded", 0, "overflow"},
        {"invalid_request_error", 0, "invalid"},
        {"invalid_request_error", 404, "not_found"},
        {"whatever", 0, "unknown"},
        {"whatever", 503, "service"},
        {"", 0, "unknown"},
        {NULL, 401, "auth"},
    };

    for (size_t i = 0; i < tap_count(codes); i++) {
        struct failure_said said = {.word = {str_of(codes[i].word)},
                                    .status = codes[i].status};

        tap_is_str(failure_said_code(&said), codes[i].wanted,
                   "code of '%s', %d", codes[i].word ? codes[i].word : "",
                   codes[i].status);
    }
}

static void test_long(void)
{
    const struct failure_headers h = {.request_id = STR("req_1\x1b[m")};
    struct buf b = {.mem = &plain};
    struct arena a = {.mem = &plain};
    struct failure f;

    for (int i = 0; i < 4000; i++)
        buf_cstr(&b, "\xc3\xa9");
    failure_of(500, buf_view(&b), &h, now_us, &a, &f);
    tap_is_i64((int64_t)f.message.len,
               10 + FAILURE_HEAD_MAX + 3 +
                   (int64_t)strlen(" (request req_1 [m)"),
               "a long body is cut, the id of the request is told");
    buf_clear(&b);
    buf_cstr(&b, "{\"error\":\"");
    for (int i = 0; i < 4000; i++)
        buf_cstr(&b, "\xe2\x82\xac");
    buf_cstr(&b, "\"}");
    failure_of(500, buf_view(&b), &h, now_us, &a, &f);
    tap_ok(f.message.len < FAILURE_TEXT_MAX + 50 &&
               f.message.len > FAILURE_TEXT_MAX,
           "a long message, too");
    buf_clear(&b);
    for (int i = 0; i < 100000; i++)
        buf_cstr(&b, "<b>");
    failure_of(500, buf_view(&b), &h, now_us, &a, &f);
    tap_is_str(f.message, "HTTP 500: no explanation (request req_1 [m)",
               "a page of tags");
    arena_free(&a);
    buf_free(&b);
}

static void test_faults(void)
{
    const struct failure_headers h = {.request_id = STR("req_1")};
    struct fault fault = {0};
    int bad = 0;

    while (fault_next(&fault)) {
        struct mem m = fault_mem(&fault);
        struct arena a = {.mem = &m};
        struct failure f;

        failure_of(500, STR("{\"error\":{\"message\":\"m\"}}"), &h, now_us, &a,
                   &f);
        bad += a.failed != fault.hit || (!fault.hit && !f.message.ptr) ||
               !f.code.ptr;
        arena_free(&a);
        bad += fault.live != 0;
    }
    tap_is_i64(bad, 0, "every allocation may fail");
}

int main(void)
{
    test_bodies();
    test_headers();
    test_words();
    test_dates();
    test_codes();
    test_long();
    test_faults();
    return tap_done();
}

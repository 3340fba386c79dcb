/*
 * test_request_values.c - segments, queries and values of headers.
 */
#include "wire/http/request.h"

#include "fault.h"
#include "tap.h"

static const struct mem plain;

/* The literal with its length: it may hold a NUL. */
#define S(literal)                   \
    {                                \
        literal, sizeof(literal) - 1 \
    }

/* ---- Target -------------------------------------------------------------- */

static void test_segments(void)
{
    static const struct {
        const char *why;
        wend_str text;
        const char *wanted; /* NULL: refused */
    } rows[] = {
        {"letters", S("abc"), "abc"},
        {"empty", S(""), ""},
        {"escapes", S("a%20%c3%A9"), "a \xc3\xa9"},
        {"a plus is a plus", S("a+b"), "a+b"},
        {"an escaped percent is decoded once", S("%2541"), "%41"},
        {"a backslash", S("a%5Cb"), "a\\b"},
        {"three dots", S("..."), "..."},
        {"an escape cut off", S("a%2"), NULL},
        {"a percent alone", S("%"), NULL},
        {"other letters in an escape", S("%g0"), NULL},
        {"NUL", S("a%00"), NULL},
        {"a bare NUL", S("a\0"), NULL},
        {"a line break", S("a%0a"), NULL},
        {"an escaped slash", S("a%2Fb"), NULL},
        {"a bare slash", S("a/b"), NULL},
        {"half a character", S("%c3"), NULL},
        {"an overlong slash", S("%c0%af"), NULL},
        {"a surrogate", S("%ed%a0%80"), NULL},
        {"this directory", S("."), NULL},
        {"the one above", S(".."), NULL},
        {"the one above, escaped", S("%2e%2E"), NULL},
    };
    struct arena a = {.mem = &plain};

    for (size_t i = 0; i < tap_count(rows); i++)
        tap_is_str(http_segment(rows[i].text, &a), rows[i].wanted,
                   "segment: %s", rows[i].why);
    tap_ok(!a.failed, "memory was not the reason");
    arena_free(&a);
}

static void put_query(struct buf *b, const struct http_query *q)
{
    for (size_t i = 0; i < q->count; i++)
        buf_fmt(b, "%.*s=%.*s;", STR_ARGS(q->pairs[i].name),
                STR_ARGS(q->pairs[i].value));
}

static void test_queries(void)
{
    static const struct {
        const char *why;
        wend_str text;
        const char *wanted, *error;
    } rows[] = {
        {"none", {NULL, 0}, "", NULL},
        {"empty", S(""), "", NULL},
        {"one", S("a=b"), "a=b;", NULL},
        {"several", S("a=b&c=d&e"), "a=b;c=d;e=;", NULL},
        {"an empty value", S("a="), "a=;", NULL},
        {"a value with =", S("a=b=c"), "a=b=c;", NULL},
        {"spaces and escapes", S("a+%41=b+%2B%26%c3%a9"), "a A=b +&\xc3\xa9;",
         NULL},
        {"a line break in a value", S("a=%0A"), "a=\n;", NULL},
        {"names in another case are others", S("a=1&A=2"), "a=1;A=2;", NULL},
        {"no name", S("=b"), NULL, "the query has a parameter without a name"},
        {"nothing between two", S("a=b&&c=d"), NULL,
         "the query has a parameter without a name"},
        {"nothing first", S("&a=b"), NULL,
         "the query has a parameter without a name"},
        {"nothing last", S("a=b&"), NULL, "the query ends in '&'"},
        {"a bad escape in a name", S("a=b&%zz=c"), NULL,
         "the name of parameter 2 of the query has a bad escape, a NUL or is "
         "not UTF-8"},
        {"a bad escape in a value", S("a=%4"), NULL,
         "the parameter 'a' of the query has a bad escape, a NUL or is not "
         "UTF-8"},
        {"NUL", S("a=%00"), NULL,
         "the parameter 'a' of the query has a bad escape, a NUL or is not "
         "UTF-8"},
        {"not UTF-8", S("a=%ff"), NULL,
         "the parameter 'a' of the query has a bad escape, a NUL or is not "
         "UTF-8"},
        {"twice", S("a=1&b=2&%61=1"), NULL,
         "the parameter 'a' of the query is given twice"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        struct buf b = {.mem = &plain};
        struct http_query q;
        wend_error err = {0};

        if (http_query_read(rows[i].text, &a, &q, &err)) {
            tap_is_str(err.message, rows[i].error, "query: %s", rows[i].why);
        } else {
            put_query(&b, &q);
            tap_is_str(buf_view(&b), rows[i].wanted, "query: %s", rows[i].why);
        }
        buf_free(&b);
        arena_free(&a);
    }
}

static void test_query_limit(void)
{
    for (int count = HTTP_QUERY_MAX - 1; count <= HTTP_QUERY_MAX + 1; count++) {
        struct arena a = {.mem = &plain};
        struct buf b = {.mem = &plain};
        struct http_query q;
        wend_status s;

        for (int i = 0; i < count; i++)
            buf_fmt(&b, "%sa%d=%d", i ? "&" : "", i, i);
        s = http_query_read(buf_view(&b), &a, &q, NULL);
        tap_is_i64(s, count > HTTP_QUERY_MAX ? WEND_E_LIMIT : WEND_OK,
                   "%d parameters", count);
        if (!s) {
            tap_is_str(http_query_value(&q, "a7"), "7", "one by its name");
            tap_ok(!http_query_value(&q, "a").ptr, "one that is not there");
        }
        buf_free(&b);
        arena_free(&a);
    }
}

static void test_no_memory(void)
{
    struct fault f = {0};
    int bad = 0, rounds = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m};
        struct http_query q;
        wend_status s = http_query_read(STR("a=b&c=d"), &a, &q, NULL);

        bad += s != (f.hit ? WEND_E_NOMEM : WEND_OK);
        arena_free(&a);
        bad += f.live != 0;
        rounds++;
    }
    tap_ok(!bad && rounds > 1, "without memory (%d rounds)", rounds);
}

/* ---- Values -------------------------------------------------------------- */

static void test_media(void)
{
    static const struct {
        const char *value;
        bool wanted;
    } rows[] = {
        {"application/json", true},
        {"Application/JSON", true},
        {"application/json;charset=utf-8", true},
        {"application/json ; charset=\"UTF-8\"", true},
        {"application/json; Charset=utf-8; charset=UTF-8", true},
        {"", false},
        {"application/jsonx", false},
        {"text/plain", false},
        {"application/json, text/plain", false},
        {"application/json; charset=latin1", false},
        {"application/json; charset", false},
        {"application/json; charset = utf-8", false},
        {"application/json; boundary=a", false},
        {"text/plain; a=application/json", false},
    };

    for (size_t i = 0; i < tap_count(rows); i++)
        tap_is_i64(http_media_is(str_of(rows[i].value), "application/json"),
                   rows[i].wanted, "media type: %s", rows[i].value);
    tap_ok(!http_media_is(STR_NONE, "application/json"), "no media type");
}

static void test_ranges(void)
{
    static const struct {
        const char *value;
        uint64_t size;
        enum http_range wanted;
        uint64_t from, len;
    } rows[] = {
        {NULL, 10, HTTP_RANGE_ALL, 0, 10},
        {"bytes=0-", 10, HTTP_RANGE_PART, 0, 10},
        {"bytes=0-0", 10, HTTP_RANGE_PART, 0, 1},
        {"Bytes=3-5", 10, HTTP_RANGE_PART, 3, 3},
        {"bytes=9-9", 10, HTTP_RANGE_PART, 9, 1},
        {"bytes=9-99", 10, HTTP_RANGE_PART, 9, 1},
        {"bytes=0-9223372036854775807", 10, HTTP_RANGE_PART, 0, 10},
        {"bytes=-1", 10, HTTP_RANGE_PART, 9, 1},
        {"bytes=-10", 10, HTTP_RANGE_PART, 0, 10},
        {"bytes=-11", 10, HTTP_RANGE_PART, 0, 10},
        {"bytes=10-", 10, HTTP_RANGE_BEYOND, 0, 0},
        {"bytes=10-11", 10, HTTP_RANGE_BEYOND, 0, 0},
        {"bytes=-0", 10, HTTP_RANGE_BEYOND, 0, 0},
        {"bytes=0-", 0, HTTP_RANGE_BEYOND, 0, 0},
        {"bytes=-1", 0, HTTP_RANGE_BEYOND, 0, 0},
        {"bytes=5-4", 10, HTTP_RANGE_ALL, 0, 10},
        {"bytes=0-1,3-4", 10, HTTP_RANGE_ALL, 0, 10},
        {"bytes=", 10, HTTP_RANGE_ALL, 0, 10},
        {"bytes=-", 10, HTTP_RANGE_ALL, 0, 10},
        {"bytes=5", 10, HTTP_RANGE_ALL, 0, 10},
        {"bytes=a-", 10, HTTP_RANGE_ALL, 0, 10},
        {"bytes=1-a", 10, HTTP_RANGE_ALL, 0, 10},
        {"bytes=1--2", 10, HTTP_RANGE_ALL, 0, 10},
        {"bytes= 1-2", 10, HTTP_RANGE_ALL, 0, 10},
        {"bytes=0-99999999999999999999", 10, HTTP_RANGE_ALL, 0, 10},
        {"lines=1-2", 10, HTTP_RANGE_ALL, 0, 10},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        uint64_t from = 1, len = 1;
        const char *v = rows[i].value;

        tap_ok(http_range_read(str_of(v), rows[i].size, &from, &len) ==
                       rows[i].wanted &&
                   from == rows[i].from && len == rows[i].len,
               "range: %s of %d", v ? v : "none", (int)rows[i].size);
    }
}

static void test_bearer(void)
{
    static const struct {
        const char *value, *wanted;
    } rows[] = {
        {"Bearer abc", "abc"},
        {"bearer  aB0-._~+/==", "aB0-._~+/=="},
        {NULL, NULL},
        {"", NULL},
        {"Bearer", NULL},
        {"Bearer ", NULL},
        {"Bearer =", NULL},
        {"Bearer a b", NULL},
        {"Bearer a=b", NULL},
        {"Bearer a,b", NULL},
        {"Bearerabc", NULL},
        {"Basic abc", NULL},
        {"Bearer \xc3\xa9", NULL},
    };

    for (size_t i = 0; i < tap_count(rows); i++)
        tap_is_str(http_bearer(str_of(rows[i].value)), rows[i].wanted,
                   "token: %s", rows[i].value ? rows[i].value : "none");
}

static void test_etags(void)
{
    static const struct {
        const char *value, *etag;
        bool wanted;
    } rows[] = {
        {"\"a\"", "\"a\"", true},
        {"W/\"a\"", "\"a\"", true},
        {"\"a\"", "W/\"a\"", true},
        {"\"b\", \"a\"", "\"a\"", true},
        {"\"b\" ,W/\"a\",\"c\"", "\"a\"", true},
        {"\"b,\\\", \"a\"", "\"a\"", true}, /* a backslash escapes nothing */
        {"*", "\"a\"", true},
        {"\"\"", "\"\"", true},
        {NULL, "\"a\"", false},
        {"", "\"a\"", false},
        {"a", "\"a\"", false},
        {"\"a", "\"a\"", false},
        {"\"A\"", "\"a\"", false},
        {"w/\"a\"", "\"a\"", false},
        {"\"a\"\"b\"", "\"a\"", false},
        {"\"x, \"a\"", "\"a\"", false},
        {"*, \"a\"", "\"a\"", false},
        {"\"ab\"", "\"a\"", false},
    };

    for (size_t i = 0; i < tap_count(rows); i++)
        tap_is_i64(http_etag_among(str_of(rows[i].value), str_of(rows[i].etag)),
                   rows[i].wanted, "tags: %s for %s",
                   rows[i].value ? rows[i].value : "none", rows[i].etag);
}

static void test_hosts(void)
{
    static const struct {
        const char *host, *allowed;
        int port;
        bool wanted;
    } rows[] = {
        {"localhost:8080", "localhost:8080", 80, true},
        {"LocalHost:8080", "localhost:8080", 80, true},
        {"a.example", "a.example:80", 80, true},
        {"a.example:80", "a.example", 80, true},
        {"a.example:443", "a.example", 443, true},
        {"127.0.0.1:1", "127.0.0.1:1", 80, true},
        {"[::1]:1", "[::1]:1", 80, true},
        {"[0:0::0:1]:1", "[::1]:1", 80, true},
        {"[::A]", "[::a]:80", 80, true},
        {"localhost", "localhost:8080", 80, false},
        {"localhost:8081", "localhost:8080", 80, false},
        {"a.example:80", "a.example", 443, false},
        {"localhost.:8080", "localhost:8080", 80, false},
        {"xlocalhost", "localhost", 80, false},
        {"localhost.evil", "localhost", 80, false},
        {"127.1:1", "127.0.0.1:1", 80, false},
        {"[::ffff:127.0.0.1]:1", "127.0.0.1:1", 80, false},
        {"::1", "[::1]", 80, false},
        {"[::2]", "[::1]", 80, false},
        {NULL, "a", 80, false},
        {"", "", 80, false},
        {"a@localhost", "localhost", 80, false},
    };

    for (size_t i = 0; i < tap_count(rows); i++)
        tap_is_i64(http_host_is(str_of(rows[i].host), str_of(rows[i].allowed),
                                rows[i].port),
                   rows[i].wanted, "host: %s, allowed %s",
                   rows[i].host ? rows[i].host : "none", rows[i].allowed);
}

static void test_origins(void)
{
    static const struct {
        const char *origin, *allowed;
        bool wanted;
    } rows[] = {
        {"http://a:8080", "http://a:8080", true},
        {"HTTP://A:8080", "http://a:8080", true},
        {"http://a", "http://a:80", true},
        {"https://a:443", "https://a", true},
        {"http://[::1]:1", "http://[0::1]:1", true},
        {"null", "null", false},
        {NULL, "http://a", false},
        {"", "", false},
        {"https://a:80", "http://a:80", false},
        {"https://a", "http://a", false},
        {"http://a:443", "https://a", false},
        {"http://a/", "http://a", false},
        {"http://a http://b", "http://a", false},
        {"http://b@a", "http://a", false},
        {"http://a.evil", "http://a", false},
        {"file://", "file://", false},
        {"a", "a", false},
    };

    for (size_t i = 0; i < tap_count(rows); i++)
        tap_is_i64(
            http_origin_is(str_of(rows[i].origin), str_of(rows[i].allowed)),
            rows[i].wanted, "origin: %s, allowed %s",
            rows[i].origin ? rows[i].origin : "none", rows[i].allowed);
}

int main(void)
{
    test_segments();
    test_queries();
    test_query_limit();
    test_no_memory();
    test_media();
    test_ranges();
    test_bearer();
    test_etags();
    test_hosts();
    test_origins();
    return tap_done();
}

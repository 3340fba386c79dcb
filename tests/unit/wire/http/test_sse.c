/*
 * test_sse.c - server-sent events: the standard's rules, in any chunks.
 */
#include "wire/http/http.h"

#include <stdlib.h>

#include "fault.h"
#include "tap.h"

#define BOM "\xef\xbb\xbf"
#define FFFD "\xef\xbf\xbd"

static const struct mem plain;

/* Events are written down as (name)data/ one after the other. */
static const struct {
    const char *why, *input, *wanted;
} rows[] = {
    {"one event", "data: a\n\n", "()a/"},
    {"no space after the colon", "data:a\n\n", "()a/"},
    {"only one space goes", "data:  a\n\n", "() a/"},
    {"a tab stays", "data:\ta\n\n", "()\ta/"},
    {"a space at the end stays", "data: a \n\n", "()a /"},
    {"colons in the value", "data:a:b\n\n", "()a:b/"},
    {"a name", "event: ping\ndata: a\n\n", "(ping)a/"},
    {"the name may come last", "data: a\nevent: ping\n\n", "(ping)a/"},
    {"the last name counts", "event: a\nevent: b\ndata: c\n\n", "(b)c/"},
    {"an empty name is none", "event: a\nevent:\ndata: c\n\n", "()c/"},
    {"the name does not last", "event: a\ndata: b\n\ndata: c\n\n", "(a)b/()c/"},
    {"nor without data", "event: a\n\ndata: c\n\n", "()c/"},
    {"lines are joined", "data: a\ndata: b\n\n", "()a\nb/"},
    {"three of them", "data: a\ndata\ndata: b\n\n", "()a\n\nb/"},
    {"data alone is an empty line", "data\n\n", "()/"},
    {"so is data with a colon", "data:\n\n", "()/"},
    {"two empty lines", "data\ndata\n\n", "()\n/"},
    {"no data, no event", "id: 1\n\n\n\nretry: 5\n\n", ""},
    {"comments", ": a\ndata: b\n:c\n\n: d\n\n", "()b/"},
    {"a comment of a router", ": OPENROUTER PROCESSING\n\ndata: a\n\n", "()a/"},
    {"unknown fields", "datas: a\nfoo: b\nfoo\ndata: c\n dat: d\n\n", "()c/"},
    {"a field that is long", "dataaaaaaaaaaa\ndata: a\n\n", "()a/"},
    {"a field that is short", "d\n:\ndata: a\n\n", "()a/"},
    {"field names have a case", "Data: a\nDATA: b\ndata: c\n\n", "()c/"},
    {"a space before the field", " data: a\ndata: b\n\n", "()b/"},
    {"a byte order mark goes", BOM "data: a\n\n", "()a/"},
    {"only one of them", BOM BOM "data: a\n\ndata: b\n\n", "()b/"},
    {"only at the start", "data: a\n\n" BOM "data: b\n\ndata: c\n\n",
     "()a/()c/"},
    {"a mark in the data stays", "data: " BOM "\n\n", "()" BOM "/"},
    {"no blank line at the end", "data: a\n\ndata: b\n", "()a/()b/"},
    {"no line end at the end", "data: a\n\ndata: [DONE]", "()a/()[DONE]/"},
    {"a name alone at the end", "data: a\n\nevent: b", "()a/"},
    {"nothing", "", ""},
    {"only line ends", "\n\n\n", ""},
    {"an error line", "error: {}\n\ndata: [DONE]\n\n", "(error){}/()[DONE]/"},
    {"UTF-8 of all lengths", "data: \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n\n",
     "()\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80/"},
    {"bytes that are no UTF-8", "data: a\xff\xc3\n\n", "()a" FFFD FFFD "/"},
    {"also in a name", "event: \xc3\ndata: a\n\n", "(" FFFD ")a/"},
    {"U+2028 ends no line", "data: a\xe2\x80\xa8z\n\n", "()a\xe2\x80\xa8z/"},
    {"form feed ends no line", "data: a\f\vz\n\n", "()a\f\vz/"},
};

static const struct {
    const char *why, *input, *wanted;
} mixed[] = {
    {"all three line ends", "data: a\r\ndata: b\rdata: c\n\r\n", "()a\nb\nc/"},
    {"CR, then CRLF", "data: a\r\r\ndata: b\n\n", "()a/()b/"},
    {"CR LF LF", "data: a\r\n\ndata: b\n\r", "()a/()b/"},
    {"LF CR", "data: a\n\rdata: b\n\r", "()a/()b/"},
    {"a server's ping", ": ping - now\r\n\r\ndata: a\r\n\r\n", "()a/"},
    {"CR at the end", "data: a\r", "()a/"},
};

static const struct {
    const char *why, *input, *wanted;
} lines[] = {
    {"one value a line", "{}\n[]\n", "(){}/()[]/"},
    {"the last not ended", "{}\n[]", "(){}/()[]/"},
    {"empty lines", "\n\n{}\n \n\t\n[]\n", "(){}/()[]/"},
    {"a byte order mark", BOM "{}\n", "(){}/"},
    {"fields mean nothing", "data: a\n", "()data: a/"},
    {"bytes that are no UTF-8", "\"\xff\"\n", "()\"" FFFD "\"/"},
};

static bool record(void *ctx, wend_str name, wend_str data)
{
    struct buf *b = ctx;

    buf_char(b, '(');
    buf_str(b, name);
    buf_char(b, ')');
    buf_str(b, data);
    buf_char(b, '/');
    return true;
}

/* Each piece lies in memory of its own, so that reading on is noticed. */
static wend_status feed(struct sse *s, const char *p, size_t len,
                        struct buf *out)
{
    char *copy = malloc(len ? len : 1);
    wend_status status;

    memcpy(copy, p, len);
    status = sse_feed(s, copy, len, record, out);
    free(copy);
    return status;
}

/* Cuts after `first` bytes and then after every `step`; 0: no more. */
static wend_str run(enum sse_framing framing, wend_str in, size_t first,
                    size_t step, struct buf *out)
{
    struct sse s;
    size_t at = first;

    buf_clear(out);
    sse_init(&s, &plain, framing, 1 << 20);
    feed(&s, in.ptr, first, out);
    for (; step && at + step < in.len; at += step)
        feed(&s, in.ptr + at, step, out);
    feed(&s, in.ptr + at, in.len - at, out);
    sse_end(&s, record, out);
    sse_free(&s);
    return buf_view(out);
}

static void splits(const char *why, enum sse_framing framing, wend_str in,
                   const char *wanted)
{
    struct buf out = {.mem = &plain};
    int bad = 0;

    tap_is_str(run(framing, in, 0, 0, &out), wanted, "%s", why);
    for (size_t first = 1; first < in.len; first++)
        bad += !str_is(run(framing, in, first, 0, &out), wanted);
    for (size_t step = 1; step < 5; step++)
        bad += !str_is(run(framing, in, 0, step, &out), wanted);
    tap_is_i64(bad, 0, "%s: in any chunks", why);
    buf_free(&out);
}

static void with_line_ends(const char *why, enum sse_framing framing,
                           const char *in, const char *wanted)
{
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    struct buf b = {.mem = &plain};

    for (size_t i = 0; i < tap_count(ends); i++) {
        buf_clear(&b);
        for (const char *p = in; *p; p++)
            if (*p == '\n')
                buf_cstr(&b, ends[i]);
            else
                buf_char(&b, *p);
        splits(why, framing, buf_view(&b), wanted);
    }
    buf_free(&b);
}

static void test_tables(void)
{
    struct buf out = {.mem = &plain};

    for (size_t i = 0; i < tap_count(rows); i++)
        with_line_ends(rows[i].why, SSE_EVENTS, rows[i].input, rows[i].wanted);
    for (size_t i = 0; i < tap_count(mixed); i++)
        splits(mixed[i].why, SSE_EVENTS, str_of(mixed[i].input),
               mixed[i].wanted);
    for (size_t i = 0; i < tap_count(lines); i++)
        with_line_ends(lines[i].why, SSE_LINES, lines[i].input,
                       lines[i].wanted);
    tap_is_str(run(SSE_EVENTS, STR("data: a\0b\n\n"), 0, 1, &out),
               STR("()a\0b/"), "a NUL is a byte like others");
    buf_free(&out);
}

/* With 16 bytes for a line and an event. */
static void test_limits(void)
{
    static const struct {
        const char *why, *input, *wanted;
        wend_status status;
    } cases[] = {
        {"a line one below", "data: 123456789\n\n", "()123456789/", WEND_OK},
        {"a line at it", "data: 1234567890\n\n", "()1234567890/", WEND_OK},
        {"a line one above", "data: 1\n\ndata: 12345678901\n\ndata: 2\n\n",
         "()1/", WEND_E_LIMIT},
        {"a line that does not end", "data: 12345678901", "", WEND_E_LIMIT},
        {"a comment, too", ":1234567890123456\n", "", WEND_E_LIMIT},
        {"an event one below", "data: 1234567890\ndata: 5678\n\n",
         "()1234567890\n5678/", WEND_OK},
        {"an event at it", "data: 1234567890\ndata: 56789\n\n",
         "()1234567890\n56789/", WEND_OK},
        {"an event one above", "data: 1234567890\ndata: 567890\n\n", "",
         WEND_E_LIMIT},
        {"an event of empty lines",
         "data:1234567890\ndata:1234\ndata\ndata\n\n", "", WEND_E_LIMIT},
    };
    struct buf out = {.mem = &plain};
    struct sse s;

    for (size_t i = 0; i < tap_count(cases); i++)
        for (size_t step = 1; step < 64; step += 9) {
            wend_str in = str_of(cases[i].input);
            wend_status status;

            buf_clear(&out);
            sse_init(&s, &plain, SSE_EVENTS, 16);
            for (size_t at = 0; at < in.len; at += step)
                feed(&s, in.ptr + at, in.len - at < step ? in.len - at : step,
                     &out);
            status = sse_end(&s, record, &out);
            tap_is_i64(status, cases[i].status, "limit, by %zu: %s", step,
                       cases[i].why);
            tap_is_str(buf_view(&out), cases[i].wanted, "limit, by %zu: %s",
                       step, cases[i].why);
            tap_ok(feed(&s, "data: a\n\n", 9, &out) == status,
                   "limit: the status stays");
            sse_free(&s);
        }
    buf_free(&out);
}

static bool stop_at_b(void *ctx, wend_str name, wend_str data)
{
    record(ctx, name, data);
    return !str_is(data, "b");
}

static void test_stop(void)
{
    static const char input[] = "data: a\n\ndata: b\n\ndata: c\n\ndata: d";
    struct buf out = {.mem = &plain};
    struct sse s;

    sse_init(&s, &plain, SSE_EVENTS, 100);
    tap_ok(sse_feed(&s, input, sizeof input - 1, stop_at_b, &out) == WEND_OK,
           "stopping is no error");
    sse_feed(&s, input, sizeof input - 1, stop_at_b, &out);
    sse_end(&s, stop_at_b, &out);
    tap_is_str(buf_view(&out), "()a/()b/", "and nothing comes after it");
    sse_free(&s);
    buf_free(&out);
}

static bool in_place(void *ctx, wend_str name, wend_str data)
{
    (void)name;
    *(const char **)ctx = data.ptr;
    return true;
}

static void test_copies(void)
{
    static const char input[] = "data: abc\n\n";
    const char *at = NULL;
    struct sse s;

    sse_init(&s, &plain, SSE_EVENTS, 100);
    sse_feed(&s, input, sizeof input - 1, in_place, &at);
    tap_ok(at == input + 6, "a whole event is not copied");
    tap_ok(!s.data.ptr && !s.line.ptr, "nor is memory taken for it");
    sse_free(&s);
}

/* For who asks again where a stream ended. */
static void test_resume(void)
{
    static const struct {
        const char *why, *input, *id;
        int64_t retry_ms;
    } told[] = {
        {"nothing is said", "data: a\n\n", "", -1},
        {"an id and a pause", "id: e1\nretry: 500\ndata:\n\n", "e1", 500},
        {"the newest counts", "id: a\n\nid: b\nretry: 1\nretry: 2\n\n", "b", 2},
        {"an id may be taken back", "id: a\n\nid\n\n", "", -1},
        {"no number, no pause", "retry: 5s\nretry: -1\nretry:\n\n", "", -1},
    };
    char text[SSE_ID_MAX + 10];
    struct buf out = {.mem = &plain};
    struct sse s;

    for (size_t i = 0; i < tap_count(told); i++) {
        sse_init(&s, &plain, SSE_EVENTS, 100);
        for (const char *p = told[i].input; *p; p++)
            sse_feed(&s, p, 1, record, &out);
        tap_is_str(buf_view(&s.id), told[i].id, "id: %s", told[i].why);
        tap_is_i64(s.retry_ms, told[i].retry_ms, "pause: %s", told[i].why);
        sse_free(&s);
    }
    for (int len = SSE_ID_MAX - 1; len <= SSE_ID_MAX + 1; len++) {
        int n = snprintf(text, sizeof text, "id:%0*d\n", len, 0);

        sse_init(&s, &plain, SSE_EVENTS, sizeof text);
        sse_feed(&s, text, (size_t)n, record, &out);
        tap_is_i64((int64_t)s.id.len, len <= SSE_ID_MAX ? len : 0,
                   "an id of %d bytes", len);
        sse_free(&s);
    }
    buf_free(&out);
}

static void test_faults(void)
{
    static const char input[] =
        "event: a\nid: 1\ndata: b\ndata: \xff\n\ndata: cccccccc\n\ndata: d\n\n";
    struct fault f = {0};
    struct buf out = {.mem = &plain};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        wend_status status;
        struct sse s;

        buf_clear(&out);
        sse_init(&s, &m, SSE_EVENTS, 100);
        feed(&s, input, 40, &out);
        feed(&s, input + 40, sizeof input - 1 - 40, &out);
        status = sse_end(&s, record, &out);
        sse_free(&s);
        bad += f.live != 0 || status != (f.hit ? WEND_E_NOMEM : WEND_OK);
    }
    tap_is_i64(bad, 0, "each allocation may fail");
    tap_is_str(buf_view(&out), "(a)b\n" FFFD "/()cccccccc/()d/",
               "and none does in the end");
    buf_free(&out);
}

int main(void)
{
    test_tables();
    test_limits();
    test_stop();
    test_copies();
    test_resume();
    test_faults();
    return tap_done();
}
